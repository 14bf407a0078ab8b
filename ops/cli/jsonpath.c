/*
 * A part of JSONPath (RFC 9535) that shells need: $, .name, ['name'], [0], [-1], [*], .*, and
 * ..name. No filters and no slices.
 */
#include "ops/cli/cli.h"

#include "base/core/parse.h"

#define NODES_MAX 4096 /* values that one step may find */

struct found {
    const struct json_value *values[NODES_MAX];
    size_t count;
};

static void add(struct found *found, const struct json_value *value)
{
    if (value && found->count < NODES_MAX)
        found->values[found->count++] = value;
}

static void add_children(struct found *found, const struct json_value *value)
{
    for (size_t i = 0; i < value->count; i++)
        add(found, &value->items[i]);
}

/* Depth is bounded by what json_parse takes. */
static void add_descendants(struct found *found, const struct json_value *value, const char *name)
{
    add(found, json_member(value, name));
    for (size_t i = 0; i < value->count; i++)
        add_descendants(found, &value->items[i], name);
}

static void step_name(const struct found *from, const char *name, bool deep, struct found *to)
{
    for (size_t i = 0; i < from->count; i++) {
        if (deep)
            add_descendants(to, from->values[i], name);
        else if (strcmp(name, "*") == 0)
            add_children(to, from->values[i]);
        else
            add(to, json_member(from->values[i], name));
    }
}

static void step_index(const struct found *from, int64_t index, struct found *to)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct json_value *value = from->values[i];
        int64_t at = index < 0 ? (int64_t)value->count + index : index;
        if (value->kind == JSON_KIND_ARRAY && at >= 0 && at < (int64_t)value->count)
            add(to, &value->items[at]);
    }
}

/* One step in brackets; *at stands behind the '['. */
static bool step_bracket(struct cr_call *call, const char **at, const struct found *from,
                         struct found *to)
{
    size_t length = strcspn(*at, "]");
    const char *inner = cr_copy(call, *at, length);
    int64_t index;
    if ((*at)[length] != ']')
        return false;
    *at += length + 1;
    if (strcmp(inner, "*") == 0)
        step_name(from, "*", false, to);
    else if (cr_parse_integer(inner, length, -(int64_t)NODES_MAX, NODES_MAX, &index))
        step_index(from, index, to);
    else if (length >= 3 && (inner[0] == '\'' || inner[0] == '"') && inner[length - 1] == inner[0])
        step_name(from, cr_copy(call, inner + 1, length - 2), false, to);
    else
        return false;
    return true;
}

static bool step_dot(struct cr_call *call, const char **at, const struct found *from,
                     struct found *to)
{
    bool deep = **at == '.';
    *at += deep;
    size_t length = strcspn(*at, ".[");
    if (length == 0)
        return false;
    step_name(from, cr_copy(call, *at, length), deep, to);
    *at += length;
    return true;
}

enum cr_status cli_jsonpath(struct cr_call *call, const struct json_value *root,
                            const char *expression, const struct json_value **ret_values,
                            size_t max, size_t *ret_count)
{
    struct found *from = cr_new(call, struct found, 1), *to = cr_new(call, struct found, 1);
    const char *at = expression;
    add(from, root);
    if (*at == '$')
        at++;
    else if (*at != '.' && *at != '[')
        at = cr_format(call, ".%s", expression);
    while (*at) {
        to->count = 0;
        char kind = *at++;
        bool fine = kind == '[' ? step_bracket(call, &at, from, to)
                                : kind == '.' && step_dot(call, &at, from, to);
        if (!fine)
            return cr_fail(call, CR_INVALID, "'%s' is no JSONPath that is understood here",
                           expression);
        struct found *swap = from;
        from = to;
        to = swap;
    }
    *ret_count = from->count < max ? from->count : max;
    memcpy(ret_values, from->values, *ret_count * sizeof *ret_values);
    return CR_OK;
}
