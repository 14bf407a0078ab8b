/* text: types and attributes, read and printed. */
#include "kernels/op/op_internal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

enum cr_status op_text_wrong(struct op_text *in, const char *what)
{
    int line = 1;
    for (const char *at = in->start; at < in->at; at++)
        line += *at == '\n';
    return cr_fail(in->call, CR_INVALID, "line %d: %s", line, what);
}

bool op_text_take(struct op_text *in, const char *sign)
{
    for (; isspace((unsigned char)*in->at) || *in->at == '#'; in->at++)
        if (*in->at == '#') {
            in->at += strcspn(in->at, "\n");
            if (*in->at == '\0')
                break;
        }
    size_t length = strlen(sign);
    if (strncmp(in->at, sign, length) != 0)
        return false;
    in->at += length;
    return true;
}

size_t op_text_word(struct op_text *in, const char **ret_word)
{
    size_t length = 0;
    op_text_take(in, "");
    if (!isalpha((unsigned char)*in->at) && *in->at != '_')
        return 0;
    while (isalnum((unsigned char)in->at[length]) || in->at[length] == '_' || in->at[length] == '.')
        length++;
    *ret_word = in->at;
    in->at += length;
    return length;
}

enum cr_status op_text_integer(struct op_text *in, int64_t *ret_value)
{
    char *end;
    op_text_take(in, "");
    if (!isdigit((unsigned char)*in->at) && *in->at != '-')
        return op_text_wrong(in, "an integer is missing");
    errno = 0;
    long long value = strtoll(in->at, &end, 10);
    if (end == in->at || errno != 0)
        return op_text_wrong(in, "no such integer");
    in->at = end;
    *ret_value = value;
    return CR_OK;
}

/* An integer, or the name of an extent. */
static enum cr_status read_extent(struct op_text *in, int64_t *ret_extent)
{
    const char *word;
    size_t length = op_text_word(in, &word);
    if (length == 0) {
        CR_TRY(op_text_integer(in, ret_extent));
        return op_is_named(*ret_extent) ? op_text_wrong(in, "no such integer") : CR_OK;
    }
    int64_t extent = in->extent_of ? in->extent_of(in->context, word, length) : -1;
    if (!op_is_named(extent))
        return op_text_wrong(in, "an unknown extent");
    *ret_extent = extent;
    return CR_OK;
}

enum cr_status op_text_type(struct op_text *in, struct op_type *ret_type)
{
    const char *word;
    size_t length = op_text_word(in, &word);
    struct op_type type = {.dtype = (uint8_t)(length ? dtype_of_name(word, length) : DTYPE_NONE)};
    if (type.dtype == DTYPE_NONE)
        return op_text_wrong(in, "an unknown type");
    if (!op_text_take(in, "["))
        return op_text_wrong(in, "'[' is missing");
    for (bool first = true; !op_text_take(in, "]"); first = false) {
        int64_t extent;
        if (!first && !op_text_take(in, ","))
            return op_text_wrong(in, "',' is missing");
        if (type.rank == TENSOR_RANK_MAX)
            return op_text_wrong(in, "more than 8 dimensions");
        CR_TRY(read_extent(in, &extent));
        if (extent < 0 && !op_is_named(extent))
            return op_text_wrong(in, "a negative extent");
        op_append(&type, extent);
    }
    *ret_type = type;
    return CR_OK;
}

static enum cr_status read_float(struct op_text *in, double *ret_value)
{
    char *end;
    op_text_take(in, "");
    if (op_text_take(in, "nan:")) {
        uint64_t bits = strtoull(in->at, &end, 16);
        memcpy(ret_value, &bits, sizeof bits);
        if (end == in->at || !isnan(*ret_value))
            return op_text_wrong(in, "no such NaN");
    } else {
        if (!isdigit((unsigned char)*in->at) && strchr("-.i", *in->at) == NULL)
            return op_text_wrong(in, "a number is missing");
        *ret_value = strtod(in->at, &end);
        if (end == in->at || isnan(*ret_value))
            return op_text_wrong(in, "a number is missing");
    }
    in->at = end;
    return CR_OK;
}

static enum cr_status read_list(struct op_text *in, struct op_datum *datum)
{
    int64_t list[OP_LIST_MAX];
    int count = 0;
    if (!op_text_take(in, "["))
        return op_text_wrong(in, "'[' is missing");
    while (!op_text_take(in, "]")) {
        if (count > 0 && !op_text_take(in, ","))
            return op_text_wrong(in, "',' is missing");
        if (count == OP_LIST_MAX)
            return op_text_wrong(in, "a list of more than 64 items");
        CR_TRY(read_extent(in, &list[count++]));
    }
    int64_t *copy = cr_new(in->call, int64_t, (size_t)count + 1);
    memcpy(copy, list, sizeof list[0] * (size_t)count);
    datum->count = count;
    datum->list = copy;
    return CR_OK;
}

