/* record: what a lease is billed, to the nanosecond, and never more than the region saw. */
#include "tests/unit/test.h"

#include "billing/billing.h"

#include <string.h>

#define NODE "node_01M8RHHQPNQ4ZK9W7V2X5T8RND"
#define NOON (INT64_C(20666) * BILLING_DAY_US + BILLING_DAY_US / 2)
#define S_US INT64_C(1000000)
#define S_NS INT64_C(1000000000)
#define HASH "d4db2246d4db2246d4db2246d4db2246d4db2246d4db2246d4db2246d4db2246"

static const char *const devices[] = {NODE "/cpu0"};

static struct billing_lease lease_of(void)
{
    return (struct billing_lease){
        .node = NODE,
        .devices = {devices, 1},
        .slices = 1,
        .granted_us = NOON,
        .ended_us = NOON + 100 * S_US,
        .start_us = NOON + 10 * S_US,
        .midnight_us = CR_NO_INTEGER,
        .held_ns = 80 * S_NS,
        .is_released = true,
        .reading = HASH,
    };
}

static struct billing_record record_of(struct billing_leg *leg, struct billing_quantity *quantity,
                                       const char *outcome)
{
    *quantity = (struct billing_quantity){"device", "", leg->slices * leg->billed_ns};
    return (struct billing_record){
        .at_us = leg->ended_us,
        .flavor = "cpu",
        .from_us = CR_NO_INTEGER,
        .home = "local.cresset.localhost",
        .job = "job_01M8RHHQPNQ4ZK9W7V2X5T8RND",
        .kind = "final",
        .lease_epoch = 1,
        .legs = {leg, 1},
        .outcome = outcome,
        .prev = "",
        .program = "train",
        .quantities = {quantity, 1},
        .record = "rec_01M8RHHQPNQ4ZK9W7V2X5T8RND",
        .region = "local.cresset.localhost",
        .tenant = "tnt_01M8RHHQPNQ4ZK9W7V2X5T8RND",
        .to_us = CR_NO_INTEGER,
    };
}

static void held_time_is_billed_within_the_regions_own_interval(void **state)
{
    (void)state;
    static const struct {
        const char *outcome;
        int64_t held_s, start_s;
        bool is_released;
        int64_t billed_s, from_s, capped_s;
    } cases[] = {
        {"completed", 80, 10, true, 80, 10, 0},     {"completed", 95, 10, true, 95, 5, 0},
        {"completed", 250, 10, true, 100, 0, 150},  {"cancelled", 0, 10, true, 0, 10, 0},
        {"limit", 80, -50, true, 80, 0, 0},         {"preempted", 80, 10, true, 0, 10, 0},
        {"platform_error", 80, 10, true, 0, 10, 0}, {"completed", 80, 10, false, 0, 10, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct billing_lease lease = lease_of();
        lease.held_ns = cases[i].held_s * S_NS;
        lease.start_us = NOON + cases[i].start_s * S_US;
        lease.is_released = cases[i].is_released;
        int64_t capped_ns = -1;
        struct billing_leg leg = billing_leg_final(&lease, cases[i].outcome, &capped_ns);
        assert_int_equal(leg.billed_ns, cases[i].billed_s * S_NS);
        assert_int_equal(leg.from_us, NOON + cases[i].from_s * S_US);
        assert_int_equal(capped_ns, cases[i].capped_s * S_NS);
    }
    assert_string_equal(billing_final_outcome("completed", false), "platform_error");
    assert_string_equal(billing_final_outcome("preempted", false), "preempted");
}

static void a_midnight_cuts_held_time_without_a_gap(void **state)
{
    (void)state;
    int64_t midnight = (billing_day(NOON) + 1) * BILLING_DAY_US, capped_ns = 0;
    struct billing_lease lease = lease_of();
    struct billing_leg interim;
    lease.start_us = midnight - 30 * S_US;
    lease.ended_us = midnight;
    lease.held_ns = 29 * S_NS;
    assert_false(billing_leg_interim(&lease, &interim)); /* not yet proved */
    lease.held_ns = 35 * S_NS;
    assert_true(billing_leg_interim(&lease, &interim));
    assert_int_equal(interim.billed_ns, 30 * S_NS);

    lease.midnight_us = midnight;
    lease.prior_ns = interim.billed_ns;
    lease.ended_us = midnight + 60 * S_US;
    lease.held_ns = 90 * S_NS;
    struct billing_leg final = billing_leg_final(&lease, "completed", &capped_ns);
    assert_int_equal(final.billed_ns, 60 * S_NS);
    assert_int_equal(final.from_us, midnight);
    assert_int_equal(capped_ns, 0);
}

static void a_record_is_read_as_it_was_written_and_changed_forms_are_not(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    int64_t capped_ns = 0;
    struct billing_lease lease = lease_of();
    struct billing_leg leg = billing_leg_final(&lease, "completed", &capped_ns);
    struct billing_quantity quantity;
    struct billing_record record = record_of(&leg, &quantity, "completed"), read;
    struct cr_bytes body = billing_record_write(&call, &record);
    assert_true(billing_record_read(&call, body, &read));
    assert_null(billing_record_fault(&read));

    record.outcome = "open"; /* of interim alone */
    assert_false(billing_record_read(&call, billing_record_write(&call, &record), &read));
    record.outcome = "completed";
    leg.reading = ""; /* only where the platform failed */
    assert_false(billing_record_read(&call, billing_record_write(&call, &record), &read));
    leg.reading = HASH;
    quantity.quantity++;
    assert_non_null(billing_record_fault(&record));
    quantity.quantity--;
    record.outcome = "preempted";
    assert_string_equal(billing_record_fault(&record), "a failure of the platform is billed");
}

static void counters_that_fall_contradict(void **state)
{
    (void)state;
    const struct billing_reading last = {.acquire_ns = 7,
                                         .busy_ns = 5,
                                         .energy_mj = CR_NO_INTEGER,
                                         .held_ns = 100,
                                         .mono_ns = 107,
                                         .seq = 3,
                                         .slices = 1,
                                         .state = "held"};
    struct billing_reading next = last;
    assert_int_equal(billing_reading_order(&last, true, &next), BILLING_SAME);
    assert_int_equal(billing_reading_order(&last, false, &next), BILLING_CONTRADICTION);
    next.seq = 2;
    assert_int_equal(billing_reading_order(&last, false, &next), BILLING_OLDER);
    next.seq = 4;
    next.held_ns = 200;
    next.mono_ns = 207;
    assert_int_equal(billing_reading_order(&last, false, &next), BILLING_NEWER);
    next.busy_ns = 4;
    assert_int_equal(billing_reading_order(&last, false, &next), BILLING_CONTRADICTION);
    next.busy_ns = 5;
    next.acquire_ns = 8;
    assert_int_equal(billing_reading_order(&last, false, &next), BILLING_CONTRADICTION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(held_time_is_billed_within_the_regions_own_interval),
        cmocka_unit_test(a_midnight_cuts_held_time_without_a_gap),
        cmocka_unit_test(a_record_is_read_as_it_was_written_and_changed_forms_are_not),
        cmocka_unit_test(counters_that_fall_contradict),
    };
    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
