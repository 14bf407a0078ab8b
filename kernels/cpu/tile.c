/* tile: from nodes to instructions, and through them. */
#include "kernels/cpu/tile_internal.h"

#include <assert.h>

static bool is_step(const struct expr_node *node)
{
    return node->kind != EXPR_NUMBER && node->kind != EXPR_NAME;
}

/* The last node that takes each; a root is taken at the end. */
static void measure_lives(const struct expr *expr, int *last)
{
    for (int i = 0; i < expr->node_count; i++) {
        const struct expr_node *node = &expr->nodes[i];
        last[i] = i;
        if (is_step(node)) {
            const int arguments[] = {node->a, node->b, node->c};
            for (int j = 0; j < 3; j++)
                if (arguments[j] >= 0)
                    last[arguments[j]] = i;
        }
    }
    for (int i = 0; i < expr->root_count; i++)
        last[expr->roots[i]] = expr->node_count;
}

/* A register that no node needs at, after it has taken its arguments. */
static int free_register(struct cpu_tile_code *code, const int *slot, const int *last, int at,
                         int first)
{
    for (int r = first;; r++) {
        bool taken = false;
        for (int i = 0; i < at && !taken; i++)
            taken = slot[i] == r && last[i] > at;
        if (taken)
            continue;
        if (r - first >= code->register_count)
            code->register_count = r - first + 1;
        return r;
    }
}

void cpu_tile_compile(const struct expr *expr, struct cpu_tile_code *ret_code)
{
    int slot[EXPR_NODES_MAX], last[EXPR_NODES_MAX];
    struct cpu_tile_code *code = ret_code;
    code->step_count = code->number_count = code->register_count = 0;
    code->name_count = expr->name_count;
    code->root_count = expr->root_count;
    assert(expr->name_count <= CPU_TILE_NAMES_MAX);

    for (int i = 0; i < expr->node_count; i++) {
        const struct expr_node *node = &expr->nodes[i];
        if (node->kind == EXPR_NAME)
            slot[i] = node->name;
        if (node->kind == EXPR_NUMBER) {
            slot[i] = code->name_count + code->number_count;
            code->numbers[code->number_count++] = (float)node->number;
        }
    }
    measure_lives(expr, last);
    for (int i = 0; i < expr->node_count; i++) {
        const struct expr_node *node = &expr->nodes[i];
        if (!is_step(node))
            continue;
        slot[i] = free_register(code, slot, last, i, code->name_count + code->number_count);
        code->steps[code->step_count++] = (struct cpu_tile_step){
            .kind = (int)node->kind,
            .to = slot[i],
            .a = slot[node->a],
            .b = node->b >= 0 ? slot[node->b] : 0,
            .c = node->c >= 0 ? slot[node->c] : 0,
        };
    }
    for (int i = 0; i < expr->root_count; i++)
        code->roots[i] = slot[expr->roots[i]];
}

int64_t cpu_tile_floats(const struct cpu_tile_code *code)
{
    return (int64_t)CPU_TILE * (code->number_count + code->register_count);
}

void cpu_tile_begin(const struct cpu_tile_code *code, float *memory)
{
    for (int i = 0; i < code->number_count; i++)
        cpu_tile_fill(memory + (int64_t)i * CPU_TILE, code->numbers[i]);
}

static const float *place_of(const struct cpu_tile_code *code, const float *memory,
                             const float *const *names, int slot)
{
    if (slot < code->name_count)
        return names[slot];
    return memory + (int64_t)(slot - code->name_count) * CPU_TILE;
}

int cpu_tile_direct(const struct cpu_tile_code *code)
{
    for (int i = 0; code->step_count > 0 && i < code->root_count; i++)
        if (code->roots[i] == code->steps[code->step_count - 1].to)
            return i;
    return -1;
}

void cpu_tile_run(const struct cpu_loops *loops, const struct cpu_tile_code *code, float *memory,
                  const float *const *names, int count, float *direct, const float **ret_roots)
{
    for (int i = 0; i < code->step_count; i++) {
        const struct cpu_tile_step *step = &code->steps[i];
        bool last = i == code->step_count - 1;
        struct cpu_tile_args args = {
            .to = last && direct ? direct
                                 : memory + (int64_t)(step->to - code->name_count) * CPU_TILE,
            .a = place_of(code, memory, names, step->a),
            .b = place_of(code, memory, names, step->b),
            .c = place_of(code, memory, names, step->c),
            .count = count,
        };
        loops->tile(step->kind, &args);
    }
    int made = direct ? cpu_tile_direct(code) : -1;
    for (int i = 0; i < code->root_count; i++)
        ret_roots[i] = i == made ? direct : place_of(code, memory, names, code->roots[i]);
}
