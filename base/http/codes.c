/* codes: what the edge answers by itself. */
#include "base/http/http.h"

/* clang-format off */
const struct cr_code
    http_bad_head         = {"bad_head",         CR_INVALID,   400, 2, false, "The head of the request is not well formed"},
    http_wrong_host       = {"wrong_host",       CR_INVALID,   421, 2, false, "This host is not served here"},
    http_target_too_long  = {"target_too_long",  CR_INVALID,   414, 2, false, "The target is longer than its limit"},
    http_head_too_large   = {"head_too_large",   CR_INVALID,   431, 2, false, "The head is longer than its limit"},
    http_coding_unknown   = {"coding_unknown",   CR_INVALID,   501, 2, false, "The transfer coding is not known here"},
    http_version_unknown  = {"version_unknown",  CR_INVALID,   505, 2, false, "Only HTTP/1.1 is spoken here"},
    http_request_timeout  = {"request_timeout",  CR_TIMEOUT,   408, 8, true,  "The request came too slowly"},
    http_method_not_allowed = {"method_not_allowed", CR_INVALID, 405, 2, false, "The method is not offered there"};

const struct cr_code *const http_codes[] = {
    &http_bad_head,        &http_wrong_host,        &http_target_too_long,
    &http_head_too_large,  &http_coding_unknown,    &http_version_unknown, &http_request_timeout,
    &http_method_not_allowed,
    NULL,
};
/* clang-format on */
