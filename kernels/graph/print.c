/* print: graphs as text. */
#include "kernels/graph/graph_internal.h"

#include "base/core/text.h"

static const char *extent_name(void *context, int64_t extent)
{
    const struct graph *graph = context;
    return graph->dims[extent - OP_NAMED].name;
}

static const char *type_text(struct cr_call *call, const struct graph *graph, op_value value)
{
    struct graph copy = *graph;
    return op_print_type(call, &graph->values[value].type, extent_name, &copy);
}

static void add_value(struct cr_text *text, const struct graph *graph, op_value value)
{
    if (value == OP_NO_VALUE)
        cr_text_add(text, "_");
    else if (value < graph->param_count)
        cr_text_add_format(text, "%%%s", graph->values[value].name);
    else
        cr_text_add_format(text, "%%%d", value);
}

static void add_head(struct cr_call *call, struct cr_text *text, const struct graph *graph)
{
    cr_text_add_format(text, "cresset-ir 1\ngraph %s(", graph->name);
    for (int32_t i = 0; i < graph->param_count; i++)
        cr_text_add_format(text, "%s%%%s: %s", i > 0 ? ", " : "", graph->values[i].name,
                           type_text(call, graph, i));
    cr_text_add(text, ") -> (");
    for (int32_t i = 0; i < graph->result_count; i++)
        cr_text_add_format(text, "%s%s", i > 0 ? ", " : "",
                           type_text(call, graph, graph->results[i]));
    cr_text_add(text, ")");
    for (int32_t i = 0; i < graph->dim_count; i++) {
        const struct graph_dim *dim = &graph->dims[i];
        cr_text_add_format(text, " dim %s in %lld..%lld", dim->name, (long long)dim->min,
                           (long long)dim->max);
        if (dim->multiple != 1)
            cr_text_add_format(text, " multiple %lld", (long long)dim->multiple);
    }
}

static void add_node(struct cr_call *call, struct cr_text *text, const struct graph *graph,
                     const struct graph_node *node)
{
    struct graph copy = *graph;
    const char *attrs = op_print_attrs(call, node->op, node->attrs, extent_name, &copy);
    cr_text_add(text, "  ");
    for (int i = 0; i < node->output_count; i++) {
        cr_text_add(text, i > 0 ? ", " : "");
        add_value(text, graph, node->first_output + i);
    }
    cr_text_add_format(text, " = %s@%d(", node->op->row->name, node->op->row->id);
    for (int i = 0; i < node->input_count; i++) {
        cr_text_add(text, i > 0 ? ", " : "");
        add_value(text, graph, node->inputs[i]);
    }
    cr_text_add(text, ")");
    if (*attrs)
        cr_text_add_format(text, " {%s}", attrs);
    for (int i = 0; i < node->output_count; i++)
        cr_text_add_format(text, "%s%s", i > 0 ? ", " : " : ",
                           type_text(call, graph, node->first_output + i));
    cr_text_add(text, "\n");
}

const char *graph_print(struct cr_call *call, const struct graph *graph)
{
    struct cr_text text = cr_text_open(call);
    add_head(call, &text, graph);
    cr_text_add(&text, " {\n");
    for (int32_t i = 0; i < graph->node_count; i++)
        add_node(call, &text, graph, &graph->nodes[i]);
    cr_text_add(&text, "  return");
    for (int32_t i = 0; i < graph->result_count; i++) {
        cr_text_add(&text, i > 0 ? ", " : " ");
        add_value(&text, graph, graph->results[i]);
    }
    cr_text_add(&text, "\n}\n");
    return text.data;
}
