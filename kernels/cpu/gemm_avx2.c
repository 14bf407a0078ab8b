/* gemm_avx2: tiles of 6 x 16 in 12 registers, and of fewer rows; correlations; transposition. */
#include "kernels/cpu/cpu_internal.h"
#include "kernels/cpu/tiers_internal.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define VECTOR        8
#define VECTORS       2
#define ROWS_MAX      6

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* All bits of the first count lanes. */
ALWAYS_INLINE __m256i mask_of(int count)
{
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lanes);
}

ALWAYS_INLINE __m256 finished(__m256 sum, const float *bias, __m256i mask, bool relu)
{
    if (bias)
        sum = _mm256_add_ps(sum, _mm256_maskload_ps(bias, mask));
    if (relu)
        sum = _mm256_andnot_ps(_mm256_cmp_ps(sum, _mm256_setzero_ps(), _CMP_LE_OQ), sum);
    return sum;
}

ALWAYS_INLINE void tile_of(const struct cpu_gemm_tile *tile, const int rows, const bool by_offset)
{
    __m256 sums[ROWS_MAX][VECTORS];
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++)
        sums[i][0] = sums[i][1] = _mm256_setzero_ps();

    const float *a = tile->a, *b = tile->b;
    for (int k = 0; k < tile->k; k++, a += rows) {
        const float *row = by_offset ? tile->b + tile->offsets[k] : b;
        __m256 b0 = _mm256_loadu_ps(row), b1 = _mm256_loadu_ps(row + VECTOR);
        b += tile->b_step;
#pragma GCC unroll 6
        for (int i = 0; i < rows; i++) {
            __m256 each = _mm256_broadcast_ss(a + i);
            sums[i][0] = _mm256_fmadd_ps(each, b0, sums[i][0]);
            sums[i][1] = _mm256_fmadd_ps(each, b1, sums[i][1]);
        }
    }

    __m256i masks[VECTORS] = {mask_of(tile->columns), mask_of(tile->columns - VECTOR)};
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) {
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++) {
            float *c = tile->c + i * tile->c_step + v * VECTOR;
            const float *bias = tile->bias ? tile->bias + v * VECTOR : NULL;
            __m256 sum = sums[i][v];
            if (tile->add)
                sum = _mm256_add_ps(_mm256_maskload_ps(c, masks[v]), sum);
            _mm256_maskstore_ps(c, masks[v], finished(sum, bias, masks[v], tile->relu));
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

void cpu_gemm_tile_avx2(const struct cpu_gemm_tile *tile)
{
    switch (tile->rows) {
        TILE(1)
        TILE(2)
        TILE(3)
        TILE(4)
        TILE(5)
        TILE(6)
    default:
        break;
    }
}

/* The lanes of a sum are two registers, low and high; they fold l += l + 8, 4, 2, 1. */
ALWAYS_INLINE float folded(__m256 low, __m256 high)
{
    __m256 eight = _mm256_add_ps(low, high);
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

#define COLUMNS_MAX 3 /* at once: 2 x 3 sums of two registers each */

ALWAYS_INLINE void correlate_of(const struct cpu_correlation *task, int first_row, int first_column,
                                const int rows, const int columns)
{
    __m256 sums[2][COLUMNS_MAX][2];
#pragma GCC unroll 2
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 3
        for (int j = 0; j < columns; j++)
            sums[i][j][0] = sums[i][j][1] = _mm256_setzero_ps();

    for (int image = 0; image < task->images; image++) {
        const float *a = task->a + image * task->image_a + first_row * task->a_step;
        const float *b = task->b + image * task->image_b;
        for (int p = 0; p < task->pixels; p += CPU_PIXEL_LANES)
#pragma GCC unroll 2
            for (int half = 0; half < 2; half++)
#pragma GCC unroll 3
                for (int j = 0; j < columns; j++) {
                    const float *row = b + task->offsets[first_column + j] + p + half * VECTOR;
                    __m256 other = _mm256_loadu_ps(row);
#pragma GCC unroll 2
                    for (int i = 0; i < rows; i++) {
                        __m256 each = _mm256_loadu_ps(a + i * task->a_step + p + half * VECTOR);
                        sums[i][j][half] = _mm256_fmadd_ps(each, other, sums[i][j][half]);
                    }
                }
    }
    float *c = task->c + first_row * task->c_step + first_column;
#pragma GCC unroll 2
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 3
        for (int j = 0; j < columns; j++)
            c[i * task->c_step + j] += folded(sums[i][j][0], sums[i][j][1]);
}

void cpu_correlate_avx2(const struct cpu_correlation *task)
{
    for (int i = 0; i < task->a_count; i += 2)
        for (int j = 0; j < task->b_count; j += COLUMNS_MAX) {
            int rows = task->a_count - i, columns = task->b_count - j;
            if (rows >= 2 && columns >= 3)
                correlate_of(task, i, j, 2, 3);
            else if (rows >= 2 && columns == 2)
                correlate_of(task, i, j, 2, 2);
            else if (rows >= 2)
                correlate_of(task, i, j, 2, 1);
            else if (columns >= 3)
                correlate_of(task, i, j, 1, 3);
            else if (columns == 2)
                correlate_of(task, i, j, 1, 2);
            else
                correlate_of(task, i, j, 1, 1);
        }
}

/* Eight rows of eight, turned. */
ALWAYS_INLINE void turn(__m256 x[VECTOR])
{
    __m256 t[VECTOR], u[VECTOR];
#pragma GCC unroll 4
    for (int i = 0; i < VECTOR; i += 2) {
        t[i] = _mm256_unpacklo_ps(x[i], x[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < VECTOR; i += 4) {
        u[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
        u[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
        u[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        u[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        x[i] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x20);
        x[i + 4] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x31);
    }
}

/* Up to eight rows of x, as columns of ret. */
ALWAYS_INLINE void transpose_of(const float *x, int64_t step, const int rows, int count, float *ret,
                                int64_t ret_step)
{
    const __m256i stored = mask_of(rows);
    for (int j = 0; j < count; j += VECTOR) {
        int columns = count - j < VECTOR ? count - j : VECTOR;
        __m256i read = mask_of(columns);
        __m256 block[VECTOR];
#pragma GCC unroll 8
        for (int i = 0; i < VECTOR; i++)
            block[i] = i < rows ? _mm256_maskload_ps(x + i * step + j, read) : _mm256_setzero_ps();
        turn(block);
        if (columns == VECTOR) {
#pragma GCC unroll 8
            for (int i = 0; i < VECTOR; i++)
                _mm256_maskstore_ps(ret + (j + i) * ret_step, stored, block[i]);
        } else {
#pragma GCC unroll 8
            for (int i = 0; i < VECTOR; i++)
                if (i < columns)
                    _mm256_maskstore_ps(ret + (j + i) * ret_step, stored, block[i]);
        }
    }
}

void cpu_transpose_avx2(const float *x, int64_t step, int rows, int count, float *ret,
                        int64_t ret_step)
{
    for (; rows >= VECTOR; rows -= VECTOR, x += VECTOR * step, ret += VECTOR)
        transpose_of(x, step, VECTOR, count, ret, ret_step);
    if (rows > 0)
        transpose_of(x, step, rows, count, ret, ret_step);
}
#endif
