#include "controlplane/service/keys.h"

#include "base/core/id.h"
#include "base/crypto/credential.h"
#include "base/json/json.h"
#include "controlplane/service/identity.h"
#include "controlplane/service/keys_sql.h"
#include "controlplane/service/secrets.h"

#include <string.h>

static const char *const states[] = {"active", "expired", "revoked", NULL};
static const char *const kinds[] = {"live", "test", "dev", "tok", "opr", NULL};

/* clang-format off */
#define KEY_MEMBERS                                                                    \
    CR_ID(struct key, key, "key"),                                                     \
    CR_MEMBER(struct key, name, 1, KEYS_NAME_MAX, .flags = CR_PRINTABLE),              \
    CR_WORD(struct key, kind, kinds),                                                  \
    CR_WORD(struct key, state, states),                                                \
    CR_TEXTS(struct key, permissions, 0, 64),                                          \
    CR_TIME(struct key, created),                                                      \
    CR_MEMBER(struct key, created_by, 1, 64),                                          \
    CR_TIME(struct key, expires, .flags = CR_NULLABLE),                                \
    CR_TIME(struct key, revoked, .flags = CR_NULLABLE),                                \
    CR_TIME(struct key, last_used, .flags = CR_NULLABLE),                              \
    CR_MEMBER(struct key, version, 1, CR_SAFE_INTEGER)

static const struct cr_member key_members[] = {KEY_MEMBERS};
static const struct cr_member key_made_members[] = {
    KEY_MEMBERS,
    CR_MEMBER(struct key, secret, 1, BASE_CRYPTO_CREDENTIAL_LENGTH_MAX,
              .about = "Shown this once"),
    CR_MEMBER(struct key, durability, 1, 16),
};
static const struct cr_member create_members[] = {
    CR_MEMBER(struct key_create, name, 1, KEYS_NAME_MAX, .flags = CR_PRINTABLE),
    CR_TEXTS(struct key_create, permissions, 1, 64, .flags = CR_OPTIONAL),
    CR_TIME(struct key_create, expires, .flags = CR_OPTIONAL),
};
static const struct cr_member patch_members[] = {
    CR_MEMBER(struct key_patch, name, 1, KEYS_NAME_MAX, .flags = CR_OPTIONAL | CR_PRINTABLE),
    CR_TEXTS(struct key_patch, permissions, 1, 64, .flags = CR_OPTIONAL),
};
static const struct cr_member rotate_members[] = {
    CR_MEMBER(struct key_rotate, overlap_s, 0, KEYS_OVERLAP_MAX_S, .flags = CR_OPTIONAL),
};
/* clang-format on */

const struct cr_shape key_shape = CR_SHAPE(struct key, key_members, .name = "Key");
const struct cr_shape key_made_shape = CR_SHAPE(struct key, key_made_members, .name = "KeyMade");
const struct cr_shape key_create_shape =
    CR_SHAPE(struct key_create, create_members, .name = "KeyCreate");
const struct cr_shape key_patch_shape =
    CR_SHAPE(struct key_patch, patch_members, .name = "KeyPatch");
const struct cr_shape key_rotate_shape =
    CR_SHAPE(struct key_rotate, rotate_members, .name = "KeyRotate");

static enum cr_status secret_insert(struct cr_call *call, struct db *db,
                                    const struct service_config *config, const char *tenant,
                                    const char *key, const char *kind, const char **ret_secret)
{
    struct base_crypto_credential credential;
    const char *secret = base_crypto_credential_make(call, kind, &credential);
    unsigned char hash[32];
    identity_hash(config, secret, hash);
    CR_TRY(db_exec(call, db, &keys_secret_insert,
                   DB_VALUES(db_text(tenant), db_text(key), db_text(credential.id),
                             db_bytes(hash, sizeof hash), db_text(config->secrets->pepper_id)),
                   NULL));
    *ret_secret = secret;
    return CR_OK;
}

