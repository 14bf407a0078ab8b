/* engine_internal: the engine from within. All but the gauges belongs to its thread. */
#pragma once

#include "compute/protocol/spec.h"
#include "controlplane/admission/admission.h"
#include "controlplane/service/engine.h"

#include <pthread.h>

#define ENGINE_ID_SIZE 40

/* A lease that lives, and when the engine's own clock last saw it renewed. */
struct engine_beat {
    char lease[ENGINE_ID_SIZE];
    int64_t beat, seen_ns;
};

struct engine {
    const struct cr_env *env;
    struct service *service; /* of the thread; its engine_db is the engine's connection */

    bool holds, fenced; /* fenced: a transaction found that another holds the epoch */
    int64_t epoch, since;
    int64_t renewed_ns; /* when the last renewal that was acknowledged was sent */
    int64_t batch_no;
    struct admission *books;
    struct engine_beat *beats; /* sorted by lease */
    size_t beat_count;
    int64_t clock_us, clock_ns; /* the database's clock and ours, at the last look */
    int64_t swept_ns, kept_ns, parked_ns;
    char *parked; /* the reasons of parked classes as they were written last; NULL: not yet */
};

/* Begins every transaction of the engine (db.7). CR_CONFLICT: another holds the epoch now. */
enum cr_status engine_hold_epoch(struct cr_call *call, struct engine *engine,
                                 struct db *db) CR_CHECK;

/* Reads nodes, devices, leases and waiting jobs into fresh books. */
enum cr_status engine_load(struct cr_call *call, struct engine *engine) CR_CHECK;

/* The same out of a transaction of the caller's, into books that are open: for why and plan. */
enum cr_status engine_load_books(struct cr_call *call, struct db *db, const char *region,
                                 struct admission *books) CR_CHECK;

/* Enters what is new about nodes and devices. */
enum cr_status engine_refresh_fleet(struct cr_call *call, struct engine *engine) CR_CHECK;

/* Enters what is new about these jobs, or takes them out. */
enum cr_status engine_refresh_jobs(struct cr_call *call, struct engine *engine,
                                   const char *const *jobs, size_t count) CR_CHECK;

/* What admission reads of a spec. */
struct admission_shape engine_shape(struct cr_call *call, const struct protocol_spec *spec);

/* Outbox rows into events, at most ENGINE_EVENTS_MAX; ret_count of them. */
enum cr_status engine_sequence(struct cr_call *call, struct engine *engine,
                               size_t *ret_count) CR_CHECK;

/* Gives back what leases that ended hold, and moves their jobs on; ret_count of them. */
enum cr_status engine_settle_ended(struct cr_call *call, struct engine *engine,
                                   size_t *ret_count) CR_CHECK;

/* Decides, and commits; ret_count grants. */
enum cr_status engine_grant(struct cr_call *call, struct engine *engine,
                            size_t *ret_count) CR_CHECK;

/* Once in ENGINE_SWEEP_NS: leases that expire, jobs that are overdue, nodes that are silent. */
enum cr_status engine_sweep(struct cr_call *call, struct engine *engine) CR_CHECK;

/* Writes why classes of jobs wait, where that has changed. */
enum cr_status engine_park(struct cr_call *call, struct engine *engine) CR_CHECK;

/* Forgets the beats: a new engine gives every lease a whole LEASE_TTL. */
void engine_forget_beats(struct engine *engine);

/* Runs work in a transaction of the engine that begins with engine_hold_epoch. */
struct engine_work {
    struct engine *engine;
    enum cr_status (*run)(struct cr_call *call, struct db *db, struct engine_work *work);
    const void *of;
    void *result;
};
enum cr_status engine_transaction(struct cr_call *call, unsigned flags,
                                  struct engine_work *work) CR_CHECK;

/*
 * After work on one lease or job has failed: true where it is that one's own trouble, which is
 * forgiven and counted, so that it does not keep the engine from all the others. False where the
 * database is away or another holds the epoch: hand the failure on.
 */
bool engine_goes_on(struct cr_call *call, struct engine *engine);

/* The gauges of the process, and what they are changed under. */
extern struct engine_gauges engine_gauges;
extern pthread_mutex_t engine_gauges_lock;
#define ENGINE_COUNT(change)                       \
    do {                                           \
        pthread_mutex_lock(&engine_gauges_lock);   \
        engine_gauges.change;                      \
        pthread_mutex_unlock(&engine_gauges_lock); \
    } while (0)
