/* call: what is promised of memory and of failure. */
#include "tests/unit/test.h"

#include <string.h>

static void memory_is_zeroed_and_aligned_for_any_type(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    static const char zeroes[64];
    for (size_t size = 1; size <= sizeof zeroes; size++) {
        void *memory = cr_alloc(&call, 1, size);
        assert_int_equal((uintptr_t)memory % _Alignof(max_align_t), 0);
        assert_memory_equal(memory, zeroes, size);
        memset(memory, 0xff, size);
    }
}

static void what_was_given_out_stays_as_it_was_written(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    enum { COUNT = 200 }; /* of 0 to 10 kB: within a block, over its end, and larger than one */
    unsigned char *given[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        given[i] = cr_new(&call, unsigned char, i * 50);
        memset(given[i], (int)i, i * 50);
    }
    for (size_t i = 0; i < COUNT; i++)
        for (size_t at = 0; at < i * 50; at++)
            assert_int_equal(given[i][at], i);
}

static void the_first_failure_is_the_one_that_stays(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    assert_int_equal(cr_fail(&call, CR_NOT_FOUND, "no tenant %d", 7), CR_NOT_FOUND);
    assert_int_equal(cr_fail(&call, CR_INTERNAL, "and so nothing works"), CR_NOT_FOUND);
    assert_int_equal(call.status, CR_NOT_FOUND);
    assert_string_equal(call.reason, "no tenant 7");
}

static void a_failure_that_was_dealt_with_is_forgotten(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    assert_int_equal(cr_fail(&call, CR_NOT_FOUND, "no tenant"), CR_NOT_FOUND);
    cr_forgive(&call);
    assert_int_equal(call.status, CR_OK);
    assert_string_equal(call.reason, "");
}

static void a_reason_can_be_printed_whatever_went_into_it(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    assert_int_equal(cr_fail(&call, CR_INVALID, "no \n\xff%0999d", 1), CR_INVALID);
    assert_memory_equal(call.reason, "no ??000", 8);
    assert_int_equal(strlen(call.reason), sizeof call.reason - 1);
}

static void a_status_has_one_word_and_one_http_status(void **state)
{
    (void)state;
    static const struct {
        enum cr_status status;
        const char *word;
        int http;
    } cases[] = {
        {CR_OK, "ok", 200},
        {CR_INVALID, "invalid", 400},
        {CR_UNAUTHENTICATED, "unauthenticated", 401},
        {CR_DENIED, "denied", 403},
        {CR_NOT_FOUND, "not_found", 404},
        {CR_CONFLICT, "conflict", 409},
        {CR_TOO_LARGE, "too_large", 413},
        {CR_MISMATCH, "mismatch", 422},
        {CR_EXHAUSTED, "exhausted", 429},
        {CR_INTERNAL, "internal", 500},
        {CR_UNAVAILABLE, "unavailable", 503},
        {CR_UNKNOWN, "unknown", 503},
        {CR_TIMEOUT, "timeout", 504},
    };
#define ONE(name, word, http) +1
    _Static_assert(sizeof cases / sizeof cases[0] == CR_STATUS_TABLE(ONE), "a row a status");
#undef ONE
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(cr_status_word(cases[i].status), cases[i].word);
        assert_int_equal(cr_status_http(cases[i].status), cases[i].http);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_aligned_for_any_type),
        cmocka_unit_test(what_was_given_out_stays_as_it_was_written),
        cmocka_unit_test(the_first_failure_is_the_one_that_stays),
        cmocka_unit_test(a_failure_that_was_dealt_with_is_forgotten),
        cmocka_unit_test(a_reason_can_be_printed_whatever_went_into_it),
        cmocka_unit_test(a_status_has_one_word_and_one_http_status),
    };
    return cmocka_run_group_tests_name("call", tests, NULL, NULL);
}
