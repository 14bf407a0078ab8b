/*
 * engine_sweep: what time alone brings about. Leases that nobody renews, jobs that wait, start or
 * run for too long, nodes that are silent; and what leases that ended leave behind.
 */
#include "controlplane/service/engine_internal.h"

#include "base/core/time.h"
#include "controlplane/service/engine_sql.h"
#include "controlplane/service/jobs_internal.h"
#include "controlplane/service/jobs_sql.h"

#include <stdlib.h>
#include <string.h>

/* Leases that ended -----------------------------------------------------------------------------
 */

struct ended {
    const char *tenant, *job, *lease, *word, *detail;
    int64_t lease_epoch;
    bool live;
};
static const struct cr_member ended_members[] = {
    CR_MEMBER(struct ended, tenant, 0, 0), CR_MEMBER(struct ended, job, 0, 0),
    CR_MEMBER(struct ended, lease, 0, 0),  CR_MEMBER(struct ended, word, 0, 0),
    CR_MEMBER(struct ended, detail, 0, 0), CR_MEMBER(struct ended, lease_epoch, 0, 0),
    CR_MEMBER(struct ended, live, 0, 0),
};
static const struct cr_shape ended_shape = CR_SHAPE(struct ended, ended_members);

/* The lease gives its devices back; its job, where it still lives under it, moves on. */
static enum cr_status settle_work(struct cr_call *call, struct db *db, struct engine_work *work)
{
    const struct ended *ended = work->of;
    CR_TRY(db_exec(call, db, &engine_settle, DB_VALUES(db_texts(&ended->lease, 1)), NULL));
    if (!ended->live)
        return CR_OK;
    struct jobs_loss loss = {.tenant = ended->tenant,
                             .job = ended->job,
                             .lease_epoch = ended->lease_epoch,
                             .word = ended->word ? ended->word : "node_lost",
                             .detail = ended->detail};
    const char *state;
    return jobs_lose(call, db, work->engine->service->config, &loss, &state);
}

enum cr_status engine_settle_ended(struct cr_call *call, struct engine *engine, size_t *ret_count)
{
    struct cr_list list;
    CR_TRY(db_list(call, engine->service->engine_db, &engine_ended, DB_NONE, &ended_shape, &list));
    const struct ended *rows = list.items;
    const char **jobs = cr_new(call, const char *, list.count);
    size_t count = 0;
    for (size_t i = 0; i < list.count; i++) {
        struct engine_work work = {.engine = engine, .run = settle_work, .of = &rows[i]};
        enum cr_status status = engine_transaction(call, 0, &work);
        if (status != CR_OK && !engine_goes_on(call, engine))
            return status;
        if (status != CR_OK)
            continue;
        admission_release(engine->books, rows[i].job);
        jobs[count++] = rows[i].job;
    }
    *ret_count = count;
    return engine_refresh_jobs(call, engine, jobs, count);
}

/* Leases that nobody renews ---------------------------------------------------------------------
 */

struct beat_row {
    const char *tenant, *job, *lease, *node;
    int64_t lease_epoch, beat;
    bool late;
};
static const struct cr_member beat_members[] = {
    CR_MEMBER(struct beat_row, tenant, 0, 0), CR_MEMBER(struct beat_row, job, 0, 0),
    CR_MEMBER(struct beat_row, lease, 0, 0),  CR_MEMBER(struct beat_row, node, 0, 0),
    CR_MEMBER(struct beat_row, beat, 0, 0),   CR_MEMBER(struct beat_row, lease_epoch, 0, 0),
    CR_MEMBER(struct beat_row, late, 0, 0),
};
static const struct cr_shape beat_shape = CR_SHAPE(struct beat_row, beat_members);

void engine_forget_beats(struct engine *engine)
{
    free(engine->beats);
    engine->beats = NULL;
    engine->beat_count = 0;
}

/* The beats as they are now; of those that have not changed, since when. Both lists are sorted. */
static void see_beats(struct engine *engine, const struct beat_row *rows, size_t count,
                      int64_t now_ns)
{
    struct engine_beat *beats = calloc(count + 1, sizeof *beats);
    if (!beats)
        abort();
    for (size_t i = 0, old = 0; i < count; i++) {
        while (old < engine->beat_count && strcmp(engine->beats[old].lease, rows[i].lease) < 0)
            old++;
        bool same = old < engine->beat_count &&
                    strcmp(engine->beats[old].lease, rows[i].lease) == 0 &&
                    engine->beats[old].beat == rows[i].beat;
        beats[i].beat = rows[i].beat;
        beats[i].seen_ns = same ? engine->beats[old].seen_ns : now_ns;
        snprintf(beats[i].lease, sizeof beats[i].lease, "%s", rows[i].lease);
    }
    free(engine->beats);
    engine->beats = beats;
    engine->beat_count = count;
}

