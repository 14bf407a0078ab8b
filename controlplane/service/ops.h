/*
 * ops: the region as its operators see it, and what every credential may know of it. All of it
 * spans tenants, on engine_db; a change names its reason, which stands in the leaf.
 *
 * Ownership    whatever is filled belongs to the call
 * fails with   cr_code_not_found     no such node
 *              cr_code_state_forbids a node in this state cannot do that (+state)
 * Source       surface.md section 5; ledger.md section 6
 */
#pragma once

#include "controlplane/service/service.h"

/* GET /v1/ops/status ------------------------------------------------------------------------- */

struct ops_jobs {
    int64_t queued, placing, running, stopping;
};
struct ops_node_counts {
    int64_t joining, ready, cordoned, draining, quarantined, suspect, lost;
};
struct ops_device_counts {
    int64_t free, leased, failed;
};
struct ops_status {
    const char *region;
    int64_t epoch;      /* of the engine */
    const char *holder; /* NULL: nobody decides */
    int64_t holder_until;
    struct ops_jobs *jobs;
    struct ops_node_counts *nodes;
    struct ops_device_counts *devices;
    int64_t tenants;
    int64_t log_size;    /* leaves that have their place in the log */
    int64_t log_waiting; /* leaves that have none yet */
    int64_t checkpoint;  /* when the last checkpoint was signed */
    int64_t outbox;      /* rows that are no events yet */
    int64_t as_of;
};
extern const struct cr_shape ops_status_shape; /* "OpsStatus" */
enum cr_status ops_status(struct cr_call *call, struct service *service,
                          struct ops_status *ret_status) CR_CHECK;

/* Nodes -------------------------------------------------------------------------------------- */

struct ops_device {
    const char *device; /* node_…/gpu0 */
    const char *model, *state;
    int64_t memory_mib;
    const char *lease, *job, *tenant; /* NULL: it is free */
    int64_t leased;                   /* since when */
};
struct ops_node {
    const char *node, *name, *region, *state, *reason, *model;
    struct cr_list devices; /* struct ops_device */
    int64_t cpu_milli, memory_mib, disk_mib, disk_free_mib;
    const char *engine; /* the engine class, for example x86-64-v4 */
    struct cr_texts jail;
    struct cr_labels labels;
    const char *build;
    int64_t protocol, joined, seen, version;
};
extern const struct cr_shape ops_node_shape; /* "Node" */

/* GET /v1/ops/nodes: struct ops_node, newest first, behind `after`; without those that are retired.
 */
enum cr_status ops_nodes_list(struct cr_call *call, struct service *service, const char *after,
                              int64_t limit, struct cr_list *ret_nodes) CR_CHECK;

/* GET /v1/ops/nodes/{node} */
enum cr_status ops_nodes_get(struct cr_call *call, struct service *service, const char *node,
                             struct ops_node *ret_node) CR_CHECK;

/*
 * POST /v1/ops/nodes/{node}/{cordon,uncordon,drain}. A node that is so already is answered as it
 * is. A drain asks what runs there to stop, with its grace; the jobs run elsewhere from what they
 * kept.
 */
enum ops_verb { OPS_CORDON, OPS_UNCORDON, OPS_DRAIN };
enum cr_status ops_nodes_turn(struct cr_call *call, struct service *service,
                              const struct service_ask *ask, enum ops_verb verb, const char *node,
                              struct ops_node *ret_node) CR_CHECK;

/* Enrollments -------------------------------------------------------------------------------- */

#define OPS_ENROLLMENT_US INT64_C(600000000)

struct ops_enrollment {
    const char *enrollment;
    const char *name;  /* of the node that may use it; NULL: any */
    const char *state; /* open used expired */
    const char *node;  /* that used it */
    int64_t created, until;
    const char *created_by;
    const char *token, *durability; /* crs_enr_…, in the answer of create alone */
};
extern const struct cr_shape ops_enrollment_shape;      /* "Enrollment" */
extern const struct cr_shape ops_enrollment_made_shape; /* "EnrollmentMade" */

struct ops_enrollment_create {
    const char *name;
};
extern const struct cr_shape ops_enrollment_create_shape;

/* POST /v1/ops/enrollments: a token that enrols one node, once, within OPS_ENROLLMENT_US. */
enum cr_status ops_enrollments_create(struct cr_call *call, struct service *service,
                                      const struct service_ask *ask,
                                      const struct ops_enrollment_create *create,
                                      struct ops_enrollment *ret_enrollment) CR_CHECK;

/* GET /v1/ops/enrollments: struct ops_enrollment, newest first, behind `after`. */
enum cr_status ops_enrollments_list(struct cr_call *call, struct service *service,
                                    const char *after, int64_t limit,
                                    struct cr_list *ret_enrollments) CR_CHECK;

/* Readings ----------------------------------------------------------------------------------- */

/* GET /v1/ops/scheduler */
struct ops_parked {
    const char *why;
    int64_t jobs, since;
};
struct ops_scheduler {
    const char *region;
    int64_t epoch;
    const char *holder;
    int64_t since, until;
    int64_t queued, oldest_queued; /* jobs that wait, and since when the first of them does */
    int64_t batches, last_batch;   /* of this epoch; when the last was decided */
    struct cr_list parked; /* struct ops_parked: classes of jobs that cannot be placed now */
    int64_t as_of;
};
extern const struct cr_shape ops_scheduler_shape; /* "Scheduler" */
enum cr_status ops_scheduler(struct cr_call *call, struct service *service,
                             struct ops_scheduler *ret_scheduler) CR_CHECK;

/* GET /v1/ops/metering: does it add up? */
struct ops_metering {
    int64_t leases;                 /* that live */
    int64_t readings_late;          /* of them, whose last reading is older than 30 s */
    int64_t oldest_reading;         /* of those that live; absent: none */
    int64_t records, charges;       /* in all */
    int64_t records_uncharged;      /* with time that was billed and no charge; must be 0 */
    int64_t completions_unrecorded; /* must be 0 */
    int64_t present_ns, billed_ns, idle_ns, maintenance_ns, unattributed_ns; /* of closed days */
    int64_t difference_ns; /* present less the others; must be 0 */
    int64_t as_of;
};
extern const struct cr_shape ops_metering_shape; /* "Metering" */
enum cr_status ops_metering(struct cr_call *call, struct service *service,
                            struct ops_metering *ret_metering) CR_CHECK;

/* GET /v1/flavors: what there is to run on; how much of it is free is told in bands. */
struct flavor {
    const char *flavor;   /* model of a device: "cpu", "h200" */
    int64_t memory_mib;   /* of one device; 0 where it has none of its own */
    const char *capacity; /* none few some many: of devices that are free now */
    const char *region;
};
extern const struct cr_shape flavor_shape;
enum cr_status ops_flavors(struct cr_call *call, struct service *service,
                           struct cr_list *ret_flavors) CR_CHECK;

/* GET /v1/regions */
struct ops_region {
    const char *region, *domain, *url;
    bool home;
};
extern const struct cr_shape ops_region_shape;
