/*
 * engine_grant: decisions become leases. A batch is one transaction that claims its number first,
 * so that after an unknown commit the same batch, run again, finds that it was done. A job that was
 * cancelled meanwhile falls out of it; a device that is taken already means that memory and tables
 * differ, and then all is read again.
 */
#include "controlplane/service/engine_internal.h"

#include "base/core/id.h"
#include "base/core/text.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"
#include "controlplane/service/engine_sql.h"
#include "controlplane/service/jobs_internal.h"
#include "controlplane/service/ledger.h"

#include <string.h>

struct batch {
    const struct admission_grant *grants;
    size_t count;
    int64_t no;
    const char **leases; /* fresh ids, one a grant */
    const char **flavors;
    const char *decisions; /* text of all, a line each */
};

/* What a run of the transaction found; accepted[i] tells of grants[i]. */
struct outcome {
    bool *accepted;
    size_t accepted_count;
};

struct job_row {
    const char *job;
};
static const struct cr_member job_row_members[] = {CR_MEMBER(struct job_row, job, 0, 0)};
static const struct cr_shape job_row_shape = CR_SHAPE(struct job_row, job_row_members);

struct number_row {
    int64_t taken;
};
static const struct cr_member number_members[] = {CR_MEMBER(struct number_row, taken, 0, 0)};
static const struct cr_shape number_shape = CR_SHAPE(struct number_row, number_members);

struct bitmap_row {
    struct cr_bytes accepted;
};
static const struct cr_member bitmap_members[] = {CR_BYTES(struct bitmap_row, accepted, 0, 4096)};
static const struct cr_shape bitmap_shape = CR_SHAPE(struct bitmap_row, bitmap_members);

static const char *joined(struct cr_call *call, const struct admission_grant *grant)
{
    struct cr_text text = cr_text_open(call);
    for (size_t i = 0; i < grant->device_count; i++) {
        cr_text_add(&text, i ? "," : "");
        cr_text_add(&text, grant->devices[i]);
    }
    return text.data;
}

static struct batch batch_of(struct cr_call *call, struct engine *engine,
                             const struct admission_grant *grants, size_t count)
{
    struct batch batch = {
        .grants = grants,
        .count = count,
        .no = ++engine->batch_no,
        .leases = cr_new(call, const char *, count),
        .flavors = cr_new(call, const char *, count),
    };
    struct cr_text text = cr_text_open(call);
    for (size_t i = 0; i < count; i++) {
        batch.leases[i] = cr_id(call, "lse");
        batch.flavors[i] = JOBS_FLAVOR_CPU;
        cr_text_add_format(&text, "%s %lld %s %s\n", grants[i].job,
                           (long long)grants[i].lease_epoch, grants[i].node,
                           joined(call, &grants[i]));
    }
    batch.decisions = text.data;
    return batch;
}

/* The transaction -------------------------------------------------------------------------------
 */

static enum cr_status claim(struct cr_call *call, struct db *db, struct engine *engine,
                            const struct batch *batch, bool *ret_fresh)
{
    unsigned char sha256[BASE_CRYPTO_SHA256_SIZE];
    size_t size = strlen(batch->decisions);
    base_crypto_sha256(batch->decisions, size, sha256);
    int64_t claimed;
    CR_TRY(
        db_exec(call, db, &engine_batch_claim,
                DB_VALUES(db_int(engine->epoch), db_int(batch->no), db_int((int64_t)batch->count),
                          db_bytes(batch->decisions, size), db_bytes(sha256, sizeof sha256)),
                &claimed));
    *ret_fresh = claimed == 1;
    return CR_OK;
}

/* The batch was committed by an earlier run: its bitmap says what came of it. */
static enum cr_status read_back(struct cr_call *call, struct db *db, struct engine *engine,
                                const struct batch *batch, struct outcome *outcome)
{
    struct bitmap_row row;
    bool found;
    CR_TRY(db_one(call, db, &engine_batch_read, DB_VALUES(db_int(engine->epoch), db_int(batch->no)),
                  &bitmap_shape, &row, &found));
    if (!found || row.accepted.size * 8 < batch->count)
        return cr_fail(call, CR_INTERNAL, "batch %lld was claimed and not finished",
                       (long long)batch->no);
    outcome->accepted_count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        outcome->accepted[i] = row.accepted.data[i / 8] >> (i % 8) & 1;
        outcome->accepted_count += outcome->accepted[i];
    }
    return CR_OK;
}

