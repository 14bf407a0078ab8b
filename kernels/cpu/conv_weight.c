/* conv_weight: the gradient of the weights, a sum over all pixels of all pictures. */
#include "kernels/cpu/conv_internal.h"
#include "kernels/cpu/gemm_internal.h"

#define GROUP_FLOATS (1 << 17) /* of a group's fields, to stay in L2 */
#define GROUP_MAX    16        /* pictures */
#define FLOATS       16        /* of a cache line */

static const int64_t once[2] = {1, 1};

static int64_t rounded(int64_t floats)
{
    return (floats + FLOATS - 1) & ~(int64_t)(FLOATS - 1);
}

/* One group of pictures: their fields, and dy with its rows as far apart as the field's. */
struct group {
    struct cpu *cpu;
    const struct cpu_conv *conv;
    struct cpu_field field;
    int64_t pixels; /* of gradient, rounded to whole lanes */
    int64_t k, row_tiles, column_tiles;
    const float *x, *dy;
    const int64_t *offsets;
    float *fields, *gradients, *dw;
    int images;
};

static struct group group_of(const struct cpu_conv *conv)
{
    struct group group = {.conv = conv};
    group.field = cpu_field_of(conv->channels, conv->in, conv->out, conv->kernel, conv->stride,
                               once, conv->before);
    group.pixels = rounded(group.field.pixels);
    group.k = conv->channels * conv->kernel[0] * conv->kernel[1];
    return group;
}

static int64_t gradient_floats(const struct group *group)
{
    return group->conv->outputs * group->pixels;
}

/* How many pictures make a group: a function of the shape alone, since sums depend on it. */
static int64_t group_size(const struct group *group)
{
    int64_t fit = GROUP_FLOATS / (group->field.size + gradient_floats(group));
    return fit < 1 ? 1 : fit > GROUP_MAX ? GROUP_MAX : fit;
}

int64_t cpu_conv_weight_floats(const struct cpu_conv *conv)
{
    struct group group = group_of(conv);
    return 2 * rounded(group.k) + group_size(&group) * (group.field.size + gradient_floats(&group));
}

static void fill_picture(void *context, int image, int thread)
{
    (void)thread;
    const struct group *group = context;
    const struct cpu_conv *conv = group->conv;
    cpu_field_fill(group->cpu->loops, &group->field,
                   group->x + image * conv->channels * conv->in[0] * conv->in[1],
                   group->fields + image * group->field.size);

    const float *dy = group->dy + image * conv->outputs * conv->out[0] * conv->out[1];
    float *to = group->gradients + image * gradient_floats(group);
    for (int64_t o = 0; o < conv->outputs; o++) {
        struct cpu_lines lines = {
            .to = to + o * group->pixels,
            .from = dy + o * conv->out[0] * conv->out[1],
            .to_step = group->field.width,
            .from_step = conv->out[1],
            .lines = conv->out[0],
            .count = (int)conv->out[1],
        };
        group->cpu->loops->move_lines(&lines);
    }
}

/* All places of the kernel that a tile of outputs meets. */
static void correlate_outputs(void *context, int row_tile, int thread)
{
    (void)thread;
    const struct group *group = context;
    int64_t row = cpu_part(group->conv->outputs, group->row_tiles, row_tile);
    int64_t next = cpu_part(group->conv->outputs, group->row_tiles, row_tile + 1);
    for (int64_t t = 0; t < group->column_tiles; t++) {
        int64_t column = cpu_part(group->k, group->column_tiles, t);
        struct cpu_correlation task = {
            .a = group->gradients + row * group->pixels,
            .a_step = group->pixels,
            .b = group->fields,
            .offsets = group->offsets + column,
            .image_a = gradient_floats(group),
            .image_b = group->field.size,
            .images = group->images,
            .pixels = (int)group->pixels,
            .a_count = (int)(next - row),
            .b_count = (int)(cpu_part(group->k, group->column_tiles, t + 1) - column),
            .c = group->dw + row * group->k + column,
            .c_step = group->k,
        };
        group->cpu->loops->correlate(&task);
    }
}

void cpu_conv_weight_gradient(struct cpu *cpu, const struct cpu_conv *conv, const float *x,
                              const float *dy, float *dw, void *scratch)
{
    struct group group = group_of(conv);
    int64_t size = group_size(&group);
    int64_t *offsets = scratch;
    group.cpu = cpu;
    group.row_tiles = (conv->outputs + CPU_CORRELATION_A - 1) / CPU_CORRELATION_A;
    group.column_tiles = (group.k + CPU_CORRELATION_B - 1) / CPU_CORRELATION_B;
    group.offsets = offsets;
    group.fields = (float *)scratch + 2 * rounded(group.k);
    group.gradients = group.fields + size * group.field.size;
    group.dw = dw;
    cpu_field_offsets(&group.field, offsets);
    memset(group.fields, 0,
           (size_t)(size * (group.field.size + gradient_floats(&group))) * sizeof(float));
    memset(dw, 0, (size_t)(conv->outputs * group.k) * sizeof(float));

    for (int64_t image = 0; image < conv->images; image += size) {
        group.images = (int)(conv->images - image < size ? conv->images - image : size);
        group.x = x + image * conv->channels * conv->in[0] * conv->in[1];
        group.dy = dy + image * conv->outputs * conv->out[0] * conv->out[1];
        cpu_pool_run(cpu->pool, fill_picture, &group, group.images);
        cpu_pool_run(cpu->pool, correlate_outputs, &group, (int)group.row_tiles);
    }
}
