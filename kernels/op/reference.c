/*
 * reference: operations by their meaning, in f64 throughout, as plainly as can be.
 *
 * It is a builder that runs what is added at once. Every value is held as f64 whatever its type
 * says: integers and bool by value, floats without being rounded to their type.
 */
#include "kernels/op/op_internal.h"

#include <assert.h>
#include <math.h>

#define ELEMENTS_MAX (INT64_C(1) << 27) /* of one value: 1 GiB */
#define VALUES_MAX   4096

struct value {
    struct op_type type;
    struct tensor tensor; /* f64 */
};

struct runner {
    struct op_builder ops;
    struct value values[VALUES_MAX];
    int count;
};

static struct runner *runner_of(struct op_builder *to)
{
    return (struct runner *)(void *)((char *)to - offsetof(struct runner, ops));
}

static const struct op_type *type_of(struct op_builder *to, op_value value)
{
    return &runner_of(to)->values[value].type;
}

/* A fresh f64 array of the type's shape, of the call's memory. */
static enum cr_status fresh(struct cr_call *call, const struct op_type *type,
                            struct tensor *ret_tensor)
{
    int64_t elements;
    CR_TRY(tensor_measure(call, DTYPE_F64, type->rank, type->dims, &elements, NULL));
    if (elements > ELEMENTS_MAX)
        return cr_fail(call, CR_EXHAUSTED, "the reference holds at most 2^27 elements a value");
    struct storage *storage = cr_new(call, struct storage, 1);
    storage->size = sizeof(double) * (size_t)elements;
    storage->bytes = cr_alloc(call, (size_t)elements + 1, sizeof(double));
    *ret_tensor = tensor_over(storage, 0, DTYPE_F64, type->rank, type->dims);
    return CR_OK;
}

static double *numbers(const struct tensor *tensor)
{
    return tensor_bytes(tensor);
}

static enum cr_status run_pointwise(struct cr_call *call, const struct op_site *site,
                                    const struct tensor *inputs, struct tensor *outputs)
{
    const struct expr *formula = op_formula(site);
    double names[OP_INPUTS_MAX + OP_ATTRS_MAX], roots[OP_OUTPUTS_MAX];
    struct tensor wide[OP_INPUTS_MAX];
    op_formula_attrs(site, names);
    for (int i = 0; i < site->input_count; i++)
        if (!tensor_expand(&inputs[i], outputs[0].rank, outputs[0].shape, &wide[i]))
            return cr_fail(call, CR_INTERNAL, "an input that does not broadcast");
    int64_t elements = tensor_elements(&outputs[0]);
    for (int64_t e = 0; e < elements; e++) {
        for (int i = 0; i < site->input_count; i++)
            names[i] = tensor_at(&wide[i], e);
        expr_evaluate(formula, names, roots);
        for (int i = 0; i < site->output_count; i++)
            numbers(&outputs[i])[e] = roots[i];
    }
    return CR_OK;
}

/* A cast to integers or bool converts by dtype's rules; one to floats leaves the value. */
static void run_cast(const struct op_site *site, const struct tensor *input, struct tensor *output)
{
    unsigned dtype = site->outputs[0].dtype;
    int64_t elements = tensor_elements(output);
    for (int64_t e = 0; e < elements; e++) {
        int64_t scratch;
        double value = tensor_at(input, e);
        if (dtype_class_of(dtype) != DTYPE_FLOAT) {
            dtype_write(dtype, &scratch, 0, value);
            value = dtype_read(dtype, &scratch, 0);
        }
        numbers(output)[e] = value;
    }
}

static double combine(enum op_combine how, double a, double x)
{
    if (how == OP_COMBINE_SUM)
        return a + x;
    if (isnan(a) || isnan(x))
        return NAN;
    return how == OP_COMBINE_MAX ? fmax(a, x) : fmin(a, x);
}

