#include "controlplane/service/tenants.h"

#include "base/core/id.h"
#include "base/crypto/credential.h"
#include "base/json/json.h"
#include "controlplane/service/identity.h"
#include "controlplane/service/keys.h"
#include "controlplane/service/tenants_sql.h"

#include <string.h>

static const char *const states[] = {"active", "suspended", "moving", "closed", NULL};
static const char *const who_kinds[] = {"tenant", "operator", NULL};

/* clang-format off */
#define TENANT_MEMBERS                                                           \
    CR_ID(struct tenant, tenant, "tnt"),                                         \
    CR_MEMBER(struct tenant, name, 1, TENANTS_NAME_MAX, .flags = CR_PRINTABLE),  \
    CR_MEMBER(struct tenant, home, 1, 63),                                       \
    CR_WORD(struct tenant, state, states),                                       \
    CR_TEXTS(struct tenant, residency, 0, 64),                                   \
    CR_MEMBER(struct tenant, device_limit, 0, TENANTS_DEVICES_MAX),              \
    CR_MEMBER(struct tenant, job_limit, 0, TENANTS_JOBS_MAX),                    \
    CR_TIME(struct tenant, created),                                             \
    CR_MEMBER(struct tenant, version, 1, CR_SAFE_INTEGER)

static const struct cr_member tenant_members[] = {TENANT_MEMBERS};
static const struct cr_member tenant_made_members[] = {
    TENANT_MEMBERS,
    CR_ID(struct tenant, key, "key"),
    CR_MEMBER(struct tenant, secret, 1, BASE_CRYPTO_CREDENTIAL_LENGTH_MAX,
              .about = "Of its first key; shown this once"),
    CR_MEMBER(struct tenant, durability, 1, 16),
};
static const struct cr_member create_members[] = {
    CR_MEMBER(struct tenant_create, name, 1, TENANTS_NAME_MAX, .flags = CR_PRINTABLE),
    CR_MEMBER(struct tenant_create, device_limit, 0, TENANTS_DEVICES_MAX, .flags = CR_OPTIONAL),
    CR_MEMBER(struct tenant_create, job_limit, 0, TENANTS_JOBS_MAX, .flags = CR_OPTIONAL),
};
static const struct cr_member limits_members[] = {
    CR_MEMBER(struct tenant_limits, device_limit, 0, TENANTS_DEVICES_MAX),
    CR_MEMBER(struct tenant_limits, job_limit, 0, TENANTS_JOBS_MAX),
};
static const struct cr_member limit_members[] = {
    CR_MEMBER(struct limit, limit, 1, 32),
    CR_MEMBER(struct limit, unit, 1, 32),
    CR_MEMBER(struct limit, maximum, 0, CR_SAFE_INTEGER),
    CR_MEMBER(struct limit, used, 0, CR_SAFE_INTEGER),
    CR_MEMBER(struct limit, reserved, 0, CR_SAFE_INTEGER),
};
static const struct cr_member me_members[] = {
    CR_WORD(struct me, kind, who_kinds),
    CR_ID(struct me, tenant, "tnt", .flags = CR_NULLABLE),
    CR_MEMBER(struct me, tenant_name, 1, TENANTS_NAME_MAX, .flags = CR_NULLABLE),
    CR_MEMBER(struct me, name, 1, KEYS_NAME_MAX, .flags = CR_NULLABLE),
    CR_MEMBER(struct me, actor, 1, 64),
    CR_TEXTS(struct me, permissions, 0, 64),
    CR_MEMBER(struct me, region, 1, 63),
    CR_MEMBER(struct me, home, 1, 63),
    CR_MEMBER(struct me, operator, 0, 0),
};
/* clang-format on */

const struct cr_shape tenant_shape = CR_SHAPE(struct tenant, tenant_members, .name = "Tenant");
const struct cr_shape tenant_made_shape =
    CR_SHAPE(struct tenant, tenant_made_members, .name = "TenantMade");
const struct cr_shape tenant_create_shape =
    CR_SHAPE(struct tenant_create, create_members, .name = "TenantCreate");
const struct cr_shape tenant_limits_shape =
    CR_SHAPE(struct tenant_limits, limits_members, .name = "TenantLimits");
const struct cr_shape limit_shape = CR_SHAPE(struct limit, limit_members, .name = "Limit");
const struct cr_shape me_shape = CR_SHAPE(struct me, me_members, .name = "Me");

static enum cr_status one(struct cr_call *call, struct db *db, const char *tenant,
                          struct tenant *ret_tenant)
{
    bool found;
    CR_TRY(db_one(call, db, &tenants_one, DB_VALUES(db_text(tenant)), &tenant_shape, ret_tenant,
                  &found));
    return found ? CR_OK : service_missing(call, "tenant", tenant);
}

static enum cr_status tell(struct cr_call *call, struct db *db, const struct service_ask *ask,
                           const char *action, const char *before, const struct tenant *tenant)
{
    const char *body = json_write(call, &tenant_shape, tenant);
    struct service_mutation mutation = {
        .action = action, .object = tenant->tenant, .before = before, .after = body};
    CR_TRY(service_audit(call, db, ask, &mutation, NULL));
    return service_outbox(call, db, NULL, action, tenant->tenant, body);
}

static enum cr_status insert(struct cr_call *call, struct db *db,
                             const struct service_config *config,
                             const struct tenant_create *create, const char *tenant)
{
    enum cr_status status =
        db_exec(call, db, &tenants_insert,
                DB_VALUES(db_text(tenant), db_text(create->name), db_text(config->region),
                          db_int(create->device_limit), db_int(create->job_limit)),
                NULL);
    if (status == CR_CONFLICT && strcmp(db_constraint(call, db), "tenant_name_key") == 0) {
        cr_forgive(call);
        return cr_fail_as(call, &cr_code_already_exists, "there is a tenant named '%s'",
                          create->name);
    }
    return status;
}

