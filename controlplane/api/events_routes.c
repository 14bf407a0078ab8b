/* events_routes: what happened, as a list and as a stream. */
#include "base/core/parse.h"
#include "base/core/time.h"
#include "base/json/json.h"
#include "controlplane/api/api_internal.h"
#include "controlplane/api/page.h"
#include "controlplane/service/events.h"
#include "controlplane/service/identity.h"

#include <stdlib.h>
#include <string.h>

#define PROGRESS_NS (CR_NS_A_SECOND * 9 / 10) /* at most about once a second of a job */

#define PROOF_NS    (30 * CR_NS_A_SECOND) /* who reads is looked up again so often: REVOKE_MAX */

API_PAGE(events_page_shape, event_shape);

static enum cr_status list(struct cr_call *call, const struct api *api, const void *request,
                           void *ret_page)
{
    (void)request;
    struct events_view view;
    struct cr_list events;
    CR_TRY(events_view(call, api->who, api->query, &view));
    CR_TRY(events_list(call, api->service, &view, api_after_integer(api), api->limit + 1, &events));
    api_page(call, api, &events, &event_shape, "seq", ret_page);
    return CR_OK;
}

/* The stream ---------------------------------------------------------------------------------- */

struct stream_query {
    struct cr_texts types;
    int64_t after;
    struct cr_texts progress;
};
static const struct cr_member stream_query_members[] = {
    CR_TEXTS(struct stream_query, types, 1, EVENTS_PATTERNS_MAX, .flags = CR_OPTIONAL,
             .about = "Types, or their nouns: job.*,usage.*"),
    CR_MEMBER(struct stream_query, after, 0, CR_SAFE_INTEGER, .flags = CR_OPTIONAL,
              .about = "The last seq that was seen; a Last-Event-ID wins over it"),
    CR_TEXTS(struct stream_query, progress, 1, 64, .flags = CR_OPTIONAL,
             .about = "Jobs whose progress is told too, or all"),
};
static const struct cr_shape stream_query_shape =
    CR_SHAPE(struct stream_query, stream_query_members);

/* Of one stream: it outlives the call that opened it, so its texts lie in memory of its own. */
struct stream {
    struct cr_call memory;
    struct events_view view;
    struct identity_proof proof;
    int64_t proved_ns;
    int64_t after;         /* the last number that was looked at */
    bool progress;         /* is wanted */
    struct cr_texts jobs;  /* of which; of no count: all */
    int64_t progressed_us; /* the newest progress that was told */
    int64_t progressed_ns; /* when any was told last */
};

static struct cr_texts keep(struct cr_call *memory, const struct cr_texts *texts)
{
    const char **items = cr_new(memory, const char *, texts->count);
    for (size_t i = 0; i < texts->count; i++)
        items[i] = cr_format(memory, "%s", texts->items[i]);
    return (struct cr_texts){items, texts->count};
}

static struct stream *stream_open(const struct events_view *view, const struct stream_query *query,
                                  const struct identity_proof *proof, int64_t after, int64_t now_ns,
                                  int64_t now_us)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        abort();
    stream->memory = cr_call_open(NULL, INT64_MAX);
    stream->view = (struct events_view){
        .tenant = cr_format(&stream->memory, "%s", view->tenant),
        .nouns = keep(&stream->memory, &view->nouns),
        .patterns = keep(&stream->memory, &view->patterns),
    };
    stream->proof = *proof;
    stream->proof.tenant = stream->view.tenant;
    if (proof->key)
        stream->proof.key = cr_format(&stream->memory, "%s", proof->key);
    stream->proved_ns = now_ns;
    stream->after = after;
    stream->progressed_us = now_us;
    stream->progress = query->progress.count > 0;
    bool all = stream->progress && strcmp(query->progress.items[0], "all") == 0;
    if (!all)
        stream->jobs = keep(&stream->memory, &query->progress);
    return stream;
}

static void stream_close(void *state)
{
    struct stream *stream = state;
    cr_call_close(&stream->memory);
    free(stream);
}

/* False: there is no room for it; it comes with the next turn. */
static bool write_event(struct cr_call *call, const struct event *event, struct http_stream *to)
{
    const char *data = json_write(call, &event_shape, event);
    return http_stream_write(to, cr_format(call, "%lld", (long long)event->seq), event->type, data,
                             strlen(data));
}

static enum cr_status feed_events(struct cr_call *call, struct service *service,
                                  struct stream *stream, struct http_stream *to)
{
    for (size_t room = http_stream_room(to); room > 0; room = http_stream_room(to)) {
        struct cr_list list;
        CR_TRY(events_next(call, service, &stream->view, stream->after, (int64_t)room, &list));
        const struct event *events = list.items;
        for (size_t i = 0; i < list.count; i++) {
            if (events[i].type && !write_event(call, &events[i], to))
                return CR_OK;
            stream->after = events[i].seq;
        }
        if (list.count < room)
            return CR_OK;
    }
    return CR_OK;
}

