/* jobs_internal: what the files of jobs share. */
#pragma once

#include "controlplane/service/jobs.h"

#define JOBS_QUEUE_USUAL "default"
#define JOBS_CLASS_USUAL "normal"
#define JOBS_FLAVOR_CPU  "cpu"

/* The jobs of these ids as they are shown, newest first; ids that are not there are left out. */
enum cr_status jobs_read_many(struct cr_call *call, struct db *db,
                              const struct service_config *config, const char *tenant,
                              const char *const *jobs, size_t count,
                              struct cr_list *ret_jobs) CR_CHECK;

/*
 * Whether the spec may be submitted by anybody: what protocol_spec_check says, and the words that
 * the region knows. Notes all faults.
 */
enum cr_status jobs_check(struct cr_call *call, const struct protocol_spec *spec) CR_CHECK;

/*
 * Whether the recipe of a checked spec can be built for the pictures that it names.
 * fails with   protocol_program_rejected
 */
enum cr_status jobs_check_picture(struct cr_call *call, struct service *service,
                                  const struct principal *who,
                                  const struct protocol_spec *spec) CR_CHECK;

/* The flavor that a spec is billed and placed as, for example "cpu" or "gpu-h200". */
const char *jobs_flavor(struct cr_call *call, const struct protocol_spec *spec);

/* How many devices of its flavor the job takes. */
int64_t jobs_devices(const struct protocol_spec *spec);

/* A look at tables in one transaction of who's tenant. */
enum cr_status jobs_look(struct cr_call *call, struct service *service, const struct principal *who,
                         enum cr_status (*work)(struct cr_call *call, struct db *db, void *context),
                         void *context) CR_CHECK;
