/*
 * conv: two-dimensional convolution (cross-correlation, as in ONNX), and its two gradients.
 *
 *     y[n][o][i][j] = bias[o] + sum over c, a, b of
 *                     x[n][c][i * stride + a - pad][j * stride + b - pad] * w[o][c][a][b]
 */
#include "kernels/op/op_internal.h"

static enum cr_status conv_infer(struct cr_call *call, const struct op_site *site,
                                 struct op_type *ret_y)
{
    const struct op_type *x = &site->inputs[0], *w = &site->inputs[1];
    CR_TRY(op_rank_is(call, site, 0, 4));
    CR_TRY(op_rank_is(call, site, 1, 4));
    CR_TRY(op_dims_equal(call, "channels of x", x->dims[1], "channels of w", w->dims[1]));
    if (site->input_count > 2 && site->inputs[2].dtype != DTYPE_NONE) {
        CR_TRY(op_rank_is(call, site, 2, 1));
        CR_TRY(op_dims_equal(call, "outputs of w", w->dims[0], "bias", site->inputs[2].dims[0]));
    }
    struct op_window window;
    CR_TRY(op_window_of(call, site, x, &w->dims[2], &window));

    struct op_type y = {.dtype = ret_y->dtype};
    op_append(&y, x->dims[0]);
    op_append(&y, w->dims[0]);
    op_append(&y, window.out[0]);
    op_append(&y, window.out[1]);
    *ret_y = y;
    return CR_OK;
}

/* Windows [n, 1, c, i, j, a, b] times weights [o, c, 1, 1, a, b], summed over c, a, b. */
static void conv_meaning(struct op_builder *to, const struct op_site *site, op_value *ret_y)
{
    const struct op_type *x = &site->inputs[0], *w = &site->inputs[1];
    struct op_window window = op_built_window(to, site, x, &w->dims[2]);
    op_value windows = op_unsqueeze(to, op_windows(to, site->values[0], &window, 0), 1);
    int64_t dims[] = {w->dims[0], w->dims[1], 1, 1, w->dims[2], w->dims[3]};
    op_value weights = op_reshape(to, site->values[1], 6, dims);
    op_value y = op_reduce(to, OP_REDUCE_SUM, op_mul(to, windows, weights),
                           1u << 2 | 1u << 5 | 1u << 6, false);
    if (site->input_count > 2 && site->values[2] != OP_NO_VALUE) {
        int64_t across[] = {1, w->dims[0], 1, 1};
        y = op_add(to, y, op_reshape(to, site->values[2], 4, across));
    }
    *ret_y = y;
}

static void conv_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                     op_value *ret_gradients)
{
    const struct op_type *x = &site->inputs[0], *w = &site->inputs[1];
    op_value for_input[] = {dy[0], site->values[1]};
    struct op_datum input_attrs[] = {op_of_int(x->dims[2]), op_of_int(x->dims[3]), site->attrs[0],
                                     site->attrs[1]};
    op_value for_weight[] = {site->values[0], dy[0]};
    struct op_datum weight_attrs[] = {op_of_ints(to, &w->dims[2], 2), site->attrs[0],
                                      site->attrs[1]};
    ret_gradients[0] = op_add_one(to, OP_CONV_INPUT_GRADIENT, for_input, 2, input_attrs);
    ret_gradients[1] = op_add_one(to, OP_CONV_WEIGHT_GRADIENT, for_weight, 2, weight_attrs);
    if (site->input_count > 2)
        ret_gradients[2] =
            site->values[2] == OP_NO_VALUE
                ? OP_NO_VALUE
                : op_reduce(to, OP_REDUCE_SUM, dy[0], 1u << 0 | 1u << 2 | 1u << 3, false);
}

/* The type of x that a gradient belongs to, from [n, o, i, j], [o, c, a, b] and the attributes. */
static struct op_type image_of(const struct op_site *site)
{
    struct op_type x = {.dtype = site->inputs[0].dtype};
    op_append(&x, site->inputs[0].dims[0]);
    op_append(&x, site->inputs[1].dims[1]);
    op_append(&x, op_attr_int(site, "height"));
    op_append(&x, op_attr_int(site, "width"));
    return x;
}

