/* view: the same elements in another arrangement, and what makes elements out of nothing. */
#include "kernels/op/op_internal.h"

#include <math.h>

static enum cr_status dims_of(struct cr_call *call, const struct op_site *site, const char *name,
                              struct op_type *ret_type)
{
    const struct op_datum *shape = op_attr(site, name);
    if (shape->count > TENSOR_RANK_MAX)
        return cr_fail(call, CR_INVALID, "%s: %s has more than %d items", site->op->row->name, name,
                       TENSOR_RANK_MAX);
    struct op_type type = {.dtype = ret_type->dtype};
    for (int i = 0; i < shape->count; i++) {
        if (shape->list[i] < 0 && !op_is_named(shape->list[i]))
            return cr_fail(call, CR_INVALID, "%s: %s[%d] is negative", site->op->row->name, name,
                           i);
        op_append(&type, shape->list[i]);
    }
    *ret_type = type;
    return CR_OK;
}

/* The product of the counts, and the sum of the names: equal sets of names have equal sums. */
static enum cr_status volume(struct cr_call *call, const struct op_type *type, int64_t *ret_count,
                             int64_t names[TENSOR_RANK_MAX], int *ret_names)
{
    int64_t count = 1;
    int found = 0;
    for (int i = 0; i < type->rank; i++) {
        if (op_is_named(type->dims[i])) {
            int at = found++;
            for (; at > 0 && names[at - 1] > type->dims[i]; at--)
                names[at] = names[at - 1];
            names[at] = type->dims[i];
        } else if (__builtin_mul_overflow(count, type->dims[i], &count)) {
            return cr_fail(call, CR_INVALID, "a shape of too many elements");
        }
    }
    *ret_count = count;
    *ret_names = found;
    return CR_OK;
}

static enum cr_status reshape_infer(struct cr_call *call, const struct op_site *site,
                                    struct op_type *ret_y)
{
    CR_TRY(dims_of(call, site, "shape", ret_y));
    int64_t from, to, from_names[TENSOR_RANK_MAX], to_names[TENSOR_RANK_MAX];
    int from_named, to_named;
    CR_TRY(volume(call, &site->inputs[0], &from, from_names, &from_named));
    CR_TRY(volume(call, ret_y, &to, to_names, &to_named));
    bool same = from == to && from_named == to_named;
    for (int i = 0; same && i < from_named; i++)
        same = from_names[i] == to_names[i];
    return same ? CR_OK
                : cr_fail(call, CR_INVALID,
                          "reshape: the shapes differ in their number of elements");
}

static void reshape_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                        op_value *ret_dx)
{
    ret_dx[0] = op_reshape(to, dy[0], site->inputs[0].rank, site->inputs[0].dims);
}

static enum cr_status transpose_infer(struct cr_call *call, const struct op_site *site,
                                      struct op_type *ret_y)
{
    const struct op_type *x = &site->inputs[0];
    const struct op_datum *axes = op_attr(site, "axes");
    struct op_type y = {.dtype = ret_y->dtype};
    unsigned seen = 0;
    if (axes->count != x->rank)
        return cr_fail(call, CR_INVALID, "transpose: axes must have %d items", x->rank);
    for (int i = 0; i < x->rank; i++) {
        if (axes->list[i] < 0 || axes->list[i] >= x->rank || seen >> axes->list[i] & 1)
            return cr_fail(call, CR_INVALID, "transpose: axes must be a permutation");
        seen |= 1u << axes->list[i];
        op_append(&y, x->dims[axes->list[i]]);
    }
    *ret_y = y;
    return CR_OK;
}

static void transpose_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                          op_value *ret_dx)
{
    const struct op_datum *axes = op_attr(site, "axes");
    int back[TENSOR_RANK_MAX];
    for (int i = 0; i < axes->count; i++)
        back[axes->list[i]] = i;
    ret_dx[0] = op_permute(to, dy[0], back);
}

