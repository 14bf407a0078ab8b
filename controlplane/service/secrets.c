#include "controlplane/service/secrets.h"

#include "base/core/file.h"

static const char *const names[] = {"records.key", "log.key", "pepper", "session.key",
                                    "cursor.key"};
#define NAME_COUNT (sizeof names / sizeof names[0])

static void secret_close(unsigned char **secret)
{
    base_crypto_secret_close(*secret);
}

static enum cr_status read_secret(struct cr_call *call, const char *folder, const char *name,
                                  unsigned char **ret_secret)
{
    return base_crypto_secret_read(call, cr_format(call, "%s/%s", folder, name),
                                   BASE_CRYPTO_KEY_SIZE, ret_secret);
}

static enum cr_status read_signer(struct cr_call *call, const char *folder, const char *name,
                                  struct base_crypto_signer **ret_signer)
{
    CR_SCOPED(secret_close) unsigned char *seed = NULL;
    CR_TRY(read_secret(call, folder, name, &seed));
    *ret_signer = base_crypto_signer_open(seed);
    return CR_OK;
}

static enum cr_status read_all(struct cr_call *call, const char *folder,
                               struct service_secrets *secrets)
{
    CR_TRY(read_signer(call, folder, "records.key", &secrets->records));
    CR_TRY(read_signer(call, folder, "log.key", &secrets->log));
    CR_TRY(read_secret(call, folder, "pepper", &secrets->pepper));
    CR_TRY(read_secret(call, folder, "session.key", &secrets->session));
    CR_TRY(read_secret(call, folder, "cursor.key", &secrets->cursor));

    static const char domain[] = "cresset/pepper-id/1";
    unsigned char hash[BASE_CRYPTO_KEYED_SIZE_MIN];
    base_crypto_keyed(secrets->pepper, domain, sizeof domain - 1, hash, sizeof hash);
    for (size_t i = 0; i < (SERVICE_PEPPER_ID_SIZE - 1) / 2; i++)
        snprintf(secrets->pepper_id + 2 * i, 3, "%02x", hash[i]);
    return CR_OK;
}

enum cr_status service_secrets_open(struct cr_call *call, const char *folder,
                                    struct service_secrets *ret_secrets)
{
    struct service_secrets secrets = {0};
    enum cr_status status = read_all(call, folder, &secrets);
    if (status == CR_OK)
        *ret_secrets = secrets;
    else
        service_secrets_close(&secrets);
    return status;
}

void service_secrets_close(struct service_secrets *secrets)
{
    base_crypto_signer_close(&secrets->records);
    base_crypto_signer_close(&secrets->log);
    base_crypto_secret_close(secrets->pepper);
    base_crypto_secret_close(secrets->session);
    base_crypto_secret_close(secrets->cursor);
    *secrets = (struct service_secrets){0};
}

enum cr_status service_secrets_make(struct cr_call *call, const char *folder)
{
    CR_TRY(cr_file_make_folder(call, folder, 0700));
    for (size_t i = 0; i < NAME_COUNT; i++) {
        enum cr_status status = base_crypto_secret_make(
            call, cr_format(call, "%s/%s", folder, names[i]), BASE_CRYPTO_KEY_SIZE);
        if (status == CR_CONFLICT)
            cr_forgive(call); /* it is there already */
        else if (status != CR_OK)
            return status;
    }
    return CR_OK;
}
