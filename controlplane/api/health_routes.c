/* health_routes: what this process says of itself, and of its interface. */
#include "base/telemetry/telemetry.h"
#include "controlplane/api/api_internal.h"

#include <string.h>

struct ready {
    bool ready;
    struct cr_list needs;
};

static const struct cr_member need_members[] = {
    CR_MEMBER(struct api_need, name, 1, 64),
    CR_MEMBER(struct api_need, ok, 0, 0),
    CR_MEMBER(struct api_need, detail, 0, CR_REASON_SIZE, .flags = CR_NULLABLE),
};
static const struct cr_shape need_shape = CR_SHAPE(struct api_need, need_members, .name = "Need");

static const struct cr_member ready_members[] = {
    CR_MEMBER(struct ready, ready, 0, 0),
    CR_LIST(struct ready, needs, &need_shape, 0, 16),
};
static const struct cr_shape ready_shape = CR_SHAPE(struct ready, ready_members, .name = "Ready");

static enum cr_status get_health(struct cr_call *call, const struct api *api, const void *request,
                                 void *ret_reply)
{
    (void)call;
    (void)request;
    (void)ret_reply;
    api_bytes(api, "text/plain; charset=utf-8", "ok\n", 3);
    return CR_OK;
}

static enum cr_status get_ready(struct cr_call *call, const struct api *api, const void *request,
                                void *ret_reply)
{
    (void)request;
    struct ready *reply = ret_reply;
    reply->ready = true;
    if (api->settings->needs)
        api->settings->needs(call, api->settings->program, api->service, &reply->needs);
    const struct api_need *needs = reply->needs.items;
    for (size_t i = 0; i < reply->needs.count; i++)
        reply->ready &= needs[i].ok;
    api_status(api, reply->ready ? 200 : 503);
    return CR_OK;
}

static enum cr_status get_metrics(struct cr_call *call, const struct api *api, const void *request,
                                  void *ret_reply)
{
    (void)request;
    (void)ret_reply;
    const char *text =
        api->settings->metrics ? api->settings->metrics(call, api->settings->program) : "# EOF\n";
    api_bytes(api, TELEMETRY_CONTENT_TYPE, text, strlen(text));
    return CR_OK;
}

static enum cr_status get_openapi(struct cr_call *call, const struct api *api, const void *request,
                                  void *ret_reply)
{
    (void)request;
    (void)ret_reply;
    const char *text = api_print_openapi(call, api->settings->public_origin);
    api_bytes(api, "application/json", text, strlen(text));
    api_field(api, "Cache-Control", "public, max-age=60");
    return CR_OK;
}

const struct api_route health_routes[] = {
    {.method = "GET",
     .path = "/healthz",
     .operation = "health",
     .summary = "Whether this process runs",
     .group = API_GROUP_OPS,
     .class = 1,
     .flags = API_FILE_OUT,
     .success = 200,
     .media = "text/plain; charset=utf-8",
     .run = get_health},
    {.method = "GET",
     .path = "/readyz",
     .operation = "ready",
     .summary = "Whether all that this process needs is there: 503 where it is not",
     .group = API_GROUP_OPS,
     .class = 1,
     .success = 200,
     .gives = &ready_shape,
     .run = get_ready},
    {.method = "GET",
     .path = "/metrics",
     .operation = "metrics",
     .summary = "What this process counts, as OpenMetrics",
     .group = API_GROUP_OPS,
     .class = 1,
     .flags = API_FILE_OUT,
     .success = 200,
     .media = TELEMETRY_CONTENT_TYPE,
     .run = get_metrics},
    {.method = "GET",
     .path = "/openapi.json",
     .operation = "openapi",
     .summary = "This interface, as OpenAPI 3.1",
     .class = 3,
     .flags = API_FILE_OUT,
     .success = 200,
     .media = "application/json",
     .run = get_openapi},
    {0},
};