static const char *progress_data(struct cr_call *call, const struct events_progress *progress)
{
    char at[CR_TIME_SIZE];
    cr_time_print(progress->at, at);
    struct cr_text text = cr_text_open(call);
    cr_text_add_format(&text, "{\"type\":\"progress\",\"timestamp\":\"%s\",\"subject\":\"%s\"", at,
                       progress->job);
    cr_text_add_format(&text, ",\"data\":{\"progress\":{\"step\":%lld,\"steps\":%lld,\"phase\":",
                       (long long)progress->step, (long long)progress->steps);
    json_add_text(&text, progress->phase);
    cr_text_add(&text, "}}}");
    return text.data;
}

/* Frames without an id: whoever resumes has not missed them, since the next says all. */
static enum cr_status feed_progress(struct cr_call *call, struct service *service,
                                    struct stream *stream, struct http_stream *to)
{
    struct cr_list list;
    CR_TRY(events_progress(call, service, stream->view.tenant, &stream->jobs, stream->progressed_us,
                           &list));
    const struct events_progress *rows = list.items;
    for (size_t i = 0; i < list.count; i++) {
        const char *data = progress_data(call, &rows[i]);
        if (!http_stream_write(to, NULL, "progress", data, strlen(data)))
            return CR_OK;
        stream->progressed_us = rows[i].at;
    }
    return CR_OK;
}

static enum cr_status feed(struct cr_call *call, void *feed_context, void *state,
                           struct http_stream *to)
{
    struct stream *stream = state;
    int64_t now_ns = cr_now_ns(call);
    if (now_ns - stream->proved_ns >= PROOF_NS) {
        bool still;
        CR_TRY(identity_still(call, feed_context, &stream->proof, &still));
        stream->proved_ns = now_ns;
        if (!still) { /* it will ask again, and be told why */
            http_stream_end(to);
            return CR_OK;
        }
    }
    CR_TRY(feed_events(call, feed_context, stream, to));
    if (!stream->progress || now_ns - stream->progressed_ns < PROGRESS_NS)
        return CR_OK;
    stream->progressed_ns = now_ns;
    return feed_progress(call, feed_context, stream, to);
}

/* Where the reader was: by its header, or else by the query; CR_NO_INTEGER: nowhere yet. */
static enum cr_status begins_after(struct cr_call *call, const struct api *api,
                                   const struct stream_query *query, int64_t *ret_after)
{
    const char *last = http_field_of(api->http, "Last-Event-ID");
    *ret_after = query->after;
    if (!last || cr_parse_integer(last, strlen(last), 0, CR_SAFE_INTEGER, ret_after))
        return CR_OK;
    cr_fault(call, CR_AT_HEADER, "Last-Event-ID", "invalid_header", "it is the seq of an event");
    return cr_fail_as(call, &cr_code_invalid_header, "Last-Event-ID is the seq of an event");
}

static enum cr_status stream(struct cr_call *call, const struct api *api, const void *request,
                             void *ret_reply)
{
    (void)request;
    (void)ret_reply;
    const struct stream_query *query = api->query;
    const struct events_filter filter = {.types = query->types};
    struct events_view view;
    int64_t after;
    CR_TRY(events_view(call, api->who, &filter, &view));
    CR_TRY(begins_after(call, api, query, &after));
    CR_TRY(events_begin(call, api->service, &view, after, &after));
    const struct identity_proof proof =
        identity_proof_of(api->service->config, api->who, api->session);
    const struct http_source source = {
        .key = cr_format(call, "tenant:%s", view.tenant),
        .feed = feed,
        .close = stream_close,
        .state = stream_open(&view, query, &proof, after, cr_now_ns(call), cr_utc_us(call)),
    };
    api_stream(api, &source);
    return CR_OK;
}

/* clang-format off */
#define CODES(...) ((const struct cr_code *const[]){__VA_ARGS__, NULL})

const struct api_route events_routes[] = {
    {.method = "GET", .path = "/v1/events", .operation = "events_list",
     .summary = "What happened to one's things, newest first", .scope = API_ANY, .class = 5,
     .flags = API_LIST, .success = 200, .query = &events_filter_shape,
     .gives = &events_page_shape, .run = list},
    {.method = "GET", .path = "/v1/events/stream", .operation = "events_stream",
     .summary = "The same as it happens: an event stream, resumed by Last-Event-ID",
     .scope = API_ANY, .group = API_GROUP_STREAM, .class = 3, .flags = API_SSE, .success = 200,
     .query = &stream_query_shape, .fails = CODES(&cr_code_history_expired), .run = stream},
    {0},
};
/* clang-format on */
