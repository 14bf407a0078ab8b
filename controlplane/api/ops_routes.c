/* ops_routes: the region for its operators; and what every credential may know of it. */
#include "controlplane/api/api_internal.h"
#include "controlplane/api/page.h"
#include "controlplane/service/ops.h"
#include "controlplane/service/tenants.h"

API_PAGE(nodes_page_shape, ops_node_shape);
API_PAGE(enrollments_page_shape, ops_enrollment_shape);
API_PAGE(tenants_page_shape, tenant_shape);
API_PAGE(limits_page_shape, limit_shape);
API_PAGE(flavors_page_shape, flavor_shape);
API_PAGE(regions_page_shape, ops_region_shape);

static enum cr_status status(struct cr_call *call, const struct api *api, const void *request,
                             void *ret_status)
{
    (void)request;
    return ops_status(call, api->service, ret_status);
}

static enum cr_status scheduler(struct cr_call *call, const struct api *api, const void *request,
                                void *ret_scheduler)
{
    (void)request;
    return ops_scheduler(call, api->service, ret_scheduler);
}

static enum cr_status metering(struct cr_call *call, const struct api *api, const void *request,
                               void *ret_metering)
{
    (void)request;
    return ops_metering(call, api->service, ret_metering);
}

/* Nodes --------------------------------------------------------------------------------------- */

static enum cr_status nodes(struct cr_call *call, const struct api *api, const void *request,
                            void *ret_page)
{
    (void)request;
    struct cr_list list;
    CR_TRY(ops_nodes_list(call, api->service, api->after, api->limit + 1, &list));
    api_page(call, api, &list, &ops_node_shape, "node", ret_page);
    return CR_OK;
}

static enum cr_status node(struct cr_call *call, const struct api *api, const void *request,
                           void *ret_node)
{
    (void)request;
    return ops_nodes_get(call, api->service, api_id(api, "node"), ret_node);
}

static enum cr_status cordon(struct cr_call *call, const struct api *api, const void *request,
                             void *ret_node)
{
    (void)request;
    return ops_nodes_turn(call, api->service, api->ask, OPS_CORDON, api_id(api, "node"), ret_node);
}

static enum cr_status uncordon(struct cr_call *call, const struct api *api, const void *request,
                               void *ret_node)
{
    (void)request;
    return ops_nodes_turn(call, api->service, api->ask, OPS_UNCORDON, api_id(api, "node"),
                          ret_node);
}

static enum cr_status drain(struct cr_call *call, const struct api *api, const void *request,
                            void *ret_node)
{
    (void)request;
    return ops_nodes_turn(call, api->service, api->ask, OPS_DRAIN, api_id(api, "node"), ret_node);
}

static enum cr_status enrollments(struct cr_call *call, const struct api *api, const void *request,
                                  void *ret_page)
{
    (void)request;
    struct cr_list list;
    CR_TRY(ops_enrollments_list(call, api->service, api->after, api->limit + 1, &list));
    api_page(call, api, &list, &ops_enrollment_shape, "enrollment", ret_page);
    return CR_OK;
}

static enum cr_status enroll(struct cr_call *call, const struct api *api, const void *request,
                             void *ret_enrollment)
{
    return ops_enrollments_create(call, api->service, api->ask, request, ret_enrollment);
}

/* Tenants ------------------------------------------------------------------------------------- */

static enum cr_status tenants(struct cr_call *call, const struct api *api, const void *request,
                              void *ret_page)
{
    (void)request;
    struct cr_list list;
    CR_TRY(tenants_list(call, api->service, api->after, api->limit + 1, &list));
    api_page(call, api, &list, &tenant_shape, "tenant", ret_page);
    return CR_OK;
}

static enum cr_status tenant_post(struct cr_call *call, const struct api *api, const void *request,
                                  void *ret_tenant)
{
    CR_TRY(tenants_create(call, api->service, api->ask, request, ret_tenant));
    const struct tenant *made = ret_tenant;
    api_location(api, cr_format(call, "/v1/ops/tenants/%s", made->tenant));
    return CR_OK;
}

static enum cr_status tenant(struct cr_call *call, const struct api *api, const void *request,
                             void *ret_tenant)
{
    (void)request;
    return tenants_get(call, api->service, api_id(api, "tenant"), ret_tenant);
}

static enum cr_status tenant_limits(struct cr_call *call, const struct api *api,
                                    const void *request, void *ret_tenant)
{
    return tenants_limit(call, api->service, api->ask, api_id(api, "tenant"), api->version, request,
                         ret_tenant);
}

/* For every credential ------------------------------------------------------------------------ */

static enum cr_status limits(struct cr_call *call, const struct api *api, const void *request,
                             void *ret_page)
{
    (void)request;
    struct cr_list list;
    CR_TRY(tenants_limits(call, api->service, api->who, &list));
    api_page_whole(&list, ret_page);
    return CR_OK;
}

static enum cr_status flavors(struct cr_call *call, const struct api *api, const void *request,
                              void *ret_page)
{
    (void)request;
    struct cr_list list;
    CR_TRY(ops_flavors(call, api->service, &list));
    api_page_whole(&list, ret_page);
    return CR_OK;
}

