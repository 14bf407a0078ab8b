/*
 * artifacts: bytes by their SHA-256, of one tenant: datasets that were pushed, and what jobs made.
 *
 * A row says what an artifact is; its bytes are a file of the tenant's folder.
 * An upload has a file of its own until the last byte has come and the digest agrees; only then the
 * artifact is `held`, and never changes again. A dropped upload goes on where it stopped.
 *
 * Invariants   no file is touched in a transaction (db.4); what is held has the bytes of its digest
 *              on the disk, synced, before the row says so; tenants share no file
 * Units        sizes and offsets are bytes
 * Ownership    whatever is filled belongs to the call
 * fails with   cr_code_not_found        no such artifact of this tenant
 *              cr_code_upload_mismatch  the bytes do not go on where the upload is (+offset), or do
 *                                       not have the digest: then all are dropped, and offset is 0
 *              cr_code_state_forbids    it is not held yet, or a living job reads it
 *              cr_code_read_only        the disk is nearly full
 * Source       surface.md section 5; compute.md section 3
 */
#pragma once

#include "base/core/file.h"
#include "controlplane/service/service.h"

#define ARTIFACTS_NAME_MAX  255
#define ARTIFACTS_SIZE_MAX  (INT64_C(1) << 40)
#define ARTIFACTS_PIECE     ((size_t)1 << 16) /* of a copy or a digest */
#define ARTIFACTS_FREE_MIN  (INT64_C(2) << 30)
#define ARTIFACTS_FREE_PART 10 /* a tenth of the disk, at least, stays free */

/* The resource. */
struct artifact {
    const char *artifact;
    const char *sha256; /* 64 digits */
    int64_t size;
    const char *kind;  /* dataset model checkpoint predictions other */
    const char *state; /* uploading held */
    int64_t offset;    /* bytes that are here */
    const char *name;  /* NULL: none */
    int64_t created;
    const char *job; /* which made it; NULL: it was pushed */
    int64_t version;
    const char *durability; /* in the answer of a begun or finished upload */
};
extern const struct cr_shape artifact_shape; /* "Artifact" */

struct artifact_begin {
    const char *sha256;
    int64_t size;
    const char *kind, *name;
};
extern const struct cr_shape artifact_begin_shape;

/* Filters of a list; absent ones filter nothing. */
struct artifacts_filter {
    const char *job, *sha256, *kind;
};
extern const struct cr_shape artifacts_filter_shape;

/* What of an artifact's bytes comes with one request. */
struct artifacts_part {
    int64_t
        first;    /* offset of the first; CR_NO_INTEGER: nothing comes, only the end is looked at */
    int64_t size; /* bytes in the file */
    int64_t total;  /* as the client says; CR_NO_INTEGER: it did not */
    int descriptor; /* of the file, read from its beginning; remains the caller's */
};

/* POST /v1/artifacts. One that is there already is given as it is; *ret_made tells a new one. */
enum cr_status artifacts_begin(struct cr_call *call, struct service *service,
                               const struct service_ask *ask, const struct artifact_begin *begin,
                               struct artifact *ret_artifact, bool *ret_made) CR_CHECK;

/* GET /v1/artifacts: struct artifact, newest first, behind `after`. */
enum cr_status artifacts_list(struct cr_call *call, struct service *service,
                              const struct principal *who, const struct artifacts_filter *filter,
                              const char *after, int64_t limit,
                              struct cr_list *ret_artifacts) CR_CHECK;

/* GET /v1/artifacts/{artifact}: by art_… or by sha256:… */
enum cr_status artifacts_get(struct cr_call *call, struct service *service,
                             const struct principal *who, const char *artifact,
                             struct artifact *ret_artifact) CR_CHECK;

/* DELETE /v1/artifacts/{artifact}: its bytes go, for good. */
enum cr_status artifacts_delete(struct cr_call *call, struct service *service,
                                const struct service_ask *ask, const char *artifact) CR_CHECK;

/* PUT /v1/artifacts/{artifact}/content. What is answered has state held once all is here. */
enum cr_status artifacts_put(struct cr_call *call, struct service *service,
                             const struct service_ask *ask, const char *artifact,
                             const struct artifacts_part *part,
                             struct artifact *ret_artifact) CR_CHECK;

/* GET /v1/artifacts/{artifact}/content: an open file, which the caller closes. */
enum cr_status artifacts_open(struct cr_call *call, struct service *service,
                              const struct principal *who, const char *artifact,
                              struct artifact *ret_artifact, struct cr_file *ret_file) CR_CHECK;

/* For nodes, on behalf of the tenant of their lease ------------------------------------------- */

/* Under whose name and on which connection an artifact is read and written. */
struct artifacts_owner {
    const char *tenant;
    const char *job; /* which makes it; NULL: it is pushed */
    struct db *db;   /* service->db for tenants, engine_db for nodes */
    const struct service_ask *ask;
};

/*
 * The upload of these bytes, begun if there is none, with a part of them. The answer has state held
 * once all is here; with part->first CR_NO_INTEGER and size 0 it tells how far it is.
 */
enum cr_status artifacts_receive(struct cr_call *call, struct service *service,
                                 const struct artifacts_owner *owner,
                                 const struct artifact_begin *begin,
                                 const struct artifacts_part *part,
                                 struct artifact *ret_artifact) CR_CHECK;

/* The bytes of a digest that the tenant holds: an open file, which the caller closes. */
enum cr_status artifacts_open_digest(struct cr_call *call, struct service *service,
                                     const struct artifacts_owner *owner, const char *sha256,
                                     struct artifact *ret_artifact,
                                     struct cr_file *ret_file) CR_CHECK;
