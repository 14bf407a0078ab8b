/* audit_routes: who changed what, and the proof that the log holds it. */
#include "base/core/parse.h"
#include "controlplane/api/api_internal.h"
#include "controlplane/api/page.h"
#include "controlplane/service/ledger.h"

#include <string.h>

API_PAGE(leaves_page_shape, ledger_leaf_shape);

static enum cr_status list(struct cr_call *call, const struct api *api, const void *request,
                           void *ret_page)
{
    (void)request;
    struct cr_list leaves;
    CR_TRY(ledger_audit(call, api->service, api->who, api_after_integer(api), api->limit + 1,
                        &leaves));
    api_page(call, api, &leaves, &ledger_leaf_shape, "leaf", ret_page);
    return CR_OK;
}

static enum cr_status prove(struct cr_call *call, const struct api *api, const void *request,
                            void *ret_proof)
{
    (void)request;
    int64_t leaf = 0;
    const char *text = api_id(api, "leaf");
    if (!cr_parse_integer(text, strlen(text), 0, INT64_MAX, &leaf))
        return cr_fail_as(call, &cr_code_not_found, "no leaf %.40s", text);
    return ledger_proof(call, api->service, api->who, leaf, ret_proof);
}

/* clang-format off */
const struct api_route audit_routes[] = {
    {.method = "GET", .path = "/v1/audit", .operation = "audit_list",
     .summary = "Leaves of the tenant's own mutations, newest first", .permission = "audit:read",
     .scope = API_TENANT, .class = 5, .flags = API_LIST, .success = 200,
     .gives = &leaves_page_shape, .run = list},
    {.method = "GET", .path = "/v1/audit/{leaf}/proof", .operation = "audit_proof",
     .summary = "A leaf's payload, and its inclusion in the log", .permission = "audit:read",
     .scope = API_TENANT, .class = 3, .success = 200, .gives = &ledger_proof_shape, .run = prove},
    {.method = "GET", .path = "/v1/ops/audit", .operation = "ops_audit",
     .summary = "All leaves of the region, newest first", .permission = "ops:read",
     .scope = API_OPERATOR, .class = 5, .flags = API_LIST, .success = 200,
     .gives = &leaves_page_shape, .run = list},
    {0},
};
/* clang-format on */