/* The UPDATE names the beat that was seen, so that a renewal in between wins. */
static enum cr_status expire_work(struct cr_call *call, struct db *db, struct engine_work *work)
{
    const struct beat_row *row = work->of;
    int64_t expired;
    CR_TRY(db_exec(call, db, &engine_expire,
                   DB_VALUES(db_text(row->tenant), db_text(row->lease), db_int(row->beat)),
                   &expired));
    *(bool *)work->result = expired == 1;
    if (expired != 1)
        return CR_OK;
    struct service_mutation mutation = {
        .tenant = row->tenant, .action = "lease.expired", .object = row->lease};
    return service_audit(call, db, &service_by_engine, &mutation, NULL);
}

/* A lease is over when both clocks say so: the database's, and this engine's since the last beat.
 */
static enum cr_status expire(struct cr_call *call, struct engine *engine)
{
    struct cr_list list;
    CR_TRY(db_list(call, engine->service->engine_db, &engine_beats, DB_NONE, &beat_shape, &list));
    const struct beat_row *rows = list.items;
    int64_t now_ns = cr_now_ns(call);
    see_beats(engine, rows, list.count, now_ns);
    for (size_t i = 0; i < list.count; i++) {
        if (!rows[i].late || now_ns - engine->beats[i].seen_ns < ENGINE_LEASE_TTL_NS)
            continue;
        bool expired = false;
        struct engine_work work = {
            .engine = engine, .run = expire_work, .of = &rows[i], .result = &expired};
        enum cr_status status = engine_transaction(call, 0, &work);
        if (status != CR_OK && !engine_goes_on(call, engine))
            return status;
        if (status == CR_OK && expired)
            ENGINE_COUNT(expired++);
    }
    return CR_OK;
}

/* The database's clock was set: every live lease gets a whole LEASE_TTL, before anything expires.
 */
static enum cr_status clock_work(struct cr_call *call, struct db *db, struct engine_work *work)
{
    (void)work;
    return db_exec(call, db, &engine_clock_stepped, DB_VALUES(db_int(ENGINE_LEASE_TTL_NS / 1000)),
                   NULL);
}

struct clock_row {
    int64_t now_us;
};
static const struct cr_member clock_members[] = {CR_MEMBER(struct clock_row, now_us, 0, 0)};
static const struct cr_shape clock_shape = CR_SHAPE(struct clock_row, clock_members);

static enum cr_status look_at_clock(struct cr_call *call, struct engine *engine)
{
    struct clock_row row;
    bool found;
    CR_TRY(db_one(call, engine->service->engine_db, &engine_clock, DB_NONE, &clock_shape, &row,
                  &found));
    int64_t now_ns = cr_now_ns(call);
    int64_t drift_ns = (row.now_us - engine->clock_us) * 1000 - (now_ns - engine->clock_ns);
    bool stepped = engine->clock_us && (drift_ns > ENGINE_CLOCK_NS || drift_ns < -ENGINE_CLOCK_NS);
    engine->clock_us = row.now_us;
    engine->clock_ns = now_ns;
    if (!stepped)
        return CR_OK;
    struct engine_work work = {.engine = engine, .run = clock_work};
    return engine_transaction(call, 0, &work);
}

/* Jobs that wait, start or run for too long -----------------------------------------------------
 */

struct overdue {
    const char *tenant, *job, *state, *what;
    int64_t lease_epoch, stop_grace_s;
};
static const struct cr_member overdue_members[] = {
    CR_MEMBER(struct overdue, tenant, 0, 0),      CR_MEMBER(struct overdue, job, 0, 0),
    CR_MEMBER(struct overdue, state, 0, 0),       CR_MEMBER(struct overdue, what, 0, 0),
    CR_MEMBER(struct overdue, lease_epoch, 0, 0), CR_MEMBER(struct overdue, stop_grace_s, 0, 0),
};
static const struct cr_shape overdue_shape = CR_SHAPE(struct overdue, overdue_members);

