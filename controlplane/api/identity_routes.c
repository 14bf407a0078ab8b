/* identity_routes: sessions of the console, keys of programs, and who one is. */
#include "base/json/json.h"
#include "controlplane/api/api_internal.h"
#include "controlplane/api/page.h"
#include "controlplane/service/keys.h"
#include "controlplane/service/sessions.h"
#include "controlplane/service/tenants.h"

/* Sessions ------------------------------------------------------------------------------------ */

struct session_open {
    const char *code;
};
struct session_reply {
    const char *csrf;
    const char *tenant;
    bool operator;
};
static const struct cr_member session_open_members[] = {
    CR_MEMBER(struct session_open, code, 1, 32, .about = "What `cresset dev login` printed"),
};
static const struct cr_member session_reply_members[] = {
    CR_MEMBER(struct session_reply, csrf, 32, 32, .about = "To be sent back as Cresset-CSRF"),
    CR_ID(struct session_reply, tenant, "tnt", .flags = CR_NULLABLE),
    CR_MEMBER(struct session_reply, operator, 0, 0),
};
static const struct cr_shape session_open_shape =
    CR_SHAPE(struct session_open, session_open_members, .name = "SessionOpen");
static const struct cr_shape session_reply_shape =
    CR_SHAPE(struct session_reply, session_reply_members, .name = "Session");

static enum cr_status session_get(struct cr_call *call, const struct api *api, const void *request,
                                  void *ret_reply)
{
    (void)request;
    if (!api->session)
        return cr_fail_as(call, &cr_code_session_expired, "nobody is signed in here");
    *(struct session_reply *)ret_reply = (struct session_reply){
        .csrf = api_csrf(call, api->session),
        .tenant = api->who->tenant,
        .operator= api->who->kind == PRINCIPAL_OPERATOR,
    };
    return CR_OK;
}

static enum cr_status session_post(struct cr_call *call, const struct api *api, const void *request,
                                   void *ret_reply)
{
    const struct session_open *open = request;
    struct session session;
    CR_TRY(sessions_open(call, api->service, api->ask, open->code, &session));
    api_cookie(api, session.session, session.whole_s);
    *(struct session_reply *)ret_reply = (struct session_reply){
        .csrf = api_csrf(call, session.session),
        .tenant = session.tenant,
        .operator= !session.tenant,
    };
    return CR_OK;
}

static enum cr_status session_delete(struct cr_call *call, const struct api *api,
                                     const void *request, void *ret_reply)
{
    (void)request;
    (void)ret_reply;
    if (api->session)
        CR_TRY(sessions_close(call, api->service, api->ask, api->session));
    api_cookie(api, "", 0);
    return CR_OK;
}

static enum cr_status me_get(struct cr_call *call, const struct api *api, const void *request,
                             void *ret_me)
{
    (void)request;
    return tenants_me(call, api->service, api->who, ret_me);
}

/* Keys ---------------------------------------------------------------------------------------- */

API_PAGE(keys_page_shape, key_shape);

static enum cr_status key_list(struct cr_call *call, const struct api *api, const void *request,
                               void *ret_page)
{
    (void)request;
    struct cr_list keys;
    CR_TRY(keys_list(call, api->service, api->who, api->after, api->limit + 1, &keys));
    api_page(call, api, &keys, &key_shape, "key", ret_page);
    return CR_OK;
}

static enum cr_status key_post(struct cr_call *call, const struct api *api, const void *request,
                               void *ret_key)
{
    CR_TRY(keys_create(call, api->service, api->ask, request, ret_key));
    api_location(api, cr_format(call, "/v1/keys/%s", ((struct key *)ret_key)->key));
    return CR_OK;
}

static enum cr_status key_get(struct cr_call *call, const struct api *api, const void *request,
                              void *ret_key)
{
    (void)request;
    return keys_get(call, api->service, api->who, api_id(api, "key"), ret_key);
}

static enum cr_status key_patch(struct cr_call *call, const struct api *api, const void *request,
                                void *ret_key)
{
    (void)request;
    struct key_patch patch = {.name = NULL};
    CR_TRY(json_read_patch(call, &key_patch_shape, api->body, api->body_size, &patch));
    return keys_patch(call, api->service, api->ask, api_id(api, "key"), api->version, &patch,
                      ret_key);
}

