/*
 * engine_sequence: the one writer of events. It takes outbox rows that no running transaction can
 * still come before, in the order of their transactions, and numbers them for the region and for
 * each tenant: so there is no gap, and no reader skips one.
 */
#include "controlplane/service/engine_internal.h"

#include "base/core/id.h"
#include "base/core/time.h"
#include "controlplane/service/engine_sql.h"

#include <string.h>

struct row {
    int64_t n, at_us;
    const char *tenant, *type, *subject, *body;
};
static const struct cr_member row_members[] = {
    CR_MEMBER(struct row, n, 0, 0),       CR_MEMBER(struct row, at_us, 0, 0),
    CR_MEMBER(struct row, tenant, 0, 0),  CR_MEMBER(struct row, type, 0, 0),
    CR_MEMBER(struct row, subject, 0, 0), CR_MEMBER(struct row, body, 0, 0),
};
static const struct cr_shape row_shape = CR_SHAPE(struct row, row_members);

struct pending {
    bool told, ended;
};
static const struct cr_member pending_members[] = {
    CR_MEMBER(struct pending, told, 0, 0),
    CR_MEMBER(struct pending, ended, 0, 0),
};
static const struct cr_shape pending_shape = CR_SHAPE(struct pending, pending_members);

struct given {
    const char *tenant;
    int64_t seq;
};
static const struct cr_member given_members[] = {
    CR_MEMBER(struct given, tenant, 0, 0),
    CR_MEMBER(struct given, seq, 0, 0),
};
static const struct cr_shape given_shape = CR_SHAPE(struct given, given_members);

/* The rows by column, as the statements take them. */
struct columns {
    size_t count;
    int64_t *n, *at_us, *seq, *tenant_seq;
    const char **id, **tenant, **type, **subject;
};

static struct columns columns_of(struct cr_call *call, const struct cr_list *list)
{
    size_t count = list->count;
    struct columns it = {
        .count = count,
        .n = cr_new(call, int64_t, count),
        .at_us = cr_new(call, int64_t, count),
        .seq = cr_new(call, int64_t, count),
        .tenant_seq = cr_new(call, int64_t, count),
        .id = cr_new(call, const char *, count),
        .tenant = cr_new(call, const char *, count),
        .type = cr_new(call, const char *, count),
        .subject = cr_new(call, const char *, count),
    };
    const struct row *rows = list->items;
    for (size_t i = 0; i < count; i++) {
        it.n[i] = rows[i].n;
        it.at_us[i] = rows[i].at_us;
        it.tenant[i] = rows[i].tenant;
        it.type[i] = rows[i].type;
        it.subject[i] = rows[i].subject;
        it.id[i] = cr_id(call, "evt");
    }
    return it;
}

/* How many rows each tenant has, and the region as "": what the counters grow by. */
struct tallies {
    const char **tenant;
    int64_t *rows, *next;
    size_t count;
};

static size_t tally_of(struct tallies *tallies, const char *tenant)
{
    for (size_t i = 0; i < tallies->count; i++)
        if (strcmp(tallies->tenant[i], tenant) == 0)
            return i;
    tallies->tenant[tallies->count] = tenant;
    return tallies->count++;
}

static enum cr_status number(struct cr_call *call, struct engine *engine, struct db *db,
                             struct columns *it)
{
    struct tallies tallies = {
        .tenant = cr_new(call, const char *, it->count + 1),
        .rows = cr_new(call, int64_t, it->count + 1),
        .next = cr_new(call, int64_t, it->count + 1),
    };
    tallies.rows[tally_of(&tallies, "")] = (int64_t)it->count;
    for (size_t i = 0; i < it->count; i++)
        tallies.rows[tally_of(&tallies, it->tenant[i])]++;

    struct cr_list given;
    CR_TRY(db_list(call, db, &engine_seq_take,
                   DB_VALUES(db_text(engine->service->config->region),
                             db_texts(tallies.tenant, tallies.count),
                             db_ints(tallies.rows, tallies.count)),
                   &given_shape, &given));
    const struct given *rows = given.items;
    for (size_t i = 0; i < given.count; i++) {
        size_t at = tally_of(&tallies, rows[i].tenant);
        tallies.next[at] = rows[i].seq - tallies.rows[at];
    }
    for (size_t i = 0; i < it->count; i++) {
        it->seq[i] = ++tallies.next[0];
        it->tenant_seq[i] = ++tallies.next[tally_of(&tallies, it->tenant[i])];
    }
    return CR_OK;
}

