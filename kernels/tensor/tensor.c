/* tensor: shapes, strides and views of them. */
#include "kernels/tensor/tensor.h"

#include <assert.h>

enum cr_status tensor_alloc(struct cr_call *call, unsigned dtype, int rank, const int64_t *shape,
                            struct tensor *ret_tensor)
{
    size_t size;
    struct storage *storage;
    CR_TRY(tensor_measure(call, dtype, rank, shape, NULL, &size));
    CR_TRY(storage_alloc(call, size, &storage));
    *ret_tensor = tensor_over(storage, 0, dtype, rank, shape);
    return CR_OK;
}

struct tensor tensor_over(struct storage *storage, int64_t offset, unsigned dtype, int rank,
                          const int64_t *shape)
{
    struct tensor tensor = {
        .storage = storage, .offset = offset, .rank = (uint8_t)rank, .dtype = (uint8_t)dtype};
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; i--) {
        tensor.shape[i] = shape[i];
        tensor.stride[i] = stride;
        stride *= shape[i] > 0 ? shape[i] : 1;
    }
    return tensor;
}

int64_t tensor_elements(const struct tensor *tensor)
{
    int64_t elements = 1;
    for (int i = 0; i < tensor->rank; i++)
        elements *= tensor->shape[i];
    return elements;
}

bool tensor_contiguous(const struct tensor *tensor)
{
    int64_t stride = 1;
    for (int i = tensor->rank - 1; i >= 0; i--) {
        if (tensor->shape[i] == 0)
            return true;
        if (tensor->shape[i] != 1 && tensor->stride[i] != stride)
            return false;
        stride *= tensor->shape[i];
    }
    return true;
}

void *tensor_bytes(const struct tensor *tensor)
{
    return (char *)tensor->storage->bytes + (size_t)tensor->offset * dtype_size(tensor->dtype);
}

void tensor_gather(const struct tensor *tensor, void *to)
{
    size_t size = dtype_size(tensor->dtype);
    int64_t elements = tensor_elements(tensor);
    const char *from = tensor_bytes(tensor);
    if (tensor_contiguous(tensor)) {
        memcpy(to, from, (size_t)elements * size);
        return;
    }
    int64_t index[TENSOR_RANK_MAX] = {0}, at = 0;
    for (int64_t i = 0; i < elements; i++) {
        memcpy((char *)to + (size_t)i * size, from + (size_t)at * size, size);
        for (int axis = tensor->rank - 1; axis >= 0; axis--) {
            at += tensor->stride[axis];
            if (++index[axis] < tensor->shape[axis])
                break;
            at -= tensor->stride[axis] * tensor->shape[axis];
            index[axis] = 0;
        }
    }
}

double tensor_at(const struct tensor *tensor, int64_t index)
{
    int64_t at = tensor->offset;
    for (int axis = tensor->rank - 1; axis >= 0; axis--) {
        at += index % tensor->shape[axis] * tensor->stride[axis];
        index /= tensor->shape[axis];
    }
    return dtype_read(tensor->dtype, tensor->storage->bytes, at);
}

struct tensor tensor_permute(const struct tensor *tensor, const int *axes)
{
    struct tensor view = *tensor;
    for (int i = 0; i < tensor->rank; i++) {
        view.shape[i] = tensor->shape[axes[i]];
        view.stride[i] = tensor->stride[axes[i]];
    }
    return view;
}

/* Whether dimensions first .. last of a shape can be walked by the last one's stride alone. */
static bool runs_on(const int64_t *shape, const int64_t *stride, int first, int last)
{
    for (int i = first; i < last; i++)
        if (stride[i] != shape[i + 1] * stride[i + 1])
            return false;
    return true;
}

/*
 * Old and new dimensions are taken in groups of the same product, the smallest such; within a group
 * the old ones must run on, and the new ones then cut the run in pieces.
 */
bool tensor_reshape(const struct tensor *tensor, int rank, const int64_t *shape,
                    struct tensor *ret_view)
{
    struct tensor view = tensor_over(tensor->storage, tensor->offset, tensor->dtype, rank, shape);
    int64_t old_shape[TENSOR_RANK_MAX], old_stride[TENSOR_RANK_MAX];
    int old_rank = 0, old = 0, new = 0;
    if (tensor_contiguous(tensor)) {
        *ret_view = view;
        return true;
    }
    for (int i = 0; i < tensor->rank; i++) {
        if (tensor->shape[i] == 1)
            continue;
        old_shape[old_rank] = tensor->shape[i];
        old_stride[old_rank++] = tensor->stride[i];
    }
    while (new < rank && old < old_rank) {
        int old_last = old, new_last = new;
        int64_t have = old_shape[old], want = shape[new];
        while (want != have) {
            if (want < have)
                want *= shape[++new_last];
            else
                have *= old_shape[++old_last];
        }
        if (!runs_on(old_shape, old_stride, old, old_last))
            return false;
        view.stride[new_last] = old_stride[old_last];
        for (int i = new_last; i > new; i--)
            view.stride[i - 1] = view.stride[i] * shape[i];
        new = new_last + 1;
        old = old_last + 1;
    }
    for (; new < rank; new ++)
        view.stride[new] = 1; /* of size 1: never walked */
    *ret_view = view;
    return true;
}

bool tensor_expand(const struct tensor *tensor, int rank, const int64_t *shape,
                   struct tensor *ret_view)
{
    int more = rank - tensor->rank;
    struct tensor view = *tensor;
    if (more < 0)
        return false;
    view.rank = (uint8_t)rank;
    for (int i = 0; i < rank; i++) {
        bool repeated = i < more || tensor->shape[i - more] == 1;
        if (!repeated && tensor->shape[i - more] != shape[i])
            return false;
        view.shape[i] = shape[i];
        view.stride[i] = repeated ? 0 : tensor->stride[i - more];
    }
    *ret_view = view;
    return true;
}

struct tensor tensor_slice(const struct tensor *tensor, int axis, int64_t start, int64_t count,
                           int64_t step)
{
    assert(axis < tensor->rank && start >= 0 && step >= 1);
    assert(count == 0 || start + (count - 1) * step < tensor->shape[axis]);
    struct tensor view = *tensor;
    if (count > 0)
        view.offset += start * tensor->stride[axis];
    view.shape[axis] = count;
    view.stride[axis] = tensor->stride[axis] * step;
    return view;
}

struct tensor tensor_window(const struct tensor *tensor, int axis, int64_t size, int64_t step)
{
    assert(axis < tensor->rank && tensor->rank < TENSOR_RANK_MAX);
    assert(size >= 1 && size <= tensor->shape[axis] && step >= 1);
    struct tensor view = *tensor;
    view.shape[axis] = (tensor->shape[axis] - size) / step + 1;
    view.stride[axis] = tensor->stride[axis] * step;
    view.shape[view.rank] = size;
    view.stride[view.rank] = tensor->stride[axis];
    view.rank++;
    return view;
}
