/* make: nodes, simplified as they are made. */
#include "kernels/expr/expr_internal.h"

#include <math.h>

static const struct {
    int arguments;
    const char *word;
} kinds[] = {
#define ROW(name, arguments, word) [EXPR_##name] = {arguments, word},
    EXPR_TABLE(ROW)
#undef ROW
};

int expr_arguments(enum expr_kind kind)
{
    return kinds[kind].arguments;
}

const char *expr_word(enum expr_kind kind)
{
    return kinds[kind].word;
}

struct expr_maker expr_make(struct cr_call *call, const char *const *names, int name_count)
{
    struct expr *expr = cr_new(call, struct expr, 1);
    expr->nodes = cr_new(call, struct expr_node, EXPR_NODES_MAX);
    expr->names = names;
    expr->name_count = name_count;
    return (struct expr_maker){.call = call, .expr = expr};
}

static bool same_number(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0; /* 0 is not -0 here */
}

static int find_or_add(struct expr_maker *to, const struct expr_node *node)
{
    struct expr *expr = to->expr;
    for (int i = 0; i < expr->node_count; i++) {
        const struct expr_node *seen = &expr->nodes[i];
        if (seen->kind == node->kind && seen->a == node->a && seen->b == node->b &&
            seen->c == node->c && seen->name == node->name &&
            same_number(seen->number, node->number))
            return i;
    }
    if (expr->node_count == EXPR_NODES_MAX) {
        to->full = true;
        return 0;
    }
    expr->nodes[expr->node_count] = *node;
    return expr->node_count++;
}

int expr_number(struct expr_maker *to, double value)
{
    return find_or_add(to, &(struct expr_node){EXPR_NUMBER, -1, -1, -1, -1, value});
}

int expr_name(struct expr_maker *to, int name)
{
    return find_or_add(to, &(struct expr_node){EXPR_NAME, -1, -1, -1, name, 0});
}

static bool is_number(const struct expr_maker *to, int node, double value)
{
    return to->expr->nodes[node].kind == EXPR_NUMBER &&
           same_number(to->expr->nodes[node].number, value);
}

/*
 * What holds for every value, NaN and infinity too, or is a matter of the gradient's zeros: 0 * x
 * is 0 here, since only derivatives make such products. -1: nothing is simpler.
 */
static int simpler(struct expr_maker *to, enum expr_kind kind, int a, int b)
{
    switch (kind) {
    case EXPR_ADD:
        return is_number(to, a, 0) ? b : is_number(to, b, 0) ? a : -1;
    case EXPR_SUB:
        if (is_number(to, a, 0))
            return expr_node(to, EXPR_NEG, b, -1, -1);
        return is_number(to, b, 0) ? a : -1;
    case EXPR_MUL:
        if (is_number(to, a, 0) || is_number(to, b, 0))
            return expr_number(to, 0);
        return is_number(to, a, 1) ? b : is_number(to, b, 1) ? a : -1;
    case EXPR_DIV:
        return is_number(to, a, 0) || is_number(to, b, 1) ? a : -1;
    case EXPR_NEG:
        return to->expr->nodes[a].kind == EXPR_NEG ? to->expr->nodes[a].a : -1;
    default:
        return -1;
    }
}

int expr_node(struct expr_maker *to, enum expr_kind kind, int a, int b, int c)
{
    const struct expr_node *nodes = to->expr->nodes;
    int simple = simpler(to, kind, a, b);
    if (simple >= 0)
        return simple;
    if (kind == EXPR_CHOOSE && b == c)
        return b;
    if (kind == EXPR_NEG && nodes[a].kind == EXPR_NUMBER)
        return expr_number(to, -nodes[a].number);
    return find_or_add(to, &(struct expr_node){kind, a, b, c, -1, 0});
}
