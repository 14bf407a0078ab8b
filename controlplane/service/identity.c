#include "controlplane/service/identity.h"

#include "base/core/text.h"
#include "base/crypto/credential.h"
#include "base/crypto/crypto.h"
#include "controlplane/service/identity_cache.h"
#include "controlplane/service/identity_sql.h"
#include "controlplane/service/secrets.h"
#include "controlplane/service/sessions.h"

#include <string.h>

const char *const identity_tenant_permissions[] = {
    "jobs:read", "jobs:write", "artifacts:read", "artifacts:write", "usage:read", "billing:read",
    "keys:read", "keys:write", "audit:read",     "limits:read",     NULL,
};
const char *const identity_operator_permissions[] = {
    "ops:read", "ops:write", "tenants:read", "tenants:write", NULL,
};

const char *identity_all_permissions(enum principal_kind kind)
{
    return kind == PRINCIPAL_OPERATOR
               ? "ops:read,ops:write,tenants:read,tenants:write"
               : "jobs:read,jobs:write,artifacts:read,artifacts:write,usage:read,billing:read,"
                 "keys:read,keys:write,audit:read,limits:read";
}

bool identity_holds(const char *permissions, const char *permission)
{
    size_t length = strlen(permission);
    for (const char *item = permissions; item; item = strchr(item, ',')) {
        item += *item == ',';
        if (strcmp(item, "*") == 0 || strncmp(item, "*,", 2) == 0 ||
            (strncmp(item, permission, length) == 0 &&
             (item[length] == ',' || item[length] == '\0')))
            return true;
    }
    return false;
}

void identity_hash(const struct service_config *config, const char *credential,
                   unsigned char ret_hash[32])
{
    base_crypto_keyed(config->secrets->pepper, credential, strlen(credential), ret_hash, 32);
}

/* A row of identity_secret. */
struct found {
    const char *key, *pepper, *tenant, *kind, *scope, *node, *permissions;
    struct cr_bytes hash;
    bool revoked, suspended, stale;
    int64_t left_us;
};
static const struct cr_member found_members[] = {
    CR_MEMBER(struct found, key, 1, 64),
    CR_MEMBER(struct found, pepper, 1, 64),
    CR_MEMBER(struct found, tenant, 1, 64),
    CR_MEMBER(struct found, kind, 1, 8),
    CR_MEMBER(struct found, scope, 1, 16),
    CR_MEMBER(struct found, node, 1, 64, .flags = CR_NULLABLE),
    CR_MEMBER(struct found, permissions, 0, 1024),
    CR_BYTES(struct found, hash, 32, 32),
    CR_MEMBER(struct found, revoked, 0, 0),
    CR_MEMBER(struct found, suspended, 0, 0),
    CR_MEMBER(struct found, stale, 0, 0),
    CR_MEMBER(struct found, left_us, INT64_MIN, INT64_MAX, .flags = CR_NULLABLE),
};
static const struct cr_shape found_shape = CR_SHAPE(struct found, found_members);

static enum cr_status rejected(struct cr_call *call)
{
    return cr_fail_as(call, &cr_code_credential_rejected, "the credential is not valid");
}

static struct principal *principal_of(struct cr_call *call, const struct found *found)
{
    struct principal *who = cr_new(call, struct principal, 1);
    *who = (struct principal){
        .kind = strcmp(found->scope, "node") == 0       ? PRINCIPAL_NODE
                : strcmp(found->scope, "operator") == 0 ? PRINCIPAL_OPERATOR
                                                        : PRINCIPAL_TENANT,
        .node = found->node,
        .actor = found->key,
        .permissions = found->permissions,
        .suspended = found->suspended,
    };
    if (who->kind == PRINCIPAL_TENANT)
        who->tenant = found->tenant;
    return who;
}

struct use {
    const char *tenant, *key;
};

static enum cr_status note_use(struct cr_call *call, struct db *db, void *context)
{
    const struct use *use = context;
    return db_exec(
        call, db, &identity_key_used,
        DB_VALUES(db_text(use->tenant), db_text(use->key), db_int(IDENTITY_LAST_USED_US)), NULL);
}

/* A key of the test installation is none in a live one. */
static bool of_this_installation(const struct service_config *config, const char *kind)
{
    return strcmp(kind, "opr") == 0 || strcmp(kind, "tok") == 0 ||
           strcmp(kind, config->installation) == 0;
}

