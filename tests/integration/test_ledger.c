/* ledger: a node reports, a job ends, and a stranger can check what was billed. */
#include "tests/integration/node.h"

#include "base/core/file.h"

static struct held finished; /* a job that ended well, for the tests behind it */

static void a_completion_is_one_record_one_charge_and_one_end(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct held held = start(&call, "one");
    struct protocol_renewed renewed;
    struct protocol_accepted accepted = {0};
    assert_ok(&call, renew(&call, &held, &renewed));
    const struct protocol_order *order = renewed.leases.items;
    assert_string_equal(order->order, "continue");

    held.seq = 2;
    held.held_ns = 3 * SECOND_NS;
    held.state = "released";
    struct protocol_completion *said = completion(&call, &held, "finished");
    assert_ok(&call, ledger_complete(&call, &region.service, &node, held.lease, said, &accepted));
    assert_true(accepted.accepted);
    assert_int_equal(region_number(&region, "SELECT count(*) FROM usage_record"), 1);
    assert_int_equal(region_number(&region, "SELECT device_ns FROM usage_record"), 3 * SECOND_NS);
    assert_int_equal(region_number(&region, "SELECT amount_zepto FROM charge"),
                     3 * SECOND_NS * INT64_C(100000000));
    assert_int_equal(region_number(&region, "SELECT count(*) FROM completion"), 1);

    struct job job;
    assert_ok(&call, jobs_get(&call, &region.service, &demo, held.job, &job));
    assert_string_equal(job.state, "succeeded");
    assert_string_equal(job.metrics.text, "{\"loss\":0.25}");
    assert_int_equal(job.device_ns, 3 * SECOND_NS);
    assert_int_equal(job.cost_microusd, 300);

    /* The same message again is answered the same, and counts nothing. */
    accepted.accepted = false;
    assert_ok(&call, ledger_complete(&call, &region.service, &node, held.lease, said, &accepted));
    assert_true(accepted.accepted);
    assert_int_equal(region_number(&region, "SELECT count(*) FROM usage_record"), 1);

    /* Another message for it contradicts. */
    struct protocol_completion *differs = completion(&call, &held, "nonfinite");
    assert_int_equal(ledger_complete(&call, &region.service, &node, held.lease, differs, &accepted),
                     CR_CONFLICT);
    assert_string_equal(call.code->word, "usage_contradiction");
    finished = held;
    finished.job = strdup(held.job);
    finished.lease = strdup(held.lease);
}

static void a_receipt_waits_for_a_checkpoint_and_then_verifies(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    const char *receipt = NULL;
    assert_non_null(finished.job);
    assert_int_equal(ledger_receipt(&call, &region.service, &demo, finished.job, &receipt),
                     CR_UNAVAILABLE);
    cr_forgive(&call);
    publish();
    assert_ok(&call, ledger_receipt(&call, &region.service, &demo, finished.job, &receipt));
    struct billing_verdict verdict = verify(&call, receipt, strlen(receipt));
    if (verdict.step != BILLING_STEP_COUNT)
        fail_msg("%s: %s", billing_step_words[verdict.step], verdict.reason);
    assert_string_equal(verdict.cost, "0.0003");
    assert_int_equal(ledger_receipt(&call, &region.service, &other, finished.job, &receipt),
                     CR_NOT_FOUND);
}

/* Whether byte number at stands in a value that is only a hint, or between values. */
static bool is_hint(const char *receipt, size_t at)
{
    const char *from = receipt;
    for (const char *next; (next = strstr(from, "\"keyid\":\"")) && next <= receipt + at;) {
        const char *end = strchr(next + 9, '"');
        if (receipt + at <= end)
            return receipt + at >= next; /* a name that is changed is a member that is not known */
        from = end;
    }
    return receipt[at] == '\n' && at + 1 == strlen(receipt);
}

