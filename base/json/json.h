/*
 * json: shapes in and out of JSON, and JSON of no known shape. The only door to jansson.
 *
 * What is read is refused rather than repaired (RFC 8259, and input.1 and input.2 of
 * design/reliability.md): no NUL, no doubled member, no lone surrogate, no number that its type
 * does not hold, nothing behind the value, at most JSON_DEPTH_MAX deep.
 *
 * Ownership    what is read, and what is written, lives as long as the call
 * Failures     invalid_json: it is not JSON at all; invalid_body: members are wrong, and
 * call->faults names all of them, each by its JSON pointer (RFC 6901); body_too_large Threads calls
 * do not share anything
 */
#pragma once

#include "base/core/text.h"

#define JSON_SIZE_MAX    ((size_t)1 << 20) /* bytes of a text, where no limits are given */
#define JSON_MEMBERS_MAX ((size_t)1024)    /* members of one object, where no limits are given */
#define JSON_DEPTH_MAX   32

/* What a text may be at most. A depth above JSON_DEPTH_MAX cannot be had. */
struct json_limits {
    size_t size;    /* in bytes */
    size_t members; /* of one object */
    bool jcs;       /* as RFC 8785 reads: every number a double, and \u0000 is a letter */
};

/* Shapes -------------------------------------------------------------------------------------- */

/*
 * Fills ret_value, a struct of the shape, from a JSON object. Every member must be there unless it
 * is optional, once, of its kind and within its bounds; a member that the shape does not name is
 * refused ("not_known"). All faults are told at once.
 *
 * ret_value    written on success only; its texts live as long as the call
 */
enum cr_status json_read(struct cr_call *call, const struct cr_shape *shape, const char *text,
                         size_t length, void *ret_value) CR_CHECK;

/* The same, under other limits than JSON_SIZE_MAX and JSON_MEMBERS_MAX. */
enum cr_status json_read_within(struct cr_call *call, const struct json_limits *limits,
                                const struct cr_shape *shape, const char *text, size_t length,
                                void *ret_value) CR_CHECK;

/*
 * Changes value, a struct of the shape, by a JSON merge patch (RFC 7396): what the patch leaves out
 * stays, null takes away what is optional or nullable, objects and labels are merged, all else is
 * replaced. The result must fit the shape as a whole.
 *
 * value        changed on success only
 */
enum cr_status json_read_patch(struct cr_call *call, const struct cr_shape *shape, const char *text,
                               size_t length, void *value) CR_CHECK;

/* The JSON object for value, a struct of the shape, which is within its bounds. */
const char *json_write(struct cr_call *call, const struct cr_shape *shape, const void *value);

/* The same, behind what the text already holds. */
void json_add(struct cr_text *text, const struct cr_shape *shape, const void *value);

/* Values of no known shape -------------------------------------------------------------------- */

enum json_kind {
    JSON_KIND_NULL,
    JSON_KIND_BOOLEAN,
    JSON_KIND_INTEGER, /* written without point and exponent, and within int64_t */
    JSON_KIND_NUMBER,  /* any other; -0 is read as 0 */
    JSON_KIND_TEXT,
    JSON_KIND_ARRAY,
    JSON_KIND_OBJECT,
};

struct json_value {
    enum json_kind kind;
    bool boolean;
    int64_t integer;
    double number;                  /* of an integer too */
    const char *text;               /* UTF-8, without NUL but for jcs, with a NUL behind */
    size_t length;                  /* of text, in bytes */
    const char *source;             /* where the value stands, in a copy of the text */
    size_t source_length;           /* and how long it is there */
    const struct json_value *items; /* of an array or an object, in the order of the text */
    const char *const *names;       /* of an object, one for each of the items */
    size_t count;                   /* of the items */
};

/* Reads any JSON value. limits may be NULL. */
enum cr_status json_parse(struct cr_call *call, const struct json_limits *limits, const char *text,
                          size_t length, const struct json_value **ret_value) CR_CHECK;

/* The member of an object; NULL: it has none of that name, or value is NULL or no object. */
const struct json_value *json_member(const struct json_value *value, const char *name);

/* What a JSON pointer leads to, "" being the value itself; NULL: nothing. */
const struct json_value *json_at(const struct json_value *value, const char *pointer);

/* The text of a member of an object; NULL: there is no such member, or it is no text. */
const char *json_member_text(const struct json_value *value, const char *name);

/* Fills ret_value, a struct of the shape, from a value; at is the pointer of the value, "" for all.
 */
enum cr_status json_read_value(struct cr_call *call, const struct cr_shape *shape,
                               const struct json_value *value, const char *at,
                               void *ret_value) CR_CHECK;

/* Adds the value as compact JSON, members in their order. */
void json_add_value(struct cr_text *text, const struct json_value *value);

/* Adds a number: the shortest decimal that reads back as it, as ECMAScript writes it. Finite. */
void json_add_number(struct cr_text *text, double number);

/* Adds a text with its quotes. NULL becomes null. */
void json_add_text(struct cr_text *text, const char *value);

/*
 * Canonical JSON (RFC 8785): equal values have equal bytes. Numbers count as doubles, so integers
 * beyond 2^53 lose their last digits.
 */
void json_add_canonical(struct cr_text *text, const struct json_value *value);
const char *json_canonical(struct cr_call *call, const struct json_value *value);
