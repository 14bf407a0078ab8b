/* value: parameters as PostgreSQL reads them, array literals among them. */
#include "base/db/db_internal.h"

#include <assert.h>
#include <string.h>

/* A text that grows; the length is known beforehand, so it is cut from the call once. */
struct literal {
    char *text;
    size_t length;
};

static void add(struct literal *literal, const void *bytes, size_t size)
{
    memcpy(literal->text + literal->length, bytes, size);
    literal->length += size;
}

static const char *ints_text(struct cr_call *call, const int64_t *values, size_t count)
{
    struct literal literal = {.text = cr_new(call, char, count * 21 + 3)};
    add(&literal, "{", 1);
    for (size_t i = 0; i < count; i++)
        literal.length += (size_t)snprintf(literal.text + literal.length, 22, "%s%lld",
                                           i ? "," : "", (long long)values[i]);
    add(&literal, "}", 1);
    return literal.text;
}

static const char *texts_text(struct cr_call *call, const char *const *texts, size_t count)
{
    size_t size = 3;
    for (size_t i = 0; i < count; i++)
        size += 2 * strlen(texts[i]) + 3; /* all escaped, two quotes, a comma */

    struct literal literal = {.text = cr_new(call, char, size)};
    add(&literal, "{", 1);
    for (size_t i = 0; i < count; i++) {
        add(&literal, &",\""[i == 0], i ? 2 : 1);
        for (const char *at = texts[i]; *at; at++) {
            if (*at == '"' || *at == '\\')
                add(&literal, "\\", 1);
            add(&literal, at, 1);
        }
        add(&literal, "\"", 1);
    }
    add(&literal, "}", 1);
    return literal.text;
}

static const char *byteses_text(struct cr_call *call, const struct cr_bytes *values, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    size_t size = 3;
    for (size_t i = 0; i < count; i++)
        size += 2 * values[i].size + 7; /* "\\x…", */

    struct literal literal = {.text = cr_new(call, char, size)};
    add(&literal, "{", 1);
    for (size_t i = 0; i < count; i++) {
        add(&literal, &",\"\\\\x"[i == 0], i ? 5 : 4);
        for (size_t at = 0; at < values[i].size; at++) {
            add(&literal, &digits[values[i].data[at] >> 4], 1);
            add(&literal, &digits[values[i].data[at] & 15], 1);
        }
        add(&literal, "\"", 1);
    }
    add(&literal, "}", 1);
    return literal.text;
}

const char *db_value_text(struct cr_call *call, const struct db_value *value)
{
    switch (value->kind) {
    case DB_INT:
        return cr_format(call, "%lld", (long long)value->integer);
    case DB_BOOL:
        return value->integer ? "t" : "f";
    case DB_TEXT:
        return value->data;
    case DB_INTS:
        return ints_text(call, value->data, value->count);
    case DB_TEXTS:
        return texts_text(call, value->data, value->count);
    case DB_BYTESES:
        return byteses_text(call, value->data, value->count);
    case DB_NULL:
    case DB_BYTES:
        break;
    }
    return NULL;
}
