/* recipe: networks as graphs. */
#include "kernels/nn/nn_internal.h"

#include <math.h>

int64_t nn_classes(const struct nn_recipe *recipe)
{
    return recipe->kind == NN_MLP ? recipe->widths[recipe->layer_count - 1] : recipe->classes;
}

struct weights {
    struct cr_call *call;
    struct nn_weight *list;
    int count;
    int64_t numbers;
};

static enum cr_status add_weight(struct weights *to, const char *layer, int index, const char *part,
                                 int rank, const int64_t *dims, double deviation)
{
    struct nn_weight weight = {.type = {.dtype = DTYPE_F32, .rank = (uint8_t)rank},
                               .deviation = deviation};
    weight.name = index < 0 ? cr_format(to->call, "%s.%s", layer, part)
                            : cr_format(to->call, "%s%d.%s", layer, index, part);
    int64_t elements;
    for (int i = 0; i < rank; i++)
        weight.type.dims[i] = dims[i];
    CR_TRY(tensor_measure(to->call, DTYPE_F32, rank, dims, &elements, NULL));
    to->numbers += elements;
    if (elements > NN_COUNT_MAX || to->numbers > NN_COUNT_MAX)
        return cr_fail(to->call, CR_INVALID, "the model has more than 2^31 weights");
    to->list[to->count++] = weight;
    return CR_OK;
}

/* What comes out of a sum of fan_in products of such weights is as spread as what went in. */
static double spread(int64_t fan_in, bool bent)
{
    return sqrt((bent ? 2.0 : 1.0) / (double)fan_in);
}

static enum cr_status add_dense(struct weights *to, const char *layer, int index, int64_t in,
                                int64_t out, bool bent)
{
    int64_t dims[] = {in, out};
    CR_TRY(add_weight(to, layer, index, "weight", 2, dims, spread(in, bent)));
    return add_weight(to, layer, index, "bias", 1, &dims[1], 0);
}

static enum cr_status mlp_weights(struct weights *to, const struct nn_recipe *recipe)
{
    int64_t in = recipe->rows * recipe->columns;
    for (int i = 0; i < recipe->layer_count; i++) {
        bool last = i == recipe->layer_count - 1;
        CR_TRY(add_dense(to, "layer", i, in, recipe->widths[i], !last));
        in = recipe->widths[i];
    }
    return CR_OK;
}

static enum cr_status cnn_weights(struct weights *to, const struct nn_recipe *recipe)
{
    int64_t in = 1, rows = recipe->rows, columns = recipe->columns, k = recipe->kernel;
    for (int i = 0; i < recipe->layer_count; i++) {
        int64_t dims[] = {recipe->widths[i], in, k, k};
        if (rows < k || columns < k)
            return cr_fail(to->call, CR_INVALID,
                           "stage %d: a kernel of %lld on pictures of %lld x %lld", i, (long long)k,
                           (long long)rows, (long long)columns);
        CR_TRY(add_weight(to, "conv", i, "weight", 4, dims, spread(in * k * k, true)));
        CR_TRY(add_weight(to, "conv", i, "bias", 1, dims, 0));
        in = recipe->widths[i];
        if (rows < recipe->pool || columns < recipe->pool)
            return cr_fail(to->call, CR_INVALID, "stage %d: nothing is left after pooling", i);
        rows /= recipe->pool;
        columns /= recipe->pool;
    }
    return add_dense(to, "head", -1, in * rows * columns, recipe->classes, false);
}

static enum cr_status check(struct cr_call *call, const struct nn_recipe *recipe)
{
    int layers_max = recipe->kind == NN_MLP ? NN_LAYERS_MAX : NN_CHANNELS_MAX;
    if (recipe->layer_count < 1 || recipe->layer_count > layers_max)
        return cr_fail(call, CR_INVALID, "a recipe of %d layers, 1 to %d are possible",
                       recipe->layer_count, layers_max);
    for (int i = 0; i < recipe->layer_count; i++)
        if (recipe->widths[i] < 1 || recipe->widths[i] > 8192)
            return cr_fail(call, CR_INVALID, "layer %d has %lld units, 1 to 8192 are possible", i,
                           (long long)recipe->widths[i]);
    if (recipe->rows < 1 || recipe->columns < 1 || recipe->rows > 65536 || recipe->columns > 65536)
        return cr_fail(call, CR_INVALID, "pictures of %lld x %lld", (long long)recipe->rows,
                       (long long)recipe->columns);
    if (recipe->kind == NN_CNN && (recipe->kernel < 1 || recipe->kernel > 7 ||
                                   recipe->kernel % 2 == 0 || recipe->pool < 1 || recipe->pool > 4))
        return cr_fail(call, CR_INVALID, "kernel must be odd and at most 7, pool 1 to 4");
    if (nn_classes(recipe) < 1 || nn_classes(recipe) > 8192)
        return cr_fail(call, CR_INVALID, "%lld classes", (long long)nn_classes(recipe));
    return CR_OK;
}

enum cr_status nn_weights(struct cr_call *call, const struct nn_recipe *recipe,
                          struct nn_weight ret_weights[NN_WEIGHTS_MAX], int *ret_count)
{
    struct weights to = {.call = call, .list = ret_weights};
    CR_TRY(check(call, recipe));
    CR_TRY(recipe->kind == NN_MLP ? mlp_weights(&to, recipe) : cnn_weights(&to, recipe));
    *ret_count = to.count;
    return CR_OK;
}