static enum cr_status grant_jobs(struct cr_call *call, struct db *db, const struct batch *batch,
                                 struct outcome *outcome)
{
    const char **tenants = cr_new(call, const char *, batch->count);
    const char **jobs = cr_new(call, const char *, batch->count);
    int64_t *epochs = cr_new(call, int64_t, batch->count);
    for (size_t i = 0; i < batch->count; i++) {
        tenants[i] = batch->grants[i].tenant;
        jobs[i] = batch->grants[i].job;
        epochs[i] = batch->grants[i].lease_epoch;
    }
    struct cr_list granted;
    CR_TRY(db_list(call, db, &engine_job_grant,
                   DB_VALUES(db_texts(tenants, batch->count), db_texts(jobs, batch->count),
                             db_ints(epochs, batch->count), db_int(batch->no)),
                   &job_row_shape, &granted));
    const struct job_row *rows = granted.items;
    outcome->accepted_count = granted.count;
    memset(outcome->accepted, 0, batch->count * sizeof *outcome->accepted);
    for (size_t r = 0; r < granted.count; r++)
        for (size_t i = 0; i < batch->count; i++)
            if (strcmp(rows[r].job, jobs[i]) == 0)
                outcome->accepted[i] = true;
    return CR_OK;
}

/* The accepted grants by column, and their devices by column. */
struct columns {
    size_t count, device_count;
    const char **tenant, **job, **lease, **node, **devices, **flavor;
    int64_t *epoch, *node_epoch;
    const char **device, **device_lease, **device_job, **device_tenant;
    int64_t *device_epoch;
};

static struct columns columns_of(struct cr_call *call, const struct batch *batch,
                                 const struct outcome *outcome)
{
    size_t most = 0, count = batch->count;
    for (size_t i = 0; i < count; i++)
        most += batch->grants[i].device_count;
    struct columns it = {
        .tenant = cr_new(call, const char *, count),
        .job = cr_new(call, const char *, count),
        .lease = cr_new(call, const char *, count),
        .node = cr_new(call, const char *, count),
        .devices = cr_new(call, const char *, count),
        .flavor = cr_new(call, const char *, count),
        .epoch = cr_new(call, int64_t, count),
        .node_epoch = cr_new(call, int64_t, count),
        .device = cr_new(call, const char *, most),
        .device_lease = cr_new(call, const char *, most),
        .device_job = cr_new(call, const char *, most),
        .device_tenant = cr_new(call, const char *, most),
        .device_epoch = cr_new(call, int64_t, most),
    };
    for (size_t i = 0; i < count; i++) {
        const struct admission_grant *grant = &batch->grants[i];
        if (!outcome->accepted[i])
            continue;
        size_t at = it.count++;
        it.tenant[at] = grant->tenant;
        it.job[at] = grant->job;
        it.lease[at] = batch->leases[i];
        it.node[at] = grant->node;
        it.devices[at] = joined(call, grant);
        it.flavor[at] = batch->flavors[i];
        it.epoch[at] = grant->lease_epoch;
        it.node_epoch[at] = grant->node_epoch;
        for (size_t d = 0; d < grant->device_count; d++) {
            size_t to = it.device_count++;
            it.device[to] = grant->devices[d];
            it.device_lease[to] = batch->leases[i];
            it.device_job[to] = grant->job;
            it.device_tenant[to] = grant->tenant;
            it.device_epoch[to] = grant->lease_epoch;
        }
    }
    return it;
}

static enum cr_status take_devices(struct cr_call *call, struct db *db, const struct columns *it)
{
    struct number_row row;
    bool found;
    CR_TRY(db_one(call, db, &engine_device_take,
                  DB_VALUES(db_texts(it->device, it->device_count),
                            db_texts(it->device_lease, it->device_count),
                            db_texts(it->device_job, it->device_count),
                            db_ints(it->device_epoch, it->device_count)),
                  &number_shape, &row, &found));
    if (row.taken != (int64_t)it->device_count)
        return cr_fail(call, CR_CONFLICT,
                       "%lld of %zu devices could be taken: memory and tables "
                       "differ",
                       (long long)row.taken, it->device_count);
    return db_exec(call, db, &engine_card_hold,
                   DB_VALUES(db_texts(it->device, it->device_count),
                             db_texts(it->device_tenant, it->device_count)),
                   NULL);
}

static enum cr_status insert_leases(struct cr_call *call, struct db *db, const struct columns *it)
{
    size_t count = it->count;
    return db_exec(call, db, &engine_lease_insert,
                   DB_VALUES(db_texts(it->tenant, count), db_texts(it->job, count),
                             db_ints(it->epoch, count), db_texts(it->lease, count),
                             db_texts(it->node, count), db_ints(it->node_epoch, count),
                             db_texts(it->devices, count), db_texts(it->flavor, count),
                             db_int(ENGINE_LEASE_TTL_NS / 1000)),
                   NULL);
}

/* With a new lease ends the chance of a late completion: earlier epochs get their records now. */
static enum cr_status settle_earlier(struct cr_call *call, struct db *db,
                                     const struct engine *engine, const struct columns *it)
{
    struct ledger_sum used;
    for (size_t i = 0; i < it->count; i++)
        if (it->epoch[i] > 1)
            CR_TRY(
                ledger_settle(call, db, engine->service->config, it->tenant[i], it->job[i], &used));
    return CR_OK;
}

