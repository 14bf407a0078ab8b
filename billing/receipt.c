/* receipt: the steps of the verifier, one function each, in their order. */
#include "billing/receipt_internal.h"

#include "base/core/parse.h"

#include <assert.h>
#include <string.h>

#define STEP_WORD(name, word) word,
const char *const billing_step_words[] = {BILLING_STEPS(STEP_WORD) ""};
#undef STEP_WORD

/* What is known of one piece of evidence, as the steps go on. */
struct finding {
    const struct billing_leg *leg; /* the one that it is for; NULL: there is none */
    struct tlog_vkey vkey;         /* of the node */
    struct billing_statement statement;
};

struct check {
    struct cr_call *call;
    struct cr_bytes receipt;
    const struct tlog_keys *keys;
    const struct tlog_policy *policy;
    struct billing_receipt_parts parts;
    struct finding *findings;
    struct tlog_proof proof;
    const struct tlog_vkey *log;
    struct billing_verdict verdict;
};

static const char *check_parse(struct check *check)
{
    return billing_receipt_read(check->call, check->receipt, &check->parts);
}

/*
 * Whether a records key has signed; region, where not NULL, says whose. The name of a records key
 * is REGION/records.
 */
static bool is_by_records(struct check *check, const struct provenance_envelope *envelope,
                          const char *region)
{
    const char *name = region ? cr_format(check->call, "%s/records", region) : NULL;
    const unsigned char *keys[TLOG_KEYS_MAX];
    size_t count = 0;
    for (int i = 0; i < check->keys->count; i++)
        if (!name || strcmp(check->keys->keys[i].name, name) == 0)
            keys[count++] = check->keys->keys[i].key;
    return provenance_signers(check->call, envelope, keys, count, NULL) >= 1;
}

static const char *check_record_signature(struct check *check)
{
    return is_by_records(check, &check->parts.record, NULL)
               ? NULL
               : "no records key that is trusted has signed the record";
}

static const char *check_record_type(struct check *check)
{
    return strcmp(check->parts.record.payload_type, BILLING_TYPE_RECORD) == 0
               ? NULL
               : "what is signed is not a usage record";
}

static const char *check_record_form(struct check *check)
{
    struct billing_record record;
    if (!billing_record_read(check->call, check->parts.record.payload, &record))
        return "the record is not canonical, or a member is not of its form";
    if (!is_by_records(check, &check->parts.record, record.region))
        return "the key that signed is not of the record's region";
    check->verdict.record = record;
    return NULL;
}

static const char *check_record_arithmetic(struct check *check)
{
    return billing_record_fault(&check->verdict.record);
}

/* The leg that evidence number index is for: the index-th that names a reading. */
static const struct billing_leg *leg_of(const struct billing_record *record, size_t index)
{
    const struct billing_leg *legs = record->legs.items;
    for (size_t i = 0; i < record->legs.count; i++)
        if (legs[i].reading && *legs[i].reading && index-- == 0)
            return &legs[i];
    return NULL;
}

static bool node_key_fits(struct check *check, const struct billing_receipt_evidence *evidence,
                          struct finding *finding)
{
    const struct billing_record *record = &check->verdict.record;
    const struct provenance_envelope *envelope = &evidence->node_key;
    struct billing_node_key key;
    if (strcmp(envelope->payload_type, BILLING_TYPE_NODE_KEY) != 0 ||
        !is_by_records(check, envelope, record->region) ||
        !billing_node_key_read(check->call, envelope->payload, &key))
        return false;
    const char *name = cr_format(check->call, "%s/node/%s", record->region, key.node);
    return (!finding->leg || strcmp(key.node, finding->leg->node) == 0) &&
           strcmp(key.region, record->region) == 0 &&
           tlog_vkey_read(check->call, key.vkey, strlen(key.vkey), &finding->vkey) &&
           finding->vkey.type == TLOG_ED25519 && strcmp(finding->vkey.name, name) == 0 &&
           record->at_us >= key.from_us &&
           (key.until_us == CR_NO_INTEGER || record->at_us < key.until_us);
}

