/* node_join: how a node comes into the region, and how it comes back. */
#include "controlplane/service/node_internal.h"

#include "base/core/id.h"
#include "base/crypto/credential.h"
#include "base/json/json.h"
#include "controlplane/service/ledger.h"
#include "controlplane/service/secrets.h"

struct enrollment {
    const char *credential;
    struct cr_bytes hash;
    int64_t until_us, used;
    const char *name, *vkey, *node;
    struct cr_bytes answer;
};
struct known {
    const char *node, *name, *state;
    int64_t node_epoch;
    const char *boot, *vkey, *engine;
};
/* clang-format off */
static const struct cr_member enrollment_members[] = {
    CR_MEMBER(struct enrollment, credential, 12, 12),
    CR_BYTES(struct enrollment, hash, 32, 32),
    CR_TIME(struct enrollment, until_us),
    CR_TIME(struct enrollment, used, .flags = CR_NULLABLE),
    CR_MEMBER(struct enrollment, name, 1, 63, .flags = CR_NULLABLE),
    CR_MEMBER(struct enrollment, vkey, 1, 512, .flags = CR_NULLABLE),
    CR_MEMBER(struct enrollment, node, 1, 63, .flags = CR_NULLABLE),
    CR_BYTES(struct enrollment, answer, 0, 65536, .flags = CR_NULLABLE),
};
static const struct cr_shape enrollment_shape = CR_SHAPE(struct enrollment, enrollment_members);
static const struct cr_member known_members[] = {
    CR_ID(struct known, node, "node"),
    CR_MEMBER(struct known, name, 1, 63),
    CR_MEMBER(struct known, state, 1, 32),
    CR_MEMBER(struct known, node_epoch, 0, INT64_MAX),
    CR_MEMBER(struct known, boot, 0, 64, .flags = CR_NULLABLE),
    CR_MEMBER(struct known, vkey, 1, 512),
    CR_MEMBER(struct known, engine, 0, 128),
};
static const struct cr_shape known_shape = CR_SHAPE(struct known, known_members);
/* clang-format on */

/* One join, through its transaction. */
struct joining {
    struct service *service;
    const char *token;
    const struct protocol_envelope *envelope;
    struct protocol_join join;
    const char *node;
    struct protocol_joined joined;
};

static const char *driver_model(const struct protocol_join *join)
{
    const struct protocol_device *devices = join->devices.items;
    return join->devices.count ? devices[0].model : "cpu";
}

static const char *labels_json(struct cr_call *call, const struct cr_labels *labels)
{
    struct cr_text text = cr_text_open(call);
    cr_text_add(&text, "{");
    for (size_t i = 0; i < labels->count; i++) {
        cr_text_add(&text, i ? "," : "");
        json_add_text(&text, labels->items[i].name);
        cr_text_add(&text, ":");
        json_add_text(&text, labels->items[i].value);
    }
    cr_text_add(&text, "}");
    return text.data;
}

static const char *jail_text(struct cr_call *call, const struct cr_texts *jail)
{
    struct cr_text text = cr_text_open(call);
    for (size_t i = 0; i < jail->count; i++)
        cr_text_add_format(&text, "%s%s", i ? "," : "", jail->items[i]);
    return text.data;
}

/* Cards, devices and the beginning of their time as free. */
static enum cr_status write_devices(struct cr_call *call, struct db *db, const struct joining *it)
{
    const struct protocol_device *devices = it->join.devices.items;
    size_t count = it->join.devices.count;
    const char **ids = cr_new(call, const char *, count);
    for (size_t i = 0; i < count; i++) {
        ids[i] = cr_format(call, "%s/%s", it->node, devices[i].device);
        CR_TRY(db_exec(
            call, db, &node_card_upsert,
            DB_VALUES(db_text(it->node), db_text(devices[i].card), db_text(devices[i].model)),
            NULL));
        CR_TRY(db_exec(call, db, &node_device_upsert,
                       DB_VALUES(db_text(ids[i]), db_text(it->node), db_text(devices[i].card),
                                 db_text(devices[i].model), db_int(devices[i].memory_mib),
                                 db_int(devices[i].slices), db_text(devices[i].class),
                                 db_text(devices[i].driver)),
                       NULL));
    }
    CR_TRY(db_exec(call, db, &node_devices_gone, DB_VALUES(db_text(it->node), db_texts(ids, count)),
                   NULL));
    return db_exec(call, db, &node_device_states, DB_VALUES(db_text(it->node)), NULL);
}