static enum cr_status make(struct cr_call *call, struct db *db, const struct service_config *config,
                           const struct key_making *making, int64_t expires, const char **ret_key,
                           const char **ret_secret)
{
    const char *key = cr_id(call, "key");
    CR_TRY(db_exec(call, db, &keys_insert,
                   DB_VALUES(db_text(making->tenant), db_text(key), db_text(making->name),
                             db_text(making->kind), db_text(making->scope), db_text(making->node),
                             db_text(making->permissions), db_text(making->created_by),
                             db_int(making->life_us), db_int(expires)),
                   NULL));
    CR_TRY(secret_insert(call, db, config, making->tenant, key, making->kind, ret_secret));
    *ret_key = key;
    return CR_OK;
}

enum cr_status keys_make(struct cr_call *call, struct db *db, const struct service_config *config,
                         const struct key_making *making, const char **ret_key,
                         const char **ret_secret)
{
    return make(call, db, config, making, CR_NO_INTEGER, ret_key, ret_secret);
}

struct bootstrap {
    const struct service_config *config;
    const char **ret_key, **ret_secret;
};

static enum cr_status bootstrap_work(struct cr_call *call, struct db *db, void *context)
{
    const struct bootstrap *it = context;
    static const struct principal program = {.kind = PRINCIPAL_OPERATOR, .actor = "cressetd"};
    const struct service_ask ask = {.who = &program, .reason = "bootstrap"};
    const struct key_making making = {
        .tenant = "operators",
        .name = "bootstrap",
        .kind = "opr",
        .scope = "operator",
        .permissions = identity_all_permissions(PRINCIPAL_OPERATOR),
        .created_by = program.actor,
        .life_us = KEYS_OPERATOR_LIFE_US,
    };
    CR_TRY(keys_make(call, db, it->config, &making, it->ret_key, it->ret_secret));
    struct service_mutation mutation = {.action = "key.created", .object = *it->ret_key};
    return service_audit(call, db, &ask, &mutation, NULL);
}

enum cr_status keys_bootstrap(struct cr_call *call, struct service *service, const char **ret_key,
                              const char **ret_secret)
{
    struct bootstrap it = {service->config, ret_key, ret_secret};
    return db_transaction(call, service->engine_db, "operators", 0, bootstrap_work, &it);
}

static enum cr_status one(struct cr_call *call, struct db *db, const char *tenant, const char *key,
                          struct key *ret_key)
{
    bool found;
    CR_TRY(db_one(call, db, &keys_one, DB_VALUES(db_text(tenant), db_text(key)), &key_shape,
                  ret_key, &found));
    return found ? CR_OK : service_missing(call, "key", key);
}

/* The leaf and the event of a change of one key. */
static enum cr_status tell(struct cr_call *call, struct db *db, const struct service_ask *ask,
                           const char *action, const char *before, const struct key *key)
{
    const char *tenant = ask->who->tenant, *body = json_write(call, &key_shape, key);
    struct service_mutation mutation = {
        .tenant = tenant, .action = action, .object = key->key, .before = before, .after = body};
    CR_TRY(service_audit(call, db, ask, &mutation, NULL));
    return service_outbox(call, db, tenant, action, key->key, body);
}

/* The permissions as one text; each must be one that exists, and that the maker has. */
static enum cr_status permissions_of(struct cr_call *call, const struct principal *who,
                                     const struct cr_texts *texts, const char **ret_list)
{
    struct cr_text list = cr_text_open(call);
    for (size_t i = 0; i < texts->count; i++) {
        const char *permission = texts->items[i];
        if (!identity_holds(identity_all_permissions(PRINCIPAL_TENANT), permission)) {
            cr_fault(call, CR_AT_POINTER, cr_format(call, "/permissions/%zu", i), "unknown_word",
                     "'%s' is no permission", permission);
            continue;
        }
        if (!identity_holds(who->permissions, permission)) {
            cr_extra_text(call, "permission", permission);
            return cr_fail_as(call, &cr_code_permission_denied,
                              "a key may not have %s, which its maker lacks", permission);
        }
        cr_text_add_format(&list, "%s%s", i > 0 ? "," : "", permission);
    }
    if (call->fault_count > 0)
        return cr_fail_as(call, &cr_code_invalid_body, "%s", call->faults[0].detail);
    *ret_list = list.data;
    return CR_OK;
}

