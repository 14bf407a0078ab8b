/* lower: what the device cannot do at once is said in simpler operations. */
#include "kernels/run/run_internal.h"

struct lowering {
    struct op_builder ops;
    struct graph_builder *to;
    const struct device *device;
    int depth;
};

#define DEPTH_MAX 8 /* of meanings within meanings */

static struct lowering *lowering_of(struct op_builder *to)
{
    return (struct lowering *)(void *)((char *)to - offsetof(struct lowering, ops));
}

static const struct op_type *type_of(struct op_builder *to, op_value value)
{
    return &lowering_of(to)->to->graph->values[value].type;
}

static void add(struct op_builder *to, const struct op_site *site, op_value *ret_outputs)
{
    struct lowering *lowering = lowering_of(to);
    const struct op_row *row = site->op->row;
    struct op_type outputs[OP_OUTPUTS_MAX];
    struct op_site typed = *site;
    if (op_infer(to->call, site, outputs) != CR_OK)
        return;
    typed.outputs = outputs;
    typed.output_count = site->op->signature.output_count;
    if (row->kind == OP_VIEW || device_find(lowering->device, row->id, &typed)) {
        lowering->to->ops.add(&lowering->to->ops, &typed, ret_outputs);
    } else if (row->meaning && lowering->depth < DEPTH_MAX) {
        lowering->depth++;
        row->meaning(to, &typed, ret_outputs);
        lowering->depth--;
    } else {
        to->call->status = cr_fail(to->call, CR_NOT_FOUND, "%s of %s: no kernel on %s", row->name,
                                   dtype_name(outputs[0].dtype), lowering->device->ops->kind);
    }
}

enum cr_status run_lower(struct cr_call *call, const struct device *device,
                         const struct graph *graph, const struct graph **ret_graph)
{
    struct lowering lowering = {
        .ops = {.call = call, .add = add, .type_of = type_of},
        .to = graph_build(call, graph->name),
        .device = device,
    };
    op_value *map = cr_new(call, op_value, (size_t)graph->value_count + 1);
    op_value *results = cr_new(call, op_value, (size_t)graph->result_count + 1);
    if (graph->dim_count > 0)
        return cr_fail(call, CR_INVALID, "extent %s has no value", graph->dims[0].name);
    for (int32_t i = 0; i < graph->param_count; i++)
        map[i] = graph_param(lowering.to, graph->values[i].name, &graph->values[i].type);
    for (int32_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        op_value inputs[OP_INPUTS_MAX];
        struct op_type types[OP_INPUTS_MAX];
        for (int j = 0; j < node->input_count; j++) {
            bool given = node->inputs[j] != OP_NO_VALUE;
            inputs[j] = given ? map[node->inputs[j]] : OP_NO_VALUE;
            types[j] = given ? *type_of(&lowering.ops, inputs[j]) : (struct op_type){0};
        }
        struct op_site site = {.op = node->op,
                               .input_count = node->input_count,
                               .output_count = node->output_count,
                               .inputs = types,
                               .attrs = node->attrs,
                               .values = inputs};
        add(&lowering.ops, &site, &map[node->first_output]);
        CR_TRY(call->status);
    }
    for (int32_t i = 0; i < graph->result_count; i++)
        results[i] = map[graph->results[i]];
    return graph_finish(lowering.to, results, graph->result_count, ret_graph);
}
