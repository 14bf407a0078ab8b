/* lines_portable: short lines of floats, from one picture to another of other width. */
#include "kernels/cpu/tiers_internal.h"

void cpu_move_lines_portable(const struct cpu_lines *lines)
{
    const float *from = lines->from;
    float *to = lines->to;
    for (int64_t line = 0; line < lines->lines; line++) {
        memcpy(to, from, (size_t)lines->count * sizeof(float));
        from += lines->from_step;
        to += lines->to_step;
    }
}

void cpu_bias_lines_portable(const struct cpu_lines *lines, float bias, bool relu)
{
    const float *restrict from = lines->from;
    float *restrict to = lines->to;
    for (int64_t line = 0; line < lines->lines; line++) {
        for (int i = 0; i < lines->count; i++) {
            float sum = from[i] + bias;
            to[i] = relu && sum <= 0 ? 0.0f : sum;
        }
        from += lines->from_step;
        to += lines->to_step;
    }
}
