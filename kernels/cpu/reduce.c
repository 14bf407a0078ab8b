/*
 * reduce: many elements to one, in the order that cpu.h says.
 *
 * The reduced axes are brought to the end. Then either each result's elements are gathered, chunk
 * by chunk, mapped by tile code and folded, or, where neighbours in memory belong to neighbouring
 * results, up to 32 results are summed side by side; both give the same bits.
 */
#include "kernels/cpu/kernels_internal.h"
#include "kernels/cpu/tile_internal.h"
#include "kernels/cpu/walk_internal.h"
#include "kernels/op/op.h"

#include <math.h>

#define WORK_MIN 65536 /* elements that are worth a thread's while */

static bool accepts(const struct op_site *site)
{
    return site->op->row->kind == OP_REDUCE && site->inputs[0].dtype == DTYPE_F32 &&
           site->outputs[0].dtype == DTYPE_F32;
}

/* A chunk as gathered, the tiles of the formula, and those of the finish. */
static int64_t thread_floats(const struct cpu_tile_code *map, const struct cpu_tile_code *finish)
{
    return 2 * CPU_SUM_CHUNK + cpu_tile_floats(map) + cpu_tile_floats(finish) + CPU_TILE;
}

static size_t scratch_size(const struct device *device, const struct op_site *site)
{
    struct cpu_tile_code map, finish;
    cpu_tile_compile(op_formula(site), &map);
    cpu_tile_compile(site->op->finish, &finish);
    return (size_t)(thread_floats(&map, &finish) * cpu_of(device)->thread_count) * sizeof(float);
}

struct reduction {
    const struct cpu *cpu;
    const struct device_launch *launch;
    enum op_combine how;
    struct cpu_tile_code map, finish;
    struct cpu_walk kept;  /* the first element of each result */
    struct cpu_walk group; /* the elements of one result, from its first */
    bool mapped, side_by_side;
    int64_t results, per_chunk; /* results that one thread takes at a time */
    float *y;
};

static float *memory_of(const struct reduction *work, int thread)
{
    return (float *)work->launch->scratch + thread * thread_floats(&work->map, &work->finish);
}

/* Where result r's first element lies, in elements from the walk's start. */
static int64_t start_of(const struct cpu_walk *kept, int64_t r)
{
    int64_t at = 0;
    for (int i = kept->rank - 1; i >= 0; i--) {
        at += r % kept->shape[i] * kept->stride[i];
        r /= kept->shape[i];
    }
    return at;
}

/* Elements first to first + count - 1 of a result, mapped by the formula. */
static const float *take_chunk(const struct reduction *work, const struct cpu_walk *group,
                               float *memory, int64_t first, int count)
{
    float *gathered = memory, *mapped = memory + CPU_SUM_CHUNK;
    const float *x = gathered;
    if (cpu_walk_gapless(group))
        x = (const float *)(const void *)group->bytes + first;
    else
        cpu_walk_floats(group, first, count, gathered);
    if (!work->mapped)
        return x;
    for (int i = 0; i < count; i += CPU_TILE) {
        const float *names[] = {x + i}, *roots[1];
        int tile = count - i < CPU_TILE ? count - i : CPU_TILE;
        cpu_tile_run(work->cpu->loops, &work->map, mapped + CPU_SUM_CHUNK, names, tile, mapped + i,
                     roots);
    }
    return mapped;
}

static float reduce_one(const struct reduction *work, int64_t result, float *memory)
{
    const struct cpu_loops *loops = work->cpu->loops;
    struct cpu_walk group = work->group;
    group.bytes += start_of(&work->kept, result) * (int64_t)sizeof(float);
    float total = work->how == OP_COMBINE_SUM   ? 0
                  : work->how == OP_COMBINE_MAX ? -INFINITY
                                                : INFINITY;
    for (int64_t first = 0; first < group.count; first += CPU_SUM_CHUNK) {
        int64_t rest = group.count - first;
        int count = rest < CPU_SUM_CHUNK ? (int)rest : CPU_SUM_CHUNK;
        const float *x = take_chunk(work, &group, memory, first, count);
        if (work->how == OP_COMBINE_SUM)
            total += loops->sum_chunk(x, count);
        else if (work->how == OP_COMBINE_MAX)
            total = loops->max(x, count, total);
        else
            total = loops->min(x, count, total);
    }
    return total;
}

