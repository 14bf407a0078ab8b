/* note: texts with signature lines (C2SP signed-note, tlog-cosignature). */
#include "policy/tlog/tlog.h"

#include "base/core/text.h"
#include "base/crypto/crypto.h"

#include <string.h>

#define ID_SIZE     4
#define TIME_SIZE   8
#define DASH        "\xe2\x80\x94 " /* an em dash and a space begin a signature line */
#define DASH_LENGTH (sizeof DASH - 1)

/* What Unicode calls white space beyond ASCII, as UTF-8. */
static const char *const wide_spaces[] = {
    "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81",
    "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86",
    "\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8",
    "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80",
};

bool tlog_name_is(const char *text, size_t length)
{
    if (length == 0 || length > TLOG_NAME_MAX || !cr_utf8(text, length))
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f || text[i] == '+')
            return false;
    for (size_t i = 0; i < sizeof wide_spaces / sizeof wide_spaces[0]; i++)
        if (memmem(text, length, wide_spaces[i], strlen(wide_spaces[i])))
            return false;
    return true;
}

static void id_of(const char *name, int type, const unsigned char key[32], unsigned char ret_id[4])
{
    unsigned char hash[TLOG_HASH_SIZE];
    struct base_crypto_sha256 state;
    base_crypto_sha256_init(&state);
    base_crypto_sha256_add(&state, name, strlen(name));
    base_crypto_sha256_add(&state, (const unsigned char[]){'\n', (unsigned char)type}, 2);
    base_crypto_sha256_add(&state, key, 32);
    base_crypto_sha256_done(&state, hash);
    memcpy(ret_id, hash, ID_SIZE);
}

bool tlog_vkey_make(const char *name, int type, const unsigned char key[32],
                    struct tlog_vkey *ret_vkey)
{
    if (!tlog_name_is(name, strlen(name)))
        return false;
    *ret_vkey = (struct tlog_vkey){.type = type};
    memcpy(ret_vkey->name, name, strlen(name));
    memcpy(ret_vkey->key, key, sizeof ret_vkey->key);
    id_of(name, type, key, ret_vkey->id);
    return true;
}

bool tlog_vkey_read(struct cr_call *call, const char *text, size_t length,
                    struct tlog_vkey *ret_vkey)
{
    const char *plus = memchr(text, '+', length);
    if (!plus)
        return false;
    size_t rest = length - (size_t)(plus + 1 - text);
    unsigned char id[ID_SIZE];
    if (rest < 2 * ID_SIZE + 1 || plus[1 + 2 * ID_SIZE] != '+' ||
        !cr_hex_parse(plus + 1, 2 * ID_SIZE, id, sizeof id))
        return false;

    struct cr_bytes typed;
    const char *key = plus + 2 + 2 * ID_SIZE;
    if (!cr_base64_parse(call, CR_BASE64_STANDARD, key, length - (size_t)(key - text), &typed) ||
        typed.size != 1 + BASE_CRYPTO_PUBLIC_SIZE ||
        (typed.data[0] != TLOG_ED25519 && typed.data[0] != TLOG_COSIGNER))
        return false;

    struct tlog_vkey vkey;
    const char *name = cr_copy(call, text, (size_t)(plus - text));
    if (strlen(name) != (size_t)(plus - text) ||
        !tlog_vkey_make(name, typed.data[0], typed.data + 1, &vkey) ||
        memcmp(vkey.id, id, sizeof id) != 0)
        return false;
    *ret_vkey = vkey;
    return true;
}

const char *tlog_keyid(struct cr_call *call, const struct tlog_vkey *vkey)
{
    return cr_format(call, "%s+%s", vkey->name, cr_hex(call, vkey->id, ID_SIZE));
}

const char *tlog_vkey_write(struct cr_call *call, const struct tlog_vkey *vkey)
{
    unsigned char typed[1 + BASE_CRYPTO_PUBLIC_SIZE] = {(unsigned char)vkey->type};
    memcpy(typed + 1, vkey->key, sizeof vkey->key);
    return cr_format(call, "%s+%s", tlog_keyid(call, vkey),
                     cr_base64_print(call, CR_BASE64_STANDARD, typed, sizeof typed));
}

/* UTF-8, and of the controls below 0x20 only line ends. */
static bool is_plain(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)bytes[i] < ' ' && bytes[i] != '\n')
            return false;
    return cr_utf8(bytes, length);
}

