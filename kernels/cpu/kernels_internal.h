/*
 * kernels_internal: the kernels of this folder, a table a family, looked through in order. A kernel
 * of op 0 is for every op whose sites it accepts; a table ends with one that does not run.
 */
#pragma once

#include "kernels/cpu/cpu_internal.h"
#include "kernels/tensor/tensor.h"

extern const struct device_kernel cpu_product_kernels[];
extern const struct device_kernel cpu_window_kernels[];
extern const struct device_kernel cpu_softmax_kernels[];
extern const struct device_kernel cpu_index_kernels[];
extern const struct device_kernel cpu_pointwise_kernels[];
extern const struct device_kernel cpu_reduce_kernels[];
extern const struct device_kernel cpu_wide_kernels[];