/* There is one so far: this. */
static enum cr_status regions(struct cr_call *call, const struct api *api, const void *request,
                              void *ret_page)
{
    (void)request;
    const struct service_config *config = api->service->config;
    struct ops_region *region = cr_new(call, struct ops_region, 1);
    *region = (struct ops_region){
        .region = config->region,
        .domain = config->domain,
        .url = config->public_origin,
        .home = true,
    };
    const struct cr_list list = {region, 1};
    api_page_whole(&list, ret_page);
    return CR_OK;
}

/* clang-format off */
#define CODES(...) ((const struct cr_code *const[]){__VA_ARGS__, NULL})
#define READS(where, name, what, may, shape, ...)                                              \
    {.method = "GET", .path = "/v1/ops/" where, .operation = "ops_" name, .summary = what,     \
     .permission = may, .scope = API_OPERATOR, .class = 3, .success = 200, .gives = &shape,    \
     __VA_ARGS__}
#define TURNS(verb, what)                                                                      \
    {.method = "POST", .path = "/v1/ops/nodes/{node}/" #verb, .operation = "ops_nodes_" #verb, \
     .summary = what, .permission = "ops:write", .scope = API_OPERATOR, .class = 2,            \
     .flags = API_MUTATES | API_KEYED | API_REASON, .success = 200, .gives = &ops_node_shape,  \
     .fails = CODES(&cr_code_state_forbids), .run = verb}
#define TELLS(where, name, what, may, shape, who, handler)                                     \
    {.method = "GET", .path = "/v1/" where, .operation = name, .summary = what,                \
     .permission = may, .scope = who, .class = 3, .success = 200, .gives = &shape,             \
     .run = handler}

const struct api_route ops_routes[] = {
    READS("status", "status", "The region at a glance", "ops:read", ops_status_shape,
          .run = status),
    READS("scheduler", "scheduler", "Who decides, and what waits", "ops:read",
          ops_scheduler_shape, .run = scheduler),
    READS("metering", "metering", "Whether what was metered adds up", "ops:read",
          ops_metering_shape, .run = metering),
    READS("nodes", "nodes_list", "Nodes with their devices, newest first", "ops:read",
          nodes_page_shape, .flags = API_LIST, .run = nodes),
    READS("nodes/{node}", "nodes_get", "One node", "ops:read", ops_node_shape, .flags = API_ETAG,
          .run = node),
    TURNS(cordon, "Places no new job there; what runs goes on"),
    TURNS(uncordon, "Places jobs there again"),
    TURNS(drain, "Asks what runs there to stop, and places nothing new"),
    READS("enrollments", "enrollments_list", "Tokens of enrolment, newest first", "ops:read",
          enrollments_page_shape, .flags = API_LIST, .run = enrollments),
    {.method = "POST", .path = "/v1/ops/enrollments", .operation = "ops_enrollments_create",
     .summary = "A token that lets one node join, once, within 10 minutes",
     .permission = "ops:write", .scope = API_OPERATOR, .class = 4,
     .flags = API_MUTATES | API_KEYED | API_REASON | API_SECRET_ONCE, .success = 201,
     .takes = &ops_enrollment_create_shape, .gives = &ops_enrollment_made_shape, .run = enroll},
    READS("tenants", "tenants_list", "Tenants, newest first", "tenants:read", tenants_page_shape,
          .flags = API_LIST, .run = tenants),
    {.method = "POST", .path = "/v1/ops/tenants", .operation = "ops_tenants_create",
     .summary = "Makes a tenant, and its first key, whose secret is shown once",
     .permission = "tenants:write", .scope = API_OPERATOR, .class = 4,
     .flags = API_MUTATES | API_KEYED | API_REASON | API_SECRET_ONCE, .success = 201,
     .takes = &tenant_create_shape, .gives = &tenant_made_shape,
     .fails = CODES(&cr_code_already_exists), .run = tenant_post},
    READS("tenants/{tenant}", "tenants_get", "One tenant", "tenants:read", tenant_shape,
          .flags = API_ETAG, .run = tenant),
    {.method = "PUT", .path = "/v1/ops/tenants/{tenant}/limits", .operation = "ops_tenants_limits",
     .summary = "Sets how much a tenant may take", .permission = "tenants:write",
     .scope = API_OPERATOR, .class = 4,
     .flags = API_MUTATES | API_KEYED | API_REASON | API_IF_MATCH | API_ETAG, .success = 200,
     .takes = &tenant_limits_shape, .gives = &tenant_shape, .run = tenant_limits},

    TELLS("limits", "limits_list", "What will stop the tenant next", "limits:read",
          limits_page_shape, API_TENANT, limits),
    TELLS("flavors", "flavors_list", "What there is to run on, and how much of it is free", NULL,
          flavors_page_shape, API_ANY, flavors),
    TELLS("regions", "regions_list", "Regions, and whether the caller's things are there", NULL,
          regions_page_shape, API_ANY, regions),
    {0},
};
/* clang-format on */
