/* gemm_avx512: tiles of 14 x 32 in 28 registers, and of fewer rows; correlations of 4 x 6. */
#include "kernels/cpu/cpu_internal.h"
#include "kernels/cpu/tiers_internal.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define VECTOR        16
#define VECTORS       2

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE __m512 finished(__m512 sum, const float *bias, __mmask16 mask, bool relu)
{
    if (bias)
        sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mask, bias));
    if (relu) {
        __mmask16 below = _mm512_cmp_ps_mask(sum, _mm512_setzero_ps(), _CMP_LE_OQ);
        sum = _mm512_mask_mov_ps(sum, below, _mm512_setzero_ps());
    }
    return sum;
}

/* rows is a constant wherever this is called, so that sums are registers. */
ALWAYS_INLINE void tile_of(const struct cpu_gemm_tile *tile, const int rows, const bool by_offset)
{
    __m512 sums[CPU_ROWS_MAX][VECTORS];
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++)
        sums[i][0] = sums[i][1] = _mm512_setzero_ps();

        /* c is far away: it is fetched while the sums are made. */
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++) {
        _mm_prefetch((const char *)(tile->c + i * tile->c_step), _MM_HINT_T0);
        _mm_prefetch((const char *)(tile->c + i * tile->c_step + VECTOR), _MM_HINT_T0);
    }

    const float *a = tile->a, *b = tile->b;
    for (int k = 0; k < tile->k; k++, a += rows) {
        const float *row = by_offset ? tile->b + tile->offsets[k] : b;
        __m512 b0 = _mm512_loadu_ps(row), b1 = _mm512_loadu_ps(row + VECTOR);
        b += tile->b_step;
#pragma GCC unroll 14
        for (int i = 0; i < rows; i++) {
            __m512 each = _mm512_set1_ps(a[i]);
            sums[i][0] = _mm512_fmadd_ps(each, b0, sums[i][0]);
            sums[i][1] = _mm512_fmadd_ps(each, b1, sums[i][1]);
        }
    }

    __mmask32 mask = (__mmask32)(~UINT64_C(0) >> (64 - tile->columns));
    __mmask16 masks[VECTORS] = {(__mmask16)mask, (__mmask16)(mask >> VECTOR)};
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++) {
            float *c = tile->c + i * tile->c_step + v * VECTOR;
            const float *bias = tile->bias ? tile->bias + v * VECTOR : NULL;
            __m512 sum = sums[i][v];
            if (tile->add)
                sum = _mm512_add_ps(_mm512_maskz_loadu_ps(masks[v], c), sum);
            _mm512_mask_storeu_ps(c, masks[v], finished(sum, bias, masks[v], tile->relu));
        }
    }
}

#define TILE(rows)                      \
    case rows:                          \
        if (tile->offsets)              \
            tile_of(tile, rows, true);  \
        else                            \
            tile_of(tile, rows, false); \
        break;

void cpu_gemm_tile_avx512(const struct cpu_gemm_tile *tile)
{
    switch (tile->rows) {
        TILE(1)
        TILE(2)
        TILE(3)
        TILE(4)
        TILE(5)
        TILE(6)
        TILE(7)
        TILE(8)
        TILE(9)
        TILE(10)
        TILE(11)
        TILE(12)
        TILE(13)
        TILE(14)
    default:
        break;
    }
}

/* The lanes fold as CPU_PIXEL_LANES says: l += l + 8, 4, 2, 1. */
ALWAYS_INLINE float folded(__m512 lanes)
{
    __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(lanes), _mm512_extractf32x8_ps(lanes, 1));
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

ALWAYS_INLINE void correlate_of(const struct cpu_correlation *task, const int rows,
                                const int columns)
{
    __m512 sums[CPU_CORRELATION_A][CPU_CORRELATION_B];
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 6
        for (int j = 0; j < columns; j++)
            sums[i][j] = _mm512_setzero_ps();

    for (int image = 0; image < task->images; image++) {
        const float *a = task->a + image * task->image_a, *b = task->b + image * task->image_b;
        const float *rows_of_b[CPU_CORRELATION_B];
#pragma GCC unroll 6
        for (int j = 0; j < columns; j++)
            rows_of_b[j] = b + task->offsets[j];
        for (int p = 0; p < task->pixels; p += VECTOR) {
            __m512 each[CPU_CORRELATION_A];
#pragma GCC unroll 4
            for (int i = 0; i < rows; i++)
                each[i] = _mm512_loadu_ps(a + i * task->a_step + p);
#pragma GCC unroll 6
            for (int j = 0; j < columns; j++) {
                __m512 other = _mm512_loadu_ps(rows_of_b[j] + p);
#pragma GCC unroll 4
                for (int i = 0; i < rows; i++)
                    sums[i][j] = _mm512_fmadd_ps(each[i], other, sums[i][j]);
            }
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 6
        for (int j = 0; j < columns; j++)
            task->c[i * task->c_step + j] += folded(sums[i][j]);
}

#define CORRELATION(rows, columns)         \
    case columns:                          \
        correlate_of(task, rows, columns); \
        break;
#define CORRELATIONS(rows)       \
    case rows:                   \
        switch (task->b_count) { \
            CORRELATION(rows, 1) \
            CORRELATION(rows, 2) \
            CORRELATION(rows, 3) \
            CORRELATION(rows, 4) \
            CORRELATION(rows, 5) \
            CORRELATION(rows, 6) \
        default:                 \
            break;               \
        }                        \
        break;

void cpu_correlate_avx512(const struct cpu_correlation *task)
{
    switch (task->a_count) {
        CORRELATIONS(1)
        CORRELATIONS(2)
        CORRELATIONS(3)
        CORRELATIONS(4)
    default:
        break;
    }
}
#endif
