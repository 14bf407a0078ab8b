#include "controlplane/service/codes.h"

#define ROW(word_, status_, http_, exit_, retryable_, title_) \
    const struct cr_code service_code_##word_ = {             \
        .word = #word_,                                       \
        .status = (status_),                                  \
        .http = (http_),                                      \
        .exit = (exit_),                                      \
        .retryable = (retryable_),                            \
        .title = (title_),                                    \
    };
SERVICE_CODE_TABLE(ROW)
#undef ROW

#define ROW(word, ...) &service_code_##word,
const struct cr_code *const service_codes[] = {SERVICE_CODE_TABLE(ROW) NULL};
#undef ROW
