#include "tests/unit/cpu_tiers.h"

#include <stdatomic.h>

static struct cr_call open_call(void)
{
    static struct cr_env env;
    env = cr_env_system();
    return cr_call_open(&env, INT64_MAX);
}

static void a_tier_that_is_none_is_refused(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = open_call();
    struct device *device;
    assert_int_equal(cpu_open(&call, &(struct cpu_options){.tier = "sse9"}, &device), CR_INVALID);
    assert_string_equal(call.reason, "no tier 'sse9': portable, avx2 or avx512");
}

static void cresset_cpu_lowers_and_never_raises(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = open_call();
    struct device *device;
    setenv("CRESSET_CPU", "portable", 1);
    assert_ok(&call, cpu_open(&call, &(struct cpu_options){.threads = 1}, &device));
    assert_string_equal(cpu_tier(device), "portable");
    device_close(device);

    setenv("CRESSET_CPU", "avx512", 1);
    assert_ok(&call, cpu_open(&call, &(struct cpu_options){.threads = 1}, &device));
    assert_string_equal(cpu_tier(device), cpu_loops_of(cpu_detect())->name);
    device_close(device);
    unsetenv("CRESSET_CPU");
}

static void threads_beyond_the_limit_are_refused(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = open_call();
    struct device *device;
    assert_int_equal(cpu_open(&call, &(struct cpu_options){.threads = 257}, &device), CR_INVALID);
    assert_string_equal(call.reason, "257 threads, not 0 to 256");
}

static void memory_is_counted_and_its_limit_kept(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = open_call();
    struct device *device;
    struct cpu_options options = {.threads = 1, .memory_max = 1 << 20};
    void *small, *large, *none;
    assert_ok(&call, cpu_open(&call, &options, &device));
    assert_ok(&call, device_allocate(&call, device, 100, &small));
    assert_ok(&call, device_allocate(&call, device, 1 << 19, &large));
    assert_true((uintptr_t)small % DEVICE_ALIGNMENT == 0 &&
                (uintptr_t)large % DEVICE_ALIGNMENT == 0);
    assert_int_equal(device->memory_used, 100 + (1 << 19));
    assert_int_equal(device_allocate(&call, device, 1 << 19, &none), CR_EXHAUSTED);
    assert_int_equal(device->memory_used, 100 + (1 << 19));
    device_release(device, small, 100);
    device_release(device, large, 1 << 19);
    assert_int_equal(device->memory_used, 0);
    assert_int_equal(device->memory_peak, 100 + (1 << 19));
    device_close(device);
}

#define CHUNKS 1000

struct counts {
    _Atomic int of[CHUNKS];
};

static void count_chunk(void *context, int chunk, int thread)
{
    struct counts *counts = context;
    assert_in_range(thread, 0, 3);
    counts->of[chunk]++;
}

static void every_chunk_is_worked_off_once_round_after_round(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = open_call();
    struct cpu_pool *pool;
    static struct counts counts;
    assert_ok(&call, cpu_pool_open(&call, 4, &pool));
    for (int round = 0; round < 50; round++)
        cpu_pool_run(pool, count_chunk, &counts, CHUNKS - round);
    cpu_pool_close(pool);
    for (int chunk = 0; chunk < CHUNKS; chunk++)
        assert_int_equal(counts.of[chunk], chunk < 951 ? 50 : CHUNKS - chunk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tier_that_is_none_is_refused),
        cmocka_unit_test(cresset_cpu_lowers_and_never_raises),
        cmocka_unit_test(threads_beyond_the_limit_are_refused),
        cmocka_unit_test(memory_is_counted_and_its_limit_kept),
        cmocka_unit_test(every_chunk_is_worked_off_once_round_after_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
