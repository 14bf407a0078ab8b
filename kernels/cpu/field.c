/* field: a picture, laid out so that each place of a kernel meets a run of pixels. */
#include "kernels/cpu/conv_internal.h"

/* What a tile may read behind the last output: a panel, or the lanes of a correlation. */
#define SLACK (CPU_COLS_MAX + CPU_PIXEL_LANES)

struct cpu_field cpu_field_of(int64_t channels, const int64_t in[2], const int64_t out[2],
                              const int64_t kernel[2], const int64_t stride[2],
                              const int64_t spread[2], const int64_t shift[2])
{
    struct cpu_field field = {.channels = channels};
    for (int axis = 0; axis < 2; axis++) {
        field.in[axis] = in[axis];
        field.out[axis] = out[axis];
        field.kernel[axis] = kernel[axis];
        field.stride[axis] = stride[axis];
        field.spread[axis] = spread[axis];
        field.shift[axis] = shift[axis];
    }
    field.rows = out[0] + (kernel[0] - 1) / stride[0];
    field.width = out[1] + (kernel[1] - 1) / stride[1];
    field.pixels = (out[0] - 1) * field.width + out[1];
    field.size = (channels * stride[0] * stride[1] * field.rows * field.width + SLACK + 15) & ~15;
    return field;
}

/* The pixels of one row of the picture, into the planes of its phase; to is the row's in phase 0.
 */
static void fill_row(const struct cpu_field *field, const float *x, float *to)
{
    int64_t stride = field->stride[1], spread = field->spread[1], shift = field->shift[1];
    int64_t plane = field->rows * field->width;
    if (stride == 1 && spread == 1) {
        int64_t first = shift < 0 ? -shift : 0;
        int64_t room = field->width - shift, last = field->in[1] < room ? field->in[1] : room;
        if (first < last)
            memcpy(to + first + shift, x + first, (size_t)(last - first) * sizeof(float));
        return;
    }
    for (int64_t i = 0; i < field->in[1]; i++) {
        int64_t at = i * spread + shift;
        if (at >= 0 && at / stride < field->width)
            to[at % stride * plane + at / stride] = x[i];
    }
}

void cpu_field_fill(const struct cpu_field *field, const float *x, float *ret_planes)
{
    int64_t plane = field->rows * field->width;
    int64_t phases = field->stride[0] * field->stride[1];
    for (int64_t c = 0; c < field->channels; c++)
        for (int64_t i = 0; i < field->in[0]; i++) {
            int64_t at = i * field->spread[0] + field->shift[0];
            if (at < 0 || at / field->stride[0] >= field->rows)
                continue;
            int64_t phase = c * phases + at % field->stride[0] * field->stride[1];
            fill_row(field, x + (c * field->in[0] + i) * field->in[1],
                     ret_planes + phase * plane + at / field->stride[0] * field->width);
        }
}

void cpu_field_offsets(const struct cpu_field *field, int64_t *ret_offsets)
{
    int64_t plane = field->rows * field->width;
    for (int64_t c = 0; c < field->channels; c++)
        for (int64_t a = 0; a < field->kernel[0]; a++)
            for (int64_t b = 0; b < field->kernel[1]; b++) {
                int64_t phase = (c * field->stride[0] + a % field->stride[0]) * field->stride[1] +
                                b % field->stride[1];
                *ret_offsets++ =
                    phase * plane + a / field->stride[0] * field->width + b / field->stride[1];
            }
}
