/* auth_routes: how one signs in here. Public: it is asked before there is a credential. */
#include "controlplane/api/api_internal.h"

struct ways {
    const char *region, *version, *console;
    struct cr_texts ways;
};

static const struct cr_member ways_members[] = {
    CR_MEMBER(struct ways, region, 1, 64),
    CR_MEMBER(struct ways, version, 1, 64),
    CR_MEMBER(struct ways, console, 1, 256, .about = "Where the console is"),
    CR_TEXTS(struct ways, ways, 1, 8,
             .about = "\"code\": a login code at POST /v1/session; \"key\": a bearer credential"),
};
static const struct cr_shape ways_shape = CR_SHAPE(struct ways, ways_members, .name = "Auth");

static enum cr_status get_auth(struct cr_call *call, const struct api *api, const void *request,
                               void *ret_reply)
{
    (void)call;
    (void)request;
    static const char *const ways[] = {"code", "key"};
    *(struct ways *)ret_reply = (struct ways){
        .region = api->settings->region,
        .version = api->settings->version,
        .console = api->settings->public_origin,
        .ways = {ways, sizeof ways / sizeof *ways},
    };
    return CR_OK;
}

const struct api_route auth_routes[] = {
    {.method = "GET",
     .path = "/v1/auth",
     .operation = "auth_get",
     .summary = "How one signs in here",
     .class = 3,
     .success = 200,
     .gives = &ways_shape,
     .run = get_auth},
    {0},
};
