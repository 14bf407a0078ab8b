/*
 * softmax: rows of numbers as shares of one, and the cross-entropy of them with labels. Each step
 * rounds as the rows of which the meaning consists do, so that both give the same bits:
 *
 *     shifted = x - max x; e = exp(shifted); sum by the rule of cpu.h; y = e / sum
 *     loss = log(sum) - shifted[label]; dlogits = (y - one hot) * dloss
 */
#include "kernels/cpu/kernels_internal.h"
#include "kernels/expr/expr.h"
#include "kernels/expr/functions.h"
#include "kernels/op/op.h"

#include <math.h>

#define ROWS_A_CHUNK 16 /* that one thread takes at a time */

struct rows {
    const struct cpu *cpu;
    int64_t count, columns;
    const float *x, *dloss;
    const struct tensor *labels;
    float *to;
    float *scratch; /* a row for each thread */
};

static bool last_axis(const struct op_site *site)
{
    int64_t axis = op_attr_int(site, "axis"), rank = site->inputs[0].rank;
    return axis == -1 || axis == rank - 1;
}

static bool accepts_softmax(const struct op_site *site)
{
    return site->inputs[0].dtype == DTYPE_F32 && site->inputs[0].rank > 0 && last_axis(site);
}

static bool accepts_labelled(const struct op_site *site)
{
    return site->inputs[0].dtype == DTYPE_F32 && site->inputs[0].dims[1] > 0 &&
           (site->input_count < 3 || site->inputs[2].dtype == DTYPE_F32);
}

static size_t scratch_size(const struct device *device, const struct op_site *site)
{
    const struct op_type *x = &site->inputs[0];
    return (size_t)cpu_of(device)->thread_count * (size_t)x->dims[x->rank - 1] * sizeof(float);
}

static float sum_of(const struct cpu_loops *loops, const float *x, int64_t count)
{
    float sum = 0;
    for (int64_t i = 0; i < count; i += CPU_SUM_CHUNK)
        sum +=
            loops->sum_chunk(x + i, count - i < CPU_SUM_CHUNK ? (int)(count - i) : CPU_SUM_CHUNK);
    return sum;
}

/* e = exp(x - top); the result is its sum. */
static float exponentials(const struct cpu_loops *loops, const float *x, int64_t count, float top,
                          float *ret_e)
{
    for (int64_t i = 0; i < count; i++)
        ret_e[i] = x[i] - top;
    for (int64_t i = 0; i < count; i += CPU_TILE) {
        int tile = count - i < CPU_TILE ? (int)(count - i) : CPU_TILE;
        struct cpu_tile_args args = {.to = ret_e + i, .a = ret_e + i, .count = tile};
        loops->tile(EXPR_EXP, &args);
    }
    return sum_of(loops, ret_e, count);
}

static void softmax_row(const struct cpu_loops *loops, const float *x, int64_t count, float *y)
{
    float top = loops->max(x, count, -INFINITY);
    float sum = exponentials(loops, x, count, top, y);
    for (int64_t i = 0; i < count; i++)
        y[i] = y[i] / sum;
}

/* Rows first to end - 1 of a chunk. */
static int64_t first_row(const struct rows *work, int chunk, int64_t *ret_end)
{
    int64_t first = (int64_t)chunk * ROWS_A_CHUNK, end = first + ROWS_A_CHUNK;
    *ret_end = end < work->count ? end : work->count;
    return first;
}

static void softmax_rows(void *context, int chunk, int thread)
{
    (void)thread;
    const struct rows *work = context;
    int64_t end;
    for (int64_t r = first_row(work, chunk, &end); r < end; r++)
        softmax_row(work->cpu->loops, work->x + r * work->columns, work->columns,
                    work->to + r * work->columns);
}

/* dx = y (dy - sum of y dy); x is y, and dloss is dy. */
static void gradient_rows(void *context, int chunk, int thread)
{
    const struct rows *work = context;
    float *products = work->scratch + thread * work->columns;
    int64_t end;
    for (int64_t r = first_row(work, chunk, &end); r < end; r++) {
        const float *y = work->x + r * work->columns, *dy = work->dloss + r * work->columns;
        float *dx = work->to + r * work->columns;
        for (int64_t i = 0; i < work->columns; i++)
            products[i] = y[i] * dy[i];
        float inner = sum_of(work->cpu->loops, products, work->columns);
        for (int64_t i = 0; i < work->columns; i++)
            dx[i] = y[i] * (dy[i] - inner);
    }
}

