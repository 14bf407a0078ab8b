/* billing_routes: prices, quotes and invoices. */
#include "controlplane/api/api_internal.h"
#include "controlplane/api/page.h"
#include "controlplane/service/ledger.h"

API_PAGE(prices_page_shape, ledger_price_shape);
API_PAGE(invoices_page_shape, ledger_invoice_shape);
API_PAGE(lines_page_shape, ledger_invoice_line_shape);

static enum cr_status list_prices(struct cr_call *call, const struct api *api, const void *request,
                                  void *ret_page)
{
    (void)request;
    struct cr_list prices;
    CR_TRY(ledger_prices(call, api->service, api->who, api->after, api->limit + 1, &prices));
    api_page(call, api, &prices, &ledger_price_shape, "price", ret_page);
    return CR_OK;
}

static enum cr_status post_quote(struct cr_call *call, const struct api *api, const void *request,
                                 void *ret_quote)
{
    return ledger_quote(call, api->service, api->who, request, ret_quote);
}

static enum cr_status list_invoices(struct cr_call *call, const struct api *api,
                                    const void *request, void *ret_page)
{
    (void)request;
    struct cr_list invoices;
    CR_TRY(ledger_invoices(call, api->service, api->who, api->after, api->limit + 1, &invoices));
    api_page(call, api, &invoices, &ledger_invoice_shape, "period", ret_page);
    return CR_OK;
}

static enum cr_status get_invoice(struct cr_call *call, const struct api *api, const void *request,
                                  void *ret_invoice)
{
    (void)request;
    return ledger_invoice(call, api->service, api->who, api_id(api, "invoice"), ret_invoice);
}

static enum cr_status list_lines(struct cr_call *call, const struct api *api, const void *request,
                                 void *ret_page)
{
    (void)request;
    struct cr_list lines;
    CR_TRY(ledger_invoice_lines(call, api->service, api->who, api_id(api, "invoice"), &lines));
    api_page_whole(&lines, ret_page);
    return CR_OK;
}

/* clang-format off */
const struct api_route billing_routes[] = {
    {.method = "GET", .path = "/v1/prices", .operation = "prices_list",
     .summary = "The tariff, newest first", .class = 5, .flags = API_LIST, .success = 200,
     .gives = &prices_page_shape, .run = list_prices},
    {.method = "POST", .path = "/v1/quotes", .operation = "quotes_create",
     .summary = "What stated usage would cost now; writes nothing", .permission = "billing:read",
     .scope = API_TENANT, .class = 3, .success = 200, .takes = &ledger_quote_ask_shape,
     .gives = &ledger_quote_shape, .fails = (const struct cr_code *const[]){&cr_code_not_found, NULL},
     .run = post_quote},
    {.method = "GET", .path = "/v1/invoices", .operation = "invoices_list",
     .summary = "Invoices, the draft of this month first", .permission = "billing:read",
     .scope = API_TENANT, .class = 5, .flags = API_LIST, .success = 200,
     .gives = &invoices_page_shape, .run = list_invoices},
    {.method = "GET", .path = "/v1/invoices/{invoice}", .operation = "invoices_get",
     .summary = "One invoice", .permission = "billing:read", .scope = API_TENANT, .class = 3,
     .success = 200, .gives = &ledger_invoice_shape, .run = get_invoice},
    {.method = "GET", .path = "/v1/invoices/{invoice}/lines", .operation = "invoices_lines",
     .summary = "The lines of an invoice; each cites its records", .permission = "billing:read",
     .scope = API_TENANT, .class = 5, .flags = API_LIST, .success = 200,
     .gives = &lines_page_shape, .run = list_lines},
    {0},
};
/* clang-format on */
