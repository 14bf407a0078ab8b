/*
 * cpu: the backend that is always there: kernels on the cores of this machine.
 *
 * Three tiers, portable, avx2 and avx512, are built into every binary; the best that the processor
 * and the operating system know is taken, or a lower one by CRESSET_CPU. All give the same bits,
 * for any number of threads: class "cpu/base". What makes them agree:
 *
 *     element by element   every operation is rounded to its type; fma only where a formula has it
 *     sums                 chunks of 4,096 elements of the flattened reduced index; 64 virtual
 *                          lanes, element i of a chunk to lane i mod 64, rising; lanes fold
 *                          l += l + 32, 16, 8, 4, 2, 1; chunks add in order of their index
 *     products (f32)       each output sums k rising with fma, every block of 256 from zero,
 *                          blocks added in order; never split over k otherwise
 *     weight gradients     16 virtual lanes over the pixels of a group of images (conv.h)
 *
 * Threads are made when the device is opened (before a jail is sealed) and end when it is closed;
 * the caller pins the process to the cores that it may use. A device drives one kernel at a time.
 *
 * Source: F. Van Zee and R. van de Geijn, "BLIS: A Framework for Rapidly Instantiating BLAS
 * Functionality", ACM TOMS 41(3), 2015, for the blocking of products.
 */
#pragma once

#include "kernels/device/device.h"

#define CPU_THREADS_MAX 256

struct cpu_options {
    int threads;        /* 1 to CPU_THREADS_MAX; 0: one for each core that the process may use */
    int64_t memory_max; /* bytes; 0: no limit but the machine's */
    const char *tier;   /* "portable", "avx2", "avx512"; NULL: CRESSET_CPU's, or the best */
};

/*
 * Opens the cores as a device, which device_close closes.
 *
 * fails with   CR_INVALID     no such tier, or one above what the machine has
 *              CR_EXHAUSTED   no memory or threads
 */
enum cr_status cpu_open(struct cr_call *call, const struct cpu_options *options,
                        struct device **ret_device) CR_CHECK;

/* The tier and threads of a device that cpu_open has opened. The word is static. */
const char *cpu_tier(const struct device *device);
int cpu_threads(const struct device *device);
