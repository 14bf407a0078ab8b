/* schema: shapes as JSON Schema 2020-12, for openapi.c. */
#include "base/core/id.h"
#include "base/json/json.h"
#include "controlplane/api/openapi.h"

#include <assert.h>
#include <string.h>

void openapi_say(struct openapi *document, const char *text)
{
    cr_text_add(&document->text, text);
}

void openapi_text(struct openapi *document, const char *text)
{
    json_add_text(&document->text, text);
}

static void openapi_number(struct openapi *document, double number)
{
    json_add_number(&document->text, number);
}

/* {"type":…, or ["…","null"] where the member may be null; the caller closes it. */
static void open_type(struct openapi *document, const struct cr_member *member, const char *type)
{
    bool nullable = member->flags & CR_NULLABLE;
    cr_text_add_format(&document->text,
                       nullable ? "{\"type\":[\"%s\",\"null\"]" : "{\"type\":\"%s\"", type);
}

static void add_integer(struct openapi *document, const struct cr_member *member)
{
    if (member->max > CR_SAFE_INTEGER) {
        open_type(document, member, "string");
        openapi_say(document, ",\"pattern\":\"^-?(0|[1-9][0-9]{0,18})$\"");
        return;
    }
    open_type(document, member, "integer");
    cr_text_add_format(&document->text, ",\"minimum\":%lld,\"maximum\":%lld",
                       (long long)member->min, (long long)member->max);
}

static void add_words(struct openapi *document, const struct cr_member *member)
{
    open_type(document, member, "string");
    openapi_say(document, ",\"enum\":[");
    for (size_t i = 0; member->words[i]; i++) {
        openapi_say(document, i ? "," : "");
        openapi_text(document, member->words[i]);
    }
    openapi_say(document, member->flags & CR_NULLABLE ? ",null]" : "]");
}

static void add_text(struct openapi *document, const struct cr_member *member)
{
    open_type(document, member, "string");
    /* bounds are of bytes: letters can only be fewer */
    cr_text_add_format(&document->text, ",\"maxLength\":%lld", (long long)member->max);
    if (member->min > 0)
        openapi_say(document, ",\"minLength\":1");
}

static void add_list(struct openapi *document, const struct cr_member *member)
{
    open_type(document, member, "array");
    cr_text_add_format(&document->text,
                       ",\"minItems\":%lld,\"maxItems\":%lld,\"items\":", (long long)member->min,
                       (long long)member->max);
    if (member->kind == CR_KIND_LIST) {
        openapi_shape(document, member->shape);
    } else if (member->kind == CR_KIND_INTEGERS) {
        openapi_say(document, "{\"type\":\"integer\",\"minimum\":");
        openapi_number(document, member->low);
        openapi_say(document, ",\"maximum\":");
        openapi_number(document, member->high);
        openapi_say(document, "}");
    } else {
        cr_text_add_format(&document->text, "{\"type\":\"string\",\"maxLength\":%d}",
                           CR_TEXTS_ITEM_MAX);
    }
}

static void add_object(struct openapi *document, const struct cr_member *member)
{
    bool nullable = member->flags & CR_NULLABLE;
    openapi_say(document, nullable ? "{\"anyOf\":[" : "{\"allOf\":[");
    openapi_shape(document, member->shape);
    openapi_say(document, nullable ? ",{\"type\":\"null\"}]" : "]");
}

static void add_number(struct openapi *document, const struct cr_member *member)
{
    open_type(document, member, "number");
    openapi_say(document, ",\"minimum\":");
    openapi_number(document, member->low);
    openapi_say(document, ",\"maximum\":");
    openapi_number(document, member->high);
}

static void open_member(struct openapi *document, const struct cr_member *member)
{
    switch (member->kind) {
    case CR_KIND_INTEGER:
        add_integer(document, member);
        break;
    case CR_KIND_TEXT:
        add_text(document, member);
        break;
    case CR_KIND_BOOLEAN:
        open_type(document, member, "boolean");
        break;
    case CR_KIND_NUMBER:
        add_number(document, member);
        break;
    case CR_KIND_WORD:
        add_words(document, member);
        break;
    case CR_KIND_ID:
        open_type(document, member, "string");
        cr_text_add_format(&document->text, ",\"pattern\":\"^%s_[0-9A-HJKMNP-TV-Z]{%d}$\"",
                           member->prefix, CR_ID_ULID_LENGTH);
        break;
    case CR_KIND_TIME:
        open_type(document, member, "string");
        openapi_say(document, ",\"format\":\"date-time\"");
        break;
    case CR_KIND_BYTES:
        open_type(document, member, "string");
        openapi_say(document, ",\"contentEncoding\":\"base64\"");
        break;
    case CR_KIND_OBJECT:
        add_object(document, member);
        break;
    case CR_KIND_LIST:
    case CR_KIND_TEXTS:
    case CR_KIND_INTEGERS:
        add_list(document, member);
        break;
    case CR_KIND_LABELS:
        open_type(document, member, "object");
        cr_text_add_format(&document->text,
                           ",\"maxProperties\":%lld,\"additionalProperties\":{\"type\":\"string\","
                           "\"maxLength\":%d}",
                           (long long)member->max, CR_LABEL_VALUE_MAX);
        break;
    case CR_KIND_JSON:
        openapi_say(document, "{\"description\":\"any JSON\"");
        break;
    }
}

void openapi_member(struct openapi *document, const struct cr_member *member)
{
    open_member(document, member);
    if (member->about && member->kind != CR_KIND_JSON) {
        openapi_say(document, ",\"description\":");
        openapi_text(document, member->about);
    }
    openapi_say(document, "}");
}

void openapi_members(struct openapi *document, const struct cr_shape *shape)
{
    openapi_say(document, "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{");
    for (size_t i = 0; i < shape->member_count; i++) {
        openapi_say(document, i ? "," : "");
        openapi_text(document, shape->members[i].name);
        openapi_say(document, ":");
        openapi_member(document, &shape->members[i]);
    }
    openapi_say(document, "},\"required\":[");
    const char *between = "";
    for (size_t i = 0; i < shape->member_count; i++)
        if (!(shape->members[i].flags & CR_OPTIONAL)) {
            openapi_say(document, between);
            openapi_text(document, shape->members[i].name);
            between = ",";
        }
    openapi_say(document, "]}");
}

/* A shape with a name stands once, below components, and is referred to. */
void openapi_shape(struct openapi *document, const struct cr_shape *shape)
{
    if (!shape->name) {
        openapi_members(document, shape);
        return;
    }
    cr_text_add_format(&document->text, "{\"$ref\":\"#/components/schemas/%s\"}", shape->name);
    for (size_t i = 0; i < document->named_count; i++)
        if (strcmp(document->named[i]->name, shape->name) == 0)
            return;
    assert(document->named_count < OPENAPI_SCHEMAS_MAX);
    document->named[document->named_count++] = shape;
}
