/* write: replies and problems, and the fields that go with them. */
#include "base/json/json.h"
#include "controlplane/api/api_internal.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

static void field(struct api_exchange *exchange, const char *name, const char *value)
{
    http_answer_field(exchange->response, name, value);
}

/* What a handler says ------------------------------------------------------------------------- */

void api_location(const struct api *api, const char *path)
{
    api->answer->location = path;
}

void api_field(const struct api *api, const char *name, const char *value)
{
    assert(api->answer->field_count < API_FIELDS_MAX);
    api->answer->fields[api->answer->field_count++] = (struct http_field){name, value};
}

void api_status(const struct api *api, int status)
{
    api->answer->status = status;
}

void api_bytes(const struct api *api, const char *media, const void *bytes, size_t size)
{
    api->answer->media = media;
    api->answer->bytes = bytes;
    api->answer->size = size;
}

void api_file(const struct api *api, const char *media, int fd, int64_t size)
{
    api->answer->media = media;
    api->answer->fd = fd;
    api->answer->size = (size_t)size;
}

void api_stream(const struct api *api, const struct http_source *source)
{
    api->answer->source = *source;
    api->answer->source.owner = api->who->tenant ? api->who->tenant : api->who->actor;
    api->answer->source.owner_max = API_STREAMS_MAX;
}

bool api_park(const struct api *api, const char *key)
{
    if (api->wait_until_ns == 0 || api->http->parked_out)
        return false;
    api->answer->park_key = key;
    return true;
}

/* Replies ------------------------------------------------------------------------------------- */

static const struct cr_member *member_named(const struct cr_shape *shape, const char *name)
{
    for (size_t i = 0; shape && i < shape->member_count; i++)
        if (strcmp(shape->members[i].name, name) == 0)
            return &shape->members[i];
    return NULL;
}

/* The version of a reply, as its strong entity tag; NULL: it has none. */
static const char *tag_of(struct cr_call *call, const struct api_route *route, const void *reply)
{
    const struct cr_member *version =
        route->flags & API_ETAG ? member_named(route->gives, "version") : NULL;
    if (!version || version->kind != CR_KIND_INTEGER)
        return NULL;
    int64_t value;
    memcpy(&value, (const char *)reply + version->offset, sizeof value);
    return value == CR_NO_INTEGER ? NULL : cr_format(call, "\"%lld\"", (long long)value);
}

/* The next page of a list: the same target with another after. */
static const char *next_link(struct cr_call *call, const struct api_exchange *exchange,
                             const void *reply)
{
    const struct api_route *route = exchange->api.route;
    const struct cr_member *member =
        route->flags & API_LIST ? member_named(route->gives, "next_after") : NULL;
    const char *after = NULL;
    if (member && member->kind == CR_KIND_TEXT)
        memcpy(&after, (const char *)reply + member->offset, sizeof after);
    if (!after)
        return NULL;
    struct cr_text link = cr_text_open(call);
    const char *target = exchange->http->target;
    cr_text_add(&link, "<");
    cr_text_add_bytes(&link, target, strcspn(target, "?"));
    cr_text_add(&link, "?");
    for (const char *at = exchange->http->query; at && *at; at += strspn(at, "&")) {
        size_t length = strcspn(at, "&");
        if (strncmp(at, "after=", 6) != 0) {
            cr_text_add_bytes(&link, at, length);
            cr_text_add(&link, "&");
        }
        at += length;
    }
    cr_text_add_format(&link, "after=%s>; rel=\"next\"", after);
    return link.data;
}

void api_write_times(struct cr_call *call, struct api_exchange *exchange)
{
    const struct http_request *http = exchange->http;
    field(exchange, "Server-Timing",
          cr_format(call, "queue;dur=%.3f, run;dur=%.3f, total;dur=%.3f",
                    (double)http->queue_ns / 1e6, (double)exchange->run_ns / 1e6,
                    (double)(cr_now_ns(call) - http->arrived_ns) / 1e6));
    if (call->trace)
        field(exchange, "traceparent", call->trace);
}

static void write_said(struct cr_call *call, struct api_exchange *exchange)
{
    const struct api_answer *answer = &exchange->answer;
    for (size_t i = 0; i < answer->field_count; i++)
        field(exchange, answer->fields[i].name, answer->fields[i].value);
    if (answer->location)
        field(exchange, "Location", answer->location);
    if (answer->cookie)
        field(exchange, "Set-Cookie", answer->cookie);
    if (answer->replayed)
        field(exchange, "Idempotent-Replayed", "true");
    api_write_times(call, exchange);
}

static bool said(const struct api_answer *answer, const char *name)
{
    for (size_t i = 0; i < answer->field_count; i++)
        if (strcasecmp(answer->fields[i].name, name) == 0)
            return true;
    return false;
}

static void write_plain(struct api_exchange *exchange)
{
    struct http_response *response = exchange->response;
    const struct api_answer *answer = &exchange->answer;
    const char *media = answer->media ? answer->media : exchange->api.route->media;
    if (!said(answer, "Cache-Control"))
        field(exchange, "Cache-Control", "no-store");
    field(exchange, "Content-Type", media ? media : "application/octet-stream");
    response->file_fd = answer->fd;
    response->file_size = (int64_t)answer->size;
    response->body = answer->bytes;
    response->body_size = answer->fd < 0 ? answer->size : 0;
}

