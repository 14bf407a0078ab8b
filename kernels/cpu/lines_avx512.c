/* lines_avx512: short lines of floats, moved with one masked vector for what is left of each. */
#include "kernels/cpu/tiers_internal.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define VECTOR 16

static inline __mmask16 rest_of(int count)
{
    return (__mmask16)((1u << count % VECTOR) - 1);
}

void cpu_move_lines_avx512(const struct cpu_lines *lines)
{
    const float *from = lines->from;
    float *to = lines->to;
    int whole = lines->count / VECTOR * VECTOR;
    __mmask16 rest = rest_of(lines->count);
    for (int64_t line = 0; line < lines->lines; line++) {
        for (int i = 0; i < whole; i += VECTOR)
            _mm512_storeu_ps(to + i, _mm512_loadu_ps(from + i));
        _mm512_mask_storeu_ps(to + whole, rest, _mm512_maskz_loadu_ps(rest, from + whole));
        from += lines->from_step;
        to += lines->to_step;
    }
}

void cpu_bias_lines_avx512(const struct cpu_lines *lines, float bias, bool relu)
{
    const float *from = lines->from;
    float *to = lines->to;
    const __m512 added = _mm512_set1_ps(bias), zero = _mm512_setzero_ps();
    for (int64_t line = 0; line < lines->lines; line++) {
        for (int i = 0; i < lines->count; i += VECTOR) {
            __mmask16 here = lines->count - i >= VECTOR ? 0xffff : rest_of(lines->count);
            __m512 sum = _mm512_add_ps(_mm512_maskz_loadu_ps(here, from + i), added);
            if (relu)
                sum = _mm512_mask_mov_ps(sum, _mm512_cmp_ps_mask(sum, zero, _CMP_LE_OQ), zero);
            _mm512_mask_storeu_ps(to + i, here, sum);
        }
        from += lines->from_step;
        to += lines->to_step;
    }
}
#endif
