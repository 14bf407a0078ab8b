/* parse: a formula, read by descent. */
#include "kernels/expr/expr_internal.h"

#include <ctype.h>

struct local {
    const char *name;
    size_t length;
    int node;
};

struct reader {
    struct expr_maker to;
    const char *text, *at;
    struct local locals[EXPR_ROOTS_MAX * 2];
    int local_count, depth;
};

static enum cr_status wrong(struct reader *in, const char *what)
{
    return cr_fail(in->to.call, CR_INVALID, "formula, byte %zu: %s", (size_t)(in->at - in->text),
                   what);
}

static void skip(struct reader *in)
{
    while (*in->at == ' ' || *in->at == '\n')
        in->at++;
}

static bool take(struct reader *in, const char *sign)
{
    skip(in);
    size_t length = strlen(sign);
    if (strncmp(in->at, sign, length) != 0)
        return false;
    in->at += length;
    return true;
}

static size_t word_length(const char *at)
{
    size_t length = 0;
    if (!isalpha((unsigned char)*at) && *at != '_')
        return 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_')
        length++;
    return length;
}

static bool same(const char *word, const char *text, size_t length)
{
    return word != NULL && strlen(word) == length && memcmp(word, text, length) == 0;
}

static enum cr_status read_choice(struct reader *in, int *ret_node);

static enum cr_status read_function(struct reader *in, enum expr_kind kind, int *ret_node)
{
    int arguments[3] = {-1, -1, -1};
    for (int i = 0; i < expr_arguments(kind); i++) {
        if (!take(in, i == 0 ? "(" : ","))
            return wrong(in, "an argument is missing");
        CR_TRY(read_choice(in, &arguments[i]));
    }
    if (!take(in, ")"))
        return wrong(in, "')' is missing");
    *ret_node = expr_node(&in->to, kind, arguments[0], arguments[1], arguments[2]);
    return CR_OK;
}

static enum cr_status read_word(struct reader *in, size_t length, int *ret_node)
{
    const char *word = in->at;
    in->at += length;
    for (enum expr_kind kind = 0; kind <= EXPR_SIGN; kind++)
        if (same(expr_word(kind), word, length))
            return read_function(in, kind, ret_node);
    for (int i = in->local_count - 1; i >= 0; i--)
        if (in->locals[i].length == length && memcmp(in->locals[i].name, word, length) == 0) {
            *ret_node = in->locals[i].node;
            return CR_OK;
        }
    for (int i = 0; i < in->to.expr->name_count; i++)
        if (same(in->to.expr->names[i], word, length)) {
            *ret_node = expr_name(&in->to, i);
            return CR_OK;
        }
    in->at = word;
    return wrong(in, "an unknown name");
}

static enum cr_status read_primary(struct reader *in, int *ret_node)
{
    skip(in);
    if (isdigit((unsigned char)*in->at) || *in->at == '.') {
        char *end;
        double value = strtod(in->at, &end);
        in->at = end;
        *ret_node = expr_number(&in->to, value);
        return CR_OK;
    }
    size_t length = word_length(in->at);
    if (length > 0)
        return read_word(in, length, ret_node);
    if (!take(in, "("))
        return wrong(in, "a value is missing");
    CR_TRY(read_choice(in, ret_node));
    return take(in, ")") ? CR_OK : wrong(in, "')' is missing");
}

static enum cr_status read_unary(struct reader *in, int *ret_node)
{
    if (!take(in, "-"))
        return read_primary(in, ret_node);
    if (++in->depth > EXPR_DEPTH_MAX)
        return wrong(in, "nested too deep");
    int operand;
    CR_TRY(read_unary(in, &operand));
    in->depth--;
    *ret_node = expr_node(&in->to, EXPR_NEG, operand, -1, -1);
    return CR_OK;
}

struct sign {
    const char *sign;
    enum expr_kind kind;
};
static const struct sign products[] = {{"*", EXPR_MUL}, {"/", EXPR_DIV}, {NULL, 0}};
static const struct sign sums[] = {{"+", EXPR_ADD}, {"-", EXPR_SUB}, {NULL, 0}};
static const struct sign comparisons[] = {{"==", EXPR_EQ}, {"!=", EXPR_NE}, {"<=", EXPR_LE},
                                          {">=", EXPR_GE}, {"<", EXPR_LT},  {">", EXPR_GT},
                                          {NULL, 0}};

