/* loss: softmax, and the cross-entropy of it with labels. */
#include "kernels/op/op_internal.h"

/* softmax along an axis: exp(x - max x) / sum of it. */
static void softmax_meaning(struct op_builder *to, const struct op_site *site, op_value *ret_y)
{
    op_value x = site->values[0];
    int axis = (int)op_attr_int(site, "axis");
    unsigned axes = 1u << (axis < 0 ? axis + site->inputs[0].rank : axis);
    op_value e = op_unary(to, OP_EXP, op_sub(to, x, op_reduce(to, OP_REDUCE_MAX, x, axes, true)));
    *ret_y = op_div(to, e, op_reduce(to, OP_REDUCE_SUM, e, axes, true));
}

static enum cr_status softmax_infer(struct cr_call *call, const struct op_site *site,
                                    struct op_type *ret_y)
{
    int axis;
    CR_TRY(op_axis(call, op_attr_int(site, "axis"), site->inputs[0].rank, &axis));
    unsigned dtype = ret_y->dtype;
    *ret_y = site->inputs[0];
    ret_y->dtype = (uint8_t)dtype;
    return CR_OK;
}

static void softmax_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                        op_value *ret_dx)
{
    op_value inputs[] = {site->results[0], dy[0]};
    ret_dx[0] = op_add_one(to, OP_SOFTMAX_GRADIENT, inputs, 2, site->attrs);
}

static enum cr_status softmax_gradient_infer(struct cr_call *call, const struct op_site *site,
                                             struct op_type *ret_dx)
{
    CR_TRY(softmax_infer(call, site, ret_dx));
    return op_same_type(&site->inputs[0], &site->inputs[1])
               ? CR_OK
               : cr_fail(call, CR_INVALID, "softmax_gradient: y and dy differ in type");
}

/* dx = y (dy - sum of y dy). */
static void softmax_gradient_meaning(struct op_builder *to, const struct op_site *site,
                                     op_value *ret_dx)
{
    op_value y = site->values[0], dy = site->values[1];
    int axis = (int)op_attr_int(site, "axis");
    unsigned axes = 1u << (axis < 0 ? axis + site->inputs[0].rank : axis);
    op_value inner = op_reduce(to, OP_REDUCE_SUM, op_mul(to, y, dy), axes, true);
    *ret_dx = op_mul(to, y, op_sub(to, dy, inner));
}

static enum cr_status labelled(struct cr_call *call, const struct op_site *site)
{
    CR_TRY(op_rank_is(call, site, 0, 2));
    CR_TRY(op_rank_is(call, site, 1, 1));
    return op_dims_equal(call, "rows of logits", site->inputs[0].dims[0], "labels",
                         site->inputs[1].dims[0]);
}

static enum cr_status cross_entropy_infer(struct cr_call *call, const struct op_site *site,
                                          struct op_type *ret_loss)
{
    CR_TRY(labelled(call, site));
    struct op_type loss = {.dtype = ret_loss->dtype};
    op_append(&loss, site->inputs[0].dims[0]);
    *ret_loss = loss;
    return CR_OK;
}

/* The rows' labels as rows of zeros with a one; it asks that classes is a count. */
static op_value one_hot(struct op_builder *to, const struct op_site *site)
{
    int64_t classes = site->inputs[0].dims[1];
    op_value places = op_iota(to, site->inputs[1].dtype, classes);
    op_value is = op_binary(to, OP_EQUAL, op_unsqueeze(to, site->values[1], 1), places);
    return op_cast(to, is, site->inputs[0].dtype);
}

/* loss = log(sum of exp(x - max x)) + max x - x[label]. */
static void cross_entropy_meaning(struct op_builder *to, const struct op_site *site,
                                  op_value *ret_loss)
{
    op_value x = site->values[0];
    op_value top = op_reduce(to, OP_REDUCE_MAX, x, 2, true);
    op_value shifted = op_sub(to, x, top);
    op_value sum = op_reduce_sum(to, op_unary(to, OP_EXP, shifted), 1);
    op_value picked = op_reduce_sum(to, op_mul(to, shifted, one_hot(to, site)), 1);
    *ret_loss = op_sub(to, op_unary(to, OP_LOG, sum), picked);
}