static enum cr_status expand_infer(struct cr_call *call, const struct op_site *site,
                                   struct op_type *ret_y)
{
    const struct op_type *x = &site->inputs[0];
    CR_TRY(dims_of(call, site, "shape", ret_y));
    int more = ret_y->rank - x->rank;
    if (more < 0)
        return cr_fail(call, CR_INVALID, "expand: shape has fewer dimensions than x");
    for (int i = 0; i < x->rank; i++)
        if (x->dims[i] != 1)
            CR_TRY(op_dims_equal(call, "x", x->dims[i], "shape", ret_y->dims[i + more]));
    return CR_OK;
}

static void expand_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                       op_value *ret_dx)
{
    ret_dx[0] = op_sum_like(to, dy[0], site->values[0]);
}

static enum cr_status slice_infer(struct cr_call *call, const struct op_site *site,
                                  struct op_type *ret_y)
{
    const struct op_type *x = &site->inputs[0];
    int axis;
    CR_TRY(op_axis(call, op_attr_int(site, "axis"), x->rank, &axis));
    int64_t start = op_attr_int(site, "start"), count = op_attr_int(site, "count");
    int64_t step = op_attr_int(site, "step"), extent = x->dims[axis], last;
    CR_TRY(op_count(call, "the sliced axis", extent));
    if (start < 0 || count < 0 || step < 1 || start > extent ||
        (count > 0 && (__builtin_mul_overflow(count - 1, step, &last) ||
                       __builtin_add_overflow(last, start, &last) || last >= extent)))
        return cr_fail(call, CR_INVALID, "slice: start, count and step leave the axis");
    unsigned dtype = ret_y->dtype;
    *ret_y = *x;
    ret_y->dtype = (uint8_t)dtype;
    ret_y->dims[axis] = count;
    return CR_OK;
}

/* Spread by the step, then padded to where it had been. */
static void slice_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                      op_value *ret_dx)
{
    const struct op_type *x = &site->inputs[0];
    int64_t axis = op_attr_int(site, "axis");
    int64_t start = op_attr_int(site, "start"), count = op_attr_int(site, "count");
    int64_t step = op_attr_int(site, "step"), length = count > 0 ? (count - 1) * step + 1 : 0;
    int at = (int)(axis < 0 ? axis + x->rank : axis);
    int64_t before[TENSOR_RANK_MAX] = {0}, after[TENSOR_RANK_MAX] = {0};
    before[at] = start;
    after[at] = x->dims[at] - start - length;
    op_value spread = step == 1 || count == 0
                          ? dy[0]
                          : op_fold_along(to, op_unsqueeze(to, dy[0], -1), at, length, step);
    ret_dx[0] = op_pad(to, spread, before, after, 0);
}

static enum cr_status window_infer(struct cr_call *call, const struct op_site *site,
                                   struct op_type *ret_y)
{
    const struct op_type *x = &site->inputs[0];
    int axis;
    CR_TRY(op_axis(call, op_attr_int(site, "axis"), x->rank, &axis));
    int64_t size = op_attr_int(site, "size"), step = op_attr_int(site, "step");
    CR_TRY(op_count(call, "the axis of windows", x->dims[axis]));
    if (size < 1 || step < 1 || size > x->dims[axis] || x->rank == TENSOR_RANK_MAX)
        return cr_fail(call, CR_INVALID, "window: size and step do not fit the axis");
    unsigned dtype = ret_y->dtype;
    *ret_y = *x;
    ret_y->dtype = (uint8_t)dtype;
    ret_y->dims[axis] = (x->dims[axis] - size) / step + 1;
    op_append(ret_y, size);
    return CR_OK;
}

static void window_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                       op_value *ret_dx)
{
    const struct op_type *x = &site->inputs[0];
    int64_t axis = op_attr_int(site, "axis");
    int at = (int)(axis < 0 ? axis + x->rank : axis);
    ret_dx[0] = op_fold_along(to, dy[0], at, x->dims[at], op_attr_int(site, "step"));
}

