/* evaluate: formulas in f64. */
#include "kernels/expr/expr_internal.h"

#include <math.h>

/* A NaN of either side wins, as in kernels/expr/functions.h. */
static double smaller(double a, double b)
{
    return a < b || isnan(a) ? a : b;
}

static double larger(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

/* What takes one value. */
static double apply_one(enum expr_kind kind, double a)
{
    switch (kind) {
    case EXPR_EXP:
        return exp(a);
    case EXPR_EXP2:
        return exp2(a);
    case EXPR_EXPM1:
        return expm1(a);
    case EXPR_LOG:
        return log(a);
    case EXPR_LOG1P:
        return log1p(a);
    case EXPR_SQRT:
        return sqrt(a);
    case EXPR_RSQRT:
        return 1 / sqrt(a);
    case EXPR_SIN:
        return sin(a);
    case EXPR_COS:
        return cos(a);
    case EXPR_TANH:
        return tanh(a);
    case EXPR_ERF:
        return erf(a);
    case EXPR_ABS:
        return fabs(a);
    case EXPR_FLOOR:
        return floor(a);
    case EXPR_CEIL:
        return ceil(a);
    case EXPR_ROUND:
        return rint(a);
    case EXPR_TRUNC:
        return trunc(a);
    case EXPR_SIGN:
        return a > 0 ? 1 : a < 0 ? -1 : a;
    default:
        return NAN;
    }
}

double expr_apply(enum expr_kind kind, double a, double b, double c)
{
    switch (kind) {
    case EXPR_NUMBER:
    case EXPR_NAME:
        return a;
    case EXPR_ADD:
        return a + b;
    case EXPR_SUB:
        return a - b;
    case EXPR_MUL:
        return a * b;
    case EXPR_DIV:
        return a / b;
    case EXPR_NEG:
        return -a;
    case EXPR_EQ:
        return a == b;
    case EXPR_NE:
        return a != b;
    case EXPR_LT:
        return a < b;
    case EXPR_LE:
        return a <= b;
    case EXPR_GT:
        return a > b;
    case EXPR_GE:
        return a >= b;
    case EXPR_CHOOSE:
        return a != 0 ? b : c;
    case EXPR_POW:
        return pow(a, b);
    case EXPR_MIN:
        return smaller(a, b);
    case EXPR_MAX:
        return larger(a, b);
    case EXPR_FMA:
        return fma(a, b, c);
    default:
        return apply_one(kind, a);
    }
}

void expr_evaluate(const struct expr *expr, const double *values, double *ret_roots)
{
    double results[EXPR_NODES_MAX];
    for (int i = 0; i < expr->node_count; i++) {
        const struct expr_node *node = &expr->nodes[i];
        if (node->kind == EXPR_NUMBER)
            results[i] = node->number;
        else if (node->kind == EXPR_NAME)
            results[i] = values[node->name];
        else
            results[i] =
                expr_apply(node->kind, results[node->a], node->b >= 0 ? results[node->b] : 0,
                           node->c >= 0 ? results[node->c] : 0);
    }
    for (int i = 0; i < expr->root_count; i++)
        ret_roots[i] = results[expr->roots[i]];
}
