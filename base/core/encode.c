/* encode: bytes and numbers as letters, and back. */
#include "base/core/text.h"

#include <assert.h>
#include <string.h>

static const char hex_digits[] = "0123456789abcdef";

void cr_hex_print(const void *bytes, size_t size, char *ret_text)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) {
        ret_text[2 * i] = hex_digits[at[i] >> 4];
        ret_text[2 * i + 1] = hex_digits[at[i] & 15];
    }
    ret_text[2 * size] = '\0';
}

const char *cr_hex(struct cr_call *call, const void *bytes, size_t size)
{
    char *text = cr_new(call, char, 2 * size + 1);
    cr_hex_print(bytes, size, text);
    return text;
}

static int hex_value(char letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

bool cr_hex_parse(const char *text, size_t length, void *ret_bytes, size_t size)
{
    if (length % 2 != 0 || length / 2 != size)
        return false;
    for (size_t i = 0; i < length; i++)
        if (hex_value(text[i]) < 0)
            return false;
    unsigned char *bytes = ret_bytes;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(hex_value(text[2 * i]) << 4 | hex_value(text[2 * i + 1]));
    return true;
}

#define LETTERS_AND_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
static const char *const base64_alphabets[] = {
    [CR_BASE64_STANDARD] = LETTERS_AND_DIGITS "+/",
    [CR_BASE64_URL] = LETTERS_AND_DIGITS "-_",
};

const char *cr_base64_print(struct cr_call *call, enum cr_base64 alphabet, const void *bytes,
                            size_t size)
{
    const unsigned char *at = bytes;
    char *text = cr_new(call, char, (size + 2) / 3 * 4 + 1), *end = text;
    for (size_t i = 0; i < size; i += 3) {
        size_t have = size - i < 3 ? size - i : 3;
        unsigned bits = (unsigned)at[i] << 16 | (have > 1 ? (unsigned)at[i + 1] << 8 : 0U) |
                        (have > 2 ? (unsigned)at[i + 2] : 0U);
        for (size_t k = 0; k < 4; k++)
            if (k <= have)
                *end++ = base64_alphabets[alphabet][bits >> (18 - 6 * k) & 63];
            else if (alphabet == CR_BASE64_STANDARD)
                *end++ = '=';
    }
    return text;
}

/* The text without its padding, which stands exactly where it must. */
static bool unpad(enum cr_base64 alphabet, const char *text, size_t *length)
{
    if (alphabet == CR_BASE64_URL)
        return *length % 4 != 1;
    if (*length % 4 != 0)
        return false;
    for (int i = 0; i < 2 && *length > 0 && text[*length - 1] == '='; i++)
        --*length;
    return true;
}

bool cr_base64_parse(struct cr_call *call, enum cr_base64 alphabet, const char *text, size_t length,
                     struct cr_bytes *ret_bytes)
{
    if (!unpad(alphabet, text, &length) || length % 4 == 1)
        return false;
    unsigned char *data = cr_new(call, unsigned char, length * 3 / 4 + 1);
    size_t size = 0;
    unsigned bits = 0, bit_count = 0;
    for (size_t i = 0; i < length; i++) {
        const char *letter =
            text[i] ? strchr(base64_alphabets[alphabet], text[i]) : NULL; /* NUL ends it */
        if (!letter)
            return false;
        bits = bits << 6 | (unsigned)(letter - base64_alphabets[alphabet]);
        bit_count += 6;
        if (bit_count >= 8) {
            bit_count -= 8;
            data[size++] = (unsigned char)(bits >> bit_count);
            bits &= (1U << bit_count) - 1;
        }
    }
    if (bits != 0) /* the last letter says more than its bytes hold */
        return false;
    *ret_bytes = (struct cr_bytes){data, size};
    return true;
}

void cr_base62_print(uint64_t value, size_t letters, char *ret_text)
{
    for (size_t i = letters; i-- > 0; value /= 62)
        ret_text[i] = CR_BASE62_ALPHABET[value % 62];
    assert(value == 0);
    ret_text[letters] = '\0';
}

static bool is_unreserved(char letter)
{
    return letter && strchr(LETTERS_AND_DIGITS "-._~", letter);
}

const char *cr_percent_print(struct cr_call *call, const char *text)
{
    struct cr_text out = cr_text_open(call);
    for (; *text; text++)
        if (is_unreserved(*text))
            cr_text_add_bytes(&out, text, 1);
        else
            cr_text_add_format(&out, "%%%02X", (unsigned)(unsigned char)*text);
    return out.data;
}

static int any_hex_value(char letter)
{
    return hex_value(letter >= 'A' && letter <= 'F' ? (char)(letter - 'A' + 'a') : letter);
}

const char *cr_percent_parse(struct cr_call *call, const char *text, size_t length)
{
    char *out = cr_new(call, char, length + 1);
    size_t size = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '%') {
            out[size++] = text[i];
            continue;
        }
        if (length - i < 3 || any_hex_value(text[i + 1]) < 0 || any_hex_value(text[i + 2]) < 0)
            return NULL;
        out[size++] = (char)(any_hex_value(text[i + 1]) << 4 | any_hex_value(text[i + 2]));
        i += 2;
    }
    return cr_utf8(out, size) ? out : NULL;
}
