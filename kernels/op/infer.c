/* infer: which types come out. */
#include "kernels/op/op_internal.h"

bool op_is_named(int64_t extent)
{
    return extent >= OP_NAMED && extent < OP_NAMED + OP_NAMES_MAX;
}

bool op_same_type(const struct op_type *a, const struct op_type *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           memcmp(a->dims, b->dims, sizeof a->dims[0] * a->rank) == 0;
}

int64_t op_dim(const struct op_type *type, int i)
{
    return type->dims[i < 0 ? i + type->rank : i];
}

void op_append(struct op_type *type, int64_t extent)
{
    type->dims[type->rank++] = extent;
}

const char *op_extent_text(struct cr_call *call, int64_t extent)
{
    return op_is_named(extent) ? cr_format(call, "name %d", (int)(extent - OP_NAMED))
                               : cr_format(call, "%lld", (long long)extent);
}

enum cr_status op_rank_at_least(struct cr_call *call, const struct op_site *site, int rank)
{
    for (int i = 0; i < site->input_count; i++)
        if (site->inputs[i].dtype != DTYPE_NONE && site->inputs[i].rank < rank)
            return cr_fail(call, CR_INVALID, "%s: %s has %d dimensions, at least %d are needed",
                           site->op->row->name, site->op->signature.inputs[i].name,
                           site->inputs[i].rank, rank);
    return CR_OK;
}

enum cr_status op_rank_is(struct cr_call *call, const struct op_site *site, int input, int rank)
{
    return site->inputs[input].rank == rank
               ? CR_OK
               : cr_fail(call, CR_INVALID, "%s: %s has %d dimensions, not %d", site->op->row->name,
                         site->op->signature.inputs[input].name, site->inputs[input].rank, rank);
}

enum cr_status op_dims_equal(struct cr_call *call, const char *what_a, int64_t a,
                             const char *what_b, int64_t b)
{
    return a == b ? CR_OK
                  : cr_fail(call, CR_INVALID, "%s are %s, but %s are %s", what_a,
                            op_extent_text(call, a), what_b, op_extent_text(call, b));
}

enum cr_status op_axis(struct cr_call *call, int64_t axis, int rank, int *ret_axis)
{
    int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank)
        return cr_fail(call, CR_INVALID, "axis %lld of %d dimensions", (long long)axis, rank);
    *ret_axis = (int)at;
    return CR_OK;
}

enum cr_status op_count(struct cr_call *call, const char *what, int64_t extent)
{
    return op_is_named(extent)
               ? cr_fail(call, CR_NOT_FOUND, "%s is a name, and has to be a number", what)
               : CR_OK;
}

/* One dimension of two shapes that are broadcast. */
static enum cr_status broadcast(struct cr_call *call, int64_t a, int64_t b, int64_t *ret_extent)
{
    if (a != b && a != 1 && b != 1)
        return cr_fail(call, CR_INVALID, "dimensions %s and %s do not broadcast",
                       op_extent_text(call, a), op_extent_text(call, b));
    *ret_extent = a == 1 ? b : a;
    return CR_OK;
}

enum cr_status op_broadcast_batch(struct cr_call *call, const struct op_type *a,
                                  const struct op_type *b, int kept, struct op_type *c)
{
    int rank_a = a->rank - kept, rank_b = b->rank - kept;
    int rank = rank_a > rank_b ? rank_a : rank_b;
    for (int i = 0; i < rank; i++) {
        int64_t extent, from_a = i - (rank - rank_a), from_b = i - (rank - rank_b);
        CR_TRY(broadcast(call, from_a < 0 ? 1 : a->dims[from_a], from_b < 0 ? 1 : b->dims[from_b],
                         &extent));
        op_append(c, extent);
    }
    return CR_OK;
}

static enum cr_status infer_pointwise(struct cr_call *call, const struct op_site *site,
                                      struct op_type *ret_outputs)
{
    struct op_type shape = {0};
    for (int i = 0; i < site->input_count; i++) {
        if (site->inputs[i].dtype == DTYPE_NONE)
            continue;
        struct op_type wider = {0};
        CR_TRY(op_broadcast_batch(call, &shape, &site->inputs[i], 0, &wider));
        shape = wider;
    }
    for (int i = 0; i < site->op->signature.output_count; i++) {
        shape.dtype = ret_outputs[i].dtype;
        ret_outputs[i] = shape;
    }
    return CR_OK;
}

