/* main: runs every suite that is under a folder, a line each, and counts. */
#include "tests/vectors/ledger/vectors.h"

#include "base/core/file.h"
#include "base/core/parse.h"

#include <string.h>

#define FILE_SIZE_MAX ((size_t)16 << 20)
#define SHOWN_MAX     10 /* failed cases of a suite that are named */

static const struct json_limits limits = {.size = (size_t)4 << 20, .members = 1024};
static const struct json_limits wide = {.size = (size_t)4 << 20, .members = 1024, .jcs = true};

const char *text_of(const struct json_value *value, const char *name)
{
    const char *text = json_member_text(value, name);
    return text ? text : "";
}

int64_t integer_of(const struct json_value *value, const char *name)
{
    const struct json_value *member = json_member(value, name);
    int64_t integer = -1;
    if (member && member->kind == JSON_KIND_INTEGER)
        return member->integer;
    if (member && member->kind == JSON_KIND_TEXT)
        (void)cr_parse_integer(member->text, member->length, INT64_MIN, INT64_MAX, &integer);
    return integer;
}

bool true_of(const struct json_value *value, const char *name)
{
    const struct json_value *member = json_member(value, name);
    return member && member->kind == JSON_KIND_BOOLEAN && member->boolean;
}

struct cr_bytes hex_of(struct cr_call *call, const char *text)
{
    size_t size = strlen(text) / 2;
    unsigned char *bytes = cr_new(call, unsigned char, size + 1);
    (void)cr_hex_parse(text, strlen(text), bytes, size);
    return (struct cr_bytes){bytes, size};
}

struct cr_bytes base64_of(struct cr_call *call, const char *text)
{
    struct cr_bytes bytes = {0};
    (void)cr_base64_parse(call, CR_BASE64_STANDARD, text, strlen(text), &bytes);
    return bytes;
}

struct count {
    int passed, failed;
};

static void run_case(const struct cr_env *env, const struct suite *suite, const char *folder,
                     const struct json_value *file, const struct json_value *one,
                     struct count *count)
{
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env, INT64_MAX);
    if (suite->check(&call, folder, file, one)) {
        count->passed++;
        return;
    }
    const char *name = text_of(one, "case");
    if (count->failed++ < SHOWN_MAX)
        printf("  %s: %s differs\n", suite->name, *name ? name : text_of(one, "id"));
}

static void run_line(const struct cr_env *env, const struct suite *suite, const char *folder,
                     const char *line, size_t length, struct count *count)
{
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env, INT64_MAX);
    const struct json_value *one = NULL;
    bool is_read = json_parse(&call, &limits, line, length, &one) == CR_OK;
    if (!is_read) {
        /* Some cases hold integers of 64 bits without sign, which are then none of ours. */
        cr_forgive(&call);
        is_read = json_parse(&call, &wide, line, length, &one) == CR_OK;
    }
    if (is_read) {
        run_case(env, suite, folder, NULL, one, count);
        return;
    }
    count->failed++;
    printf("  %s: a line is no JSON: %s\n", suite->name, call.reason);
}

static void run_file(const struct cr_env *env, const struct suite *suite, const char *folder,
                     const struct cr_bytes *bytes, struct count *count)
{
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env, INT64_MAX);
    const char *at = (const char *)bytes->data, *end = at + bytes->size;
    const struct json_value *file = NULL;
    if (suite->list) {
        if (json_parse(&call, &limits, at, bytes->size, &file) != CR_OK) {
            count->failed++;
            printf("  %s: it is no JSON: %s\n", suite->name, call.reason);
            return;
        }
        const struct json_value *list = json_member(file, suite->list);
        for (size_t i = 0; list && i < list->count; i++)
            run_case(env, suite, folder, file, &list->items[i], count);
        return;
    }
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        if (stop > at)
            run_line(env, suite, folder, at, (size_t)(stop - at), count);
        at = stop + 1;
    }
}

static struct count run_suites(const struct cr_env *env, const struct suite *suites,
                               const char *folder)
{
    struct count all = {0};
    for (; suites->name; suites++) {
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env, INT64_MAX);
        const char *path = cr_format(&call, "%s/%s", folder, suites->file);
        struct cr_bytes bytes;
        if (cr_file_read(&call, path, FILE_SIZE_MAX, &bytes) != CR_OK)
            continue;
        struct count count = {0};
        run_file(env, suites, folder, &bytes, &count);
        printf("%-24s %5d passed, %d failed\n", suites->name, count.passed, count.failed);
        all.passed += count.passed;
        all.failed += count.failed;
    }
    return all;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "../shared/data/ledger";
    const struct suite *const tables[] = {log_suites, billing_suites, ground_suites};
    struct cr_env env = cr_env_system();
    struct count all = {0};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        struct count count = run_suites(&env, tables[i], folder);
        all.passed += count.passed;
        all.failed += count.failed;
    }
    if (all.passed + all.failed == 0) {
        const char *ci = getenv("CI");
        printf("SKIPPED: %s holds no vectors\n", folder);
        return ci && strcmp(ci, "true") == 0;
    }
    printf("%d passed, %d failed\n", all.passed, all.failed);
    return all.failed != 0;
}
