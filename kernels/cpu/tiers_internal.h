/* tiers_internal: the loops written by hand, one of each for a tier (struct cpu_loops). */
#pragma once

#include "kernels/cpu/cpu_internal.h"

void cpu_gemm_tile_portable(const struct cpu_gemm_tile *tile);
void cpu_gemm_tile_avx2(const struct cpu_gemm_tile *tile);
void cpu_gemm_tile_avx512(const struct cpu_gemm_tile *tile);

void cpu_correlate_portable(const struct cpu_correlation *task);
void cpu_correlate_avx2(const struct cpu_correlation *task);
void cpu_correlate_avx512(const struct cpu_correlation *task);

void cpu_transpose_portable(const float *x, int64_t step, int rows, int count, float *ret,
                            int64_t ret_step);
void cpu_transpose_avx2(const float *x, int64_t step, int rows, int count, float *ret,
                        int64_t ret_step);

void cpu_pool_pairs_portable(float *y, const float *above, const float *below, int count);
void cpu_pool_pairs_gradient_portable(float *dx_above, float *dx_below, const float *above,
                                      const float *below, const float *dy, int count);

void cpu_pool_pairs_avx2(float *y, const float *above, const float *below, int count);
void cpu_pool_pairs_gradient_avx2(float *dx_above, float *dx_below, const float *above,
                                  const float *below, const float *dy, int count);

void cpu_pool_pairs_avx512(float *y, const float *above, const float *below, int count);
void cpu_pool_pairs_gradient_avx512(float *dx_above, float *dx_below, const float *above,
                                    const float *below, const float *dy, int count);

void cpu_move_lines_portable(const struct cpu_lines *lines);
void cpu_bias_lines_portable(const struct cpu_lines *lines, float bias, bool relu);

void cpu_move_lines_avx512(const struct cpu_lines *lines);
void cpu_bias_lines_avx512(const struct cpu_lines *lines, float bias, bool relu);
