/*
 * sessions: the console's logins. A code, made on this machine by whoever may, is shown once in a
 * browser and becomes a session; the session is 32 random bytes, in a cookie.
 *
 * Both are stored as hashes under the session key, so that the database shows neither. A code works
 * once, within SESSIONS_CODE_US. A session ends when it was not used for its idle time, and at the
 * latest after its whole time; operators' sooner.
 *
 * Ownership    texts live as long as the call
 * fails with   cr_code_credential_rejected: the code is unknown, used, or too old
 * Source       surface.md section 4
 */
#pragma once

#include "controlplane/service/service.h"

#define SESSIONS_CODE_LENGTH       9
#define SESSIONS_CODE_US           INT64_C(600000000)
#define SESSIONS_IDLE_US           (12 * INT64_C(3600000000))
#define SESSIONS_WHOLE_US          (7 * 24 * INT64_C(3600000000))
#define SESSIONS_OPERATOR_IDLE_US  INT64_C(3600000000)
#define SESSIONS_OPERATOR_WHOLE_US (12 * INT64_C(3600000000))
#define SESSIONS_HEX_LENGTH        64

/* A session that was opened. */
struct session {
    const char *session; /* hex, for the cookie alone */
    const char *tenant;  /* NULL: the operators' */
    int64_t until;       /* microseconds of UTC */
    int64_t whole_s;     /* how long it lives at most, for the cookie */
};

/* Makes a code for a tenant's console, or, where tenant is NULL, the operators'. */
enum cr_status sessions_code(struct cr_call *call, struct service *service, const char *tenant_name,
                             const char **ret_code) CR_CHECK;

/* POST /v1/session. ask names the request; its principal is whoever asks. */
enum cr_status sessions_open(struct cr_call *call, struct service *service,
                             const struct service_ask *ask, const char *code,
                             struct session *ret_session) CR_CHECK;

/* DELETE /v1/session. One that has ended already is no failure. */
enum cr_status sessions_close(struct cr_call *call, struct service *service,
                              const struct service_ask *ask, const char *session) CR_CHECK;

/* The hash that a session is stored under; false: the text is not one. */
bool sessions_hash(const struct service_config *config, const char *session,
                   unsigned char ret_hash[32]);
