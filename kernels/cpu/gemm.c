/* gemm: blocks for the caches, packing, and the division among threads. */
#include "kernels/cpu/gemm_internal.h"

#define THREAD_FLOPS_MIN                                                     \
    2e7 /* about 0.3 ms of work: below it, a thread costs more than it gives \
         */

void cpu_pack_rows(const struct cpu_loops *loops, const float *a, int64_t row, int64_t column,
                   int rows, int k, float *ret_packed)
{
    if (column == 1) {
        loops->transpose(a, row, rows, k, ret_packed, rows);
        return;
    }
    for (int p = 0; p < k; p++)
        for (int i = 0; i < rows; i++)
            ret_packed[p * rows + i] = a[i * row + p * column];
}

/* A panel of b, [k][full], of which columns are there; the others are zeros. */
static void pack_panel(const struct cpu_loops *loops, const float *b, int64_t row, int64_t column,
                       int columns, int k, float *ret_panel)
{
    int full = loops->columns;
    if (columns < full)
        memset(ret_panel, 0, (size_t)(full * k) * sizeof(float));
    if (row == 1) {
        loops->transpose(b, column, columns, k, ret_panel, full);
        return;
    }
    for (int p = 0; p < k; p++) {
        const float *from = b + p * row;
        float *to = ret_panel + p * full;
        if (column == 1)
            memcpy(to, from, (size_t)columns * sizeof(float));
        else
            for (int j = 0; j < columns; j++)
                to[j] = from[j * column];
    }
}

/* One block of k and of columns: where b of it lies. */
struct block {
    int64_t first_k, first_n;
    int k, n;
    bool packed;
    const float *b;
};

static struct block take_block(const struct cpu_loops *loops, const struct cpu_thread *thread,
                               const struct cpu_gemm *gemm, int64_t first_n, int n, int64_t first_k)
{
    int64_t rest = gemm->k - first_k;
    struct block block = {
        .first_k = first_k, .first_n = first_n, .k = rest < CPU_KC ? (int)rest : CPU_KC, .n = n};
    const float *b = gemm->b + first_k * gemm->b_row + first_n * gemm->b_column;

    /* With one row of tiles, packing would cost as much as it gives. */
    block.packed = gemm->m > loops->rows || gemm->b_column != 1;
    block.b = block.packed ? thread->pack_b : b;
    for (int j = 0; j < n; j += loops->columns) {
        int columns = n - j < loops->columns ? n - j : loops->columns;
        if (block.packed || columns < loops->columns)
            pack_panel(loops, b + j * gemm->b_column, gemm->b_row, gemm->b_column, columns, block.k,
                       thread->pack_b + (int64_t)j * block.k);
    }
    return block;
}

/* Some rows of a, packed for the tiles of one block. */
struct rows {
    int64_t first;
    int count, tiles;
};

static void multiply_tile(const struct cpu_loops *loops, const struct cpu_thread *thread,
                          const struct cpu_gemm *gemm, const struct block *block,
                          const struct rows *rows, int tile_index, int panel_index)
{
    int64_t i = cpu_part(rows->count, rows->tiles, tile_index);
    int64_t next = cpu_part(rows->count, rows->tiles, tile_index + 1);
    int j = panel_index * loops->columns;
    int columns = block->n - j < loops->columns ? block->n - j : loops->columns;
    bool packed = block->packed || columns < loops->columns;
    bool last = block->first_k + block->k == gemm->k;
    struct cpu_gemm_tile tile = {
        .a = thread->pack_a + i * block->k,
        .b = packed ? thread->pack_b + (int64_t)j * block->k : block->b + j,
        .b_step = packed ? loops->columns : gemm->b_row,
        .c = gemm->c + (rows->first + i) * gemm->c_row + block->first_n + j,
        .c_step = gemm->c_row,
        .bias = last && gemm->bias ? gemm->bias + block->first_n + j : NULL,
        .k = block->k,
        .rows = (int)(next - i),
        .columns = columns,
        .add = block->first_k > 0,
        .relu = last && gemm->relu,
    };
    loops->gemm_tile(&tile);
}

static void pack_tile(const struct cpu_loops *loops, const struct cpu_thread *thread,
                      const struct cpu_gemm *gemm, const struct block *block,
                      const struct rows *rows, int tile)
{
    int64_t i = cpu_part(rows->count, rows->tiles, tile);
    int64_t next = cpu_part(rows->count, rows->tiles, tile + 1);
    const float *a = gemm->a + (rows->first + i) * gemm->a_row + block->first_k * gemm->a_column;
    cpu_pack_rows(loops, a, gemm->a_row, gemm->a_column, (int)(next - i), block->k,
                  thread->pack_a + i * block->k);
}

