/* openapi: the tables as OpenAPI 3.1, whose schemas are JSON Schema 2020-12. */
#include "base/core/id.h"
#include "base/json/json.h"
#include "controlplane/api/api_internal.h"

#include <assert.h>
#include <string.h>

#define OPENAPI_SCHEMAS_MAX 256

struct document {
    struct cr_text text;
    const struct cr_shape *named[OPENAPI_SCHEMAS_MAX];
    size_t named_count;
};

static void say(struct document *document, const char *text)
{
    cr_text_add(&document->text, text);
}

static void say_text(struct document *document, const char *text)
{
    json_add_text(&document->text, text);
}

static void say_number(struct document *document, double number)
{
    json_add_number(&document->text, number);
}

static void add_shape(struct document *document, const struct cr_shape *shape);

/* Schemas ------------------------------------------------------------------------------------- */

/* {"type":…, or ["…","null"] where the member may be null; the caller closes it. */
static void open_type(struct document *document, const struct cr_member *member, const char *type)
{
    bool nullable = member->flags & CR_NULLABLE;
    cr_text_add_format(&document->text,
                       nullable ? "{\"type\":[\"%s\",\"null\"]" : "{\"type\":\"%s\"", type);
}

static void add_integer(struct document *document, const struct cr_member *member)
{
    if (member->max > CR_SAFE_INTEGER) {
        open_type(document, member, "string");
        say(document, ",\"pattern\":\"^-?(0|[1-9][0-9]{0,18})$\"");
        return;
    }
    open_type(document, member, "integer");
    cr_text_add_format(&document->text, ",\"minimum\":%lld,\"maximum\":%lld",
                       (long long)member->min, (long long)member->max);
}

static void add_words(struct document *document, const struct cr_member *member)
{
    open_type(document, member, "string");
    say(document, ",\"enum\":[");
    for (size_t i = 0; member->words[i]; i++) {
        say(document, i ? "," : "");
        say_text(document, member->words[i]);
    }
    say(document, member->flags & CR_NULLABLE ? ",null]" : "]");
}

static void add_text(struct document *document, const struct cr_member *member)
{
    open_type(document, member, "string");
    /* bounds are of bytes: letters can only be fewer */
    cr_text_add_format(&document->text, ",\"maxLength\":%lld", (long long)member->max);
    if (member->min > 0)
        say(document, ",\"minLength\":1");
}

static void add_list(struct document *document, const struct cr_member *member)
{
    open_type(document, member, "array");
    cr_text_add_format(&document->text,
                       ",\"minItems\":%lld,\"maxItems\":%lld,\"items\":", (long long)member->min,
                       (long long)member->max);
    if (member->kind == CR_KIND_LIST) {
        add_shape(document, member->shape);
    } else if (member->kind == CR_KIND_INTEGERS) {
        say(document, "{\"type\":\"integer\",\"minimum\":");
        say_number(document, member->low);
        say(document, ",\"maximum\":");
        say_number(document, member->high);
        say(document, "}");
    } else {
        cr_text_add_format(&document->text, "{\"type\":\"string\",\"maxLength\":%d}",
                           CR_TEXTS_ITEM_MAX);
    }
}

static void add_object(struct document *document, const struct cr_member *member)
{
    bool nullable = member->flags & CR_NULLABLE;
    say(document, nullable ? "{\"anyOf\":[" : "{\"allOf\":[");
    add_shape(document, member->shape);
    say(document, nullable ? ",{\"type\":\"null\"}]" : "]");
}

static void add_number(struct document *document, const struct cr_member *member)
{
    open_type(document, member, "number");
    say(document, ",\"minimum\":");
    say_number(document, member->low);
    say(document, ",\"maximum\":");
    say_number(document, member->high);
}

static void open_member(struct document *document, const struct cr_member *member)
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
        say(document, ",\"format\":\"date-time\"");
        break;
    case CR_KIND_BYTES:
        open_type(document, member, "string");
        say(document, ",\"contentEncoding\":\"base64\"");
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
        say(document, "{\"description\":\"any JSON\"");
        break;
    }
}