static op_value dense(struct op_builder *to, op_value x, const op_value *weights)
{
    return op_add(to, op_matmul(to, x, weights[0]), weights[1]);
}

static op_value bend(struct op_builder *to, enum nn_activation activation, op_value x)
{
    static const unsigned rows[] = {OP_RELU, OP_GELU, OP_TANH};
    return op_unary(to, rows[activation], x);
}

static op_value mlp_logits(struct op_builder *to, const struct nn_recipe *recipe,
                           const op_value *weights, op_value images, int64_t batch)
{
    int64_t flat[] = {batch, recipe->rows * recipe->columns};
    op_value x = op_reshape(to, images, 2, flat);
    for (int i = 0; i < recipe->layer_count; i++) {
        x = dense(to, x, &weights[2 * i]);
        if (i < recipe->layer_count - 1)
            x = bend(to, recipe->activation, x);
    }
    return x;
}

static struct op_datum ints(struct op_builder *to, int count, int64_t value)
{
    int64_t *list = cr_new(to->call, int64_t, (size_t)count);
    for (int i = 0; i < count; i++)
        list[i] = value;
    return (struct op_datum){.kind = OP_DATUM_INTS, .count = count, .list = list};
}

static op_value cnn_logits(struct op_builder *to, const struct nn_recipe *recipe,
                           const op_value *weights, op_value images, int64_t batch)
{
    int64_t planes[] = {batch, 1, recipe->rows, recipe->columns};
    int64_t rows = recipe->rows, columns = recipe->columns;
    op_value x = op_reshape(to, images, 4, planes);
    for (int i = 0; i < recipe->layer_count; i++) {
        op_value inputs[] = {x, weights[2 * i], weights[2 * i + 1]};
        struct op_datum same[] = {ints(to, 2, 1), ints(to, 4, recipe->kernel / 2)};
        x = op_add_one(to, OP_CONV, inputs, 3, same);
        struct op_datum pool[] = {ints(to, 2, recipe->pool), ints(to, 2, recipe->pool),
                                  ints(to, 4, 0)};
        if (recipe->pool > 1)
            x = op_add_one(to, OP_MAX_POOL, &x, 1, pool);
        x = bend(to, NN_RELU, x); /* of the largest, which is the largest of it, and fewer */
        /* cppcheck-suppress zerodivcond ; pool is checked before, rows and columns are not it */
        rows /= recipe->pool;
        /* cppcheck-suppress zerodivcond */
        columns /= recipe->pool;
    }
    int64_t flat[] = {batch, recipe->widths[recipe->layer_count - 1] * rows * columns};
    return dense(to, op_reshape(to, x, 2, flat), &weights[2 * recipe->layer_count]);
}

op_value nn_logits(struct op_builder *to, const struct nn_recipe *recipe, const op_value *weights,
                   op_value images, int64_t batch)
{
    return recipe->kind == NN_MLP ? mlp_logits(to, recipe, weights, images, batch)
                                  : cnn_logits(to, recipe, weights, images, batch);
}

enum cr_status nn_open_graph(struct cr_call *call, const char *name, const struct nn_recipe *recipe,
                             struct nn_graph *ret_graph)
{
    struct nn_graph graph = {.recipe = recipe};
    struct nn_weight weights[NN_WEIGHTS_MAX];
    CR_TRY(nn_weights(call, recipe, weights, &graph.weight_count));
    graph.builder = graph_build(call, name);
    graph.ops = &graph.builder->ops;
    graph.batch = graph_dim(graph.builder, "B", 1, NN_BATCH_MAX);
    for (int i = 0; i < graph.weight_count; i++)
        graph.weights[i] = graph_param(graph.builder, weights[i].name, &weights[i].type);
    *ret_graph = graph;
    return CR_OK;
}

void nn_add_data(struct nn_graph *graph, bool labels)
{
    const struct nn_recipe *recipe = graph->recipe;
    struct op_type images = {
        .dtype = DTYPE_F32, .rank = 3, .dims = {graph->batch, recipe->rows, recipe->columns}};
    struct op_type label = {.dtype = DTYPE_I32, .rank = 1, .dims = {graph->batch}};
    graph->images = graph_param(graph->builder, "images", &images);
    if (labels)
        graph->labels = graph_param(graph->builder, "labels", &label);
}

enum cr_status nn_forward(struct cr_call *call, const struct nn_recipe *recipe,
                          const struct graph **ret_graph)
{
    struct nn_graph graph;
    CR_TRY(nn_open_graph(call, "forward", recipe, &graph));
    nn_add_data(&graph, false);
    op_value logits = nn_logits(graph.ops, recipe, graph.weights, graph.images, graph.batch);
    return graph_finish(graph.builder, &logits, 1, ret_graph);
}

enum cr_status nn_evaluation(struct cr_call *call, const struct nn_recipe *recipe,
                             const struct graph **ret_graph)
{
    struct nn_graph graph;
    CR_TRY(nn_open_graph(call, "evaluation", recipe, &graph));
    nn_add_data(&graph, true);
    op_value logits = nn_logits(graph.ops, recipe, graph.weights, graph.images, graph.batch);
    op_value results[] = {logits,
                          op_binary(graph.ops, OP_SOFTMAX_CROSS_ENTROPY, logits, graph.labels)};
    return graph_finish(graph.builder, results, 2, ret_graph);
}
