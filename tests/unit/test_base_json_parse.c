/* parse: what is JSON is taken, what is not is refused, and none of it can hurt. */
#include "tests/unit/test_data.h"

#include "base/core/text.h"
#include "base/json/json.h"

#include <string.h>

static const struct cr_env *env(void)
{
    static struct cr_env system;
    system = cr_env_system();
    return &system;
}

static void the_published_texts_get_their_verdicts(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call all = cr_call_open(env(), INT64_MAX);
    const char *at = (const char *)test_data(&all, "reliability/json_cases.tsv").data, *line;
    size_t length, count = 0;
    while ((line = test_line(&all, &at, &length))) {
        const char *verdict = strchr(line, '\t') + 1, *encoded = strchr(verdict, '\t') + 1;
        struct cr_bytes bytes;
        assert_true(cr_base64_parse(&all, CR_BASE64_STANDARD, encoded, strlen(encoded), &bytes));

        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
        const struct json_value *value;
        bool taken = json_parse(&call, NULL, (const char *)bytes.data, bytes.size, &value) == CR_OK;
        if (taken != (strncmp(verdict, "accept", 6) == 0))
            fail_msg("%s: %s", line, taken ? "was taken" : call.reason);
        count++;
    }
    assert_int_equal(count, 338);
}

static void what_is_too_deep_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *piece;
        size_t times;
    } cases[] = {{"[", 100000}, {"[{\"\":", 50000}, {"{\"\":", 50000}};
    for (size_t i = 0; i < 3; i++) {
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
        struct cr_text text = cr_text_open(&call);
        for (size_t k = 0; k < cases[i].times; k++)
            cr_text_add(&text, cases[i].piece);
        const struct json_value *value;
        assert_int_equal(json_parse(&call, NULL, text.data, text.length, &value), CR_INVALID);
        assert_string_equal(call.code->word, "invalid_json");
    }
}

static void a_depth_of_32_is_still_taken(void **state)
{
    (void)state;
    for (size_t depth = 31; depth <= 33; depth++) {
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
        struct cr_text text = cr_text_open(&call);
        for (size_t k = 0; k < depth; k++)
            cr_text_add(&text, "[");
        for (size_t k = 0; k < depth; k++)
            cr_text_add(&text, "]");
        const struct json_value *value;
        enum cr_status status = json_parse(&call, NULL, text.data, text.length, &value);
        assert_int_equal(status, depth <= JSON_DEPTH_MAX ? CR_OK : CR_INVALID);
    }
}

static void a_value_knows_where_it_stood(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
    static const char text[] = " { \"a\\\"\" : [1.0 ,-0.0, {\"b/c\":\"x\\\\\"} ] ,\"d\": true } ";
    const struct json_value *value;
    assert_ok(&call, json_parse(&call, NULL, text, strlen(text), &value));

    const struct json_value *list = json_member(value, "a\"");
    assert_memory_equal(list->source, "[1.0 ,-0.0, {\"b/c\":\"x\\\\\"} ]", list->source_length);
    assert_memory_equal(list->items[0].source, "1.0", list->items[0].source_length);
    assert_int_equal(list->items[0].kind, JSON_KIND_NUMBER);
    assert_string_equal(json_at(value, "/a\"/2/b~1c")->text, "x\\");
    assert_null(json_at(value, "/a\"/3"));
    assert_null(json_at(value, "d"));
    assert_true(json_at(value, "") == value);

    struct cr_text again = cr_text_open(&call);
    json_add_value(&again, value);
    assert_string_equal(again.data, "{\"a\\\"\":[1,0,{\"b/c\":\"x\\\\\"}],\"d\":true}");
}

static void a_text_is_never_told_back(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
    static const char text[] = "{\"code\": 7Q2MF4XKD}";
    const struct json_value *value;
    assert_int_equal(json_parse(&call, NULL, text, strlen(text), &value), CR_INVALID);
    assert_null(strstr(call.reason, "Q2MF"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_texts_get_their_verdicts),
        cmocka_unit_test(what_is_too_deep_is_refused),
        cmocka_unit_test(a_depth_of_32_is_still_taken),
        cmocka_unit_test(a_value_knows_where_it_stood),
        cmocka_unit_test(a_text_is_never_told_back),
    };
    return cmocka_run_group_tests_name("json parse", tests, NULL, NULL);
}
