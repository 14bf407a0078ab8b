/* log: a line is one JSON object, and tells nothing that was not asked of it. */
#include "tests/unit/test.h"

#include "base/core/log.h"
#include "base/json/json.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What a piece of work writes on standard error. */
static size_t captured(void (*work)(const struct cr_env *env), char *text, size_t size)
{
    struct cr_env env = cr_env_system();
    int file = memfd_create("stderr", 0), before = dup(STDERR_FILENO);
    dup2(file, STDERR_FILENO);
    work(&env);
    dup2(before, STDERR_FILENO);
    close(before);
    ssize_t got = pread(file, text, size - 1, 0);
    close(file);
    text[got] = '\0';
    return (size_t)got;
}

static void end_badly(const struct cr_env *env)
{
    static const struct cr_code code = {"not_found", CR_NOT_FOUND, 404, 3, false, "Nothing there"};
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env, INT64_MAX);
    int64_t started_ns = cr_now_ns(&call);
    enum cr_status status = cr_fail_as(&call, &code, "no job '%s'", "a\"b\n");
    assert_int_equal(status, CR_NOT_FOUND);
    call.trace = "00-1-2-01";
    const struct cr_log_field fields[] = {{"tenant", "tnt_1", 0}, {"size", NULL, 7}};
    cr_log_call(&call, "jobs_get", started_ns, fields, 2);
}

static void a_call_is_one_object_on_one_line(void **state)
{
    (void)state;
    char text[4096];
    size_t length = captured(end_badly, text, sizeof text);
    assert_ptr_equal(strchr(text, '\n'), text + length - 1);
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    const struct json_value *line;
    assert_ok(&call, json_parse(&call, NULL, text, length, &line));
    assert_string_equal(json_member_text(line, "what"), "jobs_get");
    assert_string_equal(json_member_text(line, "status"), "not_found");
    assert_string_equal(json_member_text(line, "code"), "not_found");
    assert_string_equal(json_member_text(line, "reason"), "no job 'a\"b?'");
    assert_string_equal(json_member_text(line, "trace"), "00-1-2-01");
    assert_string_equal(json_member_text(line, "tenant"), "tnt_1");
    assert_int_equal(json_member(line, "size")->integer, 7);
    assert_true(json_member(line, "duration_us")->integer >= 0);
    assert_int_equal(strlen(json_member_text(line, "time")), 27);
}

static void start(const struct cr_env *env)
{
    cr_log_event(env, "info", "started", NULL, 0);
}

static void an_event_has_its_level(void **state)
{
    (void)state;
    char text[4096];
    size_t length = captured(start, text, sizeof text);
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    const struct json_value *line;
    assert_ok(&call, json_parse(&call, NULL, text, length, &line));
    assert_string_equal(json_member_text(line, "level"), "info");
    assert_int_equal(line->count, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_one_object_on_one_line),
        cmocka_unit_test(an_event_has_its_level),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