static enum cr_status end_in_queue(struct cr_call *call, struct db *db,
                                   const struct service_config *config, const struct overdue *row)
{
    struct jobs_end end = {
        .tenant = row->tenant,
        .job = row->job,
        .from = {"queued"},
        .lease_epoch = row->lease_epoch,
        .terminal = "expired",
        .code = "QUEUE_TTL",
        .reason = "it waited longer than its queue_ttl_s",
        .ended = CR_NO_INTEGER,
    };
    return jobs_write_end(call, db, config, &end);
}

static enum cr_status stop_at_deadline(struct cr_call *call, struct db *db,
                                       const struct overdue *row)
{
    int64_t stopped;
    CR_TRY(
        db_exec(call, db, &jobs_stop,
                DB_VALUES(db_text(row->tenant), db_text(row->job), db_text(row->state),
                          db_int(row->lease_epoch), db_text("deadline"), db_int(row->stop_grace_s)),
                &stopped));
    if (stopped != 1)
        return cr_fail_as(call, &cr_code_state_forbids, "job %s has moved on", row->job);
    return db_exec(call, db, &jobs_revoke,
                   DB_VALUES(db_text(row->tenant), db_text(row->job), db_int(row->lease_epoch),
                             db_text("deadline"), db_int(row->stop_grace_s)),
                   NULL);
}

static enum cr_status overdue_work(struct cr_call *call, struct db *db, struct engine_work *work)
{
    const struct overdue *row = work->of;
    const char *action = "job.deadline";
    bool unstarted = strcmp(row->what, "start") == 0;
    if (strcmp(row->what, "queue") == 0) {
        action = "job.expired";
        CR_TRY(end_in_queue(call, db, work->engine->service->config, row));
    } else if (unstarted) {
        action = "lease.revoked";
        CR_TRY(db_exec(call, db, &engine_revoke_unstarted,
                       DB_VALUES(db_text(row->tenant), db_text(row->job), db_int(row->lease_epoch)),
                       NULL));
    } else {
        CR_TRY(stop_at_deadline(call, db, row));
    }
    struct service_mutation mutation = {
        .tenant = row->tenant, .action = action, .object = row->job};
    CR_TRY(service_audit(call, db, &service_by_engine, &mutation, NULL));
    if (unstarted)
        return CR_OK; /* what the lease leaves behind is settled, and told, in the next turn */
    return jobs_tell(call, db, work->engine->service->config, row->tenant, row->job, NULL);
}

static enum cr_status end_overdue(struct cr_call *call, struct engine *engine)
{
    struct cr_list list;
    CR_TRY(db_list(call, engine->service->engine_db, &engine_overdue,
                   DB_VALUES(db_int(ENGINE_START_MAX_US)), &overdue_shape, &list));
    const struct overdue *rows = list.items;
    for (size_t i = 0; i < list.count; i++) {
        struct engine_work work = {.engine = engine, .run = overdue_work, .of = &rows[i]};
        enum cr_status status = engine_transaction(call, 0, &work);
        if (status != CR_OK && !engine_goes_on(call, engine))
            return status;
    }
    return CR_OK;
}

/* Nodes that are silent -------------------------------------------------------------------------
 */

static enum cr_status nodes_work(struct cr_call *call, struct db *db, struct engine_work *work)
{
    const char *region = work->engine->service->config->region;
    CR_TRY(db_exec(call, db, &engine_nodes_suspect,
                   DB_VALUES(db_text(region), db_int(ENGINE_LEASE_TTL_NS / 1000)), NULL));
    CR_TRY(db_exec(call, db, &engine_nodes_lost, DB_VALUES(db_text(region), db_int(ENGINE_LOST_US)),
                   NULL));
    return db_exec(call, db, &engine_devices_back, DB_VALUES(db_text(region)), NULL);
}

enum cr_status engine_sweep(struct cr_call *call, struct engine *engine)
{
    if (cr_now_ns(call) - engine->swept_ns < ENGINE_SWEEP_NS)
        return CR_OK;
    engine->swept_ns = cr_now_ns(call);
    CR_TRY(look_at_clock(call, engine));
    CR_TRY(expire(call, engine));
    CR_TRY(end_overdue(call, engine));
    struct engine_work nodes = {.engine = engine, .run = nodes_work};
    CR_TRY(engine_transaction(call, DB_LOCAL, &nodes));
    return engine_refresh_fleet(call, engine);
}
