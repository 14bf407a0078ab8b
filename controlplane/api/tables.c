/* tables: every part of the interface, and every list of codes. */
#include "compute/protocol/spec.h"
#include "controlplane/api/api_internal.h"

#include <assert.h>
#include <string.h>

extern const struct api_route jobs_routes[], node_routes[], identity_routes[], artifacts_routes[],
    events_routes[], ops_routes[], health_routes[], usage_routes[], billing_routes[],
    audit_routes[], log_routes[], auth_routes[];

const struct api_route *const api_tables[] = {
    health_routes, auth_routes,     jobs_routes,      usage_routes,  billing_routes, audit_routes,
    log_routes,    identity_routes, artifacts_routes, events_routes, ops_routes,     node_routes,
    NULL,
};

static const struct cr_code *const api_codes[] = {&api_unsupported_media_type, NULL};

const struct cr_code *const *const api_code_tables[] = {cr_codes,       http_codes, service_codes,
                                                        protocol_codes, api_codes,  NULL};

size_t api_routes(const struct api_route *ret_routes[API_ROUTES_MAX])
{
    size_t count = 0;
    for (const struct api_route *const *table = api_tables; *table; table++)
        for (const struct api_route *route = *table; route->method; route++) {
            assert(count < API_ROUTES_MAX);
            ret_routes[count++] = route;
        }
    return count;
}

struct list {
    const struct cr_code **codes;
    size_t count;
};

static void add(struct list *list, const struct cr_code *code)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->codes[i] == code)
            return;
    assert(list->count < API_CODES_MAX);
    list->codes[list->count++] = code;
}

static void add_identity(struct list *list, const struct api_route *route)
{
    add(list, &cr_code_credential_rejected);
    add(list, &cr_code_credential_expired);
    if (route->scope == API_PUBLIC)
        return;
    add(list, &cr_code_credential_missing);
    add(list, &cr_code_session_expired);
    add(list, &cr_code_permission_denied);
    add(list, &cr_code_wrong_tenant);
    if (route->flags & API_MUTATES) {
        add(list, &cr_code_csrf_rejected);
        add(list, &cr_code_tenant_suspended);
    }
}

static void add_path(struct list *list, const struct api_route *route)
{
    size_t length;
    for (size_t n = 0; n < API_PATH_VALUES_MAX; n++) {
        const char *name = api_path_name(route->path, n, &length);
        if (!name)
            return;
        add(list, &cr_code_not_found);
        add(list, &cr_code_invalid_parameter);
        if (api_id_prefix(name, length))
            add(list, &cr_code_wrong_id_kind);
    }
}

static void add_flags(struct list *list, const struct api_route *route)
{
    int64_t cost;
    if (route->flags & API_KEYED) {
        add(list, &cr_code_idempotency_key_missing);
        add(list, &cr_code_idempotency_key_reused);
        add(list, &cr_code_idempotency_in_progress);
    }
    if (route->flags & (API_KEYED | API_MUTATES))
        add(list, &cr_code_outcome_unknown);
    if (route->flags & API_IF_MATCH) {
        add(list, &cr_code_precondition_missing);
        add(list, &cr_code_version_mismatch);
    }
    if (route->flags & API_LIST)
        add(list, &cr_code_cursor_invalid);
    if (route->flags & API_REASON)
        add(list, &cr_code_reason_missing);
    if (route->takes || (route->flags & API_FILE_IN)) {
        add(list, &cr_code_body_too_large);
        add(list, &cr_code_invalid_body);
    }
    if (route->takes) {
        add(list, &cr_code_invalid_json);
        add(list, &api_unsupported_media_type);
    }
    if (route->flags & API_SSE)
        add(list, &cr_code_too_many_streams);
    if (api_rate_policy(route, &cost) && route->scope != API_PUBLIC)
        add(list, &cr_code_rate_limited);
}

size_t api_route_codes(const struct api_route *route,
                       const struct cr_code *ret_codes[API_CODES_MAX])
{
    struct list list = {.codes = ret_codes};
    for (const struct cr_code *const *code = route->fails; code && *code; code++)
        add(&list, *code);
    add_identity(&list, route);
    add_path(&list, route);
    add_flags(&list, route);
    add(&list, &cr_code_invalid_header);
    add(&list, &cr_code_invalid_parameter);
    add(&list, &cr_code_internal);
    add(&list, &cr_code_overloaded);
    add(&list, &cr_code_draining);
    add(&list, &cr_code_unavailable);
    add(&list, &cr_code_deadline_exceeded);
    return list.count;
}
