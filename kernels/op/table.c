/* table: all rows, read once, with the gradient rows that formulas give. */
#include "kernels/op/op_internal.h"

#include <assert.h>
#include <pthread.h>

static const struct op_row *const families[] = {
    op_arithmetic_rows, op_matmul_rows, op_view_rows, op_reduce_rows,    op_activation_rows,
    op_conv_rows,       op_pool_rows,   op_loss_rows, op_optimizer_rows,
};

#define TABLE_MAX 512

static struct {
    pthread_once_t once;
    struct cr_call call; /* its memory is the table's, and is never freed */
    struct cr_env env;
    const struct op *ops[TABLE_MAX];
    int count;
} table = {.once = PTHREAD_ONCE_INIT};

/* Names in formulas: inputs, then attributes. */
static const char *const *names_of(const struct op_signature *signature)
{
    const char **names = cr_new(&table.call, const char *, OP_INPUTS_MAX + OP_ATTRS_MAX);
    for (int i = 0; i < signature->input_count; i++)
        names[i] = signature->inputs[i].name;
    for (int i = 0; i < signature->attr_count; i++)
        names[signature->input_count + i] = signature->attrs[i].name;
    return names;
}

static enum cr_status read_formulas(struct op *op)
{
    static const char *const mapped[] = {"x"}, *const combined[] = {"a", "n"};
    const struct op_row *row = op->row;
    const struct op_signature *signature = &op->signature;
    const char *roots[OP_OUTPUTS_MAX];
    const char *const *names = row->kind == OP_REDUCE ? mapped : names_of(signature);
    int name_count = row->kind == OP_REDUCE ? 1 : signature->input_count + signature->attr_count;
    for (int i = 0; i < signature->output_count; i++)
        roots[i] = signature->outputs[i].name;
    for (; op->formula_count < OP_FORMULA_MAX && row->formula[op->formula_count];
         op->formula_count++)
        CR_TRY(expr_parse(&table.call, row->formula[op->formula_count], names, name_count, roots,
                          signature->output_count, &op->formula[op->formula_count]));
    if (row->finish)
        CR_TRY(expr_parse(&table.call, row->finish, combined, 2, roots, 1, &op->finish));
    for (int i = 0; op->formula_count > 1 && i < signature->attr_count; i++)
        if (signature->attrs[i].kind == OP_DATUM_WORD && op->formula_attr < 0)
            op->formula_attr = i;
    return CR_OK;
}

static struct op *new_op(const struct op_row *row)
{
    struct op *op = cr_new(&table.call, struct op, 1);
    op->row = row;
    op->formula_attr = -1;
    return op;
}

/* The inputs whose gradients a row has: those of float types. */
static int differentiable_inputs(const struct op_signature *signature, int *ret_inputs)
{
    int count = 0;
    for (int i = 0; i < signature->input_count; i++) {
        unsigned dtype = signature->inputs[i].dtype;
        if (dtype == DTYPE_NONE || dtype_class_of(dtype) == DTYPE_FLOAT)
            ret_inputs[count++] = i;
    }
    return count;
}

/*
 * The row beside: inputs and outputs' gradients in, inputs' gradients out. Its variable is float,
 * since it is of use there alone.
 */
static enum cr_status add_gradient(struct op *op)
{
    const struct op_signature *signature = &op->signature;
    struct op_row *row = cr_new(&table.call, struct op_row, 1);
    *row = (struct op_row){.id = (uint16_t)(OP_GRADIENT + op->row->id),
                           .name = cr_format(&table.call, "%s_gradient", op->row->name),
                           .kind = OP_POINTWISE,
                           .flags = OP_NO_GRADIENT,
                           .amp = op->row->amp,
                           .source = "derived by kernels/expr",
                           .signature = op->row->signature};
    struct op *made = new_op(row);
    struct op_signature *to = &made->signature;
    *to = *signature;
    const char *gradients[OP_OUTPUTS_MAX];
    int wrt[OP_INPUTS_MAX];
    int wrt_count = differentiable_inputs(signature, wrt);
    for (int i = 0; i < signature->output_count; i++) {
        gradients[i] = cr_format(&table.call, "d%s", signature->outputs[i].name);
        to->inputs[to->input_count++] =
            (struct op_input){.name = gradients[i], .variable = signature->outputs[i].variable};
    }
    to->required_inputs = to->input_count;
    to->output_count = wrt_count;
    for (int i = 0; i < wrt_count; i++)
        to->outputs[i] = (struct op_output){
            .name = cr_format(&table.call, "d%s", signature->inputs[wrt[i]].name),
            .variable = signature->inputs[wrt[i]].variable,
            .attr = -1};
    for (int i = 0; i < to->variable_count; i++)
        to->variables[i].classes = 1u << DTYPE_FLOAT;