static enum expr_kind take_sign(struct reader *in, const struct sign *signs)
{
    for (; signs->sign; signs++)
        if (take(in, signs->sign))
            return signs->kind;
    return EXPR_NUMBER;
}

/* The levels below a comparison, both read from the left. */
static enum cr_status read_product(struct reader *in, int *ret_node)
{
    int left, right;
    CR_TRY(read_unary(in, &left));
    for (enum expr_kind kind; (kind = take_sign(in, products)) != EXPR_NUMBER;) {
        CR_TRY(read_unary(in, &right));
        left = expr_node(&in->to, kind, left, right, -1);
    }
    *ret_node = left;
    return CR_OK;
}

static enum cr_status read_sum(struct reader *in, int *ret_node)
{
    int left, right;
    CR_TRY(read_product(in, &left));
    for (enum expr_kind kind; (kind = take_sign(in, sums)) != EXPR_NUMBER;) {
        CR_TRY(read_product(in, &right));
        left = expr_node(&in->to, kind, left, right, -1);
    }
    *ret_node = left;
    return CR_OK;
}

static enum cr_status read_choice(struct reader *in, int *ret_node)
{
    int node, right, other;
    if (++in->depth > EXPR_DEPTH_MAX)
        return wrong(in, "nested too deep");
    CR_TRY(read_sum(in, &node));
    enum expr_kind kind = take_sign(in, comparisons);
    if (kind != EXPR_NUMBER) {
        CR_TRY(read_sum(in, &right));
        node = expr_node(&in->to, kind, node, right, -1);
    }
    if (take(in, "?")) {
        CR_TRY(read_choice(in, &right));
        if (!take(in, ":"))
            return wrong(in, "':' is missing");
        CR_TRY(read_choice(in, &other));
        node = expr_node(&in->to, EXPR_CHOOSE, node, right, other);
    }
    in->depth--;
    *ret_node = node;
    return CR_OK;
}

/* "name =", but not "name ==". */
static bool take_assigned(struct reader *in, struct local *ret_local)
{
    skip(in);
    const char *start = in->at;
    size_t length = word_length(start);
    in->at += length;
    skip(in);
    if (length == 0 || in->at[0] != '=' || in->at[1] == '=') {
        in->at = start;
        return false;
    }
    in->at++;
    *ret_local = (struct local){start, length, -1};
    return true;
}

static enum cr_status read_assignments(struct reader *in)
{
    struct local local;
    while (take_assigned(in, &local)) {
        if (in->local_count == EXPR_ROOTS_MAX * 2)
            return wrong(in, "too many names");
        CR_TRY(read_choice(in, &local.node));
        if (!take(in, ";"))
            return wrong(in, "';' is missing");
        in->locals[in->local_count++] = local;
    }
    return CR_OK;
}

static enum cr_status find_root(struct reader *in, const char *name, int *ret_node)
{
    for (int i = in->local_count - 1; i >= 0; i--)
        if (same(name, in->locals[i].name, in->locals[i].length)) {
            *ret_node = in->locals[i].node;
            return CR_OK;
        }
    return cr_fail(in->to.call, CR_INVALID, "formula: nothing is assigned to %s", name);
}

enum cr_status expr_parse(struct cr_call *call, const char *text, const char *const *names,
                          int name_count, const char *const *roots, int root_count,
                          struct expr **ret_expr)
{
    struct reader in = {.to = expr_make(call, names, name_count), .text = text, .at = text};
    struct expr *expr = in.to.expr;
    CR_TRY(read_assignments(&in));
    expr->root_count = root_count;
    if (in.local_count == 0 && root_count == 1)
        CR_TRY(read_choice(&in, &expr->roots[0]));
    else
        for (int i = 0; i < root_count; i++)
            CR_TRY(find_root(&in, roots[i], &expr->roots[i]));
    skip(&in);
    if (*in.at != '\0')
        return wrong(&in, "something is left over");
    if (in.to.full)
        return cr_fail(call, CR_INVALID, "formula: more than %d nodes", EXPR_NODES_MAX);
    *ret_expr = expr;
    return CR_OK;
}
