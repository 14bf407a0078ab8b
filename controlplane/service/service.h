/*
 * service: the use cases of a region. One use case is one function is one transaction; it is named
 * for its operation (jobs_submit), takes who asks and a struct, and fills a struct.
 *
 * This header has what they share. Each group of them has its own: jobs.h, engine.h and so on.
 *
 * Idempotency  a mutation that a client asks for under a key runs through service_keyed: the key is
 *              claimed by the first statement and its answer stored by the last, in the transaction
 *              of the effect (db.1, J2)
 * Audit        each mutation that was asked for writes its leaf by service_audit (A1)
 * Telling      what others must hear of is written by service_outbox, in the same transaction; the
 *              engine's sequencer makes an event of it. service_wake, after the commit, only makes
 *              it sooner
 * Threads      a struct service belongs to one worker; its config is read-only
 * fails with   what base/db fails with, and the codes of codes.h
 */
#pragma once

#include "base/bus/bus.h"
#include "base/core/call.h"
#include "base/core/shape.h"
#include "base/db/db.h"
#include "controlplane/service/codes.h"

struct service_secrets; /* controlplane/service/secrets.h */
struct identity_cache;  /* controlplane/service/identity.h */

/* What is the same for all workers of a process. */
struct service_config {
    const char *region;        /* "local" */
    const char *domain;        /* "<region>.<domain>" of signed bodies: "local.cresset.localhost" */
    const char *public_origin; /* "http://127.0.0.1:7070" */
    const char *durability;    /* "standby", "peer" or "local": what 202 and 201 say */
    const char *installation;  /* kind of keys: "live", "test" or "dev" */
    const char *artifacts_dir; /* blobs by digest */
    const char *log_dir;       /* tiles and checkpoint */
    const char *holder;        /* this process, for engine.holder: "host:pid" */
    const struct service_secrets *secrets;
    struct identity_cache *identities; /* keys looked up lately; NULL: none are kept */
    /* Wakes whoever is parked on a key in this process; NULL where nobody is. */
    void (*wake)(void *context, const char *key);
    void *wake_context;
};

struct service {
    const struct service_config *config;
    struct db *db;        /* as cresset_app and cresset_ledger: row-level security by tenant */
    struct db *engine_db; /* as cresset_engine and cresset_ledger: what spans tenants */
    struct bus *bus;
};

enum principal_kind {
    PRINCIPAL_NOBODY,   /* public routes */
    PRINCIPAL_TENANT,   /* a key or session of a tenant */
    PRINCIPAL_OPERATOR, /* a key or session of the region's operators */
    PRINCIPAL_NODE,     /* a compute node */
    PRINCIPAL_ENGINE,   /* the region's engine, by itself */
};

/* Who asks. Of one call, read-only. */
struct principal {
    enum principal_kind kind;
    const char *tenant;      /* tnt_…; NULL for operators, nodes and the engine */
    const char *node;        /* node_… where it is one */
    const char *actor;       /* as the audit names it: key_…, usr_…, node_…, "engine" */
    const char *permissions; /* separated by commas; "*" holds all */
    bool suspended;          /* the tenant: it reads, and changes nothing */
};

/* How a mutation is asked for. */
struct service_ask {
    const struct principal *who;
    const char *key;                  /* Idempotency-Key, 1 to 255 bytes; NULL: not keyed */
    unsigned char request_sha256[32]; /* of method, route, path values and RFC 8785 body (J2) */
    bool sealed;                      /* the answer holds a secret: what is kept of it is sealed */
    const char *reason;               /* Cresset-Reason of operators; NULL for none */
    const char *request;              /* req_… of the call */
    bool *ret_replayed;               /* set where the answer was stored before; may be NULL */
};

/* A piece of work in the transaction that service_keyed has opened. */
struct service_work {
    struct service *service;
    const struct service_ask *ask;
    const void *request; /* the struct that the use case takes */
    void *reply;         /* the struct that it fills */
};

/*
 * Runs work once for ask->key, in one transaction of the tenant; its reply, a struct of the shape
 * gives, is stored with the effect. Asked again with the same request, the stored reply is read,
 * and *ret_replayed set; nothing is done again. Without a key it is a plain transaction.
 *
 * The transaction is run again after 40001, 40P01 and an unknown commit (db.1), so work keeps
 * nothing of an earlier run. Operators' keys are claimed in a table of their own.
 *
 * fails with   cr_code_idempotency_key_reused: the key stands for another request
 *              cr_code_outcome_unknown: the commit's end could not be learnt within the deadline
 */
enum cr_status service_keyed(struct cr_call *call, struct service *service,
                             const struct service_ask *ask, const struct cr_shape *gives,
                             enum cr_status (*work)(struct cr_call *call, struct db *db,
                                                    struct service_work *work),
                             const void *request, void *ret_reply) CR_CHECK;

/* A mutation, for its leaf in the audit log. */
struct service_mutation {
    const char *tenant; /* whose thing; NULL: the region's */
    const char *action; /* for example "job.submitted" */
    const char *object; /* id of what was changed */
    const char *before; /* what it was and became: any text, of which the leaf holds the SHA-256; */
    const char *after;  /* NULL: none */
};

/* Writes the leaf of a mutation, sealed by a salt. ret_leaf, the row's id, may be NULL. */
enum cr_status service_audit(struct cr_call *call, struct db *db, const struct service_ask *ask,
                             const struct service_mutation *mutation, int64_t *ret_leaf) CR_CHECK;

/*
 * Writes a leaf whose payload is a document of its own (a usage record, an invoice: sealed), or a
 * public body (public_kind such as "price.published"; NULL: sealed by a fresh salt).
 */
enum cr_status service_leaf(struct cr_call *call, struct db *db, const struct service_ask *ask,
                            const struct service_mutation *mutation, const char *public_kind,
                            const void *payload, size_t size, int64_t *ret_leaf) CR_CHECK;

/*
 * Tells others: an event of the tenant (NULL: of the region) of this type about subject. body is a
 * JSON object, the resource as GET gives it, at most SERVICE_EVENT_MAX bytes.
 */
#define SERVICE_EVENT_MAX (64 * 1024)
enum cr_status service_outbox(struct cr_call *call, struct db *db, const char *tenant,
                              const char *type, const char *subject, const char *body) CR_CHECK;

/*
 * After the commit: wakes who waits for "job:job_…" or "node:node_…", in this process at once and
 * elsewhere by NATS. A hint: it may be lost. tenant is NULL for nodes.
 */
void service_wake(struct cr_call *call, struct service *service, const char *tenant,
                  const char *id);

/* The tenant whose rows who works on: its own, or "operators". */
const char *service_tenant(const struct principal *who);

/* The connection that who's work runs on: operators, nodes and the engine span tenants. */
struct db *service_db(const struct service *service, const struct principal *who);

/* "no job job_…": the one sentence for what is not there and for what is another tenant's. */
enum cr_status service_missing(struct cr_call *call, const char *noun, const char *id) CR_CHECK;

/* The engine as who asks: of what it decides by itself. Static. */
extern const struct service_ask service_by_engine;

/*
 * Brings the database of conninfo up to date: applies the files NNNN_what.sql of the folder that it
 * lacks, in order, each in one transaction as the role of conninfo. ret_applied is their number.
 *
 * fails with   CR_CONFLICT: a file that was applied is not there, or has another name
 */
enum cr_status service_migrate(struct cr_call *call, const char *conninfo, const char *folder,
                               int64_t *ret_applied) CR_CHECK;