static void add_member(struct document *document, const struct cr_member *member)
{
    open_member(document, member);
    if (member->about && member->kind != CR_KIND_JSON) {
        say(document, ",\"description\":");
        say_text(document, member->about);
    }
    say(document, "}");
}

static void add_members(struct document *document, const struct cr_shape *shape)
{
    say(document, "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{");
    for (size_t i = 0; i < shape->member_count; i++) {
        say(document, i ? "," : "");
        say_text(document, shape->members[i].name);
        say(document, ":");
        add_member(document, &shape->members[i]);
    }
    say(document, "},\"required\":[");
    const char *between = "";
    for (size_t i = 0; i < shape->member_count; i++)
        if (!(shape->members[i].flags & CR_OPTIONAL)) {
            say(document, between);
            say_text(document, shape->members[i].name);
            between = ",";
        }
    say(document, "]}");
}

/* A shape with a name stands once, below components, and is referred to. */
static void add_shape(struct document *document, const struct cr_shape *shape)
{
    if (!shape->name) {
        add_members(document, shape);
        return;
    }
    cr_text_add_format(&document->text, "{\"$ref\":\"#/components/schemas/%s\"}", shape->name);
    for (size_t i = 0; i < document->named_count; i++)
        if (strcmp(document->named[i]->name, shape->name) == 0)
            return;
    assert(document->named_count < OPENAPI_SCHEMAS_MAX);
    document->named[document->named_count++] = shape;
}

/* Parameters ---------------------------------------------------------------------------------- */

static void add_path_values(struct document *document, const struct api_route *route,
                            const char **between)
{
    size_t length;
    for (size_t n = 0; n < API_PATH_VALUES_MAX; n++) {
        const char *name = api_path_name(route->path, n, &length);
        if (!name)
            return;
        const char *prefix = api_id_prefix(name, length);
        cr_text_add_format(&document->text,
                           "%s{\"name\":\"%.*s\",\"in\":\"path\",\"required\":true,\"schema\":"
                           "{\"type\":\"string\"",
                           *between, (int)length, name);
        if (prefix && strcmp(prefix, "art") == 0)
            say(document, ",\"pattern\":\"^(art_[0-9A-HJKMNP-TV-Z]{26}|sha256:[0-9a-f]{64})$\"");
        else if (prefix)
            cr_text_add_format(&document->text, ",\"pattern\":\"^%s_[0-9A-HJKMNP-TV-Z]{%d}$\"",
                               prefix, CR_ID_ULID_LENGTH);
        say(document, "}}");
        *between = ",";
    }
}

static void add_query(struct document *document, const struct api_route *route,
                      const char **between)
{
    for (size_t i = 0; route->query && i < route->query->member_count; i++) {
        const struct cr_member *member = &route->query->members[i];
        bool many = member->kind == CR_KIND_TEXTS;
        cr_text_add_format(&document->text,
                           "%s{\"name\":\"%s\",\"in\":\"query\",\"required\":%s,%s\"schema\":",
                           *between, member->name, member->flags & CR_OPTIONAL ? "false" : "true",
                           many ? "\"style\":\"form\",\"explode\":false," : "");
        add_member(document, member);
        say(document, "}");
        *between = ",";
    }
}

static void add_parameters(struct document *document, const struct api_route *route)
{
    static const struct {
        unsigned flag;
        const char *reference;
    } shared[] = {
        {API_LIST, "limit"}, {API_LIST, "after"},       {API_PARK, "wait"},
        {API_KEYED, "key"},  {API_IF_MATCH, "ifMatch"}, {API_REASON, "reason"},
    };
    const char *between = "";
    say(document, "\"parameters\":[");
    add_path_values(document, route, &between);
    add_query(document, route, &between);
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (route->flags & shared[i].flag) {
            cr_text_add_format(&document->text, "%s{\"$ref\":\"#/components/parameters/%s\"}",
                               between, shared[i].reference);
            between = ",";
        }
    say(document, "]");
}

