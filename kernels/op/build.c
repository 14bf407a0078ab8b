/* build: how meanings and gradients are put together. */
#include "kernels/op/op_internal.h"

struct op_datum op_of_int(int64_t value)
{
    return (struct op_datum){.kind = OP_DATUM_INT, .integer = value};
}

struct op_datum op_of_bool(bool value)
{
    return (struct op_datum){.kind = OP_DATUM_BOOL, .integer = value};
}

struct op_datum op_of_dtype(unsigned dtype)
{
    return (struct op_datum){.kind = OP_DATUM_DTYPE, .integer = dtype};
}

struct op_datum op_of_float(double value)
{
    return (struct op_datum){.kind = OP_DATUM_FLOAT, .number = value};
}

struct op_datum op_of_ints(struct op_builder *to, const int64_t *list, int count)
{
    int64_t *copy = cr_new(to->call, int64_t, (size_t)count + 1);
    for (int i = 0; i < count; i++)
        copy[i] = list[i];
    return (struct op_datum){.kind = OP_DATUM_INTS, .count = count, .list = copy};
}

const struct op_type *op_type_of(struct op_builder *to, op_value value)
{
    static const struct op_type none;
    return value == OP_NO_VALUE ? &none : to->type_of(to, value);
}

/* Attributes after those given are the signature's own. */
static void add(struct op_builder *to, unsigned id, const op_value *inputs, int input_count,
                const struct op_datum *attrs, op_value *ret_outputs)
{
    const struct op *op = op_find(id);
    struct op_type types[OP_INPUTS_MAX];
    struct op_datum filled[OP_ATTRS_MAX];
    for (int i = 0; i < op->signature.output_count; i++)
        ret_outputs[i] = OP_NO_VALUE;
    if (to->call->status != CR_OK)
        return;
    for (int i = 0; i < input_count; i++)
        types[i] = *op_type_of(to, inputs[i]);
    for (int i = 0; i < op->signature.attr_count; i++)
        filled[i] =
            attrs && attrs[i].kind != OP_DATUM_NONE ? attrs[i] : op->signature.attrs[i].standard;
    struct op_site site = {.op = op,
                           .input_count = input_count,
                           .output_count = op->signature.output_count,
                           .inputs = types,
                           .attrs = filled,
                           .values = inputs};
    to->add(to, &site, ret_outputs);
}

op_value op_add_one(struct op_builder *to, unsigned id, const op_value *inputs, int input_count,
                    const struct op_datum *attrs)
{
    op_value outputs[OP_OUTPUTS_MAX];
    add(to, id, inputs, input_count, attrs, outputs);
    return outputs[0];
}

op_value op_unary(struct op_builder *to, unsigned id, op_value x)
{
    return op_add_one(to, id, &x, 1, NULL);
}

op_value op_binary(struct op_builder *to, unsigned id, op_value a, op_value b)
{
    op_value inputs[] = {a, b};
    return op_add_one(to, id, inputs, 2, NULL);
}

op_value op_add(struct op_builder *to, op_value a, op_value b)
{
    return op_binary(to, OP_ADD, a, b);
}

op_value op_sub(struct op_builder *to, op_value a, op_value b)
{
    return op_binary(to, OP_SUB, a, b);
}

op_value op_mul(struct op_builder *to, op_value a, op_value b)
{
    return op_binary(to, OP_MUL, a, b);
}

op_value op_div(struct op_builder *to, op_value a, op_value b)
{
    return op_binary(to, OP_DIV, a, b);
}

op_value op_where(struct op_builder *to, op_value condition, op_value a, op_value b)
{
    op_value inputs[] = {condition, a, b};
    return op_add_one(to, OP_WHERE, inputs, 3, NULL);
}

op_value op_cast(struct op_builder *to, op_value x, unsigned dtype)
{
    struct op_datum type = op_of_dtype(dtype);
    return op_type_of(to, x)->dtype == dtype ? x : op_add_one(to, OP_CAST, &x, 1, &type);
}

op_value op_matmul(struct op_builder *to, op_value a, op_value b)
{
    return op_binary(to, OP_MATMUL, a, b);
}

static bool has_shape(const struct op_type *type, int rank, const int64_t *dims)
{
    return type->rank == rank && memcmp(type->dims, dims, sizeof dims[0] * (size_t)rank) == 0;
}

op_value op_reshape(struct op_builder *to, op_value x, int rank, const int64_t *dims)
{
    struct op_datum shape = op_of_ints(to, dims, rank);
    return has_shape(op_type_of(to, x), rank, dims) ? x : op_add_one(to, OP_RESHAPE, &x, 1, &shape);
}

op_value op_unsqueeze(struct op_builder *to, op_value x, int axis)
{
    const struct op_type *type = op_type_of(to, x);
    int64_t dims[TENSOR_RANK_MAX + 1];
    if (to->call->status != CR_OK || type->rank == TENSOR_RANK_MAX)
        return OP_NO_VALUE;
    int rank = type->rank + 1, at = axis < 0 ? axis + rank : axis;
    for (int i = 0; i < rank; i++)
        dims[i] = i == at ? 1 : type->dims[i < at ? i : i - 1];
    return op_reshape(to, x, rank, dims);
}

op_value op_permute(struct op_builder *to, op_value x, const int *axes)
{
    int64_t list[TENSOR_RANK_MAX];
    int rank = op_type_of(to, x)->rank;
    for (int i = 0; i < rank; i++)
        list[i] = axes[i];
    struct op_datum attr = op_of_ints(to, list, rank);
    return op_add_one(to, OP_TRANSPOSE, &x, 1, &attr);
}

