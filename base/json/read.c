/* read: a struct of a shape out of JSON, with all that is wrong told at once. */
#include "base/json/json.h"

#include "base/core/codes.h"
#include "base/core/parse.h"
#include "base/core/time.h"

#include <stdlib.h>
#include <string.h>

#define STRANGER_SHOWN_MAX 64 /* bytes of an unknown member's name that an answer repeats */

/* One member that is being read: what it must be, and the pointer that names it. */
struct place {
    struct cr_call *call;
    const struct cr_member *member;
    const char *pointer;
    bool patch; /* what is left out stays, and objects are merged */
};

static size_t fill(struct cr_call *call, const struct cr_shape *shape,
                   const struct json_value *json, const char *pointer, bool patch, void *value);

static size_t fault(const struct place *place, const char *code, const char *sentence)
{
    cr_fault(place->call, CR_AT_POINTER, place->pointer, code, "%s %s", place->member->name,
             sentence);
    return 1;
}

static size_t read_integer(const struct place *place, const struct json_value *json, void *at)
{
    if (place->member->max > CR_SAFE_INTEGER) {
        if (json->kind != JSON_KIND_TEXT ||
            !cr_parse_integer(json->text, json->length, INT64_MIN, INT64_MAX, at))
            return fault(place, "wrong_type", "must be an integer, written as a text");
        return 0;
    }
    if (json->kind != JSON_KIND_INTEGER)
        return fault(place, "wrong_type", "must be an integer");
    *(int64_t *)at = json->integer;
    return 0;
}

static size_t read_text(const struct place *place, const struct json_value *json, void *at)
{
    if (json->kind != JSON_KIND_TEXT)
        return fault(place, "wrong_type", "must be a text");
    *(const char **)at = json->text;
    return 0;
}

static size_t read_boolean(const struct place *place, const struct json_value *json, void *at)
{
    if (json->kind != JSON_KIND_BOOLEAN)
        return fault(place, "wrong_type", "must be true or false");
    *(bool *)at = json->boolean;
    return 0;
}

static size_t read_number(const struct place *place, const struct json_value *json, void *at)
{
    if (json->kind != JSON_KIND_NUMBER && json->kind != JSON_KIND_INTEGER)
        return fault(place, "wrong_type", "must be a number");
    *(double *)at = json->number;
    return 0;
}

static size_t read_time(const struct place *place, const struct json_value *json, void *at)
{
    if (json->kind != JSON_KIND_TEXT || !cr_time_parse(json->text, json->length, at))
        return fault(place, "wrong_type", "must be a moment such as 2026-11-30T21:03:07.000250Z");
    return 0;
}

static size_t read_bytes(const struct place *place, const struct json_value *json, void *at)
{
    if (json->kind != JSON_KIND_TEXT ||
        !cr_base64_parse(place->call, CR_BASE64_STANDARD, json->text, json->length, at))
        return fault(place, "wrong_type", "must be bytes in base64");
    return 0;
}

static size_t read_object(const struct place *place, const struct json_value *json, void *at)
{
    if (json->kind != JSON_KIND_OBJECT)
        return fault(place, "wrong_type", "must be an object");
    const struct cr_shape *shape = place->member->shape;
    void *nested = cr_alloc(place->call, 1, shape->size);
    const void *before = *(const void *const *)at;
    bool merge = place->patch && before;
    if (merge)
        memcpy(nested, before, shape->size);
    size_t count = fill(place->call, shape, json, place->pointer, merge, nested);
    *(void **)at = nested;
    return count;
}

static size_t read_list(const struct place *place, const struct json_value *json, void *at)
{
    if (json->kind != JSON_KIND_ARRAY)
        return fault(place, "wrong_type", "must be an array");
    const struct cr_shape *shape = place->member->shape;
    struct cr_list list = {cr_alloc(place->call, json->count, shape->size), json->count};
    size_t count = 0;
    for (size_t i = 0; i < json->count && place->call->fault_count < CR_FAULTS_MAX; i++) {
        const char *pointer = cr_format(place->call, "%s/%zu", place->pointer, i);
        void *item = (char *)list.items + i * shape->size;
        count += fill(place->call, shape, &json->items[i], pointer, false, item);
    }
    *(struct cr_list *)at = list;
    return count;
}

