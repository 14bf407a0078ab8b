/* storage: counted bytes. */
#include "kernels/tensor/tensor.h"

#include <stdatomic.h>

enum cr_status tensor_measure(struct cr_call *call, unsigned dtype, int rank, const int64_t *shape,
                              int64_t *ret_elements, size_t *ret_size)
{
    if (!dtype_known(dtype))
        return cr_fail(call, CR_INVALID, "no element type %u", dtype);
    if (rank < 0 || rank > TENSOR_RANK_MAX)
        return cr_fail(call, CR_INVALID, "a tensor has 0 to %d dimensions", TENSOR_RANK_MAX);

    int64_t elements = 1, product = 1; /* product counts zeros as one */
    for (int i = 0; i < rank; i++) {
        if (shape[i] < 0 || shape[i] > TENSOR_DIM_MAX)
            return cr_fail(call, CR_INVALID, "dimension %d must be 0 to 2^48", i);
        if (__builtin_mul_overflow(product, shape[i] > 0 ? shape[i] : 1, &product) ||
            product > TENSOR_ELEMENTS_MAX)
            return cr_fail(call, CR_INVALID, "a tensor of more than 2^56 elements");
        elements *= shape[i];
    }
    if (ret_elements)
        *ret_elements = elements;
    if (ret_size)
        *ret_size = (size_t)elements * dtype_size(dtype);
    return CR_OK;
}

static void release_own(void *context, void *bytes)
{
    (void)context;
    free(bytes);
}

enum cr_status storage_borrow(struct cr_call *call, void *bytes, size_t size,
                              void (*release)(void *context, void *bytes), void *context,
                              struct storage **ret_storage)
{
    struct storage *storage = malloc(sizeof *storage);
    if (!storage)
        return cr_fail(call, CR_EXHAUSTED, "no memory for a storage");
    atomic_init(&storage->users, 1);
    storage->device = NULL;
    storage->bytes = bytes;
    storage->size = size;
    storage->release = release;
    storage->context = context;
    *ret_storage = storage;
    return CR_OK;
}

enum cr_status storage_alloc(struct cr_call *call, size_t size, struct storage **ret_storage)
{
    size_t rounded = (size / TENSOR_ALIGNMENT + 1) * TENSOR_ALIGNMENT;
    void *bytes = size < TENSOR_SIZE_MAX ? aligned_alloc(TENSOR_ALIGNMENT, rounded) : NULL;
    if (!bytes)
        return cr_fail(call, CR_EXHAUSTED, "no memory for %zu bytes of a tensor", size);
    memset(bytes, 0, rounded);
    enum cr_status status = storage_borrow(call, bytes, size, release_own, NULL, ret_storage);
    if (status != CR_OK)
        free(bytes);
    return status;
}

void storage_keep(struct storage *storage)
{
    atomic_fetch_add_explicit(&storage->users, 1, memory_order_relaxed);
}

void storage_close(struct storage *storage)
{
    if (!storage || atomic_fetch_sub_explicit(&storage->users, 1, memory_order_acq_rel) != 1)
        return;
    if (storage->release)
        storage->release(storage->context, storage->bytes);
    free(storage);
}