static enum cr_status fits(struct cr_call *call, const struct op_type *dy,
                           const struct op_window *window)
{
    CR_TRY(op_dims_equal(call, "rows of dy", dy->dims[2], "windows down", window->out[0]));
    return op_dims_equal(call, "columns of dy", dy->dims[3], "windows across", window->out[1]);
}

static enum cr_status input_gradient_infer(struct cr_call *call, const struct op_site *site,
                                           struct op_type *ret_dx)
{
    const struct op_type *dy = &site->inputs[0], *w = &site->inputs[1];
    CR_TRY(op_rank_is(call, site, 0, 4));
    CR_TRY(op_rank_is(call, site, 1, 4));
    CR_TRY(op_dims_equal(call, "channels of dy", dy->dims[1], "outputs of w", w->dims[0]));
    if (op_attr_int(site, "height") < 0 || op_attr_int(site, "width") < 0)
        return cr_fail(call, CR_INVALID, "%s: height and width must be 0 or more",
                       site->op->row->name);
    struct op_type dx = image_of(site);
    dx.dtype = ret_dx->dtype;
    struct op_window window;
    CR_TRY(op_window_of(call, site, &dx, &w->dims[2], &window));
    CR_TRY(fits(call, dy, &window));
    *ret_dx = dx;
    return CR_OK;
}

/* What each place of each window gets, dy[n, o, 1, i, j, 1, 1] w[o, c, 1, 1, a, b], added back. */
static void input_gradient_meaning(struct op_builder *to, const struct op_site *site,
                                   op_value *ret_dx)
{
    const struct op_type *dy = &site->inputs[0], *w = &site->inputs[1];
    struct op_type x = image_of(site);
    struct op_window window = op_built_window(to, site, &x, &w->dims[2]);
    int64_t across[] = {dy->dims[0], dy->dims[1], 1, dy->dims[2], dy->dims[3], 1, 1};
    int64_t weights[] = {w->dims[0], w->dims[1], 1, 1, w->dims[2], w->dims[3]};
    op_value products = op_mul(to, op_reshape(to, site->values[0], 7, across),
                               op_reshape(to, site->values[1], 6, weights));
    *ret_dx = op_unwindows(to, op_reduce_sum(to, products, 1), &window, x.dims[2], x.dims[3]);
}

static enum cr_status weight_gradient_infer(struct cr_call *call, const struct op_site *site,
                                            struct op_type *ret_dw)
{
    const struct op_type *x = &site->inputs[0], *dy = &site->inputs[1];
    const struct op_datum *kernel = op_attr(site, "kernel");
    CR_TRY(op_rank_is(call, site, 0, 4));
    CR_TRY(op_rank_is(call, site, 1, 4));
    CR_TRY(op_dims_equal(call, "pictures of x", x->dims[0], "pictures of dy", dy->dims[0]));
    if (kernel->count != 2)
        return cr_fail(call, CR_INVALID, "%s: kernel must have 2 items", site->op->row->name);
    struct op_window window;
    CR_TRY(op_window_of(call, site, x, kernel->list, &window));
    CR_TRY(fits(call, dy, &window));

    struct op_type dw = {.dtype = ret_dw->dtype};
    op_append(&dw, dy->dims[1]);
    op_append(&dw, x->dims[1]);
    op_append(&dw, kernel->list[0]);
    op_append(&dw, kernel->list[1]);
    *ret_dw = dw;
    return CR_OK;
}

/* dw[o, c, a, b] = sum over n, i, j of windows[n, 1, c, i, j, a, b] dy[n, o, 1, i, j, 1, 1]. */
static void weight_gradient_meaning(struct op_builder *to, const struct op_site *site,
                                    op_value *ret_dw)
{
    const struct op_type *x = &site->inputs[0], *dy = &site->inputs[1];
    struct op_window window = op_built_window(to, site, x, op_attr(site, "kernel")->list);
    op_value windows = op_unsqueeze(to, op_windows(to, site->values[0], &window, 0), 1);
    int64_t across[] = {dy->dims[0], dy->dims[1], 1, dy->dims[2], dy->dims[3], 1, 1};
    op_value products = op_mul(to, windows, op_reshape(to, site->values[1], 7, across));
    *ret_dw = op_reduce(to, OP_REDUCE_SUM, products, 1u << 0 | 1u << 3 | 1u << 4, false);
}

