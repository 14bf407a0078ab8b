/* edit: graphs made of graphs. */
#include "kernels/graph/graph_internal.h"

/* A copy of attributes in which extents are replaced; what is not a name stays. */
static struct op_datum *mapped_attrs(struct cr_call *call, const struct graph_node *node,
                                     const int64_t *extents)
{
    int count = node->op->signature.attr_count;
    struct op_datum *attrs = cr_new(call, struct op_datum, (size_t)count + 1);
    for (int i = 0; i < count; i++) {
        attrs[i] = node->attrs[i];
        if (attrs[i].count == 0)
            continue;
        int64_t *list = cr_new(call, int64_t, (size_t)attrs[i].count);
        for (int j = 0; j < attrs[i].count; j++) {
            int64_t item = node->attrs[i].list[j];
            list[j] = op_is_named(item) ? extents[item - OP_NAMED] : item;
        }
        attrs[i].list = list;
    }
    return attrs;
}

/* Adds every node, by values that are known; map has the parameters' values and gets the rest. */
static void add_nodes(struct graph_builder *builder, const struct graph *graph,
                      const int64_t *extents, op_value *map)
{
    for (int32_t i = 0; i < graph->node_count && builder->ops.call->status == CR_OK; i++) {
        const struct graph_node *node = &graph->nodes[i];
        op_value inputs[OP_INPUTS_MAX];
        struct op_type types[OP_INPUTS_MAX];
        for (int j = 0; j < node->input_count; j++) {
            inputs[j] = node->inputs[j] == OP_NO_VALUE ? OP_NO_VALUE : map[node->inputs[j]];
            types[j] = inputs[j] == OP_NO_VALUE ? (struct op_type){0}
                                                : builder->graph->values[inputs[j]].type;
        }
        struct op_site site = {.op = node->op,
                               .input_count = node->input_count,
                               .output_count = node->output_count,
                               .inputs = types,
                               .attrs = mapped_attrs(builder->ops.call, node, extents),
                               .values = inputs};
        builder->ops.add(&builder->ops, &site, &map[node->first_output]);
    }
}

void graph_inline(struct graph_builder *builder, const struct graph *graph, const op_value *params,
                  op_value *ret_results)
{
    struct cr_call *call = builder->ops.call;
    int64_t *extents = cr_new(call, int64_t, (size_t)graph->dim_count + 1);
    op_value *map = cr_new(call, op_value, (size_t)graph->value_count + 1);
    for (int32_t i = 0; i < graph->dim_count; i++)
        extents[i] =
            graph_dim(builder, graph->dims[i].name, graph->dims[i].min, graph->dims[i].max);
    for (int32_t i = 0; i < graph->value_count; i++)
        map[i] = i < graph->param_count ? params[i] : OP_NO_VALUE;
    add_nodes(builder, graph, extents, map);
    for (int32_t i = 0; i < graph->result_count; i++)
        ret_results[i] = map[graph->results[i]];
}

enum cr_status graph_bind(struct cr_call *call, const struct graph *graph, const int64_t *extents,
                          const struct graph **ret_graph)
{
    struct graph_builder *builder = graph_build(call, graph->name);
    op_value *map = cr_new(call, op_value, (size_t)graph->value_count + 1);
    op_value *results = cr_new(call, op_value, (size_t)graph->result_count + 1);
    for (int32_t i = 0; i < graph->dim_count; i++) {
        const struct graph_dim *dim = &graph->dims[i];
        if (extents[i] < dim->min || extents[i] > dim->max || extents[i] % dim->multiple != 0)
            return cr_fail(call, CR_INVALID, "extent %s may not be %lld", dim->name,
                           (long long)extents[i]);
    }
    for (int32_t i = 0; i < graph->param_count; i++) {
        struct op_type type = graph->values[i].type;
        for (int j = 0; j < type.rank; j++)
            if (op_is_named(type.dims[j]))
                type.dims[j] = extents[type.dims[j] - OP_NAMED];
        CR_TRY(tensor_measure(call, type.dtype, type.rank, type.dims, NULL, NULL));
        map[i] = graph_param(builder, graph->values[i].name, &type);
    }
    add_nodes(builder, graph, extents, map);
    for (int32_t i = 0; i < graph->result_count; i++)
        results[i] = map[graph->results[i]];
    return graph_finish(builder, results, graph->result_count, ret_graph);
}

enum cr_status graph_verify(struct cr_call *call, const struct graph *graph)
{
    op_value defined = graph->param_count;
    for (int32_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        struct op_type inputs[OP_INPUTS_MAX], outputs[OP_OUTPUTS_MAX];
        if (node->first_output != defined || node->output_count != node->op->signature.output_count)
            return cr_fail(call, CR_INTERNAL, "operation %d: its values are numbered wrongly", i);
        for (int j = 0; j < node->input_count; j++) {
            if (node->inputs[j] >= defined || node->inputs[j] < OP_NO_VALUE)
                return cr_fail(call, CR_INTERNAL, "operation %d: used before it is defined", i);
            inputs[j] = node->inputs[j] == OP_NO_VALUE ? (struct op_type){0}
                                                       : graph->values[node->inputs[j]].type;
        }
        struct op_site site = {.op = node->op,
                               .input_count = node->input_count,
                               .output_count = node->output_count,
                               .inputs = inputs,
                               .attrs = node->attrs};
        CR_TRY(op_infer(call, &site, outputs));
        for (int j = 0; j < node->output_count; j++)
            if (!op_same_type(&outputs[j], &graph->values[defined + j].type))
                return cr_fail(call, CR_INTERNAL, "operation %d: its type is another", i);
        defined += node->output_count;
    }
    return CR_OK;
}

static bool same_dims(const struct graph *a, const struct graph *b)
{
    bool same = a->dim_count == b->dim_count;
    for (int32_t i = 0; same && i < a->dim_count; i++)
        same = strcmp(a->dims[i].name, b->dims[i].name) == 0 && a->dims[i].min == b->dims[i].min &&
               a->dims[i].max == b->dims[i].max && a->dims[i].multiple == b->dims[i].multiple;
    return same;
}

bool graph_equal(const struct graph *a, const struct graph *b)
{
    bool same = strcmp(a->name, b->name) == 0 && same_dims(a, b) &&
                a->param_count == b->param_count && a->value_count == b->value_count &&
                a->node_count == b->node_count && a->result_count == b->result_count;
    for (int32_t i = 0; same && i < a->value_count; i++)
        same = op_same_type(&a->values[i].type, &b->values[i].type) &&
               (i >= a->param_count || strcmp(a->values[i].name, b->values[i].name) == 0);
    for (int32_t i = 0; same && i < a->node_count; i++)
        same = graph_same_node(&a->nodes[i], &b->nodes[i]);
    for (int32_t i = 0; same && i < a->result_count; i++)
        same = a->results[i] == b->results[i];
    return same;
}

op_value graph_find_param(const struct graph *graph, const char *name)
{
    for (int32_t i = 0; i < graph->param_count; i++)
        if (strcmp(graph->values[i].name, name) == 0)
            return i;
    return OP_NO_VALUE;
}
