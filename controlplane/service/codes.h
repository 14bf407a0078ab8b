/*
 * codes: the finer words of failures that the use cases find (surface.md, section 3). Those of the
 * edge itself, such as bad_head, are controlplane/api's. One row a code: its word, the status that
 * C tests, HTTP, exit of the command line, whether asking again may help, and its title.
 */
#pragma once

#include "base/core/call.h"

/* clang-format off */
#define SERVICE_CODE_TABLE(row)                                                                     \
    row(invalid_body,            CR_INVALID,         400, 2, false, "The body is not what this operation takes")       \
    row(invalid_parameter,       CR_INVALID,         400, 2, false, "A parameter of the request is wrong")             \
    row(wrong_id_kind,           CR_INVALID,         400, 2, false, "An id is of another kind than asked for")         \
    row(cursor_invalid,          CR_INVALID,         400, 2, false, "The cursor was not made for this list")           \
    row(bad_signature,           CR_INVALID,         400, 2, false, "A signature does not verify")                     \
    row(credential_rejected,     CR_UNAUTHENTICATED, 401, 4, false, "The credential is not known here")                \
    row(credential_expired,      CR_UNAUTHENTICATED, 401, 4, false, "The credential has expired")                      \
    row(session_expired,         CR_UNAUTHENTICATED, 401, 4, false, "The session has ended")                           \
    row(permission_denied,       CR_DENIED,          403, 4, false, "The credential lacks a permission")               \
    row(tenant_suspended,        CR_DENIED,          403, 4, false, "The tenant is suspended")                         \
    row(not_found,               CR_NOT_FOUND,       404, 3, false, "What was named does not exist")                   \
    row(already_exists,          CR_CONFLICT,        409, 5, false, "Something of that name exists already")           \
    row(state_forbids,           CR_CONFLICT,        409, 5, false, "Its present state does not allow this")           \
    row(upload_mismatch,         CR_CONFLICT,        409, 5, false, "The bytes do not continue what is held")          \
    row(idempotency_in_progress, CR_CONFLICT,        409, 5, true,  "The same request is still being worked on")       \
    row(message_differs,         CR_CONFLICT,        409, 5, false, "Another message was accepted under this number")  \
    row(usage_contradiction,     CR_CONFLICT,        409, 5, false, "The reading contradicts an earlier one")          \
    row(stale_boot,              CR_CONFLICT,        409, 5, false, "A newer start of this node has joined")           \
    row(stale_lease,             CR_CONFLICT,        409, 5, false, "The lease has ended or a newer one was granted")  \
    row(day_sealed,              CR_CONFLICT,        409, 5, false, "The day of this usage is closed")                 \
    row(history_expired,         CR_CONFLICT,        410, 5, false, "Events that old are no longer kept")              \
    row(version_mismatch,        CR_CONFLICT,        412, 5, false, "It was changed by somebody else first")           \
    row(body_too_large,          CR_TOO_LARGE,       413, 2, false, "The body is longer than its limit")               \
    row(idempotency_key_reused,  CR_MISMATCH,        422, 5, false, "The key was used for another request")            \
    row(program_rejected,        CR_INVALID,         422, 2, false, "The program does not pass its verifier")          \
    row(quota_exceeded,          CR_EXHAUSTED,       429, 6, false, "A limit of the tenant is reached")                \
    row(unavailable,             CR_UNAVAILABLE,     503, 7, true,  "A service that is needed does not answer")        \
    row(read_only,               CR_UNAVAILABLE,     503, 7, true,  "The region takes no new work at present")         \
    row(outcome_unknown,         CR_UNKNOWN,         503, 7, true,  "Done or not: send it again with the same key")
/* clang-format on */

/* service_not_found and its like, one a row. */
#define SERVICE_CODE_DECLARE(word, status, http, exit, retryable, title) \
    extern const struct cr_code service_##word;
SERVICE_CODE_TABLE(SERVICE_CODE_DECLARE)
#undef SERVICE_CODE_DECLARE

/* All of them, for the reference; NULL ends it. */
extern const struct cr_code *const service_codes[];