/* The reduced axes last, so that each result's elements follow one another. */
static void run_reduce(const struct op_site *site, const struct tensor *input,
                       struct tensor *output)
{
    unsigned axes = op_reduced_axes(site);
    int order[TENSOR_RANK_MAX], at = 0;
    int64_t group = 1;
    for (int i = 0; i < input->rank; i++)
        if (!(axes >> i & 1))
            order[at++] = i;
    for (int i = 0; i < input->rank; i++)
        if (axes >> i & 1) {
            order[at++] = i;
            group *= input->shape[i];
        }
    struct tensor sorted = tensor_permute(input, order);
    int64_t elements = tensor_elements(output);
    enum op_combine how = site->op->row->combine;
    for (int64_t e = 0; e < elements; e++) {
        double sum = how == OP_COMBINE_SUM ? 0 : how == OP_COMBINE_MAX ? -INFINITY : INFINITY;
        for (int64_t g = 0; g < group; g++) {
            double x = tensor_at(&sorted, e * group + g), mapped;
            expr_evaluate(op_formula(site), &x, &mapped);
            sum = combine(how, sum, mapped);
        }
        double names[] = {sum, (double)group};
        expr_evaluate(site->op->finish, names, &numbers(output)[e]);
    }
}

/* Writes input into the part of output that begins at before. */
static void run_pad(const struct op_site *site, const struct tensor *input, struct tensor *output)
{
    const int64_t *before = op_attr(site, "before")->list;
    int64_t elements = tensor_elements(output), inner = tensor_elements(input);
    for (int64_t e = 0; e < elements; e++)
        numbers(output)[e] = op_attr(site, "value")->number;
    struct tensor part = *output;
    for (int i = 0; i < part.rank; i++)
        part = inner == 0 ? part : tensor_slice(&part, i, before[i], input->shape[i], 1);
    for (int64_t e = 0; e < inner; e++) {
        int64_t at = part.offset, rest = e;
        for (int i = part.rank - 1; i >= 0; i--) {
            at += rest % part.shape[i] * part.stride[i];
            rest /= part.shape[i];
        }
        ((double *)output->storage->bytes)[at] = tensor_at(input, e);
    }
}

/* Adds every element of the windows to the place that it is a view of. */
static void run_fold(const struct op_site *site, const struct tensor *input, struct tensor *output)
{
    int64_t axis = op_attr_int(site, "axis"), step = op_attr_int(site, "step");
    int at = (int)(axis < 0 ? axis + input->rank - 1 : axis);
    int64_t elements = tensor_elements(input);
    for (int64_t e = 0; e < elements; e++) {
        int64_t rest = e, place = rest % input->shape[input->rank - 1];
        rest /= input->shape[input->rank - 1];
        int64_t to = place * output->stride[at];
        for (int i = input->rank - 2; i >= 0; i--) {
            to += rest % input->shape[i] * output->stride[i] * (i == at ? step : 1);
            rest /= input->shape[i];
        }
        numbers(output)[to] += tensor_at(input, e);
    }
}

static void run_index(const struct op_site *site, const struct tensor *inputs,
                      struct tensor *output)
{
    int64_t elements = tensor_elements(output);
    switch (site->op->row->id) {
    case OP_PAD:
        run_pad(site, inputs, output);
        break;
    case OP_FOLD:
        run_fold(site, inputs, output);
        break;
    case OP_FULL:
        for (int64_t e = 0; e < elements; e++)
            numbers(output)[e] = op_attr(site, "value")->number;
        break;
    case OP_IOTA:
        for (int64_t e = 0; e < elements; e++)
            numbers(output)[e] = (double)e;
        break;
    default:
        assert(false && "an INDEX row that the reference knows");
    }
}

static enum cr_status run_view(struct cr_call *call, const struct op_site *site,
                               const struct tensor *input, struct tensor *ret_view)
{
    if (op_view(site, input, ret_view))
        return CR_OK;
    struct tensor copy;
    CR_TRY(fresh(call, &site->inputs[0], &copy));
    tensor_gather(input, numbers(&copy));
    return op_view(site, &copy, ret_view) ? CR_OK : cr_fail(call, CR_INTERNAL, "a view of a copy");
}

