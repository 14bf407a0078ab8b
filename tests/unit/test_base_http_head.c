#include "base/http/head.h"
#include "base/core/codes.h"
#include "base/http/http.h"
#include "tests/unit/test.h"

#include <string.h>

static const char *const hosts[] = {"a", NULL};

/* Parses a well framed head as libmicrohttpd would, so that the rules can be shown one by one. */
static const struct cr_code *check(const char *method, const char *target, const char *version,
                                   const char *const *fields, size_t extra)
{
    struct http_span names[HTTP_FIELDS_MAX + 2], values[HTTP_FIELDS_MAX + 2];
    struct http_head head = {
        .method = {method, strlen(method)},
        .target = {target, strlen(target)},
        .version = {version, strlen(version)},
        .names = names,
        .values = values,
        .wire_size = strlen(method) + strlen(target) + strlen(version) + 6 + extra,
    };
    for (; *fields; fields += 2) {
        names[head.field_count] = (struct http_span){fields[0], strlen(fields[0])};
        values[head.field_count++] = (struct http_span){fields[1], strlen(fields[1])};
        head.wire_size += strlen(fields[0]) + strlen(fields[1]) + 4;
    }
    const char *why = NULL;
    const struct cr_code *code = http_head_check(&head, hosts, &why);
    assert_true(!code == !why);
    return code;
}

#define FIELDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void what_is_well_formed_passes(void **state)
{
    (void)state;
    assert_null(check("GET", "/v1/jobs?limit=5", "HTTP/1.1", FIELDS("Host", "a"), 0));
    assert_null(check("POST", "/", "HTTP/1.1", FIELDS("host", "A", "Content-Length", "7"), 0));
    assert_null(
        check("POST", "/", "HTTP/1.1", FIELDS("Host", "a", "Transfer-Encoding", "Chunked"), 0));
    assert_null(check("DELETE", "/a%20b/", "HTTP/1.1", FIELDS("Host", "a", "X", "b\tc"), 0));
}

static void each_breach_has_its_code(void **state)
{
    (void)state;
    static const struct {
        const char *method, *target, *version, *fields[9];
        const struct cr_code *code;
    } rows[] = {
        {"GET", "/", "HTTP/1.1", {"X", "y"}, &http_bad_head},
        {"GET", "/", "HTTP/1.1", {"Host", "a", "Host", "a"}, &http_bad_head},
        {"GET", "/", "HTTP/1.1", {"Host", "evil.example"}, &http_wrong_host},
        {"GET",
         "/",
         "HTTP/1.1",
         {"Host", "a", "Authorization", "x", "authorization", "y"},
         &http_bad_head},
        {"G@T", "/", "HTTP/1.1", {"Host", "a"}, &http_bad_head},
        {"GET", "/", "HTTP/1.1", {"Host", "a", "X ", "y"}, &http_bad_head},
        {"GET", "/", "HTTP/1.1", {"Host", "a", "", "y"}, &http_bad_head},
        {"GET", "/", "HTTP/1.1", {"Host", "a", "X", "y\rz"}, &http_bad_head},
        {"POST", "/", "HTTP/1.1", {"Host", "a", "Transfer-Encoding", "gzip"}, &http_coding_unknown},
        {"POST",
         "/",
         "HTTP/1.1",
         {"Host", "a", "Transfer-Encoding", "gzip, chunked"},
         &http_coding_unknown},
        {"POST",
         "/",
         "HTTP/1.1",
         {"Host", "a", "Transfer-Encoding", "chunked, identity"},
         &http_bad_head},
        {"POST", "/", "HTTP/1.0", {"Host", "a", "Transfer-Encoding", "chunked"}, &http_bad_head},
        {"POST",
         "/",
         "HTTP/1.1",
         {"Host", "a", "Transfer-Encoding", "chunked", "Content-Length", "3"},
         &http_bad_head},
        {"POST",
         "/",
         "HTTP/1.1",
         {"Host", "a", "Content-Length", "3", "Content-Length", "3"},
         &http_bad_head},
        {"POST", "/", "HTTP/1.1", {"Host", "a", "Content-Length", "+3"}, &http_bad_head},
        {"GET", "/", "HTTP/1.1", {"Host", "a", "Content-Length", "3"}, &http_bad_head},
        {"GET", "/", "HTTP/2.0", {"Host", "a"}, &http_version_unknown},
        {"GET", "/", "", {"Host", "a"}, &http_bad_head},
        {"GET", "//", "HTTP/1.1", {"Host", "a"}, &http_bad_head},
        {"GET", "/a/../b", "HTTP/1.1", {"Host", "a"}, &http_bad_head},
        {"GET", "/a/%2e%2E/b", "HTTP/1.1", {"Host", "a"}, &http_bad_head},
        {"GET", "/a%2Fb", "HTTP/1.1", {"Host", "a"}, &http_bad_head},
        {"GET", "/a%00b", "HTTP/1.1", {"Host", "a"}, &http_bad_head},
        {"GET", "/a%252e", "HTTP/1.1", {"Host", "a"}, &http_bad_head},
        {"GET", "/a%2", "HTTP/1.1", {"Host", "a"}, &http_bad_head},
        {"GET", "/a%zz", "HTTP/1.1", {"Host", "a"}, &http_bad_head},
        {"GET", "a", "HTTP/1.1", {"Host", "a"}, &http_bad_head},
        {"CONNECT", "127.0.0.1:5432", "HTTP/1.1", {"Host", "a"}, &http_method_not_allowed},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct cr_code *code =
            check(rows[i].method, rows[i].target, rows[i].version, rows[i].fields, 0);
        if (code != rows[i].code)
            fail_msg("row %zu: %s", i, code ? code->word : "passed");
    }
}

