/*
 * telemetry: what a process counts of itself, as OpenMetrics text.
 *
 * A metric is opened once, when the program starts, with all the label sets that it will ever have;
 * so no client can make it grow, and no tenant is a label. Updates are atomic and lock nothing.
 *
 * Units        in the name, last, as OpenMetrics asks: _seconds, _bytes; counters end in _total
 * Ownership    the registry owns its metrics; they live until it is closed
 * Threads      open and close by one; add, set, observe and print by any
 * Source       OpenMetrics 1.0.0 (prometheus.io/docs/specs/om)
 */
#pragma once

#include "base/core/text.h"

#define TELEMETRY_METRICS_MAX  512
#define TELEMETRY_BUCKETS_MAX  24

#define TELEMETRY_CONTENT_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

struct telemetry;
struct telemetry_counter;
struct telemetry_gauge;
struct telemetry_histogram;

struct telemetry *telemetry_open(void);
void telemetry_close(struct telemetry **telemetry);

/*
 * name      of the family, without _total, for example "cresset_http_requests"; families are
 *           printed in the order in which they were first opened
 * labels    of this one of the family, as they are printed, for example "class=\"0\""; may be ""
 * help      one sentence, the same for the whole family
 */
struct telemetry_counter *telemetry_counter_open(struct telemetry *telemetry, const char *name,
                                                 const char *labels, const char *help);
struct telemetry_gauge *telemetry_gauge_open(struct telemetry *telemetry, const char *name,
                                             const char *labels, const char *help);

/* bounds ascend; the bucket of all that is above is added of itself. */
struct telemetry_histogram *telemetry_histogram_open(struct telemetry *telemetry, const char *name,
                                                     const char *labels, const char *help,
                                                     const double *bounds, size_t bound_count);

/* The usual bounds for the length of a call: 1 ms to 30 s, in seconds. */
extern const double telemetry_seconds[];
extern const size_t telemetry_seconds_count;

void telemetry_add(struct telemetry_counter *counter, int64_t more);
void telemetry_set(struct telemetry_gauge *gauge, double value);
void telemetry_move(struct telemetry_gauge *gauge, double by);
void telemetry_observe(struct telemetry_histogram *histogram, double value);

int64_t telemetry_count(const struct telemetry_counter *counter);

/* The whole exposition, "# EOF" included. */
const char *telemetry_print(struct cr_call *call, struct telemetry *telemetry);
