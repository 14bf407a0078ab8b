/*
 * walk: a tensor's elements in row-major order, whatever its strides.
 *
 * Dimensions of one element are dropped and those that follow one another in memory are joined, so
 * that what lies without gaps has at most one dimension, of stride 1.
 */
#pragma once

#include "kernels/tensor/tensor.h"

struct cpu_walk {
    const char *bytes; /* of the first element */
    int rank;
    unsigned dtype;
    int64_t count;
    int64_t shape[TENSOR_RANK_MAX], stride[TENSOR_RANK_MAX];
};

struct cpu_walk cpu_walk_of(const struct tensor *tensor);

/* The same elements broadcast to a shape, which the tensor fits. */
struct cpu_walk cpu_walk_across(const struct tensor *tensor, int rank, const int64_t *shape);

bool cpu_walk_gapless(const struct cpu_walk *walk);
bool cpu_walk_scalar(const struct cpu_walk *walk); /* all elements are one */

/* Elements first to first + count - 1, as f32; the type is at most as wide. */
void cpu_walk_floats(const struct cpu_walk *walk, int64_t first, int64_t count, float *ret_x);

/* The same as they are. */
void cpu_walk_copy(const struct cpu_walk *walk, int64_t first, int64_t count, void *ret_x);

/* Converts count floats to the type, which is at most as wide as f32. */
void cpu_floats_write(unsigned dtype, const float *x, int64_t count, void *ret_array);
