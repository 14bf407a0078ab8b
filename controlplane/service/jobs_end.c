/* jobs_end: how a job is stopped, and how it ends. */
#include "controlplane/service/jobs_internal.h"

#include "base/json/json.h"
#include "controlplane/service/jobs_sql.h"
#include "controlplane/service/ledger.h"

#include <string.h>

#define CANCEL_GRACE_S 5 /* compute.md section 5 */

/* The end ---------------------------------------------------------------------------------------
 */

struct ended {
    int64_t attempt, version;
};
static const struct cr_member ended_members[] = {
    CR_MEMBER(struct ended, attempt, 0, 0),
    CR_MEMBER(struct ended, version, 0, 0),
};
static const struct cr_shape ended_shape = CR_SHAPE(struct ended, ended_members);

enum cr_status jobs_write_end(struct cr_call *call, struct db *db,
                              const struct service_config *config, const struct jobs_end *end)
{
    size_t from = 0;
    while (end->from[from])
        from++;
    struct ended ended;
    bool found;
    CR_TRY(db_one(call, db, &jobs_end_live,
                  DB_VALUES(db_text(end->tenant), db_text(end->job), db_int(end->lease_epoch),
                            db_texts(end->from, from)),
                  &ended_shape, &ended, &found));
    if (!found)
        return cr_fail_as(call, &cr_code_state_forbids,
                          "job %s has moved on since it was looked at", end->job);
    struct ledger_sum used;
    CR_TRY(ledger_settle(call, db, config, end->tenant, end->job, &used));
    return db_exec_fenced(call, db, &jobs_end_job,
                          DB_VALUES(db_text(end->tenant), db_text(end->job), db_text(end->terminal),
                                    db_text(end->code), db_text(end->reason), db_int(end->ended),
                                    db_int(end->lease_epoch), db_int(ended.attempt),
                                    db_text(end->outputs), db_text(end->metrics),
                                    db_bytes(end->result_sha256.data, end->result_sha256.size),
                                    db_text(used.record), db_int(used.device_ns),
                                    db_text(used.amount_zepto), db_int(ended.version + 1)),
                          "the job has ended already");
}

/* Cancel ----------------------------------------------------------------------------------------
 */

struct live {
    const char *state, *stop_cause;
    int64_t lease_epoch;
};
static const struct cr_member live_members[] = {
    CR_MEMBER(struct live, state, 0, 0),
    CR_MEMBER(struct live, stop_cause, 0, 0),
    CR_MEMBER(struct live, lease_epoch, 0, 0),
};
static const struct cr_shape live_shape = CR_SHAPE(struct live, live_members);

static enum cr_status cancel_queued(struct cr_call *call, struct db *db,
                                    const struct service_config *config, const char *tenant,
                                    const char *job, const struct live *live, bool operator)
{
    struct jobs_end end = {
        .tenant = tenant,
        .job = job,
        .from = {"queued"},
        .lease_epoch = live->lease_epoch,
        .terminal = "cancelled",
        .code = operator? "CANCELLED_BY_OPERATOR" : "CANCELLED",
        .reason = "cancelled while it was queued",
        .ended = CR_NO_INTEGER,
    };
    return jobs_write_end(call, db, config, &end);
}

static enum cr_status cancel_placed(struct cr_call *call, struct db *db, const char *tenant,
                                    const char *job, const struct live *live)
{
    CR_TRY(db_exec_fenced(call, db, &jobs_stop,
                          DB_VALUES(db_text(tenant), db_text(job), db_text(live->state),
                                    db_int(live->lease_epoch), db_text("cancel"),
                                    db_int(CANCEL_GRACE_S)),
                          "the job has moved on since it was looked at"));
    return db_exec(call, db, &jobs_revoke,
                   DB_VALUES(db_text(tenant), db_text(job), db_int(live->lease_epoch),
                             db_text("cancel"), db_int(CANCEL_GRACE_S)),
                   NULL);
}

static enum cr_status cancel_work(struct cr_call *call, struct db *db, struct service_work *work)
{
    const char *tenant = work->ask->who->tenant, *job = work->request;
    const struct service_config *config = work->service->config;
    struct job *reply = work->reply;
    CR_TRY(jobs_read(call, db, config, tenant, job, reply)); /* 404 before anything else */
    const char *before = json_write(call, &job_shape, reply);

    struct live live;
    bool found;
    CR_TRY(db_one(call, db, &jobs_live, DB_VALUES(db_text(tenant), db_text(job)), &live_shape,
                  &live, &found));
    if (!found) {
        cr_extra_text(call, "state", reply->state);
        return cr_fail_as(call, &cr_code_state_forbids, "job %s has ended", job);
    }
    if (strcmp(live.state, "queued") == 0)
        CR_TRY(cancel_queued(call, db, config, tenant, job, &live,
                             work->ask->who->kind == PRINCIPAL_OPERATOR));
    else if (!live.stop_cause || strcmp(live.stop_cause, "cancel") != 0)
        CR_TRY(cancel_placed(call, db, tenant, job, &live));
    else
        return CR_OK; /* it is being cancelled already, and nothing changes */

    CR_TRY(jobs_read(call, db, config, tenant, job, reply));
    const char *after = json_write(call, &job_shape, reply);
    struct service_mutation mutation = {.tenant = tenant,
                                        .action = "job.cancelled",
                                        .object = job,
                                        .before = before,
                                        .after = after};
    CR_TRY(service_audit(call, db, work->ask, &mutation, NULL));
    return service_outbox(call, db, tenant, cr_format(call, "job.%s", reply->state), job, after);
}

enum cr_status jobs_cancel(struct cr_call *call, struct service *service,
                           const struct service_ask *ask, const char *job, struct job *ret_job)
{
    CR_TRY(service_keyed(call, service, ask, &job_shape, cancel_work, job, ret_job));
    service_wake(call, service, ask->who->tenant, job);
    return CR_OK;
}