unsigned op_reduced_axes(const struct op_site *site)
{
    const struct op_datum *axes = op_attr(site, "axes");
    unsigned reduced = 0;
    for (int i = 0; i < axes->count; i++)
        reduced |= 1u << (axes->list[i] < 0 ? axes->list[i] + site->inputs[0].rank : axes->list[i]);
    return reduced;
}

static enum cr_status infer_reduce(struct cr_call *call, const struct op_site *site,
                                   struct op_type *ret_outputs)
{
    const struct op_type *x = &site->inputs[0];
    const struct op_datum *axes = op_attr(site, "axes");
    bool keep = op_attr_int(site, "keep") != 0;
    unsigned reduced = 0;
    for (int i = 0; i < axes->count; i++) {
        int axis;
        CR_TRY(op_axis(call, axes->list[i], x->rank, &axis));
        if (reduced >> axis & 1)
            return cr_fail(call, CR_INVALID, "%s: axis %d twice", site->op->row->name, axis);
        reduced |= 1u << axis;
        if (site->op->row->combine != OP_COMBINE_SUM && x->dims[axis] == 0)
            return cr_fail(call, CR_INVALID, "%s: nothing to choose from along axis %d",
                           site->op->row->name, axis);
    }
    struct op_type y = {.dtype = ret_outputs[0].dtype};
    for (int i = 0; i < x->rank; i++)
        if (!(reduced >> i & 1))
            op_append(&y, x->dims[i]);
        else if (keep)
            op_append(&y, 1);
    ret_outputs[0] = y;
    return CR_OK;
}

static enum cr_status bind_variable(struct cr_call *call, const struct op_site *site, int input,
                                    uint8_t bound[4])
{
    const struct op_signature *signature = &site->op->signature;
    const struct op_input *as = &signature->inputs[input];
    unsigned dtype = site->inputs[input].dtype;
    if (as->dtype != DTYPE_NONE)
        return as->dtype == dtype
                   ? CR_OK
                   : cr_fail(call, CR_INVALID, "%s: %s is %s, not %s", site->op->row->name,
                             as->name, dtype_name(dtype), dtype_name(as->dtype));
    if (!(signature->variables[as->variable].classes >> dtype_class_of(dtype) & 1))
        return cr_fail(call, CR_INVALID, "%s: %s may not be %s", site->op->row->name, as->name,
                       dtype_name(dtype));
    if (bound[as->variable] != DTYPE_NONE && bound[as->variable] != dtype)
        return cr_fail(call, CR_INVALID, "%s: %s is %s, but another input is %s",
                       site->op->row->name, as->name, dtype_name(dtype),
                       dtype_name(bound[as->variable]));
    bound[as->variable] = (uint8_t)dtype;
    return CR_OK;
}

static enum cr_status infer_dtypes(struct cr_call *call, const struct op_site *site,
                                   struct op_type *ret_outputs)
{
    const struct op_signature *signature = &site->op->signature;
    uint8_t bound[4] = {0};
    for (int i = 0; i < signature->input_count; i++) {
        bool given = i < site->input_count && site->inputs[i].dtype != DTYPE_NONE;
        if (!given && !signature->inputs[i].optional)
            return cr_fail(call, CR_INVALID, "%s: %s is missing", site->op->row->name,
                           signature->inputs[i].name);
        if (given)
            CR_TRY(bind_variable(call, site, i, bound));
    }
    for (int i = 0; i < signature->output_count; i++) {
        const struct op_output *as = &signature->outputs[i];
        ret_outputs[i].dtype = as->dtype != DTYPE_NONE ? as->dtype
                               : as->attr >= 0         ? (uint8_t)site->attrs[as->attr].integer
                                                       : bound[as->variable];
        if (!dtype_known(ret_outputs[i].dtype))
            return cr_fail(call, CR_INVALID, "%s: no type for %s", site->op->row->name, as->name);
    }
    return CR_OK;
}

