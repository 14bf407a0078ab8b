/* conv: forward and to the input, both as products with the rows of a field. */
#include "kernels/cpu/conv_internal.h"
#include "kernels/cpu/gemm_internal.h"

#define STRIP  512 /* pixels whose sums are made before they are written out: L1 */
#define FLOATS 16  /* of a cache line, to which the parts of the scratch are rounded */

static const int64_t once[2] = {1, 1};

static int64_t rounded(int64_t floats)
{
    return (floats + FLOATS - 1) & ~(int64_t)(FLOATS - 1);
}

/* A product of weights [rows][k] with the field of each picture. */
struct product {
    struct cpu *cpu;
    struct cpu_field field;
    int64_t images, rows, k;
    int tiles;
    const float *x, *bias;
    float *y;
    bool relu;
    const int64_t *offsets;
    const float *weights; /* packed: tile after tile, each [k][rows of it] */
    float *fields;        /* one for each thread */
};

static struct cpu_field field_of_input(const struct cpu_conv *conv)
{
    return cpu_field_of(conv->channels, conv->in, conv->out, conv->kernel, conv->stride, once,
                        conv->before);
}

static struct cpu_field field_of_gradient(const struct cpu_conv *conv)
{
    int64_t shift[2] = {conv->kernel[0] - 1 - conv->before[0],
                        conv->kernel[1] - 1 - conv->before[1]};
    return cpu_field_of(conv->outputs, conv->out, conv->in, conv->kernel, once, conv->stride,
                        shift);
}

/* Floats of the scratch of a product: offsets, packed weights, and fields; see lay_out. */
static int64_t product_floats(const struct cpu *cpu, const struct cpu_field *field, int64_t rows,
                              int64_t k)
{
    return 2 * rounded(k) + 2 * rounded(rows * k) + cpu->thread_count * field->size;
}

size_t cpu_conv_scratch(const struct cpu *cpu, const struct cpu_conv *conv)
{
    int64_t places = conv->kernel[0] * conv->kernel[1];
    struct cpu_field input = field_of_input(conv), gradient = field_of_gradient(conv);
    int64_t forward = product_floats(cpu, &input, conv->outputs, conv->channels * places);
    int64_t backward = product_floats(cpu, &gradient, conv->channels, conv->outputs * places);
    int64_t weights = cpu_conv_weight_floats(conv);
    int64_t most = forward > backward ? forward : backward;
    return (size_t)(most > weights ? most : weights) * sizeof(float);
}

/* Writes the sums of a strip to where they belong: rows of outputs without what lies between. */
static void write_strip(const struct product *product, const float *sums, int64_t first,
                        int64_t count, int64_t row, int rows, float *y)
{
    const int64_t width = product->field.width, out = product->field.out[1];
    const int64_t outputs = product->field.out[0] * out;
    for (int i = 0; i < rows; i++) {
        float bias = product->bias ? product->bias[row + i] : 0;
        for (int64_t p = first; p < first + count;) {
            /* The rest of a line alone, or as many as are there in whole. */
            int64_t line = p / width, column = p % width, rest = first + count - p;
            int64_t whole = column == 0 ? rest / width : 0, run = out - column;
            struct cpu_lines lines = {
                .to = y + (row + i) * outputs + line * out + column,
                .from = sums + i * STRIP + p - first,
                .to_step = out,
                .from_step = width,
                .lines = whole > 1 ? whole : 1,
                .count = (int)(run < rest ? run : rest),
            };
            if (lines.count > 0)
                product->cpu->loops->bias_lines(&lines, bias, product->relu);
            p = (line + lines.lines) * width;
        }
    }
}

/* The sums of some rows over a strip of pixels, block of k by block. */
static void sum_strip(const struct product *product, const float *field, const float *weights,
                      int rows, int64_t first, int64_t count, float *sums)
{
    const struct cpu_loops *loops = product->cpu->loops;
    for (int64_t k = 0; k < product->k; k += CPU_KC) {
        int64_t rest = product->k - k;
        for (int64_t p = 0; p < count; p += loops->columns) {
            struct cpu_gemm_tile tile = {
                .a = weights + k * rows,
                .b = field + first + p,
                .offsets = product->offsets + k,
                .c = sums + p,
                .c_step = STRIP,
                .k = rest < CPU_KC ? (int)rest : CPU_KC,
                .rows = rows,
                .columns = loops->columns,
                .add = k > 0,
            };
            loops->gemm_tile(&tile);
        }
    }
}

