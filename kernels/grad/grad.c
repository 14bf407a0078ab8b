/* grad: from the result back, a node at a time. */
#include "kernels/grad/grad.h"

#include <stdlib.h>

struct walk {
    struct graph_builder *builder;
    op_value *gradients; /* by value; OP_NO_VALUE: nothing has flowed there */
    bool *leads;         /* by value: it depends on one of wrt */
};

static struct op_builder *ops(struct walk *walk)
{
    return &walk->builder->ops;
}

static void flow(struct walk *walk, op_value value, op_value gradient)
{
    if (value == OP_NO_VALUE || gradient == OP_NO_VALUE || !walk->leads[value])
        return;
    op_value before = walk->gradients[value];
    walk->gradients[value] = before == OP_NO_VALUE ? gradient : op_add(ops(walk), before, gradient);
}

static op_value filled(struct walk *walk, op_value like, double value)
{
    struct op_type type = walk->builder->graph->values[like].type;
    return op_full(ops(walk), type.dtype, type.rank, type.dims, value);
}

/* By the derived row: its inputs are ours and the outputs' gradients, zeros where none flowed. */
static void use_derived(struct walk *walk, const struct op_site *site, const op_value *gradients,
                        op_value *ret_gradients)
{
    const struct op *derived = site->op->gradient;
    const struct op_signature *signature = &site->op->signature;
    op_value inputs[OP_INPUTS_MAX], outputs[OP_OUTPUTS_MAX];
    struct op_type types[OP_INPUTS_MAX];
    int count = 0, at = 0;
    for (int i = 0; i < signature->input_count; i++)
        inputs[count++] = site->values[i];
    for (int i = 0; i < signature->output_count; i++)
        inputs[count++] =
            gradients[i] == OP_NO_VALUE ? filled(walk, site->results[i], 0) : gradients[i];
    for (int i = 0; i < OP_OUTPUTS_MAX; i++)
        outputs[i] = OP_NO_VALUE;
    if (ops(walk)->call->status != CR_OK)
        return;
    for (int i = 0; i < count; i++)
        types[i] = walk->builder->graph->values[inputs[i]].type;
    struct op_site use = {.op = derived,
                          .input_count = count,
                          .output_count = derived->signature.output_count,
                          .inputs = types,
                          .attrs = site->attrs,
                          .values = inputs};
    ops(walk)->add(ops(walk), &use, outputs);
    for (int i = 0; i < signature->input_count; i++) {
        unsigned dtype = signature->inputs[i].dtype;
        bool flows = dtype == DTYPE_NONE || dtype_class_of(dtype) == DTYPE_FLOAT;
        ret_gradients[i] =
            flows ? op_sum_like(ops(walk), outputs[at++], site->values[i]) : OP_NO_VALUE;
    }
}

static enum cr_status walk_node(struct walk *walk, struct graph_node node)
{
    const struct graph *graph = walk->builder->graph;
    struct op_type inputs[OP_INPUTS_MAX], outputs[OP_OUTPUTS_MAX];
    op_value results[OP_OUTPUTS_MAX], gradients[OP_OUTPUTS_MAX], back[OP_INPUTS_MAX];
    bool flows = false, leads = false;
    for (int i = 0; i < node.output_count; i++) {
        results[i] = node.first_output + i;
        gradients[i] = walk->gradients[results[i]];
        outputs[i] = graph->values[results[i]].type;
        flows = flows || gradients[i] != OP_NO_VALUE;
    }
    for (int i = 0; i < node.input_count; i++) {
        bool given = node.inputs[i] != OP_NO_VALUE;
        inputs[i] = given ? graph->values[node.inputs[i]].type : (struct op_type){0};
        leads = leads || (given && walk->leads[node.inputs[i]]);
        back[i] = OP_NO_VALUE;
    }
    if (!flows || !leads)
        return CR_OK;
    struct op_site site = {.op = node.op,
                           .input_count = node.input_count,
                           .output_count = node.output_count,
                           .inputs = inputs,
                           .outputs = outputs,
                           .attrs = node.attrs,
                           .values = node.inputs,
                           .results = results};
    if (node.op->row->vjp)
        node.op->row->vjp(ops(walk), &site, gradients, back);
    else if (node.op->gradient)
        use_derived(walk, &site, gradients, back);
    else
        return cr_fail(ops(walk)->call, CR_INVALID, "operation %s has no gradient",
                       node.op->row->name);
    CR_TRY(ops(walk)->call->status);
    for (int i = 0; i < node.input_count; i++)
        flow(walk, node.inputs[i], back[i]);
    return CR_OK;
}

