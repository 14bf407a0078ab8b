/* cpu_tiers: every tier of this machine, with several numbers of threads, for tests of kernels. */
#pragma once

#include "tests/unit/test.h"

#include "kernels/cpu/cpu_internal.h"
#include "kernels/random/random.h"

#include <math.h>

#define TIERS_MAX 9

struct cpu_tiers {
    struct cr_env env;
    struct cr_call call;
    struct device *devices[TIERS_MAX];
    int count;
};

/* Opens portable, avx2 and avx512, as far as they are there, with 1, 2 and 3 threads. */
static inline struct cpu_tiers *cpu_tiers_open(void)
{
    static const char *const names[] = {"portable", "avx2", "avx512"};
    struct cpu_tiers *tiers = calloc(1, sizeof(*tiers));
    tiers->env = cr_env_system();
    tiers->call = cr_call_open(&tiers->env, INT64_MAX);
    for (int tier = CPU_PORTABLE; tier <= (int)cpu_detect(); tier++)
        for (int threads = 1; threads <= 3; threads++) {
            struct cpu_options options = {.threads = threads, .tier = names[tier]};
            assert_ok(&tiers->call,
                      cpu_open(&tiers->call, &options, &tiers->devices[tiers->count++]));
        }
    return tiers;
}

static inline void cpu_tiers_close(struct cpu_tiers *tiers)
{
    for (int i = 0; i < tiers->count; i++)
        device_close(tiers->devices[i]);
    cr_call_close(&tiers->call);
    free(tiers);
}

/* Floats between -1 and 1, of the call's memory. */
static inline float *cpu_tiers_floats(struct cpu_tiers *tiers, int64_t count, uint64_t stream)
{
    float *x = cr_new(&tiers->call, float, (size_t)count + 1);
    random_uniform_f32(7, stream, 0, (size_t)count, x);
    for (int64_t i = 0; i < count; i++)
        x[i] = 2 * x[i] - 1;
    return x;
}
