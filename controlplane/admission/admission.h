/*
 * admission: which job starts next, where, and why each of the others does not yet.
 *
 * Pure: the books of a region in memory. Its one owner, the engine, enters what the tables say
 * (tenants, nodes, devices, waiting jobs), asks for decisions, and enters what became of them. No
 * clock, no database, no randomness: the same calls give the same decisions, byte for byte.
 *
 * Order       Jobs that cannot be told apart (tenant, priority, shape) form a class, first in first
 *             out by id, which sorts by age. A round takes the classes by the priority, then by the
 *             age of their first job, and goes on until nothing more can start.
 * Limit       A tenant holds at most its device_limit of devices at once.
 * Placement   A ready node with enough free devices of an allowed model and enough memory: best
 * fit, ties to the least node id, then the least device id. Nodes where the job was lost before are
 * taken last. Assumed     A decision takes its devices in the books at once. When its batch has
 * committed it stays; where the job fell out of the batch, admission_undo gives them back.
 *
 * Units       *_us microseconds of UTC by the region's clock, *_mib 2^20 bytes
 * Ownership   the books copy what they are given; results are of the call's memory
 * Threads     the books belong to one thread
 * Limits      beyond ADMISSION_*_MAX: CR_EXHAUSTED, and the books stay as they were
 * Source      design: admission.md sections 3 to 5, 10 and 11, step 1
 */
#pragma once

#include "base/core/call.h"

#define ADMISSION_JOBS_MAX     1000000
#define ADMISSION_CLASSES_MAX  65536
#define ADMISSION_TENANTS_MAX  100000
#define ADMISSION_NODES_MAX    10000
#define ADMISSION_DEVICES_MAX  512 /* of a node */
#define ADMISSION_MODELS_MAX   16  /* that a job may name */
#define ADMISSION_AVOID_MAX    8   /* nodes where a job was lost before */
#define ADMISSION_BATCH_MAX    512 /* decisions of one round */
#define ADMISSION_BLOCKERS_MAX 8

struct admission; /* the books */

struct admission_tenant {
    const char *tenant;
    int64_t device_limit;
    bool active; /* false: suspended, moving or closed: nothing of it starts */
};

struct admission_node {
    const char *node;
    const char *name;
    const char *model; /* of all its devices: "cpu", "h200" */
    int64_t node_epoch;
    int64_t memory_mib;
    int64_t device_memory_mib; /* of each of its devices; 0 of CPU slots */
    bool ready;                /* joined, and neither cordoned, draining, suspect, nor lost */
    bool leaving;              /* draining or retired: not even counted as unhealthy */
};

struct admission_device {
    const char *node;
    const char *device; /* node_…/cpu0 */
    bool ok;
};

/* What a job asks for. */
struct admission_shape {
    int64_t devices;           /* CPU slots, or GPUs */
    bool gpu;                  /* false: devices of model "cpu" alone */
    int64_t device_memory_mib; /* of one GPU; 0: any */
    int64_t memory_mib;
    const char *const *models; /* any of them; none: any GPU */
    size_t model_count;
};

struct admission_job {
    const char *tenant;
    const char *job;
    int64_t priority;
    int64_t lease_epoch;   /* the highest until now: a grant will be one more */
    int64_t not_before_us; /* 0: now */
    bool backoff;          /* not_before is a pause after a loss, not the tenant's wish */
    struct admission_shape shape;
    const char *const *avoid; /* nodes */
    size_t avoid_count;
};

/* One lease as the tables hold it, live. */
struct admission_lease {
    const char *tenant;
    const char *job;
    const char *node;
    int64_t memory_mib;
    const char *const *devices;
    size_t device_count;
};

/* A job that may start. */
struct admission_grant {
    const char *tenant;
    const char *job;
    int64_t lease_epoch; /* of the new lease */
    const char *node;
    int64_t node_epoch;
    int64_t memory_mib;
    const char *const *devices;
    size_t device_count;
};

/* clang-format off */
/* Why a job waits: the code, its tier. */
#define ADMISSION_BLOCKER_TABLE(row)                                                             \
    row(ADMISSION_NO_SUCH_MODEL,       "NO_SUCH_MODEL",       1)                                 \
    row(ADMISSION_LARGER_THAN_NODE,    "LARGER_THAN_NODE",    1)                                 \
    row(ADMISSION_ABOVE_QUOTA_CEILING, "ABOVE_QUOTA_CEILING", 1)                                 \
    row(ADMISSION_TENANT_SUSPENDED,    "TENANT_SUSPENDED",    2)                                 \
    row(ADMISSION_NOT_BEFORE,          "NOT_BEFORE",          2)                                 \
    row(ADMISSION_QUOTA_FULL,          "QUOTA_FULL",          4)                                 \
    row(ADMISSION_NO_FREE_DEVICES,     "NO_FREE_DEVICES",     5)                                 \
    row(ADMISSION_FRAGMENTED,          "FRAGMENTED",          5)                                 \
    row(ADMISSION_NODES_UNHEALTHY,     "NODES_UNHEALTHY",     5)                                 \
    row(ADMISSION_TURN,                "TURN",                6)                                 \
    row(ADMISSION_BACKOFF,             "BACKOFF",             6)                                 \
    row(ADMISSION_EVALUATING,          "EVALUATING",          7)