static const char shared_parameters[] =
    "\"limit\":{\"name\":\"limit\",\"in\":\"query\",\"schema\":{\"type\":\"integer\",\"minimum\":1,"
    "\"maximum\":500,\"default\":50}},"
    "\"after\":{\"name\":\"after\",\"in\":\"query\",\"description\":\"next_after of the page "
    "before\","
    "\"schema\":{\"type\":\"string\",\"maxLength\":512}},"
    "\"wait\":{\"name\":\"wait\",\"in\":\"query\",\"description\":\"seconds to wait for a change\","
    "\"schema\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":30}},"
    "\"key\":{\"name\":\"Idempotency-Key\",\"in\":\"header\",\"required\":true,\"description\":"
    "\"the same key and body give the same effect and answer, for 7 days\",\"schema\":"
    "{\"type\":\"string\",\"minLength\":1,\"maxLength\":257}},"
    "\"ifMatch\":{\"name\":\"If-Match\",\"in\":\"header\",\"required\":true,\"description\":"
    "\"the ETag that was read\",\"schema\":{\"type\":\"string\",\"pattern\":\"^\\\"[0-9]+\\\"$\"}},"
    "\"reason\":{\"name\":\"Cresset-Reason\",\"in\":\"header\",\"required\":true,\"description\":"
    "\"why, percent-encoded: it stands in the audit log\",\"schema\":{\"type\":\"string\","
    "\"minLength\":1,\"maxLength\":2400}}";

/* Operations ---------------------------------------------------------------------------------- */

static void add_request(struct document *document, const struct api_route *route)
{
    if (route->takes) {
        say(document, ",\"requestBody\":{\"required\":true,\"content\":{\"application/json\":"
                      "{\"schema\":");
        add_shape(document, route->takes);
        say(document, "}}}");
    } else if (route->flags & API_FILE_IN) {
        say(document, ",\"requestBody\":{\"required\":true,\"content\":"
                      "{\"application/octet-stream\":{}}}");
    }
}

static void add_success(struct document *document, const struct api_route *route)
{
    cr_text_add_format(&document->text, "\"%d\":{\"description\":\"done\"", route->success);
    if (route->gives) {
        say(document, ",\"content\":{\"application/json\":{\"schema\":");
        add_shape(document, route->gives);
        say(document, "}}");
    } else if (route->flags & API_SSE) {
        say(document, ",\"content\":{\"text/event-stream\":{}}");
    } else if (route->flags & API_FILE_OUT) {
        say(document, ",\"content\":{");
        say_text(document, route->media ? route->media : "application/octet-stream");
        say(document, ":{}}");
    }
    say(document, "}");
    if (route->flags & API_ETAG)
        say(document, ",\"304\":{\"description\":\"it is as it was seen\"}");
    if ((route->flags & API_FILE_OUT) && route->success == 200)
        say(document, ",\"206\":{\"description\":\"the range that was asked for\"},"
                      "\"416\":{\"description\":\"there is no such range\"}");
}

/* One answer for each status, which names its codes. */
static void add_failures(struct document *document, const struct api_route *route)
{
    const struct cr_code *codes[API_CODES_MAX];
    size_t count = api_route_codes(route, codes);
    for (int http = 400; http < 600; http++) {
        const char *between = "";
        for (size_t i = 0; i < count; i++) {
            if (codes[i]->http != http)
                continue;
            if (!*between)
                cr_text_add_format(&document->text,
                                   ",\"%d\":{\"description\":\"a problem\",\"content\":"
                                   "{\"application/problem+json\":{\"schema\":{\"$ref\":"
                                   "\"#/components/schemas/Problem\"}}},\"x-codes\":[",
                                   http);
            cr_text_add_format(&document->text, "%s\"%s\"", between, codes[i]->word);
            between = ",";
        }
        say(document, *between ? "]}" : "");
    }
}

