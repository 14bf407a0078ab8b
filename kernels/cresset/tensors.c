/* tensors: handles of tensors. */
#include "kernels/cresset/cresset_internal.h"

#include <stdatomic.h>

static enum cr_status measure(struct cr_call *call, const char *dtype, int64_t rank,
                              const int64_t *shape, unsigned *ret_dtype, size_t *ret_size)
{
    unsigned number = dtype_of_name(dtype, strlen(dtype));
    if (number == DTYPE_NONE)
        return cr_fail(call, CR_NOT_FOUND, "no element type '%.32s'", dtype);
    if (rank < 0 || rank > CRESSET_RANK_MAX)
        return cr_fail(call, CR_INVALID, "a tensor has 0 to %d dimensions", CRESSET_RANK_MAX);
    CR_TRY(tensor_measure(call, number, (int)rank, shape, NULL, ret_size));
    *ret_dtype = number;
    return CR_OK;
}

enum cr_status cresset_wrap(struct cr_call *call, struct cresset *engine,
                            const struct tensor *tensor, struct cresset_tensor **ret_tensor)
{
    void *handle;
    if (cresset_handle(call, sizeof(struct cresset_tensor), &handle) != CR_OK) {
        storage_close(tensor->storage);
        return call->status;
    }
    struct cresset_tensor *made = handle;
    atomic_init(&made->users, 1);
    made->engine = engine;
    made->tensor = *tensor;
    *ret_tensor = made;
    return CR_OK;
}

struct owned {
    struct device *device;
    size_t size;
};

static void release_owned(void *context, void *bytes)
{
    struct owned *owned = context;
    device_release(owned->device, bytes, owned->size);
    free(owned);
}

enum cr_status cresset_tensor_empty(struct cr_call *call, struct cresset *engine, const char *dtype,
                                    int64_t rank, const int64_t *shape,
                                    struct cresset_tensor **ret_tensor)
{
    unsigned number;
    size_t size;
    void *bytes, *handle;
    struct storage *storage;
    CR_TRY(measure(call, dtype, rank, shape, &number, &size));
    CR_TRY(cresset_handle(call, sizeof(struct owned), &handle));
    struct owned *owned = handle;
    *owned = (struct owned){engine->device, size};
    if (device_allocate(call, engine->device, size, &bytes) != CR_OK) {
        free(owned);
        return call->status;
    }
    if (storage_borrow(call, bytes, size, release_owned, owned, &storage) != CR_OK) {
        release_owned(owned, bytes);
        return call->status;
    }
    storage->device = engine->device;
    memset(bytes, 0, size);
    struct tensor tensor = tensor_over(storage, 0, number, (int)rank, shape);
    return cresset_wrap(call, engine, &tensor, ret_tensor);
}

enum cr_status cresset_tensor_copy_in(struct cr_call *call, struct cresset *engine,
                                      const char *dtype, int64_t rank, const int64_t *shape,
                                      const void *bytes, size_t size,
                                      struct cresset_tensor **ret_tensor)
{
    struct cresset_tensor *tensor;
    CR_TRY(cresset_tensor_empty(call, engine, dtype, rank, shape, &tensor));
    if (cresset_tensor_write(call, tensor, bytes, size) != CR_OK) {
        cresset_tensor_close(tensor);
        return call->status;
    }
    *ret_tensor = tensor;
    return CR_OK;
}

enum cr_status cresset_tensor_borrow(struct cr_call *call, struct cresset *engine,
                                     const char *dtype, int64_t rank, const int64_t *shape,
                                     void *bytes, size_t size,
                                     void (*release)(void *context, void *bytes), void *context,
                                     struct cresset_tensor **ret_tensor)
{
    unsigned number;
    size_t expected;
    struct storage *storage;
    CR_TRY(measure(call, dtype, rank, shape, &number, &expected));
    if (size != expected || (uintptr_t)bytes % dtype_size(number) != 0)
        return cr_fail(call, CR_INVALID, "%zu bytes, %zu are expected, aligned to %zu", size,
                       expected, dtype_size(number));
    CR_TRY(storage_borrow(call, bytes, size, release, context, &storage));
    struct tensor tensor = tensor_over(storage, 0, number, (int)rank, shape);
    return cresset_wrap(call, engine, &tensor, ret_tensor);
}

void cresset_tensor_keep(struct cresset_tensor *tensor)
{
    atomic_fetch_add_explicit(&tensor->users, 1, memory_order_relaxed);
}

void cresset_tensor_close(struct cresset_tensor *tensor)
{
    if (!tensor || atomic_fetch_sub_explicit(&tensor->users, 1, memory_order_acq_rel) != 1)
        return;
    storage_close(tensor->tensor.storage);
    free(tensor);
}

struct cresset_tensor_info cresset_tensor_describe(const struct cresset_tensor *tensor)
{
    const struct tensor *of = &tensor->tensor;
    struct cresset_tensor_info info = {
        .dtype = dtype_name(of->dtype), .rank = of->rank, .elements = tensor_elements(of)};
    info.size = info.elements * (int64_t)dtype_size(of->dtype);
    for (int i = 0; i < of->rank; i++) {
        info.shape[i] = of->shape[i];
        info.stride[i] = of->stride[i];
    }
    return info;
}

