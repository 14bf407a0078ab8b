/*
 * events: what has happened to a tenant's things, in its own order. The sequencer gives each a
 * number after its commit, so that none is skipped; a reader that has seen a number has seen all
 * before it.
 *
 * What may be seen  an event needs the permission that reads its subject: of a principal, the nouns
 *                   are worked out once (events_nouns)
 * Ownership         whatever is filled belongs to the call
 * fails with        cr_code_history_expired  the number is older than what is kept (+url)
 *                   cr_code_invalid_parameter a pattern of types is none
 * Source            surface.md section 3; admission.md section 8
 */
#pragma once

#include "controlplane/service/service.h"

#define EVENTS_PATTERNS_MAX 16
#define EVENTS_PAGE_MAX     256 /* of a stream's turn */
#define EVENTS_PROGRESS_MAX 200 /* jobs of which one turn tells progress */

/* One object in lists, streams and webhooks. */
struct event {
    const char *id;
    int64_t seq;
    const char *type; /* "job.succeeded" */
    int64_t timestamp;
    const char *subject; /* job_… */
    struct cr_json data; /* the resource, as GET gives it */
};
extern const struct cr_shape event_shape; /* "Event" */

/* What of the events is wanted; absent members filter nothing. */
struct events_filter {
    struct cr_texts types; /* "job.*", "usage.recorded" */
    const char *subject;
};
extern const struct cr_shape events_filter_shape;

/* A filter and a principal, as the statements take them. */
struct events_view {
    const char *tenant;       /* whose events; "operators" for theirs */
    struct cr_texts nouns;    /* that the principal may see */
    struct cr_texts patterns; /* of SQL's LIKE */
    const char *subject;      /* NULL: any */
};
enum cr_status events_view(struct cr_call *call, const struct principal *who,
                           const struct events_filter *filter,
                           struct events_view *ret_view) CR_CHECK;

/* GET /v1/events: struct event, newest first, below the number `before` (CR_NO_INTEGER: from the
 * top). */
enum cr_status events_list(struct cr_call *call, struct service *service,
                           const struct events_view *view, int64_t before, int64_t limit,
                           struct cr_list *ret_events) CR_CHECK;

/*
 * Where a stream begins: behind `after`, which must not be older than what is kept, or, with
 * CR_NO_INTEGER, behind the newest.
 */
enum cr_status events_begin(struct cr_call *call, struct service *service,
                            const struct events_view *view, int64_t after,
                            int64_t *ret_after) CR_CHECK;

/* The next of a stream, oldest first. What is not wanted has a type of NULL: only its number
 * counts. */
enum cr_status events_next(struct cr_call *call, struct service *service,
                           const struct events_view *view, int64_t after, int64_t limit,
                           struct cr_list *ret_events) CR_CHECK;

/* How far jobs that run are, where it has changed since a moment. */
struct events_progress {
    const char *job;
    int64_t step, steps;
    const char *phase;
    int64_t at;
};
extern const struct cr_shape events_progress_shape;

/* Structs of events_progress_shape. jobs: which; of no count: all. */
enum cr_status events_progress(struct cr_call *call, struct service *service, const char *tenant,
                               const struct cr_texts *jobs, int64_t since,
                               struct cr_list *ret_progress) CR_CHECK;
