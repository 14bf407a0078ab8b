/* handle: what every endpoint does, done once, in the order of api.h. */
#include "controlplane/api/api_internal.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

static bool apart(const struct api_settings *settings, const struct api_route *route,
                  size_t listener)
{
    return settings->ops_apart &&
           (route->group == API_GROUP_OPS) != (listener == settings->ops_listener);
}

const struct api_route *api_route_of(const struct http_request *request)
{
    return request->tag;
}

/* From the head alone, on a socket thread: which row, and so how long a body may be. */
void api_plan(void *owner, const struct http_request *head, struct http_plan *ret_plan)
{
    const struct api_settings *settings = owner;
    struct api_match match;
    api_match(head->method, head->path, &match);
    const struct api_route *route = match.route;
    if (!route || apart(settings, route, head->listener))
        return;
    ret_plan->class = route->class;
    ret_plan->tag = route;
    if (route->flags & API_FILE_IN) {
        ret_plan->body_to_file = true;
        ret_plan->body_size_max = HTTP_BULK_SIZE_MAX;
    }
    if (route->flags & API_PARK)
        ret_plan->deadline_ns = HTTP_DEADLINE_NS + API_WAIT_S_MAX * INT64_C(1000000000);
}

static enum cr_status no_route(struct cr_call *call, struct api_exchange *exchange)
{
    const struct http_request *http = exchange->http;
    struct api_match match;
    api_match(http->method, http->path, &match);
    if (*match.allowed && !match.route) {
        http_answer_field(exchange->response, "Allow",
                          cr_copy(call, match.allowed, strlen(match.allowed)));
        return cr_fail_as(call, &http_method_not_allowed, "%.20s is not offered there",
                          http->method);
    }
    return cr_fail_as(call, &cr_code_no_such_route, "there is no route %.100s", http->path);
}

static enum cr_status check_fit(struct cr_call *call, struct api_exchange *exchange,
                                const void *reply)
{
    const struct api_answer *answer = &exchange->answer;
    const struct cr_shape *gives = exchange->api.route->gives;
    bool plain = answer->source.feed || answer->fd >= 0 || answer->bytes || answer->park_key;
    if (!gives || plain || cr_shape_faults(call, gives, reply, "") == 0)
        return CR_OK;
    /* a client would be told what its contract excludes: that is our fault, and is said as one */
    const char *at = call->faults[0].at, *why = call->faults[0].detail;
    call->fault_count = 0;
    return cr_fail(call, CR_INTERNAL, "the reply breaks its shape at %s: %s", at, why);
}

static enum cr_status run(struct cr_call *call, struct api_exchange *exchange, void **ret_reply)
{
    struct api *api = &exchange->api;
    const struct api_route *route = api->route;
    void *taken = NULL;
    CR_TRY(api_authenticate(call, exchange));
    CR_TRY(api_admit(call, exchange));
    CR_TRY(api_permit(call, exchange));
    CR_TRY(api_match_values(call, route, exchange->http->path, api->path));
    CR_TRY(api_read_fields(call, exchange));
    CR_TRY(api_read_query(call, exchange));
    CR_TRY(api_read_body(call, exchange, &taken));
    exchange->ask.who = api->who;
    *ret_reply = cr_alloc(call, 1, route->gives ? route->gives->size : 1);
    int64_t began = cr_now_ns(call);
    enum cr_status status = route->run(call, api, taken ? taken : api->query, *ret_reply);
    exchange->run_ns = cr_now_ns(call) - began;
    assert(status == call->status);
    CR_TRY(status);
    return check_fit(call, exchange, *ret_reply);
}

static enum http_next finish(struct cr_call *call, struct api_exchange *exchange,
                             enum cr_status status, void *reply)
{
    struct http_response *response = exchange->response;
    struct api_answer *answer = &exchange->answer;
    const struct principal *who = exchange->api.who;
    response->tenant = who ? who->tenant : NULL;
    response->work_ns = exchange->run_ns;
    if (status == CR_OK && answer->park_key)
        return http_park(response, answer->park_key, exchange->api.wait_until_ns);
    if (status == CR_OK) {
        api_write_reply(call, exchange, reply);
        return HTTP_ANSWER;
    }
    if (answer->fd >= 0)
        close(answer->fd);
    if (answer->source.feed && answer->source.close)
        answer->source.close(answer->source.state);
    api_write_problem(call, exchange);
    return HTTP_ANSWER;
}

enum http_next api_handle(struct cr_call *call, void *worker, struct http_request *request,
                          struct http_response *response)
{
    struct api_exchange exchange = {
        .http = request,
        .response = response,
        .worker = worker,
        .nobody = {.kind = PRINCIPAL_NOBODY, .actor = NULL},
        .answer = {.fd = -1},
    };
    exchange.ask.request = request->id;
    exchange.ask.ret_replayed = &exchange.answer.replayed;
    exchange.api = (struct api){
        .settings = exchange.worker->settings,
        .route = request->tag,
        .service = exchange.worker->service,
        .who = &exchange.nobody,
        .ask = &exchange.ask,
        .version = CR_NO_INTEGER,
        .seen = CR_NO_INTEGER,
        .body_fd = -1,
        .http = request,
        .answer = &exchange.answer,
    };
    if (!exchange.api.route && api_serves_files(exchange.worker->settings, request)) {
        static const struct api_route files = {.operation = "files", .success = 200};
        exchange.api.route = &files;
        return finish(call, &exchange, api_static(call, &exchange), NULL);
    }
    void *reply = NULL;
    if (!exchange.api.route)
        return finish(call, &exchange, no_route(call, &exchange), NULL);
    exchange.ask.sealed = (exchange.api.route->flags & API_SECRET_ONCE) != 0;
    enum cr_status status = run(call, &exchange, &reply);
    return finish(call, &exchange, status, reply);
}

/* Cookies: of the console's session alone. */
void api_cookie(const struct api *api, const char *value, int64_t max_age_s)
{
    struct api_answer *answer = api->answer;
    bool secure = api->settings->cookie_secure;
    snprintf(answer->cookie_text, sizeof answer->cookie_text,
             "%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%lld%s",
             secure ? "__Host-cresset" : "cresset_dev", value, (long long)(*value ? max_age_s : 0),
             secure ? "; Secure" : "");
    answer->cookie = answer->cookie_text;
}
