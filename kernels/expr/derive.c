/* derive: gradients by the chain rule, from the roots back. */
#include "kernels/expr/expr_internal.h"

#include <assert.h>
#include <math.h>

struct deriver {
    struct expr_maker to;
    int adjoint[EXPR_NODES_MAX]; /* of a node of the formula; -1: nothing flows there */
};

static int two(struct deriver *in, enum expr_kind kind, int a, int b)
{
    return expr_node(&in->to, kind, a, b, -1);
}

static int one(struct deriver *in, enum expr_kind kind, int a)
{
    return expr_node(&in->to, kind, a, -1, -1);
}

static int number(struct deriver *in, double value)
{
    return expr_number(&in->to, value);
}

static void flow(struct deriver *in, int node, int adjoint)
{
    in->adjoint[node] =
        in->adjoint[node] < 0 ? adjoint : two(in, EXPR_ADD, in->adjoint[node], adjoint);
}

/* What a function of one argument multiplies the gradient by: a is its argument, y its value. */
static int slope(struct deriver *in, enum expr_kind kind, int a, int y)
{
    switch (kind) {
    case EXPR_EXP:
        return y;
    case EXPR_EXP2:
        return two(in, EXPR_MUL, y, number(in, M_LN2));
    case EXPR_EXPM1:
        return two(in, EXPR_ADD, y, number(in, 1));
    case EXPR_LOG:
        return two(in, EXPR_DIV, number(in, 1), a);
    case EXPR_LOG1P:
        return two(in, EXPR_DIV, number(in, 1), two(in, EXPR_ADD, number(in, 1), a));
    case EXPR_SQRT:
        return two(in, EXPR_DIV, number(in, 0.5), y);
    case EXPR_RSQRT: /* -y^3 / 2 */
        return two(in, EXPR_MUL, number(in, -0.5), two(in, EXPR_MUL, y, two(in, EXPR_MUL, y, y)));
    case EXPR_SIN:
        return one(in, EXPR_COS, a);
    case EXPR_COS:
        return one(in, EXPR_NEG, one(in, EXPR_SIN, a));
    case EXPR_TANH:
        return two(in, EXPR_SUB, number(in, 1), two(in, EXPR_MUL, y, y));
    case EXPR_ERF: /* 2 / sqrt(pi) e^(-a^2) */
        return two(in, EXPR_MUL, number(in, M_2_SQRTPI),
                   one(in, EXPR_EXP, one(in, EXPR_NEG, two(in, EXPR_MUL, a, a))));
    case EXPR_ABS:
        return one(in, EXPR_SIGN, a);
    default:
        return -1; /* flat: floor, ceil, round, trunc, sign, comparisons */
    }
}

/* Half of the gradient goes to each of two that are equal. */
static void derive_extreme(struct deriver *in, const struct expr_node *node, int gradient)
{
    enum expr_kind wins = node->kind == EXPR_MAX ? EXPR_GT : EXPR_LT;
    int half = two(in, EXPR_MUL, number(in, 0.5), gradient);
    int tie =
        expr_node(&in->to, EXPR_CHOOSE, two(in, EXPR_EQ, node->a, node->b), half, number(in, 0));
    flow(in, node->a,
         expr_node(&in->to, EXPR_CHOOSE, two(in, wins, node->a, node->b), gradient, tie));
    flow(in, node->b,
         expr_node(&in->to, EXPR_CHOOSE, two(in, wins, node->b, node->a), gradient, tie));
}

static void derive_pow(struct deriver *in, const struct expr_node *node, int y, int gradient)
{
    int less = two(in, EXPR_SUB, node->b, number(in, 1));
    int by_base = two(in, EXPR_MUL, node->b, two(in, EXPR_POW, node->a, less));
    flow(in, node->a, two(in, EXPR_MUL, gradient, by_base));
    if (in->to.expr->nodes[node->b].kind != EXPR_NUMBER)
        flow(in, node->b,
             two(in, EXPR_MUL, gradient, two(in, EXPR_MUL, y, one(in, EXPR_LOG, node->a))));
}