    /* expr_derive puts the gradients' names last; in the signature inputs are all together. */
    for (int f = 0; f < op->formula_count; f++) {
        struct expr *formula;
        CR_TRY(expr_derive(&table.call, op->formula[f], gradients, wrt, wrt_count, &formula));
        int first = signature->input_count, attrs = signature->attr_count;
        int outputs = signature->output_count;
        for (int i = 0; i < formula->node_count; i++) {
            int *name = &formula->nodes[i].name;
            if (*name >= first + attrs)
                *name -= attrs;
            else if (*name >= first)
                *name += outputs;
        }
        formula->names = names_of(to);
        made->formula[f] = formula;
    }
    made->formula_count = op->formula_count;
    made->formula_attr = op->formula_attr;
    op->gradient = made;
    table.ops[table.count++] = made;
    return CR_OK;
}

static enum cr_status read_row(const struct op_row *row)
{
    struct op *op = new_op(row);
    CR_TRY(op_signature_read(&table.call, row->signature, &op->signature));
    CR_TRY(read_formulas(op));
    table.ops[table.count++] = op;
    bool derivable = row->kind == OP_POINTWISE && !row->vjp && !(row->flags & OP_NO_GRADIENT);
    return derivable ? add_gradient(op) : CR_OK;
}

static int by_id(const void *a, const void *b)
{
    const struct op *const *left = a, *const *right = b;
    return (*left)->row->id - (*right)->row->id;
}

static void fill(void)
{
    table.env = cr_env_system();
    table.call = cr_call_open(&table.env, INT64_MAX);
    enum cr_status status = CR_OK;
    for (size_t i = 0; status == CR_OK && i < sizeof families / sizeof families[0]; i++)
        for (const struct op_row *row = families[i]; status == CR_OK && row->id != OP_NONE; row++)
            status = read_row(row);
    if (status != CR_OK)
        fprintf(stderr, "op table: %s\n", table.call.reason);
    assert(status == CR_OK && table.count <= TABLE_MAX);
    qsort(table.ops, (size_t)table.count, sizeof table.ops[0], by_id);
    for (int i = 1; i < table.count; i++)
        assert(table.ops[i - 1]->row->id != table.ops[i]->row->id);
}

const struct op *const *op_all(int *ret_count)
{
    pthread_once(&table.once, fill);
    *ret_count = table.count;
    return table.ops;
}

const struct op *op_find(unsigned id)
{
    int count, low = 0;
    const struct op *const *ops = op_all(&count);
    for (int high = count; low < high;) {
        int middle = (low + high) / 2;
        if (ops[middle]->row->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && ops[low]->row->id == id ? ops[low] : NULL;
}

const struct op *op_find_name(const char *name, size_t length)
{
    int count;
    const struct op *const *ops = op_all(&count);
    for (int i = 0; i < count; i++)
        if (strlen(ops[i]->row->name) == length && memcmp(ops[i]->row->name, name, length) == 0)
            return ops[i];
    return NULL;
}

const struct expr *op_formula(const struct op_site *site)
{
    const struct op *op = site->op;
    return op->formula[op->formula_attr < 0 ? 0 : site->attrs[op->formula_attr].integer];
}

void op_formula_attrs(const struct op_site *site, double *values)
{
    const struct op_signature *signature = &site->op->signature;
    for (int i = 0; i < signature->attr_count; i++) {
        const struct op_datum *attr = &site->attrs[i];
        values[signature->input_count + i] =
            attr->kind == OP_DATUM_FLOAT ? attr->number : (double)attr->integer;
    }
}

const struct op_datum *op_attr(const struct op_site *site, const char *name)
{
    const struct op_signature *signature = &site->op->signature;
    for (int i = 0; i < signature->attr_count; i++)
        if (strcmp(signature->attrs[i].name, name) == 0)
            return &site->attrs[i];
    assert(false && "an attribute of the signature");
    return NULL;
}

int64_t op_attr_int(const struct op_site *site, const char *name)
{
    return op_attr(site, name)->integer;
}
