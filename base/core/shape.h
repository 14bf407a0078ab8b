/*
 * shape: a struct, as the outside sees it.
 *
 * A shape lists the members of a struct that travel, under their own names and within their bounds.
 * One table serves every border: base/json reads and writes it, base/db fills it from a row whose
 * columns bear the same names, and the reference of the REST interface is printed from it. So a
 * name or a bound is said once, by the owner of the struct. The kind of a member is taken from its
 * C type where the type tells it, so that the two cannot differ:
 *
 *     macro        C type            travels as
 *     CR_MEMBER    int64_t           an integer; min and max bound its value. Where max is above
 *                                    2^53 - 1 it travels as a decimal text, of itself
 *                  const char *      a text in UTF-8 without NUL; min and max bound its bytes
 *                  bool              true or false; no bounds
 *                  double            a finite number; min and max bound it
 *     CR_WORD      const char *      a text out of a list of words
 *     CR_ID        const char *      an id of one prefix
 *     CR_TIME      int64_t           microseconds of UTC, as RFC 3339 with six decimals and Z
 *     CR_BYTES     struct cr_bytes   base64; min and max bound the bytes
 *     CR_OBJECT    T *               a nested object of a shape
 *     CR_LIST      struct cr_list    an array of objects of a shape; min and max bound the count
 *     CR_TEXTS     struct cr_texts   an array of texts; max bounds the count
 *     CR_INTEGERS  struct cr_integers an array of integers; min and max bound the count, low and
 *                                    high each of them
 *     CR_LABELS    struct cr_labels  an object of short texts; max bounds the count
 *     CR_JSON      struct cr_json    any JSON, kept as it was sent; max bounds its bytes
 *
 * Optional members. With CR_OPTIONAL a member may be left out, with CR_NULLABLE it may be null;
 * read so, it becomes the absent value of its type: CR_NO_INTEGER, NULL, NAN, false, a count of
 * zero or a text of NULL. Written, an absent value is null (CR_NULLABLE), or left out
 * (CR_OPTIONAL).
 *
 * Texts that people read. With CR_PRINTABLE a text must be fit for one line without surprise: no
 * control, no bidirectional control, nothing of no width (cr_printable).
 *
 * Threads: shapes are constants.
 */
#pragma once

#include "base/core/call.h"

#define CR_NO_INTEGER INT64_MIN

enum cr_kind {
    CR_KIND_INTEGER,
    CR_KIND_TEXT,
    CR_KIND_BOOLEAN,
    CR_KIND_NUMBER,
    CR_KIND_WORD,
    CR_KIND_ID,
    CR_KIND_TIME,
    CR_KIND_BYTES,
    CR_KIND_OBJECT,
    CR_KIND_LIST,
    CR_KIND_TEXTS,
    CR_KIND_INTEGERS,
    CR_KIND_LABELS,
    CR_KIND_JSON,
};

enum { CR_REQUIRED = 0, CR_OPTIONAL = 1, CR_NULLABLE = 2, CR_PRINTABLE = 4 };

struct cr_bytes {
    const unsigned char *data;
    size_t size;
};
struct cr_list {
    void *items; /* count structs of the member's shape, one behind the other */
    size_t count;
};
struct cr_texts {
    const char *const *items;
    size_t count;
};
struct cr_integers {
    const int64_t *items; /* each a safe integer */
    size_t count;
};
struct cr_label {
    const char *name, *value;
};
struct cr_labels {
    const struct cr_label *items; /* sorted by name */
    size_t count;
};
struct cr_json {
    const char *text; /* UTF-8, NUL behind; NULL: absent */
    size_t length;
};

#define CR_LABEL_NAME_MAX  63                        /* bytes of a label's name */
#define CR_LABEL_VALUE_MAX 255                       /* bytes of a label's value */
#define CR_TEXTS_ITEM_MAX  255                       /* bytes of one text of CR_TEXTS */
#define CR_SAFE_INTEGER    INT64_C(9007199254740991) /* 2^53 - 1 */

struct cr_shape;

struct cr_member {
    const char *name;
    enum cr_kind kind;
    unsigned flags;
    size_t offset;
    int64_t min, max;
    double low, high;             /* of CR_KIND_NUMBER, and of each of CR_KIND_INTEGERS */
    const char *const *words;     /* of CR_KIND_WORD; NULL ends them */
    const char *prefix;           /* of CR_KIND_ID */
    const struct cr_shape *shape; /* of CR_KIND_OBJECT, CR_KIND_LIST */
    const char *about;            /* one sentence for the reference; may be NULL */
};

