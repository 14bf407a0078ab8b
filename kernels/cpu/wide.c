/*
 * wide: rows that work element by element, or reduce, on types that tile code does not hold (f64
 * and integers): formula by formula, in f64. They are rare, and small where they are not.
 */
#include "kernels/cpu/kernels_internal.h"
#include "kernels/op/op.h"

#include <math.h>

/* Where element e of a tensor broadcast to a shape lies, in elements. */
static int64_t place_of(const struct tensor *tensor, int rank, const int64_t *shape, int64_t e)
{
    int64_t at = tensor->offset;
    int missing = rank - tensor->rank;
    for (int i = rank - 1; i >= 0; i--) {
        if (i >= missing && tensor->shape[i - missing] != 1)
            at += e % shape[i] * tensor->stride[i - missing];
        e /= shape[i];
    }
    return at;
}

static double read_at(const struct tensor *tensor, int rank, const int64_t *shape, int64_t e)
{
    return dtype_read(tensor->dtype, tensor->storage->bytes, place_of(tensor, rank, shape, e));
}

static bool accepts_pointwise(const struct op_site *site)
{
    return site->op->row->kind == OP_POINTWISE && site->op->row->id != OP_CAST &&
           site->op->row->id != OP_COPY;
}

static enum cr_status run_pointwise(struct cr_call *call, const struct device_launch *launch)
{
    (void)call;
    const struct op_site *site = launch->site;
    const struct tensor *output = launch->outputs[0];
    double names[OP_INPUTS_MAX + OP_ATTRS_MAX], roots[OP_OUTPUTS_MAX];
    op_formula_attrs(site, names);
    int64_t elements = tensor_elements(output);
    for (int64_t e = 0; e < elements; e++) {
        for (int i = 0; i < site->input_count; i++)
            names[i] = read_at(launch->inputs[i], output->rank, output->shape, e);
        expr_evaluate(op_formula(site), names, roots);
        for (int i = 0; i < site->output_count; i++)
            dtype_write(launch->outputs[i]->dtype, tensor_bytes(launch->outputs[i]), e, roots[i]);
    }
    return CR_OK;
}

static enum cr_status run_cast(struct cr_call *call, const struct device_launch *launch)
{
    (void)call;
    const struct tensor *x = launch->inputs[0];
    struct tensor *y = launch->outputs[0];
    int64_t elements = tensor_elements(y);
    for (int64_t e = 0; e < elements; e++)
        dtype_write(y->dtype, tensor_bytes(y), e, read_at(x, y->rank, y->shape, e));
    return CR_OK;
}

static bool accepts_reduce(const struct op_site *site)
{
    return site->op->row->kind == OP_REDUCE;
}

static double combined(enum op_combine how, double a, double x)
{
    if (how == OP_COMBINE_SUM)
        return a + x;
    if (isnan(a) || isnan(x))
        return NAN;
    return how == OP_COMBINE_MAX ? fmax(a, x) : fmin(a, x);
}

static enum cr_status run_reduce(struct cr_call *call, const struct device_launch *launch)
{
    (void)call;
    const struct op_site *site = launch->site;
    enum op_combine how = site->op->row->combine;
    struct tensor *y = launch->outputs[0];
    int order[TENSOR_RANK_MAX], at = 0;
    int64_t group = 1, elements = tensor_elements(y);
    unsigned axes = op_reduced_axes(site);
    for (int reduced = 0; reduced < 2; reduced++)
        for (int i = 0; i < launch->inputs[0]->rank; i++)
            if ((int)(axes >> i & 1) == reduced) {
                order[at++] = i;
                group *= reduced ? launch->inputs[0]->shape[i] : 1;
            }
    struct tensor sorted = tensor_permute(launch->inputs[0], order);
    for (int64_t e = 0; e < elements; e++) {
        double sum = how == OP_COMBINE_SUM ? 0 : how == OP_COMBINE_MAX ? -INFINITY : INFINITY;
        for (int64_t g = 0; g < group; g++) {
            double x = tensor_at(&sorted, e * group + g), mapped;
            expr_evaluate(op_formula(site), &x, &mapped);
            sum = combined(how, sum, mapped);
        }
        double names[] = {sum, (double)group}, result;
        expr_evaluate(site->op->finish, names, &result);
        dtype_write(y->dtype, tensor_bytes(y), e, result);
    }
    return CR_OK;
}

const struct device_kernel cpu_wide_kernels[] = {
    {.op = OP_CAST, .name = "cast", .run = run_cast, .strided = true},
    {.name = "wide_pointwise", .accepts = accepts_pointwise, .run = run_pointwise, .strided = true},
    {.name = "wide_reduce", .accepts = accepts_reduce, .run = run_reduce, .strided = true},
    {0},
};
