/* node_routes: what compute nodes ask. They are of nodes alone; a POST bears its signature too. */
#include "controlplane/api/api_internal.h"
#include "controlplane/service/ledger.h"
#include "controlplane/service/node.h"

#include <string.h>
#include <strings.h>

/* The token of an Authorization that enrols; NULL: none. */
static const char *token_of(const struct api *api)
{
    static const char bearer[] = "Bearer ";
    const char *authorization = http_field_of(api->http, "Authorization");
    if (!authorization || strncasecmp(authorization, bearer, sizeof bearer - 1) != 0)
        return NULL;
    const char *token = authorization + sizeof bearer - 1;
    return strncmp(token, "crs_enr_", 8) == 0 ? token : NULL;
}

static enum cr_status within(struct cr_call *call, const struct api *api, int64_t limit)
{
    if ((int64_t)api->body_size <= limit)
        return CR_OK;
    cr_extra_number(call, "limit", limit);
    return cr_fail_as(call, &cr_code_body_too_large, "the body is over %lld bytes",
                      (long long)limit);
}

static enum cr_status join(struct cr_call *call, const struct api *api, const void *envelope,
                           void *ret_joined)
{
    CR_TRY(within(call, api, PROTOCOL_JOIN_SIZE_MAX));
    return node_join(call, api->service, token_of(api), envelope, ret_joined);
}

static enum cr_status leases(struct cr_call *call, const struct api *api, const void *request,
                             void *ret_leases)
{
    (void)request;
    const char *etag, *seen = http_field_of(api->http, "If-None-Match");
    CR_TRY(node_leases(call, api->service, api->who, ret_leases, &etag));
    bool same = seen && strcmp(seen, etag) == 0;
    if (same && api_park(api, cr_format(call, "node:%s", api->who->node)))
        return CR_OK;
    api_field(api, "ETag", etag);
    if (same)
        api_status(api, 304);
    return CR_OK;
}

static enum cr_status program(struct cr_call *call, const struct api *api, const void *request,
                              void *ret_assignment)
{
    (void)request;
    return node_program(call, api->service, api->who, api_id(api, "lease"), ret_assignment);
}

static enum cr_status start(struct cr_call *call, const struct api *api, const void *envelope,
                            void *ret_order)
{
    CR_TRY(within(call, api, PROTOCOL_START_SIZE_MAX));
    return node_start(call, api->service, api->who, api_id(api, "lease"), envelope, ret_order);
}

static enum cr_status progress(struct cr_call *call, const struct api *api, const void *envelope,
                               void *ret_order)
{
    CR_TRY(within(call, api, PROTOCOL_PROGRESS_SIZE_MAX));
    return node_progress(call, api->service, api->who, api_id(api, "lease"), envelope, ret_order);
}

static enum cr_status decline(struct cr_call *call, const struct api *api, const void *envelope,
                              void *ret_nothing)
{
    (void)ret_nothing;
    CR_TRY(within(call, api, PROTOCOL_DECLINE_SIZE_MAX));
    return node_decline(call, api->service, api->who, api_id(api, "lease"), envelope);
}

static enum cr_status renew(struct cr_call *call, const struct api *api, const void *body,
                            void *ret_renewed)
{
    CR_TRY(within(call, api, PROTOCOL_RENEW_SIZE_MAX));
    return ledger_renew(call, api->service, api->who, body, ret_renewed);
}

static enum cr_status complete(struct cr_call *call, const struct api *api, const void *body,
                               void *ret_accepted)
{
    CR_TRY(within(call, api, PROTOCOL_COMPLETE_SIZE_MAX));
    return ledger_complete(call, api->service, api->who, api_id(api, "lease"), body, ret_accepted);
}

struct lease_query {
    const char *lease;
};
static const struct cr_member lease_query_members[] = {
    CR_ID(struct lease_query, lease, "lse", .about = "The live lease for which it is read"),
};
static const struct cr_shape lease_query_shape = CR_SHAPE(struct lease_query, lease_query_members);

static enum cr_status artifact_get(struct cr_call *call, const struct api *api, const void *query,
                                   void *ret_nothing)
{
    (void)ret_nothing;
    const struct lease_query *asked = query;
    struct artifact artifact;
    struct cr_file file;
    CR_TRY(node_artifact_open(call, api->service, api->who, asked->lease, api_id(api, "digest"),
                              &artifact, &file));
    api_field(api, "ETag", cr_format(call, "\"sha256:%s\"", artifact.sha256));
    api_file(api, "application/octet-stream", file.descriptor, artifact.size);
    return CR_OK;
}

