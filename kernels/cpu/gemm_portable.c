/* gemm_portable: what the tiles of the other tiers mean, in C. */
#include "kernels/cpu/cpu_internal.h"
#include "kernels/cpu/tiers_internal.h"

#define ROWS    4
#define COLUMNS 8

void cpu_gemm_tile_portable(const struct cpu_gemm_tile *tile)
{
    float sums[ROWS][COLUMNS] = {{0}};
    const float *a = tile->a;
    for (int k = 0; k < tile->k; k++, a += tile->rows) {
        const float *b = tile->b + (tile->offsets ? tile->offsets[k] : k * tile->b_step);
        for (int i = 0; i < tile->rows; i++)
            for (int j = 0; j < COLUMNS; j++)
                sums[i][j] = __builtin_fmaf(a[i], b[j], sums[i][j]);
    }
    for (int i = 0; i < tile->rows; i++)
        for (int j = 0; j < tile->columns; j++) {
            float *c = tile->c + i * tile->c_step + j, sum = sums[i][j];
            if (tile->add)
                sum = *c + sum;
            if (tile->bias)
                sum = sum + tile->bias[j];
            *c = tile->relu && sum <= 0 ? 0 : sum;
        }
}

void cpu_correlate_portable(const struct cpu_correlation *task)
{
    for (int i = 0; i < task->a_count; i++)
        for (int j = 0; j < task->b_count; j++) {
            float lanes[CPU_PIXEL_LANES] = {0};
            for (int image = 0; image < task->images; image++) {
                const float *a = task->a + image * task->image_a + i * task->a_step;
                const float *b = task->b + image * task->image_b + task->offsets[j];
                for (int p = 0; p < task->pixels; p++)
                    lanes[p % CPU_PIXEL_LANES] =
                        __builtin_fmaf(a[p], b[p], lanes[p % CPU_PIXEL_LANES]);
            }
            for (int width = CPU_PIXEL_LANES / 2; width > 0; width /= 2)
                for (int lane = 0; lane < width; lane++)
                    lanes[lane] += lanes[lane + width];
            task->c[i * task->c_step + j] += lanes[0];
        }
}

void cpu_transpose_portable(const float *x, int64_t step, int rows, int count, float *ret,
                            int64_t ret_step)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < count; j++)
            ret[j * ret_step + i] = x[i * step + j];
}