static void every_flipped_byte_of_a_receipt_fails_but_in_hints(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    const char *receipt = NULL;
    assert_ok(&call, ledger_receipt(&call, &region.service, &demo, finished.job, &receipt));
    size_t size = strlen(receipt), hints = 0;
    char *changed = cr_new(&call, char, size + 1);
    memcpy(changed, receipt, size);
    for (size_t at = 0; at < size; at++) {
        if (is_hint(receipt, at)) {
            hints++;
            continue;
        }
        CR_SCOPED(cr_call_close) struct cr_call one = region_call(&region);
        changed[at] = (char)(receipt[at] ^ 1);
        struct billing_verdict verdict = verify(&one, changed, size);
        if (verdict.step == BILLING_STEP_COUNT)
            fail_msg("byte %zu, '%c', may be changed: %.60s", at, receipt[at],
                     receipt + (at < 30 ? 0 : at - 30));
        changed[at] = receipt[at];
    }
    assert_true(hints > 0 && hints < size / 5);
}

static void a_boot_and_an_epoch_that_are_over_are_refused(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct held held = start(&call, "stale");
    struct protocol_accepted accepted = {0};
    struct protocol_renewed renewed;
    held.boot = BOOT_NEXT;
    assert_int_equal(renew(&call, &held, &renewed), CR_CONFLICT);
    assert_string_equal(call.code->word, "stale_boot");
    cr_forgive(&call);

    held.boot = NULL;
    held.state = "released";
    held.lease_epoch = 7;
    struct protocol_completion *said = completion(&call, &held, "finished");
    assert_int_equal(ledger_complete(&call, &region.service, &node, held.lease, said, &accepted),
                     CR_CONFLICT);
    assert_string_equal(call.code->word, "stale_lease");
    cr_forgive(&call);

    /* The region gives the job to another lease: the first one's result comes too late. */
    held.lease_epoch = 1;
    region_sql(&region, cr_format(&call,
                                  "UPDATE lease SET state = 'expired', ended = cresset_now_us(), "
                                  "word = 'node_lost' WHERE lease_id = '%s'",
                                  held.lease));
    turns(2);
    region_sql(&region, "UPDATE job_live SET not_before = NULL WHERE state = 'queued'");
    if (engine)
        engine_close(engine); /* the books are read anew, with what was changed behind them */
    engine = NULL;
    region_sql(&region, "UPDATE engine SET until_us = 0");
    wait_for_epoch(held.job, 2);
    said = completion(&call, &held, "finished");
    assert_int_equal(ledger_complete(&call, &region.service, &node, held.lease, said, &accepted),
                     CR_CONFLICT);
    assert_string_equal(call.code->word, "stale_lease");
    assert_int_equal(region_number(&region, cr_format(&call,
                                                      "SELECT device_ns FROM usage_record WHERE "
                                                      "job_id = '%s' AND outcome = 6",
                                                      held.job)),
                     0);
}

static void a_reading_that_falls_is_a_contradiction_and_the_first_one_stays(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct held held = start(&call, "falls");
    struct protocol_renewed renewed;
    held.held_ns = 5 * SECOND_NS;
    assert_ok(&call, renew(&call, &held, &renewed));
    held.seq = 2;
    held.held_ns = 4 * SECOND_NS;
    assert_int_equal(renew(&call, &held, &renewed), CR_CONFLICT);
    assert_string_equal(call.code->word, "usage_contradiction");
    cr_forgive(&call);
    assert_int_equal(region_number(&region, cr_format(&call,
                                                      "SELECT held_ns FROM lease_meter WHERE "
                                                      "lease_id = '%s'",
                                                      held.lease)),
                     5 * SECOND_NS);
    assert_int_equal(
        region_number(&region, "SELECT count(*) FROM node WHERE state = 'quarantined'"), 1);
    region_sql(&region, "UPDATE node SET state = 'ready', reason = NULL");
    region_sql(&region, cr_format(&call,
                                  "UPDATE lease SET state = 'expired', ended = cresset_now_us(), "
                                  "word = 'node_lost' WHERE lease_id = '%s'",
                                  held.lease));
    turns(2);
}