static void add_operation(struct document *document, const struct api_route *route)
{
    char method[16];
    size_t length = strlen(route->method);
    assert(length < sizeof method);
    for (size_t i = 0; i <= length; i++)
        method[i] = (char)(route->method[i] | (i < length ? 0x20 : 0));
    const char *tag = route->operation;
    cr_text_add_format(&document->text,
                       "\"%s\":{\"operationId\":\"%s\",\"tags\":[\"%.*s\"],"
                       "\"summary\":",
                       method, route->operation, (int)strcspn(tag, "_"), tag);
    say_text(document, route->summary);
    say(document, ",");
    if (route->permission) {
        say(document, "\"x-permission\":");
        say_text(document, route->permission);
        say(document, ",");
    }
    say(document, route->scope == API_PUBLIC ? "\"security\":[]," : "");
    add_parameters(document, route);
    add_request(document, route);
    say(document, ",\"responses\":{");
    add_success(document, route);
    add_failures(document, route);
    say(document, "}}");
}

/* {name...} is {name} to OpenAPI, which has no word for the rest of a path. */
static void add_path(struct document *document, const char *path)
{
    const char *rest = strstr(path, "...}");
    size_t length = rest ? (size_t)(rest - path) : strlen(path);
    say(document, "\"");
    cr_text_add_bytes(&document->text, path, length);
    say(document, rest ? "}\":{" : "\":{");
}

static void add_paths(struct document *document)
{
    const struct api_route *routes[API_ROUTES_MAX];
    size_t count = api_routes(routes);
    const char *outer = "";
    for (size_t i = 0; i < count; i++) {
        bool seen = false;
        for (size_t j = 0; j < i && !seen; j++)
            seen = strcmp(routes[j]->path, routes[i]->path) == 0;
        if (seen)
            continue;
        say(document, outer);
        add_path(document, routes[i]->path);
        for (size_t j = i; j < count; j++)
            if (strcmp(routes[j]->path, routes[i]->path) == 0) {
                say(document, j > i ? "," : "");
                add_operation(document, routes[j]);
            }
        say(document, "}");
        outer = ",";
    }
}

static const char problem_schema[] =
    "\"Problem\":{\"type\":\"object\",\"description\":\"RFC 9457\",\"properties\":{"
    "\"type\":{\"type\":\"string\",\"format\":\"uri\"},\"title\":{\"type\":\"string\"},"
    "\"status\":{\"type\":\"integer\"},\"detail\":{\"type\":\"string\"},"
    "\"instance\":{\"type\":\"string\"},\"code\":{\"type\":\"string\"},"
    "\"request_id\":{\"type\":\"string\"},\"retryable\":{\"type\":\"boolean\"},"
    "\"errors\":{\"type\":\"array\",\"maxItems\":20,\"items\":{\"type\":\"object\",\"properties\":{"
    "\"pointer\":{\"type\":\"string\"},\"parameter\":{\"type\":\"string\"},"
    "\"header\":{\"type\":\"string\"},\"code\":{\"type\":\"string\"},"
    "\"detail\":{\"type\":\"string\"}},\"required\":[\"code\",\"detail\"]}}},"
    "\"required\":[\"type\",\"title\",\"status\",\"detail\",\"code\",\"request_id\","
    "\"retryable\"]}";

const char *api_print_openapi(struct cr_call *call, const char *public_origin)
{
    struct document *document = cr_new(call, struct document, 1);
    document->text = cr_text_open(call);
    say(document, "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Cresset\",\"version\":\"1\","
                  "\"license\":{\"name\":\"Apache-2.0\",\"identifier\":\"Apache-2.0\"}},"
                  "\"servers\":[{\"url\":");
    say_text(document, public_origin);
    say(document, "}],\"security\":[{\"bearer\":[]},{\"session\":[]}],\"paths\":{");
    add_paths(document);
    say(document, "},\"components\":{\"securitySchemes\":{\"bearer\":{\"type\":\"http\","
                  "\"scheme\":\"bearer\"},\"session\":{\"type\":\"apiKey\",\"in\":\"cookie\","
                  "\"name\":\"__Host-cresset\"}},\"parameters\":{");
    say(document, shared_parameters);
    say(document, "},\"schemas\":{");
    say(document, problem_schema);
    /* a schema may name others, which join the list as it is walked */
    for (size_t i = 0; i < document->named_count; i++) {
        cr_text_add_format(&document->text, ",\"%s\":", document->named[i]->name);
        add_members(document, document->named[i]);
    }
    say(document, "}}}");
    return document->text.data;
}
