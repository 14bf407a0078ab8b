/* print: what nginx, the policies and the tests read out of the tables. Columns are parted by tabs.
 */
#include "controlplane/api/api_internal.h"

#include <string.h>

static const char *const groups[] = {"api", "stream", "gateway", "bulk", "node", "peer", "ops"};
static const char *const scopes[] = {"public", "tenant", "operator", "node", "peer", "any"};
static const char *const flags[] = {"mutates", "keyed",   "if-match", "list",        "park",
                                    "sse",     "file-in", "file-out", "secret-once", "reason",
                                    "two",     "etag",    "raw-json"};

/* A path as a regular expression: a value is one segment, {name...} all that is left. */
static void add_pattern(struct cr_text *text, const char *path)
{
    for (const char *at = path; *at; at++) {
        if (*at == '{') {
            bool rest = strstr(at, "...}") != NULL;
            cr_text_add(text, rest ? ".+" : "[^/]+");
            at = strchr(at, '}');
        } else {
            cr_text_add_format(text, *at == '.' ? "\\%c" : "%c", *at);
        }
    }
}

const char *api_print_nginx_map(struct cr_call *call)
{
    const struct api_route *routes[API_ROUTES_MAX];
    size_t count = api_routes(routes);
    struct cr_text text = cr_text_open(call);
    cr_text_add(&text, "# Printed by `cressetd print nginx-map`: path to group of listeners.\n"
                       "map $uri $cresset_group {\n    default api;\n");
    for (size_t i = 0; i < count; i++) {
        bool seen = routes[i]->group == API_GROUP_API;
        for (size_t j = 0; j < i && !seen; j++)
            seen = strcmp(routes[j]->path, routes[i]->path) == 0 &&
                   routes[j]->group == routes[i]->group;
        if (seen)
            continue;
        cr_text_add(&text, "    ~^");
        add_pattern(&text, routes[i]->path);
        cr_text_add_format(&text, "$ %s;\n", groups[routes[i]->group]);
    }
    cr_text_add(&text, "}\n");
    return text.data;
}

const char *api_print_permissions(struct cr_call *call)
{
    const struct api_route *routes[API_ROUTES_MAX];
    size_t count = api_routes(routes);
    struct cr_text text = cr_text_open(call);
    cr_text_add(&text, "permission\toperations\n");
    for (size_t i = 0; i < count; i++) {
        bool seen = !routes[i]->permission;
        for (size_t j = 0; j < i && !seen; j++)
            seen =
                routes[j]->permission && strcmp(routes[j]->permission, routes[i]->permission) == 0;
        if (seen)
            continue;
        cr_text_add_format(&text, "%s\t", routes[i]->permission);
        for (size_t j = i; j < count; j++)
            if (routes[j]->permission && strcmp(routes[j]->permission, routes[i]->permission) == 0)
                cr_text_add_format(&text, "%s%s", j > i ? "," : "", routes[j]->operation);
        cr_text_add(&text, "\n");
    }
    return text.data;
}

const char *api_print_routes(struct cr_call *call)
{
    const struct api_route *routes[API_ROUTES_MAX];
    size_t count = api_routes(routes);
    struct cr_text text = cr_text_open(call);
    cr_text_add(&text,
                "method\tpath\toperation\tpermission\tscope\tgroup\tclass\tflags\tsuccess\n");
    for (size_t i = 0; i < count; i++) {
        const struct api_route *route = routes[i];
        cr_text_add_format(&text, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t", route->method, route->path,
                           route->operation, route->permission ? route->permission : "-",
                           scopes[route->scope], groups[route->group], route->class);
        const char *between = "";
        for (size_t bit = 0; bit < sizeof flags / sizeof *flags; bit++)
            if (route->flags & (1u << bit)) {
                cr_text_add_format(&text, "%s%s", between, flags[bit]);
                between = ",";
            }
        cr_text_add_format(&text, "%s\t%d\n", *between ? "" : "-", route->success);
    }
    return text.data;
}

const char *api_print_errors(struct cr_call *call)
{
    struct cr_text text = cr_text_open(call);
    cr_text_add(&text, "code\thttp\texit\tretryable\ttitle\n");
    for (const struct cr_code *const *const *table = api_code_tables; *table; table++)
        for (const struct cr_code *const *code = *table; *code; code++)
            cr_text_add_format(&text, "%s\t%d\t%d\t%s\t%s\n", (*code)->word, (*code)->http,
                               (*code)->exit, (*code)->retryable ? "yes" : "no", (*code)->title);
    return text.data;
}

/* Reliability section 8, by scope. What a path names is the owner's. */
static int owner(const struct api_route *route)
{
    bool allowed =
        route->scope == API_PUBLIC || route->scope == API_TENANT || route->scope == API_ANY;
    return allowed ? route->success : 403;
}

static int other_tenant(const struct api_route *route)
{
    size_t length;
    bool named = api_path_name(route->path, 0, &length) != NULL;
    return owner(route) == 403 || route->scope == API_PUBLIC || !named ? owner(route) : 404;
}

static int operator_(const struct api_route *route)
{
    bool allowed =
        route->scope == API_PUBLIC || route->scope == API_OPERATOR || route->scope == API_ANY;
    return allowed ? route->success : 403;
}

static int anonymous(const struct api_route *route)
{
    return route->scope == API_PUBLIC ? route->success : 401;
}

const char *api_print_matrix(struct cr_call *call)
{
    const struct api_route *routes[API_ROUTES_MAX];
    size_t count = api_routes(routes);
    struct cr_text text = cr_text_open(call);
    cr_text_add(&text, "method\tpath\towner\tother tenant\toperator\tanonymous\n");
    for (size_t i = 0; i < count; i++)
        cr_text_add_format(&text, "%s\t%s\t%d\t%d\t%d\t%d\n", routes[i]->method, routes[i]->path,
                           owner(routes[i]), other_tenant(routes[i]), operator_(routes[i]),
                           anonymous(routes[i]));
    return text.data;
}
