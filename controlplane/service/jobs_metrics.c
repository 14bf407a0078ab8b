/*
 * jobs_metrics: the series of a job, thinned to what a plot can show.
 *
 * Thinning is LTTB (Steinarsson, "Downsampling Time Series for Visual Representation", 2013,
 * section 4.2): the first and the last point stay, the others fall into equal buckets, and of each
 * bucket the point stays that spans the largest triangle with the one kept before and the mean of
 * the next.
 */
#include "controlplane/service/jobs_internal.h"

#include "compute/protocol/frame.h"
#include "controlplane/service/jobs_sql.h"

#include <math.h>
#include <string.h>

#define SERIES_MAX 256

struct chunk {
    int64_t lease_epoch, dropped;
    struct cr_bytes names, payload;
};
static const struct cr_member chunk_members[] = {
    CR_MEMBER(struct chunk, lease_epoch, 0, 0),
    CR_MEMBER(struct chunk, dropped, 0, 0),
    CR_BYTES(struct chunk, names, 0, INT32_MAX),
    CR_BYTES(struct chunk, payload, 0, INT32_MAX),
};
static const struct cr_shape chunk_shape = CR_SHAPE(struct chunk, chunk_members);

/* A series as it is gathered. */
struct gathered {
    const char *name;
    struct jobs_point *points;
    size_t count, capacity;
    int64_t lease_epoch; /* of its last point */
};

struct gathering {
    struct cr_call *call;
    struct gathered series[SERIES_MAX];
    size_t count;
    int64_t dropped;
};

static struct gathered *series_named(struct gathering *it, const char *name, size_t length)
{
    for (size_t i = 0; i < it->count; i++)
        if (strlen(it->series[i].name) == length && memcmp(it->series[i].name, name, length) == 0)
            return &it->series[i];
    if (it->count == SERIES_MAX || length == 0 || length > PROTOCOL_METRIC_NAME_MAX)
        return NULL;
    it->series[it->count] = (struct gathered){.name = cr_copy(it->call, name, length)};
    return &it->series[it->count++];
}

/* Where a later attempt went over the same steps, its points replace the earlier ones. */
static void append(struct gathering *it, struct gathered *series, struct jobs_point point,
                   int64_t lease_epoch)
{
    if (lease_epoch != series->lease_epoch)
        while (series->count && series->points[series->count - 1].step >= point.step)
            series->count--;
    series->lease_epoch = lease_epoch;
    if (series->count == series->capacity) {
        size_t capacity = series->capacity ? series->capacity * 2 : 256;
        struct jobs_point *points = cr_new(it->call, struct jobs_point, capacity);
        if (series->count)
            memcpy(points, series->points, series->count * sizeof *points);
        series->points = points;
        series->capacity = capacity;
    }
    series->points[series->count++] = point;
}

static void gather(struct gathering *it, const struct chunk *chunk)
{
    struct gathered *by_number[SERIES_MAX] = {0};
    const char *names = (const char *)chunk->names.data;
    for (size_t at = 0, number = 0; at < chunk->names.size && number < SERIES_MAX; number++) {
        const char *end = memchr(names + at, '\n', chunk->names.size - at);
        size_t length = end ? (size_t)(end - names) - at : chunk->names.size - at;
        by_number[number] = series_named(it, names + at, length);
        at += length + 1;
    }
    it->dropped += chunk->dropped;
    for (size_t at = 0; at + PROTOCOL_POINT_SIZE <= chunk->payload.size;
         at += PROTOCOL_POINT_SIZE) {
        struct protocol_point point = protocol_point_read(chunk->payload.data + at);
        struct gathered *series = by_number[point.series];
        if (series && isfinite(point.value) && point.step <= CR_SAFE_INTEGER)
            append(it, series, (struct jobs_point){(int64_t)point.step, point.value},
                   chunk->lease_epoch);
    }
}

static struct jobs_point mean_of(const struct jobs_point *points, size_t count)
{
    double step = 0, value = 0;
    for (size_t i = 0; i < count; i++) {
        step += (double)points[i].step;
        value += points[i].value;
    }
    return (struct jobs_point){(int64_t)(step / (double)count), value / (double)count};
}

/* Twice the area of the triangle of three points. */
static double area(const struct jobs_point *a, const struct jobs_point *b,
                   const struct jobs_point *c)
{
    return fabs(((double)a->step - (double)c->step) * (b->value - a->value) -
                ((double)a->step - (double)b->step) * (c->value - a->value));
}

/* Thins count points in place to at most `most`, which is above 2; the result is their number. */
static size_t thin(struct jobs_point *points, size_t count, size_t most)
{
    if (count <= most)
        return count;
    size_t kept = 1; /* points[0] stays */
    struct jobs_point last = points[count - 1];
    for (size_t bucket = 0; bucket < most - 2; bucket++) {
        size_t begin = 1 + bucket * (count - 2) / (most - 2);
        size_t end = 1 + (bucket + 1) * (count - 2) / (most - 2);
        size_t next_end =
            bucket + 1 < most - 2 ? 1 + (bucket + 2) * (count - 2) / (most - 2) : count;
        struct jobs_point mean = mean_of(points + end, next_end - end);
        size_t best = begin;
        double largest = -1;
        for (size_t i = begin; i < end; i++) {
            double size = area(&points[kept - 1], &points[i], &mean);
            if (size > largest) {
                largest = size;
                best = i;
            }
        }
        points[kept++] = points[best]; /* kept <= begin <= best, so nothing unread is lost */
    }
    points[kept++] = last;
    return kept;
}

struct look {
    struct service *service;
    const char *tenant, *job;
    struct jobs_metrics *ret_metrics;
};

static enum cr_status metrics_work(struct cr_call *call, struct db *db, void *context)
{
    const struct look *it = context;
    struct job job;
    struct cr_list chunks;
    CR_TRY(jobs_read(call, db, it->service->config, it->tenant, it->job, &job));
    CR_TRY(db_list(call, db, &jobs_points, DB_VALUES(db_text(it->tenant), db_text(it->job)),
                   &chunk_shape, &chunks));
    struct gathering *gathering = cr_new(call, struct gathering, 1);
    gathering->call = call;
    for (size_t i = 0; i < chunks.count; i++)
        gather(gathering, (const struct chunk *)chunks.items + i);

    struct jobs_series *series = cr_new(call, struct jobs_series, gathering->count);
    for (size_t i = 0; i < gathering->count; i++) {
        struct gathered *from = &gathering->series[i];
        series[i].name = from->name;
        series[i].point_count = (int64_t)from->count;
        size_t kept = thin(from->points, from->count, JOBS_SERIES_MAX);
        series[i].points = (struct cr_list){from->points, kept};
    }
    *it->ret_metrics = (struct jobs_metrics){{series, gathering->count}, gathering->dropped};
    return CR_OK;
}

enum cr_status jobs_metrics(struct cr_call *call, struct service *service,
                            const struct principal *who, const char *job,
                            struct jobs_metrics *ret_metrics)
{
    struct look look = {service, service_tenant(who), job, ret_metrics};
    return jobs_look(call, service, who, metrics_work, &look);
}
