/* write: a struct of a shape as JSON. */
#include "base/json/json.h"

#include "base/core/time.h"

#include <assert.h>

static void add_quoted_integer(struct cr_text *text, const struct cr_member *member, int64_t value)
{
    const char *quote = member->max > CR_SAFE_INTEGER ? "\"" : "";
    cr_text_add_format(text, "%s%lld%s", quote, (long long)value, quote);
}

static void add_time(struct cr_text *text, int64_t utc_us)
{
    char at[CR_TIME_SIZE];
    cr_time_print(utc_us, at);
    json_add_text(text, at);
}

static void add_list(struct cr_text *text, const struct cr_shape *shape, const struct cr_list *list)
{
    cr_text_add(text, "[");
    for (size_t i = 0; i < list->count; i++) {
        cr_text_add(text, i > 0 ? "," : "");
        json_add(text, shape, (const char *)list->items + i * shape->size);
    }
    cr_text_add(text, "]");
}

static void add_texts(struct cr_text *text, const struct cr_texts *texts)
{
    cr_text_add(text, "[");
    for (size_t i = 0; i < texts->count; i++) {
        cr_text_add(text, i > 0 ? "," : "");
        json_add_text(text, texts->items[i]);
    }
    cr_text_add(text, "]");
}

static void add_integers(struct cr_text *text, const struct cr_integers *integers)
{
    cr_text_add(text, "[");
    for (size_t i = 0; i < integers->count; i++)
        cr_text_add_format(text, "%s%lld", i > 0 ? "," : "", (long long)integers->items[i]);
    cr_text_add(text, "]");
}

static void add_labels(struct cr_text *text, const struct cr_labels *labels)
{
    cr_text_add(text, "{");
    for (size_t i = 0; i < labels->count; i++) {
        cr_text_add(text, i > 0 ? "," : "");
        json_add_text(text, labels->items[i].name);
        cr_text_add(text, ":");
        json_add_text(text, labels->items[i].value);
    }
    cr_text_add(text, "}");
}

static void add_bytes(struct cr_text *text, const struct cr_bytes *bytes)
{
    json_add_text(text, cr_base64_print(text->call, CR_BASE64_STANDARD, bytes->data, bytes->size));
}

static void add_member(struct cr_text *text, const struct cr_member *member, const void *at)
{
    switch (member->kind) {
    case CR_KIND_INTEGER:
        add_quoted_integer(text, member, *(const int64_t *)at);
        break;
    case CR_KIND_TEXT:
    case CR_KIND_WORD:
    case CR_KIND_ID:
        json_add_text(text, *(const char *const *)at);
        break;
    case CR_KIND_BOOLEAN:
        cr_text_add(text, *(const bool *)at ? "true" : "false");
        break;
    case CR_KIND_NUMBER:
        json_add_number(text, *(const double *)at);
        break;
    case CR_KIND_TIME:
        add_time(text, *(const int64_t *)at);
        break;
    case CR_KIND_BYTES:
        add_bytes(text, at);
        break;
    case CR_KIND_OBJECT:
        json_add(text, member->shape, *(const void *const *)at);
        break;
    case CR_KIND_LIST:
        add_list(text, member->shape, at);
        break;
    case CR_KIND_TEXTS:
        add_texts(text, at);
        break;
    case CR_KIND_INTEGERS:
        add_integers(text, at);
        break;
    case CR_KIND_LABELS:
        add_labels(text, at);
        break;
    case CR_KIND_JSON:
        cr_text_add_bytes(text, ((const struct cr_json *)at)->text,
                          ((const struct cr_json *)at)->length);
        break;
    }
}

/* A list of nothing may have no items at all, and is a list still. */
static bool is_many(enum cr_kind kind)
{
    return kind == CR_KIND_LIST || kind == CR_KIND_TEXTS || kind == CR_KIND_INTEGERS ||
           kind == CR_KIND_LABELS;
}

void json_add(struct cr_text *text, const struct cr_shape *shape, const void *value)
{
    const char *comma = "";
    cr_text_add(text, "{");
    for (size_t i = 0; i < shape->member_count; i++) {
        const struct cr_member *member = &shape->members[i];
        bool absent = cr_shape_absent(member, value);
        bool nullable = member->flags & CR_NULLABLE;
        if (absent && !nullable && (member->flags & CR_OPTIONAL))
            continue;
        cr_text_add(text, comma);
        json_add_text(text, member->name);
        cr_text_add(text, ":");
        if (absent && (nullable || !is_many(member->kind)))
            cr_text_add(text, "null");
        else
            add_member(text, member, (const char *)value + member->offset);
        comma = ",";
    }
    cr_text_add(text, "}");
}

const char *json_write(struct cr_call *call, const struct cr_shape *shape, const void *value)
{
    struct cr_text text = cr_text_open(call);
    json_add(&text, shape, value);
    return text.data;
}
