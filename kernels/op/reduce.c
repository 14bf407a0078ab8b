/* reduce: many elements to one, along some axes. */
#include "kernels/op/op_internal.h"

/* y, or its gradient, with the reduced axes put back as ones. */
static op_value unreduced(struct op_builder *to, const struct op_site *site, op_value y)
{
    struct op_type x = site->inputs[0];
    unsigned axes = op_reduced_axes(site);
    int64_t dims[TENSOR_RANK_MAX];
    for (int i = 0; i < x.rank; i++)
        dims[i] = axes >> i & 1 ? 1 : x.dims[i];
    return op_reshape(to, y, x.rank, dims);
}

/* How many elements become one. A named extent is only known at run time: ones are added up. */
static op_value reduced_count(struct op_builder *to, const struct op_site *site)
{
    const struct op_type *x = &site->inputs[0];
    unsigned axes = op_reduced_axes(site);
    int64_t dims[TENSOR_RANK_MAX];
    int rank = 0;
    for (int i = 0; i < x->rank; i++)
        if (axes >> i & 1)
            dims[rank++] = x->dims[i];
    op_value ones = op_full(to, x->dtype, rank, dims, 1);
    return op_reduce(to, OP_REDUCE_SUM, ones, (1u << rank) - 1, false);
}

static op_value like_input(struct op_builder *to, const struct op_site *site, op_value y)
{
    return op_expand(to, unreduced(to, site, y), site->inputs[0].rank, site->inputs[0].dims);
}

static void sum_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                    op_value *ret_dx)
{
    ret_dx[0] = like_input(to, site, dy[0]);
}

static void mean_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                     op_value *ret_dx)
{
    ret_dx[0] = like_input(to, site, op_div(to, dy[0], reduced_count(to, site)));
}

/* y = sum of x^2: dx = 2 x dy. */
static void sum_square_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                           op_value *ret_dx)
{
    op_value x = site->values[0];
    ret_dx[0] = op_mul(to, op_add(to, x, x), unreduced(to, site, dy[0]));
}

/* The elements that are the extreme share its gradient equally. */
static void extreme_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                        op_value *ret_dx)
{
    op_value is = op_binary(to, OP_EQUAL, site->values[0], unreduced(to, site, site->results[0]));
    op_value one = op_cast(to, is, site->inputs[0].dtype);
    op_value ties = op_reduce(to, OP_REDUCE_SUM, one, op_reduced_axes(site), true);
    ret_dx[0] = op_mul(to, one, op_div(to, unreduced(to, site, dy[0]), ties));
}

static const struct op_sample samples[] = {
    {.inputs = "f32[3, 17]", .attrs = "axes = [1]"},
    {.inputs = "f32[3, 17]", .attrs = "axes = [0]"},
    {.inputs = "f32[2, 3, 4, 5]", .attrs = "axes = [0, 2, 3], keep = true"},
    {.inputs = "f32[31]", .attrs = "axes = [0]"},
    {.inputs = "f32[9, 1025]", .attrs = "axes = [-1]"},
    {.inputs = "f32[3]", .attrs = "axes = []"},
    {0}};
static const struct op_sample long_samples[] = {
    {.inputs = "f32[3, 17]", .attrs = "axes = [1]"},
    {.inputs = "f32[3, 17]", .attrs = "axes = [0]"},
    {.inputs = "f32[2, 3, 4, 5]", .attrs = "axes = [0, 2, 3], keep = true"},
    {.inputs = "f32[12289]", .attrs = "axes = [0]"},
    {.inputs = "f32[70, 127]", .attrs = "axes = [0, 1]"},
    {.inputs = "f32[9, 1025]", .attrs = "axes = [-1]"},
    {.inputs = "f32[0, 3]", .attrs = "axes = [0]"},
    {.inputs = "f32[3]", .attrs = "axes = []"},
    {0}};

#define REDUCE_FLOAT  "(x: T; axes: ints, keep: bool = false) -> (y: T); T: float"
#define REDUCE_NUMBER "(x: T; axes: ints, keep: bool = false) -> (y: T); T: number"

const struct op_row op_reduce_rows[] = {
    {.id = OP_REDUCE_SUM,
     .name = "reduce_sum",
     .kind = OP_REDUCE,
     .signature = REDUCE_NUMBER,
     .formula = {"x"},
     .combine = OP_COMBINE_SUM,
     .finish = "a",
     .vjp = sum_vjp,
     .amp = OP_AMP_FULL,
     .onnx = {{"ReduceSum", 13}},
     .samples = long_samples},
    {.id = OP_REDUCE_MEAN,
     .name = "reduce_mean",
     .kind = OP_REDUCE,
     .signature = REDUCE_FLOAT,
     .formula = {"x"},
     .combine = OP_COMBINE_SUM,
     .finish = "a / n",
     .vjp = mean_vjp,
     .amp = OP_AMP_FULL,
     .onnx = {{"ReduceMean", 18}},
     .samples = samples},
    {.id = OP_REDUCE_MAX,
     .name = "reduce_max",
     .kind = OP_REDUCE,
     .signature = REDUCE_NUMBER,
     .formula = {"x"},
     .combine = OP_COMBINE_MAX,
     .finish = "a",
     .vjp = extreme_vjp,
     .onnx = {{"ReduceMax", 18}},
     .samples = samples},
    {.id = OP_REDUCE_MIN,
     .name = "reduce_min",
     .kind = OP_REDUCE,
     .signature = REDUCE_NUMBER,
     .formula = {"x"},
     .combine = OP_COMBINE_MIN,
     .finish = "a",
     .vjp = extreme_vjp,
     .onnx = {{"ReduceMin", 18}},
     .samples = samples},
    {.id = OP_REDUCE_SUM_SQUARE,
     .name = "reduce_sum_square",
     .kind = OP_REDUCE,
     .signature = REDUCE_FLOAT,
     .formula = {"x * x"},
     .combine = OP_COMBINE_SUM,
     .finish = "a",
     .vjp = sum_square_vjp,
     .amp = OP_AMP_FULL,
     .onnx = {{"ReduceSumSquare", 18}},
     .samples = long_samples},
    {0},
};
