/*
 * jobs: submit, read, explain and stop the jobs of a tenant.
 *
 * Units        times are microseconds of UTC by the region's clock, _ns nanoseconds of device time
 * States       queued, placing, running, stopping; and the ends: succeeded, failed, cancelled,
 *              expired. Each change names the state and lease epoch that it expects (db.5)
 * Ownership    whatever is filled belongs to the call
 * fails with   cr_code_not_found     no such job of this tenant
 *              cr_code_invalid_body  with a fault for each member at fault
 *              else what service.h says
 * Source       admission.md sections 2, 3 and 10; surface.md section 5
 */
#pragma once

#include "compute/protocol/spec.h"
#include "controlplane/service/service.h"

#define JOBS_NAME_MAX     255
#define JOBS_SERIES_MAX   1000               /* points of a series in an answer */
#define JOBS_LOG_MAX      (INT64_C(1) << 20) /* bytes of a log in one answer */
#define JOBS_BLOCKERS_MAX 32

extern const char *const jobs_states[]; /* all eight; NULL ends them */

struct jobs_progress {
    int64_t step, steps;
    const char *phase;
};

/* The resource: GET /v1/jobs/{job}, rows of lists, data of events. */
struct job {
    const char *job;
    const char *name; /* NULL: none was given */
    struct cr_labels labels;
    const char *kind;
    const char *state;
    const char *code; /* why it waits, or how it ended: a word of admission.md section 10 */
    const char *reason;
    const char *mark; /* preempted */
    const char *queue, *class;
    const struct protocol_program *program;
    struct cr_labels inputs;
    const struct protocol_hyperparameters *hyperparameters;
    const struct protocol_resources *resources;
    int64_t max_runtime_s, stop_grace_s;
    const struct protocol_retry *retry;
    const char *price; /* prc_…: pinned when it was submitted */
    int64_t submitted, started, ended;
    int64_t attempt, lease_epoch;
    const struct jobs_progress *progress;
    const char *node;       /* where it ran last: the node's name */
    const char *device;     /* flavor and engine class, for example "cpu x86-64-v4" */
    struct cr_json outputs; /* name to artifact */
    struct cr_json metrics; /* name to number */
    const char *record;
    int64_t device_ns, cost_microusd;
    const char *region;
    int64_t version;
    const char *durability;
};
extern const struct cr_shape job_shape; /* "Job" */

/* Filters of a list; absent ones filter nothing. */
struct jobs_filter {
    const char *state, *kind;
    const char *label;    /* "name=value" */
    const char *name;     /* a prefix */
    int64_t since, until; /* of submitted, the latter not included */
};
extern const struct cr_shape jobs_filter_shape;

/* POST /v1/jobs, 202. */
enum cr_status jobs_submit(struct cr_call *call, struct service *service,
                           const struct service_ask *ask, const struct protocol_spec *spec,
                           struct job *ret_job) CR_CHECK;

/* GET /v1/jobs/{job} */
enum cr_status jobs_get(struct cr_call *call, struct service *service, const struct principal *who,
                        const char *job, struct job *ret_job) CR_CHECK;

/* GET /v1/jobs, newest first, below the job `after` (NULL: from the top): structs of job_shape. */
enum cr_status jobs_list(struct cr_call *call, struct service *service, const struct principal *who,
                         const struct jobs_filter *filter, const char *after, int64_t limit,
                         struct cr_list *ret_jobs) CR_CHECK;

/* POST /v1/jobs/{job}/cancel. Of a running job the answer is `stopping`. */
enum cr_status jobs_cancel(struct cr_call *call, struct service *service,
                           const struct service_ask *ask, const char *job,
                           struct job *ret_job) CR_CHECK;

/* GET /v1/jobs/summary */
struct jobs_count {
    const char *day; /* of submission, "2026-11-30" */
    const char *state;
    int64_t jobs;
};
struct jobs_summary {
    struct cr_list data;  /* struct jobs_count, newest day first */
    struct cr_json total; /* state to number */
};
extern const struct cr_shape jobs_summary_shape;
enum cr_status jobs_summary(struct cr_call *call, struct service *service,
                            const struct principal *who, struct jobs_summary *ret_summary) CR_CHECK;

/* GET /v1/jobs/{job}/attempts: structs of jobs_attempt_shape, newest first. */
struct jobs_attempt {
    const char *lease;
    int64_t lease_epoch, attempt;
    const char *state;
    const char *node;
    struct cr_texts devices;
    const char *engine_class;
    int64_t granted, started, ended;
    const char *revoke_reason;
    const char *word, *detail; /* how it ended: compute.md section 5 */
};
extern const struct cr_shape jobs_attempt_shape;
enum cr_status jobs_attempts(struct cr_call *call, struct service *service,
                             const struct principal *who, const char *job,
                             struct cr_list *ret_attempts) CR_CHECK;

/* GET /v1/jobs/{job}/outputs: structs of jobs_output_shape. */
struct jobs_output {
    const char *name, *artifact, *kind, *sha256;
    int64_t size;
    int64_t created;
};
extern const struct cr_shape jobs_output_shape;
enum cr_status jobs_outputs(struct cr_call *call, struct service *service,
                            const struct principal *who, const char *job,
                            struct cr_list *ret_outputs) CR_CHECK;

