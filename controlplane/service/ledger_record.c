/* ledger_record: usage records, with their legs, charges and leaves. */
#include "controlplane/service/ledger_internal.h"

#include "base/core/id.h"
#include "controlplane/service/ledger_sql.h"

#include <string.h>

#define CLASS_USAGE      0
#define CLASS_CORRECTION 1

/* clang-format off */
#define COLUMN(member) CR_MEMBER(struct ledger_held, member, 0, 0)
static const struct cr_member held_members[] = {
    COLUMN(tenant), COLUMN(job), COLUMN(lease), COLUMN(lease_epoch), COLUMN(member), COLUMN(node),
    COLUMN(flavor), COLUMN(state), COLUMN(boot), COLUMN(revoke_reason), COLUMN(word),
    CR_TEXTS(struct ledger_held, devices, 0, 512),
    COLUMN(slices), COLUMN(granted), COLUMN(ended), COLUMN(kind), COLUMN(price), COLUMN(currency),
    COLUMN(rate_pico), 
    COLUMN(seq), COLUMN(meter_state), COLUMN(slices_read), COLUMN(acquire_ns), COLUMN(mono_ns),
    COLUMN(held_ns), COLUMN(busy_ns), COLUMN(energy_mj), COLUMN(from_us), COLUMN(received_us),
    COLUMN(meter_boot),
    CR_BYTES(struct ledger_held, reading, 0, INT32_MAX),
    CR_BYTES(struct ledger_held, path, 0, INT32_MAX),
    CR_BYTES(struct ledger_held, statement, 0, INT32_MAX),
    CR_BYTES(struct ledger_held, signature, 0, INT32_MAX),
    COLUMN(leaf_index), COLUMN(tree_size), COLUMN(prior_ns), COLUMN(midnight_us), COLUMN(now_us),
};
/* clang-format on */
const struct cr_shape ledger_held_shape = CR_SHAPE(struct ledger_held, held_members);

struct billing_lease ledger_lease_of(struct cr_call *call, const struct ledger_held *held,
                                     int64_t ended_us)
{
    bool is_read = held->seq != CR_NO_INTEGER;
    unsigned char hash[BASE_CRYPTO_SHA256_SIZE];
    if (is_read)
        base_crypto_sha256(held->reading.data, held->reading.size, hash);
    return (struct billing_lease){
        .node = held->node,
        .devices = held->devices,
        .slices = held->slices,
        .granted_us = held->granted,
        .ended_us = ended_us,
        .start_us = held->from_us,
        .midnight_us = held->midnight_us,
        .prior_ns = held->prior_ns,
        .held_ns = is_read ? held->held_ns : 0,
        .is_released = is_read && strcmp(held->meter_state, "released") == 0,
        .reading = is_read ? cr_hex(call, hash, sizeof hash) : "",
    };
}

struct before {
    struct cr_bytes payload_sha256;
};
static const struct cr_member before_members[] = {
    CR_BYTES(struct before, payload_sha256, 0, 32),
};
static const struct cr_shape before_shape = CR_SHAPE(struct before, before_members);

/* The digest of the job's record before this one; the chain shows a gap. */
static enum cr_status before_of(struct cr_call *call, struct db *db, const struct ledger_held *held,
                                struct cr_bytes *ret_sha256)
{
    bool found = false;
    struct before before = {{0}};
    CR_TRY(db_one(call, db, &ledger_record_before,
                  DB_VALUES(db_text(held->tenant), db_text(held->job)), &before_shape, &before,
                  &found));
    *ret_sha256 = before.payload_sha256;
    return CR_OK;
}

/* The body of an entry; ret_device_ns: its quantity. */
static enum cr_status body_of(struct cr_call *call, const struct service_config *config,
                              const struct ledger_entry *entry, struct cr_bytes prev,
                              struct billing_record *ret_record, int64_t *ret_device_ns)
{
    const struct ledger_held *held = entry->held;
    struct billing_leg *leg = cr_new(call, struct billing_leg, 1);
    struct billing_quantity *quantity = cr_new(call, struct billing_quantity, 1);
    *leg = entry->leg;
    *ret_record = (struct billing_record){
        .at_us = held->now_us,
        .corrects = entry->corrects,
        .flavor = held->flavor,
        .from_us = CR_NO_INTEGER,
        .home = config->domain,
        .job = held->job,
        .kind = billing_kind_word(entry->kind),
        .lease_epoch = held->lease_epoch,
        .legs = {leg, 1},
        .outcome = entry->outcome,
        .prev = prev.data ? cr_hex(call, prev.data, prev.size) : "",
        .program = held->kind,
        .quantities = {quantity, 1},
        .reason = entry->reason,
        .record = entry->record ? entry->record : cr_id(call, "rec"),
        .region = config->domain,
        .tenant = held->tenant,
        .to_us = CR_NO_INTEGER,
    };
    if (!billing_device_ns(ret_record, ret_device_ns))
        return cr_fail(call, CR_INTERNAL, "the device time of lease %s does not fit", held->lease);
    *quantity = (struct billing_quantity){
        .meter = billing_meter_word(BILLING_METER_device),
        .price = held->price ? held->price : "",
        .quantity = *ret_device_ns,
    };

    const char *fault = billing_record_fault(ret_record);
    if (fault)
        return cr_fail(call, CR_INTERNAL, "the record of lease %s would be wrong: %s", held->lease,
                       fault);
    return CR_OK;
}

static int64_t day_of(const struct ledger_entry *entry)
{
    return billing_day(entry->leg.from_us);
}

