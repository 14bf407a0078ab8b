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

/* The lines of one channel, where pixels keep their distance and there is one phase. */
static void fill_plane(const struct cpu_loops *loops, const struct cpu_field *field, const float *x,
                       float *plane)
{
    int64_t first[2], last[2]; /* pixels that lie within the plane */
    const int64_t room[2] = {field->rows, field->width};
    for (int axis = 0; axis < 2; axis++) {
        int64_t shift = field->shift[axis], end = room[axis] - shift;
        first[axis] = shift < 0 ? -shift : 0;
        last[axis] = field->in[axis] < end ? field->in[axis] : end;
        if (first[axis] >= last[axis])
            return;
    }
    struct cpu_lines lines = {
        .to = plane + (first[0] + field->shift[0]) * field->width + first[1] + field->shift[1],
        .from = x + first[0] * field->in[1] + first[1],
        .to_step = field->width,
        .from_step = field->in[1],
        .lines = last[0] - first[0],
        .count = (int)(last[1] - first[1]),
    };
    loops->move_lines(&lines);
}

/* The pixels of one row, into the planes of its phase; to is the row's in phase 0. */
static void fill_row(const struct cpu_field *field, const float *x, float *to)
{
    int64_t stride = field->stride[1], plane = field->rows * field->width;
    for (int64_t i = 0; i < field->in[1]; i++) {
        int64_t at = i * field->spread[1] + field->shift[1];
        if (at >= 0 && at / stride < field->width)
            to[at % stride * plane + at / stride] = x[i];
    }
}

void cpu_field_fill(const struct cpu_loops *loops, const struct cpu_field *field, const float *x,
                    float *ret_planes)
{
    int64_t plane = field->rows * field->width, pixels = field->in[0] * field->in[1];
    int64_t phases = field->stride[0] * field->stride[1];
    bool plain = phases == 1 && field->spread[0] == 1 && field->spread[1] == 1;
    for (int64_t c = 0; c < field->channels; c++) {
        if (plain) {
            fill_plane(loops, field, x + c * pixels, ret_planes + c * plane);
            continue;
        }
        for (int64_t i = 0; i < field->in[0]; i++) {
            int64_t at = i * field->spread[0] + field->shift[0];
            if (at < 0 || at / field->stride[0] >= field->rows)
                continue;
            int64_t phase = c * phases + at % field->stride[0] * field->stride[1];
            fill_row(field, x + c * pixels + i * field->in[1],
                     ret_planes + phase * plane + at / field->stride[0] * field->width);
        }
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
