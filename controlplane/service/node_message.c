/* node_message: signed messages, and the leases that they are about. */
#include "controlplane/service/node_internal.h"

#include "base/json/json.h"
#include "controlplane/service/jobs.h"
#include "controlplane/service/ledger.h"

/* clang-format off */
static const struct cr_member lease_members[] = {
    CR_ID(struct node_lease, lease, "lse"),
    CR_ID(struct node_lease, tenant, "tnt"),
    CR_ID(struct node_lease, job, "job"),
    CR_MEMBER(struct node_lease, lease_epoch, 1, INT64_MAX),
    CR_MEMBER(struct node_lease, member, 0, 511),
    CR_ID(struct node_lease, node, "node"),
    CR_MEMBER(struct node_lease, node_epoch, 0, INT64_MAX),
    CR_TEXTS(struct node_lease, devices, 1, 512),
    CR_MEMBER(struct node_lease, state, 1, 32),
    CR_MEMBER(struct node_lease, attempt, 0, INT64_MAX),
    CR_TIME(struct node_lease, granted),
    CR_TIME(struct node_lease, started, .flags = CR_NULLABLE),
    CR_TIME(struct node_lease, ended, .flags = CR_NULLABLE),
    CR_MEMBER(struct node_lease, revoke_reason, 0, 64, .flags = CR_NULLABLE),
    CR_TIME(struct node_lease, stop_until, .flags = CR_NULLABLE),
    CR_MEMBER(struct node_lease, boot, 0, 64, .flags = CR_NULLABLE),
    CR_MEMBER(struct node_lease, node_boot, 0, 64, .flags = CR_NULLABLE),
    CR_MEMBER(struct node_lease, vkey, 1, 512),
    CR_MEMBER(struct node_lease, node_state, 1, 32),
    CR_MEMBER(struct node_lease, highest_epoch, 0, INT64_MAX),
};
/* clang-format on */
const struct cr_shape node_lease_shape = CR_SHAPE(struct node_lease, lease_members);

static bool is_canonical(struct cr_call *call, struct cr_bytes payload)
{
    const struct json_value *value;
    if (json_parse(call, NULL, (const char *)payload.data, payload.size, &value) != CR_OK) {
        cr_forgive(call);
        return false;
    }
    const char *canonical = json_canonical(call, value);
    return strlen(canonical) == payload.size && memcmp(canonical, payload.data, payload.size) == 0;
}

bool node_signed_by(struct cr_call *call, const struct protocol_envelope *envelope,
                    const struct tlog_vkey *vkey)
{
    const struct protocol_signature *signature = envelope->signatures.items;
    struct provenance_envelope signed_one = {
        .payload_type = envelope->payloadType,
        .payload = envelope->payload,
        .signatures = {{.keyid = signature->keyid, .sig = signature->sig}},
        .signature_count = 1,
    };
    const unsigned char *keys[] = {vkey->key};
    return vkey->type == TLOG_ED25519 && provenance_signers(call, &signed_one, keys, 1, NULL) == 1;
}

enum cr_status node_open(struct cr_call *call, const struct protocol_envelope *envelope,
                         const char *type, const char *vkey, const struct cr_shape *shape,
                         void *ret_message)
{
    struct tlog_vkey key;
    if (!tlog_vkey_read(call, vkey, strlen(vkey), &key))
        return cr_fail(call, CR_INTERNAL, "a stored vkey cannot be read");
    if (!node_signed_by(call, envelope, &key))
        return cr_fail_as(call, &cr_code_bad_signature, "the message is not signed by its node");
    if (strcmp(envelope->payloadType, type) != 0)
        return cr_fail_as(call, &cr_code_invalid_body, "payloadType must be %s", type);
    if (!is_canonical(call, envelope->payload))
        return cr_fail_as(call, &cr_code_bad_signature, "the signed body is not canonical JSON");
    return json_read(call, shape, (const char *)envelope->payload.data, envelope->payload.size,
                     ret_message);
}

enum cr_status node_lease_read(struct cr_call *call, struct db *db, const char *node,
                               const char *lease, struct node_lease *ret_lease)
{
    bool found;
    CR_TRY(db_one(call, db, &node_lease_by_id, DB_VALUES(db_text(lease), db_text(node)),
                  &node_lease_shape, ret_lease, &found));
    return found ? CR_OK : service_missing(call, "lease", lease);
}

static bool same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

enum cr_status node_fence(struct cr_call *call, const struct node_lease *lease,
                          const struct node_head *head, const char *boot)
{
    if (!same(head->lease, lease->lease) || !same(head->node, lease->node))
        return cr_fail_as(call, &cr_code_invalid_body,
                          "node and lease of the message are not those of the request");
    if (!same(head->boot, boot))
        return cr_fail_as(call, &service_code_stale_boot, "the boot of %s is another", lease->node);
    if (head->lease_epoch != lease->lease_epoch || lease->lease_epoch < lease->highest_epoch)
        return cr_fail_as(call, &service_code_stale_lease, "%s is over", lease->lease);
    return CR_OK;
}

struct protocol_ordered node_order(const struct node_lease *lease, int64_t now_us)
{
    if (lease->ended != CR_NO_INTEGER || lease->lease_epoch < lease->highest_epoch)
        return (struct protocol_ordered){
            .order = "drop", .cause = "expired", .grace_s = CR_NO_INTEGER};
    if (strcmp(lease->state, "revoking") != 0)
        return (struct protocol_ordered){.order = "continue", .grace_s = CR_NO_INTEGER};
    int64_t left = lease->stop_until == CR_NO_INTEGER ? 0 : lease->stop_until - now_us;
    return (struct protocol_ordered){
        .order = "stop",
        .cause = lease->revoke_reason ? lease->revoke_reason : "cancel",
        .grace_s = left <= 0                     ? 0
                   : left / CR_US_A_SECOND > 600 ? 600
                                                 : left / CR_US_A_SECOND,
    };
}

enum cr_status node_lose(struct cr_call *call, struct db *db, const struct service_config *config,
                         const struct node_lease *lease, const char *state, const char *word,
                         const char *detail)
{
    int64_t at_us;
    const char *told;
    CR_TRY(ledger_stamp(call, db,
                        &(struct ledger_change){.devices = lease->devices.items,
                                                .device_count = lease->devices.count,
                                                .state = LEDGER_FREE,
                                                .reason = word},
                        &at_us));
    CR_TRY(db_exec_fenced(call, db, &node_end_lease,
                          DB_VALUES(db_text(lease->lease), db_text(lease->node),
                                    db_int(lease->lease_epoch), db_text(state), db_text(word),
                                    db_text(detail), db_int(at_us)),
                          "the lease has ended"));
    return jobs_lose(call, db, config,
                     &(struct jobs_loss){.tenant = lease->tenant,
                                         .job = lease->job,
                                         .lease_epoch = lease->lease_epoch,
                                         .word = word,
                                         .detail = detail},
                     &told);
}
