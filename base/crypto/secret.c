/* secret: memory for secrets, and the files that keep them. */
#include "base/crypto/crypto.h"

#include "base/core/file.h"
#include "base/core/text.h"

#include <sodium.h>
#include <stdlib.h>
#include <sys/stat.h>

#define SECRET_SIZE_MAX ((size_t)4096)

/* Before main, so that no thread has to ask whether libsodium is ready. */
__attribute__((constructor)) static void begin(void)
{
    if (sodium_init() < 0)
        abort();
}

void *base_crypto_secret_open(size_t size)
{
    void *secret = sodium_malloc(size);
    if (!secret)
        abort();
    sodium_memzero(secret, size);
    return secret;
}

void base_crypto_secret_close(void *secret)
{
    sodium_free(secret);
}

bool base_crypto_equal(const void *a, const void *b, size_t size)
{
    return sodium_memcmp(a, b, size) == 0;
}

void base_crypto_wipe(void *bytes, size_t size)
{
    sodium_memzero(bytes, size);
}

static enum cr_status guarded(struct cr_call *call, const struct cr_file *file)
{
    struct stat about;
    if (fstat(file->descriptor, &about) != 0)
        return cr_fail(call, CR_UNAVAILABLE, "cannot look at %s", file->path);
    if (about.st_mode & (S_IRWXG | S_IRWXO))
        return cr_fail(call, CR_INVALID, "others than its owner may use %s (mode %03o)", file->path,
                       (unsigned)about.st_mode & 0777);
    return CR_OK;
}

enum cr_status base_crypto_secret_read(struct cr_call *call, const char *path, size_t size,
                                       unsigned char **ret_secret)
{
    CR_SCOPED(cr_file_close) struct cr_file file = CR_FILE_CLOSED;
    CR_TRY(cr_file_open(call, path, CR_FILE_READ, 0, &file));
    CR_TRY(guarded(call, &file));

    size_t room = 2 * size + 2, got;
    char *text = cr_new(call, char, room);
    CR_TRY(cr_file_read_at(call, &file, 0, text, room, &got));
    if (got == 2 * size + 1 && text[got - 1] == '\n')
        got--;
    unsigned char *secret = base_crypto_secret_open(size);
    bool good = cr_hex_parse(text, got, secret, size);
    sodium_memzero(text, room);
    if (!good) {
        base_crypto_secret_close(secret);
        return cr_fail(call, CR_INVALID, "%s does not hold %zu bytes in hex", path, size);
    }
    *ret_secret = secret;
    return CR_OK;
}

enum cr_status base_crypto_secret_make(struct cr_call *call, const char *path, size_t size)
{
    CR_SCOPED(cr_file_close) struct cr_file file = CR_FILE_CLOSED;
    CR_TRY(cr_file_open(call, path, CR_FILE_CREATE, 0600, &file));

    unsigned char bytes[SECRET_SIZE_MAX];
    char text[2 * SECRET_SIZE_MAX + 1];
    if (size > sizeof bytes)
        return cr_fail(call, CR_TOO_LARGE, "a secret has at most %zu bytes", sizeof bytes);
    cr_random(call, bytes, size);
    cr_hex_print(bytes, size, text);
    text[2 * size] = '\n';
    enum cr_status status = cr_file_write_at(call, &file, 0, text, 2 * size + 1);
    sodium_memzero(bytes, sizeof bytes);
    sodium_memzero(text, sizeof text);
    if (status != CR_OK) /* half a secret would be taken for one that is there */
        return cr_file_remove(call, path) == CR_OK ? status : call->status;
    cr_file_sync(call, &file);
    return CR_OK;
}
