/*
 * node: what compute nodes ask of the region: to join, what they should hold, what to run, and
 * what has become of it. Renewals and completions are ledger.h's.
 *
 * Trust        a POST is believed by its signature, under the vkey that the node registered when it
 *              was enrolled; a GET or PUT by the caller's identity (PRINCIPAL_NODE)
 * Fences       every change names the lease, its epoch and the boot that it expects (db.5)
 * Roles        all of it spans tenants: engine_db
 * fails with   cr_code_not_found        no such lease of this node
 *              cr_code_bad_signature    not signed by the node
 *              service_code_stale_boot, service_code_stale_lease, service_code_message_differs
 * Source       compute.md section 3
 */
#pragma once

#include "compute/protocol/frame.h"
#include "compute/protocol/protocol.h"
#include "controlplane/service/artifacts.h"

#define NODE_LOG_MAX    (INT64_C(16) << 20) /* bytes of log that are kept of a job */
#define NODE_POINTS_MAX (INT64_C(8) << 20)  /* bytes of points */
#define NODE_REPLAY_US  INT64_C(600000000)  /* an enrolment is answered again for so long */

/* A lease with its node, as every use case looks it up. */
struct node_lease {
    const char *lease, *tenant, *job;
    int64_t lease_epoch, member;
    const char *node;
    int64_t node_epoch;
    struct cr_texts devices; /* "node_…/cpu0" */
    const char *state;
    int64_t attempt, granted, started, ended;
    const char *revoke_reason;
    int64_t stop_until;
    const char *boot;      /* of the agent that started it; NULL before */
    const char *node_boot; /* of the agent that joined last */
    const char *vkey;
    const char *node_state;
    int64_t highest_epoch; /* of the job: job_live's, or the job's own at its end */
};
extern const struct cr_shape node_lease_shape;

/*
 * Opens a signed message: signature under vkey, type, canonical form, shape, in this order.
 * fails with cr_code_bad_signature, cr_code_invalid_body
 */
enum cr_status node_open(struct cr_call *call, const struct protocol_envelope *envelope,
                         const char *type, const char *vkey, const struct cr_shape *shape,
                         void *ret_message) CR_CHECK;

/* The lease of this node; cr_code_not_found: none, or another node's. In the open transaction. */
enum cr_status node_lease_read(struct cr_call *call, struct db *db, const char *node,
                               const char *lease, struct node_lease *ret_lease) CR_CHECK;

/*
 * POST /v1/node/join. token: of Authorization, NULL for a node that is enrolled already. The key of
 * the answer is shown at enrolment alone; the same token and vkey are answered the same for
 * NODE_REPLAY_US.
 */
enum cr_status node_join(struct cr_call *call, struct service *service, const char *token,
                         const struct protocol_envelope *envelope,
                         struct protocol_joined *ret_joined) CR_CHECK;

/* GET /v1/node/leases: all that live; ret_etag is the digest of the set, quoted. */
enum cr_status node_leases(struct cr_call *call, struct service *service,
                           const struct principal *who, struct protocol_leases *ret_leases,
                           const char **ret_etag) CR_CHECK;

/* GET /v1/node/leases/{lease}/program */
enum cr_status node_program(struct cr_call *call, struct service *service,
                            const struct principal *who, const char *lease,
                            struct protocol_assignment *ret_assignment) CR_CHECK;

/* POST /v1/node/leases/{lease}/start: placing → running, and the lease gets its boot. */
enum cr_status node_start(struct cr_call *call, struct service *service,
                          const struct principal *who, const char *lease,
                          const struct protocol_envelope *envelope,
                          struct protocol_ordered *ret_order) CR_CHECK;

/*
 * POST /v1/node/leases/{lease}/progress. Chunks of a lease: stream `log`, the text; `points`,
 * PROTOCOL_POINT_SIZE each; `series`, the names that the points' series numbers stand for, one a
 * line, written whenever the list has grown: the newest of a lease epoch holds.
 */
enum cr_status node_progress(struct cr_call *call, struct service *service,
                             const struct principal *who, const char *lease,
                             const struct protocol_envelope *envelope,
                             struct protocol_ordered *ret_order) CR_CHECK;

/*
 * POST /v1/node/leases/{lease}/decline: before the start alone. The lease ends as released, under
 * the word; the engine queues the job again.
 */
enum cr_status node_decline(struct cr_call *call, struct service *service,
                            const struct principal *who, const char *lease,
                            const struct protocol_envelope *envelope) CR_CHECK;

/* What a lease is told: continue, stop with its cause and what is left of its grace, or drop. */
struct protocol_ordered node_order(const struct node_lease *lease, int64_t now_us);

/*
 * GET /v1/node/artifacts/{digest}: an input, the program or the newest checkpoint of a live lease
 * of this node; an open file, which the caller closes. cr_code_not_found for all else.
 */
enum cr_status node_artifact_open(struct cr_call *call, struct service *service,
                                  const struct principal *who, const char *lease,
                                  const char *digest, struct artifact *ret_artifact,
                                  struct cr_file *ret_file) CR_CHECK;

/* PUT /v1/node/artifacts/{digest}: what a live lease of this node has made. */
struct node_upload {
    const char *lease;
    const char *kind;
    int64_t size;
};
extern const struct cr_shape node_upload_shape; /* of the query */
enum cr_status node_artifact_put(struct cr_call *call, struct service *service,
                                 const struct service_ask *ask, const char *digest,
                                 const struct node_upload *upload,
                                 const struct artifacts_part *part,
                                 struct artifact *ret_artifact) CR_CHECK;