static enum cr_status key_delete(struct cr_call *call, const struct api *api, const void *request,
                                 void *ret_reply)
{
    (void)request;
    (void)ret_reply;
    return keys_revoke(call, api->service, api->ask, api_id(api, "key"), api->version);
}

static enum cr_status key_rotate(struct cr_call *call, const struct api *api, const void *request,
                                 void *ret_key)
{
    return keys_rotate(call, api->service, api->ask, api_id(api, "key"), request, ret_key);
}

/* clang-format off */
#define CODES(...) ((const struct cr_code *const[]){__VA_ARGS__, NULL})

const struct api_route identity_routes[] = {
    {.method = "GET", .path = "/v1/session", .operation = "session_get",
     .summary = "The console's session, and the token that its changes must show",
     .scope = API_PUBLIC, .class = 3, .success = 200, .gives = &session_reply_shape,
     .fails = CODES(&cr_code_session_expired), .run = session_get},
    {.method = "POST", .path = "/v1/session", .operation = "session_open",
     .summary = "Signs a browser in by a code", .scope = API_PUBLIC, .class = 3,
     .flags = API_MUTATES, .success = 201, .takes = &session_open_shape,
     .gives = &session_reply_shape, .run = session_post},
    {.method = "DELETE", .path = "/v1/session", .operation = "session_close",
     .summary = "Signs it out", .scope = API_PUBLIC, .class = 2, .flags = API_MUTATES,
     .success = 204, .run = session_delete},
    {.method = "GET", .path = "/v1/me", .operation = "me_get",
     .summary = "Who asks, and what they may", .scope = API_ANY, .class = 3, .success = 200,
     .gives = &me_shape, .run = me_get},

    {.method = "GET", .path = "/v1/keys", .operation = "keys_list", .summary = "Keys, newest first",
     .permission = "keys:read", .scope = API_TENANT, .class = 5, .flags = API_LIST, .success = 200,
     .gives = &keys_page_shape, .run = key_list},
    {.method = "POST", .path = "/v1/keys", .operation = "keys_create",
     .summary = "Makes a key; its secret is shown once", .permission = "keys:write",
     .scope = API_TENANT, .class = 4, .flags = API_MUTATES | API_KEYED | API_SECRET_ONCE,
     .success = 201, .takes = &key_create_shape, .gives = &key_made_shape,
     .fails = CODES(&cr_code_permission_denied, &cr_code_quota_exceeded), .run = key_post},
    {.method = "GET", .path = "/v1/keys/{key}", .operation = "keys_get", .summary = "One key",
     .permission = "keys:read", .scope = API_TENANT, .class = 3, .flags = API_ETAG, .success = 200,
     .gives = &key_shape, .run = key_get},
    {.method = "PATCH", .path = "/v1/keys/{key}", .operation = "keys_patch",
     .summary = "Changes the name of a key, or what it may do", .permission = "keys:write",
     .scope = API_TENANT, .class = 4,
     .flags = API_MUTATES | API_KEYED | API_IF_MATCH | API_ETAG, .success = 200,
     .takes = &key_patch_shape, .gives = &key_shape, .fails = CODES(&cr_code_state_forbids),
     .run = key_patch},
    {.method = "DELETE", .path = "/v1/keys/{key}", .operation = "keys_revoke",
     .summary = "Revokes a key: it is refused everywhere within a minute",
     .permission = "keys:write", .scope = API_TENANT, .class = 2,
     .flags = API_MUTATES | API_KEYED | API_IF_MATCH, .success = 204,
     .fails = CODES(&cr_code_state_forbids), .run = key_delete},
    {.method = "POST", .path = "/v1/keys/{key}/rotate", .operation = "keys_rotate",
     .summary = "Gives a key a second secret; the first lives on for the overlap",
     .permission = "keys:write", .scope = API_TENANT, .class = 4,
     .flags = API_MUTATES | API_KEYED | API_SECRET_ONCE, .success = 200,
     .takes = &key_rotate_shape, .gives = &key_made_shape,
     .fails = CODES(&cr_code_state_forbids), .run = key_rotate},
    {0},
};
/* clang-format on */