static enum cr_status run(struct runner *runner, const struct op_site *site, op_value first)
{
    struct cr_call *call = runner->ops.call;
    struct tensor inputs[OP_INPUTS_MAX], outputs[OP_OUTPUTS_MAX];
    for (int i = 0; i < site->input_count; i++)
        if (site->values[i] != OP_NO_VALUE)
            inputs[i] = runner->values[site->values[i]].tensor;
    if (site->op->row->kind == OP_VIEW)
        CR_TRY(run_view(call, site, inputs, outputs));
    else
        for (int i = 0; i < site->output_count; i++)
            CR_TRY(fresh(call, &site->outputs[i], &outputs[i]));
    if (site->op->row->id == OP_CAST)
        run_cast(site, inputs, outputs);
    else if (site->op->row->kind == OP_POINTWISE)
        CR_TRY(run_pointwise(call, site, inputs, outputs));
    else if (site->op->row->kind == OP_REDUCE)
        run_reduce(site, inputs, outputs);
    else if (site->op->row->kind == OP_INDEX)
        run_index(site, inputs, outputs);
    for (int i = 0; i < site->output_count; i++)
        runner->values[first + i].tensor = outputs[i];
    return CR_OK;
}

static void add(struct op_builder *to, const struct op_site *site, op_value *ret_outputs)
{
    struct runner *runner = runner_of(to);
    struct op_type types[OP_OUTPUTS_MAX];
    struct op_site typed = *site;
    if (op_infer(to->call, site, types) != CR_OK)
        return;
    typed.outputs = types;
    typed.output_count = site->op->signature.output_count;
    if (site->op->row->meaning) {
        site->op->row->meaning(to, &typed, ret_outputs);
        return;
    }
    if (runner->count + typed.output_count > VALUES_MAX) {
        to->call->status = cr_fail(to->call, CR_EXHAUSTED, "the reference: too many values");
        return;
    }
    op_value first = runner->count;
    for (int i = 0; i < typed.output_count; i++)
        runner->values[runner->count++].type = types[i];
    if (run(runner, &typed, first) == CR_OK)
        for (int i = 0; i < typed.output_count; i++)
            ret_outputs[i] = first + i;
}

struct op_builder *op_reference_open(struct cr_call *call)
{
    struct runner *runner = cr_new(call, struct runner, 1);
    runner->ops = (struct op_builder){.call = call, .add = add, .type_of = type_of};
    return &runner->ops;
}

op_value op_reference_put(struct op_builder *to, unsigned dtype, const struct tensor *tensor)
{
    struct runner *runner = runner_of(to);
    if (runner->count == VALUES_MAX)
        return OP_NO_VALUE;
    struct value *value = &runner->values[runner->count];
    value->type = (struct op_type){.dtype = (uint8_t)dtype, .rank = tensor->rank};
    memcpy(value->type.dims, tensor->shape, sizeof value->type.dims);
    if (fresh(to->call, &value->type, &value->tensor) != CR_OK)
        return OP_NO_VALUE;
    int64_t elements = tensor_elements(tensor);
    for (int64_t e = 0; e < elements; e++)
        numbers(&value->tensor)[e] = tensor_at(tensor, e);
    return runner->count++;
}

const struct tensor *op_reference_get(struct op_builder *to, op_value value)
{
    return &runner_of(to)->values[value].tensor;
}

enum cr_status op_reference(struct cr_call *call, const struct op_site *site,
                            const struct tensor *inputs, struct tensor *ret_outputs)
{
    struct op_builder *to = op_reference_open(call);
    op_value values[OP_INPUTS_MAX], results[OP_OUTPUTS_MAX];
    for (int i = 0; i < site->input_count; i++)
        values[i] = site->inputs[i].dtype == DTYPE_NONE
                        ? OP_NO_VALUE
                        : op_reference_put(to, site->inputs[i].dtype, &inputs[i]);
    struct op_site run_site = *site;
    run_site.values = values;
    for (int i = 0; i < site->op->signature.output_count; i++)
        results[i] = OP_NO_VALUE;
    if (call->status == CR_OK)
        add(to, &run_site, results);
    for (int i = 0; call->status == CR_OK && i < site->op->signature.output_count; i++)
        ret_outputs[i] = *op_reference_get(to, results[i]);
    return call->status;
}
