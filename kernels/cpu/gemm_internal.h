/*
 * gemm: products of matrices of f32.
 *
 *     c[i][j] = relu(bias[j] + sum over k of a[i][k] * b[k][j])
 *
 * Any of the operands may be transposed, or stepped through otherwise: element [i][k] of a lies at
 * a[i * a_row + k * a_column]. Columns of c lie side by side. c overlaps no operand.
 *
 * Bits     each output sums k rising with fma, every block of CPU_KC from zero; blocks add in order
 * Source   F. Van Zee and R. van de Geijn, "BLIS", ACM TOMS 41(3), 2015
 */
#pragma once

#include "kernels/cpu/cpu_internal.h"

struct cpu_gemm {
    int64_t m, n, k;
    const float *a;
    int64_t a_row, a_column;
    const float *b;
    int64_t b_row, b_column;
    float *c;
    int64_t c_row;
    const float *bias; /* NULL: none */
    bool relu;
};

/* With all threads of the device. */
void cpu_gemm(struct cpu *cpu, const struct cpu_gemm *gemm);

/* With one, whose memory is used. */
void cpu_gemm_alone(const struct cpu_loops *loops, const struct cpu_thread *thread,
                    const struct cpu_gemm *gemm);

/* Part i of total cut into equal parts, to within one: where it begins. */
static inline int64_t cpu_part(int64_t total, int64_t parts, int64_t i)
{
    return total / parts * i + (total % parts * i) / parts;
}

/* Packs rows of a as the tiles take them, [k][rows]; element [i][k] at a[i * row + k * column]. */
void cpu_pack_rows(const struct cpu_loops *loops, const float *a, int64_t row, int64_t column,
                   int rows, int k, float *ret_packed);
