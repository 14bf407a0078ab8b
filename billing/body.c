/* body: canonical bodies by their shapes, and the forms that shapes cannot say. */
#include "billing/billing_internal.h"

#include "base/json/json.h"

#include <string.h>

#define WORD_MAX       63
#define NAME_MAX_BYTES 253

static const struct json_limits limits = {.size = (size_t)4 << 20, .members = 64};

bool billing_body_read(struct cr_call *call, const struct cr_shape *shape, struct cr_bytes body,
                       void *ret_value)
{
    if (json_read_within(call, &limits, shape, (const char *)body.data, body.size, ret_value) !=
        CR_OK) {
        cr_forgive(call);
        return false;
    }
    const char *again = json_write(call, shape, ret_value);
    return strlen(again) == body.size && memcmp(again, body.data, body.size) == 0;
}

struct cr_bytes billing_body_write(struct cr_call *call, const struct cr_shape *shape,
                                   const void *value)
{
    const char *text = json_write(call, shape, value);
    return (struct cr_bytes){(const unsigned char *)text, strlen(text)};
}

static bool is_hex(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f');
}

bool billing_is_digest(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (!is_hex(text[i]))
            return false;
    return length == 64;
}

bool billing_is_boot(const char *text)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    if (strlen(text) != sizeof form - 1)
        return false;
    for (size_t i = 0; i < sizeof form - 1; i++)
        if (form[i] == 'x' ? !is_hex(text[i]) : text[i] != form[i])
            return false;
    return true;
}

static bool is_word_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '-';
}

bool billing_is_word(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (!is_word_byte(text[i]))
            return false;
    return length >= 1 && length <= WORD_MAX;
}

bool billing_is_region(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        bool is_inner_dot = text[i] == '.' && i > 0 && i + 1 < length && text[i - 1] != '.';
        if (!is_word_byte(text[i]) && !is_inner_dot)
            return false;
    }
    return length >= 1 && length <= NAME_MAX_BYTES;
}
