/* parse: a JSON text as a tree of values. All that speaks to jansson is here. */
#include "base/json/json.h"

#include "base/core/codes.h"

#include <assert.h>
#include <jansson.h>
#include <string.h>

static const struct json_limits usual = {.size = JSON_SIZE_MAX, .members = JSON_MEMBERS_MAX};

/*
 * Looks at the bytes before jansson does: it takes a NUL for the end of a number, goes 2048 deep,
 * and makes every member before it can be told to stop. Strings are skipped; what is no JSON at all
 * is left for jansson to say.
 */
static enum cr_status look(struct cr_call *call, const struct json_limits *limits, const char *text,
                           size_t length)
{
    size_t members[JSON_DEPTH_MAX + 1] = {0}, depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\0')
            return cr_fail_as(call, &cr_code_invalid_json, "byte %zu is NUL", i);
        if (quoted) {
            if (text[i] == '\\' && i + 1 < length && text[i + 1] != '\0')
                i++;
            else
                quoted = text[i] != '"';
            continue;
        }
        switch (text[i]) {
        case '"':
            quoted = true;
            break;
        case '[':
        case '{':
            if (++depth > JSON_DEPTH_MAX)
                return cr_fail_as(call, &cr_code_invalid_json, "it is more than %d deep",
                                  JSON_DEPTH_MAX);
            members[depth] = 0;
            break;
        case ']':
        case '}':
            depth -= depth > 0;
            break;
        case ':':
            if (++members[depth] > limits->members)
                return cr_fail_as(call, &cr_code_invalid_body,
                                  "an object has more than %zu members", limits->members);
            break;
        default:
            break;
        }
    }
    return CR_OK;
}

/* The tree of jansson, and where we are in the text that it was made of. */
struct reader {
    struct cr_call *call;
    const char *at;
};

static void skip_blank(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t\r\n");
}

static void skip_letter(struct reader *reader, char letter)
{
    skip_blank(reader);
    assert(*reader->at == letter);
    reader->at++;
}

static void skip_string(struct reader *reader)
{
    skip_letter(reader, '"');
    while (*reader->at != '"')
        reader->at += *reader->at == '\\' ? 2 : 1;
    reader->at++;
}

static void convert(struct reader *reader, json_t *json, struct json_value *ret_value);

static void convert_array(struct reader *reader, json_t *json, struct json_value *ret_value)
{
    size_t count = json_array_size(json);
    struct json_value *items = cr_new(reader->call, struct json_value, count);
    skip_letter(reader, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            skip_letter(reader, ',');
        convert(reader, json_array_get(json, i), &items[i]);
    }
    skip_letter(reader, ']');
    ret_value->items = items;
    ret_value->count = count;
}

/* jansson keeps members in the order of the text, of which none is doubled. */
static void convert_object(struct reader *reader, json_t *json, struct json_value *ret_value)
{
    size_t count = json_object_size(json), i = 0;
    struct json_value *items = cr_new(reader->call, struct json_value, count);
    const char **names = cr_new(reader->call, const char *, count);
    skip_letter(reader, '{');
    for (void *at = json_object_iter(json); at; at = json_object_iter_next(json, at), i++) {
        if (i > 0)
            skip_letter(reader, ',');
        const char *name = json_object_iter_key(at);
        names[i] = cr_copy(reader->call, name, strlen(name));
        skip_string(reader);
        skip_letter(reader, ':');
        convert(reader, json_object_iter_value(at), &items[i]);
    }
    skip_letter(reader, '}');
    ret_value->items = items;
    ret_value->names = names;
    ret_value->count = count;
}

static void convert_scalar(struct reader *reader, const json_t *json, struct json_value *ret_value)
{
    switch (json_typeof(json)) {
    case JSON_INTEGER:
        ret_value->kind = JSON_KIND_INTEGER;
        ret_value->integer = json_integer_value(json);
        ret_value->number = (double)ret_value->integer;
        break;
    case JSON_REAL:
        ret_value->kind = JSON_KIND_NUMBER;
        ret_value->number = json_real_value(json) + 0.0; /* -0 + 0 is 0 */
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        ret_value->kind = JSON_KIND_BOOLEAN;
        ret_value->boolean = json_is_true(json);
        break;
    default:
        ret_value->kind = JSON_KIND_NULL;
        break;
    }
    reader->at += strcspn(reader->at, " \t\r\n,]}");
}

static void convert(struct reader *reader, json_t *json, struct json_value *ret_value)
{
    skip_blank(reader);
    const char *begin = reader->at;
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        ret_value->kind = JSON_KIND_OBJECT;
        convert_object(reader, json, ret_value);
        break;
    case JSON_ARRAY:
        ret_value->kind = JSON_KIND_ARRAY;
        convert_array(reader, json, ret_value);
        break;
    case JSON_STRING:
        ret_value->kind = JSON_KIND_TEXT;
        ret_value->length = json_string_length(json);
        ret_value->text = cr_copy(reader->call, json_string_value(json), ret_value->length);
        skip_string(reader);
        break;
    default:
        convert_scalar(reader, json, ret_value);
        break;
    }
    ret_value->source = begin;
    ret_value->source_length = (size_t)(reader->at - begin);
}

static void release(json_t **json)
{
    json_decref(*json);
}

/* What jansson says, without the piece of the text that it quotes: that may hold a secret. */
static enum cr_status refuse(struct cr_call *call, const json_error_t *error)
{
    const char *near = strstr(error->text, " near ");
    int shown = near ? (int)(near - error->text) : (int)strlen(error->text);
    return cr_fail_as(call, &cr_code_invalid_json, "line %d, column %d: %.*s", error->line,
                      error->column, shown, error->text);
}

enum cr_status json_parse(struct cr_call *call, const struct json_limits *limits, const char *text,
                          size_t length, const struct json_value **ret_value)
{
    if (!limits)
        limits = &usual;
    if (length > limits->size) {
        cr_extra_number(call, "limit", (int64_t)limits->size);
        return cr_fail_as(call, &cr_code_body_too_large, "it is longer than %zu bytes",
                          limits->size);
    }
    CR_TRY(look(call, limits, text, length));

    size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;
    if (limits->jcs)
        flags |= JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL;
    json_error_t error;
    CR_SCOPED(release) json_t *json = json_loadb(text, length, flags, &error);
    if (!json)
        return refuse(call, &error);

    /* The walk looks one byte ahead, where a text without a NUL behind it may end. */
    struct reader reader = {call, cr_copy(call, text, length)};
    struct json_value *value = cr_new(call, struct json_value, 1);
    convert(&reader, json, value);
    *ret_value = value;
    return CR_OK;
}
