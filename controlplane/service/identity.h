/*
 * identity: who shows what credential. What api asks before anything else of a call.
 *
 * Ownership    the principal lives as long as the call
 * Caching      an answer may be 30 s old at most; a hint drops it sooner (reliability section 9)
 * fails with   cr_code_credential_rejected (unknown and revoked alike), cr_code_credential_expired,
 *              cr_code_session_expired
 */
#pragma once

#include "controlplane/service/service.h"

/*
 * Of "Authorization: Bearer crs_…". A text that is not well formed is refused without a look at the
 * database. A key of scope NODE gives PRINCIPAL_NODE, one of kind opr PRINCIPAL_OPERATOR.
 */
enum cr_status identity_by_key(struct cr_call *call, struct service *service,
                               const char *credential, const struct principal **ret_who) CR_CHECK;

/* Of the console's cookie: the session's 32 random bytes in hex. Tenant or operator. */
enum cr_status identity_by_session(struct cr_call *call, struct service *service,
                                   const char *session, const struct principal **ret_who) CR_CHECK;
