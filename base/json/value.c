/* value: what a tree of values holds, and the same as JSON again. */
#include "base/json/json.h"

#include "base/core/parse.h"

#include <string.h>

const struct json_value *json_member(const struct json_value *value, const char *name)
{
    if (!value || value->kind != JSON_KIND_OBJECT)
        return NULL;
    for (size_t i = 0; i < value->count; i++)
        if (strcmp(value->names[i], name) == 0)
            return &value->items[i];
    return NULL;
}

const char *json_member_text(const struct json_value *value, const char *name)
{
    const struct json_value *member = json_member(value, name);
    return member && member->kind == JSON_KIND_TEXT ? member->text : NULL;
}

/* Whether a name is what a token of a pointer says: ~1 is '/', ~0 is '~'. */
static bool token_is(const char *token, size_t length, const char *name)
{
    size_t i = 0;
    for (; i < length && *name; i++, name++) {
        char letter = token[i];
        if (letter == '~' && i + 1 < length)
            letter = token[++i] == '1' ? '/' : '~';
        if (letter != *name)
            return false;
    }
    return i == length && !*name;
}

static const struct json_value *step(const struct json_value *value, const char *token,
                                     size_t length)
{
    int64_t index;
    if (value->kind == JSON_KIND_ARRAY)
        return cr_parse_integer(token, length, 0, INT64_MAX, &index) &&
                       (uint64_t)index < value->count
                   ? &value->items[index]
                   : NULL;
    if (value->kind == JSON_KIND_OBJECT)
        for (size_t i = 0; i < value->count; i++)
            if (token_is(token, length, value->names[i]))
                return &value->items[i];
    return NULL;
}

const struct json_value *json_at(const struct json_value *value, const char *pointer)
{
    while (value && *pointer == '/') {
        size_t length = strcspn(pointer + 1, "/");
        value = step(value, pointer + 1, length);
        pointer += 1 + length;
    }
    return *pointer ? NULL : value;
}

void json_add_text(struct cr_text *text, const char *value)
{
    if (value)
        cr_text_add_quoted(text, value, strlen(value));
    else
        cr_text_add(text, "null");
}

void json_add_value(struct cr_text *text, const struct json_value *value)
{
    switch (value->kind) {
    case JSON_KIND_NULL:
        cr_text_add(text, "null");
        break;
    case JSON_KIND_BOOLEAN:
        cr_text_add(text, value->boolean ? "true" : "false");
        break;
    case JSON_KIND_INTEGER:
        cr_text_add_format(text, "%lld", (long long)value->integer);
        break;
    case JSON_KIND_NUMBER:
        json_add_number(text, value->number);
        break;
    case JSON_KIND_TEXT:
        cr_text_add_quoted(text, value->text, value->length);
        break;
    case JSON_KIND_ARRAY:
    case JSON_KIND_OBJECT:
        cr_text_add(text, value->kind == JSON_KIND_ARRAY ? "[" : "{");
        for (size_t i = 0; i < value->count; i++) {
            cr_text_add(text, i > 0 ? "," : "");
            if (value->kind == JSON_KIND_OBJECT) {
                json_add_text(text, value->names[i]);
                cr_text_add(text, ":");
            }
            json_add_value(text, &value->items[i]);
        }
        cr_text_add(text, value->kind == JSON_KIND_ARRAY ? "]" : "}");
        break;
    }
}