static enum cr_status insert(struct cr_call *call, struct db *db, const struct ledger_entry *entry,
                             const struct billing_record *record, int64_t device_ns,
                             struct cr_bytes prev, const struct ledger_document *document)
{
    const struct ledger_held *held = entry->held;
    const struct billing_leg *leg = &entry->leg;
    CR_TRY(db_exec(
        call, db, &ledger_record_insert,
        DB_VALUES(db_text(held->tenant), db_text(record->record), db_text(record->region),
                  db_text(record->home), db_text(held->job), db_int(held->lease_epoch),
                  db_int(entry->kind), db_int(billing_outcome_number(entry->outcome)),
                  db_int(billing_program_number(held->kind)), db_text(held->flavor),
                  db_int(day_of(entry)), db_int(device_ns),
                  db_int(entry->kind == BILLING_KIND_final ? held->energy_mj : CR_NO_INTEGER),
                  db_bytes(prev.data, prev.size), db_text(entry->corrects), db_int(record->at_us),
                  db_bytes(document->body.data, document->body.size),
                  db_bytes(document->sha256, sizeof document->sha256),
                  db_bytes(document->signature, sizeof document->signature),
                  db_bytes(document->key_id, sizeof document->key_id), db_int(document->leaf)),
        NULL));
    return db_exec(call, db, &ledger_leg_insert,
                   DB_VALUES(db_text(held->tenant), db_text(record->record), db_int(held->member),
                             db_text(held->node), db_texts(leg->devices.items, leg->devices.count),
                             db_int(leg->slices), db_int(leg->granted_us), db_int(leg->ended_us),
                             db_int(leg->from_us), db_int(leg->held_ns), db_int(leg->prior_ns),
                             db_int(leg->billed_ns), db_text(leg->reading)),
                   NULL);
}

/* What the record costs. Accepted means counted: in the same transaction (M1). */
static enum cr_status charge(struct cr_call *call, struct db *db, const struct ledger_entry *entry,
                             const char *record, int64_t device_ns)
{
    const struct ledger_held *held = entry->held;
    if (!held->price)
        return CR_OK;
    billing_zepto amount = 0;
    char text[BILLING_ZEPTO_SIZE];
    if (!billing_amount(BILLING_METER_device, device_ns, held->rate_pico, &amount))
        return cr_fail(call, CR_INTERNAL, "the charge of lease %s does not fit", held->lease);
    billing_zepto_print(amount, text);
    bool is_correction = entry->kind == BILLING_KIND_correction;
    int64_t period = billing_period(is_correction ? held->now_us : entry->leg.from_us);
    return db_exec(call, db, &ledger_charge_insert,
                   DB_VALUES(db_text(held->tenant), db_text(record), db_int(BILLING_METER_device),
                             db_text(held->price), db_text(held->flavor), db_int(device_ns),
                             db_int(held->rate_pico), db_text(text), db_text(held->currency),
                             db_int(period), db_int(day_of(entry)),
                             db_int(is_correction ? CLASS_CORRECTION : CLASS_USAGE)),
                   NULL);
}

enum cr_status ledger_record_write(struct cr_call *call, struct db *db,
                                   const struct service_config *config,
                                   const struct service_ask *ask, const struct ledger_entry *entry,
                                   const char **ret_record)
{
    struct cr_bytes prev;
    struct billing_record record;
    int64_t device_ns = 0;
    CR_TRY(before_of(call, db, entry->held, &prev));
    CR_TRY(body_of(call, config, entry, prev, &record, &device_ns));

    struct ledger_leaf_of leaf = {.ask = ask,
                                  .tenant = entry->held->tenant,
                                  .kind = "usage.recorded",
                                  .object = record.record};
    struct ledger_document document;
    CR_TRY(ledger_document(call, db, config, BILLING_TYPE_RECORD,
                           billing_record_write(call, &record), &leaf, &document));
    CR_TRY(insert(call, db, entry, &record, device_ns, prev, &document));
    CR_TRY(charge(call, db, entry, record.record, device_ns));
    *ret_record = record.record;
    return CR_OK;
}

enum cr_status ledger_pin(struct cr_call *call, struct db *db, const struct ledger_held *held,
                          int pin, int64_t at_us)
{
    return db_exec(
        call, db, &ledger_reading_insert,
        DB_VALUES(db_text(held->tenant), db_text(held->job), db_int(held->lease_epoch),
                  db_int(held->member), db_int(pin), db_int(billing_day(at_us)), db_int(held->seq),
                  db_int(held->acquire_ns), db_int(held->mono_ns), db_int(held->held_ns),
                  db_int(held->busy_ns), db_int(held->energy_mj), db_int(held->received_us),
                  db_text(held->node), db_text(held->meter_boot),
                  db_bytes(held->reading.data, held->reading.size),
                  db_bytes(held->path.data, held->path.size), db_int(held->leaf_index),
                  db_int(held->tree_size), db_bytes(held->statement.data, held->statement.size),
                  db_bytes(held->signature.data, held->signature.size)),
        NULL);
}

static const struct cr_member sum_members[] = {
    CR_MEMBER(struct ledger_sum, record, 0, 0),
    CR_MEMBER(struct ledger_sum, device_ns, 0, 0),
    CR_MEMBER(struct ledger_sum, amount_zepto, 0, 0),
};
static const struct cr_shape sum_shape = CR_SHAPE(struct ledger_sum, sum_members);

enum cr_status ledger_sum(struct cr_call *call, struct db *db, const char *tenant, const char *job,
                          struct ledger_sum *ret_sum)
{
    bool found = false;
    return db_one(call, db, &ledger_job_sum, DB_VALUES(db_text(tenant), db_text(job)), &sum_shape,
                  ret_sum, &found);
}
