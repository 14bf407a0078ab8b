/*
 * codes: the words for failures that any module may find. Those that only one module finds stand
 * with it. Source: design/surface.md, section 3. A word that has been told stays.
 */
#pragma once

#include "base/core/call.h"

/* clang-format off */
/* word, class, HTTP, exit of the command line, retryable, title */
#define CR_CODE_TABLE(row)                                                                         \
    row(invalid_json,            CR_INVALID,         400, 2, false, "The body is not JSON")        \
    row(invalid_body,            CR_INVALID,         400, 2, false, "Members of the body are wrong") \
    row(invalid_parameter,       CR_INVALID,         400, 2, false, "A parameter is wrong")        \
    row(invalid_header,          CR_INVALID,         400, 2, false, "A header field is wrong")     \
    row(wrong_id_kind,           CR_INVALID,         400, 2, false, "The id names another kind of thing") \
    row(cursor_invalid,          CR_INVALID,         400, 2, false, "The cursor is not of this list") \
    row(idempotency_key_missing, CR_INVALID,         400, 2, false, "An Idempotency-Key is required") \
    row(reason_missing,          CR_INVALID,         400, 2, false, "A Cresset-Reason is required") \
    row(bad_signature,           CR_INVALID,         400, 2, false, "The signature does not verify") \
    row(credential_missing,      CR_UNAUTHENTICATED, 401, 4, false, "A credential is required")    \
    row(credential_rejected,     CR_UNAUTHENTICATED, 401, 4, false, "The credential is not valid") \
    row(credential_expired,      CR_UNAUTHENTICATED, 401, 4, false, "The credential has expired")  \
    row(session_expired,         CR_UNAUTHENTICATED, 401, 4, false, "The session has ended")       \
    row(permission_denied,       CR_DENIED,          403, 4, false, "A permission is missing")     \
    row(wrong_tenant,            CR_DENIED,          403, 4, false, "The credential is of another tenant") \
    row(tenant_suspended,        CR_DENIED,          403, 4, false, "The tenant is suspended")     \
    row(csrf_rejected,           CR_DENIED,          403, 4, false, "The request does not come from our console") \
    row(not_found,               CR_NOT_FOUND,       404, 3, false, "There is no such thing")      \
    row(no_such_route,           CR_NOT_FOUND,       404, 3, false, "There is no such route")      \
    row(already_exists,          CR_CONFLICT,        409, 5, false, "It exists already")           \
    row(state_forbids,           CR_CONFLICT,        409, 5, false, "Its state does not allow this") \
    row(upload_mismatch,         CR_CONFLICT,        409, 5, false, "The upload does not go on here") \
    row(idempotency_in_progress, CR_CONFLICT,        409, 5, true,  "A request with this key is running") \
    row(history_expired,         CR_CONFLICT,        410, 5, false, "The history no longer goes back so far") \
    row(version_mismatch,        CR_CONFLICT,        412, 5, false, "It has changed since it was read") \
    row(body_too_large,          CR_TOO_LARGE,       413, 2, false, "The body is too large")       \
    row(precondition_missing,    CR_INVALID,         428, 5, false, "An If-Match is required")     \
    row(idempotency_key_reused,  CR_MISMATCH,        422, 5, false, "The key stands for another request") \
    row(rate_limited,            CR_EXHAUSTED,       429, 6, true,  "Too many requests")           \
    row(quota_exceeded,          CR_EXHAUSTED,       429, 6, false, "A quota is used up")          \
    row(too_many_streams,        CR_EXHAUSTED,       429, 6, false, "Too many streams are open")   \
    row(internal,                CR_INTERNAL,        500, 7, false, "Something is broken on our side") \
    row(overloaded,              CR_UNAVAILABLE,     503, 7, true,  "The service is overloaded")   \
    row(unavailable,             CR_UNAVAILABLE,     503, 7, true,  "A service that this needs does not answer") \
    row(draining,                CR_UNAVAILABLE,     503, 7, true,  "This server is going away")   \
    row(read_only,               CR_UNAVAILABLE,     503, 7, true,  "Nothing new is taken at the moment") \
    row(outcome_unknown,         CR_UNKNOWN,         503, 7, true,  "Done or not: ask again with the same key") \
    row(deadline_exceeded,       CR_TIMEOUT,         504, 8, true,  "It took too long")
/* clang-format on */

#define CR_CODE_DECLARED(word, ...) extern const struct cr_code cr_code_##word;
CR_CODE_TABLE(CR_CODE_DECLARED)
#undef CR_CODE_DECLARED

/* All of them; NULL ends them. */
extern const struct cr_code *const cr_codes[];

/* The word of a failure: of its code, or, where it has none, of its status. */
const struct cr_code *cr_code_of(const struct cr_call *call);
