/* jobs_routes: submit jobs, look at them, stop them. */
#include "base/core/parse.h"
#include "base/core/time.h"
#include "controlplane/api/api_internal.h"
#include "controlplane/api/page.h"
#include "controlplane/service/events.h"
#include "controlplane/service/jobs.h"

#include <stdlib.h>
#include <string.h>

#define FRAME_MAX (HTTP_STREAM_SIZE_MAX / 8) /* bytes of the log in one frame of a stream */

/* Lists -----------------------------------------------------------------------------------------
 */

API_PAGE(jobs_page_shape, job_shape);
API_PAGE(events_page_shape, event_shape);
API_PAGE(attempts_page_shape, jobs_attempt_shape);
API_PAGE(outputs_page_shape, jobs_output_shape);

static enum cr_status list(struct cr_call *call, const struct api *api, const void *request,
                           void *ret_page)
{
    (void)request;
    struct cr_list jobs;
    CR_TRY(jobs_list(call, api->service, api->who, api->query, api->after, api->limit + 1, &jobs));
    api_page(call, api, &jobs, &job_shape, "job", ret_page);
    return CR_OK;
}

static enum cr_status events(struct cr_call *call, const struct api *api, const void *request,
                             void *ret_page)
{
    (void)request;
    const char *id = api_id(api, "job");
    struct job job;
    struct events_view view;
    struct cr_list events;
    const struct events_filter filter = {.subject = id};
    CR_TRY(jobs_get(call, api->service, api->who, id, &job)); /* no job: 404, and no empty list */
    CR_TRY(events_view(call, api->who, &filter, &view));
    CR_TRY(events_list(call, api->service, &view, api_after_integer(api), api->limit + 1, &events));
    api_page(call, api, &events, &event_shape, "seq", ret_page);
    return CR_OK;
}

/* These two are short, and come whole. */
static enum cr_status attempts(struct cr_call *call, const struct api *api, const void *request,
                               void *ret_page)
{
    (void)request;
    struct cr_list all;
    CR_TRY(jobs_attempts(call, api->service, api->who, api_id(api, "job"), &all));
    api_page_whole(&all, ret_page);
    return CR_OK;
}

static enum cr_status outputs(struct cr_call *call, const struct api *api, const void *request,
                              void *ret_page)
{
    (void)request;
    struct cr_list all;
    CR_TRY(jobs_outputs(call, api->service, api->who, api_id(api, "job"), &all));
    api_page_whole(&all, ret_page);
    return CR_OK;
}

/* One job ---------------------------------------------------------------------------------------
 */

static enum cr_status submit(struct cr_call *call, const struct api *api, const void *request,
                             void *ret_reply)
{
    struct job *job = ret_reply;
    CR_TRY(jobs_submit(call, api->service, api->ask, request, job));
    api_location(api, cr_format(call, "/v1/jobs/%s", job->job));
    return CR_OK;
}

static enum cr_status get(struct cr_call *call, const struct api *api, const void *request,
                          void *ret_reply)
{
    (void)request;
    const char *id = api_id(api, "job");
    struct job *job = ret_reply;
    CR_TRY(jobs_get(call, api->service, api->who, id, job));
    if (job->ended == CR_NO_INTEGER && job->version == api->seen)
        (void)api_park(api, cr_format(call, "job:%s", id)); /* parked or not, this is the answer */
    return CR_OK;
}

static enum cr_status cancel(struct cr_call *call, const struct api *api, const void *request,
                             void *ret_reply)
{
    (void)request;
    return jobs_cancel(call, api->service, api->ask, api_id(api, "job"), ret_reply);
}

static enum cr_status why(struct cr_call *call, const struct api *api, const void *request,
                          void *ret_reply)
{
    (void)request;
    return jobs_why(call, api->service, api->who, api_id(api, "job"), ret_reply);
}

static enum cr_status plan(struct cr_call *call, const struct api *api, const void *request,
                           void *ret_reply)
{
    return jobs_plan(call, api->service, api->who, request, ret_reply);
}

static enum cr_status summary(struct cr_call *call, const struct api *api, const void *request,
                              void *ret_reply)
{
    (void)request;
    return jobs_summary(call, api->service, api->who, ret_reply);
}

static enum cr_status metrics(struct cr_call *call, const struct api *api, const void *request,
                              void *ret_reply)
{
    (void)request;
    return jobs_metrics(call, api->service, api->who, api_id(api, "job"), ret_reply);
}

/* Logs ------------------------------------------------------------------------------------------
 */

struct logs_query {
    bool follow;
};
static const struct cr_member logs_query_members[] = {
    CR_MEMBER(struct logs_query, follow, 0, 1, .flags = CR_OPTIONAL,
              .about = "Go on as an event stream until the job ends"),
};
static const struct cr_shape logs_query_shape = CR_SHAPE(struct logs_query, logs_query_members);

