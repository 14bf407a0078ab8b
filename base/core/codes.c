#include "base/core/codes.h"

#define DEFINED(word_, status_, http_, exit_, retryable_, title_) \
    const struct cr_code cr_code_##word_ = {#word_, status_, http_, exit_, retryable_, title_};
CR_CODE_TABLE(DEFINED)

#define LISTED(word, ...) &cr_code_##word,
const struct cr_code *const cr_codes[] = {CR_CODE_TABLE(LISTED) NULL};

/* What a failure is called that nobody gave a finer word. */
const struct cr_code *cr_code_of(const struct cr_call *call)
{
    static const struct cr_code *const plain[] = {
        [CR_INVALID] = &cr_code_invalid_body,
        [CR_UNAUTHENTICATED] = &cr_code_credential_rejected,
        [CR_DENIED] = &cr_code_permission_denied,
        [CR_NOT_FOUND] = &cr_code_not_found,
        [CR_CONFLICT] = &cr_code_state_forbids,
        [CR_TOO_LARGE] = &cr_code_body_too_large,
        [CR_MISMATCH] = &cr_code_idempotency_key_reused,
        [CR_EXHAUSTED] = &cr_code_quota_exceeded,
        [CR_INTERNAL] = &cr_code_internal,
        [CR_UNAVAILABLE] = &cr_code_unavailable,
        [CR_UNKNOWN] = &cr_code_outcome_unknown,
        [CR_TIMEOUT] = &cr_code_deadline_exceeded,
    };
    return call->code ? call->code : plain[call->status];
}
