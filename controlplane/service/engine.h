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
#define ENGINE_IDLE_NS      INT64_C(250000000) /* between looks at the outbox without a nudge */
#define ENGINE_EVENTS_MAX   1000               /* of one transaction of the sequencer */
#define ENGINE_BATCH_MAX    256                /* grants of one transaction */
#define ENGINE_START_MAX_US INT64_C(900000000) /* from the grant to the start */
#define ENGINE_LEASE_TTL_NS INT64_C(15000000000)
#define ENGINE_LOST_US      INT64_C(300000000)  /* of a suspect node, then it is lost */
#define ENGINE_CLOCK_NS     INT64_C(1000000000) /* drift of the two clocks that is a step */

struct engine;

struct engine_config {
    const struct service_config *service;
    struct db_config database; /* as cresset_engine_login; opened by the thread */
    struct bus *bus;           /* may be NULL */
    const char *holder_url;    /* where other processes reach this one */
    /* Told what happens to the engine itself: "info" or "warning". Called on its thread. */
    void (*said)(void *context, const char *level, const char *what, const char *reason);
    void *context;
};

/* Readings of the engine of this process. */
struct engine_gauges {
    bool holds;           /* this process decides */
    int64_t epoch, since; /* of this process; microseconds of UTC */
    int64_t batches, granted, fell_out, events, expired, rebuilds, takeovers;
    int64_t waiting, devices, held, classes;
    int64_t batch_ns_last, round_ns_last;
};

/* config and what it points to live as long as the engine. */
struct engine *engine_open(const struct cr_env *env, const struct engine_config *config);
void engine_close(struct engine *engine); /* after engine_run has returned */

/* Runs until engine_stop. It never fails: what it cannot do now it tries again. */
void engine_run(struct engine *engine);

/* Something happened that it may want to see at once: call it from the service's wake. */
void engine_nudge(struct engine *engine);

void engine_stop(struct engine *engine);
struct engine_gauges engine_read(struct engine *engine);

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