/* Attributes that are missing, and words and lists beyond what the signature knows. */
static enum cr_status check_attrs(struct cr_call *call, const struct op_site *site)
{
    const struct op_signature *signature = &site->op->signature;
    for (int i = 0; i < signature->attr_count; i++) {
        const struct op_attr *as = &signature->attrs[i];
        const struct op_datum *attr = &site->attrs[i];
        if (attr->kind != as->kind)
            return cr_fail(call, CR_INVALID, "%s: %s is %s", site->op->row->name, as->name,
                           attr->kind == OP_DATUM_NONE ? "missing" : "of another kind");
        if (attr->kind == OP_DATUM_WORD && (attr->integer < 0 || attr->integer >= as->word_count))
            return cr_fail(call, CR_INVALID, "%s: %s is no such word", site->op->row->name,
                           as->name);
        if (attr->kind == OP_DATUM_DTYPE && (attr->integer < 0 || attr->integer >= DTYPE_COUNT ||
                                             !dtype_known((unsigned)attr->integer)))
            return cr_fail(call, CR_INVALID, "%s: %s is no type", site->op->row->name, as->name);
        if (attr->kind == OP_DATUM_INTS && (attr->count < 0 || attr->count > OP_LIST_MAX))
            return cr_fail(call, CR_INVALID, "%s: %s has more than %d items", site->op->row->name,
                           as->name, OP_LIST_MAX);
    }
    return CR_OK;
}

enum cr_status op_check_type(struct cr_call *call, const struct op_type *type)
{
    int64_t dims[TENSOR_RANK_MAX];
    for (int i = 0; i < type->rank; i++)
        dims[i] = op_is_named(type->dims[i]) ? 1 : type->dims[i];
    return tensor_measure(call, type->dtype, type->rank, dims, NULL, NULL);
}

enum cr_status op_infer(struct cr_call *call, const struct op_site *site,
                        struct op_type *ret_outputs)
{
    const struct op *op = site->op;
    struct op_type outputs[OP_OUTPUTS_MAX] = {0};
    if (site->input_count > op->signature.input_count)
        return cr_fail(call, CR_INVALID, "%s: %d inputs, at most %d", op->row->name,
                       site->input_count, op->signature.input_count);
    CR_TRY(check_attrs(call, site));
    CR_TRY(infer_dtypes(call, site, outputs));
    if (op->row->infer)
        CR_TRY(op->row->infer(call, site, outputs));
    else if (op->row->kind == OP_REDUCE)
        CR_TRY(infer_reduce(call, site, outputs));
    else
        CR_TRY(infer_pointwise(call, site, outputs));
    for (int i = 0; i < op->signature.output_count; i++) {
        CR_TRY(op_check_type(call, &outputs[i]));
        ret_outputs[i] = outputs[i];
    }
    return CR_OK;
}

/* windows = (extent + before + after - kernel) / stride + 1, along both axes. */
enum cr_status op_window_of(struct cr_call *call, const struct op_site *site,
                            const struct op_type *image, const int64_t kernel[2],
                            struct op_window *ret_window)
{
    const struct op_datum *stride = op_attr(site, "stride"), *pad = op_attr(site, "pad");
    struct op_window window;
    if (stride->count != 2 || pad->count != 4)
        return cr_fail(call, CR_INVALID, "%s: stride must have 2 items, pad 4",
                       site->op->row->name);
    for (int i = 0; i < 2; i++) {
        int64_t extent = image->dims[2 + i], before = pad->list[i], after = pad->list[2 + i];
        CR_TRY(op_count(call, "the size of a picture", extent));
        CR_TRY(op_count(call, "the size of a kernel", kernel[i]));
        if (kernel[i] < 1 || kernel[i] > TENSOR_DIM_MAX || stride->list[i] < 1)
            return cr_fail(call, CR_INVALID, "%s: kernel and stride must be 1 or more",
                           site->op->row->name);
        if (before < 0 || after < 0 || before >= kernel[i] || after >= kernel[i])
            return cr_fail(call, CR_INVALID, "%s: pad must be below the kernel's size",
                           site->op->row->name);
        if (extent + before + after < kernel[i])
            return cr_fail(call, CR_INVALID, "%s: the kernel is larger than the picture",
                           site->op->row->name);
        window.kernel[i] = kernel[i];
        window.stride[i] = stride->list[i];
        window.before[i] = before;
        window.after[i] = after;
        window.out[i] = (extent + before + after - kernel[i]) / stride->list[i] + 1;
    }
    *ret_window = window;
    return CR_OK;
}
