/* expr, inside: how nodes are made. */
#pragma once

#include "kernels/expr/expr.h"

/* An expression that grows. Nodes that are equal become one; constants fold. */
struct expr_maker {
    struct cr_call *call;
    struct expr *expr;
    bool full; /* EXPR_NODES_MAX was met */
};

struct expr_maker expr_make(struct cr_call *call, const char *const *names, int name_count);

int expr_number(struct expr_maker *to, double value);
int expr_name(struct expr_maker *to, int name);
int expr_node(struct expr_maker *to, enum expr_kind kind, int a, int b, int c);

/* Arguments of a kind, and its word in a formula (NULL: none). */
int expr_arguments(enum expr_kind kind);
const char *expr_word(enum expr_kind kind);

/* One node's value in f64. */
double expr_apply(enum expr_kind kind, double a, double b, double c);
