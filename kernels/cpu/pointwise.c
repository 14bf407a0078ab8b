/* pointwise: rows that work element by element, as tile code. */
#include "kernels/cpu/kernels_internal.h"
#include "kernels/cpu/tile_internal.h"
#include "kernels/cpu/walk_internal.h"
#include "kernels/op/op.h"

#define CHUNK (64 * CPU_TILE) /* elements that one thread takes at a time */

static bool narrow(unsigned dtype)
{
    return dtype == DTYPE_F32 || dtype == DTYPE_F16 || dtype == DTYPE_BF16 || dtype == DTYPE_BOOL;
}

static bool accepts(const struct op_site *site)
{
    if (site->op->row->kind != OP_POINTWISE || site->op->row->id == OP_CAST ||
        site->op->row->id == OP_COPY || op_formula(site)->name_count > CPU_TILE_NAMES_MAX)
        return false;
    for (int i = 0; i < site->input_count; i++)
        if (!narrow(site->inputs[i].dtype))
            return false;
    for (int i = 0; i < site->output_count; i++)
        if (!narrow(site->outputs[i].dtype))
            return false;
    return true;
}

static int64_t thread_floats(const struct cpu_tile_code *code)
{
    return cpu_tile_floats(code) + (int64_t)code->name_count * CPU_TILE;
}

static size_t scratch_size(const struct device *device, const struct op_site *site)
{
    struct cpu_tile_code code;
    cpu_tile_compile(op_formula(site), &code);
    return (size_t)(thread_floats(&code) * cpu_of(device)->thread_count) * sizeof(float);
}

struct pointwise {
    const struct cpu *cpu;
    const struct device_launch *launch;
    struct cpu_tile_code code;
    struct cpu_walk inputs[OP_INPUTS_MAX];
    bool gapless[OP_INPUTS_MAX], scalar[OP_INPUTS_MAX];
    float attrs[CPU_TILE_NAMES_MAX];
    int input_count;
    int64_t elements;
};

/* The tiles of what is one number throughout, once a chunk. */
static void begin(const struct pointwise *work, float *memory, float *name_tiles)
{
    cpu_tile_begin(&work->code, memory);
    for (int i = 0; i < work->code.name_count; i++)
        if (i >= work->input_count)
            cpu_tile_fill(name_tiles + (int64_t)i * CPU_TILE, work->attrs[i]);
        else if (work->scalar[i]) {
            float value;
            cpu_walk_floats(&work->inputs[i], 0, 1, &value);
            cpu_tile_fill(name_tiles + (int64_t)i * CPU_TILE, value);
        }
}

static void run_tile(const struct pointwise *work, float *memory, float *name_tiles, int64_t first,
                     int count)
{
    const float *names[CPU_TILE_NAMES_MAX], *roots[EXPR_ROOTS_MAX];
    for (int i = 0; i < work->code.name_count; i++) {
        float *tile = name_tiles + (int64_t)i * CPU_TILE;
        names[i] = tile;
        if (i >= work->input_count || work->scalar[i])
            continue;
        if (work->gapless[i])
            names[i] = (const float *)(const void *)work->inputs[i].bytes + first;
        else
            cpu_walk_floats(&work->inputs[i], first, count, tile);
    }

    struct tensor *const *outputs = work->launch->outputs;
    int made = cpu_tile_direct(&work->code);
    float *direct = NULL;
    if (made >= 0 && outputs[made]->dtype == DTYPE_F32)
        direct = (float *)tensor_bytes(outputs[made]) + first;
    cpu_tile_run(work->cpu->loops, &work->code, memory, names, count, direct, roots);
    for (int i = 0; i < work->code.root_count; i++)
        if (roots[i] != direct) {
            char *to = tensor_bytes(outputs[i]);
            cpu_floats_write(outputs[i]->dtype, roots[i], count,
                             to + (size_t)first * dtype_size(outputs[i]->dtype));
        }
}

static void run_chunk(void *context, int chunk, int thread)
{
    const struct pointwise *work = context;
    float *memory = (float *)work->launch->scratch + thread * thread_floats(&work->code);
    float *name_tiles = memory + cpu_tile_floats(&work->code);
    int64_t first = (int64_t)chunk * CHUNK, end = first + CHUNK;
    if (end > work->elements)
        end = work->elements;
    begin(work, memory, name_tiles);
    for (; first < end; first += CPU_TILE)
        run_tile(work, memory, name_tiles, first,
                 end - first < CPU_TILE ? (int)(end - first) : CPU_TILE);
}

static enum cr_status run(struct cr_call *call, const struct device_launch *launch)
{
    (void)call;
    const struct op_site *site = launch->site;
    const struct tensor *output = launch->outputs[0];
    struct pointwise work = {.cpu = cpu_of(launch->device),
                             .launch = launch,
                             .input_count = site->input_count,
                             .elements = tensor_elements(output)};
    if (work.elements == 0)
        return CR_OK;
    cpu_tile_compile(op_formula(site), &work.code);
    for (int i = 0; i < site->input_count; i++) {
        work.inputs[i] = cpu_walk_across(launch->inputs[i], output->rank, output->shape);
        work.scalar[i] = cpu_walk_scalar(&work.inputs[i]);
        work.gapless[i] = work.inputs[i].dtype == DTYPE_F32 && cpu_walk_gapless(&work.inputs[i]);
    }
    double attrs[OP_INPUTS_MAX + OP_ATTRS_MAX] = {0};
    op_formula_attrs(site, attrs);
    for (int i = site->input_count; i < work.code.name_count; i++)
        work.attrs[i] = (float)attrs[i];

    int64_t chunks = (work.elements + CHUNK - 1) / CHUNK;
    cpu_pool_run(work.cpu->pool, run_chunk, &work, (int)chunks);
    return CR_OK;
}

const struct device_kernel cpu_pointwise_kernels[] = {
    {.name = "pointwise",
     .accepts = accepts,
     .scratch_size = scratch_size,
     .run = run,
     .strided = true,
     .in_place = true},
    {0},
};