static struct service_ask ask_of(struct cr_call *call, const char *node)
{
    struct principal *who = cr_new(call, struct principal, 1);
    *who = (struct principal){.kind = PRINCIPAL_NODE, .node = node, .actor = node};
    return (struct service_ask){.who = who};
}

static enum cr_status audit(struct cr_call *call, struct db *db, const struct joining *it,
                            const char *action)
{
    struct service_ask ask = ask_of(call, it->node);
    return service_audit(
        call, db, &ask,
        &(struct service_mutation){.action = action,
                                   .object = it->node,
                                   .after = (const char *)cr_copy(call, it->envelope->payload.data,
                                                                  it->envelope->payload.size)},
        NULL);
}

/* Development: what the node shows at GET and PUT, where production has a certificate. */
static enum cr_status write_credential(struct cr_call *call, struct db *db,
                                       const struct joining *it, const char **ret_credential)
{
    const struct service_secrets *secrets = it->service->config->secrets;
    struct base_crypto_credential credential;
    const char *text = base_crypto_credential_make(call, "dev", &credential);
    unsigned char hash[32];
    base_crypto_keyed(secrets->pepper, text, strlen(text), hash, sizeof hash);
    const char *key = cr_id(call, "key");
    CR_TRY(db_exec(call, db, &node_api_key_insert,
                   DB_VALUES(db_text(key), db_text(it->join.name), db_text(it->node)), NULL));
    CR_TRY(db_exec(call, db, &node_api_secret_insert,
                   DB_VALUES(db_text(key), db_text(credential.id), db_bytes(hash, sizeof hash),
                             db_text(secrets->pepper_id)),
                   NULL));
    *ret_credential = text;
    return CR_OK;
}

static struct protocol_joined answer_of(struct cr_call *call, const char *node, int64_t epoch,
                                        const char *state)
{
    struct protocol_bus *bus = cr_new(call, struct protocol_bus, 1);
    bus->urls.items = cr_new(call, const char *, 1);
    bus->credential = "";
    return (struct protocol_joined){.node = node,
                                    .node_epoch = epoch,
                                    .protocol = PROTOCOL_NUMBER,
                                    .bus = bus,
                                    .renew_ns = PROTOCOL_RENEW_NS,
                                    .stop_ns = PROTOCOL_NODE_STOP_NS,
                                    .state = state};
}

static enum cr_status rejected(struct cr_call *call)
{
    return cr_fail_as(call, &cr_code_credential_rejected, "the token of enrolment is not valid");
}

/* What a kept answer is sealed under: only who shows the token again can have it. */
static void seal_key(const struct joining *it, unsigned char ret_key[BASE_CRYPTO_KEY_SIZE])
{
    base_crypto_keyed(it->service->config->secrets->pepper, it->token, strlen(it->token), ret_key,
                      BASE_CRYPTO_KEY_SIZE);
}

static enum cr_status answer_again(struct cr_call *call, struct joining *it,
                                   const struct enrollment *enrollment)
{
    if (strcmp(enrollment->vkey, it->join.vkey) != 0 || !enrollment->answer.data ||
        cr_utc_us(call) > enrollment->used + NODE_REPLAY_US)
        return rejected(call);
    unsigned char key[BASE_CRYPTO_KEY_SIZE];
    struct cr_bytes plain;
    seal_key(it, key);
    enum cr_status status =
        base_crypto_unseal(call, key, (struct cr_bytes){0}, enrollment->answer, &plain);
    base_crypto_wipe(key, sizeof key);
    CR_TRY(status);
    return json_read(call, &protocol_joined_shape, (const char *)plain.data, plain.size,
                     &it->joined);
}

static enum cr_status use_enrollment(struct cr_call *call, struct db *db, const struct joining *it,
                                     const char *credential)
{
    const char *answer = json_write(call, &protocol_joined_shape, &it->joined);
    unsigned char key[BASE_CRYPTO_KEY_SIZE];
    seal_key(it, key);
    struct cr_bytes sealed =
        base_crypto_seal(call, key, (struct cr_bytes){0},
                         (struct cr_bytes){(const unsigned char *)answer, strlen(answer)});
    base_crypto_wipe(key, sizeof key);
    return db_exec_fenced(call, db, &node_enrollment_use,
                          DB_VALUES(db_text(credential), db_int(cr_utc_us(call)),
                                    db_text(it->join.vkey), db_text(it->node),
                                    db_bytes(sealed.data, sealed.size)),
                          "the token of enrolment was used meanwhile");
}