static void a_cancelled_job_pays_for_what_it_held(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct held held = start(&call, "cancelled");
    struct job job;
    struct protocol_renewed renewed;
    struct protocol_accepted accepted = {0};
    struct service_ask ask = region_ask(&demo, "cancel-it");
    assert_ok(&call, jobs_cancel(&call, &region.service, &ask, held.job, &job));
    assert_ok(&call, renew(&call, &held, &renewed));
    const struct protocol_order *order = renewed.leases.items;
    assert_string_equal(order->order, "stop");
    assert_string_equal(order->cause, "cancel");

    held.seq = 2;
    held.held_ns = 2 * SECOND_NS;
    held.state = "released";
    assert_ok(&call, ledger_complete(&call, &region.service, &node, held.lease,
                                     completion(&call, &held, "stopped"), &accepted));
    assert_ok(&call, jobs_get(&call, &region.service, &demo, held.job, &job));
    assert_string_equal(job.state, "cancelled");
    assert_int_equal(job.device_ns, 2 * SECOND_NS);
}

static void a_crash_of_the_runner_bills_nothing_and_queues_the_job(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct held held = start(&call, "crashed");
    struct job job;
    struct protocol_accepted accepted = {0};
    held.state = "released";
    struct protocol_completion *said = completion(&call, &held, "crashed");
    assert_ok(&call, ledger_complete(&call, &region.service, &node, held.lease, said, &accepted));
    assert_ok(&call, jobs_get(&call, &region.service, &demo, held.job, &job));
    assert_string_equal(job.state, "queued");
    assert_int_equal(job.device_ns, 0);
    assert_int_equal(region_number(&region, cr_format(&call,
                                                      "SELECT count(*) FROM usage_record WHERE "
                                                      "job_id = '%s' AND outcome = 6",
                                                      held.job)),
                     1);
    assert_ok(&call, ledger_complete(&call, &region.service, &node, held.lease, said, &accepted));
}

static void a_lease_across_midnight_is_cut_there(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct held held = start(&call, "midnight");
    struct protocol_renewed renewed;
    struct protocol_accepted accepted = {0};
    int64_t now_us = region_number(&region, "SELECT cresset_now_us()");
    int64_t midnight_us = billing_day(now_us) * BILLING_DAY_US;
    int64_t before_us = 10 * CR_US_A_SECOND; /* it began so long before this day */
    region_sql(&region,
               cr_format(&call, "UPDATE lease SET granted = %lld WHERE lease_id = '%s'",
                         (long long)(midnight_us - before_us - CR_US_A_SECOND), held.lease));
    held.held_ns = (now_us - midnight_us + before_us) * 1000;
    assert_ok(&call, renew(&call, &held, &renewed));
    int64_t count = 0;
    assert_ok(&call, ledger_interims(&call, &region.service, &count));
    assert_int_equal(count, 1);
    assert_ok(&call, ledger_interims(&call, &region.service, &count));
    assert_int_equal(count, 0);
    int64_t interim_ns =
        region_number(&region, cr_format(&call,
                                         "SELECT device_ns FROM usage_record WHERE job_id = '%s' "
                                         "AND kind = 2",
                                         held.job));
    assert_true(interim_ns >= 9 * SECOND_NS && interim_ns <= 10 * SECOND_NS);

    held.seq = 2;
    held.held_ns += SECOND_NS;
    held.state = "released";
    assert_ok(&call, ledger_complete(&call, &region.service, &node, held.lease,
                                     completion(&call, &held, "finished"), &accepted));
    struct job job;
    assert_ok(&call, jobs_get(&call, &region.service, &demo, held.job, &job));
    assert_true(job.device_ns <= held.held_ns);
    assert_true(job.device_ns > held.held_ns - 30 * SECOND_NS);
    publish();
    const char *receipt = NULL;
    assert_ok(&call, ledger_receipt(&call, &region.service, &demo, held.job, &receipt));
    struct billing_verdict verdict = verify(&call, receipt, strlen(receipt));
    if (verdict.step != BILLING_STEP_COUNT)
        fail_msg("%s: %s", billing_step_words[verdict.step], verdict.reason);
}

