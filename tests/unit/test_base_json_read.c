/* read: a body becomes a struct, or is told all that is wrong with it. */
#include "tests/unit/test_data.h"

#include "base/core/text.h"
#include "base/json/json.h"

#include <math.h>
#include <string.h>

static const struct cr_env *env(void)
{
    static struct cr_env system;
    system = cr_env_system();
    return &system;
}

struct leaf {
    int64_t count, far;
};
static const struct cr_member leaf_members[] = {
    CR_MEMBER(struct leaf, count, 1, 3),
    CR_MEMBER(struct leaf, far, 0, INT64_MAX, .flags = CR_OPTIONAL),
};
static const struct cr_shape leaf_shape = CR_SHAPE(struct leaf, leaf_members);

static const char *const kinds[] = {"train", "batch", NULL};

struct body {
    const char *kind, *name, *job;
    int64_t priority, at;
    double x;
    bool now;
    struct leaf *leaf;
    struct cr_list leaves;
    struct cr_texts texts;
    struct cr_integers sizes;
    struct cr_labels labels;
    struct cr_bytes bytes;
    struct cr_json any;
};
static const struct cr_member body_members[] = {
    CR_WORD(struct body, kind, kinds, .flags = CR_OPTIONAL),
    CR_MEMBER(struct body, name, 1, 60, .flags = CR_OPTIONAL | CR_PRINTABLE),
    CR_ID(struct body, job, "job", .flags = CR_NULLABLE | CR_OPTIONAL),
    CR_MEMBER(struct body, priority, -100, 100, .flags = CR_OPTIONAL),
    CR_TIME(struct body, at, .flags = CR_OPTIONAL),
    CR_MEMBER(struct body, x, -1e9, 1e9, .flags = CR_OPTIONAL),
    CR_MEMBER(struct body, now, 0, 0, .flags = CR_OPTIONAL),
    CR_OBJECT(struct body, leaf, &leaf_shape, .flags = CR_OPTIONAL),
    CR_LIST(struct body, leaves, &leaf_shape, 0, 2, .flags = CR_OPTIONAL),
    CR_TEXTS(struct body, texts, 0, 4, .flags = CR_OPTIONAL),
    CR_INTEGERS(struct body, sizes, 0, 4, 0, 9, .flags = CR_OPTIONAL),
    CR_LABELS(struct body, labels, 3, .flags = CR_OPTIONAL),
    CR_BYTES(struct body, bytes, 0, 8, .flags = CR_OPTIONAL),
    CR_JSON(struct body, any, 64, .flags = CR_OPTIONAL),
};
static const struct cr_shape body_shape = CR_SHAPE(struct body, body_members);

static void a_body_is_read_and_written_as_it_was(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
    static const char text[] =
        "{\"kind\":\"train\",\"name\":\"Fackel\",\"job\":null,\"priority\":-7,"
        "\"at\":\"2026-11-30T21:03:07.000250Z\",\"x\":0.1,\"now\":true,"
        "\"leaf\":{\"count\":3,\"far\":\"9223372036854775807\"},\"leaves\":[{\"count\":1}],"
        "\"texts\":[\"a\",\"\"],\"sizes\":[3,9],\"labels\":{\"a\":\"1\",\"b\":\"\"},"
        "\"bytes\":\"AAEC/w==\",\"any\":{\"z\": [1.0, 2e3]}}";
    struct body body;
    assert_ok(&call, json_read(&call, &body_shape, text, strlen(text), &body));
    assert_int_equal(body.leaf->far, INT64_MAX);
    assert_int_equal(((struct leaf *)body.leaves.items)[0].far, CR_NO_INTEGER);
    assert_string_equal(body.any.text, "{\"z\": [1.0, 2e3]}");
    assert_string_equal(json_write(&call, &body_shape, &body), text);
}

static void all_faults_are_told_at_once(void **state)
{
    (void)state;
    static const char text[] =
        "{\"kind\":\"bake\",\"name\":\"\",\"job\":\"node_01M8RHHQPNQ4ZK9W7V2X5T8RND\","
        "\"priority\":101,\"at\":\"2026-02-29T00:00:00Z\",\"x\":1e10,\"now\":1,"
        "\"leaf\":{\"count\":0,\"far\":1},\"leaves\":[{\"count\":1},{},{\"count\":true}],"
        "\"texts\":[1],\"sizes\":[3,10],\"labels\":{\"a\":null},\"bytes\":\"A\","
        "\"any\":null,\"co~l/our\":1}";
    static const char *const wanted[][2] = {
        {"/kind", "unknown_word"},
        {"/name", "out_of_range"},
        {"/job", "wrong_id_kind"},
        {"/priority", "out_of_range"},
        {"/at", "wrong_type"},
        {"/x", "out_of_range"},
        {"/now", "wrong_type"},
        {"/leaf/count", "out_of_range"},
        {"/leaf/far", "wrong_type"},
        {"/leaves/1/count", "missing"},
        {"/leaves/2/count", "wrong_type"},
        {"/texts", "wrong_type"},
        {"/sizes/1", "out_of_range"},
        {"/labels", "wrong_type"},
        {"/bytes", "wrong_type"},
        {"/co~0l~1our", "not_known"},
    };
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
    struct body body;
    assert_int_equal(json_read(&call, &body_shape, text, strlen(text), &body), CR_INVALID);
    assert_string_equal(call.code->word, "invalid_body");
    size_t count = sizeof wanted / sizeof wanted[0], have = 0;
    for (size_t i = 0; i < call.fault_count; i++) {
        assert_true(have < count);
        assert_string_equal(call.faults[i].at, wanted[have][0]);
        assert_string_equal(call.faults[i].code, wanted[have][1]);
        have++;
    }
    assert_int_equal(have, count);
}

