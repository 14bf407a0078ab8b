/* nn, inside: what its graphs have in common. */
#pragma once

#include "kernels/nn/nn.h"

#define NN_BATCH_MAX (INT64_C(1) << 20)

/* A graph of a recipe under construction. */
struct nn_graph {
    const struct nn_recipe *recipe;
    struct graph_builder *builder;
    struct op_builder *ops;
    int64_t batch; /* the extent B */
    int weight_count;
    op_value weights[NN_WEIGHTS_MAX], images, labels;
};

/* Opens it with the weights as its parameters; then come states, then data. */
enum cr_status nn_open_graph(struct cr_call *call, const char *name, const struct nn_recipe *recipe,
                             struct nn_graph *ret_graph) CR_CHECK;
void nn_add_data(struct nn_graph *graph, bool labels);
op_value nn_logits(struct op_builder *to, const struct nn_recipe *recipe, const op_value *weights,
                   op_value images, int64_t batch);