static enum cr_status check_expiry(struct cr_call *call, int64_t expires)
{
    int64_t now = cr_utc_us(call);
    if (expires == CR_NO_INTEGER || (expires > now && expires <= now + KEYS_LIFE_MAX_US))
        return CR_OK;
    cr_fault(call, CR_AT_POINTER, "/expires", "out_of_range",
             "expires must be in the future, and within 366 days");
    return cr_fail_as(call, &cr_code_invalid_body, "%s", call->faults[0].detail);
}

struct count {
    int64_t count;
};
static const struct cr_member count_members[] = {
    CR_MEMBER(struct count, count, 0, CR_SAFE_INTEGER)};
static const struct cr_shape count_shape = CR_SHAPE(struct count, count_members);

static enum cr_status create_work(struct cr_call *call, struct db *db, struct service_work *work)
{
    const struct key_create *create = work->request;
    const struct principal *who = work->ask->who;
    const struct service_config *config = work->service->config;
    struct key *made = work->reply;
    struct count live;
    bool found;
    CR_TRY(db_one(call, db, &keys_live_count, DB_VALUES(db_text(who->tenant)), &count_shape, &live,
                  &found));
    if (live.count >= KEYS_MAX)
        return cr_fail_as(call, &cr_code_quota_exceeded, "the tenant has %d keys that live",
                          KEYS_MAX);

    struct key_making making = {
        .tenant = who->tenant,
        .name = create->name,
        .kind = config->installation,
        .scope = "tenant",
        .permissions = who->permissions,
        .created_by = who->actor,
        .life_us = KEYS_LIFE_US,
    };
    if (create->permissions.items)
        CR_TRY(permissions_of(call, who, &create->permissions, &making.permissions));
    const char *key, *secret;
    CR_TRY(make(call, db, config, &making, create->expires, &key, &secret));
    CR_TRY(one(call, db, who->tenant, key, made));
    CR_TRY(tell(call, db, work->ask, "key.created", NULL, made));
    made->secret = secret;
    made->durability = config->durability;
    return CR_OK;
}

enum cr_status keys_create(struct cr_call *call, struct service *service,
                           const struct service_ask *ask, const struct key_create *create,
                           struct key *ret_key)
{
    CR_TRY(check_expiry(call, create->expires));
    return service_keyed(call, service, ask, &key_made_shape, create_work, create, ret_key);
}

/* Reading ------------------------------------------------------------------------------------- */

struct reading {
    const char *tenant, *key, *after;
    int64_t limit;
    struct key *ret_key;
    struct cr_list *ret_keys;
};

static enum cr_status get_work(struct cr_call *call, struct db *db, void *context)
{
    const struct reading *it = context;
    return one(call, db, it->tenant, it->key, it->ret_key);
}

enum cr_status keys_get(struct cr_call *call, struct service *service, const struct principal *who,
                        const char *key, struct key *ret_key)
{
    struct reading it = {.tenant = who->tenant, .key = key, .ret_key = ret_key};
    return db_transaction(call, service->db, who->tenant, 0, get_work, &it);
}

static enum cr_status list_work(struct cr_call *call, struct db *db, void *context)
{
    const struct reading *it = context;
    return db_list(call, db, &keys_page,
                   DB_VALUES(db_text(it->tenant), db_text(it->after), db_int(it->limit)),
                   &key_shape, it->ret_keys);
}

enum cr_status keys_list(struct cr_call *call, struct service *service, const struct principal *who,
                         const char *after, int64_t limit, struct cr_list *ret_keys)
{
    struct reading it = {
        .tenant = who->tenant, .after = after, .limit = limit, .ret_keys = ret_keys};
    return db_transaction(call, service->db, who->tenant, 0, list_work, &it);
}

/* Changing ------------------------------------------------------------------------------------ */

struct change {
    const char *key;
    int64_t version; /* CR_NO_INTEGER: whatever it is */
    const struct key_patch *patch;
    const struct key_rotate *rotate;
};

/* Why a change hit no row: the key was read before it, in the same transaction. */
static enum cr_status refused(struct cr_call *call, const struct key *key)
{
    if (key->revoked != CR_NO_INTEGER) {
        cr_extra_text(call, "state", key->state);
        return cr_fail_as(call, &cr_code_state_forbids, "%s is revoked", key->key);
    }
    cr_extra_text(call, "etag", cr_format(call, "\"%lld\"", (long long)key->version));
    return cr_fail_as(call, &cr_code_version_mismatch, "%s has version %lld now", key->key,
                      (long long)key->version);
}

