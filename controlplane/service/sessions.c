#include "controlplane/service/sessions.h"

#include "base/core/text.h"
#include "base/crypto/crypto.h"
#include "controlplane/service/identity.h"
#include "controlplane/service/secrets.h"
#include "controlplane/service/sessions_sql.h"

#include <string.h>

#define OPERATORS "operators"
#define ACTOR     "console" /* one person, as far as a development region knows */

/* Letters that are not taken for one another, spoken or written (Crockford's base 32). */
static const char letters[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

struct place {
    const char *tenant, *actor;
};
static const struct cr_member place_members[] = {
    CR_MEMBER(struct place, tenant, 1, 64),
    CR_MEMBER(struct place, actor, 1, 64, .flags = CR_OPTIONAL),
};
static const struct cr_shape place_shape = CR_SHAPE(struct place, place_members);

static void hash_of(const struct service_config *config, const char *domain, const char *text,
                    unsigned char ret_hash[32])
{
    char both[128];
    int length = snprintf(both, sizeof both, "%s:%s", domain, text);
    base_crypto_keyed(config->secrets->session, both, (size_t)length, ret_hash, 32);
    base_crypto_wipe(both, sizeof both);
}

static bool is_session(const char *text)
{
    return strlen(text) == SESSIONS_HEX_LENGTH &&
           strspn(text, "0123456789abcdef") == SESSIONS_HEX_LENGTH;
}

bool sessions_hash(const struct service_config *config, const char *session,
                   unsigned char ret_hash[32])
{
    if (!is_session(session))
        return false;
    hash_of(config, "session", session, ret_hash);
    return true;
}

static bool is_code(const char *text)
{
    return strlen(text) == SESSIONS_CODE_LENGTH && strspn(text, letters) == SESSIONS_CODE_LENGTH;
}

enum cr_status sessions_code(struct cr_call *call, struct service *service, const char *tenant_name,
                             const char **ret_code)
{
    struct place place = {.tenant = OPERATORS};
    bool found = true;
    if (tenant_name)
        CR_TRY(db_one(call, service->engine_db, &sessions_tenant, DB_VALUES(db_text(tenant_name)),
                      &place_shape, &place, &found));
    if (!found)
        return service_missing(call, "tenant", tenant_name);

    unsigned char random[SESSIONS_CODE_LENGTH], hash[32];
    char *code = cr_new(call, char, SESSIONS_CODE_LENGTH + 1);
    cr_random(call, random, sizeof random);
    for (size_t i = 0; i < SESSIONS_CODE_LENGTH; i++)
        code[i] = letters[random[i] % 32];
    hash_of(service->config, "code", code, hash);
    CR_TRY(db_exec(call, service->engine_db, &sessions_code_insert,
                   DB_VALUES(db_bytes(hash, sizeof hash), db_text(place.tenant), db_text(ACTOR),
                             db_int(SESSIONS_CODE_US)),
                   NULL));
    *ret_code = code;
    return CR_OK;
}

/* What opens one session; the same again where the transaction is run again. */
struct opening {
    struct service *service;
    const struct service_ask *ask;
    const char *code;
    struct session *session;
};

struct until {
    int64_t until;
};
static const struct cr_member until_members[] = {CR_TIME(struct until, until)};
static const struct cr_shape until_shape = CR_SHAPE(struct until, until_members);

static enum cr_status insert(struct cr_call *call, struct db *db, const struct opening *it,
                             const struct place *place)
{
    bool operators = strcmp(place->tenant, OPERATORS) == 0, found;
    unsigned char hash[32];
    sessions_hash(it->service->config, it->session->session, hash);
    struct until until;
    CR_TRY(db_one(
        call, db, &sessions_insert,
        DB_VALUES(
            db_bytes(hash, sizeof hash), db_text(place->tenant), db_text(place->actor),
            db_int(SESSIONS_WHOLE_US), db_int(SESSIONS_OPERATOR_WHOLE_US),
            db_text(identity_all_permissions(operators ? PRINCIPAL_OPERATOR : PRINCIPAL_TENANT))),
        &until_shape, &until, &found));
    it->session->tenant = operators ? NULL : place->tenant;
    it->session->until = until.until;
    it->session->whole_s = (operators ? SESSIONS_OPERATOR_WHOLE_US : SESSIONS_WHOLE_US) / 1000000;
    return CR_OK;
}

static enum cr_status open_work(struct cr_call *call, struct db *db, void *context)
{
    const struct opening *it = context;
    unsigned char hash[32];
    hash_of(it->service->config, "code", it->code, hash);
    struct place place;
    bool found;
    CR_TRY(db_one(call, db, &sessions_code_use, DB_VALUES(db_bytes(hash, sizeof hash)),
                  &place_shape, &place, &found));
    if (!found)
        return cr_fail_as(call, &cr_code_credential_rejected,
                          "the code is not valid, was used, or is older than 10 minutes");
    CR_TRY(insert(call, db, it, &place));

    struct principal who = *it->ask->who;
    who.actor = place.actor;
    struct service_ask ask = *it->ask;
    ask.who = &who;
    struct service_mutation mutation = {
        .tenant = it->session->tenant, .action = "session.opened", .object = place.actor};
    return service_audit(call, db, &ask, &mutation, NULL);
}

enum cr_status sessions_open(struct cr_call *call, struct service *service,
                             const struct service_ask *ask, const char *code,
                             struct session *ret_session)
{
    if (!is_code(code))
        return cr_fail_as(call, &cr_code_credential_rejected, "the code is not valid");
    unsigned char random[32];
    cr_random(call, random, sizeof random);
    struct session session = {.session = cr_hex(call, random, sizeof random)};
    base_crypto_wipe(random, sizeof random);
    struct opening it = {service, ask, code, &session};
    CR_TRY(db_transaction(call, service->engine_db, OPERATORS, 0, open_work, &it));
    *ret_session = session;
    return CR_OK;
}

struct closing {
    const struct service_ask *ask;
    unsigned char hash[32];
};

static enum cr_status close_work(struct cr_call *call, struct db *db, void *context)
{
    const struct closing *it = context;
    int64_t ended;
    CR_TRY(
        db_exec(call, db, &sessions_end, DB_VALUES(db_bytes(it->hash, sizeof it->hash)), &ended));
    if (ended == 0)
        return CR_OK;
    const struct principal *who = it->ask->who;
    struct service_mutation mutation = {
        .tenant = who->tenant, .action = "session.closed", .object = who->actor};
    return service_audit(call, db, it->ask, &mutation, NULL);
}

enum cr_status sessions_close(struct cr_call *call, struct service *service,
                              const struct service_ask *ask, const char *session)
{
    struct closing it = {.ask = ask};
    if (!sessions_hash(service->config, session, it.hash))
        return CR_OK;
    return db_transaction(call, service->engine_db, service_tenant(ask->who), 0, close_work, &it);
}
