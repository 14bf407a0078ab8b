/*
 * tensor: an array of up to 8 dimensions, seen through strides over bytes that it shares.
 *
 * A tensor is a value (struct tensor may be copied freely) that points to a storage; the storage is
 * counted, and whoever keeps a copy beyond its call keeps it (storage_keep) and closes it.
 *
 * Units     offset and stride in elements, sizes in bytes; strides are >= 0, 0 for what is expanded
 * Limits    a dimension is 0 to 2^48, elements at most 2^56, bytes below 2^62; every partial
 * product is checked, zeros counted as one. Zero-size and rank-0 tensors are ordinary Threads users
 * is atomic; all else of a storage belongs to one thread at a time
 */
#pragma once

#include "base/core/call.h"
#include "kernels/dtype/dtype.h"

#define TENSOR_RANK_MAX     8
#define TENSOR_DIM_MAX      (INT64_C(1) << 48)
#define TENSOR_ELEMENTS_MAX (INT64_C(1) << 56)
#define TENSOR_SIZE_MAX     (INT64_C(1) << 62)
#define TENSOR_ALIGNMENT    64 /* of storage on a CPU */

struct device; /* kernels/device/device.h */

struct storage {
    _Atomic int64_t users;
    struct device *device; /* NULL: the memory of this process */
    void *bytes;
    size_t size;
    void (*release)(void *context, void *bytes); /* NULL: nothing to give back */
    void *context;
};

struct tensor {
    struct storage *storage;
    int64_t offset;
    int64_t shape[TENSOR_RANK_MAX], stride[TENSOR_RANK_MAX];
    uint8_t rank, dtype;
};

/*
 * Checks the shape against the limits, and tells its elements and bytes (a caller may pass NULL).
 *
 * fails with   CR_INVALID    unknown type, rank above 8, or beyond a limit
 */
enum cr_status tensor_measure(struct cr_call *call, unsigned dtype, int rank, const int64_t *shape,
                              int64_t *ret_elements, size_t *ret_size) CR_CHECK;

/*
 * Fresh zeroed memory of the process under a storage with one user, who closes it.
 *
 * fails with   CR_EXHAUSTED    there is no such memory
 */
enum cr_status storage_alloc(struct cr_call *call, size_t size,
                             struct storage **ret_storage) CR_CHECK;

/*
 * A storage around bytes of somebody else; release is called with the last user's close. On failure
 * nothing has been taken over.
 *
 * fails with   CR_EXHAUSTED    there is no memory for the storage itself
 */
enum cr_status storage_borrow(struct cr_call *call, void *bytes, size_t size,
                              void (*release)(void *context, void *bytes), void *context,
                              struct storage **ret_storage) CR_CHECK;

void storage_keep(struct storage *storage);
void storage_close(struct storage *storage); /* NULL: nothing happens */

/* A row-major tensor over a new storage, which the caller closes. Fails as the two above do. */
enum cr_status tensor_alloc(struct cr_call *call, unsigned dtype, int rank, const int64_t *shape,
                            struct tensor *ret_tensor) CR_CHECK;

/* A row-major tensor over a storage that holds it, from the offset on. The shape has been measured.
 */
struct tensor tensor_over(struct storage *storage, int64_t offset, unsigned dtype, int rank,
                          const int64_t *shape);

int64_t tensor_elements(const struct tensor *tensor);

/* Whether elements lie in row-major order without gaps. */
bool tensor_contiguous(const struct tensor *tensor);

/* The first element. */
void *tensor_bytes(const struct tensor *tensor);

/* Writes the elements of a tensor of the process's memory to, row-major. */
void tensor_gather(const struct tensor *tensor, void *to);

/* One element as f64, by its row-major index. */
double tensor_at(const struct tensor *tensor, int64_t index);

/* Views: the result shares the storage. None of them touches an element. */

/* Dimension i of the result is dimension axes[i] of the tensor; axes is a permutation. */
struct tensor tensor_permute(const struct tensor *tensor, const int *axes);

/* The same elements in another shape; false: the strides forbid it, and one has to copy first. */
bool tensor_reshape(const struct tensor *tensor, int rank, const int64_t *shape,
                    struct tensor *ret_view);

/* Dimensions of size 1 are repeated (stride 0) to the shape; missing leading ones are added. */
bool tensor_expand(const struct tensor *tensor, int rank, const int64_t *shape,
                   struct tensor *ret_view);

/* Elements start, start + step, ... (count of them) of one axis; they must lie within it. */
struct tensor tensor_slice(const struct tensor *tensor, int axis, int64_t start, int64_t count,
                           int64_t step);

/* The result's dimension axis has the windows' positions, and a last dimension their places. */
struct tensor tensor_window(const struct tensor *tensor, int axis, int64_t size, int64_t step);