/* "bytes=FIRST-" and "bytes=FIRST-LAST"; any other range is as if there were none (RFC 9110). */
static bool range_of(const char *value, int64_t *ret_first, int64_t *ret_last)
{
    static const char unit[] = "bytes=";
    if (!value || strncmp(value, unit, sizeof unit - 1) != 0)
        return false;
    const char *first = value + sizeof unit - 1, *dash = strchr(first, '-');
    *ret_last = INT64_MAX - 1;
    return dash && cr_parse_integer(first, (size_t)(dash - first), 0, INT64_MAX - 1, ret_first) &&
           (!dash[1] ||
            cr_parse_integer(dash + 1, strlen(dash + 1), *ret_first, INT64_MAX - 1, ret_last));
}

/* A stream of a log: `event: log` with {"offset","text"}, then `event: end`. */
struct follower {
    struct principal who;
    char tenant[64], actor[64], job[64];
    int64_t offset;
    bool told_end;
};

/* As much of the log as one frame takes; false: the stream had no room. */
static bool follow_piece(struct cr_call *call, struct follower *it, const struct jobs_log *log,
                         struct http_stream *stream)
{
    size_t size = log->bytes.size < FRAME_MAX ? log->bytes.size : FRAME_MAX;
    while (size < log->bytes.size && size > 1 && (log->bytes.data[size] & 0xc0) == 0x80)
        size--; /* not within a letter */
    struct cr_text frame = cr_text_open(call);
    cr_text_add_format(&frame, "{\"offset\":%lld,\"text\":", (long long)it->offset);
    cr_text_add_quoted(&frame, (const char *)log->bytes.data, size);
    cr_text_add(&frame, "}");
    if (!http_stream_write(stream, NULL, "log", frame.data, frame.length))
        return false;
    it->offset += (int64_t)size;
    return true;
}

static enum cr_status follow_feed(struct cr_call *call, void *feed_context, void *state,
                                  struct http_stream *stream)
{
    struct follower *it = state;
    struct service *service = feed_context;
    struct jobs_log log;
    while (!it->told_end && http_stream_room(stream) > 0) {
        CR_TRY(jobs_log(call, service, &it->who, it->job, it->offset, &log));
        if (log.bytes.size == 0 && !log.ended)
            return CR_OK;
        if (log.bytes.size == 0) {
            it->told_end = true;
            (void)http_stream_write(stream, NULL, "end", "{}", 2);
            http_stream_end(stream);
        } else if (!follow_piece(call, it, &log, stream)) {
            return CR_OK;
        }
    }
    return CR_OK;
}

static void follow_close(void *state)
{
    free(state);
}

static enum cr_status follow(struct cr_call *call, const struct api *api, int64_t offset)
{
    const char *job = api_id(api, "job");
    struct job seen;
    CR_TRY(jobs_get(call, api->service, api->who, job, &seen));
    struct follower *it = calloc(1, sizeof *it);
    if (!it)
        abort();
    snprintf(it->tenant, sizeof it->tenant, "%s", api->who->tenant);
    snprintf(it->actor, sizeof it->actor, "%s", api->who->actor);
    snprintf(it->job, sizeof it->job, "%s", job);
    it->who = (struct principal){.kind = PRINCIPAL_TENANT,
                                 .tenant = it->tenant,
                                 .actor = it->actor,
                                 .permissions = "jobs:read"};
    it->offset = offset;
    struct http_source source = {.key = cr_format(call, "job:%s", job),
                                 .feed = follow_feed,
                                 .close = follow_close,
                                 .state = it};
    api_stream(api, &source);
    return CR_OK;
}

static enum cr_status logs(struct cr_call *call, const struct api *api, const void *request,
                           void *ret_reply)
{
    (void)request;
    (void)ret_reply;
    const struct logs_query *query = api->query;
    int64_t first = 0, last = INT64_MAX - 1;
    bool ranged = range_of(http_field_of(api->http, "Range"), &first, &last);
    if (query && query->follow)
        return follow(call, api, ranged ? first : 0);

    struct jobs_log log;
    CR_TRY(jobs_log(call, api->service, api->who, api_id(api, "job"), first, &log));
    api_field(api, "Accept-Ranges", "bytes");
    api_field(api, "Cresset-Dropped", cr_format(call, "%lld", (long long)log.dropped));
    size_t size = log.bytes.size;
    if (ranged && (int64_t)size > last - first + 1)
        size = (size_t)(last - first + 1);
    bool partial = ranged || (int64_t)size < log.size;
    if (ranged && size == 0) {
        api_field(api, "Content-Range", cr_format(call, "bytes */%lld", (long long)log.size));
        api_status(api, 416);
    } else if (partial) {
        api_field(api, "Content-Range",
                  cr_format(call, "bytes %lld-%lld/%lld", (long long)first,
                            (long long)(first + (int64_t)size - 1), (long long)log.size));
        api_status(api, 206);
    }
    api_bytes(api, NULL, size ? (const char *)log.bytes.data : "", size);
    return CR_OK;
}