static enum cr_status read_word(struct op_text *in, const struct op_attr *attr,
                                struct op_datum *datum)
{
    const char *word = "";
    size_t length = op_text_word(in, &word);
    static const char *const truths[] = {"false", "true"};
    const char *const *words = attr->kind == OP_DATUM_BOOL ? truths : attr->words;
    int word_count = attr->kind == OP_DATUM_BOOL ? 2 : attr->word_count;
    datum->integer = -1;
    unsigned dtype = attr->kind == OP_DATUM_DTYPE && length > 0 ? dtype_of_name(word, length) : 0;
    if (dtype != DTYPE_NONE)
        datum->integer = dtype;
    for (int i = 0; attr->kind != OP_DATUM_DTYPE && i < word_count; i++)
        if (strlen(words[i]) == length && memcmp(words[i], word, length) == 0)
            datum->integer = i;
    return datum->integer < 0 ? op_text_wrong(in, "an unknown word") : CR_OK;
}

static enum cr_status read_datum(struct op_text *in, const struct op_attr *attr,
                                 struct op_datum *ret_datum)
{
    struct op_datum datum = {.kind = attr->kind};
    if (attr->kind == OP_DATUM_INT)
        CR_TRY(op_text_integer(in, &datum.integer));
    else if (attr->kind == OP_DATUM_FLOAT)
        CR_TRY(read_float(in, &datum.number));
    else if (attr->kind == OP_DATUM_INTS)
        CR_TRY(read_list(in, &datum));
    else
        CR_TRY(read_word(in, attr, &datum));
    *ret_datum = datum;
    return CR_OK;
}

enum cr_status op_text_attrs(struct op_text *in, const struct op *op, struct op_datum *ret_attrs)
{
    const struct op_signature *signature = &op->signature;
    unsigned seen = 0;
    const char *word;
    for (int i = 0; i < signature->attr_count; i++)
        ret_attrs[i] = signature->attrs[i].standard;
    for (size_t length; (length = op_text_word(in, &word)) > 0;) {
        int at = -1;
        for (int i = 0; i < signature->attr_count; i++)
            if (strlen(signature->attrs[i].name) == length &&
                memcmp(signature->attrs[i].name, word, length) == 0)
                at = i;
        if (at < 0 || seen >> at & 1)
            return op_text_wrong(in, at < 0 ? "an unknown attribute" : "an attribute twice");
        seen |= 1u << at;
        if (!op_text_take(in, "="))
            return op_text_wrong(in, "'=' is missing");
        CR_TRY(read_datum(in, &signature->attrs[at], &ret_attrs[at]));
        if (!op_text_take(in, ","))
            break;
    }
    return CR_OK;
}

typedef const char *extent_namer(void *context, int64_t extent);

static const char *print_extents(struct cr_call *call, const int64_t *list, int count,
                                 extent_namer *extent_name, void *context)
{
    const char *text = "[";
    for (int i = 0; i < count; i++) {
        const char *comma = i > 0 ? ", " : "";
        text = op_is_named(list[i]) && extent_name
                   ? cr_format(call, "%s%s%s", text, comma, extent_name(context, list[i]))
                   : cr_format(call, "%s%s%lld", text, comma, (long long)list[i]);
    }
    return cr_format(call, "%s]", text);
}

const char *op_print_type(struct cr_call *call, const struct op_type *type,
                          extent_namer *extent_name, void *context)
{
    return cr_format(call, "%s%s", dtype_name(type->dtype),
                     print_extents(call, type->dims, type->rank, extent_name, context));
}

static const char *print_float(struct cr_call *call, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? cr_format(call, "nan:%llx", (unsigned long long)bits)
                        : cr_format(call, "%a", value);
}

static bool same_datum(const struct op_datum *a, const struct op_datum *b)
{
    return a->kind == b->kind && a->integer == b->integer && a->count == b->count &&
           memcmp(&a->number, &b->number, sizeof a->number) == 0 &&
           (a->count == 0 || memcmp(a->list, b->list, sizeof a->list[0] * (size_t)a->count) == 0);
}

const char *op_print_attrs(struct cr_call *call, const struct op *op, const struct op_datum *attrs,
                           extent_namer *extent_name, void *context)
{
    const char *text = "";
    for (int i = 0; i < op->signature.attr_count; i++) {
        const struct op_attr *attr = &op->signature.attrs[i];
        const struct op_datum *datum = &attrs[i];
        const char *value;
        if (same_datum(datum, &attr->standard))
            continue;
        if (datum->kind == OP_DATUM_FLOAT)
            value = print_float(call, datum->number);
        else if (datum->kind == OP_DATUM_INTS)
            value = print_extents(call, datum->list, datum->count, extent_name, context);
        else if (datum->kind == OP_DATUM_WORD)
            value = attr->words[datum->integer];
        else if (datum->kind == OP_DATUM_DTYPE)
            value = dtype_name((unsigned)datum->integer);
        else if (datum->kind == OP_DATUM_BOOL)
            value = datum->integer ? "true" : "false";
        else
            value = cr_format(call, "%lld", (long long)datum->integer);
        text = cr_format(call, "%s%s%s = %s", text, *text ? ", " : "", attr->name, value);
    }
    return text;
}