static enum cr_status create_work(struct cr_call *call, struct db *db, struct service_work *work)
{
    const struct tenant_create *create = work->request;
    const struct service_config *config = work->service->config;
    struct tenant *made = work->reply;
    const char *tenant = cr_id(call, "tnt");
    CR_TRY(insert(call, db, config, create, tenant));
    struct key_making making = {
        .tenant = tenant,
        .name = "first",
        .kind = config->installation,
        .scope = "tenant",
        .permissions = identity_all_permissions(PRINCIPAL_TENANT),
        .created_by = work->ask->who->actor,
        .life_us = KEYS_LIFE_US,
    };
    const char *key, *secret;
    CR_TRY(keys_make(call, db, config, &making, &key, &secret));
    CR_TRY(one(call, db, tenant, made));
    CR_TRY(tell(call, db, work->ask, "tenant.created", NULL, made));
    made->key = key;
    made->secret = secret;
    made->durability = config->durability;
    return CR_OK;
}

enum cr_status tenants_create(struct cr_call *call, struct service *service,
                              const struct service_ask *ask, const struct tenant_create *create,
                              struct tenant *ret_tenant)
{
    return service_keyed(call, service, ask, &tenant_made_shape, create_work, create, ret_tenant);
}

enum cr_status tenants_list(struct cr_call *call, struct service *service, const char *after,
                            int64_t limit, struct cr_list *ret_tenants)
{
    return db_list(call, service->engine_db, &tenants_page,
                   DB_VALUES(db_text(after), db_int(limit)), &tenant_shape, ret_tenants);
}

enum cr_status tenants_get(struct cr_call *call, struct service *service, const char *tenant,
                           struct tenant *ret_tenant)
{
    return one(call, service->engine_db, tenant, ret_tenant);
}

struct limiting {
    const char *tenant;
    int64_t version;
    const struct tenant_limits *limits;
};

static enum cr_status limit_work(struct cr_call *call, struct db *db, struct service_work *work)
{
    const struct limiting *it = work->request;
    struct tenant before;
    CR_TRY(one(call, db, it->tenant, &before));
    int64_t hit;
    CR_TRY(db_exec(call, db, &tenants_set_limits,
                   DB_VALUES(db_text(it->tenant), db_int(it->version),
                             db_int(it->limits->device_limit), db_int(it->limits->job_limit)),
                   &hit));
    if (hit == 0) {
        cr_extra_text(call, "etag", cr_format(call, "\"%lld\"", (long long)before.version));
        return cr_fail_as(call, &cr_code_version_mismatch, "%s has version %lld now", it->tenant,
                          (long long)before.version);
    }
    CR_TRY(one(call, db, it->tenant, work->reply));
    return tell(call, db, work->ask, "tenant.limited", json_write(call, &tenant_shape, &before),
                work->reply);
}

enum cr_status tenants_limit(struct cr_call *call, struct service *service,
                             const struct service_ask *ask, const char *tenant, int64_t version,
                             const struct tenant_limits *limits, struct tenant *ret_tenant)
{
    struct limiting it = {tenant, version, limits};
    return service_keyed(call, service, ask, &tenant_shape, limit_work, &it, ret_tenant);
}

/* A tenant about itself ----------------------------------------------------------------------- */

struct self {
    const struct principal *who;
    struct cr_list *ret_limits;
    struct me *ret_me;
};

static enum cr_status limits_work(struct cr_call *call, struct db *db, void *context)
{
    const struct self *it = context;
    return db_list(call, db, &tenants_limit_rows, DB_VALUES(db_text(it->who->tenant)), &limit_shape,
                   it->ret_limits);
}

enum cr_status tenants_limits(struct cr_call *call, struct service *service,
                              const struct principal *who, struct cr_list *ret_limits)
{
    struct self it = {.who = who, .ret_limits = ret_limits};
    return db_transaction(call, service->db, who->tenant, 0, limits_work, &it);
}

/* A list that is separated by commas, as texts. */
static struct cr_texts split(struct cr_call *call, const char *list)
{
    size_t most = strlen(list) / 2 + 1, count = 0;
    const char **items = cr_new(call, const char *, most);
    for (const char *at = list; *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        items[count++] = cr_copy(call, at, length);
        at += length;
    }
    return (struct cr_texts){items, count};
}

static enum cr_status me_work(struct cr_call *call, struct db *db, void *context)
{
    const struct self *it = context;
    bool found;
    return db_one(call, db, &tenants_me_row,
                  DB_VALUES(db_text(it->who->tenant), db_text(it->who->actor)), &me_shape,
                  it->ret_me, &found);
}

enum cr_status tenants_me(struct cr_call *call, struct service *service,
                          const struct principal *who, struct me *ret_me)
{
    struct me me = {.home = service->config->region};
    struct self it = {.who = who, .ret_me = &me};
    if (who->tenant)
        CR_TRY(db_transaction(call, service->db, who->tenant, 0, me_work, &it));
    me.kind = who->tenant ? "tenant" : "operator";
    me.tenant = who->tenant;
    me.actor = who->actor;
    me.permissions = split(call, who->permissions ? who->permissions : "");
    me.region = service->config->region;
    me.operator= !who->tenant;
    *ret_me = me;
    return CR_OK;
}
