/* engine: the thread, its epoch, and the order in which it works. */
#include "controlplane/service/engine_internal.h"

#include "base/core/time.h"
#include "controlplane/service/engine_sql.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define KEEP_NS        (60 * CR_NS_A_SECOND) /* between two looks at what is old */
#define LEAVE_NS       CR_NS_A_SECOND        /* for the goodbye */
#define KEEP_KEYS_US   (7 * CR_US_A_DAY)
#define KEEP_EVENTS_US (14 * CR_US_A_DAY)

_Static_assert(ENGINE_RENEW_NS < ENGINE_QUIET_NS && ENGINE_QUIET_NS < ENGINE_TTL_NS,
               "a holder falls silent before another may take over");

struct engine_gauges engine_gauges;
pthread_mutex_t engine_gauges_lock = PTHREAD_MUTEX_INITIALIZER;

struct engine_gauges engine_read(void)
{
    pthread_mutex_lock(&engine_gauges_lock);
    struct engine_gauges gauges = engine_gauges;
    pthread_mutex_unlock(&engine_gauges_lock);
    return gauges;
}

int64_t engine_held(void)
{
    struct engine_gauges gauges = engine_read();
    return gauges.holds ? gauges.epoch : 0;
}

/* The epoch -------------------------------------------------------------------------------------
 */

struct taken {
    int64_t epoch, since;
};
static const struct cr_member taken_members[] = {
    CR_MEMBER(struct taken, epoch, 0, 0),
    CR_MEMBER(struct taken, since, 0, 0),
};
static const struct cr_shape taken_shape = CR_SHAPE(struct taken, taken_members);

static const struct cr_member holder_members[] = {
    CR_MEMBER(struct engine_holder, epoch, 0, INT64_MAX),
    CR_MEMBER(struct engine_holder, holder, 0, 255, .flags = CR_NULLABLE),
    CR_TIME(struct engine_holder, since),
    CR_TIME(struct engine_holder, until_us),
    CR_MEMBER(struct engine_holder, alive, 0, 0),
};
const struct cr_shape engine_holder_shape = CR_SHAPE(struct engine_holder, holder_members);

enum cr_status engine_look(struct cr_call *call, struct service *service,
                           struct engine_holder *ret_holder, bool *ret_found)
{
    return db_one(call, service->engine_db, &engine_holder_of,
                  DB_VALUES(db_text(service->config->region)), &engine_holder_shape, ret_holder,
                  ret_found);
}

bool engine_goes_on(struct cr_call *call, struct engine *engine)
{
    if (engine->fenced || call->status == CR_UNAVAILABLE || call->status == CR_TIMEOUT ||
        call->status == CR_UNKNOWN)
        return false;
    if (call->status != CR_CONFLICT || !call->code) /* with a code: it moved on in between */
        ENGINE_COUNT(stuck++);
    cr_forgive(call);
    return true;
}

enum cr_status engine_hold_epoch(struct cr_call *call, struct engine *engine, struct db *db)
{
    enum cr_status status =
        db_exec_fenced(call, db, &engine_hold,
                       DB_VALUES(db_text(engine->service->config->region), db_int(engine->epoch)),
                       "another process holds the engine's epoch");
    engine->fenced = engine->fenced || status == CR_CONFLICT;
    return status;
}

static enum cr_status hold_and_run(struct cr_call *call, struct db *db, void *context)
{
    struct engine_work *work = context;
    CR_TRY(engine_hold_epoch(call, work->engine, db));
    return work->run(call, db, work);
}

enum cr_status engine_transaction(struct cr_call *call, unsigned flags, struct engine_work *work)
{
    return db_transaction(call, work->engine->service->engine_db, NULL, flags, hold_and_run, work);
}

/*
 * Takes the epoch where its holder has lapsed; also one's own again, one higher: the row's lock is
 * given only when every transaction that holds it by engine_hold has ended, so what was in flight
 * is decided then.
 */
static enum cr_status take(struct cr_call *call, struct engine *engine, bool *ret_taken)
{
    struct taken taken;
    const char *region = engine->service->config->region;
    int64_t sent_ns = cr_now_ns(call);
    CR_TRY(
        db_exec(call, engine->service->engine_db, &engine_row, DB_VALUES(db_text(region)), NULL));
    CR_TRY(db_one(call, engine->service->engine_db, &engine_take,
                  DB_VALUES(db_text(region), db_text(engine->service->config->holder),
                            db_text(engine->service->config->public_origin), db_int(engine->epoch),
                            db_int(ENGINE_TTL_NS / 1000)),
                  &taken_shape, &taken, ret_taken));
    if (!*ret_taken)
        return CR_OK;
    engine->epoch = taken.epoch;
    engine->since = taken.since;
    engine->renewed_ns = sent_ns;
    engine->batch_no = 0;
    return CR_OK;
}

static void lose_epoch(struct engine *engine)
{
    engine->holds = false;
    ENGINE_COUNT(holds = false);
}

