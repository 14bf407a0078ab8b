#include "base/crypto/credential.h"

#include "base/core/text.h"
#include "base/crypto/crypto.h"

#include <string.h>

#define SECRET_LENGTH 30
#define SUM_LENGTH    6

const char *const base_crypto_credential_kinds[] = {"live", "test", "dev", "tok",
                                                    "opr",  "enr",  NULL};

/* Letters without a bias: of a byte's 256 values the last eight are thrown away, 248 = 4 x 62. */
static void random_letters(struct cr_call *call, size_t count, char *ret_text)
{
    for (size_t i = 0; i < count;) {
        unsigned char bytes[64];
        cr_random(call, bytes, sizeof bytes);
        for (size_t k = 0; k < sizeof bytes && i < count; k++)
            if (bytes[k] < 248)
                ret_text[i++] = CR_BASE62_ALPHABET[bytes[k] % 62];
        base_crypto_wipe(bytes, sizeof bytes);
    }
    ret_text[count] = '\0';
}

const char *base_crypto_credential_of(struct cr_call *call, const char *kind, const char *id,
                                      const char *secret)
{
    const char *text = cr_format(call, "crs_%s_%s_%s", kind, id, secret);
    char sum[SUM_LENGTH + 1];
    cr_base62_print(cr_crc32(0, text, strlen(text)), SUM_LENGTH, sum);
    return cr_format(call, "%s%s", text, sum);
}

static const char *known_kind(const char *text, size_t length)
{
    for (const char *const *kind = base_crypto_credential_kinds; *kind; kind++)
        if (strlen(*kind) == length && memcmp(*kind, text, length) == 0)
            return *kind;
    return NULL;
}

const char *base_crypto_credential_make(struct cr_call *call, const char *kind,
                                        struct base_crypto_credential *ret_credential)
{
    char id[BASE_CRYPTO_CREDENTIAL_ID_LENGTH + 1], secret[SECRET_LENGTH + 1];
    random_letters(call, BASE_CRYPTO_CREDENTIAL_ID_LENGTH, id);
    random_letters(call, SECRET_LENGTH, secret);
    const char *text = base_crypto_credential_of(call, kind, id, secret);
    base_crypto_wipe(secret, sizeof secret);

    ret_credential->kind = known_kind(kind, strlen(kind));
    memcpy(ret_credential->id, id, sizeof id);
    return text;
}

static bool all_base62(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!text[i] || !strchr(CR_BASE62_ALPHABET, text[i]))
            return false;
    return true;
}

bool base_crypto_credential_parse(const char *text, size_t length,
                                  struct base_crypto_credential *ret_credential)
{
    /* What stands behind the kind is always as long. */
    size_t tail = 1 + BASE_CRYPTO_CREDENTIAL_ID_LENGTH + 1 + BASE_CRYPTO_CREDENTIAL_SECRET_LENGTH;
    if (length < 4 + tail || length > BASE_CRYPTO_CREDENTIAL_LENGTH_MAX ||
        memcmp(text, "crs_", 4) != 0)
        return false;
    const char *kind = known_kind(text + 4, length - tail - 4);
    const char *id = text + length - tail + 1;
    const char *secret = id + BASE_CRYPTO_CREDENTIAL_ID_LENGTH + 1;
    if (!kind || id[-1] != '_' || secret[-1] != '_' ||
        !all_base62(id, BASE_CRYPTO_CREDENTIAL_ID_LENGTH) ||
        !all_base62(secret, BASE_CRYPTO_CREDENTIAL_SECRET_LENGTH))
        return false;

    char sum[SUM_LENGTH + 1];
    cr_base62_print(cr_crc32(0, text, length - SUM_LENGTH), SUM_LENGTH, sum);
    if (memcmp(sum, text + length - SUM_LENGTH, SUM_LENGTH) != 0)
        return false;
    ret_credential->kind = kind;
    memcpy(ret_credential->id, id, BASE_CRYPTO_CREDENTIAL_ID_LENGTH);
    ret_credential->id[BASE_CRYPTO_CREDENTIAL_ID_LENGTH] = '\0';
    return true;
}
