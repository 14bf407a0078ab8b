/* ledger_receipt: all that proves a usage record, out of the tables and the log, in one file. */
#include "controlplane/service/ledger_internal.h"

#include "billing/receipt.h"
#include "controlplane/service/jobs_internal.h"
#include "controlplane/service/ledger_sql.h"

#include <string.h>

struct record {
    const char *record;
    struct cr_bytes payload, signature, key_id, salt;
    int64_t leaf, at_us;
};
static const struct cr_member record_members[] = {
    CR_MEMBER(struct record, record, 0, 0),    CR_BYTES(struct record, payload, 0, INT32_MAX),
    CR_BYTES(struct record, signature, 0, 64), CR_BYTES(struct record, key_id, 0, 4),
    CR_BYTES(struct record, salt, 0, 16),      CR_MEMBER(struct record, leaf, 0, 0),
    CR_MEMBER(struct record, at_us, 0, 0),
};
static const struct cr_shape record_shape = CR_SHAPE(struct record, record_members);

struct evidence {
    struct cr_bytes payload, path, statement, signature, key_payload, key_signature;
    int64_t leaf_index, tree_size;
    const char *vkey;
};
static const struct cr_member evidence_members[] = {
    CR_BYTES(struct evidence, payload, 0, INT32_MAX),
    CR_BYTES(struct evidence, path, 0, INT32_MAX),
    CR_BYTES(struct evidence, statement, 0, INT32_MAX),
    CR_BYTES(struct evidence, signature, 0, 64),
    CR_BYTES(struct evidence, key_payload, 0, INT32_MAX),
    CR_BYTES(struct evidence, key_signature, 0, 64),
    CR_MEMBER(struct evidence, leaf_index, 0, 0),
    CR_MEMBER(struct evidence, tree_size, 0, 0),
    CR_MEMBER(struct evidence, vkey, 0, 0),
};
static const struct cr_shape evidence_shape = CR_SHAPE(struct evidence, evidence_members);

struct price {
    struct cr_bytes payload, signature;
};
static const struct cr_member price_members[] = {
    CR_BYTES(struct price, payload, 0, INT32_MAX),
    CR_BYTES(struct price, signature, 0, 64),
};
static const struct cr_shape price_shape = CR_SHAPE(struct price, price_members);

struct gathering {
    const struct service_config *config;
    const char *tenant, *job;
    bool found;
    struct record record;
    struct cr_list evidence, prices;
    const char *proof;
};

static enum cr_status gather(struct cr_call *call, struct db *db, void *context)
{
    struct gathering *it = context;
    struct job job;
    CR_TRY(jobs_read(call, db, it->config, it->tenant, it->job, &job)); /* 404 before anything */
    CR_TRY(db_one(call, db, &ledger_receipt_record,
                  DB_VALUES(db_text(it->tenant), db_text(it->job)), &record_shape, &it->record,
                  &it->found));
    if (!it->found) {
        cr_extra_text(call, "state", job.state);
        return cr_fail_as(call, &cr_code_state_forbids, "job %s has no usage record yet", it->job);
    }
    CR_TRY(db_list(call, db, &ledger_receipt_evidence,
                   DB_VALUES(db_text(it->tenant), db_text(it->record.record)), &evidence_shape,
                   &it->evidence));
    CR_TRY(db_list(call, db, &ledger_receipt_prices,
                   DB_VALUES(db_text(it->tenant), db_text(it->record.record)), &price_shape,
                   &it->prices));
    int64_t index = 0;
    return ledger_proof_of(call, db, it->config, it->record.leaf, &index, &it->proof);
}

static struct provenance_envelope *envelope_of(struct cr_call *call, const char *payload_type,
                                               struct cr_bytes payload, const char *keyid,
                                               struct cr_bytes signature)
{
    struct provenance_envelope *envelope = cr_new(call, struct provenance_envelope, 1);
    *envelope = (struct provenance_envelope){
        .payload_type = payload_type,
        .payload = payload,
        .signatures = {{.keyid = keyid, .sig = signature}},
        .signature_count = 1,
    };
    return envelope;
}

static struct billing_evidence evidence_of(struct cr_call *call, const struct evidence *row,
                                           const char *records)
{
    struct tlog_vkey vkey;
    bool is_read = tlog_vkey_read(call, row->vkey, strlen(row->vkey), &vkey);
    size_t count = row->path.size / TLOG_HASH_SIZE;
    struct tlog_hash *path = cr_new(call, struct tlog_hash, count + 1);
    memcpy(path, row->path.data, count * TLOG_HASH_SIZE);
    return (struct billing_evidence){
        .reading = row->payload,
        .index = row->leaf_index,
        .size = row->tree_size,
        .path = path,
        .path_count = count,
        .statement = envelope_of(call, BILLING_TYPE_STATEMENT, row->statement,
                                 is_read ? tlog_keyid(call, &vkey) : NULL, row->signature),
        .node_key =
            envelope_of(call, BILLING_TYPE_NODE_KEY, row->key_payload, records, row->key_signature),
    };
}

static const char *write(struct cr_call *call, const struct gathering *it)
{
    struct tlog_vkey vkey = ledger_records_vkey(call, it->config);
    const char *records = tlog_keyid(call, &vkey);
    const struct evidence *rows = it->evidence.items;
    struct billing_evidence *evidence =
        cr_new(call, struct billing_evidence, it->evidence.count + 1);
    for (size_t i = 0; i < it->evidence.count; i++)
        evidence[i] = evidence_of(call, &rows[i], records);

    const struct price *price_rows = it->prices.items;
    struct provenance_envelope *prices =
        cr_new(call, struct provenance_envelope, it->prices.count + 1);
    for (size_t i = 0; i < it->prices.count; i++)
        prices[i] = *envelope_of(call, BILLING_TYPE_PRICE, price_rows[i].payload, records,
                                 price_rows[i].signature);
    return billing_receipt_write(
        call,
        envelope_of(call, BILLING_TYPE_RECORD, it->record.payload, records, it->record.signature),
        it->record.salt.data, it->proof, evidence, it->evidence.count, prices, it->prices.count);
}

enum cr_status ledger_receipt(struct cr_call *call, struct service *service,
                              const struct principal *who, const char *job,
                              const char **ret_receipt)
{
    struct gathering it = {.config = service->config, .tenant = who->tenant, .job = job};
    CR_TRY(jobs_look(call, service, who, gather, &it));
    *ret_receipt = write(call, &it);
    return CR_OK;
}