static enum cr_status take_over(struct cr_call *call, struct engine *engine)
{
    bool taken;
    CR_TRY(take(call, engine, &taken));
    if (!taken)
        return CR_OK;
    CR_TRY(engine_load(call, engine));
    engine_forget_beats(engine);
    free(engine->parked);
    engine->parked = NULL;
    engine->clock_us = 0;
    engine->holds = true;
    engine->fenced = false;
    pthread_mutex_lock(&engine_gauges_lock);
    engine_gauges.holds = true;
    engine_gauges.epoch = engine->epoch;
    engine_gauges.since = engine->since;
    engine_gauges.takeovers++;
    pthread_mutex_unlock(&engine_gauges_lock);
    return CR_OK;
}

static enum cr_status renew(struct cr_call *call, struct engine *engine)
{
    int64_t sent_ns = cr_now_ns(call);
    if (sent_ns - engine->renewed_ns < ENGINE_RENEW_NS)
        return CR_OK;
    CR_TRY(db_exec_fenced(call, engine->service->engine_db, &engine_renew,
                          DB_VALUES(db_text(engine->service->config->region), db_int(engine->epoch),
                                    db_int(ENGINE_TTL_NS / 1000)),
                          "another process holds the engine's epoch"));
    engine->renewed_ns = sent_ns;
    return CR_OK;
}

/* One turn of the loop --------------------------------------------------------------------------
 */

static enum cr_status keep(struct cr_call *call, struct engine *engine)
{
    if (cr_now_ns(call) - engine->kept_ns < KEEP_NS)
        return CR_OK;
    engine->kept_ns = cr_now_ns(call);
    struct db *db = engine->service->engine_db;
    CR_TRY(db_exec(call, db, &engine_forget_keys, DB_VALUES(db_int(KEEP_KEYS_US)), NULL));
    CR_TRY(db_exec(call, db, &engine_forget_events, DB_VALUES(db_int(KEEP_EVENTS_US)), NULL));
    CR_TRY(db_exec(call, db, &engine_forget_batches, DB_VALUES(db_int(KEEP_KEYS_US)), NULL));
    return db_exec(call, db, &engine_forget_sessions, DB_NONE, NULL);
}

static void show(struct engine *engine)
{
    struct admission_gauges read = admission_read(engine->books);
    pthread_mutex_lock(&engine_gauges_lock);
    engine_gauges.waiting = read.waiting;
    engine_gauges.devices = read.devices;
    engine_gauges.held = read.held;
    engine_gauges.classes = read.classes;
    pthread_mutex_unlock(&engine_gauges_lock);
}

static enum cr_status work(struct cr_call *call, struct engine *engine, bool *ret_more)
{
    size_t events, ended, granted = 0;
    CR_TRY(renew(call, engine));
    CR_TRY(engine_sequence(call, engine, &events));
    CR_TRY(engine_settle_ended(call, engine, &ended));
    CR_TRY(engine_sweep(call, engine));
    if (cr_now_ns(call) - engine->renewed_ns < ENGINE_QUIET_NS)
        CR_TRY(engine_grant(call, engine, &granted));
    CR_TRY(engine_park(call, engine));
    CR_TRY(keep(call, engine));
    show(engine);
    *ret_more = events + ended + granted > 0;
    return CR_OK;
}

static enum cr_status turn(struct cr_call *call, struct engine *engine, bool *ret_more)
{
    *ret_more = false;
    if (!engine->holds)
        CR_TRY(take_over(call, engine));
    return engine->holds ? work(call, engine, ret_more) : CR_OK;
}

enum cr_status engine_turn(struct cr_call *call, struct service *service, void **state,
                           bool *ret_more)
{
    struct engine *engine = *state;
    if (!engine) {
        engine = calloc(1, sizeof *engine);
        if (!engine)
            abort();
        *state = engine;
        engine->env = call->env;
        engine->service = service;
    }
    enum cr_status status = turn(call, engine, ret_more);
    if (status != CR_OK && engine->holds) {
        /* What was in flight is decided by taking the epoch again, and then all is read afresh. */
        lose_epoch(engine);
        ENGINE_COUNT(rebuilds++);
    }
    return status;
}

void engine_close(void *state)
{
    struct engine *engine = state;
    if (engine->holds) {
        int64_t now_ns = engine->env->now_ns(engine->env->context);
        CR_SCOPED(cr_call_close)
        struct cr_call call = cr_call_open(engine->env, now_ns + LEAVE_NS);
        /* Where it fails, the epoch lapses by itself. */
        (void)!db_exec(&call, engine->service->engine_db, &engine_leave,
                       DB_VALUES(db_text(engine->service->config->region), db_int(engine->epoch)),
                       NULL);
        lose_epoch(engine);
    }
    admission_close(engine->books);
    free(engine->beats);
    free(engine->parked);
    free(engine);
}
