/* window_portable: windows of 2 x 2, one by one. */
#include "kernels/cpu/tiers_internal.h"
#include "kernels/expr/functions.h"

void cpu_pool_pairs_portable(float *y, const float *above, const float *below, int count)
{
    for (int i = 0; i < count; i++) {
        float first = expr_max(above[2 * i], above[2 * i + 1]);
        float second = expr_max(below[2 * i], below[2 * i + 1]);
        y[i] = expr_max(first, second);
    }
}

void cpu_pool_pairs_gradient_portable(float *dx_above, float *dx_below, const float *above,
                                      const float *below, const float *dy, int count)
{
    for (int i = 0; i < count; i++) {
        float a = above[2 * i], b = above[2 * i + 1], c = below[2 * i], d = below[2 * i + 1];
        float top = expr_max(expr_max(a, b), expr_max(c, d)), each = dy[i];
        bool is_a = a == top, is_b = !is_a && b == top, is_c = !is_a && !is_b && c == top;
        bool is_d = !is_a && !is_b && !is_c && d == top;
        dx_above[2 * i] = is_a ? each : 0.0f;
        dx_above[2 * i + 1] = is_b ? each : 0.0f;
        dx_below[2 * i] = is_c ? each : 0.0f;
        dx_below[2 * i + 1] = is_d ? each : 0.0f;
    }
}