static void multiply_picture(void *context, int image, int thread)
{
    const struct product *product = context;
    const struct cpu_field *field = &product->field;
    float *planes = product->fields + thread * field->size;
    float *sums = product->cpu->threads[thread].pack_a;
    cpu_field_fill(product->cpu->loops, field,
                   product->x + image * field->channels * field->in[0] * field->in[1], planes);

    float *y = product->y + image * product->rows * field->out[0] * field->out[1];
    for (int64_t first = 0; first < field->pixels; first += STRIP) {
        int64_t rest = field->pixels - first, count = rest < STRIP ? rest : STRIP;
        for (int t = 0; t < product->tiles; t++) {
            int64_t row = cpu_part(product->rows, product->tiles, t);
            int rows = (int)(cpu_part(product->rows, product->tiles, t + 1) - row);
            sum_strip(product, planes, product->weights + row * product->k, rows, first, count,
                      sums);
            write_strip(product, sums, first, count, row, rows, y);
        }
    }
}

_Static_assert(CPU_ROWS_MAX *STRIP <= CPU_MC * CPU_KC, "a strip's sums lie in pack_a");
_Static_assert(STRIP % CPU_COLS_MAX == 0, "a strip is whole panels");

/* Divides the scratch, packs the weights and works off the pictures. weights may lie in it. */
static void run_product(struct product *product, const float *weights, float *scratch)
{
    const struct cpu_loops *loops = product->cpu->loops;
    int64_t *offsets = (int64_t *)(void *)scratch;
    float *packed = scratch + 2 * rounded(product->k);
    product->fields = packed + rounded(product->rows * product->k);
    product->tiles = (int)((product->rows + loops->rows - 1) / loops->rows);
    product->offsets = offsets;
    product->weights = packed;

    cpu_field_offsets(&product->field, offsets);
    for (int t = 0; t < product->tiles; t++) {
        int64_t row = cpu_part(product->rows, product->tiles, t);
        int rows = (int)(cpu_part(product->rows, product->tiles, t + 1) - row);
        cpu_pack_rows(loops, weights + row * product->k, product->k, 1, rows, (int)product->k,
                      packed + row * product->k);
    }
    memset(product->fields, 0,
           (size_t)(product->cpu->thread_count * product->field.size) * sizeof(float));
    cpu_pool_run(product->cpu->pool, multiply_picture, product, (int)product->images);
}

void cpu_conv_forward(struct cpu *cpu, const struct cpu_conv *conv, const float *x, const float *w,
                      const float *bias, bool relu, float *y, void *scratch)
{
    struct product product = {.cpu = cpu,
                              .field = field_of_input(conv),
                              .images = conv->images,
                              .rows = conv->outputs,
                              .k = conv->channels * conv->kernel[0] * conv->kernel[1],
                              .x = x,
                              .bias = bias,
                              .y = y,
                              .relu = relu};
    run_product(&product, w, scratch);
}

/* ret[c][o][a][b] = w[o][c][kernel - 1 - a][kernel - 1 - b]. */
static void turn_weights(const struct cpu_conv *conv, const float *w, float *ret_turned)
{
    int64_t places = conv->kernel[0] * conv->kernel[1];
    for (int64_t c = 0; c < conv->channels; c++)
        for (int64_t o = 0; o < conv->outputs; o++) {
            const float *from = w + (o * conv->channels + c) * places;
            float *to = ret_turned + (c * conv->outputs + o) * places;
            for (int64_t place = 0; place < places; place++)
                to[place] = from[places - 1 - place];
        }
}

void cpu_conv_input_gradient(struct cpu *cpu, const struct cpu_conv *conv, const float *dy,
                             const float *w, float *dx, void *scratch)
{
    struct product product = {.cpu = cpu,
                              .field = field_of_gradient(conv),
                              .images = conv->images,
                              .rows = conv->channels,
                              .k = conv->outputs * conv->kernel[0] * conv->kernel[1],
                              .x = dy,
                              .y = dx};
    float *turned = scratch;
    turn_weights(conv, w, turned);
    run_product(&product, turned, turned + rounded(product.rows * product.k));
}
