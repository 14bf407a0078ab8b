/*
 * window: the largest of each window of a picture, and where its gradient goes: to the first place
 * that is the largest, in the order of rows. Windows of 2 x 2 side by side, which are most of them,
 * have loops of their own; the others go place by place.
 */
#include "kernels/cpu/kernels_internal.h"
#include "kernels/expr/functions.h"
#include "kernels/op/op.h"

#include <math.h>

struct pooling {
    const struct cpu_loops *loops;
    int64_t planes, in[2], out[2], kernel[2], stride[2], before[2];
    bool pairs;
    const float *x, *dy;
    float *to; /* y, or dx */
};

static bool accepts(const struct op_site *site)
{
    for (int i = 0; i < site->input_count; i++)
        for (int axis = 0; axis < 4; axis++)
            if (site->inputs[i].dtype != DTYPE_F32 || site->inputs[i].dims[axis] == 0)
                return false;
    return true;
}

static struct pooling pooling_of(const struct device_launch *launch, const struct op_type *y)
{
    const struct op_site *site = launch->site;
    const struct op_type *x = &site->inputs[0];
    struct pooling work = {.loops = cpu_of(launch->device)->loops,
                           .planes = x->dims[0] * x->dims[1],
                           .pairs = true,
                           .x = tensor_bytes(launch->inputs[0]),
                           .to = tensor_bytes(launch->outputs[0])};
    for (int i = 0; i < 2; i++) {
        work.in[i] = x->dims[2 + i];
        work.out[i] = y->dims[2 + i];
        work.kernel[i] = op_attr(site, "kernel")->list[i];
        work.stride[i] = op_attr(site, "stride")->list[i];
        work.before[i] = op_attr(site, "pad")->list[i];
        work.pairs = work.pairs && work.kernel[i] == 2 && work.stride[i] == 2 &&
                     work.before[i] == 0 && work.out[i] * 2 <= work.in[i];
    }
    return work;
}

/* The first place of a window that is the largest, within a plane; -1 where it meets no pixel. */
static int64_t largest(const struct pooling *work, const float *x, int64_t i, int64_t j)
{
    int64_t found = -1;
    for (int64_t a = 0; a < work->kernel[0]; a++)
        for (int64_t b = 0; b < work->kernel[1]; b++) {
            int64_t row = i * work->stride[0] + a - work->before[0];
            int64_t column = j * work->stride[1] + b - work->before[1];
            if (row < 0 || row >= work->in[0] || column < 0 || column >= work->in[1])
                continue;
            int64_t at = row * work->in[1] + column;
            if (found < 0 || x[at] > x[found] || (isnan(x[at]) && !isnan(x[found])))
                found = at;
        }
    return found;
}

static void pool_plane(void *context, int plane, int thread)
{
    (void)thread;
    const struct pooling *work = context;
    const float *x = work->x + plane * work->in[0] * work->in[1];
    float *y = work->to + plane * work->out[0] * work->out[1];
    for (int64_t i = 0; i < work->out[0]; i++, y += work->out[1]) {
        if (work->pairs) {
            const float *above = x + 2 * i * work->in[1];
            work->loops->pool_pairs(y, above, above + work->in[1], (int)work->out[1]);
            continue;
        }
        for (int64_t j = 0; j < work->out[1]; j++) {
            int64_t at = largest(work, x, i, j);
            y[j] = at < 0 ? -INFINITY : x[at];
        }
    }
}

static void gradient_plane(void *context, int plane, int thread)
{
    (void)thread;
    const struct pooling *work = context;
    const float *x = work->x + plane * work->in[0] * work->in[1];
    const float *dy = work->dy + plane * work->out[0] * work->out[1];
    float *dx = work->to + plane * work->in[0] * work->in[1];
    bool covered =
        work->pairs && work->out[0] * 2 == work->in[0] && work->out[1] * 2 == work->in[1];
    if (!covered)
        memset(dx, 0, (size_t)(work->in[0] * work->in[1]) * sizeof(float));
    for (int64_t i = 0; i < work->out[0]; i++, dy += work->out[1]) {
        int64_t row = 2 * i * work->in[1], below = row + work->in[1];
        if (work->pairs) {
            work->loops->pool_pairs_gradient(dx + row, dx + below, x + row, x + below, dy,
                                             (int)work->out[1]);
            continue;
        }
        for (int64_t j = 0; j < work->out[1]; j++) {
            int64_t at = largest(work, x, i, j);
            if (at >= 0)
                dx[at] += dy[j];
        }
    }
}

static enum cr_status run_max_pool(struct cr_call *call, const struct device_launch *launch)
{
    (void)call;
    struct pooling work = pooling_of(launch, &launch->site->outputs[0]);
    cpu_pool_run(cpu_of(launch->device)->pool, pool_plane, &work, (int)work.planes);
    return CR_OK;
}

static enum cr_status run_max_pool_gradient(struct cr_call *call,
                                            const struct device_launch *launch)
{
    (void)call;
    struct pooling work = pooling_of(launch, &launch->site->inputs[1]);
    work.dy = tensor_bytes(launch->inputs[1]);
    cpu_pool_run(cpu_of(launch->device)->pool, gradient_plane, &work, (int)work.planes);
    return CR_OK;
}

const struct device_kernel cpu_window_kernels[] = {
    {.op = OP_MAX_POOL, .name = "max_pool", .accepts = accepts, .run = run_max_pool},
    {.op = OP_MAX_POOL_GRADIENT,
     .name = "max_pool_gradient",
     .accepts = accepts,
     .run = run_max_pool_gradient},
    {0},
};