op_value op_transpose(struct op_builder *to, op_value x)
{
    int axes[TENSOR_RANK_MAX], rank = op_type_of(to, x)->rank;
    for (int i = 0; i < rank; i++)
        axes[i] = i;
    if (rank >= 2) {
        axes[rank - 1] = rank - 2;
        axes[rank - 2] = rank - 1;
    }
    return op_permute(to, x, axes);
}

op_value op_expand(struct op_builder *to, op_value x, int rank, const int64_t *dims)
{
    struct op_datum shape = op_of_ints(to, dims, rank);
    return has_shape(op_type_of(to, x), rank, dims) ? x : op_add_one(to, OP_EXPAND, &x, 1, &shape);
}

op_value op_full(struct op_builder *to, unsigned dtype, int rank, const int64_t *dims, double value)
{
    struct op_datum attrs[] = {op_of_ints(to, dims, rank), op_of_dtype(dtype), op_of_float(value)};
    return op_add_one(to, OP_FULL, NULL, 0, attrs);
}

op_value op_scalar(struct op_builder *to, unsigned dtype, double value)
{
    return op_full(to, dtype, 0, NULL, value);
}

op_value op_iota(struct op_builder *to, unsigned dtype, int64_t count)
{
    struct op_datum attrs[] = {op_of_int(count), op_of_dtype(dtype)};
    return op_add_one(to, OP_IOTA, NULL, 0, attrs);
}

op_value op_reduce(struct op_builder *to, unsigned id, op_value x, unsigned axes, bool keep)
{
    int64_t list[TENSOR_RANK_MAX];
    int count = 0;
    for (int i = 0; i < TENSOR_RANK_MAX; i++)
        if (axes >> i & 1)
            list[count++] = i;
    struct op_datum attrs[] = {op_of_ints(to, list, count), op_of_bool(keep)};
    return op_add_one(to, id, &x, 1, attrs);
}

op_value op_reduce_sum(struct op_builder *to, op_value x, int axis)
{
    int at = axis < 0 ? axis + op_type_of(to, x)->rank : axis;
    return op_reduce(to, OP_REDUCE_SUM, x, 1u << (at < 0 ? 0 : at), false);
}

op_value op_sum_like(struct op_builder *to, op_value x, op_value like)
{
    const struct op_type from = *op_type_of(to, x), target = *op_type_of(to, like);
    int more = from.rank - target.rank;
    unsigned axes = 0;
    if (to->call->status != CR_OK)
        return OP_NO_VALUE;
    for (int i = 0; i < from.rank; i++)
        if (i < more || (target.dims[i - more] == 1 && from.dims[i] != 1))
            axes |= 1u << i;
    op_value sum = axes == 0 ? x : op_reduce(to, OP_REDUCE_SUM, x, axes, false);
    return op_reshape(to, sum, target.rank, target.dims);
}

op_value op_slice(struct op_builder *to, op_value x, int axis, int64_t start, int64_t count,
                  int64_t step)
{
    struct op_datum attrs[] = {op_of_int(axis), op_of_int(start), op_of_int(count),
                               op_of_int(step)};
    return op_add_one(to, OP_SLICE, &x, 1, attrs);
}

op_value op_window_along(struct op_builder *to, op_value x, int axis, int64_t size, int64_t step)
{
    struct op_datum attrs[] = {op_of_int(axis), op_of_int(size), op_of_int(step)};
    return op_add_one(to, OP_WINDOW, &x, 1, attrs);
}

op_value op_fold_along(struct op_builder *to, op_value x, int axis, int64_t extent, int64_t step)
{
    struct op_datum attrs[] = {op_of_int(axis), op_of_int(extent), op_of_int(step)};
    return op_add_one(to, OP_FOLD, &x, 1, attrs);
}

op_value op_pad(struct op_builder *to, op_value x, const int64_t *before, const int64_t *after,
                double value)
{
    int rank = op_type_of(to, x)->rank;
    bool none = true;
    for (int i = 0; i < rank; i++)
        none = none && before[i] == 0 && after[i] == 0;
    struct op_datum attrs[] = {op_of_ints(to, before, rank), op_of_ints(to, after, rank),
                               op_of_float(value)};
    return none ? x : op_add_one(to, OP_PAD, &x, 1, attrs);
}

op_value op_windows(struct op_builder *to, op_value x, const struct op_window *window, double value)
{
    int64_t before[] = {0, 0, window->before[0], window->before[1]};
    int64_t after[] = {0, 0, window->after[0], window->after[1]};
    op_value padded = op_pad(to, x, before, after, value);
    op_value down = op_window_along(to, padded, 2, window->kernel[0], window->stride[0]);
    return op_window_along(to, down, 3, window->kernel[1], window->stride[1]);
}

op_value op_unwindows(struct op_builder *to, op_value windows, const struct op_window *window,
                      int64_t height, int64_t width)
{
    int64_t tall = height + window->before[0] + window->after[0];
    int64_t wide = width + window->before[1] + window->after[1];
    op_value down = op_fold_along(to, windows, 3, wide, window->stride[1]);
    op_value whole = op_fold_along(to, down, 2, tall, window->stride[0]);
    if (tall != height)
        whole = op_slice(to, whole, 2, window->before[0], height, 1);
    return wide != width ? op_slice(to, whole, 3, window->before[1], width, 1) : whole;
}

struct op_window op_built_window(struct op_builder *to, const struct op_site *site,
                                 const struct op_type *image, const int64_t kernel[2])
{
    struct op_window window = {{1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}};
    if (to->call->status == CR_OK)
        to->call->status = op_window_of(to->call, site, image, kernel, &window);
    return window; /* after a failure nothing will be added */
}
