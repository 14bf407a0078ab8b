/* usage_routes: what was used, record by record and in sums; and the receipt of a job. */
#include "controlplane/api/api_internal.h"
#include "controlplane/api/page.h"
#include "controlplane/service/ledger.h"

#include <string.h>

API_PAGE(records_page_shape, ledger_record_shape);

static enum cr_status list_records(struct cr_call *call, const struct api *api, const void *request,
                                   void *ret_page)
{
    (void)request;
    struct cr_list records;
    CR_TRY(ledger_records(call, api->service, api->who, api->after, api->limit + 1, &records));
    api_page(call, api, &records, &ledger_record_shape, "record", ret_page);
    return CR_OK;
}

static enum cr_status get_record(struct cr_call *call, const struct api *api, const void *request,
                                 void *ret_record)
{
    (void)request;
    return ledger_record(call, api->service, api->who, api_id(api, "record"), ret_record);
}

static enum cr_status get_summary(struct cr_call *call, const struct api *api, const void *request,
                                  void *ret_summary)
{
    (void)request;
    return ledger_usage_summary(call, api->service, api->who, api->query, ret_summary);
}

static enum cr_status get_receipt(struct cr_call *call, const struct api *api, const void *request,
                                  void *ret_reply)
{
    (void)request;
    (void)ret_reply;
    const char *receipt;
    const char *job = api_id(api, "job");
    CR_TRY(ledger_receipt(call, api->service, api->who, job, &receipt));
    api_field(api, "Content-Disposition",
              cr_format(call, "attachment; filename=\"%s.receipt.json\"", job));
    api_bytes(api, "application/json", receipt, strlen(receipt));
    return CR_OK;
}

/* clang-format off */
const struct api_route usage_routes[] = {
    {.method = "GET", .path = "/v1/usage/records", .operation = "usage_records_list",
     .summary = "Signed usage records, newest first", .permission = "usage:read",
     .scope = API_TENANT, .class = 5, .flags = API_LIST, .success = 200,
     .gives = &records_page_shape, .run = list_records},
    {.method = "GET", .path = "/v1/usage/records/{record}", .operation = "usage_records_get",
     .summary = "One record, with what was signed and by which key", .permission = "usage:read",
     .scope = API_TENANT, .class = 3, .success = 200, .gives = &ledger_record_shape,
     .run = get_record},
    {.method = "GET", .path = "/v1/usage/summary", .operation = "usage_summary",
     .summary = "Sums by day, kind, flavor or a label", .permission = "usage:read",
     .scope = API_TENANT, .class = 5, .success = 200, .query = &ledger_summary_ask_shape,
     .gives = &ledger_summary_shape, .run = get_summary},
    {.method = "GET", .path = "/v1/jobs/{job}/receipt", .operation = "jobs_receipt",
     .summary = "The record of a job with all that proves it, checkable offline",
     .permission = "usage:read", .scope = API_TENANT, .class = 3, .flags = API_FILE_OUT,
     .success = 200, .media = "application/json",
     .fails = (const struct cr_code *const[]){&cr_code_state_forbids, NULL}, .run = get_receipt},
    {0},
};
/* clang-format on */