static enum cr_status insert_node(struct cr_call *call, struct db *db, const struct joining *it,
                                  const char *vkey)
{
    const struct protocol_join *join = &it->join;
    enum cr_status status = db_exec(
        call, db, &node_insert,
        DB_VALUES(db_text(it->node), db_text(join->name), db_text(it->service->config->region),
                  db_text(join->zone), db_text(join->block), db_text(join->rack),
                  db_text(driver_model(join)), db_int((int64_t)join->devices.count),
                  db_int(join->cpu_milli), db_int(join->memory_mib), db_int(join->disk_mib),
                  db_text(labels_json(call, &join->labels)), db_text(join->address), db_text(vkey),
                  db_text(join->boot), db_int(join->protocol), db_text(join->build),
                  db_text(join->engine), db_text(jail_text(call, &join->jail))),
        NULL);
    if (status == CR_CONFLICT && strcmp(db_constraint(call, db), "node_name") == 0) {
        cr_forgive(call);
        return cr_fail_as(call, &cr_code_already_exists, "a node named %s exists", join->name);
    }
    return status;
}

static enum cr_status find_enrollment(struct cr_call *call, struct db *db, const struct joining *it,
                                      struct enrollment *ret_enrollment)
{
    struct base_crypto_credential credential;
    if (!base_crypto_credential_parse(it->token, strlen(it->token), &credential) ||
        strcmp(credential.kind, "enr") != 0)
        return rejected(call);
    bool found;
    CR_TRY(db_one(call, db, &node_enrollment, DB_VALUES(db_text(credential.id)), &enrollment_shape,
                  ret_enrollment, &found));
    unsigned char hash[32];
    base_crypto_keyed(it->service->config->secrets->pepper, it->token, strlen(it->token), hash,
                      sizeof hash);
    if (!found || !base_crypto_equal(hash, ret_enrollment->hash.data, sizeof hash))
        return rejected(call);
    return CR_OK;
}

static enum cr_status enrol(struct cr_call *call, struct db *db, struct joining *it,
                            const struct tlog_vkey *shown)
{
    struct enrollment enrollment;
    CR_TRY(find_enrollment(call, db, it, &enrollment));
    if (enrollment.used != CR_NO_INTEGER)
        return answer_again(call, it, &enrollment);
    if (cr_utc_us(call) > enrollment.until_us)
        return cr_fail_as(call, &cr_code_credential_expired, "the token of enrolment has expired");
    if (enrollment.name && strcmp(enrollment.name, it->join.name) != 0)
        return cr_fail_as(call, &cr_code_permission_denied, "the token is for a node named %s",
                          enrollment.name);

    it->node = cr_id(call, "node");
    struct tlog_vkey vkey;
    const struct service_config *config = it->service->config;
    const char *name = ledger_node_key_name(call, config, it->node);
    if (!tlog_vkey_make(name, TLOG_ED25519, shown->key, &vkey))
        return cr_fail(call, CR_INTERNAL, "%s cannot name a key", name);
    const char *vkey_text = tlog_vkey_write(call, &vkey);
    CR_TRY(insert_node(call, db, it, vkey_text));
    CR_TRY(write_devices(call, db, it));
    struct service_ask ask = ask_of(call, it->node);
    CR_TRY(ledger_node_key(call, db, config, &ask, it->node, vkey_text));
    it->joined = answer_of(call, it->node, 1, "joining");
    CR_TRY(write_credential(call, db, it, &it->joined.key));
    CR_TRY(audit(call, db, it, "node.enrolled"));
    return use_enrollment(call, db, it, enrollment.credential);
}

/* Leases of the old boot that left no result end at once; one that is over already is let be. */
static enum cr_status end_leases(struct cr_call *call, struct db *db, const struct joining *it)
{
    const struct protocol_ended *ended = it->join.ended.items;
    for (size_t i = 0; i < it->join.ended.count; i++) {
        struct node_lease lease;
        bool found;
        CR_TRY(db_one(call, db, &node_lease_by_id,
                      DB_VALUES(db_text(ended[i].lease), db_text(it->node)), &node_lease_shape,
                      &lease, &found));
        if (!found || lease.ended != CR_NO_INTEGER || lease.lease_epoch != ended[i].lease_epoch ||
            lease.lease_epoch < lease.highest_epoch)
            continue;
        CR_TRY(node_lose(call, db, it->service->config, &lease, "expired", "node_lost",
                         "the agent of the node was started anew"));
    }
    return CR_OK;
}

