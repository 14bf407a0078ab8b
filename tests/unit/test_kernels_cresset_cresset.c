/* cresset: the engine as others use it, through cresset.h alone. */
#include "kernels/cresset/cresset.h"
#include "tests/unit/test.h"

#include <string.h>

/* y = mean of (x w)^2 over all. */
static const char text[] = "cresset-ir 1\n"
                           "graph f(%x: f32[B, 2], %w: f32[2, 3]) -> (f32[]) dim B in 1..64 {\n"
                           "  %2 = matmul@17(%x, %w) : f32[B, 3]\n"
                           "  %3 = mul@3(%2, %2) : f32[B, 3]\n"
                           "  %4 = reduce_sum@34(%3) {axes = [0, 1]} : f32[]\n"
                           "  return %4\n"
                           "}\n";

static struct cresset *open_engine(struct cr_call *call, int64_t memory_max)
{
    struct cresset_options options = {
        .size = sizeof options, .threads = 1, .memory_max = memory_max};
    struct cresset *engine;
    assert_ok(call, cresset_open(call, &options, &engine));
    return engine;
}

static void a_graph_is_read_differentiated_compiled_and_run(void **state)
{
    (void)state;
    struct cr_call *call = cresset_call_open(0);
    struct cresset *engine = open_engine(call, 0);
    struct cresset_graph *graph, *gradient;
    struct cresset_program *program;
    const char *const wrt[] = {"w"};
    assert_ok(call, cresset_graph_parse(call, text, strlen(text), &graph));
    assert_string_equal(cresset_graph_print(call, graph), text);
    assert_ok(call, cresset_graph_differentiate(call, graph, 0, wrt, 1, &gradient));
    const struct cresset_extent extents[] = {{"B", 2}};
    struct cresset_compile_options options = {
        .size = sizeof options, .extents = extents, .extent_count = 1};
    assert_ok(call, cresset_compile(call, engine, gradient, &options, &program));
    assert_int_equal(cresset_program_results(program), 2);

    const int64_t x_shape[] = {2, 2}, w_shape[] = {2, 3};
    const float x[] = {1, 2, 3, 4}, w[] = {1, 0, -1, 2, 1, 0};
    struct cresset_tensor *inputs[2], *outputs[2];
    float y, dw[6];
    assert_ok(call,
              cresset_tensor_copy_in(call, engine, "f32", 2, x_shape, x, sizeof x, &inputs[0]));
    assert_ok(call,
              cresset_tensor_copy_in(call, engine, "f32", 2, w_shape, w, sizeof w, &inputs[1]));
    assert_ok(call, cresset_program_run(call, program, inputs, 2, outputs));
    assert_ok(call, cresset_tensor_read(call, outputs[0], &y, sizeof y));
    assert_ok(call, cresset_tensor_read(call, outputs[1], dw, sizeof dw));
    /* x w = [5 2 -1; 11 4 -3]: the sum of squares, and 2 x^T (x w). */
    const float expected[] = {76, 28, -20, 108, 40, -28};
    assert_true(y == 25 + 4 + 1 + 121 + 16 + 9);
    assert_memory_equal(dw, expected, sizeof expected);
    assert_true(cresset_program_plan(program).steps >= 4);
    assert_true(cresset_usage(engine) > 0);

    for (int i = 0; i < 2; i++) {
        cresset_tensor_close(inputs[i]);
        cresset_tensor_close(outputs[i]);
    }
    cresset_program_close(program);
    cresset_graph_close(graph);
    cresset_graph_close(gradient);
    assert_int_equal(cresset_memory(engine).used, 0);
    assert_true(cresset_memory(engine).peak > 0);
    cresset_close(engine);
    cresset_call_close(call);
}

static void a_graph_has_one_encoding(void **state)
{
    (void)state;
    struct cr_call *call = cresset_call_open(0);
    struct cresset_graph *graph, *decoded;
    size_t size, again;
    assert_ok(call, cresset_graph_parse(call, text, strlen(text), &graph));
    const void *bytes = cresset_graph_encode(call, graph, &size);
    assert_ok(call, cresset_graph_decode(call, bytes, size, &decoded));
    assert_memory_equal(cresset_graph_encode(call, decoded, &again), bytes, size);
    assert_int_equal(again, size);
    cresset_graph_close(graph);
    cresset_graph_close(decoded);
    cresset_call_close(call);
}

