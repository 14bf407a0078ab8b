/* base/yaml: YAML in, JSON and places out. */
#include "tests/unit/test.h"

#include "base/yaml/yaml.h"

#include <string.h>

static struct cr_env env;

static void yaml_means_what_the_core_schema_says(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *json;
    } rows[] = {
        {"", "null"},
        {"a: 1\nb: [x, 'y', \"z\"]\n", "{\"a\":1,\"b\":[\"x\",\"y\",\"z\"]}"},
        {"a: no\nb: on\nc: true\nd: ~\ne:\n",
         "{\"a\":\"no\",\"b\":\"on\",\"c\":true,\"d\":null,\"e\":null}"},
        {"a: 012\nb: 0x1F\nc: 0o17\nd: +5\n", "{\"a\":12,\"b\":31,\"c\":15,\"d\":5}"},
        {"a: 0.5\nb: -1e3\nc: 1_000\n", "{\"a\":0.5,\"b\":-1000,\"c\":\"1_000\"}"},
        {"a: '1'\nb: \"true\"\n", "{\"a\":\"1\",\"b\":\"true\"}"},
        {"a: |\n  x\n  y\n", "{\"a\":\"x\\u000ay\\u000a\"}"},
        {"{\"a\": {\"b\": [1, 2.5, null]}}", "{\"a\":{\"b\":[1,2.5,null]}}"},
        {"a: \"\\\"\\\\\"", "{\"a\":\"\\\"\\\\\"}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
        struct yaml_document document;
        assert_ok(&call, yaml_read(&call, rows[i].yaml, strlen(rows[i].yaml), &document));
        assert_string_equal(document.json, rows[i].json);
    }
}

static void what_json_cannot_say_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *reason;
    } rows[] = {
        {"a: 1\na: 2\n", "2:1: the member stands twice"},
        {"a: &x 1\nb: *x\n", "1:4: anchors and aliases are not read here"},
        {"a: !!str 1\n", "1:4: tags are not read here"},
        {"a: .inf\n", "1:4: JSON has no infinite numbers"},
        {"a: 99999999999999999999\n", "1:4: the number is beyond 64 bits"},
        {"a: 1\n---\nb: 2\n", "2:1: a second document"},
        {"? [1]\n: 2\n", "1:3: the name of a member must be a text"},
        {"a: \"\\0\"\n", "1:4: a text may not hold a NUL"},
        {"a: [1\n", "2:1: did not find expected ',' or ']'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
        struct yaml_document document;
        assert_int_equal(yaml_read(&call, rows[i].yaml, strlen(rows[i].yaml), &document),
                         CR_INVALID);
        assert_string_equal(call.reason, rows[i].reason);
    }
}

static void a_pointer_finds_its_line_and_column(void **state)
{
    (void)state;
    const char *text = "name: x\nresources:\n  gpus: 2\n  a/b~: [10,\n    20]\n";
    static const struct {
        const char *pointer;
        size_t line, column;
    } rows[] = {
        {"", 1, 1},
        {"/name", 1, 7},
        {"/resources/gpus", 3, 9},
        {"/resources", 3, 3},
        {"/resources/a~1b~0/1", 5, 5},
        {"/resources/none", 3, 3},
        {"/none", 1, 1},
    };
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct yaml_document document;
    assert_ok(&call, yaml_read(&call, text, strlen(text), &document));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct yaml_mark *mark = yaml_mark_of(&document, rows[i].pointer);
        assert_int_equal(mark->line, rows[i].line);
        assert_int_equal(mark->column, rows[i].column);
    }
}

static void depth_and_size_have_limits(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct yaml_document document;
    char deep[2 * YAML_DEPTH_MAX + 4] = {0};
    memset(deep, '[', YAML_DEPTH_MAX + 1);
    memset(deep + YAML_DEPTH_MAX + 1, ']', YAML_DEPTH_MAX + 1);
    assert_int_equal(yaml_read(&call, deep, strlen(deep), &document), CR_INVALID);
    cr_forgive(&call);
    assert_ok(&call, yaml_read(&call, deep + 1, strlen(deep) - 2, &document));
    assert_int_equal(yaml_read(&call, deep, YAML_SIZE_MAX + 1, &document), CR_TOO_LARGE);
}

static void every_text_that_is_no_word_or_number_reads_as_text(void **state)
{
    (void)state;
    assert_true(yaml_reads_as_text("no") && yaml_reads_as_text("1.2.3"));
    assert_false(yaml_reads_as_text("1e5") || yaml_reads_as_text("null") ||
                 yaml_reads_as_text("") || yaml_reads_as_text(".nan"));
}

int main(void)
{
    env = cr_env_system();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yaml_means_what_the_core_schema_says),
        cmocka_unit_test(what_json_cannot_say_is_refused_with_its_place),
        cmocka_unit_test(a_pointer_finds_its_line_and_column),
        cmocka_unit_test(depth_and_size_have_limits),
        cmocka_unit_test(every_text_that_is_no_word_or_number_reads_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
