/* receipt_write: a receipt, put together; and the log entry that commits to a body. */
#include "billing/receipt_internal.h"

#include "base/core/text.h"
#include "base/crypto/crypto.h"

#include <string.h>

struct cr_bytes billing_sealed_entry(struct cr_call *call,
                                     const unsigned char salt[BILLING_SALT_SIZE],
                                     struct cr_bytes body)
{
    struct base_crypto_sha256 state;
    unsigned char hash[BASE_CRYPTO_SHA256_SIZE];
    base_crypto_sha256_init(&state);
    base_crypto_sha256_add(&state, salt, BILLING_SALT_SIZE);
    base_crypto_sha256_add(&state, body.data, body.size);
    base_crypto_sha256_done(&state, hash);
    const char *entry =
        cr_format(call, "cresset.leaf/v1 sealed %s\n", cr_hex(call, hash, sizeof hash));
    return (struct cr_bytes){(const unsigned char *)entry, strlen(entry)};
}

static const char *base64(struct cr_call *call, const void *bytes, size_t size)
{
    return cr_base64_print(call, CR_BASE64_STANDARD, bytes, size);
}

static void add_evidence(struct cr_call *call, struct cr_text *text,
                         const struct billing_evidence *evidence)
{
    cr_text_add_format(text, "{\"reading\":\"%s\",\"index\":\"%lld\",\"size\":\"%lld\",\"path\":[",
                       base64(call, evidence->reading.data, evidence->reading.size),
                       (long long)evidence->index, (long long)evidence->size);
    for (size_t i = 0; i < evidence->path_count; i++)
        cr_text_add_format(text, "%s\"%s\"", i ? "," : "",
                           base64(call, evidence->path[i].bytes, TLOG_HASH_SIZE));
    cr_text_add(text, "],\"statement\":");
    cr_text_add(text, provenance_envelope_write(call, evidence->statement));
    cr_text_add(text, ",\"node_key\":");
    cr_text_add(text, provenance_envelope_write(call, evidence->node_key));
    cr_text_add(text, "}");
}

const char *billing_receipt_write(struct cr_call *call, const struct provenance_envelope *record,
                                  const unsigned char salt[BILLING_SALT_SIZE], const char *proof,
                                  const struct billing_evidence *evidence, size_t evidence_count,
                                  const struct provenance_envelope *prices, size_t price_count)
{
    struct cr_text text = cr_text_open(call);
    cr_text_add(&text, "{\"receipt\":\"" BILLING_RECEIPT_TYPE "\",\"record\":");
    cr_text_add(&text, provenance_envelope_write(call, record));
    cr_text_add_format(&text, ",\"salt\":\"%s\",\"proof\":", base64(call, salt, BILLING_SALT_SIZE));
    cr_text_add_quoted(&text, proof, strlen(proof));
    cr_text_add(&text, ",\"evidence\":[");
    for (size_t i = 0; i < evidence_count; i++) {
        cr_text_add(&text, i ? "," : "");
        add_evidence(call, &text, &evidence[i]);
    }
    cr_text_add(&text, "],\"prices\":[");
    for (size_t i = 0; i < price_count; i++) {
        cr_text_add(&text, i ? "," : "");
        cr_text_add(&text, provenance_envelope_write(call, &prices[i]));
    }
    cr_text_add(&text, "]}\n");
    return text.data;
}
