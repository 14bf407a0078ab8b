/*
 * log: what a program says on standard error, one JSON object a line.
 *
 * Libraries do not log. The edge logs a call once, when it ends; a program logs what happens to
 * itself (starting, stopping, a lost service). No secret and no body is ever a field.
 *
 * Threads      a line is one write(2), so lines do not mix
 */
#pragma once

#include "base/core/call.h"

/* A further member of a line. */
struct cr_log_field {
    const char *name;
    const char *text; /* NULL: the number counts */
    int64_t number;
};

/*
 * How a call ended: time, status, code, reason, trace, duration_us, and the fields.
 *
 * what         of the call, for example "jobs_submit"
 * started_ns   of the env's now_ns
 */
void cr_log_call(const struct cr_call *call, const char *what, int64_t started_ns,
                 const struct cr_log_field *fields, size_t field_count);

/* What happened to this program: "info", "warning" or "error"; and the fields. */
void cr_log_event(const struct cr_env *env, const char *level, const char *what,
                  const struct cr_log_field *fields, size_t field_count);
