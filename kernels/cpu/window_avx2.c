/* window_avx2: windows of 2 x 2, eight at a time; what is left goes one by one. */
#include "kernels/cpu/tiers_internal.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define VECTOR 8

/* The columns of 16 pixels that are even, and those that are odd. */
struct pairs {
    __m256 even, odd;
};

static inline __m256 in_order(__m256 x)
{
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(x), 0xd8));
}

static inline struct pairs take_pairs(const float *x)
{
    __m256 first = _mm256_loadu_ps(x), second = _mm256_loadu_ps(x + VECTOR);
    return (struct pairs){in_order(_mm256_shuffle_ps(first, second, 0x88)),
                          in_order(_mm256_shuffle_ps(first, second, 0xdd))};
}

/* expr_max: a NaN of either side wins. */
static inline __m256 larger(__m256 a, __m256 b)
{
    __m256 first = _mm256_or_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ), _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
    return _mm256_blendv_ps(b, a, first);
}

void cpu_pool_pairs_avx2(float *y, const float *above, const float *below, int count)
{
    int i = 0;
    for (; i + VECTOR <= count; i += VECTOR) {
        struct pairs up = take_pairs(above + 2 * i), down = take_pairs(below + 2 * i);
        _mm256_storeu_ps(y + i, larger(larger(up.even, up.odd), larger(down.even, down.odd)));
    }
    cpu_pool_pairs_portable(y + i, above + 2 * i, below + 2 * i, count - i);
}

static inline void put_pairs(float *dx, __m256 even, __m256 odd)
{
    __m256 low = _mm256_unpacklo_ps(even, odd), high = _mm256_unpackhi_ps(even, odd);
    _mm256_storeu_ps(dx, _mm256_permute2f128_ps(low, high, 0x20));
    _mm256_storeu_ps(dx + VECTOR, _mm256_permute2f128_ps(low, high, 0x31));
}

void cpu_pool_pairs_gradient_avx2(float *dx_above, float *dx_below, const float *above,
                                  const float *below, const float *dy, int count)
{
    int i = 0;
    for (; i + VECTOR <= count; i += VECTOR) {
        struct pairs up = take_pairs(above + 2 * i), down = take_pairs(below + 2 * i);
        __m256 each = _mm256_loadu_ps(dy + i);
        __m256 top = larger(larger(up.even, up.odd), larger(down.even, down.odd));
        __m256 is_a = _mm256_cmp_ps(up.even, top, _CMP_EQ_OQ), taken = is_a;
        __m256 is_b = _mm256_andnot_ps(taken, _mm256_cmp_ps(up.odd, top, _CMP_EQ_OQ));
        taken = _mm256_or_ps(taken, is_b);
        __m256 is_c = _mm256_andnot_ps(taken, _mm256_cmp_ps(down.even, top, _CMP_EQ_OQ));
        taken = _mm256_or_ps(taken, is_c);
        __m256 is_d = _mm256_andnot_ps(taken, _mm256_cmp_ps(down.odd, top, _CMP_EQ_OQ));
        put_pairs(dx_above + 2 * i, _mm256_and_ps(is_a, each), _mm256_and_ps(is_b, each));
        put_pairs(dx_below + 2 * i, _mm256_and_ps(is_c, each), _mm256_and_ps(is_d, each));
    }
    cpu_pool_pairs_gradient_portable(dx_above + 2 * i, dx_below + 2 * i, above + 2 * i,
                                     below + 2 * i, dy + i, count - i);
}
#endif