static void cross_entropy_vjp(struct op_builder *to, const struct op_site *site,
                              const op_value *dloss, op_value *ret_gradients)
{
    op_value inputs[] = {site->values[0], site->values[1], dloss[0]};
    ret_gradients[0] = op_add_one(to, OP_SOFTMAX_CROSS_ENTROPY_GRADIENT, inputs, 3, NULL);
    ret_gradients[1] = OP_NO_VALUE;
}

static enum cr_status cross_entropy_gradient_infer(struct cr_call *call, const struct op_site *site,
                                                   struct op_type *ret_dlogits)
{
    CR_TRY(labelled(call, site));
    CR_TRY(op_rank_is(call, site, 2, 1));
    CR_TRY(op_dims_equal(call, "rows of logits", site->inputs[0].dims[0], "dloss",
                         site->inputs[2].dims[0]));
    unsigned dtype = ret_dlogits->dtype;
    *ret_dlogits = site->inputs[0];
    ret_dlogits->dtype = (uint8_t)dtype;
    return CR_OK;
}

/* dlogits = (softmax(logits) - one hot) * dloss. */
static void cross_entropy_gradient_meaning(struct op_builder *to, const struct op_site *site,
                                           op_value *ret_dlogits)
{
    struct op_datum axis = op_of_int(-1);
    op_value y = op_add_one(to, OP_SOFTMAX, &site->values[0], 1, &axis);
    *ret_dlogits =
        op_mul(to, op_sub(to, y, one_hot(to, site)), op_unsqueeze(to, site->values[2], 1));
}

static const struct op_sample rows[] = {{.inputs = "f32[3, 17]"},
                                        {.inputs = "f32[1, 1]"},
                                        {.inputs = "f32[2, 5, 33]", .attrs = "axis = 1"},
                                        {.inputs = "f32[4, 127]", .low = -30, .high = 30},
                                        {0}};
static const struct op_sample row_pairs[] = {
    {.inputs = "f32[3, 17] f32[3, 17]"},
    {.inputs = "f32[2, 5, 33] f32[2, 5, 33]", .attrs = "axis = 1"},
    {0}};
static const struct op_sample losses[] = {{.inputs = "f32[5, 10] i32[5]"},
                                          {.inputs = "f32[33, 17] i32[33]"},
                                          {.inputs = "f32[64, 1000] i32[64]", .high = 20},
                                          {0}};
static const struct op_sample loss_gradients[] = {
    {.inputs = "f32[5, 10] i32[5] f32[5]"}, {.inputs = "f32[33, 17] i32[33] f32[33]"}, {0}};

const struct op_row op_loss_rows[] = {
    {.id = OP_SOFTMAX,
     .name = "softmax",
     .kind = OP_OPAQUE,
     .signature = "(x: T; axis: int = -1) -> (y: T); T: float",
     .infer = softmax_infer,
     .meaning = softmax_meaning,
     .vjp = softmax_vjp,
     .amp = OP_AMP_FULL,
     .onnx = {{"Softmax", 13}},
     .samples = rows},
    {.id = OP_SOFTMAX_GRADIENT,
     .name = "softmax_gradient",
     .kind = OP_OPAQUE,
     .flags = OP_NO_GRADIENT,
     .signature = "(y: T, dy: T; axis: int = -1) -> (dx: T); T: float",
     .infer = softmax_gradient_infer,
     .meaning = softmax_gradient_meaning,
     .amp = OP_AMP_FULL,
     .samples = row_pairs},
    {.id = OP_SOFTMAX_CROSS_ENTROPY,
     .name = "softmax_cross_entropy",
     .kind = OP_OPAQUE,
     .signature = "(logits: T[n, classes], labels: I[n]) -> (loss: T[n]); T: float; I: integer",
     .infer = cross_entropy_infer,
     .meaning = cross_entropy_meaning,
     .vjp = cross_entropy_vjp,
     .amp = OP_AMP_FULL,
     .onnx = {{"SoftmaxCrossEntropyLoss", 13}},
     .samples = losses},
    {.id = OP_SOFTMAX_CROSS_ENTROPY_GRADIENT,
     .name = "softmax_cross_entropy_gradient",
     .kind = OP_OPAQUE,
     .flags = OP_NO_GRADIENT,
     .signature = "(logits: T[n, classes], labels: I[n], dloss: T[n]) -> "
                  "(dlogits: T[n, classes]); T: float; I: integer",
     .infer = cross_entropy_gradient_infer,
     .meaning = cross_entropy_gradient_meaning,
     .amp = OP_AMP_FULL,
     .samples = loss_gradients},
    {0},
};