static void mark(struct walk *walk, const struct graph *graph, const op_value *wrt, int wrt_count)
{
    for (int i = 0; i < wrt_count; i++)
        walk->leads[wrt[i]] = true;
    for (int32_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        bool leads = false;
        for (int j = 0; j < node->input_count; j++)
            leads = leads || (node->inputs[j] != OP_NO_VALUE && walk->leads[node->inputs[j]]);
        for (int j = 0; j < node->output_count; j++) {
            op_value value = node->first_output + j;
            walk->leads[value] = walk->leads[value] || leads;
        }
    }
}

enum cr_status grad_add(struct graph_builder *builder, op_value value, op_value seed,
                        const op_value *wrt, int wrt_count, op_value *ret_gradients)
{
    struct cr_call *call = builder->ops.call;
    CR_TRY(call->status);
    int32_t nodes = builder->graph->node_count, values = builder->graph->value_count;
    struct walk walk = {.builder = builder,
                        .gradients = cr_new(call, op_value, (size_t)values),
                        .leads = cr_new(call, bool, (size_t)values)};
    for (int32_t i = 0; i < values; i++)
        walk.gradients[i] = OP_NO_VALUE;
    mark(&walk, builder->graph, wrt, wrt_count);
    flow(&walk, value, seed == OP_NO_VALUE ? filled(&walk, value, 1) : seed);
    for (int32_t i = nodes - 1; i >= 0; i--)
        CR_TRY(walk_node(&walk, builder->graph->nodes[i]));
    for (int i = 0; i < wrt_count; i++) {
        op_value found = walk.gradients[wrt[i]];
        ret_gradients[i] = found == OP_NO_VALUE ? filled(&walk, wrt[i], 0) : found;
    }
    return call->status;
}

enum cr_status grad_of(struct cr_call *call, const struct graph *graph, int result,
                       const op_value *wrt, int wrt_count, const struct graph **ret_graph)
{
    struct graph_builder *builder = graph_build(call, graph->name);
    size_t result_count = (size_t)graph->result_count + (size_t)wrt_count;
    op_value *params = cr_new(call, op_value, (size_t)graph->param_count + 1);
    op_value *results = cr_new(call, op_value, result_count + 1);
    if (result < 0 || result >= graph->result_count)
        return cr_fail(call, CR_INVALID, "the graph has no result %d", result);
    for (int32_t i = 0; i < graph->dim_count; i++)
        graph_dim(builder, graph->dims[i].name, graph->dims[i].min, graph->dims[i].max);
    for (int32_t i = 0; i < graph->dim_count; i++)
        builder->graph->dims[i].multiple = graph->dims[i].multiple;
    for (int32_t i = 0; i < graph->param_count; i++)
        params[i] = graph_param(builder, graph->values[i].name, &graph->values[i].type);
    for (int i = 0; i < wrt_count; i++)
        if (wrt[i] < 0 || wrt[i] >= graph->param_count)
            return cr_fail(call, CR_INVALID, "wrt: no parameter %d", wrt[i]);
    graph_inline(builder, graph, params, results);
    CR_TRY(grad_add(builder, results[result], OP_NO_VALUE, wrt, wrt_count,
                    &results[graph->result_count]));
    return graph_finish(builder, results, (int)result_count, ret_graph);
}
