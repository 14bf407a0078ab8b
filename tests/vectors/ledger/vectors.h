/* vectors: the suites of published and sealed cases that the ledger must agree with. */
#pragma once

#include "base/json/json.h"

/* A file of cases, one JSON value a line, or one with a list. check says whether a case agrees. */
struct suite {
    const char *name, *file; /* below the folder of the vectors */
    const char *list;        /* NULL: a value a line; else the member that holds the cases */
    bool (*check)(struct cr_call *call, const char *folder, const struct json_value *file,
                  const struct json_value *one);
};

/* One table for each area; a row without a name ends it. */
extern const struct suite log_suites[], billing_suites[], ground_suites[];

/* Members of a case; what is not there, or of another kind, reads as nothing. */
const char *text_of(const struct json_value *value, const char *name);
int64_t integer_of(const struct json_value *value, const char *name); /* or decimal text; -1 */
bool true_of(const struct json_value *value, const char *name);
struct cr_bytes hex_of(struct cr_call *call, const char *text);
struct cr_bytes base64_of(struct cr_call *call, const char *text);
