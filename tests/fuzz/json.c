/*
 * json: any bytes. What is taken has a canonical form that is taken again and is its own, and what
 * a shape takes is written so that the shape takes it again.
 */
#include "base/core/text.h"
#include "base/json/json.h"

#include <assert.h>
#include <string.h>

struct leaf {
    int64_t count;
};
static const struct cr_member leaf_members[] = {
    CR_MEMBER(struct leaf, count, -5, INT64_MAX, .flags = CR_OPTIONAL),
};
static const struct cr_shape leaf_shape = CR_SHAPE(struct leaf, leaf_members);

static const char *const words[] = {"a", "b", NULL};

struct body {
    const char *w, *t;
    int64_t i, at;
    double x;
    bool b;
    struct leaf *o;
    struct cr_list l;
    struct cr_texts ts;
    struct cr_integers is;
    struct cr_labels lb;
    struct cr_bytes by;
    struct cr_json j;
};
static const struct cr_member body_members[] = {
    CR_WORD(struct body, w, words, .flags = CR_OPTIONAL),
    CR_MEMBER(struct body, t, 0, 60, .flags = CR_NULLABLE | CR_OPTIONAL | CR_PRINTABLE),
    CR_MEMBER(struct body, i, -100, 100, .flags = CR_OPTIONAL),
    CR_TIME(struct body, at, .flags = CR_OPTIONAL),
    CR_MEMBER(struct body, x, -1e300, 1e300, .flags = CR_OPTIONAL),
    CR_MEMBER(struct body, b, 0, 0, .flags = CR_OPTIONAL),
    CR_OBJECT(struct body, o, &leaf_shape, .flags = CR_OPTIONAL),
    CR_LIST(struct body, l, &leaf_shape, 0, 9, .flags = CR_OPTIONAL),
    CR_TEXTS(struct body, ts, 0, 9, .flags = CR_OPTIONAL),
    CR_INTEGERS(struct body, is, 0, 9, -9, 9, .flags = CR_OPTIONAL),
    CR_LABELS(struct body, lb, 9, .flags = CR_OPTIONAL),
    CR_BYTES(struct body, by, 0, 99, .flags = CR_OPTIONAL),
    CR_JSON(struct body, j, 99, .flags = CR_OPTIONAL),
};
static const struct cr_shape body_shape = CR_SHAPE(struct body, body_members);

static void check_canonical(const char *text, size_t size)
{
    static const struct json_limits limits = {.size = 1 << 16, .members = 64, .jcs = true};
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    const struct json_value *value;
    if (json_parse(&call, &limits, text, size, &value) != CR_OK)
        return;
    struct cr_text once = cr_text_open(&call), twice = cr_text_open(&call);
    json_add_canonical(&once, value);
    assert(cr_utf8(once.data, once.length));
    struct json_limits longer = limits;
    longer.size = once.length;
    assert(json_parse(&call, &longer, once.data, once.length, &value) == CR_OK);
    json_add_canonical(&twice, value);
    assert(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
}

static void check_shape(const char *text, size_t size)
{
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    struct body body;
    if (json_read(&call, &body_shape, text, size, &body) != CR_OK) {
        assert(call.code);
        return;
    }
    assert(cr_shape_check(&call, &body_shape, &body) == CR_OK);
    const char *once = json_write(&call, &body_shape, &body);
    assert(json_read(&call, &body_shape, once, strlen(once), &body) == CR_OK);
    const char *twice = json_write(&call, &body_shape, &body);
    assert(strcmp(once, twice) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_canonical((const char *)data, size);
    check_shape((const char *)data, size);
    return 0;
}
