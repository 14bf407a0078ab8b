/* products: the rows that are matrix products and convolutions, in f32. */
#include "kernels/cpu/conv_internal.h"
#include "kernels/cpu/gemm_internal.h"
#include "kernels/cpu/kernels_internal.h"
#include "kernels/op/op.h"

static bool is_f32(const struct op_site *site)
{
    for (int i = 0; i < site->input_count; i++)
        if (site->inputs[i].dtype != DTYPE_F32 && site->inputs[i].dtype != DTYPE_NONE)
            return false;
    return site->outputs[0].dtype == DTYPE_F32;
}

/* The start of matrix number `batch` of c's batches, in a or b. */
static const float *matrix_of(const struct tensor *x, const struct tensor *c, int64_t batch)
{
    int64_t at = 0;
    for (int i = c->rank - 3, from = x->rank - 3; i >= 0; i--, from--) {
        int64_t index = batch % c->shape[i];
        batch /= c->shape[i];
        if (from >= 0 && x->shape[from] != 1)
            at += index * x->stride[from];
    }
    return (const float *)tensor_bytes(x) + at;
}

struct matmul {
    struct cpu *cpu;
    const struct tensor *a, *b, *c;
    int64_t m, n, k;
};

static struct cpu_gemm gemm_of(const struct matmul *work, int64_t batch)
{
    const struct tensor *a = work->a, *b = work->b;
    return (struct cpu_gemm){
        .m = work->m,
        .n = work->n,
        .k = work->k,
        .a = matrix_of(a, work->c, batch),
        .a_row = a->stride[a->rank - 2],
        .a_column = a->stride[a->rank - 1],
        .b = matrix_of(b, work->c, batch),
        .b_row = b->stride[b->rank - 2],
        .b_column = b->stride[b->rank - 1],
        .c = (float *)tensor_bytes(work->c) + batch * work->m * work->n,
        .c_row = work->n,
    };
}

static void run_batch(void *context, int batch, int thread)
{
    const struct matmul *work = context;
    struct cpu_gemm gemm = gemm_of(work, batch);
    cpu_gemm_alone(work->cpu->loops, &work->cpu->threads[thread], &gemm);
}

static enum cr_status run_matmul(struct cr_call *call, const struct device_launch *launch)
{
    (void)call;
    struct matmul work = {.cpu = cpu_of(launch->device),
                          .a = launch->inputs[0],
                          .b = launch->inputs[1],
                          .c = launch->outputs[0]};
    int64_t elements = tensor_elements(work.c);
    if (elements == 0)
        return CR_OK;
    work.m = work.c->shape[work.c->rank - 2];
    work.n = work.c->shape[work.c->rank - 1];
    work.k = work.a->shape[work.a->rank - 1];
    int64_t batches = elements / (work.m * work.n);
    if (batches > 1) {
        cpu_pool_run(work.cpu->pool, run_batch, &work, (int)batches);
        return CR_OK;
    }
    struct cpu_gemm gemm = gemm_of(&work, 0);
    cpu_gemm(work.cpu, &gemm);
    return CR_OK;
}

static bool has_elements(const struct op_type *type)
{
    for (int i = 0; i < type->rank; i++)
        if (type->dims[i] == 0)
            return false;
    return true;
}

static bool accepts_conv(const struct op_site *site)
{
    return is_f32(site) && has_elements(&site->inputs[0]) && has_elements(&site->inputs[1]) &&
           has_elements(&site->outputs[0]);
}

/* The convolution of a site, from the types of its picture, weights and outputs. */
static struct cpu_conv conv_of(const struct op_site *site, const struct op_type *x,
                               const struct op_type *w, const struct op_type *y)
{
    const struct op_datum *stride = op_attr(site, "stride"), *pad = op_attr(site, "pad");
    struct cpu_conv conv = {.images = x->dims[0], .channels = x->dims[1], .outputs = w->dims[0]};
    for (int i = 0; i < 2; i++) {
        conv.in[i] = x->dims[2 + i];
        conv.out[i] = y->dims[2 + i];
        conv.kernel[i] = w->dims[2 + i];
        conv.stride[i] = stride->list[i];
        conv.before[i] = pad->list[i];
    }
    return conv;
}

static struct cpu_conv conv_of_site(const struct op_site *site)
{
    switch (site->op->row->id) {
    case OP_CONV_INPUT_GRADIENT:
        return conv_of(site, &site->outputs[0], &site->inputs[1], &site->inputs[0]);
    case OP_CONV_WEIGHT_GRADIENT:
        return conv_of(site, &site->inputs[0], &site->outputs[0], &site->inputs[1]);
    default:
        return conv_of(site, &site->inputs[0], &site->inputs[1], &site->outputs[0]);
    }
}

static size_t conv_scratch_size(const struct device *device, const struct op_site *site)
{
    struct cpu_conv conv = conv_of_site(site);
    return cpu_conv_scratch(cpu_of(device), &conv);
}

static enum cr_status run_conv(struct cr_call *call, const struct device_launch *launch)
{
    (void)call;
    const struct op_site *site = launch->site;
    struct cpu_conv conv = conv_of_site(site);
    bool biased = site->input_count > 2 && launch->inputs[2];
    cpu_conv_forward(cpu_of(launch->device), &conv, tensor_bytes(launch->inputs[0]),
                     tensor_bytes(launch->inputs[1]),
                     biased ? tensor_bytes(launch->inputs[2]) : NULL, false,
                     tensor_bytes(launch->outputs[0]), launch->scratch);
    return CR_OK;
}

static enum cr_status run_conv_input_gradient(struct cr_call *call,
                                              const struct device_launch *launch)
{
    (void)call;
    struct cpu_conv conv = conv_of_site(launch->site);
    cpu_conv_input_gradient(cpu_of(launch->device), &conv, tensor_bytes(launch->inputs[0]),
                            tensor_bytes(launch->inputs[1]), tensor_bytes(launch->outputs[0]),
                            launch->scratch);
    return CR_OK;
}

static enum cr_status run_conv_weight_gradient(struct cr_call *call,
                                               const struct device_launch *launch)
{
    (void)call;
    struct cpu_conv conv = conv_of_site(launch->site);
    cpu_conv_weight_gradient(cpu_of(launch->device), &conv, tensor_bytes(launch->inputs[0]),
                             tensor_bytes(launch->inputs[1]), tensor_bytes(launch->outputs[0]),
                             launch->scratch);
    return CR_OK;
}

const struct device_kernel cpu_product_kernels[] = {
    {.op = OP_MATMUL, .name = "matmul", .accepts = is_f32, .run = run_matmul, .strided = true},
    {.op = OP_CONV,
     .name = "conv",
     .accepts = accepts_conv,
     .scratch_size = conv_scratch_size,
     .run = run_conv},
    {.op = OP_CONV_INPUT_GRADIENT,
     .name = "conv_input_gradient",
     .accepts = accepts_conv,
     .scratch_size = conv_scratch_size,
     .run = run_conv_input_gradient},
    {.op = OP_CONV_WEIGHT_GRADIENT,
     .name = "conv_weight_gradient",
     .accepts = accepts_conv,
     .scratch_size = conv_scratch_size,
     .run = run_conv_weight_gradient},
    {0},
};