static enum cr_status look_up(struct cr_call *call, struct service *service,
                              const struct base_crypto_credential *credential,
                              const unsigned char hash[32], struct found *ret_found)
{
    static const unsigned char nobody[32];
    bool there;
    CR_TRY(db_one(call, service->engine_db, &identity_secret,
                  DB_VALUES(db_text(credential->id), db_int(IDENTITY_LAST_USED_US)), &found_shape,
                  ret_found, &there));
    bool equal = base_crypto_equal(hash, there ? ret_found->hash.data : nobody, 32);
    if (!there || !equal || ret_found->revoked || strcmp(ret_found->kind, credential->kind) != 0 ||
        strcmp(ret_found->pepper, service->config->secrets->pepper_id) != 0)
        return rejected(call);
    if (ret_found->left_us != CR_NO_INTEGER && ret_found->left_us <= 0)
        return cr_fail_as(call, &cr_code_credential_expired, "the credential has expired");

    /* That it was used is worth a write a minute, and not worth a failure. */
    struct use use = {ret_found->tenant, ret_found->key};
    if (ret_found->stale && db_transaction(call, service->engine_db, ret_found->tenant, DB_LOCAL,
                                           note_use, &use) != CR_OK)
        cr_forgive(call);
    return CR_OK;
}

enum cr_status identity_by_key(struct cr_call *call, struct service *service, const char *text,
                               const struct principal **ret_who)
{
    struct base_crypto_credential credential;
    if (!base_crypto_credential_parse(text, strlen(text), &credential) ||
        !of_this_installation(service->config, credential.kind))
        return rejected(call);

    unsigned char hash[32];
    identity_hash(service->config, text, hash);
    struct identity_cache *cache = service->config->identities;
    if (cache && identity_cache_get(call, cache, credential.id, hash, ret_who))
        return CR_OK;

    int64_t asked_ns = cr_now_ns(call);
    uint64_t age = cache ? identity_cache_age(cache) : 0;
    struct found found;
    CR_TRY(look_up(call, service, &credential, hash, &found));
    *ret_who = principal_of(call, &found);
    if (cache) {
        int64_t until_ns = asked_ns + IDENTITY_CACHE_NS;
        if (found.left_us != CR_NO_INTEGER && found.left_us < IDENTITY_CACHE_NS / 1000)
            until_ns = asked_ns + found.left_us * 1000;
        identity_cache_put(cache, age, credential.id, hash, *ret_who, until_ns);
    }
    return CR_OK;
}

/* A row of identity_session. */
struct open_session {
    const char *tenant, *actor, *permissions;
    bool suspended, stale;
};
static const struct cr_member open_session_members[] = {
    CR_MEMBER(struct open_session, tenant, 1, 64),
    CR_MEMBER(struct open_session, actor, 1, 64),
    CR_MEMBER(struct open_session, permissions, 0, 1024),
    CR_MEMBER(struct open_session, suspended, 0, 0),
    CR_MEMBER(struct open_session, stale, 0, 0),
};
static const struct cr_shape open_session_shape =
    CR_SHAPE(struct open_session, open_session_members);

enum cr_status identity_by_session(struct cr_call *call, struct service *service,
                                   const char *session, const struct principal **ret_who)
{
    unsigned char hash[32];
    struct open_session found;
    bool there = sessions_hash(service->config, session, hash);
    if (there)
        CR_TRY(db_one(call, service->engine_db, &identity_session,
                      DB_VALUES(db_bytes(hash, sizeof hash), db_int(SESSIONS_IDLE_US),
                                db_int(SESSIONS_OPERATOR_IDLE_US), db_int(IDENTITY_LAST_USED_US)),
                      &open_session_shape, &found, &there));
    if (!there)
        return cr_fail_as(call, &cr_code_session_expired, "the session has ended: sign in again");
    if (found.stale && db_exec(call, service->engine_db, &identity_session_used,
                               DB_VALUES(db_bytes(hash, sizeof hash)), NULL) != CR_OK)
        cr_forgive(call);

    bool of_tenant = strcmp(found.tenant, "operators") != 0;
    struct principal *who = cr_new(call, struct principal, 1);
    *who = (struct principal){
        .kind = of_tenant ? PRINCIPAL_TENANT : PRINCIPAL_OPERATOR,
        .tenant = of_tenant ? found.tenant : NULL,
        .actor = found.actor,
        .permissions = found.permissions,
        .suspended = found.suspended,
    };
    *ret_who = who;
    return CR_OK;
}

struct identity_proof identity_proof_of(const struct service_config *config,
                                        const struct principal *who, const char *session)
{
    struct identity_proof proof = {.tenant = service_tenant(who)};
    if (!session || !sessions_hash(config, session, proof.session_hash))
        proof.key = who->actor;
    return proof;
}

enum cr_status identity_still(struct cr_call *call, struct service *service,
                              const struct identity_proof *proof, bool *ret_still)
{
    int64_t found;
    if (proof->key)
        CR_TRY(db_exec(call, service->engine_db, &identity_key_lives,
                       DB_VALUES(db_text(proof->tenant), db_text(proof->key)), &found));
    else
        CR_TRY(db_exec(call, service->engine_db, &identity_session_lives,
                       DB_VALUES(db_bytes(proof->session_hash, sizeof proof->session_hash)),
                       &found));
    *ret_still = found > 0;
    return CR_OK;
}