static const char *check_evidence_key(struct check *check)
{
    check->findings = cr_new(check->call, struct finding, check->parts.evidence_count + 1);
    for (size_t i = 0; i < check->parts.evidence_count; i++) {
        check->findings[i].leg = leg_of(&check->verdict.record, i);
        if (!node_key_fits(check, &check->parts.evidence[i], &check->findings[i]))
            return "the key of the node is not one that its region has signed for it";
    }
    return NULL;
}

static const char *check_evidence_signature(struct check *check)
{
    for (size_t i = 0; i < check->parts.evidence_count; i++) {
        const struct provenance_envelope *statement = &check->parts.evidence[i].statement;
        const unsigned char *keys[] = {check->findings[i].vkey.key};
        if (strcmp(statement->payload_type, BILLING_TYPE_STATEMENT) != 0 ||
            provenance_signers(check->call, statement, keys, 1, NULL) != 1)
            return "the node has not signed the statement";
    }
    return NULL;
}

/* The leaves of a statement's tree: a power of two, at least 16. */
static bool size_of_tree(const struct billing_receipt_evidence *evidence, int64_t *ret_size)
{
    return cr_parse_integer(evidence->size, strlen(evidence->size), BILLING_READINGS_SIZE_MIN,
                            INT64_MAX, ret_size) &&
           (*ret_size & (*ret_size - 1)) == 0;
}

static bool is_under_root(struct check *check, const struct billing_receipt_evidence *evidence,
                          struct billing_statement *ret_statement)
{
    int64_t index = 0, size = 0;
    struct tlog_hash root, path[TLOG_PROOF_MAX], leaf;
    if (!billing_statement_read(check->call, evidence->statement.payload, ret_statement) ||
        !cr_hex_parse(ret_statement->root, strlen(ret_statement->root), root.bytes,
                      TLOG_HASH_SIZE) ||
        !cr_parse_integer(evidence->index, strlen(evidence->index), 0, INT64_MAX, &index) ||
        evidence->path_count > TLOG_PROOF_MAX)
        return false;
    if (!size_of_tree(evidence, &size))
        return true; /* in such a tree nothing has a place: the form will say so */
    for (size_t i = 0; i < evidence->path_count; i++) {
        if (evidence->path[i].size != TLOG_HASH_SIZE)
            return false;
        memcpy(path[i].bytes, evidence->path[i].data, TLOG_HASH_SIZE);
    }
    leaf = tlog_leaf(evidence->reading.data, evidence->reading.size);
    return tlog_included(index, size, &leaf, &root, path, evidence->path_count);
}

static const char *check_evidence_inclusion(struct check *check)
{
    for (size_t i = 0; i < check->parts.evidence_count; i++)
        if (!is_under_root(check, &check->parts.evidence[i], &check->findings[i].statement))
            return "the reading is not under the root of the statement";
    return NULL;
}

static bool reading_fits(struct check *check, const struct billing_receipt_evidence *evidence,
                         const struct finding *finding)
{
    const struct billing_record *record = &check->verdict.record;
    const struct billing_leg *leg = finding->leg;
    struct billing_reading reading;
    unsigned char hash[BASE_CRYPTO_SHA256_SIZE];
    base_crypto_sha256(evidence->reading.data, evidence->reading.size, hash);
    if (!leg || strcmp(cr_hex(check->call, hash, sizeof hash), leg->reading) != 0 ||
        !billing_reading_read(check->call, evidence->reading, &reading))
        return false;

    int64_t size = 0;
    bool needs_release = billing_kind_number(record->kind) == BILLING_KIND_final &&
                         !billing_outcome_is_platform(record->outcome);
    return size_of_tree(evidence, &size) && strcmp(reading.node, leg->node) == 0 &&
           strcmp(finding->statement.node, leg->node) == 0 &&
           strcmp(reading.boot, finding->statement.boot) == 0 &&
           reading.mono_ns <= finding->statement.mono_ns &&
           reading.lease_epoch == record->lease_epoch && reading.slices == leg->slices &&
           reading.held_ns == leg->held_ns &&
           (!needs_release || strcmp(reading.state, "released") == 0);
}

