/* artifacts_put: bytes come, in parts, and are held once they have their digest. */
#include "controlplane/service/artifacts_internal.h"

#include "base/json/json.h"
#include "controlplane/service/blob.h"

#include <string.h>

struct step {
    const struct artifacts_owner *owner;
    const struct artifact *artifact; /* as it was read before the bytes were written */
    int64_t end;                     /* what will be here */
    struct artifact *ret_artifact;
};

static enum cr_status mismatch(struct cr_call *call, int64_t offset, const char *sentence)
{
    cr_extra_number(call, "offset", offset);
    return cr_fail_as(call, &cr_code_upload_mismatch, "%s", sentence);
}

/* The part must go on where the upload is, or begin anew, and end where the artifact does. */
static enum cr_status check_part(struct cr_call *call, const struct artifact *artifact,
                                 const struct artifacts_part *part)
{
    if (part->total != CR_NO_INTEGER && part->total != artifact->size)
        return mismatch(call, artifact->offset,
                        cr_format(call, "the artifact has %lld bytes, not %lld",
                                  (long long)artifact->size, (long long)part->total));
    if (part->first == CR_NO_INTEGER)
        return CR_OK;
    if (part->first != artifact->offset && part->first != 0)
        return mismatch(call, artifact->offset,
                        cr_format(call, "the upload is at %lld, not at %lld",
                                  (long long)artifact->offset, (long long)part->first));
    if (part->size > artifact->size - part->first)
        return mismatch(call, artifact->offset,
                        cr_format(call, "%lld bytes from %lld on are more than the artifact has",
                                  (long long)part->size, (long long)part->first));
    return CR_OK;
}

static enum cr_status advance_work(struct cr_call *call, struct db *db, void *context)
{
    const struct step *it = context;
    const char *tenant = it->owner->tenant, *artifact = it->artifact->artifact;
    int64_t hit;
    CR_TRY(db_exec(call, db, &artifacts_received,
                   DB_VALUES(db_text(tenant), db_text(artifact), db_int(it->artifact->offset),
                             db_int(it->end)),
                   &hit));
    CR_TRY(artifacts_find(call, db, tenant, artifact, it->ret_artifact));
    return hit > 0 ? CR_OK
                   : mismatch(call, it->ret_artifact->offset,
                              "another request has moved the upload meanwhile");
}

static enum cr_status restart_work(struct cr_call *call, struct db *db, void *context)
{
    const struct step *it = context;
    return db_exec(call, db, &artifacts_restart,
                   DB_VALUES(db_text(it->owner->tenant), db_text(it->artifact->artifact)), NULL);
}

static enum cr_status hold_work(struct cr_call *call, struct db *db, void *context)
{
    const struct step *it = context;
    const char *tenant = it->owner->tenant, *artifact = it->artifact->artifact;
    int64_t hit;
    CR_TRY(db_exec(call, db, &artifacts_hold, DB_VALUES(db_text(tenant), db_text(artifact)), &hit));
    CR_TRY(artifacts_find(call, db, tenant, artifact, it->ret_artifact));
    if (hit == 0) /* by another request, which has told of it */
        return CR_OK;
    return artifacts_tell(call, db, it->owner, "artifact.held",
                          json_write(call, &artifact_shape, it->artifact), it->ret_artifact);
}

/* All bytes are here: they are held, or, where they have another digest, dropped. */
static enum cr_status finish(struct cr_call *call, struct service *service, struct step *it)
{
    const struct artifact *artifact = it->artifact;
    bool good;
    CR_TRY(blob_finish(call, service->config, it->owner->tenant, artifact->artifact,
                       artifact->sha256, artifact->size, &good));
    if (good)
        return db_transaction(call, it->owner->db, it->owner->tenant, 0, hold_work, it);
    CR_TRY(db_transaction(call, it->owner->db, it->owner->tenant, 0, restart_work, it));
    return mismatch(call, 0, "the bytes do not have the digest; all of them were dropped");
}

static enum cr_status put(struct cr_call *call, struct service *service,
                          const struct artifacts_owner *owner, const struct artifact *artifact,
                          const struct artifacts_part *part, struct artifact *ret_artifact)
{
    *ret_artifact = *artifact;
    CR_TRY(check_part(call, artifact, part));
    if (strcmp(artifact->state, "held") == 0)
        return CR_OK;

    struct step it = {.owner = owner, .artifact = artifact, .ret_artifact = ret_artifact};
    it.end = artifact->offset;
    if (part->first != CR_NO_INTEGER && (part->size > 0 || artifact->size == 0)) {
        if (!owner->job) /* what a job has made is taken as long as there is a byte */
            CR_TRY(blob_room(call, service->config));
        CR_TRY(blob_write(call, service->config, owner->tenant, artifact->artifact, part));
        it.end = part->first + part->size;
    }
    if (it.end == artifact->size)
        return finish(call, service, &it);
    return it.end == artifact->offset
               ? CR_OK
               : db_transaction(call, owner->db, owner->tenant, 0, advance_work, &it);
}

enum cr_status artifacts_put(struct cr_call *call, struct service *service,
                             const struct service_ask *ask, const char *artifact,
                             const struct artifacts_part *part, struct artifact *ret_artifact)
{
    const struct artifacts_owner owner = {
        .tenant = ask->who->tenant, .db = service->db, .ask = ask};
    struct artifact before;
    CR_TRY(artifacts_read(call, &owner, artifact, &before));
    CR_TRY(put(call, service, &owner, &before, part, ret_artifact));
    ret_artifact->durability = service->config->durability;
    return CR_OK;
}

/* For nodes ----------------------------------------------------------------------------------- */

struct beginning {
    const struct artifacts_owner *owner;
    const struct artifact_begin *begin;
    struct artifact *ret_artifact;
};

static enum cr_status begin_work(struct cr_call *call, struct db *db, void *context)
{
    const struct beginning *it = context;
    bool made;
    return artifacts_begin_in(call, db, it->owner, it->begin, it->ret_artifact, &made);
}

enum cr_status artifacts_receive(struct cr_call *call, struct service *service,
                                 const struct artifacts_owner *owner,
                                 const struct artifact_begin *begin,
                                 const struct artifacts_part *part, struct artifact *ret_artifact)
{
    unsigned char digest[32];
    if (!artifacts_digest(begin->sha256, digest))
        return cr_fail_as(call, &cr_code_invalid_parameter,
                          "a digest is 64 digits of lower-case hex");
    struct artifact artifact;
    struct beginning it = {owner, begin, &artifact};
    CR_TRY(db_transaction(call, owner->db, owner->tenant, 0, begin_work, &it));
    return put(call, service, owner, &artifact, part, ret_artifact);
}
