/*
 * engine: the one thread of a region that decides. It holds the engine epoch, keeps the books of
 * admission in memory, grants leases in batches, ends what is over, and turns outbox rows into
 * events.
 *
 * Any number of processes run one; at a time one of them holds the epoch, the others wait for it to
 * lapse (ENGINE_TTL). Every transaction of it begins with a look at its epoch (db.7), so whoever
 * was paused and replaced finds out before it does anything. Whenever an effect is in doubt it
 * raises its own epoch, which waits for what is in flight, and reads everything again: the tables
 * are the truth.
 *
 * Threads      engine_run is a thread's whole work; engine_nudge, engine_stop and engine_read may
 * be called from any other Limits       all below Source       admission.md sections 3 to 8;
 * reliability rules db.7 and db.13
 */
#pragma once

#include "controlplane/service/service.h"

#define ENGINE_TTL_NS       INT64_C(10000000000) /* then another may take over */
#define ENGINE_RENEW_NS     INT64_C(3000000000)
#define ENGINE_QUIET_NS     INT64_C(6000000000) /* after the last renewal: decide nothing more */
#define ENGINE_SWEEP_NS     INT64_C(1000000000)
#define ENGINE_BEAT_NS      INT64_C(100000000) /* between two turns where there is nothing to do */
#define ENGINE_EVENTS_MAX   1000               /* of one transaction of the sequencer */
#define ENGINE_BATCH_MAX    256                /* grants of one transaction */
#define ENGINE_START_MAX_US INT64_C(900000000) /* from the grant to the start */
#define ENGINE_LEASE_TTL_NS INT64_C(15000000000)
#define ENGINE_LOST_US      INT64_C(300000000)  /* of a suspect node, then it is lost */
#define ENGINE_CLOCK_NS     INT64_C(1000000000) /* drift of the two clocks that is a step */

/*
 * One turn: all that there is to do now. ret_more: there may be more at once. *state is NULL at
 * first, and the engine's own from then on. service is that of this thread alone.
 */
enum cr_status engine_turn(struct cr_call *call, struct service *service, void **state,
                           bool *ret_more) CR_CHECK;

/* Leaves the epoch in good order, so that another need not wait for it to lapse. */
void engine_close(void *state);

/* The epoch that this process holds, 0: none. From any thread. */
int64_t engine_held(void);

/* Readings of the engine of this process. From any thread. */
struct engine_gauges {
    bool holds;
    int64_t epoch, since; /* microseconds of UTC */
    int64_t batches, granted, fell_out, events, expired, rebuilds, takeovers;
    int64_t stuck; /* leases and jobs that could not be moved on, each time that it was tried */
    int64_t waiting, devices, held, classes;
    int64_t batch_ns_last, round_ns_last;
};
struct engine_gauges engine_read(void);

/* Who holds the epoch, by the tables: GET /v1/ops/scheduler and /readyz. */
struct engine_holder {
    int64_t epoch;
    const char *holder;
    int64_t since, until_us;
    bool alive; /* until has not come */
};
extern const struct cr_shape engine_holder_shape;
enum cr_status engine_look(struct cr_call *call, struct service *service,
                           struct engine_holder *ret_holder, bool *ret_found) CR_CHECK;