static void records_charges_lines_and_totals_agree(void **state)
{
    (void)state;
    publish();
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct cr_list invoices, lines, records;
    struct ledger_summary summary;
    const struct ledger_summary_ask ask = {.by = "kind"};
    assert_ok(&call, ledger_invoices(&call, &region.service, &demo, NULL, 10, &invoices));
    assert_true(invoices.count >= 1);
    int64_t billed = 0, lined = 0;
    const struct ledger_invoice *invoice = invoices.items;
    for (size_t n = 0; n < invoices.count; n++) {
        assert_ok(&call,
                  ledger_invoice_lines(&call, &region.service, &demo, invoice[n].invoice, &lines));
        const struct ledger_invoice_line *line = lines.items;
        for (size_t i = 0; i < lines.count; i++)
            lined += line[i].record_count;
        billed += invoice[n].total_microusd;
    }
    assert_ok(&call, ledger_records(&call, &region.service, &demo, NULL, 100, &records));
    assert_int_equal(lined, (int64_t)records.count);
    assert_ok(&call, ledger_usage_summary(&call, &region.service, &demo, &ask, &summary));
    assert_int_equal(summary.data.count, 1);
    const struct ledger_usage_sum *sum = summary.data.items;
    /* Both are rounded down: a sum once, an invoice once a line, and a month has its own lines. */
    assert_int_equal(region_number(&region, "SELECT floor(sum(amount_zepto) / 1e15) FROM charge"),
                     sum->amount_microusd);
    assert_int_equal(region_number(&region,
                                   "SELECT sum(line) FROM (SELECT floor(sum(amount_zepto) / 1e15) "
                                   "AS line FROM charge GROUP BY period, flavor, meter, price_id, "
                                   "class) lines"),
                     billed);
    assert_int_equal(region_number(&region, "SELECT sum(quantity) FROM usage_total"),
                     sum->quantity);
    assert_int_equal(region_number(&region, "SELECT sum(quantity) - (SELECT sum(device_ns) FROM "
                                            "usage_record) FROM charge"),
                     0);
}

static void two_sealers_are_fenced_and_an_older_tree_is_not_signed(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    int64_t count = 0, size = 0;
    assert_int_equal(ledger_seal_log(&call, &region.service, engine_held() - 1, &count),
                     CR_CONFLICT);
    cr_forgive(&call);
    region_sql(&region, "UPDATE log_state SET size = size - 1, "
                        "frontier = frontier"); /* as if it were restored to an earlier point */
    assert_int_equal(ledger_publish(&call, &region.service, engine_held(), &size), CR_CONFLICT);
    cr_forgive(&call);
    region_sql(&region, "UPDATE log_state SET size = size + 1");
    assert_ok(&call, ledger_publish(&call, &region.service, engine_held(), &size));
}

static void a_leaf_is_proved_to_its_tenant_and_to_no_other(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct cr_list leaves;
    struct ledger_proof said;
    assert_ok(&call, ledger_audit(&call, &region.service, &demo, CR_NO_INTEGER, 50, &leaves));
    assert_true(leaves.count > 3);
    const struct ledger_leaf *leaf = leaves.items;
    assert_ok(&call, ledger_proof(&call, &region.service, &demo, leaf->leaf, &said));
    struct tlog_proof *proof = cr_new(&call, struct tlog_proof, 1);
    assert_true(tlog_proof_read(&call, said.proof, strlen(said.proof), proof));
    struct tlog_hash hash = tlog_leaf(said.entry, strlen(said.entry));
    assert_true(tlog_included(proof->index, proof->checkpoint.size, &hash, &proof->checkpoint.root,
                              proof->path, proof->path_count));
    assert_int_equal(ledger_proof(&call, &region.service, &other, leaf->leaf, &said), CR_NOT_FOUND);
}