static const char *check_evidence_form(struct check *check)
{
    size_t wanted = 0;
    while (leg_of(&check->verdict.record, wanted))
        wanted++;
    if (check->parts.evidence_count != wanted)
        return "there is not one piece of evidence for each leg that names a reading";
    for (size_t i = 0; i < wanted; i++)
        if (!reading_fits(check, &check->parts.evidence[i], &check->findings[i]))
            return "a reading is not the one that its leg names";
    return NULL;
}

static const char *check_price_signature(struct check *check)
{
    for (size_t i = 0; i < check->parts.price_count; i++)
        if (!is_by_records(check, &check->parts.prices[i], NULL))
            return "no records key that is trusted has signed a price";
    return NULL;
}

/* The quantity that a price is of; NULL: none. */
static const struct billing_quantity *priced(const struct billing_record *record,
                                             const struct billing_price *price)
{
    const struct billing_quantity *items = record->quantities.items;
    for (size_t i = 0; i < record->quantities.count; i++)
        if (strcmp(items[i].price, price->price) == 0 && strcmp(items[i].meter, price->meter) == 0)
            return &items[i];
    return NULL;
}

static bool price_fits(struct check *check, const struct provenance_envelope *envelope,
                       struct billing_price *ret_price)
{
    const struct billing_record *record = &check->verdict.record;
    return strcmp(envelope->payload_type, BILLING_TYPE_PRICE) == 0 &&
           billing_price_read(check->call, envelope->payload, ret_price) &&
           is_by_records(check, envelope, ret_price->region) &&
           strcmp(ret_price->flavor, record->flavor) == 0 &&
           (!ret_price->tenant || strcmp(ret_price->tenant, record->tenant) == 0) &&
           priced(record, ret_price);
}

/* How many quantities have a price. */
static size_t priced_count(const struct billing_record *record)
{
    const struct billing_quantity *items = record->quantities.items;
    size_t count = 0;
    for (size_t i = 0; i < record->quantities.count; i++)
        count += *items[i].price != '\0';
    return count;
}

static const char *check_price_form(struct check *check)
{
    struct billing_price *prices =
        cr_new(check->call, struct billing_price, check->parts.price_count + 1);
    billing_zepto cost = 0;
    for (size_t i = 0; i < check->parts.price_count; i++) {
        if (!price_fits(check, &check->parts.prices[i], &prices[i]))
            return "a price is not one that the record names";
        for (size_t j = 0; j < i; j++)
            if (strcmp(prices[i].price, prices[j].price) == 0)
                return "a price is there twice";
        if (strcmp(prices[i].currency, prices[0].currency) != 0)
            return "the prices are of two currencies";

        billing_zepto amount = 0;
        const struct billing_quantity *quantity = priced(&check->verdict.record, &prices[i]);
        enum billing_meter meter = (enum billing_meter)billing_meter_number(quantity->meter);
        if (!billing_amount(meter, quantity->quantity, prices[i].rate_pico, &amount) ||
            !billing_add(cost, amount, &cost))
            return "the cost does not fit";
    }
    if (check->parts.price_count &&
        check->parts.price_count == priced_count(&check->verdict.record)) {
        check->verdict.cost = billing_zepto_decimal(check->call, cost);
        check->verdict.currency = prices[0].currency;
    }
    return NULL;
}

static const char *check_proof_form(struct check *check)
{
    return tlog_proof_read(check->call, check->parts.proof, check->parts.proof_length,
                           &check->proof)
               ? NULL
               : "the proof is not of the form of " TLOG_PROOF_LABEL;
}

static const char *check_log_origin(struct check *check)
{
    const struct tlog_checkpoint *checkpoint = &check->proof.checkpoint;
    const char *home = cr_format(check->call, "%s/log", check->verdict.record.home);
    if (checkpoint->origin_length != strlen(home) ||
        memcmp(checkpoint->origin, home, checkpoint->origin_length) != 0)
        return "the proof is of another log than that of the record's home";
    for (int i = 0; i < check->policy->log_count; i++)
        if (strcmp(check->policy->logs[i].name, home) == 0)
            check->log = &check->policy->logs[i];
    if (!check->log)
        return "the log is not one that is trusted";
    check->verdict.checkpoint = *checkpoint;
    check->verdict.index = check->proof.index;
    return NULL;
}

