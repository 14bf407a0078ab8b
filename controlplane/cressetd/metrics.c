/* metrics: what is counted of calls, the log's one line for each, and whether all is there. */
#include "base/core/codes.h"
#include "base/core/file.h"
#include "base/core/log.h"
#include "controlplane/cressetd/cressetd.h"

#include <assert.h>
#include <string.h>

#define STATUS_CLASSES  6 /* 0: the client left; 1xx to 5xx */
#define DISK_STOP_SHARE 10
#define DISK_STOP_SIZE  (INT64_C(2) << 30)

struct metrics {
    struct telemetry *telemetry;
    struct telemetry_counter *requests[HTTP_CLASSES][STATUS_CLASSES];
    struct telemetry_histogram *seconds[HTTP_CLASSES];
    struct telemetry_gauge *connections, *queued, *running, *parked, *streams;
};

static void open_calls(struct metrics *metrics)
{
    char labels[64];
    for (int class = 0; class < HTTP_CLASSES; class ++)
        for (int status = 0; status < STATUS_CLASSES; status++) {
            snprintf(labels, sizeof labels, "class=\"%d\",status=\"%dxx\"", class, status);
            metrics->requests[class][status] =
                telemetry_counter_open(metrics->telemetry, "cresset_http_requests", labels,
                                       "Calls that ended, by class and status.");
        }
    for (int class = 0; class < HTTP_CLASSES; class ++) {
        snprintf(labels, sizeof labels, "class=\"%d\"", class);
        metrics->seconds[class] =
            telemetry_histogram_open(metrics->telemetry, "cresset_http_request_seconds", labels,
                                     "From the head of a request to its answer.", telemetry_seconds,
                                     telemetry_seconds_count);
    }
}

struct metrics *metrics_open(void)
{
    struct metrics *metrics = calloc(1, sizeof *metrics);
    assert(metrics);
    metrics->telemetry = telemetry_open();
    open_calls(metrics);
    const struct {
        struct telemetry_gauge **gauge;
        const char *name, *help;
    } gauges[] = {
        {&metrics->connections, "cresset_http_connections", "Connections that are open."},
        {&metrics->queued, "cresset_http_queued", "Requests that wait for a worker."},
        {&metrics->running, "cresset_http_running", "Requests that a worker has."},
        {&metrics->parked, "cresset_http_parked", "Requests that wait for a change."},
        {&metrics->streams, "cresset_http_streams", "Event streams that are open."},
    };
    for (size_t i = 0; i < sizeof gauges / sizeof *gauges; i++)
        *gauges[i].gauge =
            telemetry_gauge_open(metrics->telemetry, gauges[i].name, "", gauges[i].help);
    return metrics;
}

void metrics_close(struct metrics **metrics)
{
    if (*metrics)
        telemetry_close(&(*metrics)->telemetry);
    free(*metrics);
    *metrics = NULL;
}

const char *metrics_print(struct cr_call *call, void *context)
{
    struct program *program = context;
    struct metrics *metrics = program->metrics;
    struct http_server *server = atomic_load(&program->server);
    if (server) {
        struct http_gauges now = http_read_gauges(server);
        telemetry_set(metrics->connections, (double)now.connections);
        telemetry_set(metrics->queued, (double)now.queued);
        telemetry_set(metrics->running, (double)now.running);
        telemetry_set(metrics->parked, (double)now.parked);
        telemetry_set(metrics->streams, (double)now.streams);
    }
    return telemetry_print(call, metrics->telemetry);
}

/* A probe that goes well each second is no news. */
static bool quiet(const struct http_ended *ended, const struct api_route *route)
{
    return route && route->group == API_GROUP_OPS && ended->status < 400;
}

static void log_line(const struct program *program, const struct http_ended *ended,
                     const struct api_route *route)
{
    const struct http_request *request = ended->request;
    struct cr_log_field fields[12];
    size_t count = 0;
#define FIELD(name, text, number)           \
    fields[count++] = (struct cr_log_field) \
    {                                       \
        name, text, number                  \
    }
    if (request) {
        FIELD("request", request->id, 0);
        FIELD("method", request->method, 0);
        FIELD("path", request->path, 0);
    }
    if (route)
        FIELD("operation", route->operation, 0);
    FIELD("status", NULL, ended->status);
    if (ended->code)
        FIELD("code", ended->code, 0);
    if (ended->reason && *ended->reason)
        FIELD("reason", ended->reason, 0);
    if (ended->tenant)
        FIELD("tenant", ended->tenant, 0);
    FIELD("queue_us", NULL, ended->queue_ns / 1000);
    FIELD("work_us", NULL, ended->work_ns / 1000);
    FIELD("duration_us", NULL, ended->total_ns / 1000);
    FIELD("size", NULL, (int64_t)ended->answer_size);
#undef FIELD
    cr_log_event(&program->env, ended->status >= 500 ? "error" : "info", "call", fields, count);
}

void metrics_ended(void *context, const struct http_ended *ended)
{
    struct program *program = context;
    const struct api_route *route = ended->request ? api_route_of(ended->request) : NULL;
    int class = route ? route->class : 3, status = ended->status / 100;
    telemetry_add(program->metrics->requests[class][status < STATUS_CLASSES ? status : 5], 1);
    telemetry_observe(program->metrics->seconds[class], (double)ended->total_ns / 1e9);
    if (!quiet(ended, route))
        log_line(program, ended, route);
}

/* Needs --------------------------------------------------------------------------------------- */

static const struct db_statement ping = {"cressetd_ping", "SELECT 1 AS one"};

static struct api_need look(struct cr_call *call, const char *name, enum cr_status status)
{
    struct api_need need = {.name = name, .ok = status == CR_OK};
    if (!need.ok) {
        need.detail = cr_format(call, "%s", call->reason);
        cr_forgive(call);
    }
    return need;
}

static enum cr_status check_disk(struct cr_call *call, const char *path)
{
    int64_t free_size = 0, total = 0;
    CR_TRY(cr_file_free_space(call, path, &free_size, &total));
    int64_t floor =
        total / DISK_STOP_SHARE > DISK_STOP_SIZE ? DISK_STOP_SIZE : total / DISK_STOP_SHARE;
    if (free_size < floor)
        return cr_fail(call, CR_UNAVAILABLE, "%lld MiB are free, %lld MiB are wanted",
                       (long long)(free_size >> 20), (long long)(floor >> 20));
    return CR_OK;
}

void metrics_needs(struct cr_call *call, void *context, struct service *service,
                   struct cr_list *ret_needs)
{
    struct program *program = context;
    struct api_need *needs = cr_new(call, struct api_need, 4);
    needs[0] = look(call, "database", db_exec(call, service->db, &ping, DB_NONE, NULL));
    needs[1] =
        look(call, "database as engine", db_exec(call, service->engine_db, &ping, DB_NONE, NULL));
    needs[2] = look(call, "disk", check_disk(call, program->config.artifacts_dir));
    bool heard = bus_connected(call, program->bus);
    needs[3] = (struct api_need){"bus", true, /* it only makes things sooner (B1) */
                                 heard ? NULL : "NATS does not answer: all is a little slower"};
    *ret_needs = (struct cr_list){needs, 4};
}
