#include "controlplane/service/blob.h"

#include "base/core/file.h"
#include "base/core/text.h"
#include "base/crypto/crypto.h"

#include <string.h>

static const char *path_of(struct cr_call *call, const struct service_config *config,
                           const char *tenant, const char *name, const char *end)
{
    return cr_format(call, "%s/%s/%s%s", config->artifacts_dir, tenant, name, end);
}

enum cr_status blob_room(struct cr_call *call, const struct service_config *config)
{
    int64_t free_size, total;
    CR_TRY(cr_file_free_space(call, config->artifacts_dir, &free_size, &total));
    int64_t least = total / ARTIFACTS_FREE_PART;
    if (free_size >= (least > ARTIFACTS_FREE_MIN ? least : ARTIFACTS_FREE_MIN))
        return CR_OK;
    return cr_fail_as(call, &cr_code_read_only, "the region's disk is nearly full");
}

enum cr_status blob_open(struct cr_call *call, const struct service_config *config,
                         const char *tenant, const char *artifact, struct cr_file *ret_file)
{
    return cr_file_open(call, path_of(call, config, tenant, artifact, ""), CR_FILE_READ, 0,
                        ret_file);
}

enum cr_status blob_write(struct cr_call *call, const struct service_config *config,
                          const char *tenant, const char *artifact,
                          const struct artifacts_part *part)
{
    CR_TRY(cr_file_make_folder(call, path_of(call, config, tenant, "", ""), 0700));
    CR_SCOPED(cr_file_close) struct cr_file file = CR_FILE_CLOSED;
    CR_TRY(cr_file_open(call, path_of(call, config, tenant, artifact, ".part"), CR_FILE_WRITE, 0600,
                        &file));
    const struct cr_file from = {part->descriptor, "the body"};
    unsigned char *piece = cr_new(call, unsigned char, ARTIFACTS_PIECE);
    for (int64_t at = 0; at < part->size;) {
        size_t want = part->size - at < (int64_t)ARTIFACTS_PIECE ? (size_t)(part->size - at)
                                                                 : ARTIFACTS_PIECE;
        size_t got;
        CR_TRY(cr_file_read_at(call, &from, at, piece, want, &got));
        if (got == 0)
            return cr_fail(call, CR_UNAVAILABLE, "the body has less than its %lld bytes",
                           (long long)part->size);
        CR_TRY(cr_file_write_at(call, &file, part->first + at, piece, got));
        at += (int64_t)got;
    }
    cr_file_sync(call, &file);
    return CR_OK;
}

/* Whether the file has the size and the digest. One that is not there has neither. */
static enum cr_status check(struct cr_call *call, const char *path, const char *sha256,
                            int64_t size, bool *ret_good)
{
    *ret_good = false;
    CR_SCOPED(cr_file_close) struct cr_file file = CR_FILE_CLOSED;
    enum cr_status status = cr_file_open(call, path, CR_FILE_READ, 0, &file);
    if (status == CR_NOT_FOUND) {
        cr_forgive(call);
        return CR_OK;
    }
    CR_TRY(status);
    int64_t have;
    CR_TRY(cr_file_size(call, &file, &have));
    if (have != size)
        return CR_OK;

    struct base_crypto_sha256 hash;
    base_crypto_sha256_init(&hash);
    unsigned char *piece = cr_new(call, unsigned char, ARTIFACTS_PIECE);
    for (int64_t at = 0; at < size;) {
        size_t got;
        CR_TRY(cr_file_read_at(call, &file, at, piece, ARTIFACTS_PIECE, &got));
        if (got == 0)
            return CR_OK;
        base_crypto_sha256_add(&hash, piece, got);
        at += (int64_t)got;
    }
    unsigned char digest[BASE_CRYPTO_SHA256_SIZE];
    base_crypto_sha256_done(&hash, digest);
    *ret_good = strcmp(cr_hex(call, digest, sizeof digest), sha256) == 0;
    return CR_OK;
}

static enum cr_status remove_if_there(struct cr_call *call, const char *path)
{
    enum cr_status status = cr_file_remove(call, path);
    if (status != CR_NOT_FOUND)
        return status;
    cr_forgive(call);
    return CR_OK;
}

enum cr_status blob_finish(struct cr_call *call, const struct service_config *config,
                           const char *tenant, const char *artifact, const char *sha256,
                           int64_t size, bool *ret_good)
{
    const char *part = path_of(call, config, tenant, artifact, ".part");
    const char *place = path_of(call, config, tenant, artifact, "");
    CR_TRY(check(call, part, sha256, size, ret_good));
    if (*ret_good)
        return cr_file_rename(call, part, place);
    CR_TRY(check(call, place, sha256, size, ret_good));
    return remove_if_there(call, part);
}

enum cr_status blob_remove(struct cr_call *call, const struct service_config *config,
                           const char *tenant, const char *artifact)
{
    CR_TRY(remove_if_there(call, path_of(call, config, tenant, artifact, ".part")));
    return remove_if_there(call, path_of(call, config, tenant, artifact, ""));
}