static enum cr_status patch_work(struct cr_call *call, struct db *db, struct service_work *work)
{
    const struct change *it = work->request;
    const struct principal *who = work->ask->who;
    const char *permissions = NULL;
    if (it->patch->permissions.items)
        CR_TRY(permissions_of(call, who, &it->patch->permissions, &permissions));

    struct key before;
    CR_TRY(one(call, db, who->tenant, it->key, &before));
    int64_t hit;
    CR_TRY(db_exec(call, db, &keys_change,
                   DB_VALUES(db_text(who->tenant), db_text(it->key), db_int(it->version),
                             db_text(it->patch->name), db_text(permissions)),
                   &hit));
    if (hit == 0)
        return refused(call, &before);
    CR_TRY(one(call, db, who->tenant, it->key, work->reply));
    return tell(call, db, work->ask, "key.changed", json_write(call, &key_shape, &before),
                work->reply);
}

enum cr_status keys_patch(struct cr_call *call, struct service *service,
                          const struct service_ask *ask, const char *key, int64_t version,
                          const struct key_patch *patch, struct key *ret_key)
{
    struct change it = {.key = key, .version = version, .patch = patch};
    CR_TRY(service_keyed(call, service, ask, &key_shape, patch_work, &it, ret_key));
    identity_cache_drop(service->config->identities, key);
    return CR_OK;
}

static enum cr_status rotate_work(struct cr_call *call, struct db *db, struct service_work *work)
{
    const struct change *it = work->request;
    const char *tenant = work->ask->who->tenant;
    int64_t overlap_s =
        it->rotate->overlap_s == CR_NO_INTEGER ? KEYS_OVERLAP_S : it->rotate->overlap_s;
    struct key before, *made = work->reply;
    CR_TRY(one(call, db, tenant, it->key, &before));
    int64_t hit;
    CR_TRY(db_exec(call, db, &keys_touch, DB_VALUES(db_text(tenant), db_text(it->key)), &hit));
    if (hit == 0)
        return refused(call, &before);
    CR_TRY(db_exec(call, db, &keys_secret_retire,
                   DB_VALUES(db_text(tenant), db_text(it->key), db_int(overlap_s * 1000000)),
                   NULL));
    const char *secret;
    CR_TRY(secret_insert(call, db, work->service->config, tenant, it->key, before.kind, &secret));
    CR_TRY(one(call, db, tenant, it->key, made));
    CR_TRY(tell(call, db, work->ask, "key.rotated", json_write(call, &key_shape, &before), made));
    made->secret = secret;
    made->durability = work->service->config->durability;
    return CR_OK;
}

enum cr_status keys_rotate(struct cr_call *call, struct service *service,
                           const struct service_ask *ask, const char *key,
                           const struct key_rotate *rotate, struct key *ret_key)
{
    struct change it = {.key = key, .rotate = rotate};
    CR_TRY(service_keyed(call, service, ask, &key_made_shape, rotate_work, &it, ret_key));
    identity_cache_drop(service->config->identities, key);
    return CR_OK;
}

static enum cr_status revoke_work(struct cr_call *call, struct db *db, struct service_work *work)
{
    const struct change *it = work->request;
    const char *tenant = work->ask->who->tenant;
    struct key before, after;
    CR_TRY(one(call, db, tenant, it->key, &before));
    int64_t hit;
    CR_TRY(db_exec(call, db, &keys_end,
                   DB_VALUES(db_text(tenant), db_text(it->key), db_int(it->version)), &hit));
    if (hit == 0)
        return refused(call, &before);
    CR_TRY(one(call, db, tenant, it->key, &after));
    return tell(call, db, work->ask, "key.revoked", json_write(call, &key_shape, &before), &after);
}

enum cr_status keys_revoke(struct cr_call *call, struct service *service,
                           const struct service_ask *ask, const char *key, int64_t version)
{
    struct change it = {.key = key, .version = version};
    CR_TRY(service_keyed(call, service, ask, NULL, revoke_work, &it, NULL));
    identity_cache_drop(service->config->identities, key);
    return CR_OK;
}
