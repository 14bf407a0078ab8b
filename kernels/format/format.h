/*
 * format: tensors in files. Of the formats that there will be: safetensors.
 *
 *     u64 size of the header, little-endian; the header, JSON; the tensors' bytes, row-major
 *     header    {"__metadata__": {name: text}, name: {"dtype", "shape", "data_offsets": [from,
 * to]}}
 *
 * A file is read where it lies: names and bytes of tensors point into it. It is refused unless the
 * header begins with '{' and is at most FORMAT_HEADER_MAX bytes, names are unique, nothing is
 * unknown, and the tensors cover the data without hole or overlap, each as long as its type and
 * shape say. What is written has its names sorted and its header padded to 8 with blanks, so equal
 * tensors give equal bytes.
 *
 * Units     bytes
 * Threads   only computes, but for writing
 * Source    github.com/huggingface/safetensors, README, "Format"
 */
#pragma once

#include "base/core/shape.h"
#include "kernels/tensor/tensor.h"

#define FORMAT_HEADER_MAX  (16 << 20)
#define FORMAT_TENSORS_MAX 65536

struct format_tensor {
    const char *name;
    uint8_t dtype, rank;
    int64_t shape[TENSOR_RANK_MAX];
    const void *bytes; /* as aligned as the file has it: up to 8 where we wrote it */
    size_t size;
};

struct format_safetensors {
    const struct format_tensor *tensors; /* sorted by name */
    size_t count;
    struct cr_labels metadata; /* sorted by name */
};

/*
 * fails with   CR_INVALID    the reason names the field at fault
 */
enum cr_status format_read_safetensors(struct cr_call *call, const void *bytes, size_t size,
                                       struct format_safetensors *ret_file) CR_CHECK;

/* NULL: there is none of that name. */
const struct format_tensor *format_find(const struct format_safetensors *file, const char *name);

/* A metadata text; NULL: there is none. */
const char *format_metadata(const struct format_safetensors *file, const char *name);

/*
 * Writes a whole file to the descriptor, from offset 0, and cuts it there. The order of tensors and
 * metadata does not matter.
 *
 * fails with   CR_TOO_LARGE     the system allows no file as large (EFBIG)
 *              CR_UNAVAILABLE   it could not be written; the reason has the system's word
 */
enum cr_status format_write_safetensors(struct cr_call *call, int descriptor,
                                        const struct format_tensor *tensors, size_t count,
                                        const struct cr_labels *metadata) CR_CHECK;
