/* index: rows that move elements, or make them out of nothing, whatever their type. */
#include "kernels/cpu/kernels_internal.h"
#include "kernels/cpu/walk_internal.h"
#include "kernels/op/op.h"

#define CHUNK 65536 /* elements that one thread takes at a time */

struct copying {
    struct cpu_walk from;
    char *to;
};

static void copy_chunk(void *context, int chunk, int thread)
{
    (void)thread;
    const struct copying *work = context;
    int64_t first = (int64_t)chunk * CHUNK, rest = work->from.count - first;
    cpu_walk_copy(&work->from, first, rest < CHUNK ? rest : CHUNK,
                  work->to + (size_t)first * dtype_size(work->from.dtype));
}

static enum cr_status run_copy(struct cr_call *call, const struct device_launch *launch)
{
    (void)call;
    struct copying work = {cpu_walk_of(launch->inputs[0]), tensor_bytes(launch->outputs[0])};
    int64_t chunks = (work.from.count + CHUNK - 1) / CHUNK;
    cpu_pool_run(cpu_of(launch->device)->pool, copy_chunk, &work, (int)chunks);
    return CR_OK;
}

static void fill(const struct tensor *y, double value)
{
    int64_t elements = tensor_elements(y);
    size_t size = dtype_size(y->dtype), filled = size, all = (size_t)elements * size;
    char *bytes = tensor_bytes(y);
    if (elements == 0)
        return;
    dtype_write(y->dtype, bytes, 0, value);
    while (filled < all) {
        size_t more = filled < all - filled ? filled : all - filled;
        memcpy(bytes + filled, bytes, more);
        filled += more;
    }
}

static enum cr_status run_full(struct cr_call *call, const struct device_launch *launch)
{
    (void)call;
    fill(launch->outputs[0], op_attr(launch->site, "value")->number);
    return CR_OK;
}

static enum cr_status run_iota(struct cr_call *call, const struct device_launch *launch)
{
    (void)call;
    struct tensor *y = launch->outputs[0];
    int64_t elements = tensor_elements(y);
    for (int64_t i = 0; i < elements; i++)
        dtype_write(y->dtype, tensor_bytes(y), i, (double)i);
    return CR_OK;
}

/* Where element e of a shape lies in a tensor of these strides. */
static int64_t offset_of(int rank, const int64_t *shape, const int64_t *stride, int64_t e)
{
    int64_t at = 0;
    for (int i = rank - 1; i >= 0; i--) {
        at += e % shape[i] * stride[i];
        e /= shape[i];
    }
    return at;
}

/* Fills y, and puts each innermost row of x into its place. */
static enum cr_status run_pad(struct cr_call *call, const struct device_launch *launch)
{
    (void)call;
    const struct tensor *x = launch->inputs[0];
    struct tensor *y = launch->outputs[0];
    const int64_t *before = op_attr(launch->site, "before")->list;
    size_t size = dtype_size(x->dtype);
    fill(y, op_attr(launch->site, "value")->number);

    struct cpu_walk from = cpu_walk_of(x);
    int64_t row = x->rank > 0 ? x->shape[x->rank - 1] : 1, corner = 0;
    for (int i = 0; i < x->rank; i++)
        corner += before[i] * y->stride[i];
    for (int64_t e = 0; e < from.count; e += row) {
        int64_t at = corner + offset_of(x->rank, x->shape, y->stride, e);
        cpu_walk_copy(&from, e, row, (char *)tensor_bytes(y) + (size_t)at * size);
    }
    return CR_OK;
}

/* y[.., i * step + j, ..] gets x[.., i, .., j], i rising before j. */
static enum cr_status run_fold(struct cr_call *call, const struct device_launch *launch)
{
    (void)call;
    const struct tensor *x = launch->inputs[0];
    struct tensor *y = launch->outputs[0];
    int64_t axis = op_attr_int(launch->site, "axis"), step = op_attr_int(launch->site, "step");
    int64_t stride[TENSOR_RANK_MAX];
    axis = axis < 0 ? axis + y->rank : axis;
    for (int i = 0; i < y->rank; i++)
        stride[i] = y->stride[i] * (i == axis ? step : 1);
    stride[x->rank - 1] = y->stride[axis];

    fill(y, 0);
    struct cpu_walk from = cpu_walk_of(x);
    for (int64_t e = 0; e < from.count; e++) {
        int64_t at = offset_of(x->rank, x->shape, stride, e);
        if (x->dtype == DTYPE_F32) {
            float value;
            cpu_walk_copy(&from, e, 1, &value);
            ((float *)tensor_bytes(y))[at] += value;
        } else {
            dtype_write(y->dtype, tensor_bytes(y), at,
                        dtype_read(y->dtype, tensor_bytes(y), at) + tensor_at(x, e));
        }
    }
    return CR_OK;
}

const struct device_kernel cpu_index_kernels[] = {
    {.op = OP_COPY, .name = "copy", .run = run_copy, .strided = true},
    {.op = OP_FULL, .name = "full", .run = run_full, .strided = true},
    {.op = OP_IOTA, .name = "iota", .run = run_iota, .strided = true},
    {.op = OP_PAD, .name = "pad", .run = run_pad, .strided = true},
    {.op = OP_FOLD, .name = "fold", .run = run_fold, .strided = true},
    {0},
};