static const struct op_sample convs[] = {
    {.inputs = "f32[2, 3, 7, 6] f32[4, 3, 3, 3] f32[4]", .attrs = "pad = [1, 1, 1, 1]"},
    {.inputs = "f32[1, 1, 5, 5] f32[2, 1, 5, 5]"},
    {.inputs = "f32[3, 2, 9, 8] f32[5, 2, 1, 1] f32[5]"},
    {.inputs = "f32[2, 3, 9, 8] f32[4, 3, 3, 2]", .attrs = "stride = [2, 3], pad = [1, 0, 2, 1]"},
    {.inputs = "f32[3, 17, 14, 14] f32[33, 17, 3, 3] f32[33]", .attrs = "pad = [1, 1, 1, 1]"},
    {0}};
static const struct op_sample input_gradients[] = {
    {.inputs = "f32[2, 4, 7, 6] f32[4, 3, 3, 3]",
     .attrs = "height = 7, width = 6, pad = [1, 1, 1, 1]"},
    {.inputs = "f32[2, 4, 5, 3] f32[4, 3, 3, 2]",
     .attrs = "height = 9, width = 8, stride = [2, 3], pad = [1, 0, 2, 1]"},
    {.inputs = "f32[3, 33, 14, 14] f32[33, 17, 3, 3]",
     .attrs = "height = 14, width = 14, pad = [1, 1, 1, 1]"},
    {0}};
static const struct op_sample weight_gradients[] = {
    {.inputs = "f32[2, 3, 7, 6] f32[2, 4, 7, 6]", .attrs = "kernel = [3, 3], pad = [1, 1, 1, 1]"},
    {.inputs = "f32[2, 3, 9, 8] f32[2, 4, 5, 3]",
     .attrs = "kernel = [3, 2], stride = [2, 3], pad = [1, 0, 2, 1]"},
    {.inputs = "f32[3, 17, 14, 14] f32[3, 33, 14, 14]",
     .attrs = "kernel = [3, 3], pad = [1, 1, 1, 1]"},
    {0}};

#define PLACE "stride: ints = [1, 1], pad: ints = [0, 0, 0, 0]"

const struct op_row op_conv_rows[] = {
    {.id = OP_CONV,
     .name = "conv",
     .kind = OP_OPAQUE,
     .signature = "(x: T[n, c, h, w], w: T[o, c, a, b], bias?: T[o]; " PLACE
                  ") -> (y: T[n, o, i, j]); T: float",
     .infer = conv_infer,
     .meaning = conv_meaning,
     .vjp = conv_vjp,
     .flops = "2 * n * o * i * j * c * a * b",
     .accumulate = DTYPE_F32,
     .amp = OP_AMP_LOW,
     .epilogues = OP_BIAS | OP_RELU_AFTER,
     .onnx = {{"Conv", 11}},
     .samples = convs},
    {.id = OP_CONV_INPUT_GRADIENT,
     .name = "conv_input_gradient",
     .kind = OP_OPAQUE,
     .flags = OP_NO_GRADIENT,
     .signature = "(dy: T[n, o, i, j], w: T[o, c, a, b]; height: int, width: int, " PLACE
                  ") -> (dx: T[n, c, height, width]); T: float",
     .infer = input_gradient_infer,
     .meaning = input_gradient_meaning,
     .accumulate = DTYPE_F32,
     .amp = OP_AMP_LOW,
     .samples = input_gradients},
    {.id = OP_CONV_WEIGHT_GRADIENT,
     .name = "conv_weight_gradient",
     .kind = OP_OPAQUE,
     .flags = OP_NO_GRADIENT,
     .signature = "(x: T[n, c, h, w], dy: T[n, o, i, j]; kernel: ints, " PLACE
                  ") -> (dw: T[o, c, a, b]); T: float",
     .infer = weight_gradient_infer,
     .meaning = weight_gradient_meaning,
     .accumulate = DTYPE_F32,
     .amp = OP_AMP_LOW,
     .samples = weight_gradients},
    {0},
};
