/* build: graphs, one operation after the other. */
#include "kernels/graph/graph_internal.h"

#include <assert.h>

static struct graph_builder *builder_of(struct op_builder *to)
{
    return (struct graph_builder *)(void *)((char *)to - offsetof(struct graph_builder, ops));
}

/* Room for one more; what was given out before stays readable, since a call frees nothing. */
static void *grown(struct cr_call *call, void *items, int32_t count, int32_t *room, size_t size)
{
    if (count < *room)
        return items;
    *room = *room < 8 ? 16 : *room * 2;
    void *more = cr_alloc(call, (size_t)*room, size);
    if (count > 0)
        memcpy(more, items, (size_t)count * size);
    return more;
}

static op_value new_value(struct graph_builder *builder, const struct op_type *type, int32_t node,
                          int32_t output)
{
    struct graph *graph = builder->graph;
    graph->values = grown(builder->ops.call, graph->values, graph->value_count,
                          &builder->value_room, sizeof *graph->values);
    graph->values[graph->value_count] =
        (struct graph_value){.type = *type, .node = node, .output = output};
    return graph->value_count++;
}

static const struct op_type *type_of(struct op_builder *to, op_value value)
{
    return &builder_of(to)->graph->values[value].type;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15) ^ hash >> 29;
}

static uint64_t hash_of(const struct graph_node *node)
{
    uint64_t hash = node->op->row->id;
    for (int i = 0; i < node->input_count; i++)
        hash = mix(hash, (uint64_t)(uint32_t)node->inputs[i]);
    for (int i = 0; i < node->op->signature.attr_count; i++) {
        uint64_t bits;
        memcpy(&bits, &node->attrs[i].number, sizeof bits);
        hash = mix(mix(hash, (uint64_t)node->attrs[i].integer), bits);
        for (int j = 0; j < node->attrs[i].count; j++)
            hash = mix(hash, (uint64_t)node->attrs[i].list[j]);
    }
    return hash ^ hash >> 32;
}

bool graph_same_node(const struct graph_node *a, const struct graph_node *b)
{
    if (a->op != b->op || a->input_count != b->input_count ||
        memcmp(a->inputs, b->inputs, sizeof a->inputs[0] * (size_t)a->input_count) != 0)
        return false;
    for (int i = 0; i < a->op->signature.attr_count; i++) {
        const struct op_datum *x = &a->attrs[i], *y = &b->attrs[i];
        if (x->kind != y->kind || x->integer != y->integer || x->count != y->count ||
            memcmp(&x->number, &y->number, sizeof x->number) != 0 ||
            (x->count > 0 && memcmp(x->list, y->list, sizeof x->list[0] * (size_t)x->count) != 0))
            return false;
    }
    return true;
}

/* The place in the table of nodes: of an equal one, or the free one where it belongs. */
static int32_t *place_of(struct graph_builder *builder, const struct graph_node *node)
{
    uint32_t mask = (uint32_t)builder->same_room - 1, at = (uint32_t)hash_of(node) & mask;
    while (builder->same[at] != 0 &&
           !graph_same_node(&builder->graph->nodes[builder->same[at] - 1], node))
        at = (at + 1) & mask;
    return &builder->same[at];
}

static void widen_table(struct graph_builder *builder)
{
    if (builder->graph->node_count * 2 < builder->same_room)
        return;
    builder->same_room = builder->same_room == 0 ? 64 : builder->same_room * 2;
    builder->same = cr_new(builder->ops.call, int32_t, (size_t)builder->same_room);
    for (int32_t i = 0; i < builder->graph->node_count; i++)
        *place_of(builder, &builder->graph->nodes[i]) = i + 1;
}

