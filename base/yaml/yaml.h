/*
 * yaml: what a person wrote in YAML, as JSON, with the place of every member. The only door to
 * libyaml.
 *
 * The result means what the text means under the core schema of YAML 1.2, so "no" and "on" are
 * texts. What JSON cannot say, or what hides work from the reader, is refused: anchors, aliases,
 * tags, a second document, keys that are no texts or stand twice, infinities, numbers beyond 64
 * bits. JSON is read too, since it is YAML.
 *
 * Units        lines and columns begin at 1; a column counts characters
 * Ownership    everything belongs to the call
 * Threads      any; nothing is shared
 * Source       yaml.org/spec/1.2.2, section 10.3; RFC 6901 for the pointers
 */
#pragma once

#include "base/core/call.h"

#define YAML_SIZE_MAX   (1 << 20) /* bytes of a text */
#define YAML_DEPTH_MAX  32        /* of nested lists and objects */
#define YAML_NODES_MAX  65536     /* scalars, lists and objects of a text */
#define YAML_OBJECT_MAX 4096      /* members of one object */

/* Where a value stands. */
struct yaml_mark {
    const char *pointer; /* JSON pointer, "" for the root */
    size_t line, column;
};

struct yaml_document {
    const char *json; /* UTF-8 with a NUL behind, members in the order of the text */
    size_t length;
    const struct yaml_mark *marks; /* one for each value, the root first */
    size_t mark_count;
};

/*
 * Reads one document of length bytes. An empty one is null.
 *
 * fails with   CR_INVALID      the reason is "LINE:COLUMN: what is wrong"
 *              CR_TOO_LARGE    more than YAML_SIZE_MAX bytes
 */
enum cr_status yaml_read(struct cr_call *call, const char *text, size_t length,
                         struct yaml_document *ret_document) CR_CHECK;

/* The mark of the pointer, or of the nearest parent that stands in the text. */
const struct yaml_mark *yaml_mark_of(const struct yaml_document *document, const char *pointer);

/* Whether a plain scalar of these letters would be read as a text, and not as a number or word. */
bool yaml_reads_as_text(const char *text);
