/*
 * device: what a backend is. kernels/run drives any of them through the operations of this header.
 *
 * A device has memory and kernels. A kernel is found once, when a plan is made, by the id of its
 * op's row and the types and attributes of the site; from then on it is started with tensors alone.
 * What the plan needs beside its tensors (scratch) is asked for then too, so that a run allocates
 * nothing.
 *
 * Units        sizes in bytes
 * Order        kernels of one stream run in the order in which they were started; a cpu has one
 *              stream, and a kernel has ended when run returns
 * Threads      allocate, release and the readings may be called by any thread; a stream belongs to
 *              one thread at a time
 * Memory       fresh memory holds what was there before; debug builds (without NDEBUG and under a
 *              sanitizer) fill it with 0xFF
 * Bits         equal inputs give equal bits on one class, for any number of threads (tier D1)
 */
#pragma once

#include "base/core/call.h"

struct tensor;  /* kernels/tensor/tensor.h */
struct op_site; /* kernels/op/op.h */
struct device;

#define DEVICE_MODEL_SIZE  64 /* "AMD EPYC", "NVIDIA H200" */
#define DEVICE_CLASS_SIZE  32 /* "cpu/base", "cuda/sm_90" */
#define DEVICE_TENSORS_MAX 64 /* inputs, or outputs, of one launch */
#define DEVICE_ALIGNMENT   64 /* of memory, at least */

enum device_way { DEVICE_FROM_HOST, DEVICE_TO_HOST, DEVICE_WITHIN };

/* One start of a kernel. */
struct device_launch {
    struct device *device;
    const struct op_site *site;         /* the types and attributes it was found by */
    const struct tensor *const *inputs; /* count as the site says; views are allowed */
    struct tensor *const *outputs;      /* allocated by the caller, without gaps, of offset 0 */
    void *scratch;                      /* at least as large as scratch_size said; aligned */
};

/*
 * A kernel of a device, found for a site. Static.
 *
 * Requires     the types and shapes are those of the site, which op's shape rules have passed
 * fails with   CR_INVALID       an index out of range, found in the data
 *              CR_UNAVAILABLE   the driver refused
 */
struct device_kernel {
    int op;                                      /* id of the row; 0 ends a table */
    const char *name;                            /* for profiles and tests, for example "matmul" */
    bool (*accepts)(const struct op_site *site); /* NULL: every site of the op */
    size_t (*scratch_size)(const struct device *device, const struct op_site *site); /* NULL: 0 */
    enum cr_status (*run)(struct cr_call *call, const struct device_launch *launch);
    bool strided;  /* inputs may be any view; otherwise they must be without gaps */
    bool in_place; /* output 0 may be the memory of input 0 */
};

struct device_ops {
    const char *kind; /* "cpu", "cuda" */
    /* size bytes, or NULL: the limit or the memory is spent. */
    void *(*allocate)(struct device *device, size_t size);
    void (*release)(struct device *device, void *bytes, size_t size);
    enum cr_status (*copy)(struct cr_call *call, struct device *device, enum device_way way,
                           void *to, const void *from, size_t size);
    /* The kernel for a site; NULL: none, the op's meaning runs instead. */
    const struct device_kernel *(*find)(const struct device *device, int op,
                                        const struct op_site *site);
    /* Waits for all that was started. */
    enum cr_status (*wait)(struct cr_call *call, struct device *device);
    /* Overwrites what released memory may still hold. */
    void (*scrub)(struct device *device);
    void (*close)(struct device *device);
};

/* The head of every backend's own struct. */
struct device {
    const struct device_ops *ops;
    int index; /* among the devices of its kind */
    char model[DEVICE_MODEL_SIZE];
    char class[DEVICE_CLASS_SIZE]; /* equal class and build: equal bits */
    int64_t memory_max;            /* what allocate gives at most, together */
    _Atomic int64_t memory_used;
    _Atomic int64_t memory_peak;
    _Atomic int64_t busy_ns; /* time in which kernels ran, of the clock of the call's env */
};

/*
 * Memory of the device, aligned to 64 at least and counted in memory_used. Size 0 gives an address
 * that must not be read.
 *
 * fails with   CR_EXHAUSTED   memory_max or the machine's memory is spent; the device stays usable
 */
enum cr_status device_allocate(struct cr_call *call, struct device *device, size_t size,
                               void **ret_bytes) CR_CHECK;
void device_release(struct device *device, void *bytes, size_t size);

enum cr_status device_copy(struct cr_call *call, struct device *device, enum device_way way,
                           void *to, const void *from, size_t size) CR_CHECK;

/* NULL: the device has none. */
const struct device_kernel *device_find(const struct device *device, int op,
                                        const struct op_site *site);
size_t device_scratch_size(const struct device *device, const struct device_kernel *kernel,
                           const struct op_site *site);

/* Starts the kernel, and adds the time it took to busy_ns. */
enum cr_status device_run(struct cr_call *call, const struct device_kernel *kernel,
                          const struct device_launch *launch) CR_CHECK;
enum cr_status device_wait(struct cr_call *call, struct device *device) CR_CHECK;
void device_scrub(struct device *device);

/* NULL may be closed. */
void device_close(struct device *device);
