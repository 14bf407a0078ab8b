/*
 * loops_internal: the loops of a tier that are plain C. loops_portable.c, loops_avx2.c and
 * loops_avx512.c each compile them with their own instruction set and put them into a table; the
 * compiler makes vectors, and since no operation is contracted or reordered the bits are the same.
 */
#pragma once

#include "kernels/cpu/cpu_internal.h"
#include "kernels/cpu/tiers_internal.h"
#include "kernels/expr/expr.h"
#include "kernels/expr/functions.h"

/* Lanes fold l += l + 32, 16, 8, 4, 2, 1. */
static inline float loops_folded(float lanes[CPU_SUM_LANES])
{
    for (int width = CPU_SUM_LANES / 2; width > 0; width /= 2)
        for (int lane = 0; lane < width; lane++)
            lanes[lane] += lanes[lane + width];
    return lanes[0];
}

static inline float loops_sum_chunk(const float *x, int count)
{
    float lanes[CPU_SUM_LANES] = {0};
    int i = 0;
    for (; i + CPU_SUM_LANES <= count; i += CPU_SUM_LANES)
        for (int lane = 0; lane < CPU_SUM_LANES; lane++)
            lanes[lane] += x[i + lane];
    for (int lane = 0; i + lane < count; lane++)
        lanes[lane] += x[i + lane];
    return loops_folded(lanes);
}

/* Row i of count rows goes to lane i mod 64 of each column. */
static inline void loops_sum_columns(const float *restrict x, int64_t step, int count, int columns,
                                     float *restrict sums)
{
    float lanes[CPU_SUM_LANES][CPU_COLS_MAX];
    memset(lanes, 0, sizeof(lanes));
    for (int i = 0; i < count; i++) {
        float *lane = lanes[i % CPU_SUM_LANES];
        if (columns == CPU_COLS_MAX)
            for (int j = 0; j < CPU_COLS_MAX; j++)
                lane[j] += x[i * step + j];
        else
            for (int j = 0; j < columns; j++)
                lane[j] += x[i * step + j];
    }
    for (int width = CPU_SUM_LANES / 2; width > 0; width /= 2)
        for (int l = 0; l < width; l++)
            for (int j = 0; j < CPU_COLS_MAX; j++)
                lanes[l][j] += lanes[l + width][j];
    for (int j = 0; j < columns; j++)
        sums[j] += lanes[0][j];
}

/* The largest does not depend on the order, but for NaN, which wins. */
static inline float loops_max(const float *x, int64_t count, float start)
{
    float lanes[CPU_SUM_LANES];
    for (int lane = 0; lane < CPU_SUM_LANES; lane++)
        lanes[lane] = start;
    int64_t i = 0;
    for (; i + CPU_SUM_LANES <= count; i += CPU_SUM_LANES)
        for (int lane = 0; lane < CPU_SUM_LANES; lane++)
            lanes[lane] = expr_max(lanes[lane], x[i + lane]);
    for (; i < count; i++)
        lanes[i % CPU_SUM_LANES] = expr_max(lanes[i % CPU_SUM_LANES], x[i]);
    for (int lane = 1; lane < CPU_SUM_LANES; lane++)
        lanes[0] = expr_max(lanes[0], lanes[lane]);
    return lanes[0];
}

static inline float loops_min(const float *x, int64_t count, float start)
{
    float lanes[CPU_SUM_LANES];
    for (int lane = 0; lane < CPU_SUM_LANES; lane++)
        lanes[lane] = start;
    int64_t i = 0;
    for (; i + CPU_SUM_LANES <= count; i += CPU_SUM_LANES)
        for (int lane = 0; lane < CPU_SUM_LANES; lane++)
            lanes[lane] = expr_min(lanes[lane], x[i + lane]);
    for (; i < count; i++)
        lanes[i % CPU_SUM_LANES] = expr_min(lanes[i % CPU_SUM_LANES], x[i]);
    for (int lane = 1; lane < CPU_SUM_LANES; lane++)
        lanes[0] = expr_min(lanes[0], lanes[lane]);
    return lanes[0];
}

/*
 * A register may be both written and read, element by element: no element depends on another. clang
 * is not told, since it takes a loop that it cannot make vectors of for an error then.
 */