/* GET /v1/jobs/{job}/logs: bytes of the log from offset on, at most JOBS_LOG_MAX. */
struct jobs_log {
    struct cr_bytes bytes;
    int64_t offset, size; /* of the first byte; and of the whole log so far */
    int64_t dropped;      /* bytes that the node could not keep */
    bool ended;           /* nothing more will come */
};
enum cr_status jobs_log(struct cr_call *call, struct service *service, const struct principal *who,
                        const char *job, int64_t offset, struct jobs_log *ret_log) CR_CHECK;

/* GET /v1/jobs/{job}/metrics */
struct jobs_point {
    int64_t step;
    double value;
};
struct jobs_series {
    const char *name;
    struct cr_list points; /* struct jobs_point, at most JOBS_SERIES_MAX, by step */
    int64_t point_count;   /* of those that there are */
};
struct jobs_metrics {
    struct cr_list series; /* struct jobs_series, by name */
    int64_t dropped;
};
extern const struct cr_shape jobs_metrics_shape;
enum cr_status jobs_metrics(struct cr_call *call, struct service *service,
                            const struct principal *who, const char *job,
                            struct jobs_metrics *ret_metrics) CR_CHECK;

/* GET /v1/jobs/{job}/why; POST /v1/jobs/plan. */
struct jobs_blocker {
    const char *code;
    int64_t tier;
    const char *sentence;
    struct cr_json numbers; /* name to number */
};
struct jobs_change {
    const char *change, *detail;
};
struct jobs_position {
    int64_t jobs;
};
struct jobs_why {
    int64_t as_of;
    const char *state;
    struct cr_list blockers;       /* struct jobs_blocker, lowest tier first */
    struct cr_list would_start_if; /* struct jobs_change */
    struct cr_json counts;
    const struct jobs_position *position;
    struct cr_json eta; /* null: not known, and so not said */
};
extern const struct cr_shape jobs_why_shape;
enum cr_status jobs_why(struct cr_call *call, struct service *service, const struct principal *who,
                        const char *job, struct jobs_why *ret_why) CR_CHECK;

struct jobs_cost {
    int64_t low, high;
};
struct jobs_plan {
    const char *decision; /* start, wait, never */
    int64_t as_of;
    const char *region;
    struct cr_list blockers;
    const struct jobs_cost *cost_microusd; /* NULL: no price is known */
    struct cr_json eta;
};
extern const struct cr_shape jobs_plan_shape;
enum cr_status jobs_plan(struct cr_call *call, struct service *service, const struct principal *who,
                         const struct protocol_spec *spec, struct jobs_plan *ret_plan) CR_CHECK;

/* For the use cases that move a job --------------------------------------------------------- */

/* The job as it is shown, in the transaction that is open. */
enum cr_status jobs_read(struct cr_call *call, struct db *db, const struct service_config *config,
                         const char *tenant, const char *job, struct job *ret_job) CR_CHECK;

/*
 * Tells of the state that the job now has, or of `type` where it is not NULL: an outbox row with
 * the job as it is in this transaction. Call it after the change.
 */
enum cr_status jobs_tell(struct cr_call *call, struct db *db, const struct service_config *config,
                         const char *tenant, const char *job, const char *type) CR_CHECK;

/* The end of a job. */
struct jobs_end {
    const char *tenant, *job;
    const char *from[5];  /* the states that it may be in; NULL ends them */
    int64_t lease_epoch;  /* that it must have */
    const char *terminal; /* succeeded, failed, cancelled, expired */
    const char *code, *reason;
    const char *outputs, *metrics; /* JSON; NULL: none */
    struct cr_bytes result_sha256; /* none: no bytes */
    int64_t ended;                 /* CR_NO_INTEGER: now */
};

/*
 * Writes the end: job terminal, job_live gone, with what it has used in all; leases that ended
 * without a usage record get theirs (ledger_settle). Exactly one of all that try succeeds.
 * fails with   cr_code_state_forbids: the job is in another state, or under another lease epoch
 */
enum cr_status jobs_write_end(struct cr_call *call, struct db *db,
                              const struct service_config *config,
                              const struct jobs_end *end) CR_CHECK;

/* A lease epoch that ended without an end of the job. Write the end of its lease first. */
struct jobs_loss {
    const char *tenant, *job;
    int64_t lease_epoch;
    const char *word; /* of compute.md section 5, or of a decline */
    const char *detail;
    /*
     * The program failed by itself: the job is queued again only where its `retry` says so. Else it
     * is the platform's loss, which never uses up `retry`.
     */
    bool own;
};

/*
 * What becomes of the job: it is queued again, after a pause that grows; or, where its stop has a
 * final cause, or the losses are too many (POISON, PLATFORM_EXHAUSTED), it ends, billed nothing by
 * this. Tells of the new state. ret_state is that state; NULL where `own` and no retry is left:
 * then nothing was done, and the caller ends the job.
 *
 * fails with   service_code_stale_lease: the job is not live under that lease epoch
 */
enum cr_status jobs_lose(struct cr_call *call, struct db *db, const struct service_config *config,
                         const struct jobs_loss *loss, const char **ret_state) CR_CHECK;
