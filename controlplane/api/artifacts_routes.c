/* artifacts_routes: what a tenant keeps, and its bytes. */
#include "base/core/file.h"
#include "controlplane/api/api_internal.h"
#include "controlplane/api/page.h"
#include "controlplane/service/artifacts.h"

#include <string.h>

API_PAGE(artifacts_page_shape, artifact_shape);

static enum cr_status list(struct cr_call *call, const struct api *api, const void *request,
                           void *ret_page)
{
    (void)request;
    struct cr_list artifacts;
    CR_TRY(artifacts_list(call, api->service, api->who, api->query, api->after, api->limit + 1,
                          &artifacts));
    api_page(call, api, &artifacts, &artifact_shape, "artifact", ret_page);
    return CR_OK;
}

static enum cr_status begin(struct cr_call *call, const struct api *api, const void *request,
                            void *ret_artifact)
{
    bool made;
    struct artifact *artifact = ret_artifact;
    CR_TRY(artifacts_begin(call, api->service, api->ask, request, artifact, &made));
    api_location(api, cr_format(call, "/v1/artifacts/%s", artifact->artifact));
    if (!made)
        api_status(api, 200);
    return CR_OK;
}

static enum cr_status get(struct cr_call *call, const struct api *api, const void *request,
                          void *ret_artifact)
{
    (void)request;
    return artifacts_get(call, api->service, api->who, api_id(api, "artifact"), ret_artifact);
}

static enum cr_status forget(struct cr_call *call, const struct api *api, const void *request,
                             void *ret_reply)
{
    (void)request;
    (void)ret_reply;
    return artifacts_delete(call, api->service, api->ask, api_id(api, "artifact"));
}

static enum cr_status content(struct cr_call *call, const struct api *api, const void *request,
                              void *ret_reply)
{
    (void)request;
    (void)ret_reply;
    struct artifact artifact;
    struct cr_file file;
    CR_TRY(artifacts_open(call, api->service, api->who, api_id(api, "artifact"), &artifact, &file));
    api_field(api, "ETag", cr_format(call, "\"sha256:%s\"", artifact.sha256));
    api_file(api, NULL, file.descriptor, artifact.size);
    return CR_OK;
}

static enum cr_status put(struct cr_call *call, const struct api *api, const void *request,
                          void *ret_artifact)
{
    (void)request;
    struct artifacts_part part;
    struct artifact *artifact = ret_artifact;
    CR_TRY(api_part(call, api, &part));
    CR_TRY(artifacts_put(call, api->service, api->ask, api_id(api, "artifact"), &part, artifact));
    if (strcmp(artifact->state, "held") != 0)
        api_status(api, 202);
    return CR_OK;
}

/* clang-format off */
#define CODES(...) ((const struct cr_code *const[]){__VA_ARGS__, NULL})

const struct api_route artifacts_routes[] = {
    {.method = "GET", .path = "/v1/artifacts", .operation = "artifacts_list",
     .summary = "Artifacts, newest first", .permission = "artifacts:read", .scope = API_TENANT,
     .class = 5, .flags = API_LIST, .success = 200, .query = &artifacts_filter_shape,
     .gives = &artifacts_page_shape, .run = list},
    {.method = "POST", .path = "/v1/artifacts", .operation = "artifacts_begin",
     .summary = "Begins an upload, or finds what is held already",
     .permission = "artifacts:write", .scope = API_TENANT, .class = 4,
     .flags = API_MUTATES | API_KEYED, .success = 201, .takes = &artifact_begin_shape,
     .gives = &artifact_shape, .fails = CODES(&cr_code_already_exists, &cr_code_read_only),
     .run = begin},
    {.method = "GET", .path = "/v1/artifacts/{artifact}", .operation = "artifacts_get",
     .summary = "One artifact, by its id or by sha256:…", .permission = "artifacts:read",
     .scope = API_TENANT, .class = 3, .flags = API_ETAG, .success = 200, .gives = &artifact_shape,
     .run = get},
    {.method = "DELETE", .path = "/v1/artifacts/{artifact}", .operation = "artifacts_delete",
     .summary = "Deletes an artifact and its bytes, for good", .permission = "artifacts:write",
     .scope = API_TENANT, .class = 4, .flags = API_MUTATES | API_KEYED, .success = 204,
     .fails = CODES(&cr_code_state_forbids), .run = forget},
    {.method = "GET", .path = "/v1/artifacts/{artifact}/content", .operation = "artifacts_content",
     .summary = "The bytes; a Range is served", .permission = "artifacts:read",
     .scope = API_TENANT, .group = API_GROUP_BULK, .class = 3, .flags = API_FILE_OUT,
     .success = 200, .fails = CODES(&cr_code_state_forbids), .run = content},
    {.method = "PUT", .path = "/v1/artifacts/{artifact}/content", .operation = "artifacts_put",
     .summary = "Bytes of an upload: all, or those that Content-Range says",
     .permission = "artifacts:write", .scope = API_TENANT, .group = API_GROUP_BULK, .class = 4,
     .flags = API_FILE_IN | API_MUTATES, .success = 200, .gives = &artifact_shape,
     .fails = CODES(&cr_code_upload_mismatch, &cr_code_read_only), .run = put},
    {0},
};
/* clang-format on */