static const char *check_log_signature(struct check *check)
{
    /* A log may have more keys than one, when they rotate: any one, and none that is wrong. */
    bool is_signed = false;
    for (int i = 0; i < check->policy->log_count; i++) {
        const struct tlog_vkey *vkey = &check->policy->logs[i];
        if (strcmp(vkey->name, check->log->name) != 0)
            continue;
        enum tlog_verdict verdict = tlog_note_verify(check->call, &check->proof.note, vkey, NULL);
        if (verdict == TLOG_BAD)
            return "the signature of the log does not verify";
        is_signed = is_signed || verdict == TLOG_GOOD;
    }
    return is_signed ? NULL : "the log has not signed the checkpoint";
}

static const char *check_witness_quorum(struct check *check)
{
    bool cosigned[TLOG_WITNESSES_MAX + TLOG_GROUPS_MAX] = {false};
    for (int i = 0; i < check->policy->signer_count; i++) {
        const struct tlog_signer *signer = &check->policy->signers[i];
        if (signer->is_group)
            continue;
        enum tlog_verdict verdict =
            tlog_note_verify(check->call, &check->proof.note, &signer->vkey, NULL);
        if (verdict == TLOG_BAD)
            return "the cosignature of a witness does not verify";
        cosigned[i] = verdict == TLOG_GOOD;
    }
    return tlog_quorum(check->policy, cosigned) ? NULL : "too few witnesses have signed";
}

static const char *check_inclusion(struct check *check)
{
    struct cr_bytes entry =
        billing_sealed_entry(check->call, check->parts.salt.data, check->parts.record.payload);
    struct tlog_hash leaf = tlog_leaf(entry.data, entry.size);
    const struct tlog_checkpoint *checkpoint = &check->proof.checkpoint;
    return tlog_included(check->proof.index, checkpoint->size, &leaf, &checkpoint->root,
                         check->proof.path, check->proof.path_count)
               ? NULL
               : "the record is not in the log";
}

/* What is wrong, one sentence; NULL: the step holds. */
static const char *(*const checks[BILLING_STEP_COUNT])(struct check *check) = {
    [BILLING_STEP_PARSE] = check_parse,
    [BILLING_STEP_RECORD_SIGNATURE] = check_record_signature,
    [BILLING_STEP_RECORD_TYPE] = check_record_type,
    [BILLING_STEP_RECORD_FORM] = check_record_form,
    [BILLING_STEP_RECORD_ARITHMETIC] = check_record_arithmetic,
    [BILLING_STEP_EVIDENCE_KEY] = check_evidence_key,
    [BILLING_STEP_EVIDENCE_SIGNATURE] = check_evidence_signature,
    [BILLING_STEP_EVIDENCE_INCLUSION] = check_evidence_inclusion,
    [BILLING_STEP_EVIDENCE_FORM] = check_evidence_form,
    [BILLING_STEP_PRICE_SIGNATURE] = check_price_signature,
    [BILLING_STEP_PRICE_FORM] = check_price_form,
    [BILLING_STEP_PROOF_FORM] = check_proof_form,
    [BILLING_STEP_LOG_ORIGIN] = check_log_origin,
    [BILLING_STEP_LOG_SIGNATURE] = check_log_signature,
    [BILLING_STEP_WITNESS_QUORUM] = check_witness_quorum,
    [BILLING_STEP_INCLUSION] = check_inclusion,
};

struct billing_verdict billing_receipt_verify(struct cr_call *call, struct cr_bytes receipt,
                                              const struct tlog_keys *keys,
                                              const struct tlog_policy *policy)
{
    struct check *check = cr_new(call, struct check, 1);
    *check = (struct check){.call = call, .receipt = receipt, .keys = keys, .policy = policy};
    check->verdict.reason = "";
    for (int step = 0; step < BILLING_STEP_COUNT; step++) {
        const char *reason = checks[step](check);
        if (!reason)
            continue;
        check->verdict.step = (enum billing_step)step;
        check->verdict.reason = reason;
        return check->verdict;
    }
    check->verdict.step = BILLING_STEP_COUNT;
    return check->verdict;
}
