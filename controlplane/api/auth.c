/* auth: who asks, and whether that one may. */
#include "base/core/id.h"
#include "base/crypto/crypto.h"
#include "controlplane/api/api_internal.h"
#include "controlplane/service/identity.h"

#include <string.h>
#include <strings.h>

static const char bearer[] = "Bearer ";

/* The value of our cookie; NULL: it is not there. */
static const char *cookie(struct cr_call *call, const struct api_exchange *exchange)
{
    const char *name = exchange->worker->settings->cookie_secure ? "__Host-cresset" : "cresset_dev";
    const char *at = http_field_of(exchange->http, "Cookie");
    size_t length = strlen(name);
    while (at) {
        at += strspn(at, " ;");
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return cr_copy(call, at + length + 1, strcspn(at + length + 1, "; "));
        at = strchr(at, ';');
    }
    return NULL;
}

static bool session_digits(const char *text)
{
    return strlen(text) == API_SESSION_DIGITS &&
           strspn(text, "0123456789abcdef") == API_SESSION_DIGITS;
}

const char *api_csrf(struct cr_call *call, const char *session)
{
    unsigned char key[BASE_CRYPTO_KEY_SIZE], hash[API_CSRF_SIZE];
    if (!cr_hex_parse(session, strlen(session), key, sizeof key))
        return NULL;
    base_crypto_keyed(key, "csrf", 4, hash, sizeof hash);
    base_crypto_wipe(key, sizeof key);
    return cr_hex(call, hash, sizeof hash);
}

static bool safe(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

/* A page of another origin can make a browser send the cookie, but neither of these two. */
static enum cr_status check_csrf(struct cr_call *call, const struct api_exchange *exchange)
{
    if (safe(exchange->http->method))
        return CR_OK;
    const char *shown = http_field_of(exchange->http, "Cresset-CSRF");
    const char *origin = http_field_of(exchange->http, "Origin");
    const char *wanted = api_csrf(call, exchange->api.session);
    if (!shown || !wanted || strlen(shown) != strlen(wanted) ||
        !base_crypto_equal(shown, wanted, strlen(wanted)))
        return cr_fail_as(call, &cr_code_csrf_rejected, "Cresset-CSRF does not fit the session");
    if (!origin || strcmp(origin, exchange->worker->settings->public_origin) != 0)
        return cr_fail_as(call, &cr_code_csrf_rejected, "Origin is not this console's");
    return CR_OK;
}

static enum cr_status by_cookie(struct cr_call *call, struct api_exchange *exchange)
{
    struct api *api = &exchange->api;
    if (!session_digits(api->session))
        return cr_fail_as(call, &cr_code_session_expired, "the cookie is not one of ours");
    CR_TRY(identity_by_session(call, api->service, api->session, &api->who));
    return check_csrf(call, exchange);
}

/*
 * A route that anybody may call still refuses a bad credential, so that a typing error is not taken
 * for a visitor; but it overlooks a session that has ended, since that is where one begins anew,
 * and a token of enrolment, which is no identity.
 */
static enum cr_status by_whatever(struct cr_call *call, struct api_exchange *exchange,
                                  const char *authorization)
{
    struct api *api = &exchange->api;
    bool open = api->route->scope == API_PUBLIC;
    if (authorization) {
        if (strncasecmp(authorization, bearer, sizeof bearer - 1) != 0)
            return cr_fail_as(call, &cr_code_credential_rejected,
                              "Authorization is not 'Bearer crs_…'");
        const char *credential = authorization + sizeof bearer - 1;
        if (open && strncmp(credential, "crs_enr_", 8) == 0)
            return CR_OK;
        return identity_by_key(call, api->service, credential, &api->who);
    }
    if (!api->session)
        return open ? CR_OK
                    : cr_fail_as(call, &cr_code_credential_missing,
                                 "send Authorization: Bearer crs_…, or sign in");
    enum cr_status status = by_cookie(call, exchange);
    if (status == CR_UNAUTHENTICATED && open) {
        cr_forgive(call);
        api->session = NULL;
        return CR_OK;
    }
    return status;
}

enum cr_status api_authenticate(struct cr_call *call, struct api_exchange *exchange)
{
    struct api *api = &exchange->api;
    const char *authorization = http_field_of(exchange->http, "Authorization");
    api->session = cookie(call, exchange);
    if (authorization && api->session)
        return cr_fail_as(call, &cr_code_invalid_header,
                          "Authorization and the console's cookie were both sent");
    CR_TRY(by_whatever(call, exchange, authorization));
    const char *tenant = http_field_of(exchange->http, "Cresset-Tenant");
    if (tenant && (!api->who->tenant || strcmp(tenant, api->who->tenant) != 0))
        return cr_fail_as(call, &cr_code_wrong_tenant,
                          "Cresset-Tenant is not the tenant of the credential");
    return CR_OK;
}

/* Whether the word is one of a list that is separated by commas. */
static bool holds(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *item = list; item; item = strchr(item, ',')) {
        item += *item == ',';
        if (*item == '*' ||
            (strncmp(item, word, length) == 0 && (item[length] == ',' || item[length] == '\0')))
            return true;
    }
    return false;
}

static bool within(enum api_scope scope, enum principal_kind kind)
{
    switch (scope) {
    case API_PUBLIC:
        return true;
    case API_TENANT:
        return kind == PRINCIPAL_TENANT;
    case API_OPERATOR:
        return kind == PRINCIPAL_OPERATOR;
    case API_NODE:
        return kind == PRINCIPAL_NODE;
    case API_PEER:
        return false; /* no credential of a region is given out yet */
    case API_ANY:
        return kind == PRINCIPAL_TENANT || kind == PRINCIPAL_OPERATOR;
    }
    return false;
}

enum cr_status api_permit(struct cr_call *call, struct api_exchange *exchange)
{
    const struct api_route *route = exchange->api.route;
    const struct principal *who = exchange->api.who;
    static const char *const callers[] = {"anybody",
                                          "a tenant's credential",
                                          "an operator's credential",
                                          "a node's credential",
                                          "a region's credential",
                                          "a person's credential"};
    if (!within(route->scope, who->kind))
        return cr_fail_as(call, &cr_code_permission_denied, "this wants %s", callers[route->scope]);
    if (route->permission && !holds(who->permissions ? who->permissions : "", route->permission)) {
        cr_extra_text(call, "permission", route->permission);
        return cr_fail_as(call, &cr_code_permission_denied, "this needs the permission %s",
                          route->permission);
    }
    if (who->suspended && (route->flags & API_MUTATES))
        return cr_fail_as(call, &cr_code_tenant_suspended,
                          "the tenant is suspended: it reads, and changes nothing");
    return CR_OK;
}