#ifdef __clang__
#define LOOPS_ALONE
#else
#define LOOPS_ALONE _Pragma("GCC ivdep")
#endif
#define LOOPS_CASE(kind, value)                                      \
    case EXPR_##kind:                                                \
        LOOPS_ALONE for (int i = 0; i < count; i++) to[i] = (value); \
        break;

/* One instruction of tile code. A truth is 1 or 0. */
static inline void loops_tile(int kind, const struct cpu_tile_args *args)
{
    float *to = args->to;
    const float *a = args->a, *b = args->b, *c = args->c;
    const int count = args->count;
    switch ((enum expr_kind)kind) {
        LOOPS_CASE(ADD, a[i] + b[i])
        LOOPS_CASE(SUB, a[i] - b[i])
        LOOPS_CASE(MUL, a[i] * b[i])
        LOOPS_CASE(DIV, a[i] / b[i])
        LOOPS_CASE(NEG, -a[i])
        LOOPS_CASE(EQ, a[i] == b[i] ? 1.0f : 0.0f)
        LOOPS_CASE(NE, a[i] != b[i] ? 1.0f : 0.0f)
        LOOPS_CASE(LT, a[i] < b[i] ? 1.0f : 0.0f)
        LOOPS_CASE(LE, a[i] <= b[i] ? 1.0f : 0.0f)
        LOOPS_CASE(GT, a[i] > b[i] ? 1.0f : 0.0f)
        LOOPS_CASE(GE, a[i] >= b[i] ? 1.0f : 0.0f)
        LOOPS_CASE(CHOOSE, a[i] != 0 ? b[i] : c[i])
        LOOPS_CASE(EXP, expr_exp(a[i]))
        LOOPS_CASE(EXP2, expr_exp2(a[i]))
        LOOPS_CASE(EXPM1, expr_expm1(a[i]))
        LOOPS_CASE(LOG, expr_log(a[i]))
        LOOPS_CASE(LOG1P, expr_log1p(a[i]))
        LOOPS_CASE(SQRT, expr_sqrt(a[i]))
        LOOPS_CASE(RSQRT, expr_rsqrt(a[i]))
        LOOPS_CASE(SIN, expr_sin(a[i]))
        LOOPS_CASE(COS, expr_cos(a[i]))
        LOOPS_CASE(TANH, expr_tanh(a[i]))
        LOOPS_CASE(ERF, expr_erf(a[i]))
        LOOPS_CASE(POW, expr_pow(a[i], b[i]))
        LOOPS_CASE(ABS, expr_abs(a[i]))
        LOOPS_CASE(FLOOR, expr_floor(a[i]))
        LOOPS_CASE(CEIL, expr_ceil(a[i]))
        LOOPS_CASE(ROUND, expr_round(a[i]))
        LOOPS_CASE(TRUNC, expr_trunc(a[i]))
        LOOPS_CASE(MIN, expr_min(a[i], b[i]))
        LOOPS_CASE(MAX, expr_max(a[i], b[i]))
        LOOPS_CASE(FMA, expr_fma(a[i], b[i], c[i]))
        LOOPS_CASE(SIGN, expr_sign(a[i]))
    case EXPR_NUMBER:
    case EXPR_NAME:
        break; /* these are registers, not instructions */
    }
}

/* The table of a tier, whose loops by hand are those of the name given. */
#define LOOPS_TABLE(name_, tier_, transpose_, lines_, rows_, columns_) \
    const struct cpu_loops cpu_loops_##name_ = {                       \
        .tier = (tier_),                                               \
        .name = #name_,                                                \
        .rows = (rows_),                                               \
        .columns = (columns_),                                         \
        .gemm_tile = cpu_gemm_tile_##name_,                            \
        .correlate = cpu_correlate_##name_,                            \
        .transpose = cpu_transpose_##transpose_,                       \
        .sum_chunk = loops_sum_chunk,                                  \
        .max = loops_max,                                              \
        .min = loops_min,                                              \
        .sum_columns = loops_sum_columns,                              \
        .tile = loops_tile,                                            \
        .move_lines = cpu_move_lines_##lines_,                         \
        .bias_lines = cpu_bias_lines_##lines_,                         \
        .pool_pairs = cpu_pool_pairs_##name_,                          \
        .pool_pairs_gradient = cpu_pool_pairs_gradient_##name_,        \
    }
