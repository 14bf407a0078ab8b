#include "controlplane/service/service.h"

#include "base/core/id.h"
#include "base/core/text.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"
#include "controlplane/service/secrets.h"
#include "controlplane/service/service_sql.h"

#include <string.h>

/* The tenant that rows of the region's operators bear. */
#define OPERATORS "operators"

static const struct principal engine = {
    .kind = PRINCIPAL_ENGINE, .actor = "engine", .permissions = "*"};
const struct service_ask service_by_engine = {.who = &engine};

const char *service_tenant(const struct principal *who)
{
    return who->tenant ? who->tenant : OPERATORS;
}

struct db *service_db(const struct service *service, const struct principal *who)
{
    return who->tenant ? service->db : service->engine_db;
}

/* Idempotency -----------------------------------------------------------------------------------
 */

struct keyed {
    struct service_work work;
    const struct cr_shape *gives;
    enum cr_status (*run)(struct cr_call *call, struct db *db, struct service_work *work);
};

struct claimed {
    struct cr_bytes request_sha256;
    bool sealed;
    struct cr_bytes answer;
};
static const struct cr_member claimed_members[] = {
    CR_BYTES(struct claimed, request_sha256, 32, 32),
    CR_MEMBER(struct claimed, sealed, 0, 0),
    CR_BYTES(struct claimed, answer, 0, INT32_MAX, .flags = CR_NULLABLE),
};
static const struct cr_shape claimed_shape = CR_SHAPE(struct claimed, claimed_members);

/* What a sealed answer is sealed under: it opens only to who shows the key again. */
static void seal_key(const struct service *service, const char *key,
                     unsigned char ret_key[BASE_CRYPTO_KEY_SIZE])
{
    base_crypto_keyed(service->config->secrets->pepper, key, strlen(key), ret_key,
                      BASE_CRYPTO_KEY_SIZE);
}

/* The key as it is stored: hashed where its answer is sealed under it. */
static const char *stored_key(struct cr_call *call, const struct service_work *work)
{
    const struct service_ask *ask = work->ask;
    if (!ask->sealed)
        return ask->key;
    unsigned char hash[BASE_CRYPTO_SHA256_SIZE];
    base_crypto_sha256(ask->key, strlen(ask->key), hash);
    return cr_format(call, "sha256:%s", cr_hex(call, hash, sizeof hash));
}

static enum cr_status store(struct cr_call *call, struct db *db, const struct keyed *it)
{
    const struct service_ask *ask = it->work.ask;
    const char *text = it->gives ? json_write(call, it->gives, it->work.reply) : "{}";
    struct cr_bytes answer = {(const unsigned char *)text, strlen(text)};
    if (ask->sealed) {
        unsigned char key[BASE_CRYPTO_KEY_SIZE];
        seal_key(it->work.service, ask->key, key);
        answer = base_crypto_seal(call, key, (struct cr_bytes){0}, answer);
        base_crypto_wipe(key, sizeof key);
    }
    return db_exec_fenced(call, db, &service_answered,
                          DB_VALUES(db_text(service_tenant(ask->who)),
                                    db_text(stored_key(call, &it->work)),
                                    db_bytes(answer.data, answer.size), db_bool(ask->sealed)),
                          "the claim of an Idempotency-Key is gone");
}

