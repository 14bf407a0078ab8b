/*
 * tenants: who buys from the region, and how much each may take. Operators make them and set their
 * limits; a tenant reads its own.
 *
 * Ownership    whatever is filled belongs to the call
 * fails with   cr_code_not_found         no such tenant
 *              cr_code_already_exists    another tenant has the name
 *              cr_code_version_mismatch  it was changed since it was read
 * Source       surface.md section 5; admission.md step 1
 */
#pragma once

#include "controlplane/service/service.h"

#define TENANTS_NAME_MAX    63
#define TENANTS_DEVICES_MAX INT64_C(100000)
#define TENANTS_JOBS_MAX    INT64_C(100000)

/* The resource, as operators see it. */
struct tenant {
    const char *tenant, *name, *home, *state; /* active suspended moving closed */
    struct cr_texts residency;
    int64_t device_limit; /* devices that its jobs hold at one time */
    int64_t job_limit;    /* jobs that have not ended */
    int64_t created, version;
    const char *key, *secret; /* of its first key, in the answer of create alone */
    const char *durability;
};
extern const struct cr_shape tenant_shape;      /* "Tenant" */
extern const struct cr_shape tenant_made_shape; /* "TenantMade" */

struct tenant_create {
    const char *name;
    int64_t device_limit, job_limit; /* absent: 64, and 100000 */
};
extern const struct cr_shape tenant_create_shape;

struct tenant_limits {
    int64_t device_limit, job_limit;
};
extern const struct cr_shape tenant_limits_shape;

/* POST /v1/ops/tenants: the tenant, and its first key, which may do all that a tenant may. */
enum cr_status tenants_create(struct cr_call *call, struct service *service,
                              const struct service_ask *ask, const struct tenant_create *create,
                              struct tenant *ret_tenant) CR_CHECK;

/* GET /v1/ops/tenants: struct tenant, newest first, behind `after`. */
enum cr_status tenants_list(struct cr_call *call, struct service *service, const char *after,
                            int64_t limit, struct cr_list *ret_tenants) CR_CHECK;

/* GET /v1/ops/tenants/{tenant} */
enum cr_status tenants_get(struct cr_call *call, struct service *service, const char *tenant,
                           struct tenant *ret_tenant) CR_CHECK;

/* PUT /v1/ops/tenants/{tenant}/limits, where it has the version still. */
enum cr_status tenants_limit(struct cr_call *call, struct service *service,
                             const struct service_ask *ask, const char *tenant, int64_t version,
                             const struct tenant_limits *limits,
                             struct tenant *ret_tenant) CR_CHECK;

/* GET /v1/limits: what will stop a tenant next. */
struct limit {
    const char *limit; /* "devices", "jobs" */
    const char *unit;
    int64_t maximum, used;
    int64_t reserved; /* of the maximum, held for what is being placed */
};
extern const struct cr_shape limit_shape;

/* Structs of limit_shape. */
enum cr_status tenants_limits(struct cr_call *call, struct service *service,
                              const struct principal *who, struct cr_list *ret_limits) CR_CHECK;

/* GET /v1/me: who asks, and what it may. */
struct me {
    const char *kind;   /* tenant, operator */
    const char *tenant; /* NULL: an operator */
    const char *tenant_name;
    const char *name; /* of the key; NULL: a session of the console */
    const char *actor;
    struct cr_texts permissions;
    const char *region, *home;
    bool operator;
};
extern const struct cr_shape me_shape; /* "Me" */
enum cr_status tenants_me(struct cr_call *call, struct service *service,
                          const struct principal *who, struct me *ret_me) CR_CHECK;
