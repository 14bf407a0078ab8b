/* node_artifacts: the bytes of a lease, in and out, on behalf of its tenant. */
#include "controlplane/service/node_internal.h"

/* clang-format off */
static const struct cr_member upload_members[] = {
    CR_ID(struct node_upload, lease, "lse"),
    CR_WORD(struct node_upload, kind, protocol_artifact_kinds),
    CR_MEMBER(struct node_upload, size, 0, CR_SAFE_INTEGER),
};
/* clang-format on */
const struct cr_shape node_upload_shape = CR_SHAPE(struct node_upload, upload_members);

static enum cr_status missing(struct cr_call *call, const char *digest)
{
    return service_missing(call, "artifact", digest);
}

static bool is_hex_digest(const char *text)
{
    return strlen(text) == PROTOCOL_DIGEST_LENGTH && protocol_is_digest(text);
}

/* Whether the program of the lease names the digest. */
static bool reads(const struct protocol_assignment *assignment, const char *digest)
{
    const struct protocol_input *inputs = assignment->inputs.items;
    for (size_t i = 0; i < assignment->inputs.count; i++)
        if (strcmp(inputs[i].digest, digest) == 0)
            return true;
    return assignment->resume && strcmp(assignment->resume->digest, digest) == 0;
}

enum cr_status node_artifact_open(struct cr_call *call, struct service *service,
                                  const struct principal *who, const char *lease,
                                  const char *digest, struct artifact *ret_artifact,
                                  struct cr_file *ret_file)
{
    struct protocol_assignment assignment;
    CR_TRY(node_program(call, service, who, lease, &assignment));
    if (!is_hex_digest(digest) || !reads(&assignment, digest))
        return missing(call, digest);
    struct service_ask ask = {.who = who};
    struct artifacts_owner owner = {
        .tenant = assignment.tenant, .job = NULL, .db = service->engine_db, .ask = &ask};
    return artifacts_open_digest(call, service, &owner, digest, ret_artifact, ret_file);
}

enum cr_status node_artifact_put(struct cr_call *call, struct service *service,
                                 const struct service_ask *ask, const char *digest,
                                 const struct node_upload *upload,
                                 const struct artifacts_part *part, struct artifact *ret_artifact)
{
    const struct principal *who = ask->who;
    struct node_lease lease;
    if (!who || who->kind != PRINCIPAL_NODE)
        return cr_fail_as(call, &cr_code_permission_denied, "this is for nodes");
    CR_TRY(node_lease_read(call, service->engine_db, who->node, upload->lease, &lease));
    if (!is_hex_digest(digest))
        return missing(call, digest);
    /* An end may be told after an expiry, until the next grant; so its outputs may come too. */
    if (lease.lease_epoch < lease.highest_epoch || !lease.boot)
        return cr_fail_as(call, &service_code_stale_lease, "%s is over", lease.lease);
    if (upload->size > PROTOCOL_OUTPUT_MAX) {
        cr_extra_number(call, "limit", PROTOCOL_OUTPUT_MAX);
        return cr_fail_as(call, &cr_code_body_too_large, "an output is over %lld bytes",
                          (long long)PROTOCOL_OUTPUT_MAX);
    }
    struct artifacts_owner owner = {
        .tenant = lease.tenant, .job = lease.job, .db = service->engine_db, .ask = ask};
    struct artifact_begin begin = {.sha256 = digest, .size = upload->size, .kind = upload->kind};
    return artifacts_receive(call, service, &owner, &begin, part, ret_artifact);
}
