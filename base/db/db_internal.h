/* db_internal: what the files of base/db share. */
#pragma once

#include "base/db/db.h"

/* The text form of a value that is sent as text; DB_BYTES is sent as it is, and never comes here.
 */
const char *db_value_text(struct cr_call *call, const struct db_value *value);
