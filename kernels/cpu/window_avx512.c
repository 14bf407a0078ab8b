/* window_avx512: windows of 2 x 2, sixteen at a time. */
#include "kernels/cpu/tiers_internal.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define VECTOR 16

/* The columns of 32 pixels that are even, and those that are odd. */
struct pairs {
    __m512 even, odd;
};

static inline __mmask16 mask_of(int count)
{
    return (__mmask16)(count >= VECTOR ? 0xffff : count <= 0 ? 0 : (1u << count) - 1);
}

static inline struct pairs take_pairs(const float *x, int count)
{
    const __m512i evens =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odds = _mm512_add_epi32(evens, _mm512_set1_epi32(1));
    __m512 first = _mm512_maskz_loadu_ps(mask_of(2 * count), x);
    __m512 second = _mm512_maskz_loadu_ps(mask_of(2 * count - VECTOR), x + VECTOR);
    return (struct pairs){_mm512_permutex2var_ps(first, evens, second),
                          _mm512_permutex2var_ps(first, odds, second)};
}

/* expr_max: a NaN of either side wins. */
static inline __m512 larger(__m512 a, __m512 b)
{
    __mmask16 first = _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ) | _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);
    return _mm512_mask_mov_ps(b, first, a);
}

void cpu_pool_pairs_avx512(float *y, const float *above, const float *below, int count)
{
    for (int i = 0; i < count; i += VECTOR) {
        struct pairs up = take_pairs(above + 2 * i, count - i);
        struct pairs down = take_pairs(below + 2 * i, count - i);
        __m512 top = larger(larger(up.even, up.odd), larger(down.even, down.odd));
        _mm512_mask_storeu_ps(y + i, mask_of(count - i), top);
    }
}

static inline void put_pairs(float *dx, int count, __m512 even, __m512 odd)
{
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    _mm512_mask_storeu_ps(dx, mask_of(2 * count), _mm512_permutex2var_ps(even, low, odd));
    _mm512_mask_storeu_ps(dx + VECTOR, mask_of(2 * count - VECTOR),
                          _mm512_permutex2var_ps(even, high, odd));
}

void cpu_pool_pairs_gradient_avx512(float *dx_above, float *dx_below, const float *above,
                                    const float *below, const float *dy, int count)
{
    for (int i = 0; i < count; i += VECTOR) {
        struct pairs up = take_pairs(above + 2 * i, count - i);
        struct pairs down = take_pairs(below + 2 * i, count - i);
        __m512 each = _mm512_maskz_loadu_ps(mask_of(count - i), dy + i);
        __m512 top = larger(larger(up.even, up.odd), larger(down.even, down.odd));
        __mmask16 is_a = _mm512_cmp_ps_mask(up.even, top, _CMP_EQ_OQ), taken = is_a;
        __mmask16 is_b = _mm512_cmp_ps_mask(up.odd, top, _CMP_EQ_OQ) & (__mmask16)~taken;
        taken |= is_b;
        __mmask16 is_c = _mm512_cmp_ps_mask(down.even, top, _CMP_EQ_OQ) & (__mmask16)~taken;
        taken |= is_c;
        __mmask16 is_d = _mm512_cmp_ps_mask(down.odd, top, _CMP_EQ_OQ) & (__mmask16)~taken;
        put_pairs(dx_above + 2 * i, count - i, _mm512_maskz_mov_ps(is_a, each),
                  _mm512_maskz_mov_ps(is_b, each));
        put_pairs(dx_below + 2 * i, count - i, _mm512_maskz_mov_ps(is_c, each),
                  _mm512_maskz_mov_ps(is_d, each));
    }
}
#endif