/* Attributes whose lists are the graph's own. */
static struct op_datum *own_attrs(struct cr_call *call, const struct op_site *site)
{
    int count = site->op->signature.attr_count;
    struct op_datum *attrs = cr_new(call, struct op_datum, (size_t)count);
    for (int i = 0; i < count; i++) {
        attrs[i] = site->attrs[i];
        if (attrs[i].count == 0)
            continue;
        int64_t *list = cr_new(call, int64_t, (size_t)attrs[i].count);
        memcpy(list, site->attrs[i].list, sizeof list[0] * (size_t)attrs[i].count);
        attrs[i].list = list;
    }
    return attrs;
}

/* Optional inputs that are left out at the end are not kept. */
static int16_t input_count_of(const struct op_site *site)
{
    int count = site->input_count;
    while (count > site->op->signature.required_inputs && site->values[count - 1] == OP_NO_VALUE)
        count--;
    return (int16_t)count;
}

static void add(struct op_builder *to, const struct op_site *site, op_value *ret_outputs)
{
    struct graph_builder *builder = builder_of(to);
    struct graph *graph = builder->graph;
    struct op_type outputs[OP_OUTPUTS_MAX];
    struct graph_node node = {.op = site->op,
                              .input_count = input_count_of(site),
                              .output_count = (int16_t)site->op->signature.output_count};
    if (graph->node_count == GRAPH_NODES_MAX) {
        to->call->status =
            cr_fail(to->call, CR_EXHAUSTED, "a graph of more than %d operations", GRAPH_NODES_MAX);
        return;
    }
    if (op_infer(to->call, site, outputs) != CR_OK)
        return;
    node.inputs = cr_new(to->call, op_value, (size_t)node.input_count + 1);
    for (int i = 0; i < node.input_count; i++)
        node.inputs[i] = site->values[i];
    node.attrs = own_attrs(to->call, site);
    widen_table(builder);
    int32_t *place = builder->plain ? NULL : place_of(builder, &node);
    if (place && *place != 0) {
        for (int i = 0; i < node.output_count; i++)
            ret_outputs[i] = graph->nodes[*place - 1].first_output + i;
        return;
    }
    node.first_output = graph->value_count;
    for (int i = 0; i < node.output_count; i++)
        ret_outputs[i] = new_value(builder, &outputs[i], graph->node_count, i);
    graph->nodes =
        grown(to->call, graph->nodes, graph->node_count, &builder->node_room, sizeof *graph->nodes);
    graph->nodes[graph->node_count++] = node;
    if (place)
        *place = graph->node_count;
}

struct graph_builder *graph_build(struct cr_call *call, const char *name)
{
    struct graph_builder *builder = cr_new(call, struct graph_builder, 1);
    builder->ops = (struct op_builder){.call = call, .add = add, .type_of = type_of};
    builder->graph = cr_new(call, struct graph, 1);
    builder->graph->name = cr_copy(call, name, strlen(name));
    return builder;
}

struct graph_builder *graph_build_plain(struct cr_call *call, const char *name)
{
    struct graph_builder *builder = graph_build(call, name);
    builder->plain = true;
    return builder;
}

int64_t graph_dim(struct graph_builder *builder, const char *name, int64_t min, int64_t max)
{
    struct graph *graph = builder->graph;
    for (int32_t i = 0; i < graph->dim_count; i++)
        if (strcmp(graph->dims[i].name, name) == 0)
            return OP_NAMED + i;
    assert(graph->dim_count < GRAPH_DIMS_MAX);
    graph->dims = grown(builder->ops.call, graph->dims, graph->dim_count, &builder->dim_room,
                        sizeof *graph->dims);
    graph->dims[graph->dim_count] =
        (struct graph_dim){cr_copy(builder->ops.call, name, strlen(name)), min, max, 1};
    return OP_NAMED + graph->dim_count++;
}

op_value graph_param(struct graph_builder *builder, const char *name, const struct op_type *type)
{
    struct graph *graph = builder->graph;
    assert(graph->node_count == 0 && graph->param_count < GRAPH_PARAMS_MAX);
    op_value value = new_value(builder, type, -1, graph->param_count++);
    graph->values[value].name = cr_copy(builder->ops.call, name, strlen(name));
    return value;
}

