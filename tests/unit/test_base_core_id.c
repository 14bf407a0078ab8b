/* id: ids sort by time, say their kind, and are told apart from what only looks like one. */
#include "tests/unit/test.h"

#include "base/core/id.h"

static void an_id_is_its_time_and_its_randomness(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    static const unsigned char zeroes[10],
        ones[10] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    assert_string_equal(cr_id_of(&call, "job", 0, zeroes), "job_00000000000000000000000000");
    assert_string_equal(cr_id_of(&call, "job", 1469918176385, zeroes),
                        "job_01ARYZ6S410000000000000000");
    assert_string_equal(cr_id_of(&call, "job", (INT64_C(1) << 48) - 1, ones),
                        "job_7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
}

static void only_what_we_write_is_an_id(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is;
    } cases[] = {
        {"job_01M8RHHQPNQ4ZK9W7V2X5T8RND", true},   {"job_01m8rhhqpnq4zk9w7v2x5t8rnd", false},
        {"job_81M8RHHQPNQ4ZK9W7V2X5T8RND", false},  {"job_01M8RHHQPNQ4ZK9W7V2X5T8RN", false},
        {"job_01M8RHHQPNQ4ZK9W7V2X5T8RNDX", false}, {"node_01M8RHHQPNQ4ZK9W7V2X5T8RND", false},
        {"job_01M8RHHQPNQ4ZK9W7V2X5T8RNU", false},  {"", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(cr_id_is(cases[i].text, "job"), cases[i].is);
    assert_string_equal(cr_id_kind("node_01M8RHHQPNQ4ZK9W7V2X5T8RND"), "node");
    assert_string_equal(cr_id_noun("rec"), "usage record");
    assert_null(cr_id_kind("nodes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_is_its_time_and_its_randomness),
        cmocka_unit_test(only_what_we_write_is_an_id),
    };
    return cmocka_run_group_tests_name("id", tests, NULL, NULL);
}
