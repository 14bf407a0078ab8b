/* emit: formulas as C in f32. */
#include "kernels/expr/expr_internal.h"

#include <math.h>

static const char *const infix[] = {
    [EXPR_ADD] = "+", [EXPR_SUB] = "-", [EXPR_MUL] = "*", [EXPR_DIV] = "/", [EXPR_EQ] = "==",
    [EXPR_NE] = "!=", [EXPR_LT] = "<",  [EXPR_LE] = "<=", [EXPR_GT] = ">",  [EXPR_GE] = ">=",
};

static bool is_infix(enum expr_kind kind)
{
    return kind < sizeof infix / sizeof infix[0] && infix[kind] != NULL;
}

/* A node where it is used: names and numbers stand themselves, all else has a variable. */
static const char *operand(struct cr_call *call, const struct expr *expr, int index)
{
    const struct expr_node *node = &expr->nodes[index];
    if (node->kind == EXPR_NAME)
        return expr->names[node->name];
    if (node->kind == EXPR_NUMBER)
        return cr_format(call, isinf(node->number) ? "%sINFINITY" : "%s%af",
                         node->number < 0 ? "-" : "", (double)fabsf((float)node->number));
    return cr_format(call, "t%d", index);
}

static const char *right_side(struct cr_call *call, const struct expr *expr, int index)
{
    const struct expr_node *node = &expr->nodes[index];
    const char *a = operand(call, expr, node->a);
    const char *b = node->b >= 0 ? operand(call, expr, node->b) : "";
    const char *c = node->c >= 0 ? operand(call, expr, node->c) : "";
    if (is_infix(node->kind))
        return cr_format(call, "%s %s %s", a, infix[node->kind], b);
    if (node->kind == EXPR_NEG)
        return cr_format(call, "-%s", a);
    if (node->kind == EXPR_CHOOSE)
        return cr_format(call, "%s ? %s : %s", a, b, c);
    static const char *const commas[] = {"", ", ", ", "};
    int arguments = expr_arguments(node->kind);
    return cr_format(call, "expr_%s(%s%s%s%s%s)", expr_word(node->kind), a,
                     arguments > 1 ? commas[1] : "", b, arguments > 2 ? commas[2] : "", c);
}

static bool is_truth(enum expr_kind kind)
{
    return kind >= EXPR_EQ && kind <= EXPR_GE;
}

const char *expr_emit_c(struct cr_call *call, const struct expr *expr,
                        const char *const *root_names)
{
    const char *text = "";
    for (int i = 0; i < expr->node_count; i++) {
        enum expr_kind kind = expr->nodes[i].kind;
        if (kind != EXPR_NAME && kind != EXPR_NUMBER)
            text = cr_format(call, "%sconst %s t%d = %s;\n", text, is_truth(kind) ? "int" : "float",
                             i, right_side(call, expr, i));
    }
    for (int i = 0; i < expr->root_count; i++)
        text = cr_format(call, "%s%s = %s;\n", text, root_names[i],
                         operand(call, expr, expr->roots[i]));
    return text;
}