/*
 * All tiles of some rows and one block. Few rows go by panels of b, each of which stays in L1 for
 * them; many go by tiles of a, since then neighbours in c, which lie in the same pages, follow one
 * another.
 */
static void multiply_rows(const struct cpu_loops *loops, const struct cpu_thread *thread,
                          const struct cpu_gemm *gemm, const struct block *block,
                          const struct rows *rows)
{
    int panels = (block->n + loops->columns - 1) / loops->columns;
    if (gemm->m <= CPU_MC) {
        for (int t = 0; t < rows->tiles; t++)
            pack_tile(loops, thread, gemm, block, rows, t);
        for (int j = 0; j < panels; j++)
            for (int t = 0; t < rows->tiles; t++)
                multiply_tile(loops, thread, gemm, block, rows, t, j);
        return;
    }
    for (int t = 0; t < rows->tiles; t++) {
        pack_tile(loops, thread, gemm, block, rows, t);
        for (int j = 0; j < panels; j++)
            multiply_tile(loops, thread, gemm, block, rows, t, j);
    }
}

/* A sum of nothing. */
static void without_products(const struct cpu_gemm *gemm)
{
    for (int64_t i = 0; i < gemm->m; i++)
        for (int64_t j = 0; j < gemm->n; j++) {
            float sum = gemm->bias ? gemm->bias[j] : 0;
            gemm->c[i * gemm->c_row + j] = gemm->relu && sum <= 0 ? 0 : sum;
        }
}

void cpu_gemm_alone(const struct cpu_loops *loops, const struct cpu_thread *thread,
                    const struct cpu_gemm *gemm)
{
    if (gemm->k == 0) {
        without_products(gemm);
        return;
    }
    int64_t row_blocks = (gemm->m + CPU_MC - 1) / CPU_MC;
    for (int64_t j = 0; j < gemm->n; j += CPU_NC) {
        int n = gemm->n - j < CPU_NC ? (int)(gemm->n - j) : CPU_NC;
        for (int64_t k = 0; k < gemm->k; k += CPU_KC) {
            struct block block = take_block(loops, thread, gemm, j, n, k);
            for (int64_t i = 0; i < row_blocks; i++) {
                int64_t first = cpu_part(gemm->m, row_blocks, i);
                int count = (int)(cpu_part(gemm->m, row_blocks, i + 1) - first);
                int tiles = (count + loops->rows - 1) / loops->rows;
                struct rows rows = {first, count, tiles};
                multiply_rows(loops, thread, gemm, &block, &rows);
            }
        }
    }
}

struct shared {
    const struct cpu *cpu;
    const struct cpu_gemm *gemm;
    int parts;
    bool by_rows;
};

static void multiply_part(void *context, int chunk, int thread)
{
    const struct shared *shared = context;
    struct cpu_gemm part = *shared->gemm;
    int64_t unit = shared->by_rows ? 1 : shared->cpu->loops->columns;
    int64_t total = shared->by_rows ? part.m : part.n;
    int64_t units = (total + unit - 1) / unit;
    int64_t first = cpu_part(units, shared->parts, chunk) * unit;
    int64_t next = cpu_part(units, shared->parts, chunk + 1) * unit;
    next = next < total ? next : total;
    if (shared->by_rows) {
        part.m = next - first;
        part.a += first * part.a_row;
        part.c += first * part.c_row;
    } else {
        part.n = next - first;
        part.b += first * part.b_column;
        part.c += first;
        part.bias = part.bias ? part.bias + first : NULL;
    }
    cpu_gemm_alone(shared->cpu->loops, &shared->cpu->threads[thread], &part);
}

void cpu_gemm(struct cpu *cpu, const struct cpu_gemm *gemm)
{
    if (gemm->m == 0 || gemm->n == 0)
        return;
    double flops = 2.0 * (double)gemm->m * (double)gemm->n * (double)gemm->k;
    int parts = flops < THREAD_FLOPS_MIN * cpu->thread_count ? (int)(flops / THREAD_FLOPS_MIN)
                                                             : cpu->thread_count;
    struct shared shared = {cpu, gemm, parts < 1 ? 1 : parts, gemm->m > gemm->n};
    cpu_pool_run(cpu->pool, multiply_part, &shared, shared.parts);
}
