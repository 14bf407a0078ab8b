/* grad: every rule of a row agrees with central differences in f64, and no row is left out. */
#include "tests/unit/engine.h"

#include "kernels/grad/grad.h"

#define DIRECTIONS 2
#define ELEMENTS_MAX                                                             \
    4000 /* of a sample's inputs: the larger ones are for kernels, not for rules \
          */

/* The results of a graph but its last `gradients`, each times a random projection, summed. */
static double projected(const struct graph *graph, const struct tensor *inputs, uint64_t seed)
{
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct tensor results[OP_OUTPUTS_MAX];
    run_reference(&call, graph, inputs, results);
    double sum = 0;
    for (int32_t i = 0; i < graph->result_count; i++) {
        int64_t elements = tensor_elements(&results[i]);
        for (int64_t e = 0; e < elements; e++)
            sum += tensor_at(&results[i], e) *
                   (random_word(seed, (uint64_t)i, (uint64_t)e) * 0x1p-31 - 1);
    }
    return sum;
}

/* The same as a graph: one result, the sum of products with parameters that hold the projection. */
static const struct graph *projection(struct cr_call *call, const struct graph *graph)
{
    struct graph_builder *builder = graph_build(call, "projection");
    op_value params[OP_INPUTS_MAX], weights[OP_OUTPUTS_MAX], results[OP_OUTPUTS_MAX], sum = -1;
    const struct graph *made;
    for (int32_t i = 0; i < graph->param_count; i++)
        params[i] = graph_param(builder, graph->values[i].name, &graph->values[i].type);
    for (int32_t i = 0; i < graph->result_count; i++)
        weights[i] =
            graph_param(builder, cr_format(call, "p%d", i), &graph->values[graph->results[i]].type);
    graph_inline(builder, graph, params, results);
    for (int32_t i = 0; i < graph->result_count; i++) {
        op_value product = op_mul(&builder->ops, results[i], weights[i]);
        unsigned axes = (1u << builder->graph->values[product].type.rank) - 1;
        op_value one = op_reduce(&builder->ops, OP_REDUCE_SUM, product, axes, false);
        sum = i == 0 ? one : op_add(&builder->ops, sum, one);
    }
    assert_ok(call, graph_finish(builder, &sum, 1, &made));
    return made;
}

static void fill_projection(struct cr_call *call, const struct graph *whole, int32_t first,
                            uint64_t seed, struct tensor *inputs)
{
    for (int32_t i = first; i < whole->param_count; i++) {
        const struct op_type *type = &whole->values[i].type;
        assert_ok(call, tensor_alloc(call, type->dtype, type->rank, type->dims, &inputs[i]));
        int64_t elements = tensor_elements(&inputs[i]);
        for (int64_t e = 0; e < elements; e++)
            ((double *)tensor_bytes(&inputs[i]))[e] =
                random_word(seed, (uint64_t)(i - first), (uint64_t)e) * 0x1p-31 - 1;
    }
}

static void move(struct tensor *tensor, uint64_t seed, double step)
{
    double *x = tensor_bytes(tensor);
    int64_t elements = tensor_elements(tensor);
    for (int64_t e = 0; e < elements; e++)
        x[e] += step * (random_word(seed, 2, (uint64_t)e) * 0x1p-31 - 1);
}