/* The state that an event of a job tells of; NULL: it is none of the kind. */
static const char *state_told(const char *type)
{
    if (strcmp(type, "job.preempted") == 0)
        return "queued";
    return strncmp(type, "job.", 4) == 0 ? type + 4 : NULL;
}

static enum cr_status fold(struct cr_call *call, struct db *db, const struct columns *it)
{
    const char **tenants = cr_new(call, const char *, it->count);
    const char **jobs = cr_new(call, const char *, it->count);
    const char **states = cr_new(call, const char *, it->count);
    int64_t *places = cr_new(call, int64_t, it->count);
    size_t count = 0;
    for (size_t i = 0; i < it->count; i++) {
        const char *state = state_told(it->type[i]);
        if (!state)
            continue;
        tenants[count] = it->tenant[i];
        jobs[count] = it->subject[i];
        states[count] = state;
        places[count] = (int64_t)i;
        count++;
    }
    if (count == 0)
        return CR_OK;
    return db_exec(call, db, &engine_count_fold,
                   DB_VALUES(db_texts(tenants, count), db_texts(jobs, count),
                             db_texts(states, count), db_ints(places, count)),
                   NULL);
}

static enum cr_status sequence_work(struct cr_call *call, struct db *db, struct engine_work *work)
{
    struct engine *engine = work->engine;
    struct cr_list list;
    CR_TRY(
        db_list(call, db, &engine_outbox, DB_VALUES(db_int(ENGINE_EVENTS_MAX)), &row_shape, &list));
    struct columns it = columns_of(call, &list);
    *(struct columns *)work->result = it;
    if (it.count == 0)
        return CR_OK;
    CR_TRY(number(call, engine, db, &it));
    CR_TRY(db_exec(call, db, &engine_event_insert,
                   DB_VALUES(db_text(engine->service->config->region), db_ints(it.seq, it.count),
                             db_texts(it.id, it.count), db_texts(it.tenant, it.count),
                             db_ints(it.tenant_seq, it.count), db_texts(it.type, it.count),
                             db_texts(it.subject, it.count), db_ints(it.at_us, it.count),
                             db_ints(it.n, it.count)),
                   NULL));
    CR_TRY(fold(call, db, &it));
    return db_exec(call, db, &engine_outbox_delete, DB_VALUES(db_ints(it.n, it.count)), NULL);
}

/* The jobs that the rows are about, each once, go into the books as they are now. */
static enum cr_status apply(struct cr_call *call, struct engine *engine, const struct columns *it)
{
    const char **jobs = cr_new(call, const char *, it->count);
    size_t count = 0;
    for (size_t i = 0; i < it->count; i++)
        if (state_told(it->type[i]))
            jobs[count++] = it->subject[i];
    CR_TRY(engine_refresh_jobs(call, engine, jobs, count));
    for (size_t i = 0; i < it->count; i++)
        service_wake(call, engine->service, it->tenant[i], it->subject[i]);
    return CR_OK;
}

enum cr_status engine_sequence(struct cr_call *call, struct engine *engine, size_t *ret_count)
{
    struct pending pending;
    bool found;
    *ret_count = 0;
    /* A look without the engine's lock: an idle region then writes nothing. */
    CR_TRY(db_one(call, engine->service->engine_db, &engine_pending, DB_NONE, &pending_shape,
                  &pending, &found));
    if (!pending.told)
        return CR_OK;
    struct columns columns = {0};
    struct engine_work work = {.engine = engine, .run = sequence_work, .result = &columns};
    CR_TRY(engine_transaction(call, 0, &work));
    *ret_count = columns.count;
    if (columns.count == 0)
        return CR_OK;
    ENGINE_COUNT(events += (int64_t)columns.count);
    return apply(call, engine, &columns);
}