static enum cr_status artifact_put(struct cr_call *call, const struct api *api, const void *query,
                                   void *ret_upload)
{
    struct artifacts_part part;
    struct artifact artifact;
    CR_TRY(api_part(call, api, &part));
    CR_TRY(node_artifact_put(call, api->service, api->ask, api_id(api, "digest"), query, &part,
                             &artifact));
    bool held = strcmp(artifact.state, "held") == 0;
    *(struct protocol_upload *)ret_upload =
        (struct protocol_upload){.offset = artifact.offset, .held = held};
    if (!held)
        api_status(api, 202);
    return CR_OK;
}

/* clang-format off */
#define CODES(...) ((const struct cr_code *const[]){__VA_ARGS__, NULL})
#define NODE(verb, where, who, name, what, ...)                                                        \
    {.method = verb, .path = "/v1/node/" where, .operation = "node_" #name, .summary = what,      \
     .scope = who, .group = API_GROUP_NODE, .class = 0, .run = name, __VA_ARGS__}

const struct api_route node_routes[] = {
    NODE("POST", "join", API_PUBLIC, join, "A node joins, or comes back",
         .flags = API_MUTATES, .success = 200,
         .takes = &protocol_envelope_shape, .gives = &protocol_joined_shape,
         .fails = CODES(&cr_code_bad_signature, &cr_code_already_exists, &cr_code_permission_denied,
                        &cr_code_not_found, &service_code_stale_boot, &cr_code_credential_missing)),
    NODE("GET", "leases", API_NODE, leases, "All leases that a node should hold",
         .flags = API_PARK, .success = 200, .gives = &protocol_leases_shape),
    NODE("GET", "leases/{lease}/program", API_NODE, program, "What to run under a lease",
         .success = 200, .gives = &protocol_assignment_shape,
         .fails = CODES(&service_code_stale_lease)),
    NODE("POST", "leases/{lease}/start", API_NODE, start, "A runner is ready",
         .flags = API_MUTATES, .success = 200,
         .takes = &protocol_envelope_shape, .gives = &protocol_ordered_shape,
         .fails = CODES(&cr_code_bad_signature, &service_code_stale_boot,
                        &service_code_stale_lease, &cr_code_state_forbids)),
    NODE("POST", "leases/{lease}/progress", API_NODE, progress, "Steps, points, log and checkpoints",
         .flags = API_MUTATES, .success = 200,
         .takes = &protocol_envelope_shape, .gives = &protocol_ordered_shape,
         .fails = CODES(&cr_code_bad_signature, &service_code_stale_boot,
                        &service_code_stale_lease, &service_code_message_differs,
                        &cr_code_state_forbids)),
    NODE("POST", "leases/{lease}/decline", API_NODE, decline, "A node cannot run a lease",
         .flags = API_MUTATES, .success = 204, .takes = &protocol_envelope_shape,
         .fails = CODES(&cr_code_bad_signature, &service_code_stale_boot,
                        &service_code_stale_lease, &cr_code_state_forbids)),
    NODE("POST", "leases/{lease}/complete", API_NODE, complete, "A lease has ended",
         .flags = API_MUTATES, .success = 200,
         .takes = &protocol_completion_shape, .gives = &protocol_accepted_shape,
         .fails = CODES(&cr_code_bad_signature, &service_code_stale_boot,
                        &service_code_stale_lease, &service_code_usage_contradiction,
                        &service_code_day_sealed)),
    NODE("POST", "renew", API_NODE, renew, "Prolongs the leases that a statement proves",
         .flags = API_MUTATES, .success = 200,
         .takes = &protocol_renew_shape, .gives = &protocol_renewed_shape,
         .fails = CODES(&cr_code_bad_signature, &service_code_stale_boot,
                        &service_code_stale_lease, &service_code_usage_contradiction)),
    NODE("GET", "artifacts/{digest}", API_NODE, artifact_get, "Bytes that a lease reads",
         .flags = API_FILE_OUT, .success = 200, .query = &lease_query_shape),
    NODE("PUT", "artifacts/{digest}", API_NODE, artifact_put, "Bytes that a lease has made",
         .flags = API_FILE_IN | API_MUTATES, .success = 200, .query = &node_upload_shape,
         .gives = &protocol_upload_shape,
         .fails = CODES(&service_code_stale_lease, &cr_code_upload_mismatch,
                        &cr_code_read_only)),
    {0},
};
/* clang-format on */
