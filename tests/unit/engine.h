/* engine: what the tests of kernels/ share: samples made real, and graphs run by the reference. */
#pragma once

#include "tests/unit/test.h"

#include "kernels/graph/graph.h"
#include "kernels/random/random.h"

#include <math.h>

/* One input of a sample, of the type that its text says, or of f64 in the place of f32. */
static inline int sample_types(struct cr_call *call, const struct op_sample *sample, bool wide,
                               struct op_type *ret_types)
{
    struct op_text in = {.call = call, .start = sample->inputs, .at = sample->inputs};
    int count = 0;
    while (op_text_take(&in, ""), *in.at != '\0') {
        assert_ok(call, op_text_type(&in, &ret_types[count]));
        if (wide && ret_types[count].dtype == DTYPE_F32)
            ret_types[count].dtype = DTYPE_F64;
        count++;
    }
    return count;
}

/* Floats between the sample's bounds, truths of both kinds, integers of 0 to 3. */
static inline struct tensor sample_tensor(struct cr_call *call, const struct op_sample *sample,
                                          const struct op_type *type, uint64_t seed)
{
    struct tensor tensor;
    assert_ok(call, tensor_alloc(call, type->dtype, type->rank, type->dims, &tensor));
    bool chosen = sample->low != 0 || sample->high != 0;
    double low = chosen ? sample->low : -2, high = chosen ? sample->high : 2;
    int64_t elements = tensor_elements(&tensor);
    for (int64_t i = 0; i < elements; i++) {
        double u = random_word(seed, 1, (uint64_t)i) * 0x1p-32;
        double value = dtype_class_of(type->dtype) == DTYPE_FLOAT   ? low + (high - low) * u
                       : dtype_class_of(type->dtype) == DTYPE_TRUTH ? u < 0.5
                                                                    : floor(4 * u);
        dtype_write(type->dtype, tensor_bytes(&tensor), i, value);
    }
    return tensor;
}

/* The graph of one operation on a sample: parameters a0, a1, ..., all results. */
static inline const struct graph *sample_graph(struct cr_call *call, const struct op *op,
                                               const struct op_sample *sample, bool wide)
{
    struct op_type types[OP_INPUTS_MAX], outputs[OP_OUTPUTS_MAX];
    struct op_datum attrs[OP_ATTRS_MAX];
    op_value inputs[OP_INPUTS_MAX], results[OP_OUTPUTS_MAX];
    const char *text = sample->attrs ? sample->attrs : "";
    struct op_text in = {.call = call, .start = text, .at = text};
    const struct graph *graph;
    int count = sample_types(call, sample, wide, types);
    assert_ok(call, op_text_attrs(&in, op, attrs));
    for (int i = 0; wide && i < op->signature.attr_count; i++)
        if (attrs[i].kind == OP_DATUM_DTYPE && attrs[i].integer == DTYPE_F32)
            attrs[i].integer = DTYPE_F64;
    struct graph_builder *builder = graph_build(call, "sample");
    for (int i = 0; i < count; i++)
        inputs[i] = graph_param(builder, cr_format(call, "a%d", i), &types[i]);
    struct op_site site = {.op = op,
                           .input_count = count,
                           .output_count = op->signature.output_count,
                           .inputs = types,
                           .attrs = attrs,
                           .values = inputs};
    assert_ok(call, op_infer(call, &site, outputs));
    builder->ops.add(&builder->ops, &site, results);
    assert_ok(call, graph_finish(builder, results, op->signature.output_count, &graph));
    return graph;
}

/* Runs a graph by the reference; results are f64, of the call's memory. */
static inline void run_reference(struct cr_call *call, const struct graph *graph,
                                 const struct tensor *inputs, struct tensor *ret_results)
{
    struct op_builder *to = op_reference_open(call);
    op_value *map = cr_new(call, op_value, (size_t)graph->value_count + 1);
    for (int32_t i = 0; i < graph->param_count; i++)
        map[i] = op_reference_put(to, graph->values[i].type.dtype, &inputs[i]);
    for (int32_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        struct op_type types[OP_INPUTS_MAX];
        op_value values[OP_INPUTS_MAX];
        for (int j = 0; j < node->input_count; j++) {
            bool given = node->inputs[j] != OP_NO_VALUE;
            values[j] = given ? map[node->inputs[j]] : OP_NO_VALUE;
            types[j] = given ? graph->values[node->inputs[j]].type : (struct op_type){0};
        }
        struct op_site site = {.op = node->op,
                               .input_count = node->input_count,
                               .output_count = node->output_count,
                               .inputs = types,
                               .attrs = node->attrs,
                               .values = values};
        to->add(to, &site, &map[node->first_output]);
        assert_ok(call, call->status);
    }
    for (int32_t i = 0; i < graph->result_count; i++)
        ret_results[i] = *op_reference_get(to, map[graph->results[i]]);
}
