/*
 * cpu_internal: what the files of this folder share: the device, its tiers, its threads.
 *
 * A tier is a table of loops (struct cpu_loops). Those written in plain C stand once, in
 * loops_internal.h, and are compiled for each tier; those written by hand stand in gemm_*.c.
 */
#pragma once

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/pool_internal.h"

#define CPU_KC        256  /* of k in one block: part of the meaning of a product */
#define CPU_MC        112  /* of rows of a packed at a time: L2 */
#define CPU_NC        1024 /* of columns of b packed at a time: L3 */
#define CPU_ROWS_MAX  14   /* of a tile, in any tier */
#define CPU_COLS_MAX  32

#define CPU_SUM_CHUNK 4096 /* elements of a sum: part of its meaning, and so are its lanes */
#define CPU_SUM_LANES 64

#define CPU_TILE      1024 /* elements that tile code works on at a time; a divisor of CPU_SUM_CHUNK */

_Static_assert(CPU_SUM_CHUNK % CPU_TILE == 0, "a chunk of a sum is whole tiles");

enum cpu_tier { CPU_PORTABLE, CPU_AVX2, CPU_AVX512 };

/*
 * A tile of c, over one block of k: c[i][j] (+)= sum over k of a[k][i] * b[k][j].
 *
 * a lies packed; row k of b begins at b + offsets[k], or at b + k * b_step. Rows of b hold the
 * tier's full columns, of which the first `columns` are stored.
 */
struct cpu_gemm_tile {
    const float *a; /* [k][rows] */
    const float *b;
    const int64_t *offsets; /* NULL: steps */
    int64_t b_step;
    float *c;
    int64_t c_step;
    const float *bias; /* of the columns, added at the end; NULL: none */
    int k, rows, columns;
    bool add;  /* to what c holds */
    bool relu; /* at the end */
};

/* Sums over pixels of products, in 16 virtual lanes (conv_internal.h). */
struct cpu_correlation {
    const float *a; /* a_count rows */
    int64_t a_step;
    const float *b; /* b_count rows, each at b + offsets[j] */
    const int64_t *offsets;
    int64_t image_a, image_b; /* from one image to the next */
    int images, pixels;       /* pixels is a multiple of 16 */
    int a_count, b_count;     /* at most CPU_CORRELATION_A, CPU_CORRELATION_B */
    float *c;                 /* added to */
    int64_t c_step;
};
#define CPU_CORRELATION_A 4
#define CPU_CORRELATION_B 6
#define CPU_PIXEL_LANES   16

/* One instruction of tile code: registers are tiles of CPU_TILE floats (tile_internal.h). */
struct cpu_tile_args {
    float *to;
    const float *a, *b, *c;
    int count;
};

/* Lines of floats, from one picture to another of other width. */
struct cpu_lines {
    float *to;
    const float *from;
    int64_t to_step, from_step; /* from one line to the next */
    int64_t lines;
    int count; /* floats of each */
};

struct cpu_loops {
    enum cpu_tier tier;
    const char *name;
    int rows, columns; /* of a tile of a product */
    void (*gemm_tile)(const struct cpu_gemm_tile *tile);
    void (*correlate)(const struct cpu_correlation *task);
    /* ret[j * ret_step + i] = x[i * step + j], i < rows, j < count. */
    void (*transpose)(const float *x, int64_t step, int rows, int count, float *ret,
                      int64_t ret_step);
    /* The sum of one chunk, count <= CPU_SUM_CHUNK. */
    float (*sum_chunk)(const float *x, int count);
    /* The same of each column of one chunk of rows, added to sums; columns <= CPU_COLS_MAX. */
    void (*sum_columns)(const float *x, int64_t step, int count, int columns, float *sums);
    float (*max)(const float *x, int64_t count, float start);
    float (*min)(const float *x, int64_t count, float start);
    void (*tile)(int kind, const struct cpu_tile_args *args); /* kind: enum expr_kind */
    void (*move_lines)(const struct cpu_lines *lines);
    /* to = from + bias, and relu of it where asked. */
    void (*bias_lines)(const struct cpu_lines *lines, float bias, bool relu);
    /*
     * Windows of 2 x 2 in two rows of pixels, count of them: the largest of each, NaN before all.
     * Its gradient goes to the first that is the largest, the others get 0.
     */
    void (*pool_pairs)(float *y, const float *above, const float *below, int count);
    void (*pool_pairs_gradient)(float *dx_above, float *dx_below, const float *above,
                                const float *below, const float *dy, int count);
};

extern const struct cpu_loops cpu_loops_portable, cpu_loops_avx2, cpu_loops_avx512;

/* Memory of one thread that lives as long as the device. */
struct cpu_thread {
    float *pack_a; /* CPU_MC x CPU_KC, and a tile more */
    float *pack_b; /* CPU_NC x CPU_KC, and a tile more */
};

struct cpu {
    struct device device; /* the head */
    const struct cpu_loops *loops;
    struct cpu_pool *pool;
    struct cpu_thread threads[CPU_THREADS_MAX];
    int thread_count;
};

static inline struct cpu *cpu_of(const struct device *device)
{
    return (struct cpu *)(uintptr_t)device;
}

/* The best tier of this machine, and the loops of one; NULL: this build has no such tier. */
enum cpu_tier cpu_detect(void);
const struct cpu_loops *cpu_loops_of(enum cpu_tier tier);

/* The tier of a word; false: there is none of that name. */
bool cpu_tier_of(const char *word, enum cpu_tier *ret_tier);

/* The processor's own name, in at most size bytes. */
void cpu_model(char *ret_model, size_t size);
