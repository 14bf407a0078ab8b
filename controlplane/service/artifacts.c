/* artifacts: what is kept, begun and forgotten. */
#include "controlplane/service/artifacts_internal.h"

#include "base/core/file.h"
#include "base/core/id.h"
#include "base/core/text.h"
#include "base/json/json.h"
#include "controlplane/service/blob.h"

#include <string.h>

static const char *const kinds[] = {"dataset", "model", "checkpoint", "predictions", "other", NULL};
static const char *const states[] = {"uploading", "held", NULL};

/* clang-format off */
static const struct cr_member artifact_members[] = {
    CR_ID(struct artifact, artifact, "art"),
    CR_MEMBER(struct artifact, sha256, 64, 64),
    CR_MEMBER(struct artifact, size, 0, ARTIFACTS_SIZE_MAX),
    CR_WORD(struct artifact, kind, kinds),
    CR_WORD(struct artifact, state, states),
    CR_MEMBER(struct artifact, offset, 0, ARTIFACTS_SIZE_MAX, .about = "Bytes that are here"),
    CR_MEMBER(struct artifact, name, 1, ARTIFACTS_NAME_MAX, .flags = CR_NULLABLE | CR_PRINTABLE),
    CR_TIME(struct artifact, created),
    CR_ID(struct artifact, job, "job", .flags = CR_NULLABLE, .about = "Which made it"),
    CR_MEMBER(struct artifact, version, 1, CR_SAFE_INTEGER),
    CR_MEMBER(struct artifact, durability, 1, 16, .flags = CR_OPTIONAL),
};
static const struct cr_member begin_members[] = {
    CR_MEMBER(struct artifact_begin, sha256, 64, 64, .about = "In lower-case hex"),
    CR_MEMBER(struct artifact_begin, size, 1, ARTIFACTS_SIZE_MAX),
    CR_WORD(struct artifact_begin, kind, kinds),
    CR_MEMBER(struct artifact_begin, name, 1, ARTIFACTS_NAME_MAX,
              .flags = CR_OPTIONAL | CR_PRINTABLE),
};
static const struct cr_member filter_members[] = {
    CR_ID(struct artifacts_filter, job, "job", .flags = CR_OPTIONAL),
    CR_MEMBER(struct artifacts_filter, sha256, 64, 64, .flags = CR_OPTIONAL),
    CR_WORD(struct artifacts_filter, kind, kinds, .flags = CR_OPTIONAL),
};
/* clang-format on */

const struct cr_shape artifact_shape =
    CR_SHAPE(struct artifact, artifact_members, .name = "Artifact");
const struct cr_shape artifact_begin_shape =
    CR_SHAPE(struct artifact_begin, begin_members, .name = "ArtifactBegin");
const struct cr_shape artifacts_filter_shape = CR_SHAPE(struct artifacts_filter, filter_members);

bool artifacts_digest(const char *sha256, unsigned char ret_digest[32])
{
    return cr_hex_parse(sha256, strlen(sha256), ret_digest, 32);
}

enum cr_status artifacts_find(struct cr_call *call, struct db *db, const char *tenant,
                              const char *artifact, struct artifact *ret_artifact)
{
    unsigned char digest[32];
    bool by_digest = strncmp(artifact, "sha256:", 7) == 0 && artifacts_digest(artifact + 7, digest),
         found;
    if (by_digest)
        CR_TRY(db_one(call, db, &artifacts_by_digest,
                      DB_VALUES(db_text(tenant), db_bytes(digest, sizeof digest)), &artifact_shape,
                      ret_artifact, &found));
    else
        CR_TRY(db_one(call, db, &artifacts_by_id, DB_VALUES(db_text(tenant), db_text(artifact)),
                      &artifact_shape, ret_artifact, &found));
    return found ? CR_OK : service_missing(call, "artifact", artifact);
}

enum cr_status artifacts_tell(struct cr_call *call, struct db *db,
                              const struct artifacts_owner *owner, const char *action,
                              const char *before, const struct artifact *artifact)
{
    const char *body = json_write(call, &artifact_shape, artifact);
    struct service_mutation mutation = {.tenant = owner->tenant,
                                        .action = action,
                                        .object = artifact->artifact,
                                        .before = before,
                                        .after = body};
    CR_TRY(service_audit(call, db, owner->ask, &mutation, NULL));
    return service_outbox(call, db, owner->tenant, action, artifact->artifact, body);
}

