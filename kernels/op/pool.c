/* pool: each window of a picture becomes one number. */
#include "kernels/op/op_internal.h"

#include <math.h>

static enum cr_status pool_infer(struct cr_call *call, const struct op_site *site,
                                 struct op_type *ret_y)
{
    const struct op_datum *kernel = op_attr(site, "kernel");
    CR_TRY(op_rank_is(call, site, 0, 4));
    if (kernel->count != 2)
        return cr_fail(call, CR_INVALID, "%s: kernel must have 2 items", site->op->row->name);
    struct op_window window;
    CR_TRY(op_window_of(call, site, &site->inputs[0], kernel->list, &window));
    unsigned dtype = ret_y->dtype;
    *ret_y = site->inputs[0];
    ret_y->dtype = (uint8_t)dtype;
    ret_y->dims[2] = window.out[0];
    ret_y->dims[3] = window.out[1];
    return CR_OK;
}

static struct op_window window_of(struct op_builder *to, const struct op_site *site)
{
    return op_built_window(to, site, &site->inputs[0], op_attr(site, "kernel")->list);
}

static void max_pool_meaning(struct op_builder *to, const struct op_site *site, op_value *ret_y)
{
    struct op_window window = window_of(to, site);
    *ret_y = op_reduce(to, OP_REDUCE_MAX, op_windows(to, site->values[0], &window, -INFINITY),
                       1u << 4 | 1u << 5, false);
}

static void max_pool_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                         op_value *ret_dx)
{
    op_value inputs[] = {site->values[0], dy[0]};
    ret_dx[0] = op_add_one(to, OP_MAX_POOL_GRADIENT, inputs, 2, site->attrs);
}

static enum cr_status max_pool_gradient_infer(struct cr_call *call, const struct op_site *site,
                                              struct op_type *ret_dx)
{
    struct op_type y = *ret_dx;
    CR_TRY(pool_infer(call, site, &y));
    CR_TRY(op_rank_is(call, site, 1, 4));
    for (int i = 0; i < 4; i++)
        CR_TRY(op_dims_equal(call, "windows", y.dims[i], "dy", site->inputs[1].dims[i]));
    unsigned dtype = ret_dx->dtype;
    *ret_dx = site->inputs[0];
    ret_dx->dtype = (uint8_t)dtype;
    return CR_OK;
}

/* dy goes to the first place of its window that is the largest. */
static void max_pool_gradient_meaning(struct op_builder *to, const struct op_site *site,
                                      op_value *ret_dx)
{
    const struct op_type *x = &site->inputs[0], *dy = &site->inputs[1];
    struct op_window window = window_of(to, site);
    int64_t places = window.kernel[0] * window.kernel[1];
    int64_t flat[] = {dy->dims[0], dy->dims[1], dy->dims[2], dy->dims[3], places};
    int64_t whole[] = {dy->dims[0], dy->dims[1],      dy->dims[2],
                       dy->dims[3], window.kernel[0], window.kernel[1]};

    op_value windows = op_windows(to, site->values[0], &window, -INFINITY);
    windows = op_reshape(to, windows, 5, flat);
    op_value largest = op_reduce(to, OP_REDUCE_MAX, windows, 1u << 4, true);
    op_value order = op_iota(to, x->dtype, places);
    op_value is = op_binary(to, OP_EQUAL, windows, largest);
    op_value late = op_scalar(to, x->dtype, (double)places);
    op_value first = op_reduce(to, OP_REDUCE_MIN, op_where(to, is, order, late), 1u << 4, true);
    op_value one = op_cast(to, op_binary(to, OP_EQUAL, order, first), x->dtype);
    op_value spread = op_mul(to, one, op_unsqueeze(to, site->values[1], -1));
    *ret_dx = op_unwindows(to, op_reshape(to, spread, 6, whole), &window, x->dims[2], x->dims[3]);
}

static void average_pool_meaning(struct op_builder *to, const struct op_site *site, op_value *ret_y)
{
    struct op_window window = window_of(to, site);
    *ret_y = op_reduce(to, OP_REDUCE_MEAN, op_windows(to, site->values[0], &window, 0),
                       1u << 4 | 1u << 5, false);
}

/* Each place of a window gets an equal part of dy. */
static void average_pool_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                             op_value *ret_dx)
{
    const struct op_type *x = &site->inputs[0], *y = &site->outputs[0];
    struct op_window window = window_of(to, site);
    double places = (double)(window.kernel[0] * window.kernel[1]);
    op_value part = op_mul(to, dy[0], op_scalar(to, x->dtype, 1 / places));
    int64_t ones[] = {y->dims[0], y->dims[1], y->dims[2], y->dims[3], 1, 1};
    int64_t whole[] = {y->dims[0], y->dims[1],       y->dims[2],
                       y->dims[3], window.kernel[0], window.kernel[1]};
    op_value spread = op_expand(to, op_reshape(to, part, 6, ones), 6, whole);
    ret_dx[0] = op_unwindows(to, spread, &window, x->dims[2], x->dims[3]);
}

static const struct op_sample pools[] = {
    {.inputs = "f32[2, 3, 8, 6]", .attrs = "kernel = [2, 2], stride = [2, 2]"},
    {.inputs = "f32[2, 3, 7, 9]", .attrs = "kernel = [3, 2], stride = [2, 1], pad = [1, 0, 1, 1]"},
    {.inputs = "f32[3, 17, 28, 28]", .attrs = "kernel = [2, 2], stride = [2, 2]"},
    {.inputs = "f32[1, 1, 7, 7]", .attrs = "kernel = [3, 3], stride = [3, 3]"},
    {0}};
static const struct op_sample gradients[] = {
    {.inputs = "f32[2, 3, 8, 6] f32[2, 3, 4, 3]", .attrs = "kernel = [2, 2], stride = [2, 2]"},
    {.inputs = "f32[2, 3, 7, 9] f32[2, 3, 4, 9]",
     .attrs = "kernel = [3, 2], stride = [2, 1], pad = [1, 0, 1, 1]"},
    {.inputs = "f32[3, 17, 28, 28] f32[3, 17, 14, 14]",
     .attrs = "kernel = [2, 2], stride = [2, 2]"},
    {0}};

#define PLACE "kernel: ints, stride: ints, pad: ints = [0, 0, 0, 0]"

const struct op_row op_pool_rows[] = {
    {.id = OP_MAX_POOL,
     .name = "max_pool",
     .kind = OP_OPAQUE,
     .signature = "(x: T[n, c, h, w]; " PLACE ") -> (y: T[n, c, i, j]); T: float",
     .infer = pool_infer,
     .meaning = max_pool_meaning,
     .vjp = max_pool_vjp,
     .onnx = {{"MaxPool", 12}},
     .samples = pools},
    {.id = OP_MAX_POOL_GRADIENT,
     .name = "max_pool_gradient",
     .kind = OP_OPAQUE,
     .flags = OP_NO_GRADIENT,
     .signature =
         "(x: T[n, c, h, w], dy: T[n, c, i, j]; " PLACE ") -> (dx: T[n, c, h, w]); T: float",
     .infer = max_pool_gradient_infer,
     .meaning = max_pool_gradient_meaning,
     .samples = gradients},
    {.id = OP_AVERAGE_POOL,
     .name = "average_pool",
     .kind = OP_OPAQUE,
     .signature = "(x: T[n, c, h, w]; " PLACE ") -> (y: T[n, c, i, j]); T: float",
     .infer = pool_infer,
     .meaning = average_pool_meaning,
     .vjp = average_pool_vjp,
     .onnx = {{"AveragePool", 19}},
     .samples = pools},
    {0},
};
