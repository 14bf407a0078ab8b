/* graph: texts and bytes are canonical, whatever the graph; what is malformed is refused by place.
 */
#include "tests/unit/random_graphs.h"

#include "kernels/grad/grad.h"

#define GRAPHS 2000

static void random_graphs_survive_text_and_bytes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct cr_env env = cr_env_system();
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
        const struct graph *graph = random_graph(&call, seed, seed % 2), *read, *decoded;
        assert_ok(&call, graph_verify(&call, graph));
        const char *text = graph_print(&call, graph);
        assert_ok(&call, graph_parse(&call, text, strlen(text), &read));
        assert_true(graph_equal(graph, read));
        assert_string_equal(graph_print(&call, read), text);
        size_t size, again;
        const unsigned char *bytes = graph_encode(&call, graph, &size);
        assert_ok(&call, graph_decode(&call, bytes, size, &decoded));
        assert_true(graph_equal(graph, decoded));
        assert_memory_equal(graph_encode(&call, decoded, &again), bytes, size);
        assert_int_equal(again, size);
    }
}

static void random_graphs_can_be_bound_and_differentiated(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < GRAPHS / 4; seed++) {
        struct cr_env env = cr_env_system();
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
        const struct graph *graph = random_graph(&call, seed, true), *gradient, *bound, *alike;
        const op_value wrt[] = {0, 1, 2, 3};
        int64_t batch = 5;
        assert_ok(&call, grad_of(&call, graph, 0, wrt, 4, &gradient));
        assert_ok(&call, graph_verify(&call, gradient));
        assert_ok(&call, graph_bind(&call, gradient, &batch, &bound));
        assert_ok(&call, graph_verify(&call, bound));
        assert_ok(&call, graph_bind(&call, graph, &batch, &alike));
        assert_ok(&call, grad_of(&call, alike, 0, wrt, 4, &gradient));
        for (int i = 0; i < 4; i++) {
            const struct graph_value *one = &bound->values[bound->results[3 + i]];
            assert_true(op_same_type(&one->type, &bound->values[i].type));
        }
        batch = 65;
        assert_int_equal(graph_bind(&call, graph, &batch, &bound), CR_INVALID);
    }
}

static void every_cut_and_flipped_byte_is_refused_or_means_itself(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    size_t size, again;
    const unsigned char *bytes = graph_encode(&call, random_graph(&call, 42, true), &size);
    unsigned char *copy = cr_alloc(&call, 1, size);
    for (size_t at = 0; at < size; at++) {
        CR_SCOPED(cr_call_close) struct cr_call one = cr_call_open(&env, INT64_MAX);
        const struct graph *graph;
        assert_int_not_equal(graph_decode(&one, bytes, at, &graph), CR_OK);
    }
    for (size_t at = 0; at < size * 8; at++) {
        CR_SCOPED(cr_call_close) struct cr_call one = cr_call_open(&env, INT64_MAX);
        const struct graph *graph;
        memcpy(copy, bytes, size);
        copy[at / 8] ^= (unsigned char)(1u << at % 8);
        if (graph_decode(&one, copy, size, &graph) == CR_OK) {
            assert_memory_equal(graph_encode(&one, graph, &again), copy, size);
            assert_int_equal(again, size);
        }
    }
}

static void equal_operations_are_one_and_dead_ones_are_gone(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct graph_builder *builder = graph_build(&call, "g");
    struct op_type type = {DTYPE_F32, 1, {3}};
    op_value x = graph_param(builder, "x", &type);
    op_value a = op_unary(&builder->ops, OP_EXP, x), b = op_unary(&builder->ops, OP_EXP, x);
    op_unary(&builder->ops, OP_LOG, x);
    op_value sum = op_add(&builder->ops, a, b);
    const struct graph *graph;
    assert_ok(&call, graph_finish(builder, &sum, 1, &graph));
    assert_int_equal(graph->node_count, 2);
    assert_string_equal(graph_print(&call, graph), "cresset-ir 1\n"
                                                   "graph g(%x: f32[3]) -> (f32[3]) {\n"
                                                   "  %1 = exp@8(%x) : f32[3]\n"
                                                   "  %2 = add@1(%1, %1) : f32[3]\n"
                                                   "  return %2\n"
                                                   "}\n");
}