struct cr_shape {
    const char *name; /* of the schema in the reference, for example "Job"; NULL: none of its own */
    size_t size;      /* of the struct, in bytes */
    const struct cr_member *members;
    size_t member_count;
};

/* clang-format off */
#define CR_MEMBER(type, member, min_, max_, ...)                                                \
    {                                                                                           \
        .name = #member, .offset = offsetof(type, member),                                      \
        .min = (int64_t)(min_), .max = (int64_t)(max_), .low = (double)(min_),                  \
        .high = (double)(max_),                                                                 \
        .kind = _Generic(((type *)0)->member, int64_t: CR_KIND_INTEGER,                         \
                         const char *: CR_KIND_TEXT, bool: CR_KIND_BOOLEAN,                     \
                         double: CR_KIND_NUMBER),                                               \
        __VA_ARGS__                                                                             \
    }
#define CR_OF(type, member, c_type, kind_, ...)                                                 \
    {                                                                                           \
        .name = #member, .kind = (kind_),                                                       \
        .offset = offsetof(type, member) + 0 * sizeof(_Generic(((type *)0)->member, c_type: 0)),\
        __VA_ARGS__                                                                             \
    }
#define CR_WORD(type, member, words_, ...)                                                      \
    CR_OF(type, member, const char *, CR_KIND_WORD, .words = (words_), __VA_ARGS__)
#define CR_ID(type, member, prefix_, ...)                                                       \
    CR_OF(type, member, const char *, CR_KIND_ID, .prefix = (prefix_), __VA_ARGS__)
#define CR_TIME(type, member, ...)                                                              \
    CR_OF(type, member, int64_t, CR_KIND_TIME, __VA_ARGS__)
#define CR_BYTES(type, member, min_, max_, ...)                                                 \
    CR_OF(type, member, struct cr_bytes, CR_KIND_BYTES, .min = (min_), .max = (max_), __VA_ARGS__)
#define CR_OBJECT(type, member, shape_, ...)                                                    \
    {                                                                                           \
        .name = #member, .kind = CR_KIND_OBJECT, .offset = offsetof(type, member),              \
        .shape = (shape_), __VA_ARGS__                                                          \
    }
#define CR_LIST(type, member, shape_, min_, max_, ...)                                          \
    CR_OF(type, member, struct cr_list, CR_KIND_LIST, .shape = (shape_), .min = (min_),         \
          .max = (max_), __VA_ARGS__)
#define CR_TEXTS(type, member, min_, max_, ...)                                                 \
    CR_OF(type, member, struct cr_texts, CR_KIND_TEXTS, .min = (min_), .max = (max_), __VA_ARGS__)
#define CR_INTEGERS(type, member, min_, max_, low_, high_, ...)                                 \
    CR_OF(type, member, struct cr_integers, CR_KIND_INTEGERS, .min = (min_), .max = (max_),     \
          .low = (double)(low_), .high = (double)(high_), __VA_ARGS__)
#define CR_LABELS(type, member, max_, ...)                                                      \
    CR_OF(type, member, struct cr_labels, CR_KIND_LABELS, .max = (max_), __VA_ARGS__)
#define CR_JSON(type, member, max_, ...)                                                        \
    CR_OF(type, member, struct cr_json, CR_KIND_JSON, .max = (max_), __VA_ARGS__)

#define CR_SHAPE(type, table, ...)                                                              \
    {                                                                                           \
        .size = sizeof(type), .members = (table),                                               \
        .member_count = sizeof(table) / sizeof((table)[0]), __VA_ARGS__                         \
    }
/* clang-format on */

/* Whether the member of value holds the absent value of its type. */
bool cr_shape_absent(const struct cr_member *member, const void *value);

/* Gives the member of value the absent value of its type. */
void cr_shape_set_absent(const struct cr_member *member, void *value);

/*
 * Whether every member of value, a struct of the shape, is within its bounds; nested ones too. All
 * faults are noted in the call (cr_fault), each under the pointer of its member below at, which is
 * "" for the root; the result is the number of those found here.
 */
size_t cr_shape_faults(struct cr_call *call, const struct cr_shape *shape, const void *value,
                       const char *at);

/*
 * The same as one failure: CR_INVALID, the reason being the first fault, which begins with the
 * member's name. For values that no client sent.
 */
enum cr_status cr_shape_check(struct cr_call *call, const struct cr_shape *shape,
                              const void *value) CR_CHECK;