static size_t read_texts(const struct place *place, const struct json_value *json, void *at)
{
    if (json->kind != JSON_KIND_ARRAY)
        return fault(place, "wrong_type", "must be an array of texts");
    const char **items = cr_new(place->call, const char *, json->count);
    for (size_t i = 0; i < json->count; i++) {
        if (json->items[i].kind != JSON_KIND_TEXT)
            return fault(place, "wrong_type", "must be an array of texts");
        items[i] = json->items[i].text;
    }
    *(struct cr_texts *)at = (struct cr_texts){items, json->count};
    return 0;
}

static size_t read_integers(const struct place *place, const struct json_value *json, void *at)
{
    if (json->kind != JSON_KIND_ARRAY)
        return fault(place, "wrong_type", "must be an array of integers");
    int64_t *items = cr_new(place->call, int64_t, json->count);
    for (size_t i = 0; i < json->count; i++) {
        if (json->items[i].kind != JSON_KIND_INTEGER)
            return fault(place, "wrong_type", "must be an array of integers");
        items[i] = json->items[i].integer;
    }
    *(struct cr_integers *)at = (struct cr_integers){items, json->count};
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct cr_label *)a)->name, ((const struct cr_label *)b)->name);
}

/* Those of before that the patch does not name, and those of the patch that are not null. */
static size_t read_labels(const struct place *place, const struct json_value *json, void *at)
{
    if (json->kind != JSON_KIND_OBJECT)
        return fault(place, "wrong_type", "must be an object of texts");
    struct cr_labels before = place->patch ? *(struct cr_labels *)at : (struct cr_labels){NULL, 0};
    struct cr_label *items = cr_new(place->call, struct cr_label, before.count + json->count);
    size_t count = 0;
    for (size_t i = 0; i < before.count; i++)
        if (!json_member(json, before.items[i].name))
            items[count++] = before.items[i];
    for (size_t i = 0; i < json->count; i++) {
        if (place->patch && json->items[i].kind == JSON_KIND_NULL)
            continue;
        if (json->items[i].kind != JSON_KIND_TEXT)
            return fault(place, "wrong_type", "must be an object of texts");
        items[count++] = (struct cr_label){json->names[i], json->items[i].text};
    }
    qsort(items, count, sizeof items[0], by_name);
    *(struct cr_labels *)at = (struct cr_labels){items, count};
    return 0;
}

static size_t read_json(const struct place *place, const struct json_value *json, void *at)
{
    *(struct cr_json *)at = (struct cr_json){
        cr_copy(place->call, json->source, json->source_length), json->source_length};
    return 0;
}

static size_t (*const readers[])(const struct place *, const struct json_value *, void *) = {
    [CR_KIND_INTEGER] = read_integer, [CR_KIND_TEXT] = read_text,
    [CR_KIND_BOOLEAN] = read_boolean, [CR_KIND_NUMBER] = read_number,
    [CR_KIND_WORD] = read_text,       [CR_KIND_ID] = read_text,
    [CR_KIND_TIME] = read_time,       [CR_KIND_BYTES] = read_bytes,
    [CR_KIND_OBJECT] = read_object,   [CR_KIND_LIST] = read_list,
    [CR_KIND_TEXTS] = read_texts,     [CR_KIND_LABELS] = read_labels,
    [CR_KIND_JSON] = read_json,       [CR_KIND_INTEGERS] = read_integers,
};

/* The bounds of one member. What stands inside of it was looked at when it was read. */
static size_t bound_faults(const struct place *place, const char *at, const void *value)
{
    static const struct cr_shape nothing = {.size = 0};
    if (place->member->kind == CR_KIND_OBJECT)
        return 0;
    struct cr_member member = *place->member;
    member.shape = &nothing;
    struct cr_shape alone = {.members = &member, .member_count = 1};
    return cr_shape_faults(place->call, &alone, value, at);
}

