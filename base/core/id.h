/*
 * id: the names of things, PREFIX_ULID, for example "job_01M8RHHQPNQ4ZK9W7V2X5T8RND".
 *
 * A ULID is 48 bits of UTC milliseconds and 80 random bits, in Crockford's base 32, upper case, 26
 * letters; so ids sort by time, and cannot be guessed. Source: github.com/ulid/spec.
 */
#pragma once

#include "base/core/call.h"

#define CR_ID_ULID_LENGTH 26

/* Every kind of id that exists: its prefix, and what people call it. */
#define CR_ID_TABLE(row)                                                                        \
    row(job, "job") row(lse, "lease") row(node, "node") row(tnt, "tenant") row(art, "artifact") \
        row(rec, "usage record") row(inv, "invoice") row(prc, "price") row(evt, "event")        \
            row(key, "key") row(req, "request") row(que, "queue") row(usr, "user")              \
                row(enr, "enrollment")

/* A fresh id of the call's memory. prefix is one of CR_ID_TABLE. */
const char *cr_id(struct cr_call *call, const char *prefix);

/* The same, made of values. */
const char *cr_id_of(struct cr_call *call, const char *prefix, int64_t utc_ms,
                     const unsigned char random[10]);

/* Whether the text is an id of that prefix, exactly as cr_id writes it. */
bool cr_id_is(const char *text, const char *prefix);

/* What people call the kind of a text that looks like an id, for example "job"; NULL: no id. */
const char *cr_id_kind(const char *text);

/* What people call ids of this prefix; NULL: no such prefix. */
const char *cr_id_noun(const char *prefix);

/* A noun with its article, for example "an artifact"; NULL stays NULL. */
const char *cr_id_called(struct cr_call *call, const char *noun);
