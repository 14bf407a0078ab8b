/*
 * receipt: whether a receipt is true, by itself: no network, no clock, no database.
 *
 *     {"receipt":"cresset.receipt/v1","record":E,"salt":B64,"proof":TLOG-PROOF,
 *      "evidence":[{"reading":B64,"index":N,"size":N,"path":[B64],"statement":E,"node_key":E}],
 *      "prices":[E]}                      E: a DSSE envelope; prices may be left out
 *
 * Ownership    the verdict's texts live as long as the call, and as the bytes
 * Threads      pure
 * Source       design: ledger.md section 12
 */
#pragma once

#include "billing/billing.h"
#include "policy/tlog/tlog.h"

#define BILLING_RECEIPT_SIZE_MAX  ((size_t)4 << 20)
#define BILLING_RECEIPT_DEPTH_MAX 16
#define BILLING_RECEIPT_TYPE      "cresset.receipt/v1"

/* The steps in the order in which they are taken; the first that fails is the verdict. */
/* clang-format off */
#define BILLING_STEPS(row)                                                                         \
    row(PARSE, "parse")                           row(RECORD_SIGNATURE, "record-signature")        \
    row(RECORD_TYPE, "record-type")               row(RECORD_FORM, "record-form")                  \
    row(RECORD_ARITHMETIC, "record-arithmetic")   row(EVIDENCE_KEY, "evidence-key")                \
    row(EVIDENCE_SIGNATURE, "evidence-signature") row(EVIDENCE_INCLUSION, "evidence-inclusion")    \
    row(EVIDENCE_FORM, "evidence-form")           row(PRICE_SIGNATURE, "price-signature")          \
    row(PRICE_FORM, "price-form")                 row(PROOF_FORM, "proof-form")                    \
    row(LOG_ORIGIN, "log-origin")                 row(LOG_SIGNATURE, "log-signature")              \
    row(WITNESS_QUORUM, "witness-quorum")         row(INCLUSION, "inclusion")
/* clang-format on */

#define BILLING_STEP_NAME(name, word) BILLING_STEP_##name,
enum billing_step { BILLING_STEPS(BILLING_STEP_NAME) BILLING_STEP_COUNT };
#undef BILLING_STEP_NAME

/* By enum billing_step; for BILLING_STEP_COUNT it is "". */
extern const char *const billing_step_words[];

struct billing_verdict {
    enum billing_step step; /* the first that failed; BILLING_STEP_COUNT: valid */
    const char *reason;     /* one sentence about it; "" where it is valid */

    /* Written as far as the steps have come; NULL or 0 otherwise. */
    struct billing_record record; /* from record-arithmetic on */
    const char *cost;             /* exact, in currency; NULL without all its prices */
    const char *currency;
    struct tlog_checkpoint checkpoint; /* from log-origin on */
    int64_t index;                     /* of the leaf in the log */
};

/* Verifies a receipt against the keys and the policy that the verifier pins. Never fails. */
struct billing_verdict billing_receipt_verify(struct cr_call *call, struct cr_bytes receipt,
                                              const struct tlog_keys *keys,
                                              const struct tlog_policy *policy);

/* The entry of the log that commits to a body: "cresset.leaf/v1 sealed HEX\n". */
struct cr_bytes billing_sealed_entry(struct cr_call *call,
                                     const unsigned char salt[BILLING_SALT_SIZE],
                                     struct cr_bytes body);

/* What a receipt is made of, and its JSON. path and the rest are as they were kept. */
struct provenance_envelope;
struct billing_evidence {
    struct cr_bytes reading;
    int64_t index, size;
    const struct tlog_hash *path;
    size_t path_count;
    const struct provenance_envelope *statement, *node_key;
};
const char *billing_receipt_write(struct cr_call *call, const struct provenance_envelope *record,
                                  const unsigned char salt[BILLING_SALT_SIZE], const char *proof,
                                  const struct billing_evidence *evidence, size_t evidence_count,
                                  const struct provenance_envelope *prices, size_t price_count);