/* The table -------------------------------------------------------------------------------------
 */

#define FAILS(...)                  \
    (const struct cr_code *const[]) \
    {                               \
        __VA_ARGS__, NULL           \
    }

const struct api_route jobs_routes[] = {
    {.method = "GET",
     .path = "/v1/jobs",
     .operation = "jobs_list",
     .summary = "Jobs, newest first",
     .permission = "jobs:read",
     .scope = API_TENANT,
     .class = 5,
     .flags = API_LIST,
     .success = 200,
     .query = &jobs_filter_shape,
     .gives = &jobs_page_shape,
     .run = list},
    {.method = "POST",
     .path = "/v1/jobs",
     .operation = "jobs_submit",
     .summary = "Submit a job",
     .permission = "jobs:write",
     .scope = API_TENANT,
     .class = 4,
     .flags = API_MUTATES | API_KEYED,
     .success = 202,
     .takes = &protocol_spec_shape,
     .gives = &job_shape,
     .fails = FAILS(&protocol_program_rejected, &cr_code_quota_exceeded),
     .run = submit},
    {.method = "POST",
     .path = "/v1/jobs/plan",
     .operation = "jobs_plan",
     .summary = "What would become of a job: nothing is written",
     .permission = "jobs:read",
     .scope = API_TENANT,
     .class = 5,
     .success = 200,
     .takes = &protocol_spec_shape,
     .gives = &jobs_plan_shape,
     .fails = FAILS(&protocol_program_rejected),
     .run = plan},
    {.method = "GET",
     .path = "/v1/jobs/summary",
     .operation = "jobs_summary",
     .summary = "How many jobs there are, by state and day of submission",
     .permission = "jobs:read",
     .scope = API_TENANT,
     .class = 5,
     .success = 200,
     .gives = &jobs_summary_shape,
     .run = summary},
    {.method = "GET",
     .path = "/v1/jobs/{job}",
     .operation = "jobs_get",
     .summary = "One job; with wait, once it has changed",
     .permission = "jobs:read",
     .scope = API_TENANT,
     .class = 3,
     .flags = API_PARK | API_ETAG,
     .success = 200,
     .gives = &job_shape,
     .run = get},
    {.method = "POST",
     .path = "/v1/jobs/{job}/cancel",
     .operation = "jobs_cancel",
     .summary = "Stop a job",
     .permission = "jobs:write",
     .scope = API_TENANT,
     .class = 2,
     .flags = API_MUTATES | API_KEYED,
     .success = 202,
     .gives = &job_shape,
     .fails = FAILS(&cr_code_state_forbids),
     .run = cancel},
    {.method = "GET",
     .path = "/v1/jobs/{job}/why",
     .operation = "jobs_why",
     .summary = "Why a job waits: what stands in its way, in order",
     .permission = "jobs:read",
     .scope = API_TENANT,
     .class = 3,
     .success = 200,
     .gives = &jobs_why_shape,
     .run = why},
    {.method = "GET",
     .path = "/v1/jobs/{job}/attempts",
     .operation = "jobs_attempts",
     .summary = "Where and when a job ran, and how each attempt ended",
     .permission = "jobs:read",
     .scope = API_TENANT,
     .class = 3,
     .success = 200,
     .gives = &attempts_page_shape,
     .run = attempts},
    {.method = "GET",
     .path = "/v1/jobs/{job}/events",
     .operation = "jobs_events",
     .summary = "What has happened to a job, newest first",
     .permission = "jobs:read",
     .scope = API_TENANT,
     .class = 5,
     .flags = API_LIST,
     .success = 200,
     .gives = &events_page_shape,
     .run = events},
    {.method = "GET",
     .path = "/v1/jobs/{job}/outputs",
     .operation = "jobs_outputs",
     .summary = "The artifacts that a job made",
     .permission = "jobs:read",
     .scope = API_TENANT,
     .class = 3,
     .success = 200,
     .gives = &outputs_page_shape,
     .run = outputs},
    {.method = "GET",
     .path = "/v1/jobs/{job}/logs",
     .operation = "jobs_logs",
     .summary = "What a job wrote: bytes by Range, or an event stream",
     .permission = "jobs:read",
     .scope = API_TENANT,
     .group = API_GROUP_STREAM,
     .class = 3,
     .flags = API_FILE_OUT | API_SSE,
     .success = 200,
     .query = &logs_query_shape,
     .media = "text/plain; charset=utf-8",
     .run = logs},
    {.method = "GET",
     .path = "/v1/jobs/{job}/metrics",
     .operation = "jobs_metrics",
     .summary = "The series that a job writes, at most 1,000 points each",
     .permission = "jobs:read",
     .scope = API_TENANT,
     .class = 5,
     .success = 200,
     .gives = &jobs_metrics_shape,
     .run = metrics},
    {0},
};