static void a_byte_that_no_part_explains_is_refused(void **state)
{
    (void)state;
    const char *const *fields = FIELDS("Host", "a", "X", "");
    assert_null(check("GET", "/", "HTTP/1.1", fields, 0));
    assert_null(check("GET", "/", "HTTP/1.1", fields, (size_t)-1)); /* "X:" without its blank */
    assert_ptr_equal(check("GET", "/", "HTTP/1.1", fields, 1), &http_bad_head);
    assert_ptr_equal(check("GET", "/", "HTTP/1.1", fields, (size_t)-2), &http_bad_head);
}

static void sizes_have_limits(void **state)
{
    (void)state;
    char target[HTTP_TARGET_SIZE_MAX + 2];
    memset(target, 'a', sizeof target);
    target[0] = '/';
    target[HTTP_TARGET_SIZE_MAX] = '\0';
    assert_null(check("GET", target, "HTTP/1.1", FIELDS("Host", "a"), 0));
    target[HTTP_TARGET_SIZE_MAX] = 'a';
    target[HTTP_TARGET_SIZE_MAX + 1] = '\0';
    assert_ptr_equal(check("GET", target, "HTTP/1.1", FIELDS("Host", "a"), 0),
                     &http_target_too_long);
    const char *many[2 * HTTP_FIELDS_MAX + 3];
    for (size_t i = 0; i < 2 * HTTP_FIELDS_MAX + 2; i += 2) {
        many[i] = i ? "A" : "Host";
        many[i + 1] = i ? "b" : "a";
    }
    many[2 * HTTP_FIELDS_MAX] = NULL;
    assert_null(check("GET", "/", "HTTP/1.1", many, 0));
    many[2 * HTTP_FIELDS_MAX] = "A";
    many[2 * HTTP_FIELDS_MAX + 2] = NULL;
    assert_ptr_equal(check("GET", "/", "HTTP/1.1", many, 0), &http_head_too_large);
}

static void a_path_is_decoded_once(void **state)
{
    (void)state;
    char path[64];
    assert_true(http_path_decode("/a%20b%C3%A4/c?x=%2F", 20, path));
    assert_string_equal(path, "/a b\xC3\xA4/c");
    assert_true(http_path_decode("/", 1, path));
    assert_false(http_path_decode("", 0, path));
    assert_false(http_path_decode("/a#b", 4, path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_well_formed_passes),
        cmocka_unit_test(each_breach_has_its_code),
        cmocka_unit_test(a_byte_that_no_part_explains_is_refused),
        cmocka_unit_test(sizes_have_limits),
        cmocka_unit_test(a_path_is_decoded_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