static int64_t label_of(const struct rows *work, int64_t row)
{
    return (int64_t)dtype_read(work->labels->dtype, tensor_bytes(work->labels), row);
}

static void loss_rows(void *context, int chunk, int thread)
{
    const struct rows *work = context;
    const struct cpu_loops *loops = work->cpu->loops;
    float *e = work->scratch + thread * work->columns;
    int64_t end;
    for (int64_t r = first_row(work, chunk, &end); r < end; r++) {
        const float *x = work->x + r * work->columns;
        float top = loops->max(x, work->columns, -INFINITY);
        float sum = exponentials(loops, x, work->columns, top, e);
        work->to[r] = expr_log(sum) - (x[label_of(work, r)] - top);
    }
}

static void loss_gradient_rows(void *context, int chunk, int thread)
{
    (void)thread;
    const struct rows *work = context;
    int64_t end;
    for (int64_t r = first_row(work, chunk, &end); r < end; r++) {
        float *dx = work->to + r * work->columns;
        softmax_row(work->cpu->loops, work->x + r * work->columns, work->columns, dx);
        dx[label_of(work, r)] -= 1;
        for (int64_t i = 0; i < work->columns; i++)
            dx[i] = dx[i] * work->dloss[r];
    }
}

static struct rows rows_of(const struct device_launch *launch)
{
    const struct op_type *x = &launch->site->inputs[0];
    struct rows work = {.cpu = cpu_of(launch->device),
                        .count = 1,
                        .columns = x->dims[x->rank - 1],
                        .x = tensor_bytes(launch->inputs[0]),
                        .to = tensor_bytes(launch->outputs[0]),
                        .scratch = launch->scratch};
    for (int i = 0; i < x->rank - 1; i++)
        work.count *= x->dims[i];
    return work;
}

static void run_rows(struct rows *work, void (*rows)(void *context, int chunk, int thread))
{
    int64_t chunks = (work->count + ROWS_A_CHUNK - 1) / ROWS_A_CHUNK;
    if (work->columns > 0)
        cpu_pool_run(work->cpu->pool, rows, work, (int)chunks);
}

static enum cr_status check_labels(struct cr_call *call, const struct rows *work)
{
    for (int64_t r = 0; r < work->count; r++) {
        int64_t label = label_of(work, r);
        if (label < 0 || label >= work->columns)
            return cr_fail(call, CR_INVALID, "label %lld is %lld, not below %lld classes",
                           (long long)r, (long long)label, (long long)work->columns);
    }
    return CR_OK;
}

static enum cr_status run_softmax(struct cr_call *call, const struct device_launch *launch)
{
    (void)call;
    struct rows work = rows_of(launch);
    run_rows(&work, softmax_rows);
    return CR_OK;
}

static enum cr_status run_softmax_gradient(struct cr_call *call, const struct device_launch *launch)
{
    (void)call;
    struct rows work = rows_of(launch);
    work.dloss = tensor_bytes(launch->inputs[1]);
    run_rows(&work, gradient_rows);
    return CR_OK;
}

static enum cr_status run_loss(struct cr_call *call, const struct device_launch *launch)
{
    struct rows work = rows_of(launch);
    work.labels = launch->inputs[1];
    CR_TRY(check_labels(call, &work));
    run_rows(&work, loss_rows);
    return CR_OK;
}

static enum cr_status run_loss_gradient(struct cr_call *call, const struct device_launch *launch)
{
    struct rows work = rows_of(launch);
    work.labels = launch->inputs[1];
    work.dloss = tensor_bytes(launch->inputs[2]);
    CR_TRY(check_labels(call, &work));
    run_rows(&work, loss_gradient_rows);
    return CR_OK;
}

const struct device_kernel cpu_softmax_kernels[] = {
    {.op = OP_SOFTMAX, .name = "softmax", .accepts = accepts_softmax, .run = run_softmax},
    {.op = OP_SOFTMAX_GRADIENT,
     .name = "softmax_gradient",
     .accepts = accepts_softmax,
     .scratch_size = scratch_size,
     .run = run_softmax_gradient},
    {.op = OP_SOFTMAX_CROSS_ENTROPY,
     .name = "softmax_cross_entropy",
     .accepts = accepts_labelled,
     .scratch_size = scratch_size,
     .run = run_loss},
    {.op = OP_SOFTMAX_CROSS_ENTROPY_GRADIENT,
     .name = "softmax_cross_entropy_gradient",
     .accepts = accepts_labelled,
     .run = run_loss_gradient},
    {0},
};
