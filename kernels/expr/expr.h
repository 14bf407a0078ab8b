/*
 * expr: the formulas of rows. Parse, derive, simplify and evaluate.
 *
 *     formula   expr, or { name "=" expr ";" } with a root each
 *     expr      numbers, names, + - * /, comparisons, c ? a : b, unary -, and the functions
 *               exp exp2 expm1 log log1p sqrt rsqrt sin cos tanh erf pow abs floor ceil round
 *               trunc min max fma sign
 *
 * No loop, no state. Everything that is computed element by element comes out of one such text: the
 * f64 reference, the tile code of the CPU, and the gradient.
 *
 * Limits    EXPR_NODES_MAX nodes, EXPR_ROOTS_MAX roots, nesting of EXPR_DEPTH_MAX
 * Memory    the call's
 * Threads   an expression is not changed after it was made
 */
#pragma once

#include "base/core/call.h"

#define EXPR_NODES_MAX 512
#define EXPR_ROOTS_MAX 8
#define EXPR_DEPTH_MAX 64

/* clang-format off */
/* name in enum, arguments, word in a formula (NULL: written otherwise) */
#define EXPR_TABLE(row)                                                          \
    row(NUMBER, 0, NULL) row(NAME, 0, NULL)                                      \
    row(ADD, 2, NULL) row(SUB, 2, NULL) row(MUL, 2, NULL) row(DIV, 2, NULL)      \
    row(NEG, 1, NULL) row(EQ, 2, NULL) row(NE, 2, NULL) row(LT, 2, NULL)         \
    row(LE, 2, NULL) row(GT, 2, NULL) row(GE, 2, NULL) row(CHOOSE, 3, NULL)      \
    row(EXP, 1, "exp") row(EXP2, 1, "exp2") row(EXPM1, 1, "expm1")               \
    row(LOG, 1, "log") row(LOG1P, 1, "log1p") row(SQRT, 1, "sqrt")               \
    row(RSQRT, 1, "rsqrt") row(SIN, 1, "sin") row(COS, 1, "cos")                 \
    row(TANH, 1, "tanh") row(ERF, 1, "erf") row(POW, 2, "pow")                   \
    row(ABS, 1, "abs") row(FLOOR, 1, "floor") row(CEIL, 1, "ceil")               \
    row(ROUND, 1, "round") row(TRUNC, 1, "trunc") row(MIN, 2, "min")             \
    row(MAX, 2, "max") row(FMA, 3, "fma") row(SIGN, 1, "sign")
/* clang-format on */

#define EXPR_KIND(name, arguments, word) EXPR_##name,
enum expr_kind { EXPR_TABLE(EXPR_KIND) };
#undef EXPR_KIND

/* Arguments come before the node that uses them; equal nodes are one. */
struct expr_node {
    enum expr_kind kind;
    int a, b, c;
    int name;      /* EXPR_NAME: index into names */
    double number; /* EXPR_NUMBER */
};

struct expr {
    struct expr_node *nodes;
    int node_count;
    int roots[EXPR_ROOTS_MAX];
    int root_count;
    const char *const *names;
    int name_count;
};

/*
 * Reads a formula over names. Roots are in the order of roots (root_count of them); where there is
 * one, the text may be a bare expression.
 *
 * fails with   CR_INVALID    what is wrong, and at which byte
 */
enum cr_status expr_parse(struct cr_call *call, const char *text, const char *const *names,
                          int name_count, const char *const *roots, int root_count,
                          struct expr **ret_expr) CR_CHECK;

/*
 * The gradient: of each name in wrt, sum over roots r of gradient[r] * d root[r] / d name. The
 * result's names are those of expr and, behind them, the gradients' names; its roots go by wrt. At
 * a place without derivative (abs at 0) it is 0; of min and max at equality, half goes to each.
 */
enum cr_status expr_derive(struct cr_call *call, const struct expr *expr,
                           const char *const *gradient_names, const int *wrt, int wrt_count,
                           struct expr **ret_expr) CR_CHECK;

/* In f64, from the values of the names; ret_roots has root_count. */
void expr_evaluate(const struct expr *expr, const double *values, double *ret_roots);
