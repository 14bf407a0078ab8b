/* canonical: RFC 8785 holds on its author's vectors, on ours, and on a million doubles. */
#include "tests/unit/test_data.h"

#include "base/core/text.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct json_limits wide = {.size = (size_t)1 << 20, .members = 4096, .jcs = true};

static const struct cr_env *env(void)
{
    static struct cr_env system;
    system = cr_env_system();
    return &system;
}

static struct cr_bytes from_hex(struct cr_call *call, const char *text)
{
    size_t size = strlen(text) / 2;
    unsigned char *bytes = cr_new(call, unsigned char, size + 1);
    assert_true(cr_hex_parse(text, strlen(text), bytes, size));
    return (struct cr_bytes){bytes, size};
}

static void the_vectors_of_the_rfc_come_out(void **state)
{
    (void)state;
    static const char *const names[] = {"arrays", "french", "structures", "unicode", "values"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
        struct cr_bytes input =
            test_data(&call, cr_format(&call, "ledger/jcs/upstream/input/%s.json", names[i]));
        struct cr_bytes wanted =
            test_data(&call, cr_format(&call, "ledger/jcs/upstream/output/%s.json", names[i]));
        const struct json_value *value;
        assert_ok(&call, json_parse(&call, &wide, (const char *)input.data, input.size, &value));
        assert_string_equal(json_canonical(&call, value), (const char *)wanted.data);
    }
}

static void each_case_gives_its_bytes_or_is_refused(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call all = cr_call_open(env(), INT64_MAX);
    const char *at = (const char *)test_data(&all, "ledger/jcs/cases.jsonl").data, *line;
    size_t length;
    while ((line = test_line(&all, &at, &length))) {
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
        const struct json_value *row, *value;
        assert_ok(&call, json_parse(&call, NULL, line, length, &row));
        struct cr_bytes input = from_hex(&call, json_member_text(row, "input_hex"));
        bool taken =
            json_parse(&call, &wide, (const char *)input.data, input.size, &value) == CR_OK;
        const char *wanted = json_member_text(row, "output_hex");
        if (taken != (wanted != NULL))
            fail_msg("%s: %s", json_member_text(row, "case"), taken ? "was taken" : call.reason);
        if (taken) {
            const char *text = json_canonical(&call, value);
            assert_string_equal(cr_hex(&call, text, strlen(text)), wanted);
        }
    }
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void numbers_have_their_shortest_text(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call all = cr_call_open(env(), INT64_MAX);
    const char *at = (const char *)test_data(&all, "ledger/jcs/numbers.csv").data, *line;
    size_t length, count = 0;
    while ((line = test_line(&all, &at, &length))) {
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
        struct cr_text text = cr_text_open(&call);
        json_add_number(&text, double_of(strtoull(line, NULL, 16)));
        assert_string_equal(text.data, strchr(line, ',') + 1);
        count++;
    }
    assert_int_equal(count, 4672);
}

/* The generator of the README beside the vectors: prints lines into a hash. */
struct table {
    struct base_crypto_sha256 hash;
    size_t lines;
};

static void add_line(struct table *table, uint64_t bits)
{
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    struct cr_text text = cr_text_open(&call);
    cr_text_add_format(&text, "%" PRIx64 ",", bits);
    json_add_number(&text, double_of(bits));
    cr_text_add(&text, "\n");
    base_crypto_sha256_add(&table->hash, text.data, text.length);
    table->lines++;
}

static void add_random_lines(struct table *table, size_t until)
{
    unsigned char block[32] = {0};
    while (table->lines < until) {
        base_crypto_sha256(block, sizeof block, block);
        for (size_t i = 0; i < 4 && table->lines < until; i++) {
            uint64_t bits = 0;
            for (size_t k = 8; k-- > 0;)
                bits = bits << 8 | block[8 * i + k];
            if (double_of(bits) != 0 && isfinite(double_of(bits)))
                add_line(table, bits);
        }
    }
}

static void the_table_of_ecmascript_has_its_hash(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call all = cr_call_open(env(), INT64_MAX);
    const char *at = (const char *)test_data(&all, "ledger/jcs/es6-static.txt").data, *line;
    struct table table = {.lines = 0};
    base_crypto_sha256_init(&table.hash);
    size_t length;
    while ((line = test_line(&all, &at, &length)))
        add_line(&table, strtoull(line, NULL, 16));
    assert_int_equal(table.lines, 168);
    for (uint64_t i = 0; i < 2000; i++)
        add_line(&table, UINT64_C(0x0010000000000000) + i);
    add_random_lines(&table, 100000);

    unsigned char hash[BASE_CRYPTO_SHA256_SIZE];
    base_crypto_sha256_done(&table.hash, hash);
    assert_string_equal(cr_hex(&all, hash, sizeof hash),
                        "22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_the_rfc_come_out),
        cmocka_unit_test(each_case_gives_its_bytes_or_is_refused),
        cmocka_unit_test(numbers_have_their_shortest_text),
        cmocka_unit_test(the_table_of_ecmascript_has_its_hash),
    };
    return cmocka_run_group_tests_name("json canonical", tests, NULL, NULL);
}
