/*
 * tile: formulas, run over tiles of 1,024 elements that stay in L1.
 *
 * A formula becomes a list of instructions, each a loop over a tile that was built beforehand for
 * every tier; there is no compiler in the jail. What is one number throughout (a constant, an
 * attribute, a scalar input) is a tile that is filled once. Every instruction rounds to f32.
 */
#pragma once

#include "kernels/cpu/cpu_internal.h"
#include "kernels/expr/expr.h"

#define CPU_TILE_NAMES_MAX 24 /* inputs and attributes of a formula */

struct cpu_tile_step {
    int kind;        /* enum expr_kind */
    int to, a, b, c; /* slots; of b and c, 0 where there is none */
};

/*
 * Slots 0 to name_count - 1 are the names, then come the numbers, then the registers. A root is the
 * slot that holds it at the end.
 */
struct cpu_tile_code {
    struct cpu_tile_step steps[EXPR_NODES_MAX];
    float numbers[EXPR_NODES_MAX];
    int step_count, name_count, number_count, register_count;
    int roots[EXPR_ROOTS_MAX], root_count;
};

void cpu_tile_compile(const struct expr *expr, struct cpu_tile_code *ret_code);

/* Floats that running it wants for numbers and registers. */
int64_t cpu_tile_floats(const struct cpu_tile_code *code);

/* Fills the tiles of the numbers; memory is cpu_tile_floats. */
void cpu_tile_begin(const struct cpu_tile_code *code, float *memory);

/* The root that the last instruction makes, which can be had in any place; -1: none. */
int cpu_tile_direct(const struct cpu_tile_code *code);

/*
 * One tile: names are where each name's elements lie; ret_roots where each root's now do. What the
 * last instruction makes goes to direct, which may be where a name lies; NULL: to its register.
 */
void cpu_tile_run(const struct cpu_loops *loops, const struct cpu_tile_code *code, float *memory,
                  const float *const *names, int count, float *direct, const float **ret_roots);

static inline void cpu_tile_fill(float *tile, float value)
{
    for (int i = 0; i < CPU_TILE; i++)
        tile[i] = value;
}
