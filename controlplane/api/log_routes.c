/* log_routes: the transparency log and what a verifier pins, for anyone. */
#include "controlplane/api/api_internal.h"
#include "controlplane/service/ledger.h"

#include <string.h>

#define TEXT "text/plain; charset=utf-8"

static enum cr_status get_checkpoint(struct cr_call *call, const struct api *api,
                                     const void *request, void *ret_reply)
{
    (void)request;
    (void)ret_reply;
    struct cr_bytes bytes;
    CR_TRY(ledger_log_file(call, api->service->config, "checkpoint", &bytes));
    api_field(api, "Cache-Control", "public, max-age=1");
    api_bytes(api, TEXT, bytes.data, bytes.size);
    return CR_OK;
}

static enum cr_status get_tile(struct cr_call *call, const struct api *api, const void *request,
                               void *ret_reply)
{
    (void)request;
    (void)ret_reply;
    struct cr_bytes bytes;
    const char *path = cr_format(call, "tile/%s", api_id(api, "tile"));
    CR_TRY(ledger_log_file(call, api->service->config, path, &bytes));
    api_field(api, "Cache-Control", "public, max-age=31536000, immutable");
    api_bytes(api, "application/octet-stream", bytes.data, bytes.size);
    return CR_OK;
}

static enum cr_status get_policy(struct cr_call *call, const struct api *api, const void *request,
                                 void *ret_reply)
{
    (void)request;
    (void)ret_reply;
    const char *text = ledger_trust_policy(call, api->service->config);
    api_bytes(api, TEXT, text, strlen(text));
    return CR_OK;
}

static enum cr_status get_keys(struct cr_call *call, const struct api *api, const void *request,
                               void *ret_reply)
{
    (void)request;
    (void)ret_reply;
    const char *text = ledger_trust_keys(call, api->service->config);
    api_bytes(api, TEXT, text, strlen(text));
    return CR_OK;
}

/* clang-format off */
const struct api_route log_routes[] = {
    {.method = "GET", .path = "/log/checkpoint", .operation = "log_checkpoint",
     .summary = "The newest signed checkpoint of the log (C2SP tlog-tiles)", .class = 3,
     .flags = API_FILE_OUT, .success = 200, .media = TEXT, .run = get_checkpoint,
     .fails = (const struct cr_code *const[]){&cr_code_not_found, NULL}},
    {.method = "GET", .path = "/log/tile/{tile...}", .operation = "log_tile",
     .summary = "A tile of hashes, or a bundle of entries", .class = 3, .flags = API_FILE_OUT,
     .success = 200, .run = get_tile},
    {.method = "GET", .path = "/.well-known/cresset/trust/policy", .operation = "trust_policy",
     .summary = "The log and the quorum that a verifier pins", .class = 3, .flags = API_FILE_OUT,
     .success = 200, .media = TEXT, .run = get_policy},
    {.method = "GET", .path = "/.well-known/cresset/trust/keys", .operation = "trust_keys",
     .summary = "The keys that sign records, prices and node keys", .class = 3,
     .flags = API_FILE_OUT, .success = 200, .media = TEXT, .run = get_keys},
    {0},
};
/* clang-format on */
