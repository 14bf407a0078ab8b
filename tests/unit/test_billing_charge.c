/* charge: amounts are exact, round only downwards, and never overflow unseen. */
#include "tests/unit/test.h"

#include "billing/billing.h"

#include <string.h>

static void an_hour_of_a_core_costs_its_price(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    int64_t rate = 0, micro = 0;
    billing_zepto amount = 0;
    assert_true(billing_rate_of_hour(360000, &rate));
    assert_int_equal(rate, 100000000);
    assert_int_equal(billing_rate_to_hour(rate), 360000);
    assert_true(billing_amount(BILLING_METER_device, INT64_C(3600000000000), rate, &amount));
    assert_true(billing_micro(amount, &micro));
    assert_int_equal(micro, 360000);
    assert_string_equal(billing_zepto_decimal(&call, amount), "0.36");
    assert_string_equal(billing_zepto_decimal(&call, 1), "0.000000000000000000001");
    assert_string_equal(billing_zepto_decimal(&call, 0), "0");
    assert_string_equal(billing_zepto_decimal(&call, -amount), "-0.36");
}

static void rounding_goes_down_also_below_zero(void **state)
{
    (void)state;
    static const struct {
        int64_t quantity, micro;
    } cases[] = {{1, 0}, {-1, -1}, {9999999, 0}, {10000000, 1}, {-10000000, -1}, {-10000001, -2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        billing_zepto amount = 0;
        int64_t micro = 0;
        assert_true(billing_amount(BILLING_METER_device, cases[i].quantity, 100000000, &amount));
        assert_true(billing_micro(amount, &micro));
        assert_int_equal(micro, cases[i].micro);
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    billing_zepto amount = 0;
    int64_t micro = 0, rate = 0;
    assert_false(
        billing_amount(BILLING_METER_tokens_in, INT64_MAX, BILLING_RATE_PICO_MAX, &amount));
    assert_true(billing_amount(BILLING_METER_device, INT64_MAX, BILLING_RATE_PICO_MAX, &amount));
    assert_true(billing_micro(amount, &micro));
    assert_false(billing_rate_of_hour(INT64_MAX, &rate));
    assert_false(billing_zepto_parse("-0", 2, &amount));
    assert_false(billing_zepto_parse("01", 2, &amount));
    assert_false(billing_zepto_parse("", 0, &amount));
    char text[BILLING_ZEPTO_SIZE];
    assert_true(billing_zepto_parse("-99999999999999999999999999999999999999", 39, &amount));
    billing_zepto_print(amount, text);
    assert_string_equal(text, "-99999999999999999999999999999999999999");
    assert_false(billing_add(amount, -1, &amount));
}

static void months_begin_where_the_calendar_says(void **state)
{
    (void)state;
    static const struct {
        int64_t period, day;
    } cases[] = {{197001, 0}, {200003, 11017}, {202402, 19754}, {202403, 19783}, {202611, 20758}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t from_us = billing_period_from_us(cases[i].period);
        assert_int_equal(from_us, cases[i].day * BILLING_DAY_US);
        assert_int_equal(billing_period(from_us), cases[i].period);
        if (from_us > 0)
            assert_int_equal(billing_period_next(billing_period(from_us - 1)), cases[i].period);
    }
}

/* Random days of a device: its six parts sum to what was present, and nothing is negative. */
static void a_day_is_attributed_to_the_nanosecond(void **state)
{
    (void)state;
    const int64_t day_us = INT64_C(20666) * BILLING_DAY_US;
    uint64_t random = 1;
    for (int run = 0; run < 2000; run++) {
        struct billing_interval states[8];
        struct billing_held held[8];
        size_t held_count = 0;
        int64_t at = day_us - 50000, whole = 0;
        static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
        for (size_t i = 0; i < 8; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407U;
            int64_t length = (int64_t)(random >> 33) % 20000000000;
            states[i] = (struct billing_interval){at, at + length, (enum billing_state)(random % 4),
                                                  names[i]};
            if (states[i].state == BILLING_LEASED && random & 64)
                held[held_count++] =
                    (struct billing_held){.lease = names[i],
                                          .is_final = true,
                                          .from_us = at + length / 3,
                                          .ended_us = at + length,
                                          .held_ns = length / 2 * 1000,
                                          .billed_ns = random & 128 ? length / 2 * 1000 : 0};
            at += length;
        }
        struct billing_attribution day = billing_attribute(day_us, states, 8, held, held_count);
        int64_t to = at < day_us + BILLING_DAY_US ? at : day_us + BILLING_DAY_US;
        whole = (to - day_us) * 1000;
        assert_int_equal(day.present_ns, whole);
        assert_int_equal(day.billed_ns + day.idle_free_ns + day.idle_reserved_ns +
                             day.idle_waived_ns + day.maintenance_ns + day.unattributed_ns,
                         whole);
        assert_true(day.billed_ns >= 0 && day.idle_reserved_ns >= 0 && day.idle_waived_ns >= 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_hour_of_a_core_costs_its_price),
        cmocka_unit_test(rounding_goes_down_also_below_zero),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(months_begin_where_the_calendar_says),
        cmocka_unit_test(a_day_is_attributed_to_the_nanosecond),
    };
    return cmocka_run_group_tests_name("charge", tests, NULL, NULL);
}