static void check_sample(const struct op *op, const struct op_sample *sample)
{
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct tensor inputs[OP_INPUTS_MAX + OP_OUTPUTS_MAX], results[OP_INPUTS_MAX + 1];
    op_value wrt[OP_INPUTS_MAX];
    int wrt_count = 0;
    const struct graph *graph = sample_graph(&call, op, sample, true), *with_gradients;
    if (graph->values[graph->results[0]].type.dtype != DTYPE_F64)
        return; /* a cast to integers */
    int64_t elements_in = 0;
    for (int32_t i = 0; i < graph->param_count; i++) {
        int64_t elements;
        const struct op_type *type = &graph->values[i].type;
        assert_ok(&call,
                  tensor_measure(&call, type->dtype, type->rank, type->dims, &elements, NULL));
        elements_in += elements;
    }
    if (elements_in > ELEMENTS_MAX)
        return;
    const struct graph *sum = projection(&call, graph);
    for (int32_t i = 0; i < graph->param_count; i++) {
        inputs[i] = sample_tensor(&call, sample, &graph->values[i].type, 77 + (uint64_t)i);
        if (graph->values[i].type.dtype == DTYPE_F64)
            wrt[wrt_count++] = i;
    }
    fill_projection(&call, sum, graph->param_count, 5, inputs);
    assert_ok(&call, grad_of(&call, sum, 0, wrt, wrt_count, &with_gradients));
    assert_ok(&call, graph_verify(&call, with_gradients));
    run_reference(&call, with_gradients, inputs, results);

    for (int i = 0; i < wrt_count * DIRECTIONS; i++) {
        struct tensor *x = &inputs[wrt[i % wrt_count]];
        uint64_t seed = 1000 + (uint64_t)i;
        double h = 1e-6, by_rule = 0;
        move(x, seed, h);
        double above = projected(graph, inputs, 5);
        move(x, seed, -2 * h);
        double below = projected(graph, inputs, 5), by_difference = (above - below) / (2 * h);
        move(x, seed, h);
        int64_t elements = tensor_elements(x);
        for (int64_t e = 0; e < elements; e++)
            by_rule += tensor_at(&results[1 + i % wrt_count], e) *
                       (random_word(seed, 2, (uint64_t)e) * 0x1p-31 - 1);
        double allowed = 1e-5 * fabs(by_difference) + 1e-6 * (1 + fabs(above) * 1e-3);
        if (!(fabs(by_rule - by_difference) <= allowed))
            fail_msg("%s of %s {%s}, input %d: %.9g by the rule, %.9g by differences",
                     op->row->name, sample->inputs, sample->attrs ? sample->attrs : "",
                     wrt[i % wrt_count], by_rule, by_difference);
    }
    for (int32_t i = 0; i < sum->param_count; i++)
        storage_close(inputs[i].storage);
}

static void every_rule_agrees_with_central_differences(void **state)
{
    (void)state;
    int count, checked = 0;
    const struct op *const *ops = op_all(&count);
    for (int i = 0; i < count; i++) {
        if (ops[i]->row->flags & OP_NO_GRADIENT)
            continue;
        assert_non_null(ops[i]->row->samples);
        for (const struct op_sample *sample = ops[i]->row->samples; sample->inputs; sample++) {
            check_sample(ops[i], sample);
            checked++;
        }
    }
    assert_true(checked > 60);
}

static void a_value_that_nothing_leads_to_has_zeros(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    const char *text = "cresset-ir 1 graph g(%x: f64[2], %y: f64[3]) -> (f64[2]) {"
                       " %a = exp@8(%x) : f64[2] return %a }";
    const struct graph *graph, *gradient;
    op_value wrt = 1;
    assert_ok(&call, graph_parse(&call, text, strlen(text), &graph));
    assert_ok(&call, grad_of(&call, graph, 0, &wrt, 1, &gradient));
    assert_int_equal(gradient->nodes[gradient->node_count - 1].op->row->id, OP_FULL);
}

static void an_operation_without_a_gradient_is_named(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    const char *text = "cresset-ir 1 graph g(%x: f64[2]) -> (f64[2]) {"
                       " %a = sign@7(%x) : f64[2] return %a }";
    const struct graph *graph, *gradient;
    op_value wrt = 0;
    assert_ok(&call, graph_parse(&call, text, strlen(text), &graph));
    assert_int_equal(grad_of(&call, graph, 0, &wrt, 1, &gradient), CR_INVALID);
    assert_string_equal(call.reason, "operation sign has no gradient");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_agrees_with_central_differences),
        cmocka_unit_test(a_value_that_nothing_leads_to_has_zeros),
        cmocka_unit_test(an_operation_without_a_gradient_is_named),
    };
    return cmocka_run_group_tests_name("grad", tests, NULL, NULL);
}