static enum cr_status fold_infer(struct cr_call *call, const struct op_site *site,
                                 struct op_type *ret_y)
{
    const struct op_type *x = &site->inputs[0];
    int axis;
    CR_TRY(op_rank_at_least(call, site, 2));
    CR_TRY(op_axis(call, op_attr_int(site, "axis"), x->rank - 1, &axis));
    int64_t extent = op_attr_int(site, "extent"), step = op_attr_int(site, "step");
    int64_t size = op_dim(x, -1), reach;
    CR_TRY(op_count(call, "the folded axis", x->dims[axis]));
    CR_TRY(op_count(call, "the windows", size));
    if (step < 1 || extent < 0 || extent > TENSOR_DIM_MAX || size < 1 ||
        __builtin_mul_overflow(x->dims[axis] - 1, step, &reach) ||
        __builtin_add_overflow(reach, size, &reach) || (x->dims[axis] > 0 && reach > extent))
        return cr_fail(call, CR_INVALID, "fold: the windows leave the extent");
    struct op_type y = *x;
    y.dtype = ret_y->dtype;
    y.rank--;
    y.dims[y.rank] = 0;
    y.dims[axis] = extent;
    *ret_y = y;
    return CR_OK;
}

static void fold_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                     op_value *ret_dx)
{
    const struct op_type *x = &site->inputs[0];
    int64_t axis = op_attr_int(site, "axis"), step = op_attr_int(site, "step");
    int at = (int)(axis < 0 ? axis + x->rank - 1 : axis);
    int64_t used = (x->dims[at] - 1) * step + op_dim(x, -1);
    op_value from =
        used == op_attr_int(site, "extent") ? dy[0] : op_slice(to, dy[0], at, 0, used, 1);
    ret_dx[0] = op_window_along(to, from, at, op_dim(x, -1), step);
}

static enum cr_status pad_infer(struct cr_call *call, const struct op_site *site,
                                struct op_type *ret_y)
{
    const struct op_type *x = &site->inputs[0];
    const struct op_datum *before = op_attr(site, "before"), *after = op_attr(site, "after");
    if (before->count != x->rank || after->count != x->rank)
        return cr_fail(call, CR_INVALID, "pad: before and after must have %d items", x->rank);
    struct op_type y = *x;
    y.dtype = ret_y->dtype;
    for (int i = 0; i < x->rank; i++) {
        int64_t front = before->list[i], back = after->list[i];
        if (front < 0 || back < 0 || front > TENSOR_DIM_MAX || back > TENSOR_DIM_MAX)
            return cr_fail(call, CR_INVALID, "pad: before and after must be 0 to 2^48");
        if (front == 0 && back == 0)
            continue;
        CR_TRY(op_count(call, "a padded axis", x->dims[i]));
        y.dims[i] = x->dims[i] + front + back;
    }
    *ret_y = y;
    return CR_OK;
}

static void pad_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                    op_value *ret_dx)
{
    const struct op_type *x = &site->inputs[0];
    const struct op_datum *before = op_attr(site, "before"), *after = op_attr(site, "after");
    op_value dx = dy[0];
    for (int i = 0; i < x->rank; i++)
        if (before->list[i] != 0 || after->list[i] != 0)
            dx = op_slice(to, dx, i, before->list[i], x->dims[i], 1);
    ret_dx[0] = dx;
}

static enum cr_status full_infer(struct cr_call *call, const struct op_site *site,
                                 struct op_type *ret_y)
{
    return dims_of(call, site, "shape", ret_y);
}

static enum cr_status iota_infer(struct cr_call *call, const struct op_site *site,
                                 struct op_type *ret_y)
{
    struct op_type y = {.dtype = ret_y->dtype};
    int64_t count = op_attr_int(site, "count");
    if (count < 0 || count > TENSOR_DIM_MAX)
        return cr_fail(call, CR_INVALID, "iota: count must be 0 to 2^48");
    op_append(&y, count);
    *ret_y = y;
    return CR_OK;
}

#define SAMPLE(name, in, with) \
    static const struct op_sample name[] = {{.inputs = (in), .attrs = (with)}, {0}}
