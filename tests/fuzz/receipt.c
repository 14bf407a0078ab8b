/*
 * receipt: nothing that is made up verifies; and a body that is accepted is written again as it
 * was, byte for byte.
 */
#include "billing/receipt.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void is_same(struct cr_bytes body, struct cr_bytes again)
{
    assert(body.size == again.size && memcmp(body.data, again.data, body.size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char policy_text[] =
        "log eu1.cresset.example/log+d5987899+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea\n"
        "quorum none\n";
    static struct tlog_policy policy;
    static struct tlog_keys keys;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    assert(tlog_policy_read(&call, policy_text, sizeof policy_text - 1, &policy));
    struct cr_bytes body = {data, size};
    struct billing_verdict verdict = billing_receipt_verify(&call, body, &keys, &policy);
    assert(verdict.step != BILLING_STEP_COUNT && *verdict.reason);

    struct billing_record record;
    struct billing_reading reading;
    struct billing_statement statement;
    struct billing_node_key key;
    struct billing_price price;
    if (billing_record_read(&call, body, &record)) {
        is_same(body, billing_record_write(&call, &record));
        (void)billing_record_fault(&record);
    }
    if (billing_reading_read(&call, body, &reading))
        is_same(body, billing_reading_write(&call, &reading));
    if (billing_statement_read(&call, body, &statement))
        is_same(body, billing_statement_write(&call, &statement));
    if (billing_node_key_read(&call, body, &key))
        is_same(body, billing_node_key_write(&call, &key));
    if (billing_price_read(&call, body, &price))
        is_same(body, billing_price_write(&call, &price));
    return 0;
}