/* clang-format on */
#define ADMISSION_BLOCKER_NAME(name, word, tier) name,
enum admission_code { ADMISSION_BLOCKER_TABLE(ADMISSION_BLOCKER_NAME) };
#undef ADMISSION_BLOCKER_NAME

struct admission_number {
    const char *name;
    int64_t value;
};

struct admission_blocker {
    const char *code;
    int64_t tier;
    const char *sentence;
    struct admission_number numbers[4];
    size_t number_count;
};

/* Nodes, and at what a job fails on those that it cannot have; each node counts once. */
struct admission_counts {
    int64_t total, state, model, memory, devices, fit;
};

struct admission_why {
    struct admission_blocker blockers[ADMISSION_BLOCKERS_MAX]; /* by tier */
    size_t blocker_count;                                      /* 0: it may start now */
    struct admission_counts counts;
    const char *const *holders; /* jobs of the tenant that hold devices it could use */
    size_t holder_count;
    int64_t held_by_others;                    /* such devices, held by other tenants */
    const char *would_start_if, *would_detail; /* NULL: nothing that is known would */
    int64_t position;                          /* jobs before it in its tenant's line */
};

/* Empty books. The caller closes them; NULL is allowed. */
struct admission *admission_open(void);
void admission_close(struct admission *books);

/* Enters a tenant, node or device, or what is new about it. */
enum cr_status admission_set_tenant(struct cr_call *call, struct admission *books,
                                    const struct admission_tenant *tenant) CR_CHECK;
enum cr_status admission_set_node(struct cr_call *call, struct admission *books,
                                  const struct admission_node *node) CR_CHECK;
enum cr_status admission_set_device(struct cr_call *call, struct admission *books,
                                    const struct admission_device *device) CR_CHECK;

/*
 * A job waits; entered again, it waits under what is new about it. Its tenant must be there.
 * admission_drop: it does not wait any more (cancelled, ended, granted by somebody else).
 */
enum cr_status admission_set_job(struct cr_call *call, struct admission *books,
                                 const struct admission_job *job) CR_CHECK;
void admission_drop(struct admission *books, const char *job);

/*
 * A lease holds devices: read from the tables at a takeover. admission_release gives back what a
 * job's lease holds; nothing where it holds nothing.
 * fails with   CR_CONFLICT     a device is held already: memory and tables differ
 *              CR_NOT_FOUND    no such node, device or tenant
 */
enum cr_status admission_hold(struct cr_call *call, struct admission *books,
                              const struct admission_lease *lease) CR_CHECK;
void admission_release(struct admission *books, const char *job);

/*
 * Decides: at most max grants, each taken in the books at once, in the order of decision. The array
 * and its texts are of the call's memory. Jobs whose not_before_us is after now_us wait.
 */
enum cr_status admission_round(struct cr_call *call, struct admission *books, int64_t now_us,
                               size_t max, struct admission_grant **ret_grants,
                               size_t *ret_count) CR_CHECK;

/* The grant did not become an effect: its devices are free again, and the job does not wait; enter
 * it by admission_set_job if the tables say that it does. */
void admission_undo(struct admission *books, const struct admission_grant *grant);

/* The earliest not_before_us of the jobs that wait for one; INT64_MAX: none does. */
int64_t admission_next_us(const struct admission *books);

/* Why a job of this tenant that waits has not started. CR_NOT_FOUND: it does not wait here. */
enum cr_status admission_why(struct cr_call *call, struct admission *books, const char *job,
                             int64_t now_us, struct admission_why *ret_why) CR_CHECK;

/* The same for a job that is only being thought of; nothing is kept. */
enum cr_status admission_plan(struct cr_call *call, struct admission *books,
                              const struct admission_job *job, int64_t now_us,
                              struct admission_why *ret_why) CR_CHECK;

/* The blockers that a whole class shares, for the table `park`: one entry a class that waits. */
struct admission_park {
    const char *tenant;
    const char *class_key; /* text of tenant, priority and shape: equal for equal classes */
    const char *first_job;
    int64_t jobs;
    struct admission_blocker blocker; /* the first */
};
enum cr_status admission_parked(struct cr_call *call, struct admission *books, int64_t now_us,
                                struct admission_park **ret_parks, size_t *ret_count) CR_CHECK;

/* Readings: jobs that wait, devices in all, devices held, classes that have jobs. */
struct admission_gauges {
    int64_t waiting, devices, held, classes;
};
struct admission_gauges admission_read(const struct admission *books);

/* A digest of who holds what: equal books give equal digests, however they came to be. */
uint64_t admission_digest(const struct admission *books);
