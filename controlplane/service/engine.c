/* engine: the thread, its epoch, and the order in which it works. */
#include "controlplane/service/engine_internal.h"

#include "base/core/time.h"
#include "controlplane/service/engine_sql.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NUDGES_MAX     1                     /* one is as good as many */
#define TICK_NS        (30 * CR_NS_A_SECOND) /* deadline of one turn of the loop */
#define PAUSE_NS       CR_NS_A_SECOND        /* after a turn that failed */
#define KEEP_NS        (60 * CR_NS_A_SECOND) /* between two looks at what is old */
#define KEEP_KEYS_US   (7 * CR_US_A_DAY)
#define KEEP_EVENTS_US (14 * CR_US_A_DAY)

_Static_assert(ENGINE_RENEW_NS < ENGINE_QUIET_NS && ENGINE_QUIET_NS < ENGINE_TTL_NS,
               "a holder falls silent before another may take over");

struct engine *engine_open(const struct cr_env *env, const struct engine_config *config)
{
    struct engine *engine = calloc(1, sizeof *engine);
    if (!engine)
        abort();
    engine->env = *env;
    engine->config = *config;
    engine->service = (struct service){.config = config->service, .bus = config->bus};
    engine->nudges = cr_mailbox_open(NUDGES_MAX);
    pthread_mutex_init(&engine->lock, NULL);
    return engine;
}

void engine_close(struct engine *engine)
{
    db_close(&engine->env, engine->service.db);
    admission_close(engine->books);
    cr_mailbox_close(&engine->nudges);
    pthread_mutex_destroy(&engine->lock);
    free(engine->beats);
    free(engine);
}

void engine_nudge(struct engine *engine)
{
    static char nudge;
    (void)cr_mailbox_put(engine->nudges, &nudge); /* full: one is waiting already */
}

void engine_stop(struct engine *engine)
{
    atomic_store(&engine->stopping, true);
    engine_nudge(engine);
}

struct engine_gauges engine_read(struct engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    struct engine_gauges gauges = engine->gauges;
    pthread_mutex_unlock(&engine->lock);
    return gauges;
}

