/* receipt_internal: a receipt, taken apart. */
#pragma once

#include "billing/receipt.h"
#include "policy/provenance/provenance.h"

struct billing_receipt_evidence {
    struct cr_bytes reading;
    const char *index, *size; /* decimal, not yet looked at */
    struct cr_bytes *path;
    size_t path_count;
    struct provenance_envelope statement, node_key;
};

struct billing_receipt_parts {
    struct provenance_envelope record;
    struct cr_bytes salt; /* BILLING_SALT_SIZE */
    const char *proof;
    size_t proof_length;
    struct billing_receipt_evidence *evidence;
    size_t evidence_count;
    struct provenance_envelope *prices;
    size_t price_count;
};

/* NULL: it was read; else what is wrong, static. The call is left as it was. */
const char *billing_receipt_read(struct cr_call *call, struct cr_bytes receipt,
                                 struct billing_receipt_parts *ret_parts);