static void a_quote_is_what_the_same_time_would_be_billed(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct ledger_quote quote;
    struct ledger_quote_ask ask = {.flavor = "cpu", .device_count = 2, .duration_s = 3600};
    assert_ok(&call, ledger_quote(&call, &region.service, &demo, &ask, &quote));
    assert_int_equal(quote.total_microusd, 2 * LEDGER_BOOTSTRAP_MICROUSD_H);
    struct cr_list prices;
    const struct principal nobody = {.kind = PRINCIPAL_NOBODY};
    assert_ok(&call, ledger_prices(&call, &region.service, &nobody, NULL, 10, &prices));
    assert_int_equal(prices.count, 1);
    assert_int_equal(((const struct ledger_price *)prices.items)->rate_microusd_h,
                     LEDGER_BOOTSTRAP_MICROUSD_H);
}

static enum cr_status register_node(struct cr_call *call, struct db *db, void *context)
{
    return ledger_node_key(call, db, &region.config, &service_by_engine, REGION_NODE, context);
}

static int open_region(void **state)
{
    (void)state;
    unsigned char seed[BASE_CRYPTO_SEED_SIZE] = {1, 2, 3};
    region_open(&region);
    region_node(&region, 4);
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    signer = base_crypto_signer_open(seed);
    assert_true(tlog_vkey_make(ledger_node_key_name(&call, &region.config, REGION_NODE),
                               TLOG_ED25519, base_crypto_signer_public(signer), &vkey));
    char *text = strdup(tlog_vkey_write(&call, &vkey));
    region_sql(&region, cr_format(&call, "UPDATE node SET vkey = '%s', boot = '" BOOT "'", text));
    assert_ok(&call, db_transaction(&call, region.service.engine_db, NULL, 0, register_node, text));
    assert_ok(&call, ledger_bootstrap(&call, &region.service));
    assert_ok(&call, ledger_bootstrap(&call, &region.service));
    region_sql(&region,
               "INSERT INTO artifact (tenant_id, artifact_id, sha256, size, kind, state, received, "
               "held) SELECT '" REGION_TENANT "', 'art_0000000000000000000000000' || i, "
               "decode(lpad(i::text, 64, '0'), 'hex'), 10, 'dataset', 'held', 10, 1 "
               "FROM generate_series(1, 2) i");
    free(text);
    return 0;
}

static int close_region(void **state)
{
    (void)state;
    if (engine)
        engine_close(engine);
    base_crypto_signer_close(&signer);
    region_close(&region);
    return 0;
}

int main(void)
{
    if (region_skipped())
        return 0;
    setbuf(stdout, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_completion_is_one_record_one_charge_and_one_end),
        cmocka_unit_test(a_receipt_waits_for_a_checkpoint_and_then_verifies),
        cmocka_unit_test(every_flipped_byte_of_a_receipt_fails_but_in_hints),
        cmocka_unit_test(a_cancelled_job_pays_for_what_it_held),
        cmocka_unit_test(a_crash_of_the_runner_bills_nothing_and_queues_the_job),
        cmocka_unit_test(a_lease_across_midnight_is_cut_there),
        cmocka_unit_test(records_charges_lines_and_totals_agree),
        cmocka_unit_test(a_quote_is_what_the_same_time_would_be_billed),
        cmocka_unit_test(a_leaf_is_proved_to_its_tenant_and_to_no_other),
        cmocka_unit_test(a_reading_that_falls_is_a_contradiction_and_the_first_one_stays),
        cmocka_unit_test(a_boot_and_an_epoch_that_are_over_are_refused),
        cmocka_unit_test(two_sealers_are_fenced_and_an_older_tree_is_not_signed),
    };
    return cmocka_run_group_tests_name("ledger", tests, open_region, close_region);
}