SAMPLE(reshapes, "f32[3, 4, 5]", "shape = [12, 5]");
SAMPLE(transposes, "f32[3, 4, 5]", "axes = [2, 0, 1]");
SAMPLE(expands, "f32[3, 1]", "shape = [2, 3, 4]");
SAMPLE(slices, "f32[9, 4]", "axis = 0, start = 1, count = 3, step = 3");
SAMPLE(windows, "f32[2, 9]", "axis = 1, size = 3, step = 2");
SAMPLE(folds, "f32[2, 4, 3]", "axis = 1, extent = 10, step = 2");
SAMPLE(pads, "f32[3, 4]", "before = [1, 0], after = [0, 2], value = 0.5");
SAMPLE(fulls, "", "shape = [3, 5], type = f32, value = 1.5");
SAMPLE(iotas, "", "count = 17, type = f32");
SAMPLE(copies, "f32[3, 4, 5]", NULL);

const struct op_row op_view_rows[] = {
    {.id = OP_RESHAPE,
     .name = "reshape",
     .kind = OP_VIEW,
     .infer = reshape_infer,
     .signature = "(x: T; shape: ints) -> (y: T); T: any",
     .vjp = reshape_vjp,
     .onnx = {{"Reshape", 5}},
     .samples = reshapes},
    {.id = OP_TRANSPOSE,
     .name = "transpose",
     .kind = OP_VIEW,
     .infer = transpose_infer,
     .signature = "(x: T; axes: ints) -> (y: T); T: any",
     .vjp = transpose_vjp,
     .onnx = {{"Transpose", 1}},
     .samples = transposes},
    {.id = OP_EXPAND,
     .name = "expand",
     .kind = OP_VIEW,
     .infer = expand_infer,
     .signature = "(x: T; shape: ints) -> (y: T); T: any",
     .vjp = expand_vjp,
     .onnx = {{"Expand", 8}},
     .samples = expands},
    {.id = OP_SLICE,
     .name = "slice",
     .kind = OP_VIEW,
     .infer = slice_infer,
     .signature = "(x: T; axis: int, start: int, count: int, step: int = 1) -> (y: T); T: any",
     .vjp = slice_vjp,
     .onnx = {{"Slice", 10}},
     .samples = slices},
    {.id = OP_WINDOW,
     .name = "window",
     .kind = OP_VIEW,
     .infer = window_infer,
     .signature = "(x: T; axis: int, size: int, step: int = 1) -> (y: T); T: any",
     .vjp = window_vjp,
     .samples = windows},
    {.id = OP_PAD,
     .name = "pad",
     .kind = OP_INDEX,
     .infer = pad_infer,
     .signature = "(x: T; before: ints, after: ints, value: float = 0) -> (y: T); T: any",
     .vjp = pad_vjp,
     .onnx = {{"Pad", 13}},
     .samples = pads},
    /* The adjoint of window: y[i * step + j] = sum of x[i][j]. */
    {.id = OP_FOLD,
     .name = "fold",
     .kind = OP_INDEX,
     .infer = fold_infer,
     .signature = "(x: T; axis: int, extent: int, step: int = 1) -> (y: T); T: float",
     .vjp = fold_vjp,
     .samples = folds},
    {.id = OP_FULL,
     .name = "full",
     .kind = OP_INDEX,
     .flags = OP_NO_GRADIENT,
     .infer = full_infer,
     .signature = "(; shape: ints, type: dtype, value: float) -> (y: type)",
     .onnx = {{"ConstantOfShape", 9}},
     .samples = fulls},
    {.id = OP_IOTA,
     .name = "iota",
     .kind = OP_INDEX,
     .flags = OP_NO_GRADIENT,
     .infer = iota_infer,
     .signature = "(; count: int, type: dtype) -> (y: type)",
     .samples = iotas},
    {.id = OP_COPY,
     .name = "copy",
     .kind = OP_POINTWISE,
     .formula = {"x"},
     .signature = "(x: T) -> (y: T); T: any",
     .onnx = {{"Identity", 1}},
     .samples = copies},
    {0},
};