/* "- NAME BASE64", without its line end. */
static bool read_line(struct cr_call *call, const char *at, size_t length,
                      struct tlog_line *ret_line)
{
    if (length < DASH_LENGTH || memcmp(at, DASH, DASH_LENGTH) != 0)
        return false;
    const char *name = at + DASH_LENGTH, *end = at + length;
    const char *space = memchr(name, ' ', (size_t)(end - name));
    if (!space || !tlog_name_is(name, (size_t)(space - name)))
        return false;
    struct tlog_line line = {.name = name, .name_length = (size_t)(space - name)};
    if (!cr_base64_parse(call, CR_BASE64_STANDARD, space + 1, (size_t)(end - space - 1),
                         &line.blob) ||
        line.blob.size <= ID_SIZE)
        return false;
    *ret_line = line;
    return true;
}

/* The last empty line: what is before it, with its line end, is signed. */
static const char *split_of(const char *bytes, size_t length)
{
    for (size_t i = length - 1; i > 0; i--)
        if (bytes[i] == '\n' && bytes[i - 1] == '\n')
            return bytes + i;
    return NULL;
}

bool tlog_note_read(struct cr_call *call, const char *bytes, size_t length,
                    struct tlog_note *ret_note)
{
    if (length == 0 || length > TLOG_NOTE_MAX || bytes[length - 1] != '\n' ||
        !is_plain(bytes, length))
        return false;
    const char *split = split_of(bytes, length);
    if (!split || split + 1 == bytes + length)
        return false;

    ret_note->text = bytes;
    ret_note->text_length = (size_t)(split - bytes);
    ret_note->line_count = 0;
    for (const char *at = split + 1; at < bytes + length;) {
        const char *end = memchr(at, '\n', (size_t)(bytes + length - at));
        if (ret_note->line_count == TLOG_LINES_MAX ||
            !read_line(call, at, (size_t)(end - at), &ret_note->lines[ret_note->line_count++]))
            return false;
        at = end + 1;
    }
    return true;
}

/* The message that a cosignature is over begins with its time, which stands in its blob. */
static bool is_cosigned(struct cr_call *call, const struct tlog_note *note,
                        const struct tlog_line *line, const struct tlog_vkey *vkey,
                        int64_t *ret_time_s)
{
    const unsigned char *blob = line->blob.data + ID_SIZE;
    uint64_t time_s = 0;
    for (int i = 0; i < TIME_SIZE; i++)
        time_s = time_s << 8 | blob[i];
    if (time_s > INT64_MAX)
        return false;

    struct cr_text message = cr_text_open(call);
    cr_text_add_format(&message, "cosignature/v1\ntime %lld\n", (long long)time_s);
    cr_text_add_bytes(&message, note->text, note->text_length);
    if (ret_time_s)
        *ret_time_s = (int64_t)time_s;
    return base_crypto_verify(vkey->key, message.data, message.length, blob + TIME_SIZE);
}

static bool is_signed(struct cr_call *call, const struct tlog_note *note,
                      const struct tlog_line *line, const struct tlog_vkey *vkey,
                      int64_t *ret_time_s)
{
    if (vkey->type == TLOG_COSIGNER)
        return line->blob.size == ID_SIZE + TIME_SIZE + BASE_CRYPTO_SIGNATURE_SIZE &&
               is_cosigned(call, note, line, vkey, ret_time_s);
    return line->blob.size == ID_SIZE + BASE_CRYPTO_SIGNATURE_SIZE &&
           base_crypto_verify(vkey->key, note->text, note->text_length, line->blob.data + ID_SIZE);
}

enum tlog_verdict tlog_note_verify(struct cr_call *call, const struct tlog_note *note,
                                   const struct tlog_vkey *vkey, int64_t *ret_time_s)
{
    enum tlog_verdict verdict = TLOG_ABSENT;
    for (size_t i = 0; i < note->line_count; i++) {
        const struct tlog_line *line = &note->lines[i];
        if (line->name_length != strlen(vkey->name) ||
            memcmp(line->name, vkey->name, line->name_length) != 0 ||
            memcmp(line->blob.data, vkey->id, ID_SIZE) != 0)
            continue;
        if (!is_signed(call, note, line, vkey, ret_time_s))
            return TLOG_BAD;
        verdict = TLOG_GOOD;
    }
    return verdict;
}

const char *tlog_note_sign(struct cr_call *call, const char *text, const char *name,
                           const struct base_crypto_signer *signer)
{
    unsigned char blob[ID_SIZE + BASE_CRYPTO_SIGNATURE_SIZE];
    id_of(name, TLOG_ED25519, base_crypto_signer_public(signer), blob);
    base_crypto_sign(signer, text, strlen(text), blob + ID_SIZE);
    return cr_format(call, "%s\n" DASH "%s %s\n", text, name,
                     cr_base64_print(call, CR_BASE64_STANDARD, blob, sizeof blob));
}
