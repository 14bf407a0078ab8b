/* artifacts_internal: what the files of artifacts share. */
#pragma once

#include "controlplane/service/artifacts.h"
#include "controlplane/service/artifacts_sql.h"

/* The 32 bytes of 64 digits; false: it is something else. */
bool artifacts_digest(const char *sha256, unsigned char ret_digest[32]);

/* One artifact, by art_… or sha256:…, in the open transaction; cr_code_not_found. */
enum cr_status artifacts_find(struct cr_call *call, struct db *db, const char *tenant,
                              const char *artifact, struct artifact *ret_artifact) CR_CHECK;

/* The same in a transaction of its own. */
enum cr_status artifacts_read(struct cr_call *call, const struct artifacts_owner *owner,
                              const char *artifact, struct artifact *ret_artifact) CR_CHECK;

/* Begins an upload, or finds what is there already, in the open transaction. */
enum cr_status artifacts_begin_in(struct cr_call *call, struct db *db,
                                  const struct artifacts_owner *owner,
                                  const struct artifact_begin *begin, struct artifact *ret_artifact,
                                  bool *ret_made) CR_CHECK;

/* The leaf and the event of a change. */
enum cr_status artifacts_tell(struct cr_call *call, struct db *db,
                              const struct artifacts_owner *owner, const char *action,
                              const char *before, const struct artifact *artifact) CR_CHECK;