static void views_share_memory_and_outlive_what_they_are_of(void **state)
{
    (void)state;
    struct cr_call *call = cresset_call_open(0);
    struct cresset *engine = open_engine(call, 0);
    struct cresset_tensor *tensor, *turned, *part;
    const int64_t shape[] = {2, 3}, axes[] = {1, 0};
    const int32_t numbers[] = {1, 2, 3, 4, 5, 6};
    int32_t read[6];
    assert_ok(call, cresset_tensor_copy_in(call, engine, "i32", 2, shape, numbers, sizeof numbers,
                                           &tensor));
    assert_ok(call, cresset_tensor_permute(call, tensor, axes, &turned));
    assert_ok(call, cresset_tensor_slice(call, turned, 0, 1, 2, 1, &part));
    cresset_tensor_close(tensor);
    cresset_tensor_close(turned);
    struct cresset_tensor_info info = cresset_tensor_describe(part);
    assert_int_equal(info.size, 16);
    assert_int_equal(info.shape[0], 2);
    assert_int_equal(info.stride[0], 1);
    assert_ok(call, cresset_tensor_read(call, part, read, 16));
    const int32_t expected[] = {2, 5, 3, 6};
    assert_memory_equal(read, expected, sizeof expected);
    assert_int_equal(cresset_tensor_write(call, part, expected, 16), CR_INVALID);
    cr_forgive(call);
    assert_int_equal(cresset_tensor_read(call, part, read, 15), CR_INVALID);
    assert_string_equal(cresset_call_reason(call), "15 bytes, the tensor has 16");
    cresset_tensor_close(part);
    assert_int_equal(cresset_memory(engine).used, 0);
    cresset_close(engine);
    cresset_call_close(call);
}

static void limits_and_mistakes_have_their_status_and_leave_nothing_behind(void **state)
{
    (void)state;
    struct cr_call *call = cresset_call_open(0);
    struct cresset *engine = open_engine(call, 1 << 20);
    struct cresset_tensor *tensor;
    struct cresset_graph *graph;
    struct cresset_program *program;
    struct cresset_file *file;
    const int64_t large[] = {1 << 20}, wrong[] = {-1};
    assert_int_equal(cresset_tensor_empty(call, engine, "f32", 1, large, &tensor), CR_EXHAUSTED);
    cr_forgive(call);
    assert_int_equal(cresset_tensor_empty(call, engine, "f32", 1, wrong, &tensor), CR_INVALID);
    cr_forgive(call);
    assert_int_equal(cresset_tensor_empty(call, engine, "f33", 1, large, &tensor), CR_NOT_FOUND);
    cr_forgive(call);
    assert_int_equal(cresset_graph_parse(call, "graph", 5, &graph), CR_INVALID);
    assert_string_equal(cresset_call_reason(call), "line 1: 'cresset-ir' is missing");
    cr_forgive(call);
    assert_int_equal(cresset_file_open(call, "", 0, "onnx", &file), CR_NOT_FOUND);
    cr_forgive(call);
    assert_ok(call, cresset_graph_parse(call, text, strlen(text), &graph));
    assert_int_equal(cresset_compile(call, engine, graph, NULL, &program), CR_INVALID);
    assert_string_equal(cresset_call_reason(call), "extent B has no value");
    cr_forgive(call);
    cresset_graph_close(graph);

    struct cresset_options options = {.size = 3};
    struct cresset *other;
    assert_int_equal(cresset_open(call, &options, &other), CR_INVALID);
    cr_forgive(call);
    options = (struct cresset_options){.size = sizeof options, .tier = "mmx"};
    assert_int_equal(cresset_open(call, &options, &other), CR_INVALID);
    assert_int_equal(cresset_memory(engine).used, 0);
    cresset_close(engine);
    cresset_call_close(call);
}

static void what_the_engine_is_can_be_asked(void **state)
{
    (void)state;
    struct cr_call *call = cresset_call_open(0);
    struct cresset *engine = open_engine(call, 0);
    struct cresset_device device = cresset_device_describe(engine);
    assert_string_equal(device.kind, "cpu");
    assert_string_equal(device.class, "cpu/base");
    assert_int_equal(device.threads, 1);
    assert_int_equal(cresset_device_count("cpu"), 1);
    assert_int_equal(cresset_device_count("cuda"), 0);
    assert_string_equal(cresset_version(), CRESSET_VERSION);
    cresset_close(engine);
    cresset_call_close(call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_is_read_differentiated_compiled_and_run),
        cmocka_unit_test(a_graph_has_one_encoding),
        cmocka_unit_test(views_share_memory_and_outlive_what_they_are_of),
        cmocka_unit_test(limits_and_mistakes_have_their_status_and_leave_nothing_behind),
        cmocka_unit_test(what_the_engine_is_can_be_asked),
    };
    return cmocka_run_group_tests_name("cresset", tests, NULL, NULL);
}