static void write_json(struct cr_call *call, struct api_exchange *exchange, void *reply)
{
    const struct api_route *route = exchange->api.route;
    struct http_response *response = exchange->response;
    const char *tag = tag_of(call, route, reply);
    const char *link = next_link(call, exchange, reply);
    const char *none = http_field_of(exchange->http, "If-None-Match");
    if (link)
        field(exchange, "Link", link);
    field(exchange, "Cache-Control", tag ? "private, no-cache" : "no-store");
    if (tag) {
        field(exchange, "ETag", tag);
        if (none && strcmp(none, tag) == 0 && strcmp(route->method, "GET") == 0) {
            response->status = 304;
            return;
        }
    }
    field(exchange, "Content-Type", "application/json");
    response->body = json_write(call, route->gives, reply);
    response->body_size = strlen(response->body);
}

void api_write_reply(struct cr_call *call, struct api_exchange *exchange, void *reply)
{
    const struct api_route *route = exchange->api.route;
    const struct api_answer *answer = &exchange->answer;
    exchange->response->status = answer->status ? answer->status : route->success;
    write_said(call, exchange);
    if (answer->source.feed) {
        field(exchange, "Cache-Control", "no-store");
        exchange->response->source = answer->source;
    } else if (answer->fd >= 0 || answer->bytes) {
        write_plain(exchange);
    } else if (route->gives && exchange->response->status != 204 &&
               exchange->response->status != 304) {
        write_json(call, exchange, reply);
    } else {
        field(exchange, "Cache-Control", "no-store");
    }
}

/* Problems, RFC 9457 -------------------------------------------------------------------------- */

static void add_member(struct cr_text *text, const char *name, const char *value)
{
    cr_text_add_format(text, ",\"%s\":", name);
    json_add_text(text, value);
}

static void add_faults(struct cr_text *text, const struct cr_call *call)
{
    static const char *const places[] = {
        [CR_AT_POINTER] = "pointer", [CR_AT_PARAMETER] = "parameter", [CR_AT_HEADER] = "header"};
    cr_text_add(text, ",\"errors\":[");
    for (size_t i = 0; i < call->fault_count; i++) {
        const struct cr_fault *fault = &call->faults[i];
        cr_text_add_format(text, "%s{\"%s\":", i ? "," : "", places[fault->place]);
        json_add_text(text, fault->at);
        add_member(text, "code", fault->code);
        add_member(text, "detail", fault->detail);
        cr_text_add(text, "}");
    }
    cr_text_add(text, "]");
}

/* What went wrong on our side is for the log; a client learns what it may do about it. */
static const char *detail_of(const struct cr_call *call, const struct cr_code *code)
{
    if (code->http < 500)
        return call->reason;
    if (call->status == CR_UNKNOWN)
        return "send it again with the same Idempotency-Key to learn the outcome";
    return code->http == 500 ? "" : code->title;
}

/* Whole seconds, between 1 and 3: those who were refused together do not come back together. */
static const char *retry_after(struct cr_call *call)
{
    unsigned char random;
    cr_random(call, &random, sizeof random);
    return cr_format(call, "%d", 1 + random % 3);
}

void api_write_problem(struct cr_call *call, struct api_exchange *exchange)
{
    const struct cr_code *code = cr_code_of(call);
    struct http_response *response = exchange->response;
    struct cr_text text = cr_text_open(call);
    cr_text_add_format(&text, "{\"type\":\"%s/docs/errors/%s\"",
                       exchange->worker->settings->public_origin, code->word);
    add_member(&text, "title", code->title);
    cr_text_add_format(&text, ",\"status\":%d", code->http);
    add_member(&text, "detail", detail_of(call, code));
    add_member(&text, "instance", exchange->http->path);
    add_member(&text, "code", code->word);
    add_member(&text, "request_id", exchange->http->id);
    cr_text_add_format(&text, ",\"retryable\":%s", code->retryable ? "true" : "false");
    for (size_t i = 0; i < call->extra_count; i++) {
        const struct cr_extra *extra = &call->extras[i];
        if (extra->text)
            add_member(&text, extra->name, extra->text);
        else
            cr_text_add_format(&text, ",\"%s\":%lld", extra->name, (long long)extra->number);
    }
    if (call->fault_count > 0)
        add_faults(&text, call);
    cr_text_add(&text, "}");
    field(exchange, "Content-Type", "application/problem+json");
    field(exchange, "Cache-Control", "no-store");
    if (code->http == 429 || code->http == 503 || code == &cr_code_idempotency_in_progress)
        field(exchange, "Retry-After", retry_after(call));
    if (code->http == 401)
        field(exchange, "WWW-Authenticate", "Bearer realm=\"cresset\"");
    api_write_times(call, exchange);
    response->status = code->http;
    response->body = text.data;
    response->body_size = text.length;
    response->code = code->word;
    response->reason = call->reason;
}
