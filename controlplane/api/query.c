/*
 * query: the members behind the '?', as a struct of the route's shape. They are written as a JSON
 * object, each by the kind that the shape gives it, and read as bodies are; so bounds are told the
 * same way in both.
 */
#include "base/core/parse.h"
#include "base/json/json.h"
#include "controlplane/api/api_internal.h"

#include <string.h>

struct pair {
    const char *name, *value;
};

static enum cr_status wrong(struct cr_call *call, const char *name, const char *why)
{
    cr_fault(call, CR_AT_PARAMETER, name, cr_code_invalid_parameter.word, "%s", why);
    return cr_fail_as(call, &cr_code_invalid_parameter, "%s: %s", name, why);
}

/* One part, decoded; in a query '+' is a blank, as forms and URLSearchParams write it. */
static const char *decode(struct cr_call *call, const char *text, size_t length)
{
    char *blank = cr_new(call, char, length + 1);
    for (size_t i = 0; i < length; i++)
        blank[i] = text[i] == '+' ? ' ' : text[i];
    return cr_percent_parse(call, blank, length);
}

static enum cr_status split(struct cr_call *call, const char *query, struct pair *pairs,
                            size_t *ret_count)
{
    size_t count = 0;
    for (const char *at = query; *at; at += *at == '&') {
        size_t length = strcspn(at, "&"), name = strcspn(at, "=&");
        if (count == HTTP_QUERY_MEMBERS_MAX)
            return wrong(call, "query", "it has more than 32 members");
        pairs[count].name = decode(call, at, name);
        pairs[count].value = name < length ? decode(call, at + name + 1, length - name - 1) : "";
        if (!pairs[count].name || !*pairs[count].name || !pairs[count].value)
            return wrong(call, "query", "a member is not well formed");
        for (size_t i = 0; i < count; i++)
            if (strcmp(pairs[i].name, pairs[count].name) == 0)
                return wrong(call, pairs[count].name, "it stands there twice");
        at += length;
        count++;
    }
    *ret_count = count;
    return CR_OK;
}

static bool named(const struct cr_shape *shape, const char *name, const struct cr_member **ret)
{
    for (size_t i = 0; shape && i < shape->member_count; i++)
        if (strcmp(shape->members[i].name, name) == 0) {
            *ret = &shape->members[i];
            return true;
        }
    return false;
}

/* "a,b" as ["a","b"]; "k=v,l=w" as {"k":"v","l":"w"}. */
static void add_many(struct cr_text *text, const char *value, bool labels)
{
    cr_text_add(text, labels ? "{" : "[");
    for (const char *at = value; *at; at += *at == ',') {
        size_t length = strcspn(at, ","), name = labels ? strcspn(at, "=,") : length;
        if (at != value)
            cr_text_add(text, ",");
        cr_text_add_quoted(text, at, name);
        if (labels) {
            cr_text_add(text, ":");
            cr_text_add_quoted(text, at + name + (name < length), length - name - (name < length));
        }
        at += length;
    }
    cr_text_add(text, labels ? "}" : "]");
}

static void add(struct cr_text *text, const struct cr_member *member, const char *value)
{
    int64_t integer;
    double number;
    size_t length = strlen(value);
    bool plain = false;
    switch (member->kind) {
    case CR_KIND_INTEGER:
        plain = member->max <= CR_SAFE_INTEGER &&
                cr_parse_integer(value, length, INT64_MIN, INT64_MAX, &integer);
        break;
    case CR_KIND_NUMBER:
        plain = cr_parse_number(value, length, &number);
        break;
    case CR_KIND_BOOLEAN:
        plain = strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
        break;
    case CR_KIND_TEXTS:
    case CR_KIND_LABELS:
        add_many(text, value, member->kind == CR_KIND_LABELS);
        return;
    default:
        break;
    }
    if (plain)
        cr_text_add(text, value);
    else
        cr_text_add_quoted(text, value, length);
}

static enum cr_status read_shape(struct cr_call *call, const struct cr_shape *shape,
                                 const char *object, size_t length, void *ret_value)
{
    if (json_read(call, shape, object, length, ret_value) == CR_OK)
        return CR_OK;
    const char *reason = cr_copy(call, call->reason, strlen(call->reason));
    struct cr_fault *faults = call->faults;
    size_t count = call->fault_count;
    cr_forgive(call);
    for (size_t i = 0; i < count; i++)
        cr_fault(call, CR_AT_PARAMETER, faults[i].at + (faults[i].at[0] == '/'), faults[i].code,
                 "%s", faults[i].detail);
    return cr_fail_as(call, &cr_code_invalid_parameter, "%s", reason);
}

static enum cr_status read_common(struct cr_call *call, struct api_exchange *exchange,
                                  const struct pair *pair, bool *ret_taken)
{
    struct api *api = &exchange->api;
    unsigned flags = api->route->flags;
    int64_t seconds;
    *ret_taken = true;
    if ((flags & API_LIST) && strcmp(pair->name, "limit") == 0) {
        if (!cr_parse_integer(pair->value, strlen(pair->value), 1, API_LIMIT_MAX, &api->limit))
            return wrong(call, "limit", "it must be an integer between 1 and 500");
        return CR_OK;
    }
    if ((flags & API_LIST) && strcmp(pair->name, "after") == 0)
        return api_cursor_read(call, api, pair->value, &api->after);
    if ((flags & API_PARK) && strcmp(pair->name, "wait") == 0) {
        if (!cr_parse_integer(pair->value, strlen(pair->value), 1, API_WAIT_S_MAX, &seconds))
            return wrong(call, "wait", "it must be an integer between 1 and 30, in seconds");
        api->wait_until_ns = exchange->http->arrived_ns + seconds * INT64_C(1000000000);
        return CR_OK;
    }
    *ret_taken = false;
    return CR_OK;
}

enum cr_status api_read_query(struct cr_call *call, struct api_exchange *exchange)
{
    struct api *api = &exchange->api;
    const struct cr_shape *shape = api->route->query;
    struct pair pairs[HTTP_QUERY_MEMBERS_MAX];
    size_t count = 0;
    api->limit = API_LIMIT_USUAL;
    CR_TRY(split(call, exchange->http->query ? exchange->http->query : "", pairs, &count));
    struct cr_text object = cr_text_open(call);
    for (size_t i = 0; i < count; i++) {
        bool taken = false;
        const struct cr_member *member = NULL;
        CR_TRY(read_common(call, exchange, &pairs[i], &taken));
        if (taken)
            continue;
        if (!named(shape, pairs[i].name, &member))
            return wrong(call, pairs[i].name, "it is not known here");
        cr_text_add(&object, object.length ? "," : "{");
        cr_text_add_quoted(&object, pairs[i].name, strlen(pairs[i].name));
        cr_text_add(&object, ":");
        add(&object, member, pairs[i].value);
    }
    if (!shape)
        return CR_OK;
    cr_text_add(&object, object.length ? "}" : "{}");
    void *value = cr_alloc(call, 1, shape->size);
    api->query = value;
    return read_shape(call, shape, object.data, object.length, value);
}
