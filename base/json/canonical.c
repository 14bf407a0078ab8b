/* canonical: JSON in the one form that may be hashed and signed (RFC 8785, JCS). */
#include "base/json/json.h"

#include <stdlib.h>
#include <string.h>

/*
 * Where a byte of UTF-8 stands in the order of UTF-16 units. The two orders differ in one thing:
 * what is above U+FFFF (bytes from F0 on) is made of surrogates, which come before U+E000 (EE, EF).
 */
static int place(unsigned char byte)
{
    return byte >= 0xF0 ? byte - 2 : byte >= 0xEE ? byte + 5 : byte;
}

static int by_utf16(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return place((unsigned char)*a) - place((unsigned char)*b);
}

struct member {
    const char *name;
    const struct json_value *value;
};

static int by_name(const void *a, const void *b)
{
    return by_utf16(((const struct member *)a)->name, ((const struct member *)b)->name);
}

static void add_object(struct cr_text *text, const struct json_value *value)
{
    struct member *members = cr_new(text->call, struct member, value->count);
    for (size_t i = 0; i < value->count; i++)
        members[i] = (struct member){value->names[i], &value->items[i]};
    qsort(members, value->count, sizeof members[0], by_name);

    cr_text_add(text, "{");
    for (size_t i = 0; i < value->count; i++) {
        cr_text_add(text, i > 0 ? "," : "");
        json_add_text(text, members[i].name);
        cr_text_add(text, ":");
        json_add_canonical(text, members[i].value);
    }
    cr_text_add(text, "}");
}

void json_add_canonical(struct cr_text *text, const struct json_value *value)
{
    switch (value->kind) {
    case JSON_KIND_INTEGER:
        json_add_number(text, (double)value->integer);
        break;
    case JSON_KIND_ARRAY:
        cr_text_add(text, "[");
        for (size_t i = 0; i < value->count; i++) {
            cr_text_add(text, i > 0 ? "," : "");
            json_add_canonical(text, &value->items[i]);
        }
        cr_text_add(text, "]");
        break;
    case JSON_KIND_OBJECT:
        add_object(text, value);
        break;
    case JSON_KIND_NULL:
    case JSON_KIND_BOOLEAN:
    case JSON_KIND_NUMBER:
    case JSON_KIND_TEXT:
        json_add_value(text, value);
        break;
    }
}

const char *json_canonical(struct cr_call *call, const struct json_value *value)
{
    struct cr_text text = cr_text_open(call);
    json_add_canonical(&text, value);
    return text.data;
}