static enum cr_status come_back(struct cr_call *call, struct db *db, struct joining *it)
{
    struct known known;
    bool found;
    it->node = it->join.node;
    CR_TRY(
        db_one(call, db, &node_lock, DB_VALUES(db_text(it->node)), &known_shape, &known, &found));
    if (!found)
        return service_missing(call, "node", it->node);
    struct protocol_join proven;
    CR_TRY(node_open(call, it->envelope, PROTOCOL_TYPE_JOIN, known.vkey, &protocol_join_shape,
                     &proven));
    if (strcmp(known.state, "retired") == 0)
        return cr_fail_as(call, &cr_code_permission_denied, "%s is retired", it->node);

    const struct protocol_join *join = &it->join;
    bool anew =
        strcmp(join->cause, "start") == 0 && (!known.boot || strcmp(known.boot, join->boot) != 0);
    if (!anew && known.boot && strcmp(known.boot, join->boot) != 0)
        return cr_fail_as(call, &service_code_stale_boot, "a newer start of %s has joined",
                          it->node);
    CR_TRY(end_leases(call, db, it));
    CR_TRY(db_exec(
        call, db, &node_rejoin,
        DB_VALUES(db_text(it->node), db_text(join->zone), db_text(join->block), db_text(join->rack),
                  db_text(driver_model(join)), db_int((int64_t)join->devices.count),
                  db_int(join->cpu_milli), db_int(join->memory_mib), db_int(join->disk_mib),
                  db_text(labels_json(call, &join->labels)), db_text(join->address), db_bool(anew),
                  db_text(join->boot), db_int(join->protocol), db_text(join->build),
                  db_text(join->engine), db_text(jail_text(call, &join->jail))),
        NULL));
    CR_TRY(write_devices(call, db, it));
    if (anew)
        CR_TRY(audit(call, db, it, "node.joined"));
    bool back = anew && (strcmp(known.state, "ready") == 0 || strcmp(known.state, "lost") == 0 ||
                         strcmp(known.state, "suspect") == 0);
    it->joined = answer_of(call, it->node, known.node_epoch + (anew ? 1 : 0),
                           back ? "joining" : known.state);
    return CR_OK;
}

static enum cr_status join_work(struct cr_call *call, struct db *db, void *context)
{
    struct joining *it = context;
    if (strcmp(it->join.cause, "enrol") != 0)
        return come_back(call, db, it);
    struct tlog_vkey shown;
    if (!tlog_vkey_read(call, it->join.vkey, strlen(it->join.vkey), &shown) ||
        !node_signed_by(call, it->envelope, &shown))
        return cr_fail_as(call, &cr_code_bad_signature, "the message is not signed by its vkey");
    return it->token ? enrol(call, db, it, &shown)
                     : cr_fail_as(call, &cr_code_credential_missing,
                                  "enrolment wants Authorization: Bearer crs_enr_…");
}

/* A jail that is not whole is for development alone. */
static enum cr_status check_jail(struct cr_call *call, const struct joining *it)
{
    static const char *const wanted[] = {"limits", "privileges", "namespaces", "landlock",
                                         "seccomp"};
    if (strcmp(it->service->config->installation, "dev") == 0)
        return CR_OK;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        bool held = false;
        for (size_t j = 0; j < it->join.jail.count; j++)
            held = held || strcmp(it->join.jail.items[j], wanted[i]) == 0;
        if (!held)
            return cr_fail_as(call, &cr_code_permission_denied, "the jail of %s lacks %s",
                              it->join.name, wanted[i]);
    }
    return CR_OK;
}

enum cr_status node_join(struct cr_call *call, struct service *service, const char *token,
                         const struct protocol_envelope *envelope,
                         struct protocol_joined *ret_joined)
{
    struct joining it = {.service = service, .token = token, .envelope = envelope};
    if (strcmp(envelope->payloadType, PROTOCOL_TYPE_JOIN) != 0)
        return cr_fail_as(call, &cr_code_invalid_body, "payloadType must be " PROTOCOL_TYPE_JOIN);
    CR_TRY(json_read(call, &protocol_join_shape, (const char *)envelope->payload.data,
                     envelope->payload.size, &it.join));
    CR_TRY(protocol_join_check(call, &it.join));
    if (it.join.protocol != PROTOCOL_NUMBER)
        return cr_fail_as(call, &cr_code_invalid_body, "protocol must be %d", PROTOCOL_NUMBER);
    CR_TRY(check_jail(call, &it));
    CR_TRY(db_transaction(call, service->engine_db, NULL, DB_REPEATABLE, join_work, &it));
    *ret_joined = it.joined;
    return CR_OK;
}