/* What a body of the vectors is, where its row does not hold the text itself. */
static struct cr_text input_of(struct cr_call *call, const struct json_value *row)
{
    struct cr_text text = cr_text_open(call);
    const struct json_value *input = json_member(row, "input"), *gen = json_member(row, "gen");
    if (input) {
        cr_text_add_bytes(&text, input->text, input->length);
        return text;
    }
    cr_text_add(&text, json_member_text(gen, "prefix"));
    const char *piece = json_member_text(gen, "repeat"), *number = strstr(piece, "%d");
    for (int64_t i = 0; i < json_member(gen, "times")->integer; i++)
        if (number)
            cr_text_add_format(&text, "%.*s%lld%s", (int)(number - piece), piece, (long long)i,
                               number + 2);
        else
            cr_text_add(&text, piece);
    cr_text_add(&text, json_member_text(gen, "suffix"));
    return text;
}

static void check_row(struct cr_call *call, const struct json_value *row)
{
    const char *id = json_member_text(row, "id"), *expect = json_member_text(row, "expect");
    struct cr_text text = input_of(call, row);
    /* A row about the number of members is longer than a body may be: here it may. */
    static const struct json_limits limits = {.size = (size_t)2 << 20, .members = 1024};
    struct body body;
    enum cr_status status =
        json_read_within(call, &limits, &body_shape, text.data, text.length, &body);
    if (strncmp(expect, "accepted", 8) == 0) {
        assert_ok(call, status);
        assert_true(body.x == 0 && !signbit(body.x));
        return;
    }
    int64_t wanted = strtol(expect, NULL, 10);
    if (status == CR_OK || call->code->http != wanted)
        fail_msg("%s: wanted %s, got %d %s", id, expect, call->code ? call->code->http : 200,
                 call->reason);
    if (strstr(expect, "naming"))
        assert_string_equal(call->faults[0].at, "/colour");
}

static void every_bad_body_of_the_list_is_answered_as_listed(void **state)
{
    (void)state;
    static const struct json_limits wide = {.size = (size_t)1 << 20, .members = 64, .jcs = false};
    static const struct json_limits nul = {.size = (size_t)1 << 20, .members = 64, .jcs = true};
    CR_SCOPED(cr_call_close) struct cr_call all = cr_call_open(env(), INT64_MAX);
    const char *at = (const char *)test_data(&all, "reliability/bad_input.jsonl").data, *line;
    size_t length, count = 0;
    while ((line = test_line(&all, &at, &length))) {
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
        const struct json_value *row;
        bool has_nul = strstr(line, "\\u0000") != NULL;
        assert_ok(&call, json_parse(&call, has_nul ? &nul : &wide, line, length, &row));
        if (strcmp(json_member_text(row, "target"), "json") != 0)
            continue;
        check_row(&call, row);
        count++;
    }
    assert_int_equal(count, 21);
}

static void a_patch_changes_what_it_names(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
    static const char before[] = "{\"kind\":\"train\",\"name\":\"a\",\"priority\":1,"
                                 "\"leaf\":{\"count\":3,\"far\":\"7\"},"
                                 "\"labels\":{\"a\":\"1\",\"b\":\"2\"}}";
    static const char patch[] = "{\"name\":null,\"priority\":2,\"leaf\":{\"count\":1},"
                                "\"labels\":{\"a\":null,\"c\":\"3\"}}";
    struct body body;
    assert_ok(&call, json_read(&call, &body_shape, before, strlen(before), &body));
    assert_ok(&call, json_read_patch(&call, &body_shape, patch, strlen(patch), &body));
    assert_string_equal(
        json_write(&call, &body_shape, &body),
        "{\"kind\":\"train\",\"job\":null,\"priority\":2,\"now\":false,"
        "\"leaf\":{\"count\":1,\"far\":\"7\"},\"labels\":{\"b\":\"2\",\"c\":\"3\"}}");
}

static void a_patch_that_does_not_fit_changes_nothing(void **state)
{
    (void)state;
    static const char *const patches[] = {"{\"leaf\":{\"count\":4}}", "{\"leaf\":{\"count\":null}}",
                                          "{\"colour\":1}", "[]", "{\"priority\":1.5}"};
    for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++) {
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env(), INT64_MAX);
        struct leaf leaf = {3, 4};
        struct body body = {.priority = 1, .leaf = &leaf};
        assert_int_equal(json_read_patch(&call, &body_shape, patches[i], strlen(patches[i]), &body),
                         CR_INVALID);
        assert_int_equal(body.priority, 1);
        assert_true(body.leaf == &leaf && leaf.count == 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_is_read_and_written_as_it_was),
        cmocka_unit_test(all_faults_are_told_at_once),
        cmocka_unit_test(every_bad_body_of_the_list_is_answered_as_listed),
        cmocka_unit_test(a_patch_changes_what_it_names),
        cmocka_unit_test(a_patch_that_does_not_fit_changes_nothing),
    };
    return cmocka_run_group_tests_name("json read", tests, NULL, NULL);
}
