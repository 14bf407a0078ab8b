/* parse, time: a number or a moment is taken whole, or not at all. */
#include "tests/unit/test.h"

#include "base/core/parse.h"
#include "base/core/time.h"

#include <string.h>

static void integers_hold_at_their_edges(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t min, max, value;
        bool good;
    } cases[] = {
        {"0", 0, 9, 0, true},
        {"-9223372036854775808", INT64_MIN, INT64_MAX, INT64_MIN, true},
        {"9223372036854775807", INT64_MIN, INT64_MAX, INT64_MAX, true},
        {"9223372036854775808", INT64_MIN, INT64_MAX, 0, false},
        {"-9223372036854775809", INT64_MIN, INT64_MAX, 0, false},
        {"18446744073709551616", INT64_MIN, INT64_MAX, 0, false},
        {"10", 0, 9, 0, false},
        {"-1", 0, 9, 0, false},
        {"-0", -9, 9, 0, false},
        {"01", 0, 9, 0, false},
        {"+1", 0, 9, 0, false},
        {" 1", 0, 9, 0, false},
        {"1 ", 0, 9, 0, false},
        {"", 0, 9, 0, false},
        {"-", -9, 9, 0, false},
        {"0x1", 0, 9, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t value = 77;
        bool good = cr_parse_integer(cases[i].text, strlen(cases[i].text), cases[i].min,
                                     cases[i].max, &value);
        assert_int_equal(good, cases[i].good);
        assert_int_equal(value, good ? cases[i].value : 77);
    }
}

/* The money and duration rows of the list of bad input, and good ones beside them. */
static void money_is_exact_or_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",   "1.2345678", "1e3", "-0",   "9223372036855", "1,00",
                                      "$1", "1.",        ".5",  "00.5", "1.0 "};
    int64_t value;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(cr_parse_money(bad[i], strlen(bad[i]), &value));
    assert_true(cr_parse_money("999999999999.999999", 19, &value));
    assert_int_equal(value, INT64_C(999999999999999999));
    assert_true(cr_parse_money("0.5", 3, &value));
    assert_int_equal(value, 500000);
}

static void a_duration_has_a_number_and_a_unit(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",           " 5s", "5",  "-5s",        "1.5h", "9223372036854775808ns", "9223372036s9",
        "5\xC2\xB5s", "5 s", "5S", "9223372037s"};
    int64_t value;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(cr_parse_duration(bad[i], strlen(bad[i]), &value));
    static const char *const good[] = {"0s", "1ns", "15us", "90s", "7m", "36h", "10d", "1001ms"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        char text[CR_DURATION_SIZE];
        assert_true(cr_parse_duration(good[i], strlen(good[i]), &value));
        cr_duration_print(value, text);
        assert_string_equal(text, good[i]);
    }
}

static void numbers_are_those_of_json(void **state)
{
    (void)state;
    static const char *const bad[] = {"",   "NaN", "1e400", "01", "1.",
                                      ".5", "+1",  "0x1p3", "1e", "inf"};
    double value;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(cr_parse_number(bad[i], strlen(bad[i]), &value));
    assert_true(cr_parse_number("-1.5e-3", 7, &value));
    assert_true(value == -0.0015);
}

static void moments_go_both_ways(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t utc_us;
    } cases[] = {
        {"1970-01-01T00:00:00.000000Z", 0},
        {"1969-12-31T23:59:59.999999Z", -1},
        {"2000-02-29T12:00:00.000000Z", INT64_C(951825600000000)},
        {"2026-11-30T21:03:07.000250Z", INT64_C(1796072587000250)},
        {"0001-01-01T00:00:00.000000Z", CR_TIME_US_MIN},
        {"9999-12-31T23:59:59.999999Z", CR_TIME_US_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t utc_us;
        char text[CR_TIME_SIZE];
        assert_true(cr_time_parse(cases[i].text, strlen(cases[i].text), &utc_us));
        assert_int_equal(utc_us, cases[i].utc_us);
        cr_time_print(utc_us, text);
        assert_string_equal(text, cases[i].text);
    }
    for (int64_t day = -719162; day < 2932897; day += 97) {
        int64_t utc_us;
        char text[CR_DATE_SIZE];
        cr_date_print(day * CR_US_A_DAY + 5, text);
        assert_true(cr_date_parse(text, strlen(text), &utc_us));
        assert_int_equal(utc_us, day * CR_US_A_DAY);
    }
}

static void a_moment_that_is_none_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "2026-11-30",
        "2026-11-30T21:03:07",
        "2026-11-30T21:03:07+00:00",
        "2026-11-30 21:03:07Z",
        "2026-11-30t21:03:07z",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T23:59:60Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00.1234567Z",
        "0000-01-01T00:00:00Z",
        "1900-02-29T00:00:00Z",
    };
    int64_t utc_us;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(cr_time_parse(bad[i], strlen(bad[i]), &utc_us));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_hold_at_their_edges),
        cmocka_unit_test(money_is_exact_or_refused),
        cmocka_unit_test(a_duration_has_a_number_and_a_unit),
        cmocka_unit_test(numbers_are_those_of_json),
        cmocka_unit_test(moments_go_both_ways),
        cmocka_unit_test(a_moment_that_is_none_is_refused),
    };
    return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