static void say(struct engine *engine, const char *level, const char *what, const char *reason)
{
    if (engine->config.said)
        engine->config.said(engine->config.context, level, what, reason);
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

enum cr_status engine_hold_epoch(struct cr_call *call, struct engine *engine, struct db *db)
{
    return db_exec_fenced(call, db, &engine_hold,
                          DB_VALUES(db_text(engine->config.service->region), db_int(engine->epoch)),
                          "another process holds the engine's epoch");
}

static enum cr_status hold_and_run(struct cr_call *call, struct db *db, void *context)
{
    struct engine_work *work = context;
    CR_TRY(engine_hold_epoch(call, work->engine, db));
    return work->run(call, db, work);
}

enum cr_status engine_transaction(struct cr_call *call, unsigned flags, struct engine_work *work)
{
    return db_transaction(call, work->engine->service.db, NULL, flags, hold_and_run, work);
}

/*
 * Takes the epoch where its holder has lapsed; also one's own again, one higher: the row's lock is
 * given only when every transaction that holds it by engine_hold has ended, so what was in flight
 * is decided then.
 */
static enum cr_status take(struct cr_call *call, struct engine *engine, bool *ret_taken)
{
    struct taken taken;
    const char *region = engine->config.service->region;
    int64_t sent_ns = cr_now_ns(call);
    CR_TRY(db_exec(call, engine->service.db, &engine_row, DB_VALUES(db_text(region)), NULL));
    CR_TRY(db_one(call, engine->service.db, &engine_take,
                  DB_VALUES(db_text(region), db_text(engine->config.service->holder),
                            db_text(engine->config.holder_url), db_int(engine->epoch),
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
    atomic_store(&engine->shared_epoch, 0);
    ENGINE_COUNT(engine, holds = false);
}

static enum cr_status take_over(struct cr_call *call, struct engine *engine)
{
    bool taken;
    CR_TRY(take(call, engine, &taken));
    if (!taken)
        return CR_OK;
    CR_TRY(engine_load(call, engine));
    engine_forget_beats(engine);
    engine->clock_us = 0;
    engine->holds = true;
    atomic_store(&engine->shared_epoch, engine->epoch);
    pthread_mutex_lock(&engine->lock);
    engine->gauges.holds = true;
    engine->gauges.epoch = engine->epoch;
    engine->gauges.since = engine->since;
    engine->gauges.takeovers++;
    pthread_mutex_unlock(&engine->lock);
    say(engine, "info", "engine_taken", cr_format(call, "epoch %lld", (long long)engine->epoch));
    return CR_OK;
}

static enum cr_status renew(struct cr_call *call, struct engine *engine)
{
    int64_t sent_ns = cr_now_ns(call);
    if (sent_ns - engine->renewed_ns < ENGINE_RENEW_NS)
        return CR_OK;
    CR_TRY(db_exec_fenced(call, engine->service.db, &engine_renew,
                          DB_VALUES(db_text(engine->config.service->region), db_int(engine->epoch),
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
    struct db *db = engine->service.db;
    CR_TRY(db_exec(call, db, &engine_forget_keys, DB_VALUES(db_int(KEEP_KEYS_US)), NULL));
    CR_TRY(db_exec(call, db, &engine_forget_events, DB_VALUES(db_int(KEEP_EVENTS_US)), NULL));
    CR_TRY(db_exec(call, db, &engine_forget_batches, DB_VALUES(db_int(KEEP_KEYS_US)), NULL));
    return db_exec(call, db, &engine_forget_sessions, DB_NONE, NULL);
}

static void show(struct engine *engine)
{
    struct admission_gauges read = admission_read(engine->books);
    pthread_mutex_lock(&engine->lock);
    engine->gauges.waiting = read.waiting;
    engine->gauges.devices = read.devices;
    engine->gauges.held = read.held;
    engine->gauges.classes = read.classes;
    pthread_mutex_unlock(&engine->lock);
}

/* ret_busy: there was work, and so there may be more. */
static enum cr_status work(struct cr_call *call, struct engine *engine, bool *ret_busy)
{
    size_t events, ended, granted = 0;
    CR_TRY(renew(call, engine));
    CR_TRY(engine_sequence(call, engine, &events));
    CR_TRY(engine_settle_ended(call, engine, &ended));
    CR_TRY(engine_sweep(call, engine));
    if (cr_now_ns(call) - engine->renewed_ns < ENGINE_QUIET_NS)
        CR_TRY(engine_grant(call, engine, &granted));
    CR_TRY(keep(call, engine));
    show(engine);
    *ret_busy = events + ended + granted > 0;
    return CR_OK;
}

static enum cr_status connect(struct cr_call *call, struct engine *engine)
{
    if (engine->service.db)
        return CR_OK;
    CR_TRY(db_open(call, &engine->config.database, &engine->service.db));
    engine->service.engine_db = engine->service.db;
    return db_prepare(call, engine->service.db, engine_statements);
}

static enum cr_status turn(struct cr_call *call, struct engine *engine, bool *ret_busy)
{
    *ret_busy = false;
    CR_TRY(connect(call, engine));
    if (!engine->holds)
        CR_TRY(take_over(call, engine));
    return engine->holds ? work(call, engine, ret_busy) : CR_OK;
}

/* What failed is looked at afresh: the epoch is taken again, and the tables are read again. */
static void recover(struct cr_call *call, struct engine *engine)
{
    say(engine, "warning", "engine_failed", call->reason);
    if (engine->service.db)
        db_rollback(call, engine->service.db);
    if (engine->holds)
        ENGINE_COUNT(engine, rebuilds++);
    lose_epoch(engine);
}

void engine_run(struct engine *engine)
{
    while (!atomic_load(&engine->stopping)) {
        int64_t now_ns = engine->env.now_ns(engine->env.context);
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&engine->env, now_ns + TICK_NS);
        bool busy;
        int64_t wait_ns = ENGINE_IDLE_NS;
        if (turn(&call, engine, &busy) != CR_OK) {
            recover(&call, engine);
            wait_ns = PAUSE_NS;
        } else if (busy) {
            wait_ns = 0;
        }
        (void)cr_mailbox_take(engine->nudges, wait_ns);
    }
    /* Leaving in good order, so that another need not wait for the TTL. */
    if (engine->holds) {
        int64_t now_ns = engine->env.now_ns(engine->env.context);
        CR_SCOPED(cr_call_close)
        struct cr_call call = cr_call_open(&engine->env, now_ns + CR_NS_A_SECOND);
        (void)!db_exec(&call, engine->service.db, &engine_leave,
                       DB_VALUES(db_text(engine->config.service->region), db_int(engine->epoch)),
                       NULL);
        lose_epoch(engine);
    }
}
