/* node_internal: what the files of node share. */
#pragma once

#include "base/core/text.h"
#include "base/core/time.h"
#include "controlplane/service/node.h"
#include "controlplane/service/node_sql.h"
#include "policy/provenance/provenance.h"
#include "policy/tlog/tlog.h"

#include <string.h>

/* What every signed message of a lease begins with. */
struct node_head {
    const char *node, *boot, *lease;
    int64_t lease_epoch, seq;
};
#define NODE_HEAD(message)                                                                         \
    &(const struct node_head)                                                                      \
    {                                                                                              \
        (message)->node, (message)->boot, (message)->lease, (message)->lease_epoch, (message)->seq \
    }

/* Whether the one signature of the envelope is by the key. */
bool node_signed_by(struct cr_call *call, const struct protocol_envelope *envelope,
                    const struct tlog_vkey *vkey);

/*
 * Whether a message speaks of this lease, from this boot, in its newest epoch.
 * fails with cr_code_invalid_body, service_code_stale_boot, service_code_stale_lease
 */
enum cr_status node_fence(struct cr_call *call, const struct node_lease *lease,
                          const struct node_head *head, const char *boot) CR_CHECK;

/*
 * Ends a live lease without an end of its job: its devices are free from now on, and the job is
 * queued again or ends by its losses (jobs_lose). In the open transaction.
 */
enum cr_status node_lose(struct cr_call *call, struct db *db, const struct service_config *config,
                         const struct node_lease *lease, const char *state, const char *word,
                         const char *detail) CR_CHECK;