static enum cr_status check_bytes(struct cr_call *call, const struct cresset_tensor *tensor,
                                  size_t size)
{
    size_t expected = (size_t)cresset_tensor_describe(tensor).size;
    return size == expected
               ? CR_OK
               : cr_fail(call, CR_INVALID, "%zu bytes, the tensor has %zu", size, expected);
}

enum cr_status cresset_tensor_read(struct cr_call *call, const struct cresset_tensor *tensor,
                                   void *ret_bytes, size_t size)
{
    CR_TRY(check_bytes(call, tensor, size));
    tensor_gather(&tensor->tensor, ret_bytes); /* cpu memory is the process's */
    return CR_OK;
}

enum cr_status cresset_tensor_write(struct cr_call *call, struct cresset_tensor *tensor,
                                    const void *bytes, size_t size)
{
    CR_TRY(check_bytes(call, tensor, size));
    if (!tensor_contiguous(&tensor->tensor))
        return cr_fail(call, CR_INVALID, "a view that is not contiguous cannot be written");
    return device_copy(call, tensor->engine->device, DEVICE_FROM_HOST,
                       tensor_bytes(&tensor->tensor), bytes, size);
}

static enum cr_status wrap_view(struct cr_call *call, const struct cresset_tensor *of,
                                const struct tensor *view, struct cresset_tensor **ret_view)
{
    storage_keep(view->storage);
    return cresset_wrap(call, of->engine, view, ret_view);
}

static enum cr_status same_count(struct cr_call *call, const struct tensor *tensor, int64_t rank,
                                 const int64_t *shape)
{
    int64_t elements;
    if (rank < 0 || rank > CRESSET_RANK_MAX)
        return cr_fail(call, CR_INVALID, "a tensor has 0 to %d dimensions", CRESSET_RANK_MAX);
    CR_TRY(tensor_measure(call, tensor->dtype, (int)rank, shape, &elements, NULL));
    return elements == tensor_elements(tensor)
               ? CR_OK
               : cr_fail(call, CR_INVALID, "the shapes differ in their number of elements");
}

enum cr_status cresset_tensor_reshape(struct cr_call *call, const struct cresset_tensor *tensor,
                                      int64_t rank, const int64_t *shape,
                                      struct cresset_tensor **ret_view)
{
    struct tensor view;
    CR_TRY(same_count(call, &tensor->tensor, rank, shape));
    if (!tensor_reshape(&tensor->tensor, (int)rank, shape, &view))
        return cr_fail(call, CR_INVALID, "the strides allow no view of that shape");
    return wrap_view(call, tensor, &view, ret_view);
}

enum cr_status cresset_tensor_permute(struct cr_call *call, const struct cresset_tensor *tensor,
                                      const int64_t *axes, struct cresset_tensor **ret_view)
{
    int list[TENSOR_RANK_MAX];
    unsigned seen = 0;
    for (int i = 0; i < tensor->tensor.rank; i++) {
        if (axes[i] < 0 || axes[i] >= tensor->tensor.rank || seen >> axes[i] & 1)
            return cr_fail(call, CR_INVALID, "axes must be a permutation");
        seen |= 1u << axes[i];
        list[i] = (int)axes[i];
    }
    struct tensor view = tensor_permute(&tensor->tensor, list);
    return wrap_view(call, tensor, &view, ret_view);
}

enum cr_status cresset_tensor_slice(struct cr_call *call, const struct cresset_tensor *tensor,
                                    int64_t axis, int64_t start, int64_t count, int64_t step,
                                    struct cresset_tensor **ret_view)
{
    int64_t last;
    if (axis < 0 || axis >= tensor->tensor.rank)
        return cr_fail(call, CR_INVALID, "no axis %lld", (long long)axis);
    int64_t extent = tensor->tensor.shape[axis];
    if (start < 0 || start > extent || count < 0 || step < 1 ||
        (count > 0 && (__builtin_mul_overflow(count - 1, step, &last) ||
                       __builtin_add_overflow(last, start, &last) || last >= extent)))
        return cr_fail(call, CR_INVALID, "start, count and step leave the axis");
    struct tensor view = tensor_slice(&tensor->tensor, (int)axis, start, count, step);
    return wrap_view(call, tensor, &view, ret_view);
}

enum cr_status cresset_tensor_expand(struct cr_call *call, const struct cresset_tensor *tensor,
                                     int64_t rank, const int64_t *shape,
                                     struct cresset_tensor **ret_view)
{
    struct tensor view;
    if (rank < 0 || rank > CRESSET_RANK_MAX)
        return cr_fail(call, CR_INVALID, "a tensor has 0 to %d dimensions", CRESSET_RANK_MAX);
    CR_TRY(tensor_measure(call, tensor->tensor.dtype, (int)rank, shape, NULL, NULL));
    if (!tensor_expand(&tensor->tensor, (int)rank, shape, &view))
        return cr_fail(call, CR_INVALID, "the shapes do not broadcast");
    return wrap_view(call, tensor, &view, ret_view);
}
