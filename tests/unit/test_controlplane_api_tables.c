#include "base/core/id.h"
#include "controlplane/api/api_internal.h"
#include "tests/unit/test.h"

#include <string.h>

static const struct api_route *routes[API_ROUTES_MAX];
static size_t route_count;

static int gather(void **state)
{
    (void)state;
    route_count = api_routes(routes);
    return 0;
}

/* A path of the route, with a value of the right kind in each place. */
static const char *sample(struct cr_call *call, const char *pattern)
{
    struct cr_text text = cr_text_open(call);
    for (const char *at = pattern; *at; at++) {
        if (*at != '{') {
            cr_text_add_bytes(&text, at, 1);
            continue;
        }
        size_t length = strcspn(at + 1, ".}");
        const char *prefix = api_id_prefix(at + 1, length);
        cr_text_add(&text, prefix ? cr_id(call, prefix) : "7");
        at = strchr(at, '}');
    }
    return text.data;
}

static void every_route_is_found_by_its_own_path_and_by_no_other(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    for (size_t i = 0; i < route_count; i++) {
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
        struct api_match match;
        const char *path = sample(&call, routes[i]->path);
        api_match(routes[i]->method, path, &match);
        if (match.route != routes[i])
            fail_msg("%s %s finds %s", routes[i]->method, path,
                     match.route ? match.route->operation : "nothing");
        const char *values[API_PATH_VALUES_MAX] = {0};
        assert_ok(&call, api_match_values(&call, routes[i], path, values));
        api_match("BREW", path, &match);
        assert_null(match.route);
        assert_non_null(strstr(match.allowed, routes[i]->method));
    }
}

static void operations_are_named_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < route_count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(routes[i]->operation, routes[j]->operation) == 0)
                fail_msg("two rows are called %s", routes[i]->operation);
}

static void flags_agree_with_what_a_route_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < route_count; i++) {
        const struct api_route *route = routes[i];
        bool reads = strcmp(route->method, "GET") == 0 || strcmp(route->method, "HEAD") == 0;
        const char *wrong = NULL;
        if (!route->operation || !route->summary || !route->run)
            wrong = "a column is empty";
        else if (reads && (route->flags & (API_MUTATES | API_KEYED | API_IF_MATCH | API_REASON)))
            wrong = "it reads, and its flags change something";
        else if (reads && route->takes)
            wrong = "it reads, and takes a body";
        else if ((route->flags & API_KEYED) && !(route->flags & API_MUTATES))
            wrong = "it is keyed, and changes nothing";
        else if ((route->flags & API_LIST) && !route->gives)
            wrong = "it is a list, and gives nothing";
        else if (route->class < 0 || route->class >= HTTP_CLASSES)
            wrong = "there is no such class";
        else if (route->success < 200 || route->success > 204)
            wrong = "this is no success";
        else if (route->scope == API_PUBLIC && route->permission)
            wrong = "it is public, and wants a permission";
        if (wrong)
            fail_msg("%s: %s", route->operation, wrong);
    }
}

static void an_id_of_another_kind_is_told_by_its_name(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    static const struct api_route route = {.method = "GET", .path = "/v1/things/{node}"};
    const char *values[API_PATH_VALUES_MAX] = {0};
    const char *path = cr_format(&call, "/v1/things/%s", cr_id(&call, "job"));
    assert_int_equal(api_match_values(&call, &route, path, values), CR_INVALID);
    assert_string_equal(call.code->word, "wrong_id_kind");
    assert_string_equal(call.reason, "that is a job id, this wants a node id");
    cr_forgive(&call);
    assert_int_equal(api_match_values(&call, &route, "/v1/things/x", values), CR_INVALID);
}

static void every_code_has_a_class_that_fits_its_status(void **state)
{
    (void)state;
    for (const struct cr_code *const *const *table = api_code_tables; *table; table++)
        for (const struct cr_code *const *code = *table; *code; code++) {
            bool fits = (*code)->http >= 400 && (*code)->http < 600 && *(*code)->title &&
                        (*code)->status != CR_OK;
            if (!fits)
                fail_msg("%s", (*code)->word);
            for (const struct cr_code *const *const *others = api_code_tables; *others; others++)
                for (const struct cr_code *const *other = *others; *other; other++)
                    if (*other != *code && strcmp((*other)->word, (*code)->word) == 0)
                        assert_int_equal((*other)->http, (*code)->http);
        }
}

static void a_cursor_serves_its_own_list_alone(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct api_settings settings = {.cursor_key = {1, 2, 3}};
    struct principal who = {.tenant = "tnt_A"}, other = {.tenant = "tnt_B"};
    struct http_request http = {.query = "state=running&limit=5"};
    struct http_request same = {.query = "after=x&state=running&limit=50"};
    struct http_request filtered = {.query = "state=queued"};
    static const struct api_route route = {.operation = "jobs_list"},
                                  list = {.operation = "x_list"};
    struct api api = {.settings = &settings, .who = &who, .http = &http, .route = &route};
    const char *cursor = api_cursor(&call, &api, "job_1"), *after = NULL;
    api.http = &same;
    assert_ok(&call, api_cursor_read(&call, &api, cursor, &after));
    assert_string_equal(after, "job_1");
    struct api wrong[] = {api, api, api, api};
    wrong[0].who = &other;
    wrong[1].http = &filtered;
    wrong[2].route = &list;
    wrong[3].path[0] = "job_2";
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(api_cursor_read(&call, &wrong[i], cursor, &after), CR_INVALID);
        assert_string_equal(call.code->word, "cursor_invalid");
        cr_forgive(&call);
    }
    assert_int_equal(api_cursor_read(&call, &api, "AQ", &after), CR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_is_found_by_its_own_path_and_by_no_other),
        cmocka_unit_test(operations_are_named_once),
        cmocka_unit_test(flags_agree_with_what_a_route_is),
        cmocka_unit_test(an_id_of_another_kind_is_told_by_its_name),
        cmocka_unit_test(every_code_has_a_class_that_fits_its_status),
        cmocka_unit_test(a_cursor_serves_its_own_list_alone),
    };
    return cmocka_run_group_tests(tests, gather, NULL);
}