static void what_is_wrong_in_a_text_is_told_by_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum cr_status status;
        const char *reason;
    } cases[] = {
        {"", CR_INVALID, "line 1: 'cresset-ir' is missing"},
        {"cresset-ir 2", CR_INVALID, "line 1: '1' is missing"},
        {"cresset-ir 1\ngraph g(%x: f33[2]) -> () { return }", CR_INVALID,
         "line 2: an unknown type"},
        {"cresset-ir 1\ngraph g(%x: f32[2], %x: f32[2]) -> () { return }", CR_INVALID,
         "line 2: a value is defined twice"},
        {"cresset-ir 1\ngraph g(%x: f32[2]) -> (f32[2]) {\n %a = exp@8(%y) : f32[2]\n return %a }",
         CR_INVALID, "line 3: an unknown value"},
        {"cresset-ir 1\ngraph g(%x: f32[2]) -> (f32[2]) {\n %a = exp@8(%x) : f32[3]\n return %a }",
         CR_INVALID, "line 3: the type is not the one that the operation gives"},
        {"cresset-ir 1\ngraph g(%x: f32[2]) -> (f32[2]) {\n %a = exq@8(%x) : f32[2]\n return %a }",
         CR_INVALID, "line 3: the operation of that number has another name"},
        {"cresset-ir 1\ngraph g(%x: f32[2]) -> (f32[2]) {\n %a = so@9999(%x) : f32[2]\n return %a "
         "}",
         CR_NOT_FOUND, "no operation so@9999"},
        {"cresset-ir 1\ngraph g(%x: i32[2]) -> (i32[2]) {\n %a = exp@8(%x) : i32[2]\n return %a }",
         CR_INVALID, "exp: x may not be i32"},
        {"cresset-ir 1\ngraph g(%x: f32[2], %y: f32[3]) -> (f32[2]) {\n"
         " %a = add@1(%x, %y) : f32[2]\n return %a }",
         CR_INVALID, "dimensions 2 and 3 do not broadcast"},
        {"cresset-ir 1\ngraph g(%x: f32[281474976710657]) -> () { return }", CR_INVALID,
         "dimension 0 must be 0 to 2^48"},
        {"cresset-ir 1\ngraph g(%x: f32[2]) -> () dim B in 1..2 { return }", CR_INVALID,
         "line 2: an unknown extent"},
        {"cresset-ir 1\ngraph g(%x: f32[2]) -> (f32[1, 2]) {\n"
         " %a = reshape@24(%x) {shape = [1, 3]} : f32[1, 3]\n return %a }",
         CR_INVALID, "reshape: the shapes differ in their number of elements"},
        {"cresset-ir 1\ngraph g(%x: f32[2]) -> () { return } more", CR_INVALID,
         "line 2: something is left over"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cr_env env = cr_env_system();
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
        const struct graph *graph;
        assert_int_equal(graph_parse(&call, cases[i].text, strlen(cases[i].text), &graph),
                         cases[i].status);
        assert_string_equal(call.reason, cases[i].reason);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_survive_text_and_bytes),
        cmocka_unit_test(random_graphs_can_be_bound_and_differentiated),
        cmocka_unit_test(every_cut_and_flipped_byte_is_refused_or_means_itself),
        cmocka_unit_test(equal_operations_are_one_and_dead_ones_are_gone),
        cmocka_unit_test(what_is_wrong_in_a_text_is_told_by_its_line),
    };
    return cmocka_run_group_tests_name("graph", tests, NULL, NULL);
}