/* Drops operations that no result needs, and numbers the values anew. */
static void drop_dead(struct graph_builder *builder)
{
    struct cr_call *call = builder->ops.call;
    struct graph *graph = builder->graph;
    bool *needed = cr_new(call, bool, (size_t)graph->node_count + 1);
    op_value *moved = cr_new(call, op_value, (size_t)graph->value_count + 1);
    for (int32_t i = 0; i < graph->result_count; i++)
        if (graph->values[graph->results[i]].node >= 0)
            needed[graph->values[graph->results[i]].node] = true;
    for (int32_t i = graph->node_count - 1; i >= 0; i--)
        for (int j = 0; needed[i] && j < graph->nodes[i].input_count; j++) {
            op_value input = graph->nodes[i].inputs[j];
            if (input != OP_NO_VALUE && graph->values[input].node >= 0)
                needed[graph->values[input].node] = true;
        }

    int32_t nodes = 0, values = graph->param_count;
    for (int32_t i = 0; i < graph->param_count; i++)
        moved[i] = i;
    for (int32_t i = 0; i < graph->node_count; i++) {
        if (!needed[i])
            continue;
        struct graph_node node = graph->nodes[i];
        for (int j = 0; j < node.input_count; j++)
            if (node.inputs[j] != OP_NO_VALUE)
                node.inputs[j] = moved[node.inputs[j]];
        for (int j = 0; j < node.output_count; j++) {
            moved[node.first_output + j] = values;
            graph->values[values] = graph->values[node.first_output + j];
            graph->values[values++].node = nodes;
        }
        node.first_output = values - node.output_count;
        graph->nodes[nodes++] = node;
    }
    for (int32_t i = 0; i < graph->result_count; i++)
        graph->results[i] = moved[graph->results[i]];
    graph->node_count = nodes;
    graph->value_count = values;
}

/* Names of extents stand in the order in which parameters use them, and each is used there. */
static enum cr_status check_dims(struct cr_call *call, const struct graph *graph)
{
    int32_t seen = 0;
    for (int32_t i = 0; i < graph->param_count; i++)
        CR_TRY(op_check_type(call, &graph->values[i].type));
    for (int32_t i = 0; i < graph->param_count; i++)
        for (int j = 0; j < graph->values[i].type.rank; j++) {
            int64_t extent = graph->values[i].type.dims[j];
            if (!op_is_named(extent) || extent - OP_NAMED < seen)
                continue;
            if (extent - OP_NAMED != seen)
                return cr_fail(call, CR_INVALID, "extents are not in the order of their first use");
            seen++;
        }
    if (seen != graph->dim_count)
        return cr_fail(call, CR_INVALID, "extent %s is of no parameter", graph->dims[seen].name);
    for (int32_t i = 0; i < graph->dim_count; i++) {
        const struct graph_dim *dim = &graph->dims[i];
        if (dim->min < 0 || dim->max > TENSOR_DIM_MAX || dim->min > dim->max || dim->multiple < 1)
            return cr_fail(call, CR_INVALID, "bounds of extent %s", dim->name);
    }
    return CR_OK;
}

enum cr_status graph_finish(struct graph_builder *builder, const op_value *results,
                            int result_count, const struct graph **ret_graph)
{
    struct cr_call *call = builder->ops.call;
    struct graph *graph = builder->graph;
    CR_TRY(call->status);
    graph->results = cr_new(call, op_value, (size_t)result_count + 1);
    graph->result_count = result_count;
    for (int i = 0; i < result_count; i++) {
        if (results[i] < 0 || results[i] >= graph->value_count)
            return cr_fail(call, CR_INVALID, "result %d is no value", i);
        graph->results[i] = results[i];
    }
    CR_TRY(check_dims(call, graph));
    if (!builder->plain)
        drop_dead(builder);
    *ret_graph = graph;
    return CR_OK;
}
