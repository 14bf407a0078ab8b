/*
 * head: whether the head of a request is what it says it is.
 *
 * Pure. It is given the bytes of each field as libmicrohttpd parsed them, and the size that the
 * head had on the wire; the two must agree (rule 5), which shows what the parser takes in silence:
 * bare LF, folded lines, NUL bytes. A tripwire, not a proof: in production only nginx speaks to us.
 *
 * Source    surface.md section 1; RFC 9110 section 5, RFC 9112 sections 2 to 7
 */
#pragma once

#include "base/core/call.h"

struct http_span {
    const char *bytes;
    size_t size;
};

struct http_head {
    struct http_span method, target, version; /* "HTTP/1.1" */
    const struct http_span *names;            /* one of each for a field */
    const struct http_span *values;
    size_t field_count;
    size_t wire_size; /* of the head, with its empty line */
};

/*
 * The verdict on a head. hosts is the allow-list, NULL ends it. NULL: the head is good; otherwise
 * the code, with ret_why as one sentence, static.
 */
const struct cr_code *http_head_check(const struct http_head *head, const char *const *hosts,
                                      const char **ret_why);

/*
 * Decodes the path of a target, which ends at '?', once, into path of at least size + 1 bytes.
 * False: it is not a path that we serve.
 */
bool http_path_decode(const char *target, size_t size, char *ret_path);
