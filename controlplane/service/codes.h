/*
 * codes: the finer words of failures that only the use cases find; what any module may find stands
 * in base/core/codes.h. Source: surface.md, section 3; ledger.md, section 7.
 */
#pragma once

#include "base/core/codes.h"

/* clang-format off */
/* word, class, HTTP, exit of the command line, retryable, title */
#define SERVICE_CODE_TABLE(row)                                                                    \
    row(message_differs,     CR_CONFLICT, 409, 5, false, "Another message has this number")        \
    row(usage_contradiction, CR_CONFLICT, 409, 5, false, "The reading contradicts an earlier one") \
    row(stale_boot,          CR_CONFLICT, 409, 5, false, "A newer start of this node has joined")  \
    row(stale_lease,         CR_CONFLICT, 409, 5, false, "The lease has ended, or was granted anew") \
    row(day_sealed,          CR_CONFLICT, 409, 5, false, "The day of this usage is closed")
/* clang-format on */

/* service_code_stale_lease and its like, one a row. */
#define SERVICE_CODE_DECLARED(word, ...) extern const struct cr_code service_code_##word;
SERVICE_CODE_TABLE(SERVICE_CODE_DECLARED)
#undef SERVICE_CODE_DECLARED

/* All of them; NULL ends them. */
extern const struct cr_code *const service_codes[];