/* Results that lie side by side in memory, from the first on: up to 32 at a time. */
static void reduce_beside(const struct reduction *work, int64_t first, int64_t count)
{
    const struct cpu_walk *kept = &work->kept, *group = &work->group;
    int64_t run = kept->shape[kept->rank - 1], step = group->rank > 0 ? group->stride[0] : 0;
    for (int64_t done = 0; done < count;) {
        int64_t rest = count - done, column = (first + done) % run;
        int64_t columns = run - column < rest ? run - column : rest;
        columns = columns < CPU_COLS_MAX ? columns : CPU_COLS_MAX;
        const float *x = (const float *)(const void *)group->bytes + start_of(kept, first + done);
        float *sums = work->y + first + done;
        memset(sums, 0, (size_t)columns * sizeof(float));
        for (int64_t i = 0; i < group->count; i += CPU_SUM_CHUNK) {
            int64_t rows = group->count - i < CPU_SUM_CHUNK ? group->count - i : CPU_SUM_CHUNK;
            work->cpu->loops->sum_columns(x + i * step, step, (int)rows, (int)columns, sums);
        }
        done += columns;
    }
}

/* y = finish(a = y, n = how many). */
static void finish(const struct reduction *work, int64_t first, int64_t count, float *memory)
{
    float *how_many = memory + 2 * CPU_SUM_CHUNK + cpu_tile_floats(&work->map);
    float *tiles = how_many + CPU_TILE;
    if (work->finish.step_count == 0)
        return;
    cpu_tile_fill(how_many, (float)work->group.count);
    cpu_tile_begin(&work->finish, tiles);
    for (int64_t i = 0; i < count; i += CPU_TILE) {
        float *y = work->y + first + i;
        const float *names[] = {y, how_many}, *roots[1];
        int tile = count - i < CPU_TILE ? (int)(count - i) : CPU_TILE;
        cpu_tile_run(work->cpu->loops, &work->finish, tiles, names, tile, y, roots);
    }
}

static void run_chunk(void *context, int chunk, int thread)
{
    const struct reduction *work = context;
    float *memory = memory_of(work, thread);
    int64_t first = chunk * work->per_chunk, rest = work->results - first;
    int64_t count = rest < work->per_chunk ? rest : work->per_chunk;
    cpu_tile_begin(&work->map, memory + 2 * CPU_SUM_CHUNK);
    if (work->side_by_side)
        reduce_beside(work, first, count);
    else
        for (int64_t r = first; r < first + count; r++)
            work->y[r] = reduce_one(work, r, memory);
    finish(work, first, count, memory);
}

/* The kept axes in order, and the reduced ones, each as a tensor of its own. */
static void split_axes(const struct tensor *x, unsigned axes, struct tensor *ret_kept,
                       struct tensor *ret_group)
{
    *ret_kept = *ret_group = *x;
    ret_kept->rank = ret_group->rank = 0;
    for (int i = 0; i < x->rank; i++) {
        struct tensor *to = axes >> i & 1 ? ret_group : ret_kept;
        to->shape[to->rank] = x->shape[i];
        to->stride[to->rank++] = x->stride[i];
    }
}

static enum cr_status run(struct cr_call *call, const struct device_launch *launch)
{
    (void)call;
    const struct op_site *site = launch->site;
    struct tensor kept, group;
    split_axes(launch->inputs[0], op_reduced_axes(site), &kept, &group);
    struct reduction work = {.cpu = cpu_of(launch->device),
                             .launch = launch,
                             .how = site->op->row->combine,
                             .kept = cpu_walk_of(&kept),
                             .group = cpu_walk_of(&group),
                             .y = tensor_bytes(launch->outputs[0])};
    cpu_tile_compile(op_formula(site), &work.map);
    cpu_tile_compile(site->op->finish, &work.finish);
    work.mapped = work.map.step_count > 0;
    work.results = work.kept.count;
    if (work.results == 0)
        return CR_OK;

    work.side_by_side = work.how == OP_COMBINE_SUM && !work.mapped && work.kept.rank > 0 &&
                        work.kept.stride[work.kept.rank - 1] == 1 && work.group.rank <= 1 &&
                        !cpu_walk_gapless(&work.group);
    int64_t each = work.group.count > 0 ? work.group.count : 1;
    work.per_chunk = (WORK_MIN / each + CPU_COLS_MAX) / CPU_COLS_MAX * CPU_COLS_MAX;
    if (!work.side_by_side && each >= WORK_MIN)
        work.per_chunk = 1;
    int64_t chunks = (work.results + work.per_chunk - 1) / work.per_chunk;
    cpu_pool_run(work.cpu->pool, run_chunk, &work, (int)chunks);
    return CR_OK;
}

const struct device_kernel cpu_reduce_kernels[] = {
    {.name = "reduce",
     .accepts = accepts,
     .scratch_size = scratch_size,
     .run = run,
     .strided = true},
    {0},
};