/* Beginning ----------------------------------------------------------------------------------- */

static enum cr_status check_begin(struct cr_call *call, const struct artifact_begin *begin)
{
    unsigned char digest[32];
    if (artifacts_digest(begin->sha256, digest))
        return CR_OK;
    cr_fault(call, CR_AT_POINTER, "/sha256", "out_of_range",
             "sha256 must be 64 digits of lower-case hex");
    return cr_fail_as(call, &cr_code_invalid_body, "%s", call->faults[0].detail);
}

enum cr_status artifacts_begin_in(struct cr_call *call, struct db *db,
                                  const struct artifacts_owner *owner,
                                  const struct artifact_begin *begin, struct artifact *ret_artifact,
                                  bool *ret_made)
{
    unsigned char digest[32];
    artifacts_digest(begin->sha256, digest);
    const char *artifact = cr_id(call, "art");
    int64_t made;
    CR_TRY(db_exec(call, db, &artifacts_insert,
                   DB_VALUES(db_text(owner->tenant), db_text(artifact),
                             db_bytes(digest, sizeof digest), db_int(begin->size),
                             db_text(begin->kind), db_text(begin->name), db_text(owner->job)),
                   &made));
    CR_TRY(artifacts_find(call, db, owner->tenant, cr_format(call, "sha256:%s", begin->sha256),
                          ret_artifact));
    *ret_made = made > 0;
    if (ret_artifact->size != begin->size)
        return cr_fail_as(call, &cr_code_already_exists,
                          "%s has this digest and %lld bytes, not %lld", ret_artifact->artifact,
                          (long long)ret_artifact->size, (long long)begin->size);
    return made > 0 ? artifacts_tell(call, db, owner, "artifact.begun", NULL, ret_artifact) : CR_OK;
}

struct beginning {
    const struct artifact_begin *begin;
    bool *made;
};

static enum cr_status begin_work(struct cr_call *call, struct db *db, struct service_work *work)
{
    const struct beginning *it = work->request;
    struct artifact *artifact = work->reply;
    const struct artifacts_owner owner = {
        .tenant = work->ask->who->tenant, .db = db, .ask = work->ask};
    CR_TRY(artifacts_begin_in(call, db, &owner, it->begin, artifact, it->made));
    artifact->durability = work->service->config->durability;
    return CR_OK;
}

enum cr_status artifacts_begin(struct cr_call *call, struct service *service,
                               const struct service_ask *ask, const struct artifact_begin *begin,
                               struct artifact *ret_artifact, bool *ret_made)
{
    CR_TRY(check_begin(call, begin));
    CR_TRY(blob_room(call, service->config));
    *ret_made = true; /* a stored answer is told as it was */
    struct beginning it = {begin, ret_made};
    return service_keyed(call, service, ask, &artifact_shape, begin_work, &it, ret_artifact);
}

/* Reading ------------------------------------------------------------------------------------- */

struct reading {
    const char *tenant, *artifact, *after;
    const struct artifacts_filter *filter;
    int64_t limit;
    struct artifact *ret_artifact;
    struct cr_list *ret_artifacts;
};

static enum cr_status get_work(struct cr_call *call, struct db *db, void *context)
{
    const struct reading *it = context;
    return artifacts_find(call, db, it->tenant, it->artifact, it->ret_artifact);
}

enum cr_status artifacts_read(struct cr_call *call, const struct artifacts_owner *owner,
                              const char *artifact, struct artifact *ret_artifact)
{
    struct reading it = {
        .tenant = owner->tenant, .artifact = artifact, .ret_artifact = ret_artifact};
    return db_transaction(call, owner->db, owner->tenant, 0, get_work, &it);
}

enum cr_status artifacts_get(struct cr_call *call, struct service *service,
                             const struct principal *who, const char *artifact,
                             struct artifact *ret_artifact)
{
    const struct artifacts_owner owner = {.tenant = who->tenant, .db = service->db};
    return artifacts_read(call, &owner, artifact, ret_artifact);
}