static enum cr_status replay(struct cr_call *call, struct db *db, const struct keyed *it)
{
    const struct service_ask *ask = it->work.ask;
    struct claimed claimed;
    bool found;
    CR_TRY(
        db_one(call, db, &service_claimed,
               DB_VALUES(db_text(service_tenant(ask->who)), db_text(stored_key(call, &it->work))),
               &claimed_shape, &claimed, &found));
    if (!found || !claimed.answer.data)
        return cr_fail_as(call, &cr_code_idempotency_in_progress,
                          "a request with this Idempotency-Key is being worked on");
    if (memcmp(claimed.request_sha256.data, ask->request_sha256, 32) != 0)
        return cr_fail_as(call, &cr_code_idempotency_key_reused,
                          "this Idempotency-Key was used for another request");
    if (claimed.sealed) {
        unsigned char key[BASE_CRYPTO_KEY_SIZE];
        seal_key(it->work.service, ask->key, key);
        enum cr_status status =
            base_crypto_unseal(call, key, (struct cr_bytes){0}, claimed.answer, &claimed.answer);
        base_crypto_wipe(key, sizeof key);
        CR_TRY(status);
    }
    if (ask->ret_replayed)
        *ask->ret_replayed = true;
    return it->gives ? json_read(call, it->gives, (const char *)claimed.answer.data,
                                 claimed.answer.size, it->work.reply)
                     : CR_OK;
}

static enum cr_status keyed_work(struct cr_call *call, struct db *db, void *context)
{
    struct keyed *it = context;
    const struct service_ask *ask = it->work.ask;
    if (!ask->key)
        return it->run(call, db, &it->work);

    int64_t claimed;
    enum cr_status status =
        db_exec(call, db, &service_claim,
                DB_VALUES(db_text(service_tenant(ask->who)), db_text(stored_key(call, &it->work)),
                          db_bytes(ask->request_sha256, sizeof ask->request_sha256)),
                &claimed);
    if (status == CR_UNAVAILABLE && strcmp(db_sqlstate(call, db), "55P03") == 0) {
        cr_forgive(call); /* the other holder of the key is still at work */
        return cr_fail_as(call, &cr_code_idempotency_in_progress,
                          "a request with this Idempotency-Key is being worked on");
    }
    CR_TRY(status);
    if (claimed == 0)
        return replay(call, db, it);
    CR_TRY(it->run(call, db, &it->work));
    return store(call, db, it);
}

enum cr_status service_keyed(struct cr_call *call, struct service *service,
                             const struct service_ask *ask, const struct cr_shape *gives,
                             enum cr_status (*work)(struct cr_call *call, struct db *db,
                                                    struct service_work *work),
                             const void *request, void *ret_reply)
{
    struct keyed it = {
        .work = {.service = service, .ask = ask, .request = request, .reply = ret_reply},
        .gives = gives,
        .run = work,
    };
    if (ask->ret_replayed)
        *ask->ret_replayed = false;
    return db_transaction(call, service_db(service, ask->who), service_tenant(ask->who),
                          ask->key ? DB_REPEATABLE : 0, keyed_work, &it);
}

/* Audit -----------------------------------------------------------------------------------------
 */

static const struct cr_member leaf_members[] = {
    {.name = "leaf_id", .kind = CR_KIND_INTEGER, .offset = 0}};
static const struct cr_shape leaf_shape = {
    .size = sizeof(int64_t), .members = leaf_members, .member_count = 1};

static void add_member(struct cr_text *text, const char *name, const char *value)
{
    cr_text_add_format(text, "%s\"%s\":", text->length > 1 ? "," : "", name);
    cr_text_add_quoted(text, value ? value : "", value ? strlen(value) : 0);
}

static const char *digest_of(struct cr_call *call, const char *text)
{
    if (!text)
        return "";
    unsigned char hash[BASE_CRYPTO_SHA256_SIZE];
    base_crypto_sha256(text, strlen(text), hash);
    return cr_hex(call, hash, sizeof hash);
}

/* The body of a mutation's leaf, in canonical form: the members stand in their order. */
static const char *mutation_body(struct cr_call *call, const struct service_ask *ask,
                                 const struct service_mutation *mutation)
{
    struct cr_text text = cr_text_open(call);
    cr_text_add(&text, "{");
    add_member(&text, "action", mutation->action);
    add_member(&text, "actor", ask->who->actor);
    add_member(&text, "after", digest_of(call, mutation->after));
    add_member(&text, "at_us", cr_format(call, "%lld", (long long)cr_utc_us(call)));
    add_member(&text, "before", digest_of(call, mutation->before));
    add_member(&text, "object", mutation->object);
    add_member(&text, "reason", ask->reason);
    add_member(&text, "request", ask->request);
    add_member(&text, "tenant", mutation->tenant);
    add_member(&text, "type", "cresset.audit/v1");
    cr_text_add(&text, "}");
    return text.data;
}

