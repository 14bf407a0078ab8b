/* matmul: products of matrices, of batches of them by broadcasting. */
#include "kernels/op/op_internal.h"

static enum cr_status matmul_infer(struct cr_call *call, const struct op_site *site,
                                   struct op_type *ret_c)
{
    const struct op_type *a = &site->inputs[0], *b = &site->inputs[1];
    CR_TRY(op_rank_at_least(call, site, 2));
    CR_TRY(op_dims_equal(call, "columns of a", op_dim(a, -1), "rows of b", op_dim(b, -2)));

    struct op_type c = {.dtype = ret_c->dtype};
    CR_TRY(op_broadcast_batch(call, a, b, 2, &c)); /* all but the two last dimensions */
    op_append(&c, op_dim(a, -2));
    op_append(&c, op_dim(b, -1));
    *ret_c = c;
    return CR_OK;
}

/* c[i][j] = sum over k of a[i][k] * b[k][j]: the meaning, and the way where no kernel is. */
static void matmul_meaning(struct op_builder *to, const struct op_site *site, op_value *ret_c)
{
    op_value a = op_unsqueeze(to, site->values[0], -1); /* [..., m, k, 1] */
    op_value b = op_unsqueeze(to, site->values[1], -3); /* [..., 1, k, n] */
    *ret_c = op_reduce_sum(to, op_mul(to, a, b), -2);
}

/* da = dc b^T, db = a^T dc, each summed over what had been broadcast. */
static void matmul_vjp(struct op_builder *to, const struct op_site *site, const op_value *dc,
                       op_value *ret_da_db)
{
    op_value a = site->values[0], b = site->values[1];
    ret_da_db[0] = op_sum_like(to, op_matmul(to, dc[0], op_transpose(to, b)), a);
    ret_da_db[1] = op_sum_like(to, op_matmul(to, op_transpose(to, a), dc[0]), b);
}

static const struct op_sample samples[] = {
    {.inputs = "f32[3, 5] f32[5, 7]"},       {.inputs = "f32[1, 1] f32[1, 1]"},
    {.inputs = "f32[4, 0] f32[0, 3]"},       {.inputs = "f32[17, 3] f32[3, 33]"},
    {.inputs = "f32[5, 255] f32[255, 9]"},   {.inputs = "f32[2, 4097] f32[4097, 3]"},
    {.inputs = "f32[2, 3, 5] f32[5, 7]"},    {.inputs = "f32[3, 1, 4, 5] f32[2, 5, 3]"},
    {.inputs = "f32[127, 31] f32[31, 129]"}, {0}};

const struct op_row op_matmul_rows[] = {
    {.id = OP_MATMUL,
     .name = "matmul",
     .kind = OP_OPAQUE,
     .signature = "(a: T[*p, m, k], b: T[*q, k, n]) -> (c: T[*r, m, n]); T: float",
     .infer = matmul_infer,
     .meaning = matmul_meaning,
     .vjp = matmul_vjp,
     .flops = "2 * m * n * k",
     .accumulate = DTYPE_F32,
     .amp = OP_AMP_LOW,
     .epilogues = OP_BIAS | OP_GELU_AFTER | OP_RESIDUAL,
     .onnx = {{"MatMul", 1}},
     .samples = samples},
    {0},
};