/* Tells of each job, by what it looks like now; the jobs of a tenant are read at once. */
static enum cr_status tell(struct cr_call *call, struct db *db, struct engine *engine,
                           const struct columns *it)
{
    const char **tenants = cr_new(call, const char *, it->count);
    const char **types = cr_new(call, const char *, it->count);
    const char **subjects = cr_new(call, const char *, it->count);
    const char **bodies = cr_new(call, const char *, it->count);
    bool *done = cr_new(call, bool, it->count);
    size_t told = 0;
    for (size_t i = 0; i < it->count; i++) {
        if (done[i])
            continue;
        const char **jobs = cr_new(call, const char *, it->count);
        size_t count = 0;
        for (size_t n = i; n < it->count; n++)
            if (strcmp(it->tenant[n], it->tenant[i]) == 0) {
                jobs[count++] = it->job[n];
                done[n] = true;
            }
        struct cr_list read;
        CR_TRY(
            jobs_read_many(call, db, engine->service->config, it->tenant[i], jobs, count, &read));
        const struct job *items = read.items;
        for (size_t n = 0; n < read.count; n++, told++) {
            tenants[told] = it->tenant[i];
            types[told] = "job.placing";
            subjects[told] = items[n].job;
            bodies[told] = json_write(call, &job_shape, &items[n]);
        }
    }
    return db_exec(call, db, &engine_outbox_insert,
                   DB_VALUES(db_texts(tenants, told), db_texts(types, told),
                             db_texts(subjects, told), db_texts(bodies, told)),
                   NULL);
}

static enum cr_status finish(struct cr_call *call, struct db *db, struct engine *engine,
                             const struct batch *batch, const struct outcome *outcome)
{
    unsigned char *bits = cr_new(call, unsigned char, batch->count / 8 + 1);
    for (size_t i = 0; i < batch->count; i++)
        if (outcome->accepted[i])
            bits[i / 8] |= (unsigned char)(1 << (i % 8));
    return db_exec_fenced(
        call, db, &engine_batch_finish,
        DB_VALUES(db_int(engine->epoch), db_int(batch->no), db_bytes(bits, batch->count / 8 + 1)),
        "the batch that was claimed is gone");
}

static enum cr_status batch_work(struct cr_call *call, struct db *db, struct engine_work *work)
{
    struct engine *engine = work->engine;
    const struct batch *batch = work->of;
    struct outcome *outcome = work->result;
    bool fresh;
    CR_TRY(claim(call, db, engine, batch, &fresh));
    if (!fresh)
        return read_back(call, db, engine, batch, outcome);

    CR_TRY(grant_jobs(call, db, batch, outcome));
    if (outcome->accepted_count) {
        struct columns it = columns_of(call, batch, outcome);
        CR_TRY(settle_earlier(call, db, engine, &it));
        CR_TRY(take_devices(call, db, &it));
        CR_TRY(insert_leases(call, db, &it));
        CR_TRY(tell(call, db, engine, &it));
        struct service_mutation mutation = {
            .action = "engine.granted",
            .object =
                cr_format(call, "batch %lld/%lld", (long long)engine->epoch, (long long)batch->no),
            .after = batch->decisions};
        CR_TRY(service_audit(call, db, &service_by_engine, &mutation, NULL));
    }
    return finish(call, db, engine, batch, outcome);
}

/* Memory follows what was committed. */
static void take_in(struct cr_call *call, struct engine *engine, const struct batch *batch,
                    const struct outcome *outcome)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct admission_grant *grant = &batch->grants[i];
        if (!outcome->accepted[i]) {
            admission_undo(engine->books, grant);
            continue;
        }
        service_wake(call, engine->service, NULL, grant->node);
        service_wake(call, engine->service, grant->tenant, grant->job);
    }
    ENGINE_COUNT(batches++);
    ENGINE_COUNT(granted += (int64_t)outcome->accepted_count);
    ENGINE_COUNT(fell_out += (int64_t)(batch->count - outcome->accepted_count));
}

enum cr_status engine_grant(struct cr_call *call, struct engine *engine, size_t *ret_count)
{
    struct admission_grant *grants;
    size_t count;
    int64_t began_ns = cr_now_ns(call);
    CR_TRY(
        admission_round(call, engine->books, cr_utc_us(call), ENGINE_BATCH_MAX, &grants, &count));
    int64_t decided_ns = cr_now_ns(call);
    *ret_count = count;
    if (count == 0)
        return CR_OK;

    struct batch batch = batch_of(call, engine, grants, count);
    struct outcome outcome = {.accepted = cr_new(call, bool, count)};
    struct engine_work work = {
        .engine = engine, .run = batch_work, .of = &batch, .result = &outcome};
    CR_TRY(engine_transaction(call, DB_REPEATABLE, &work));
    take_in(call, engine, &batch, &outcome);
    ENGINE_COUNT(round_ns_last = decided_ns - began_ns);
    ENGINE_COUNT(batch_ns_last = cr_now_ns(call) - decided_ns);
    return CR_OK;
}
