/* run: programs give what the reference gives, in memory that was known before. */
#include "tests/unit/random_graphs.h"

#include "kernels/cpu/cpu.h"
#include "kernels/grad/grad.h"
#include "kernels/nn/nn.h"
#include "kernels/run/run.h"

#define GRAPHS 400

static struct device *open_cpu(struct cr_call *call, int64_t memory_max)
{
    struct cpu_options options = {.threads = 2, .memory_max = memory_max};
    struct device *device;
    assert_ok(call, cpu_open(call, &options, &device));
    return device;
}

static struct tensor filled(struct cr_call *call, const struct op_type *type, uint64_t seed)
{
    static const struct op_sample sample = {.low = -1, .high = 1};
    return sample_tensor(call, &sample, type, seed);
}

static void close_all(struct tensor *tensors, int count)
{
    for (int i = 0; i < count; i++)
        storage_close(tensors[i].storage);
}

/* Runs a graph twice and compares with the reference: exp of exp grows, so by relative error. */
static void compare(struct cr_call *call, struct device *device, const struct graph *graph,
                    uint64_t seed)
{
    struct tensor inputs[8], outputs[8], expected[8];
    struct run_program *program;
    assert_ok(call, run_compile(call, device, graph, 0, &program));
    for (int32_t i = 0; i < graph->param_count; i++)
        inputs[i] = filled(call, &graph->values[i].type, seed + (uint64_t)i);
    for (int32_t i = 0; i < graph->result_count; i++) {
        const struct op_type *type = &graph->values[graph->results[i]].type;
        assert_ok(call, tensor_alloc(call, type->dtype, type->rank, type->dims, &outputs[i]));
    }
    run_reference(call, graph, inputs, expected);
    for (int round = 0; round < 2; round++) {
        assert_ok(call, run_once(call, program, inputs, outputs));
        for (int32_t i = 0; i < graph->result_count; i++) {
            int64_t elements = tensor_elements(&outputs[i]);
            for (int64_t e = 0; e < elements; e++) {
                double is = tensor_at(&outputs[i], e), should = tensor_at(&expected[i], e);
                double allowed = 1e-3 * fabs(should) + 1e-3;
                if (isfinite(should) && fabs(should) < 1e6 && !(fabs(is - should) <= allowed))
                    fail_msg("seed %llu: %g, not %g\n%s", (unsigned long long)seed, is, should,
                             graph_print(call, graph));
            }
        }
    }
    close_all(inputs, graph->param_count);
    close_all(outputs, graph->result_count);
    run_close(program);
}

static void random_programs_agree_with_the_reference(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call whole = cr_call_open(&env, INT64_MAX);
    struct device *device = open_cpu(&whole, 0);
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
        const struct graph *graph = random_graph(&call, seed, false), *gradient;
        const op_value wrt[] = {0, 1};
        compare(&call, device, graph, seed);
        assert_ok(&call, grad_of(&call, graph, 1, wrt, 2, &gradient));
        compare(&call, device, gradient, seed);
    }
    assert_int_equal(device->memory_used, 0);
    device_close(device);
}

static void memory_is_known_and_limited_before_a_run(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct nn_recipe recipe = {.kind = NN_CNN,
                               .rows = 28,
                               .columns = 28,
                               .layer_count = 2,
                               .widths = {16, 32},
                               .kernel = 3,
                               .pool = 2,
                               .classes = 10};
    const struct graph *graph, *bound;
    struct device *device = open_cpu(&call, 0);
    struct run_program *program;
    int64_t batch = 64;
    assert_ok(&call, nn_forward(&call, &recipe, &graph));
    assert_int_equal(run_compile(&call, device, graph, 0, &program), CR_INVALID);
    assert_string_equal(call.reason, "extent B has no value");
    cr_forgive(&call);
    assert_ok(&call, graph_bind(&call, graph, &batch, &bound));
    assert_ok(&call, run_compile(&call, device, bound, 0, &program));
    struct run_plan plan = run_plan(program);
    assert_int_equal(device->memory_used, plan.memory);
    /* The largest two that live at once: a convolution's pictures and what relu makes of them. */
    assert_true(plan.memory >= 64 * 16 * 784 * 4);
    assert_true(plan.memory < 3 * 64 * 16 * 784 * 4);
    run_close(program);
    assert_int_equal(run_compile(&call, device, bound, plan.memory - 1, &program), CR_EXHAUSTED);
    cr_forgive(&call);
    assert_int_equal(device->memory_used, 0);
    device_close(device);

    device = open_cpu(&call, plan.memory - 1);
    assert_int_equal(run_compile(&call, device, bound, 0, &program), CR_EXHAUSTED);
    device_close(device);
}

static void what_is_constant_runs_once(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    const char *text = "cresset-ir 1 graph g(%x: f32[3]) -> (f32[3]) {"
                       " %1 = iota@32() {count = 3, type = f32} : f32[3]"
                       " %2 = exp@8(%1) : f32[3] %3 = add@1(%x, %2) : f32[3] return %3 }";
    const struct graph *graph;
    struct device *device = open_cpu(&call, 0);
    struct run_program *program;
    assert_ok(&call, graph_parse(&call, text, strlen(text), &graph));
    assert_ok(&call, run_compile(&call, device, graph, 0, &program));
    assert_int_equal(run_plan(program).steps, 1);
    assert_true(run_plan(program).constants >= 12);
    run_close(program);
    compare(&call, device, graph, 3);
    device_close(device);
}

static void inputs_of_another_type_and_a_deadline_stop_a_run(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    const char *text = "cresset-ir 1 graph g(%x: f32[2, 3]) -> (f32[2, 3]) {"
                       " %1 = exp@8(%x) : f32[2, 3] return %1 }";
    const struct op_type right = {DTYPE_F32, 2, {2, 3}}, wrong = {DTYPE_F32, 2, {3, 2}};
    struct device *device = open_cpu(&call, 0);
    const struct graph *graph;
    struct run_program *program;
    assert_ok(&call, graph_parse(&call, text, strlen(text), &graph));
    assert_ok(&call, run_compile(&call, device, graph, 0, &program));
    struct tensor good = filled(&call, &right, 1), bad = filled(&call, &wrong, 1), out;
    assert_ok(&call, tensor_alloc(&call, DTYPE_F32, 2, right.dims, &out));
    assert_int_equal(run_once(&call, program, &bad, &out), CR_INVALID);
    assert_string_equal(call.reason, "input 0 is not f32[2, 3]");
    cr_forgive(&call);
    const int turned[] = {1, 0};
    struct tensor view = tensor_permute(&bad, turned);
    assert_int_equal(run_once(&call, program, &view, &out), CR_INVALID);
    assert_string_equal(call.reason, "input 0 is not contiguous");
    cr_forgive(&call);
    CR_SCOPED(cr_call_close) struct cr_call late = cr_call_open(&env, 1);
    assert_int_equal(run_once(&late, program, &good, &out), CR_TIMEOUT);
    assert_ok(&call, run_once(&call, program, &good, &out));
    storage_close(good.storage);
    storage_close(bad.storage);
    storage_close(out.storage);
    run_close(program);
    device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_agree_with_the_reference),
        cmocka_unit_test(memory_is_known_and_limited_before_a_run),
        cmocka_unit_test(what_is_constant_runs_once),
        cmocka_unit_test(inputs_of_another_type_and_a_deadline_stop_a_run),
    };
    return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
