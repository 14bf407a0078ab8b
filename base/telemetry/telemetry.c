#include "base/telemetry/telemetry.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum kind { COUNTER, GAUGE, HISTOGRAM };
static const char *const kind_words[] = {"counter", "gauge", "histogram"};

struct telemetry_counter {
    _Atomic int64_t count;
};
struct telemetry_gauge {
    _Atomic double value;
};
struct telemetry_histogram {
    double bounds[TELEMETRY_BUCKETS_MAX];
    size_t bound_count;
    _Atomic int64_t counts[TELEMETRY_BUCKETS_MAX + 1]; /* the last: above every bound */
    _Atomic double sum;
};

struct metric {
    enum kind kind;
    const char *name, *labels, *help;
    union {
        struct telemetry_counter counter;
        struct telemetry_gauge gauge;
        struct telemetry_histogram histogram;
    };
};

struct telemetry {
    struct cr_call call; /* whose memory holds the names and the metrics */
    struct metric *metrics[TELEMETRY_METRICS_MAX];
    size_t metric_count;
};

const double telemetry_seconds[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                    0.25,  0.5,    1,     2.5,  5,     10,   30};
const size_t telemetry_seconds_count = sizeof telemetry_seconds / sizeof telemetry_seconds[0];

struct telemetry *telemetry_open(void)
{
    struct telemetry *telemetry = calloc(1, sizeof *telemetry);
    if (!telemetry)
        abort();
    telemetry->call = cr_call_open(NULL, INT64_MAX);
    return telemetry;
}

void telemetry_close(struct telemetry **telemetry)
{
    if (!*telemetry)
        return;
    cr_call_close(&(*telemetry)->call);
    free(*telemetry);
    *telemetry = NULL;
}

static struct metric *metric_open(struct telemetry *telemetry, enum kind kind, const char *name,
                                  const char *labels, const char *help)
{
    assert(telemetry->metric_count < TELEMETRY_METRICS_MAX);
    struct metric *metric = cr_new(&telemetry->call, struct metric, 1);
    metric->kind = kind;
    metric->name = cr_format(&telemetry->call, "%s", name);
    metric->labels = cr_format(&telemetry->call, "%s", labels);
    metric->help = cr_format(&telemetry->call, "%s", help);
    telemetry->metrics[telemetry->metric_count++] = metric;
    return metric;
}

struct telemetry_counter *telemetry_counter_open(struct telemetry *telemetry, const char *name,
                                                 const char *labels, const char *help)
{
    return &metric_open(telemetry, COUNTER, name, labels, help)->counter;
}

struct telemetry_gauge *telemetry_gauge_open(struct telemetry *telemetry, const char *name,
                                             const char *labels, const char *help)
{
    return &metric_open(telemetry, GAUGE, name, labels, help)->gauge;
}

struct telemetry_histogram *telemetry_histogram_open(struct telemetry *telemetry, const char *name,
                                                     const char *labels, const char *help,
                                                     const double *bounds, size_t bound_count)
{
    assert(bound_count <= TELEMETRY_BUCKETS_MAX);
    struct telemetry_histogram *histogram =
        &metric_open(telemetry, HISTOGRAM, name, labels, help)->histogram;
    memcpy(histogram->bounds, bounds, bound_count * sizeof bounds[0]);
    histogram->bound_count = bound_count;
    return histogram;
}

void telemetry_add(struct telemetry_counter *counter, int64_t more)
{
    assert(more >= 0);
    atomic_fetch_add_explicit(&counter->count, more, memory_order_relaxed);
}

int64_t telemetry_count(const struct telemetry_counter *counter)
{
    return atomic_load_explicit(&counter->count, memory_order_relaxed);
}

void telemetry_set(struct telemetry_gauge *gauge, double value)
{
    atomic_store_explicit(&gauge->value, value, memory_order_relaxed);
}

static void move(_Atomic double *value, double by)
{
    double before = atomic_load_explicit(value, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(value, &before, before + by, memory_order_relaxed,
                                                  memory_order_relaxed))
        continue;
}

void telemetry_move(struct telemetry_gauge *gauge, double by)
{
    move(&gauge->value, by);
}

void telemetry_observe(struct telemetry_histogram *histogram, double value)
{
    size_t bucket = 0;
    while (bucket < histogram->bound_count && value > histogram->bounds[bucket])
        bucket++;
    atomic_fetch_add_explicit(&histogram->counts[bucket], 1, memory_order_relaxed);
    move(&histogram->sum, value);
}

/* A number as OpenMetrics takes it: 0.1 rather than 0.10000000000000001. */
static const char *number(struct cr_call *call, double value)
{
    if (isnan(value))
        return "NaN";
    if (isinf(value))
        return value > 0 ? "+Inf" : "-Inf";
    const char *text = cr_format(call, "%.15g", value);
    return strtod(text, NULL) == value ? text : cr_format(call, "%.17g", value);
}

static void print_histogram(struct cr_text *text, struct metric *metric)
{
    struct telemetry_histogram *histogram = &metric->histogram;
    const char *comma = *metric->labels ? "," : "";
    int64_t below = 0;
    for (size_t i = 0; i <= histogram->bound_count; i++) {
        below += atomic_load_explicit(&histogram->counts[i], memory_order_relaxed);
        double bound = i < histogram->bound_count ? histogram->bounds[i] : INFINITY;
        cr_text_add_format(text, "%s_bucket{%s%sle=\"%s\"} %lld\n", metric->name, metric->labels,
                           comma, number(text->call, bound), (long long)below);
    }
    const char *open = *metric->labels ? "{" : "", *close = *metric->labels ? "}" : "";
    cr_text_add_format(text, "%s_sum%s%s%s %s\n", metric->name, open, metric->labels, close,
                       number(text->call, atomic_load(&histogram->sum)));
    cr_text_add_format(text, "%s_count%s%s%s %lld\n", metric->name, open, metric->labels, close,
                       (long long)below);
}

static void print_metric(struct cr_text *text, struct metric *metric)
{
    const char *open = *metric->labels ? "{" : "", *close = *metric->labels ? "}" : "";
    switch (metric->kind) {
    case COUNTER:
        cr_text_add_format(text, "%s_total%s%s%s %lld\n", metric->name, open, metric->labels, close,
                           (long long)telemetry_count(&metric->counter));
        break;
    case GAUGE:
        cr_text_add_format(text, "%s%s%s%s %s\n", metric->name, open, metric->labels, close,
                           number(text->call, atomic_load(&metric->gauge.value)));
        break;
    case HISTOGRAM:
        print_histogram(text, metric);
        break;
    }
}

/* A family stands in one piece, where its first metric was opened. */
static bool begins_family(const struct telemetry *telemetry, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(telemetry->metrics[i]->name, telemetry->metrics[index]->name) == 0)
            return false;
    return true;
}

const char *telemetry_print(struct cr_call *call, struct telemetry *telemetry)
{
    struct cr_text text = cr_text_open(call);
    for (size_t i = 0; i < telemetry->metric_count; i++) {
        struct metric *first = telemetry->metrics[i];
        if (!begins_family(telemetry, i))
            continue;
        cr_text_add_format(&text, "# TYPE %s %s\n# HELP %s %s\n", first->name,
                           kind_words[first->kind], first->name, first->help);
        for (size_t k = i; k < telemetry->metric_count; k++)
            if (strcmp(telemetry->metrics[k]->name, first->name) == 0)
                print_metric(&text, telemetry->metrics[k]);
    }
    cr_text_add(&text, "# EOF\n");
    return text.data;
}