/* What stands in the public log: a commitment, or, of public kinds, the body itself. */
static const char *entry_of(struct cr_call *call, const char *public_kind,
                            const unsigned char salt[16], const void *payload, size_t size)
{
    if (public_kind)
        return cr_format(call, "cresset.leaf/v1 public %s\n%.*s", public_kind, (int)size,
                         (const char *)payload);
    unsigned char hash[BASE_CRYPTO_SHA256_SIZE];
    struct base_crypto_sha256 state;
    base_crypto_sha256_init(&state);
    base_crypto_sha256_add(&state, salt, 16);
    base_crypto_sha256_add(&state, payload, size);
    base_crypto_sha256_done(&state, hash);
    return cr_format(call, "cresset.leaf/v1 sealed %s\n", cr_hex(call, hash, sizeof hash));
}

enum cr_status service_leaf(struct cr_call *call, struct db *db, const struct service_ask *ask,
                            const struct service_mutation *mutation, const char *public_kind,
                            const void *payload, size_t size, int64_t *ret_leaf)
{
    unsigned char salt[16];
    cr_random(call, salt, sizeof salt);
    const char *entry = entry_of(call, public_kind, salt, payload, size);
    int64_t leaf = 0;
    bool found;
    CR_TRY(
        db_one(call, db, &service_leaf_insert,
               DB_VALUES(db_text(mutation->tenant), db_text(mutation->action),
                         db_text(ask->who->actor), db_text(mutation->object),
                         db_int(cr_utc_us(call)), db_bytes(public_kind ? NULL : salt, sizeof salt),
                         db_bytes(payload, size), db_bytes(entry, strlen(entry))),
               &leaf_shape, &leaf, &found));
    if (ret_leaf)
        *ret_leaf = leaf;
    return CR_OK;
}

enum cr_status service_audit(struct cr_call *call, struct db *db, const struct service_ask *ask,
                             const struct service_mutation *mutation, int64_t *ret_leaf)
{
    const char *body = mutation_body(call, ask, mutation);
    return service_leaf(call, db, ask, mutation, NULL, body, strlen(body), ret_leaf);
}

/* Telling ---------------------------------------------------------------------------------------
 */

enum cr_status service_outbox(struct cr_call *call, struct db *db, const char *tenant,
                              const char *type, const char *subject, const char *body)
{
    if (strlen(body) > SERVICE_EVENT_MAX)
        return cr_fail(call, CR_INTERNAL, "the event %s of %s is over %d bytes", type, subject,
                       SERVICE_EVENT_MAX);
    return db_exec(call, db, &service_outbox_insert,
                   DB_VALUES(db_text(tenant ? tenant : OPERATORS), db_text(type), db_text(subject),
                             db_text(body)),
                   NULL);
}

void service_wake(struct cr_call *call, struct service *service, const char *tenant, const char *id)
{
    const char *noun = cr_id_kind(id);
    if (!noun)
        return;
    if (service->config->wake) {
        service->config->wake(service->config->wake_context, cr_format(call, "%s:%s", noun, id));
        service->config->wake(service->config->wake_context,
                              cr_format(call, "tenant:%s", tenant ? tenant : OPERATORS));
    }
    if (service->bus)
        bus_publish(call, service->bus,
                    tenant ? cr_format(call, "%s.%s.%s", noun, tenant, id)
                           : cr_format(call, "%s.%s", noun, id),
                    NULL, 0);
}

enum cr_status service_missing(struct cr_call *call, const char *noun, const char *id)
{
    return cr_fail_as(call, &cr_code_not_found, "no %s %s", noun, id);
}
