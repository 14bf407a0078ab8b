/* views: VIEW rows, applied to a tensor. */
#include "kernels/op/op_internal.h"

#include <assert.h>

static int axis_of(const struct op_site *site)
{
    int64_t axis = op_attr_int(site, "axis");
    return (int)(axis < 0 ? axis + site->inputs[0].rank : axis);
}

static struct tensor transposed(const struct op_site *site, const struct tensor *input)
{
    const struct op_datum *axes = op_attr(site, "axes");
    int list[TENSOR_RANK_MAX];
    for (int i = 0; i < axes->count; i++)
        list[i] = (int)axes->list[i];
    return tensor_permute(input, list);
}

bool op_view(const struct op_site *site, const struct tensor *input, struct tensor *ret_view)
{
    const struct op_datum *shape;
    switch (site->op->row->id) {
    case OP_RESHAPE:
        shape = op_attr(site, "shape");
        return tensor_reshape(input, shape->count, shape->list, ret_view);
    case OP_EXPAND:
        shape = op_attr(site, "shape");
        return tensor_expand(input, shape->count, shape->list, ret_view);
    case OP_TRANSPOSE:
        *ret_view = transposed(site, input);
        return true;
    case OP_SLICE:
        *ret_view = tensor_slice(input, axis_of(site), op_attr_int(site, "start"),
                                 op_attr_int(site, "count"), op_attr_int(site, "step"));
        return true;
    case OP_WINDOW:
        *ret_view = tensor_window(input, axis_of(site), op_attr_int(site, "size"),
                                  op_attr_int(site, "step"));
        return true;
    default:
        assert(false && "a VIEW row");
        return false;
    }
}
