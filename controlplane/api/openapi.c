/* openapi: the tables as OpenAPI 3.1. */
#include "base/core/id.h"
#include "controlplane/api/openapi.h"

#include <assert.h>
#include <string.h>

/* Parameters ---------------------------------------------------------------------------------- */

static void add_path_values(struct openapi *document, const struct api_route *route,
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
            openapi_say(document,
                        ",\"pattern\":\"^(art_[0-9A-HJKMNP-TV-Z]{26}|sha256:[0-9a-f]{64})$\"");
        else if (prefix)
            cr_text_add_format(&document->text, ",\"pattern\":\"^%s_[0-9A-HJKMNP-TV-Z]{%d}$\"",
                               prefix, CR_ID_ULID_LENGTH);
        openapi_say(document, "}}");
        *between = ",";
    }
}

static void add_query(struct openapi *document, const struct api_route *route, const char **between)
{
    for (size_t i = 0; route->query && i < route->query->member_count; i++) {
        const struct cr_member *member = &route->query->members[i];
        bool many = member->kind == CR_KIND_TEXTS;
        cr_text_add_format(&document->text,
                           "%s{\"name\":\"%s\",\"in\":\"query\",\"required\":%s,%s\"schema\":",
                           *between, member->name, member->flags & CR_OPTIONAL ? "false" : "true",
                           many ? "\"style\":\"form\",\"explode\":false," : "");
        openapi_member(document, member);
        openapi_say(document, "}");
        *between = ",";
    }
}

static void add_parameters(struct openapi *document, const struct api_route *route)
{
    static const struct {
        unsigned flag;
        const char *reference;
    } shared[] = {
        {API_LIST, "limit"}, {API_LIST, "after"},       {API_PARK, "wait"},
        {API_KEYED, "key"},  {API_IF_MATCH, "ifMatch"}, {API_REASON, "reason"},
    };
    const char *between = "";
    openapi_say(document, "\"parameters\":[");
    add_path_values(document, route, &between);
    add_query(document, route, &between);
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (route->flags & shared[i].flag) {
            cr_text_add_format(&document->text, "%s{\"$ref\":\"#/components/parameters/%s\"}",
                               between, shared[i].reference);
            between = ",";
        }
    openapi_say(document, "]");
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

static void add_request(struct openapi *document, const struct api_route *route)
{
    if (route->takes) {
        openapi_say(document,
                    ",\"requestBody\":{\"required\":true,\"content\":{\"application/json\":"
                    "{\"schema\":");
        openapi_shape(document, route->takes);
        openapi_say(document, "}}}");
    } else if (route->flags & API_FILE_IN) {
        openapi_say(document, ",\"requestBody\":{\"required\":true,\"content\":"
                              "{\"application/octet-stream\":{}}}");
    }
}

static void add_success(struct openapi *document, const struct api_route *route)
{
    cr_text_add_format(&document->text, "\"%d\":{\"description\":\"done\"", route->success);
    if (route->gives) {
        openapi_say(document, ",\"content\":{\"application/json\":{\"schema\":");
        openapi_shape(document, route->gives);
        openapi_say(document, "}}");
    } else if (route->flags & API_SSE) {
        openapi_say(document, ",\"content\":{\"text/event-stream\":{}}");
    } else if (route->flags & API_FILE_OUT) {
        openapi_say(document, ",\"content\":{");
        openapi_text(document, route->media ? route->media : "application/octet-stream");
        openapi_say(document, ":{}}");
    }
    openapi_say(document, "}");
    if (route->flags & API_ETAG)
        openapi_say(document, ",\"304\":{\"description\":\"it is as it was seen\"}");
    if ((route->flags & API_FILE_OUT) && route->success == 200)
        openapi_say(document, ",\"206\":{\"description\":\"the range that was asked for\"},"
                              "\"416\":{\"description\":\"there is no such range\"}");
}

/* One answer for each status, which names its codes. */
static void add_failures(struct openapi *document, const struct api_route *route)
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
        openapi_say(document, *between ? "]}" : "");
    }
}

static void add_operation(struct openapi *document, const struct api_route *route)
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
    openapi_text(document, route->summary);
    openapi_say(document, ",");
    if (route->permission) {
        openapi_say(document, "\"x-permission\":");
        openapi_text(document, route->permission);
        openapi_say(document, ",");
    }
    openapi_say(document, route->scope == API_PUBLIC ? "\"security\":[]," : "");
    add_parameters(document, route);
    add_request(document, route);
    openapi_say(document, ",\"responses\":{");
    add_success(document, route);
    add_failures(document, route);
    openapi_say(document, "}}");
}

/* {name...} is {name} to OpenAPI, which has no word for the rest of a path. */
static void add_path(struct openapi *document, const char *path)
{
    const char *rest = strstr(path, "...}");
    size_t length = rest ? (size_t)(rest - path) : strlen(path);
    openapi_say(document, "\"");
    cr_text_add_bytes(&document->text, path, length);
    openapi_say(document, rest ? "}\":{" : "\":{");
}

static void add_paths(struct openapi *document)
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
        openapi_say(document, outer);
        add_path(document, routes[i]->path);
        for (size_t j = i; j < count; j++)
            if (strcmp(routes[j]->path, routes[i]->path) == 0) {
                openapi_say(document, j > i ? "," : "");
                add_operation(document, routes[j]);
            }
        openapi_say(document, "}");
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
    struct openapi *document = cr_new(call, struct openapi, 1);
    document->text = cr_text_open(call);
    openapi_say(document,
                "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Cresset\",\"version\":\"1\","
                "\"license\":{\"name\":\"Apache-2.0\",\"identifier\":\"Apache-2.0\"}},"
                "\"servers\":[{\"url\":");
    openapi_text(document, public_origin);
    openapi_say(document, "}],\"security\":[{\"bearer\":[]},{\"session\":[]}],\"paths\":{");
    add_paths(document);
    openapi_say(document,
                "},\"components\":{\"securitySchemes\":{\"bearer\":{\"type\":\"http\","
                "\"scheme\":\"bearer\"},\"session\":{\"type\":\"apiKey\",\"in\":\"cookie\","
                "\"name\":\"__Host-cresset\"}},\"parameters\":{");
    openapi_say(document, shared_parameters);
    openapi_say(document, "},\"schemas\":{");
    openapi_say(document, problem_schema);
    /* a schema may name others, which join the list as it is walked */
    for (size_t i = 0; i < document->named_count; i++) {
        cr_text_add_format(&document->text, ",\"%s\":", document->named[i]->name);
        openapi_members(document, document->named[i]);
    }
    openapi_say(document, "}}}");
    return document->text.data;
}
