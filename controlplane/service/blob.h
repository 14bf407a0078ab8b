/*
 * blob: the files that artifacts are: TENANT/ARTIFACT, and TENANT/ARTIFACT.part while one comes.
 * They bear the artifact's id, not its digest, so that what is being deleted cannot take with it
 * what is pushed anew. All of it is done outside of transactions.
 */
#pragma once

#include "controlplane/service/artifacts.h"

/* Opens the bytes of an artifact. CR_NOT_FOUND: they are not here. The caller closes the file. */
enum cr_status blob_open(struct cr_call *call, const struct service_config *config,
                         const char *tenant, const char *artifact,
                         struct cr_file *ret_file) CR_CHECK;

/* Writes a part to its place in the upload's file, and syncs it. */
enum cr_status blob_write(struct cr_call *call, const struct service_config *config,
                          const char *tenant, const char *artifact,
                          const struct artifacts_part *part) CR_CHECK;

/*
 * Makes the upload's file the bytes of the digest. *ret_good false: they are others, and the file
 * is gone. A file that is in its place already, from a run that was cut off behind the renaming, is
 * looked at instead.
 */
enum cr_status blob_finish(struct cr_call *call, const struct service_config *config,
                           const char *tenant, const char *artifact, const char *sha256,
                           int64_t size, bool *ret_good) CR_CHECK;

/* Removes the bytes of an artifact, and the file of its upload; those that are gone are no failure.
 */
enum cr_status blob_remove(struct cr_call *call, const struct service_config *config,
                           const char *tenant, const char *artifact) CR_CHECK;

/* cr_code_read_only where less is free than must stay free. */
enum cr_status blob_room(struct cr_call *call, const struct service_config *config) CR_CHECK;
