/* match: from a method and a path to a row. Pure. */
#include "base/core/id.h"
#include "controlplane/api/api_internal.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#define PREFIX_OF(prefix, noun) {noun, #prefix},
static const struct {
    const char *noun, *prefix;
} kinds[] = {CR_ID_TABLE(PREFIX_OF)};
#undef PREFIX_OF

/* The noun of a path is the noun of CR_ID_TABLE, but that a usage record is called a record. */
const char *api_id_prefix(const char *name, size_t length)
{
    if (length == 6 && memcmp(name, "record", 6) == 0)
        return "rec";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].noun) == length && memcmp(kinds[i].noun, name, length) == 0)
            return kinds[i].prefix;
    return NULL;
}

static size_t segment(const char *path)
{
    return strcspn(path, "/");
}

/* Segment by segment; {name} takes one, {name...} as the last takes all that is left. */
static bool fits(const char *pattern, const char *path)
{
    while (*pattern == '/' && *path == '/') {
        pattern++;
        path++;
        size_t asked = segment(pattern), given = segment(path);
        if (*pattern == '{') {
            if (asked > 5 && memcmp(pattern + asked - 4, "...}", 4) == 0)
                return *path != '\0';
            if (given == 0)
                return false;
        } else if (asked != given || memcmp(pattern, path, given) != 0) {
            return false;
        }
        pattern += asked;
        path += given;
    }
    return *pattern == '\0' && *path == '\0';
}

/* Whether one pattern names literally what the other takes as a value: the first is meant then. */
static bool closer(const char *a, const char *b)
{
    for (; *a && *b && *a == *b; a++, b++)
        ;
    return *b == '{' && *a != '{';
}

static bool serves(const struct api_route *route, const char *method)
{
    return strcmp(route->method, method) == 0 ||
           (strcmp(method, "HEAD") == 0 && strcmp(route->method, "GET") == 0);
}

static void allow(char *allowed, size_t size, const char *method)
{
    if (strstr(allowed, method))
        return;
    size_t length = strlen(allowed);
    snprintf(allowed + length, size - length, "%s%s%s", length ? ", " : "", method,
             strcmp(method, "GET") == 0 ? ", HEAD" : "");
}

/* All rows, in one list that never changes. */
static const struct api_route *all[API_ROUTES_MAX];
static size_t all_count;
static pthread_once_t gathered = PTHREAD_ONCE_INIT;

static void gather(void)
{
    all_count = api_routes(all);
}

void api_match(const char *method, const char *path, struct api_match *ret_match)
{
    *ret_match = (struct api_match){0};
    pthread_once(&gathered, gather);
    const struct api_route *near = NULL;
    for (size_t i = 0; i < all_count; i++)
        if (fits(all[i]->path, path) && (!near || closer(all[i]->path, near->path)))
            near = all[i];
    for (size_t i = 0; near && i < all_count; i++) {
        if (strcmp(all[i]->path, near->path) != 0)
            continue;
        allow(ret_match->allowed, sizeof ret_match->allowed, all[i]->method);
        if (serves(all[i], method))
            ret_match->route = all[i];
    }
}

const char *api_path_name(const char *path, size_t n, size_t *ret_length)
{
    for (const char *at = path; (at = strchr(at, '{')); at++)
        if (n-- == 0) {
            *ret_length = strcspn(at + 1, ".}");
            return at + 1;
        }
    return NULL;
}

static enum cr_status check_value(struct cr_call *call, const char *name, size_t length,
                                  const char *value)
{
    const char *prefix = api_id_prefix(name, length);
    if (!prefix || cr_id_is(value, prefix))
        return CR_OK;
    if (strcmp(prefix, "art") == 0 && strncmp(value, "sha256:", 7) == 0 &&
        strlen(value) == 7 + 64 && strspn(value + 7, "0123456789abcdef") == 64)
        return CR_OK;
    const char *wanted = cr_id_noun(prefix), *kind = cr_id_kind(value);
    if (kind)
        return cr_fail_as(call, &cr_code_wrong_id_kind, "that is %s id, this wants %s id",
                          cr_id_called(call, kind), cr_id_called(call, wanted));
    return cr_fail_as(call, &cr_code_wrong_id_kind, "'%.40s' is no %s id", value, wanted);
}

enum cr_status api_match_values(struct cr_call *call, const struct api_route *route,
                                const char *path, const char **ret_values)
{
    size_t count = 0;
    const char *pattern = route->path;
    while (*pattern == '/') {
        pattern++;
        path++;
        size_t asked = segment(pattern), given = segment(path);
        if (*pattern == '{') {
            assert(count < API_PATH_VALUES_MAX);
            bool rest = asked > 5 && memcmp(pattern + asked - 4, "...}", 4) == 0;
            size_t length = rest ? strlen(path) : given;
            if (length > (rest ? 4 : 1) * API_SEGMENT_MAX || !cr_utf8(path, length))
                return cr_fail_as(call, &cr_code_invalid_parameter,
                                  "a part of the path is too long, or no UTF-8");
            ret_values[count] = cr_copy(call, path, length);
            CR_TRY(check_value(call, pattern + 1, asked - 2, ret_values[count++]));
            given = length;
        }
        pattern += asked;
        path += given;
    }
    return CR_OK;
}

const char *api_id(const struct api *api, const char *name)
{
    size_t length = 0;
    for (size_t n = 0; n < API_PATH_VALUES_MAX; n++) {
        const char *found = api_path_name(api->route->path, n, &length);
        if (found && length == strlen(name) && memcmp(found, name, length) == 0)
            return api->path[n];
    }
    assert(false); /* the path of the route has no such value */
    return NULL;
}