/* A node by value: the array that it lies in grows. */
static void derive_node(struct deriver *in, struct expr_node node, int y, int gradient)
{
    int zero = number(in, 0), factor;
    switch (node.kind) {
    case EXPR_ADD:
        flow(in, node.a, gradient);
        flow(in, node.b, gradient);
        break;
    case EXPR_SUB:
        flow(in, node.a, gradient);
        flow(in, node.b, one(in, EXPR_NEG, gradient));
        break;
    case EXPR_FMA:
        flow(in, node.c, gradient); /* and the product: */
        __attribute__((fallthrough));
    case EXPR_MUL:
        flow(in, node.a, two(in, EXPR_MUL, gradient, node.b));
        flow(in, node.b, two(in, EXPR_MUL, gradient, node.a));
        break;
    case EXPR_DIV:
        factor = two(in, EXPR_DIV, gradient, node.b);
        flow(in, node.a, factor);
        flow(in, node.b, one(in, EXPR_NEG, two(in, EXPR_MUL, factor, y)));
        break;
    case EXPR_NEG:
        flow(in, node.a, one(in, EXPR_NEG, gradient));
        break;
    case EXPR_CHOOSE:
        flow(in, node.b, expr_node(&in->to, EXPR_CHOOSE, node.a, gradient, zero));
        flow(in, node.c, expr_node(&in->to, EXPR_CHOOSE, node.a, zero, gradient));
        break;
    case EXPR_MIN:
    case EXPR_MAX:
        derive_extreme(in, &node, gradient);
        break;
    case EXPR_POW:
        derive_pow(in, &node, y, gradient);
        break;
    default:
        factor = expr_arguments(node.kind) == 1 ? slope(in, node.kind, node.a, y) : -1;
        if (factor >= 0)
            flow(in, node.a, two(in, EXPR_MUL, gradient, factor));
    }
}

/* The nodes that a root reaches, moved together, so that nothing is computed in vain. */
static void keep_needed(struct expr *expr)
{
    bool needed[EXPR_NODES_MAX] = {false};
    int moved[EXPR_NODES_MAX], count = 0;
    for (int i = 0; i < expr->root_count; i++)
        needed[expr->roots[i]] = true;
    for (int i = expr->node_count - 1; i >= 0; i--) {
        const struct expr_node *node = &expr->nodes[i];
        int arguments[] = {node->a, node->b, node->c};
        for (int a = 0; needed[i] && a < 3; a++)
            if (arguments[a] >= 0)
                needed[arguments[a]] = true;
    }
    for (int i = 0; i < expr->node_count; i++) {
        if (!needed[i])
            continue;
        struct expr_node node = expr->nodes[i];
        node.a = node.a < 0 ? -1 : moved[node.a];
        node.b = node.b < 0 ? -1 : moved[node.b];
        node.c = node.c < 0 ? -1 : moved[node.c];
        moved[i] = count;
        expr->nodes[count++] = node;
    }
    expr->node_count = count;
    for (int i = 0; i < expr->root_count; i++)
        expr->roots[i] = moved[expr->roots[i]];
}

enum cr_status expr_derive(struct cr_call *call, const struct expr *expr,
                           const char *const *gradient_names, const int *wrt, int wrt_count,
                           struct expr **ret_expr)
{
    int name_count = expr->name_count + expr->root_count;
    const char **names = cr_new(call, const char *, (size_t)name_count);
    for (int i = 0; i < name_count; i++)
        names[i] = i < expr->name_count ? expr->names[i] : gradient_names[i - expr->name_count];

    struct deriver *in = cr_new(call, struct deriver, 1);
    in->to = expr_make(call, names, name_count);
    struct expr *made = in->to.expr;
    memcpy(made->nodes, expr->nodes, sizeof(struct expr_node) * (size_t)expr->node_count);
    made->node_count = expr->node_count;
    memset(in->adjoint, -1, sizeof in->adjoint);
    for (int i = 0; i < expr->root_count; i++)
        flow(in, expr->roots[i], expr_name(&in->to, expr->name_count + i));
    for (int i = expr->node_count - 1; i >= 0; i--)
        if (in->adjoint[i] >= 0)
            derive_node(in, expr->nodes[i], i, in->adjoint[i]);

    made->root_count = wrt_count;
    for (int i = 0; i < wrt_count; i++) {
        made->roots[i] = number(in, 0);
        for (int n = 0; n < expr->node_count; n++)
            if (expr->nodes[n].kind == EXPR_NAME && expr->nodes[n].name == wrt[i] &&
                in->adjoint[n] >= 0)
                made->roots[i] = in->adjoint[n];
    }
    if (in->to.full)
        return cr_fail(call, CR_INVALID, "a gradient of more than %d nodes", EXPR_NODES_MAX);
    keep_needed(made);
    *ret_expr = made;
    return CR_OK;
}