static enum cr_status list_work(struct cr_call *call, struct db *db, void *context)
{
    const struct reading *it = context;
    unsigned char digest[32];
    bool by_digest = it->filter->sha256 && artifacts_digest(it->filter->sha256, digest);
    if (it->filter->sha256 && !by_digest)
        return cr_fail_as(call, &cr_code_invalid_parameter,
                          "sha256 must be 64 digits of lower-case hex");
    return db_list(call, db, &artifacts_page,
                   DB_VALUES(db_text(it->tenant), db_text(it->after), db_text(it->filter->job),
                             db_bytes(by_digest ? digest : NULL, sizeof digest),
                             db_text(it->filter->kind), db_int(it->limit)),
                   &artifact_shape, it->ret_artifacts);
}

enum cr_status artifacts_list(struct cr_call *call, struct service *service,
                              const struct principal *who, const struct artifacts_filter *filter,
                              const char *after, int64_t limit, struct cr_list *ret_artifacts)
{
    struct reading it = {.tenant = who->tenant,
                         .after = after,
                         .filter = filter,
                         .limit = limit,
                         .ret_artifacts = ret_artifacts};
    return db_transaction(call, service->db, who->tenant, DB_PLANNED, list_work, &it);
}

static enum cr_status open_held(struct cr_call *call, struct service *service, const char *tenant,
                                const struct artifact *artifact, struct cr_file *ret_file)
{
    if (strcmp(artifact->state, "held") != 0) {
        cr_extra_text(call, "state", artifact->state);
        return cr_fail_as(call, &cr_code_state_forbids, "%s has not come whole yet",
                          artifact->artifact);
    }
    return blob_open(call, service->config, tenant, artifact->artifact, ret_file);
}

enum cr_status artifacts_open(struct cr_call *call, struct service *service,
                              const struct principal *who, const char *artifact,
                              struct artifact *ret_artifact, struct cr_file *ret_file)
{
    CR_TRY(artifacts_get(call, service, who, artifact, ret_artifact));
    return open_held(call, service, who->tenant, ret_artifact, ret_file);
}

enum cr_status artifacts_open_digest(struct cr_call *call, struct service *service,
                                     const struct artifacts_owner *owner, const char *sha256,
                                     struct artifact *ret_artifact, struct cr_file *ret_file)
{
    CR_TRY(artifacts_read(call, owner, cr_format(call, "sha256:%s", sha256), ret_artifact));
    return open_held(call, service, owner->tenant, ret_artifact, ret_file);
}

/* Forgetting ---------------------------------------------------------------------------------- */

struct forgetting {
    const char *artifact;
    struct artifact *gone;
};

struct reader_row {
    const char *job;
};
static const struct cr_member reader_members[] = {CR_ID(struct reader_row, job, "job")};
static const struct cr_shape reader_shape = CR_SHAPE(struct reader_row, reader_members);

static enum cr_status delete_work(struct cr_call *call, struct db *db, struct service_work *work)
{
    const struct forgetting *it = work->request;
    const struct artifacts_owner owner = {
        .tenant = work->ask->who->tenant, .db = db, .ask = work->ask};
    CR_TRY(artifacts_find(call, db, owner.tenant, it->artifact, it->gone));
    struct reader_row reader;
    bool found;
    CR_TRY(db_one(
        call, db, &artifacts_read_by,
        DB_VALUES(db_text(owner.tenant), db_text(it->gone->artifact), db_text(it->gone->sha256)),
        &reader_shape, &reader, &found));
    if (found) {
        cr_extra_text(call, "state", it->gone->state);
        return cr_fail_as(call, &cr_code_state_forbids, "%s reads it, and has not ended",
                          reader.job);
    }
    CR_TRY(db_exec_fenced(call, db, &artifacts_forget,
                          DB_VALUES(db_text(owner.tenant), db_text(it->gone->artifact)),
                          "the artifact was deleted meanwhile"));
    return artifacts_tell(call, db, &owner, "artifact.deleted",
                          json_write(call, &artifact_shape, it->gone), it->gone);
}

enum cr_status artifacts_delete(struct cr_call *call, struct service *service,
                                const struct service_ask *ask, const char *artifact)
{
    struct artifact gone = {.artifact = NULL};
    struct forgetting it = {artifact, &gone};
    CR_TRY(service_keyed(call, service, ask, NULL, delete_work, &it, NULL));
    if (!gone.artifact) /* the answer was stored before: so was the effect */
        return CR_OK;
    return blob_remove(call, service->config, ask->who->tenant, gone.artifact);
}
