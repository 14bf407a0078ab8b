/* text: each value has one text, and nothing else is taken for it. */
#include "tests/unit/test.h"

#include "base/core/text.h"

#include <string.h>

static void utf8_is_told_from_what_is_not(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        bool good;
    } cases[] = {
        {"", 0, true},
        {"Fackel \xF0\x9F\x94\xA5", 11, true},
        {"\xEF\xBF\xBD", 3, true},
        {"a\0b", 3, false},
        {"\xC0\xAF", 2, false},
        {"\xED\xA0\x80", 3, false},
        {"\xF4\x90\x80\x80", 4, false},
        {"\xE2\x82", 2, false},
        {"\x80", 1, false},
        {"\xFF", 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(cr_utf8(cases[i].bytes, cases[i].length), cases[i].good);
}

static void a_name_hides_nothing(void **state)
{
    (void)state;
    assert_true(cr_printable("gr\xC3\xB6\xC3\x9F"
                             "e, \xE6\x97\xA5 \xF0\x9F\x94\xA5"));
    static const char *const hidden[] = {"a\tb",          "a\x7F",         "a\xC2\x85",
                                         "a\xE2\x80\xAE", "a\xE2\x80\x8B", "a\xEF\xBB\xBF",
                                         "\xE2\x81\xA6"};
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        assert_false(cr_printable(hidden[i]));
}

static void hex_goes_both_ways_in_lower_case(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    unsigned char bytes[2];
    assert_string_equal(cr_hex(&call, "\x01\xFE", 2), "01fe");
    assert_true(cr_hex_parse("01fe", 4, bytes, 2));
    assert_memory_equal(bytes, "\x01\xFE", 2);
    assert_false(cr_hex_parse("01FE", 4, bytes, 2));
    assert_false(cr_hex_parse("01f", 3, bytes, 1));
    assert_false(cr_hex_parse("01fe", 4, bytes, 1));
}

static void base64_is_strict_in_both_alphabets(void **state)
{
    (void)state;
    static const struct {
        enum cr_base64 alphabet;
        const char *text, *bytes; /* NULL: refused */
    } cases[] = {
        {CR_BASE64_STANDARD, "", ""},
        {CR_BASE64_STANDARD, "Zg==", "f"},
        {CR_BASE64_STANDARD, "Zm8=", "fo"},
        {CR_BASE64_STANDARD, "Zm9v", "foo"},
        {CR_BASE64_STANDARD, "++//", "\xFB\xEF\xFF"},
        {CR_BASE64_URL, "--__", "\xFB\xEF\xFF"},
        {CR_BASE64_URL, "Zg", "f"},
        {CR_BASE64_URL, "Zm8", "fo"},
        {CR_BASE64_STANDARD, "Zg", NULL},
        {CR_BASE64_URL, "Zg==", NULL},
        {CR_BASE64_STANDARD, "Zh==", NULL},
        {CR_BASE64_URL, "Zh", NULL},
        {CR_BASE64_STANDARD, "Z===", NULL},
        {CR_BASE64_URL, "Z", NULL},
        {CR_BASE64_STANDARD, "====", NULL},
        {CR_BASE64_STANDARD, "Zg=\n", NULL},
        {CR_BASE64_STANDARD, "--__", NULL},
        {CR_BASE64_URL, "++//", NULL},
        {CR_BASE64_STANDARD, "Z=g=", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
        struct cr_bytes bytes;
        bool good =
            cr_base64_parse(&call, cases[i].alphabet, cases[i].text, strlen(cases[i].text), &bytes);
        assert_int_equal(good, cases[i].bytes != NULL);
        if (!good)
            continue;
        assert_string_equal((const char *)bytes.data, cases[i].bytes);
        assert_string_equal(cr_base64_print(&call, cases[i].alphabet, bytes.data, bytes.size),
                            cases[i].text);
    }
}

static void percent_goes_both_ways(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    assert_string_equal(cr_percent_print(&call, "a/b ~\xC3\xB6"), "a%2Fb%20~%C3%B6");
    assert_string_equal(cr_percent_parse(&call, "a%2fb%20+", 9), "a/b +");
    assert_null(cr_percent_parse(&call, "%0", 2));
    assert_null(cr_percent_parse(&call, "%zz", 3));
    assert_null(cr_percent_parse(&call, "%00", 3));
    assert_null(cr_percent_parse(&call, "%ff", 3));
}

/* The check values of the catalogue of CRCs (reveng.sourceforge.io): of "123456789". */
static void check_sums_are_the_published_ones(void **state)
{
    (void)state;
    assert_int_equal(cr_crc32(0, "123456789", 9), 0xCBF43926U);
    assert_int_equal(cr_crc32c(0, "123456789", 9), 0xE3069283U);
    assert_int_equal(cr_crc32c(cr_crc32c(0, "1234", 4), "56789", 5), 0xE3069283U);
}

static void a_text_grows_and_quotes(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    struct cr_text text = cr_text_open(&call);
    for (int i = 0; i < 1000; i++)
        cr_text_add_format(&text, "%d,", i % 10);
    assert_int_equal(text.length, 2000);
    assert_int_equal(strlen(text.data), 2000);

    text = cr_text_open(&call);
    cr_text_add_quoted(&text, "a\"\\\b\f\n\r\t\x01/\xC3\xB6", 12);
    assert_string_equal(text.data, "\"a\\\"\\\\\\b\\f\\n\\r\\t\\u0001/\xC3\xB6\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_is_told_from_what_is_not),
        cmocka_unit_test(a_name_hides_nothing),
        cmocka_unit_test(hex_goes_both_ways_in_lower_case),
        cmocka_unit_test(base64_is_strict_in_both_alphabets),
        cmocka_unit_test(percent_goes_both_ways),
        cmocka_unit_test(check_sums_are_the_published_ones),
        cmocka_unit_test(a_text_grows_and_quotes),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