static size_t read_member(const struct place *place, const struct json_value *json, const char *at,
                          void *value)
{
    const struct cr_member *member = place->member;
    void *target = (char *)value + member->offset;
    bool may_go = member->flags & (CR_OPTIONAL | CR_NULLABLE);
    if (!json && place->patch)
        return 0;
    if (!json || (json->kind == JSON_KIND_NULL && place->patch && may_go)) {
        cr_shape_set_absent(member, value);
        return json || (member->flags & CR_OPTIONAL) ? 0 : fault(place, "missing", "is missing");
    }
    if (json->kind == JSON_KIND_NULL && member->kind != CR_KIND_JSON) {
        cr_shape_set_absent(member, value);
        return member->flags & CR_NULLABLE ? 0 : fault(place, "wrong_type", "must not be null");
    }
    size_t count = readers[member->kind](place, json, target);
    return count > 0 ? count : bound_faults(place, at, value);
}

static size_t stranger_faults(struct cr_call *call, const struct cr_shape *shape,
                              const struct json_value *json, const char *pointer)
{
    size_t count = 0;
    for (size_t i = 0; i < json->count; i++) {
        const char *name = json->names[i];
        size_t k = 0;
        while (k < shape->member_count && strcmp(shape->members[k].name, name) != 0)
            k++;
        if (k < shape->member_count)
            continue;
        count++;
        if (strlen(name) > STRANGER_SHOWN_MAX) {
            cr_fault(call, CR_AT_POINTER, pointer, "not_known",
                     "a member of a long name is not "
                     "known here");
            continue;
        }
        struct cr_text at = cr_text_open(call);
        cr_text_add_format(&at, "%s/", pointer);
        for (const char *letter = name; *letter; letter++)
            cr_text_add_bytes(&at,
                              *letter == '~'   ? "~0"
                              : *letter == '/' ? "~1"
                                               : letter,
                              *letter == '~' || *letter == '/' ? 2 : 1);
        cr_fault(call, CR_AT_POINTER, at.data, "not_known", "'%s' is not known here", name);
    }
    return count;
}

/* Fills value, noting every fault; the result is their number. */
static size_t fill(struct cr_call *call, const struct cr_shape *shape,
                   const struct json_value *json, const char *pointer, bool patch, void *value)
{
    if (json->kind != JSON_KIND_OBJECT) {
        cr_fault(call, CR_AT_POINTER, pointer, "wrong_type", "a JSON object is expected");
        return 1;
    }
    size_t count = 0;
    for (size_t i = 0; i < shape->member_count; i++) {
        const struct cr_member *member = &shape->members[i];
        const struct place place = {call, member, cr_format(call, "%s/%s", pointer, member->name),
                                    patch};
        count += read_member(&place, json_member(json, member->name), pointer, value);
    }
    return count + stranger_faults(call, shape, json, pointer);
}

static enum cr_status fill_or_fail(struct cr_call *call, const struct cr_shape *shape,
                                   const struct json_value *json, const char *pointer, bool patch,
                                   void *value)
{
    void *copy = cr_alloc(call, 1, shape->size);
    memcpy(copy, value, patch ? shape->size : 0);
    size_t before = call->fault_count;
    if (fill(call, shape, json, pointer, patch, copy) > 0)
        return cr_fail_as(call, &cr_code_invalid_body, "%s",
                          before < call->fault_count ? call->faults[before].detail
                                                     : "too many faults");
    memcpy(value, copy, shape->size);
    return CR_OK;
}

enum cr_status json_read_value(struct cr_call *call, const struct cr_shape *shape,
                               const struct json_value *value, const char *at, void *ret_value)
{
    return fill_or_fail(call, shape, value, at, false, ret_value);
}

enum cr_status json_read_within(struct cr_call *call, const struct json_limits *limits,
                                const struct cr_shape *shape, const char *text, size_t length,
                                void *ret_value)
{
    const struct json_value *json;
    CR_TRY(json_parse(call, limits, text, length, &json));
    return fill_or_fail(call, shape, json, "", false, ret_value);
}

enum cr_status json_read(struct cr_call *call, const struct cr_shape *shape, const char *text,
                         size_t length, void *ret_value)
{
    return json_read_within(call, NULL, shape, text, length, ret_value);
}

enum cr_status json_read_patch(struct cr_call *call, const struct cr_shape *shape, const char *text,
                               size_t length, void *value)
{
    const struct json_value *json;
    CR_TRY(json_parse(call, NULL, text, length, &json));
    return fill_or_fail(call, shape, json, "", true, value);
}
