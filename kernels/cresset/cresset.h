/*
 * cresset: the engine as a library, libcresset: tensors, graphs, programs, files, training.
 *
 * What can fail takes a call first and returns a status; results are last, and written on success
 * only. Handles are opaque and closed by whoever got them; closing NULL does nothing. Structs of
 * options begin with their size, and members that are zero have their defaults.
 *
 * Units      sizes in bytes, times in nanoseconds, shapes in elements
 * Memory     texts and arrays that are given out live as long as the call, unless they are said to
 *            be a handle's
 * Threads    an engine is shared by threads; everything else belongs to one at a time
 * Errors     CR_INVALID malformed or clashing; CR_NOT_FOUND an operation, format or element type
 *            that is not here; CR_EXHAUSTED memory above the limit; CR_TIMEOUT the deadline;
 *            CR_UNAVAILABLE a device or file failed; CR_INTERNAL a bug of ours
 * Source     engine.md section 14
 */
#pragma once

#include "base/core/shape.h"

#define CRESSET_VERSION  "0.1.0"
#define CRESSET_RANK_MAX 8

#define CRESSET_API      __attribute__((visibility("default")))

struct cresset;
struct cresset_tensor;
struct cresset_graph;
struct cresset_program;
struct cresset_file;
struct cresset_dataset;
struct cresset_loader;
struct cresset_trainer;

/* Calls ---------------------------------------------------------------------------------------- */

/* A call of its own, for callers outside of C: memory, reason, deadline (from now; 0: none). */
CRESSET_API struct cr_call *cresset_call_open(int64_t timeout_ns); /* NULL: no memory */
CRESSET_API void cresset_call_close(struct cr_call *call);
CRESSET_API const char *cresset_call_reason(const struct cr_call *call); /* the call's */

/* Ends what the call is doing, from any thread: it fails with CR_TIMEOUT between two kernels. */
CRESSET_API void cresset_call_cancel(struct cr_call *call);

/* Engines -------------------------------------------------------------------------------------- */

struct cresset_options {
    size_t size;
    int64_t threads;    /* 0: one for each core that the process may use */
    int64_t memory_max; /* 0: what the machine has */
    const char *tier;   /* "portable", "avx2", "avx512"; NULL: the best */
};
CRESSET_API enum cr_status cresset_open(struct cr_call *call, const struct cresset_options *options,
                                        struct cresset **ret_engine) CR_CHECK;
CRESSET_API void cresset_close(struct cresset *engine);
CRESSET_API const char *cresset_version(void);

/* Devices of a kind, "cpu" or "cuda". */
CRESSET_API int64_t cresset_device_count(const char *kind);

struct cresset_device {
    const char *kind, *model, *class; /* the engine's; equal class and build: equal bits */
    const char *tier;
    int64_t threads, memory_max;
};
CRESSET_API struct cresset_device cresset_device_describe(const struct cresset *engine);

struct cresset_memory {
    int64_t used, peak, max;
};
CRESSET_API struct cresset_memory cresset_memory(const struct cresset *engine);
CRESSET_API int64_t cresset_usage(const struct cresset *engine); /* time in which kernels ran */
CRESSET_API void cresset_scrub(struct cresset *engine); /* overwrites what released memory holds */

/* Tensors -------------------------------------------------------------------------------------- */

struct cresset_tensor_info {
    const char *dtype; /* "f32"; static */
    int64_t rank, shape[CRESSET_RANK_MAX], stride[CRESSET_RANK_MAX], elements, size;
};
CRESSET_API enum cr_status cresset_tensor_empty(struct cr_call *call, struct cresset *engine,
                                                const char *dtype, int64_t rank,
                                                const int64_t *shape,
                                                struct cresset_tensor **ret_tensor) CR_CHECK;
CRESSET_API enum cr_status cresset_tensor_copy_in(struct cr_call *call, struct cresset *engine,
                                                  const char *dtype, int64_t rank,
                                                  const int64_t *shape, const void *bytes,
                                                  size_t size,
                                                  struct cresset_tensor **ret_tensor) CR_CHECK;
/* Around bytes of the caller, row-major; release (may be NULL) is called when nobody uses them. */
CRESSET_API enum cr_status cresset_tensor_borrow(struct cr_call *call, struct cresset *engine,
                                                 const char *dtype, int64_t rank,
                                                 const int64_t *shape, void *bytes, size_t size,
                                                 void (*release)(void *context, void *bytes),
                                                 void *context,
                                                 struct cresset_tensor **ret_tensor) CR_CHECK;
CRESSET_API void cresset_tensor_keep(struct cresset_tensor *tensor); /* one more close to come */
CRESSET_API void cresset_tensor_close(struct cresset_tensor *tensor);
CRESSET_API struct cresset_tensor_info cresset_tensor_describe(const struct cresset_tensor *tensor);
/* All elements, row-major; size must be that of the tensor. */
CRESSET_API enum cr_status cresset_tensor_read(struct cr_call *call,
                                               const struct cresset_tensor *tensor, void *ret_bytes,
                                               size_t size) CR_CHECK;
CRESSET_API enum cr_status cresset_tensor_write(struct cr_call *call, struct cresset_tensor *tensor,
                                                const void *bytes, size_t size) CR_CHECK;
/* Views, which share the memory. A reshape that the strides forbid is CR_INVALID. */
CRESSET_API enum cr_status cresset_tensor_reshape(struct cr_call *call,
                                                  const struct cresset_tensor *tensor, int64_t rank,
                                                  const int64_t *shape,
                                                  struct cresset_tensor **ret_view) CR_CHECK;
CRESSET_API enum cr_status cresset_tensor_permute(struct cr_call *call,
                                                  const struct cresset_tensor *tensor,
                                                  const int64_t *axes,
                                                  struct cresset_tensor **ret_view) CR_CHECK;
CRESSET_API enum cr_status cresset_tensor_slice(struct cr_call *call,
                                                const struct cresset_tensor *tensor, int64_t axis,
                                                int64_t start, int64_t count, int64_t step,
                                                struct cresset_tensor **ret_view) CR_CHECK;
CRESSET_API enum cr_status cresset_tensor_expand(struct cr_call *call,
                                                 const struct cresset_tensor *tensor, int64_t rank,
                                                 const int64_t *shape,
                                                 struct cresset_tensor **ret_view) CR_CHECK;

/* Graphs --------------------------------------------------------------------------------------- */

CRESSET_API enum cr_status cresset_graph_parse(struct cr_call *call, const char *text, size_t size,
                                               struct cresset_graph **ret_graph) CR_CHECK;
CRESSET_API enum cr_status cresset_graph_decode(struct cr_call *call, const void *bytes,
                                                size_t size,
                                                struct cresset_graph **ret_graph) CR_CHECK;
CRESSET_API const char *cresset_graph_print(struct cr_call *call,
                                            const struct cresset_graph *graph);
CRESSET_API const void *cresset_graph_encode(struct cr_call *call,
                                             const struct cresset_graph *graph, size_t *ret_size);
/* The results of graph and, behind them, the gradients of the sum of one by parameters' names. */
CRESSET_API enum cr_status cresset_graph_differentiate(struct cr_call *call,
                                                       const struct cresset_graph *graph,
                                                       int64_t result, const char *const *wrt,
                                                       int64_t wrt_count,
                                                       struct cresset_graph **ret_graph) CR_CHECK;
CRESSET_API void cresset_graph_close(struct cresset_graph *graph);

/* Programs ------------------------------------------------------------------------------------- */

struct cresset_extent {
    const char *name;
    int64_t value;
};
struct cresset_compile_options {
    size_t size;
    const struct cresset_extent *extents; /* of every name of the graph */
    int64_t extent_count;
    int64_t memory_max; /* of this program */
};
struct cresset_plan {
    int64_t memory, constants, steps, views;
};
CRESSET_API enum cr_status cresset_compile(struct cr_call *call, struct cresset *engine,
                                           const struct cresset_graph *graph,
                                           const struct cresset_compile_options *options,
                                           struct cresset_program **ret_program) CR_CHECK;
/* Inputs by the graph's parameters; ret_outputs has room for its results, the caller's to close. */
CRESSET_API enum cr_status cresset_program_run(struct cr_call *call,
                                               struct cresset_program *program,
                                               struct cresset_tensor *const *inputs,
                                               int64_t input_count,
                                               struct cresset_tensor **ret_outputs) CR_CHECK;
CRESSET_API int64_t cresset_program_results(const struct cresset_program *program);
CRESSET_API struct cresset_plan cresset_program_plan(const struct cresset_program *program);
CRESSET_API void cresset_program_close(struct cresset_program *program);

/* Files ---------------------------------------------------------------------------------------- */

/* Bytes that outlive the file. kind is "safetensors". */
CRESSET_API enum cr_status cresset_file_open(struct cr_call *call, const void *bytes, size_t size,
                                             const char *kind,
                                             struct cresset_file **ret_file) CR_CHECK;
CRESSET_API const char *const *cresset_file_names(const struct cresset_file *file,
                                                  int64_t *ret_count); /* sorted; the file's */
CRESSET_API const char *cresset_file_metadata(const struct cresset_file *file,
                                              const char *name); /* NULL: none; the file's */
CRESSET_API enum cr_status cresset_file_tensor(struct cr_call *call,
                                               const struct cresset_file *file, const char *name,
                                               struct cresset *engine,
                                               struct cresset_tensor **ret_tensor) CR_CHECK;
CRESSET_API void cresset_file_close(struct cresset_file *file);

struct cresset_named {
    const char *name;
    struct cresset_tensor *tensor;
};
/* From offset 0, and cut behind it. CR_TOO_LARGE: the system allows no such file (EFBIG). */
CRESSET_API enum cr_status cresset_write_safetensors(struct cr_call *call, int descriptor,
                                                     const struct cresset_named *tensors,
                                                     int64_t count,
                                                     const struct cr_labels *metadata) CR_CHECK;

/* Data ----------------------------------------------------------------------------------------- */

/* IDX files (pictures, and labels if there are any), which outlive the set. */
struct cresset_dataset_options {
    size_t size;
    const char *images_name, *labels_name; /* how reasons call them */
    const void *images, *labels;
    size_t images_size, labels_size;
    int64_t classes; /* labels are below it */
};
struct cresset_dataset_info {
    int64_t count, rows, columns;
    double mean, deviation; /* of the pixels between 0 and 1; measured when first asked for */
    bool labels;
};
CRESSET_API enum cr_status cresset_dataset_open(struct cr_call *call,
                                                const struct cresset_dataset_options *options,
                                                struct cresset_dataset **ret_dataset) CR_CHECK;
CRESSET_API struct cresset_dataset_info cresset_dataset_describe(struct cresset_dataset *dataset);
CRESSET_API void cresset_dataset_close(struct cresset_dataset *dataset);

struct cresset_loader_options {
    size_t size;
    int64_t batch;
    double mean, deviation; /* taken off and divided by; deviation above 0 */
    bool shuffled;          /* by (seed, epoch); else as they lie */
    uint64_t seed;
};
struct cresset_batch {
    int64_t count, epoch, position; /* position of the first within the epoch */
    const float *images;            /* the loader's, until the next is asked for */
    const int32_t *labels;          /* NULL: there are none */
};
CRESSET_API enum cr_status cresset_loader_open(struct cr_call *call,
                                               const struct cresset_dataset *dataset,
                                               const struct cresset_loader_options *options,
                                               struct cresset_loader **ret_loader) CR_CHECK;
/* The next batch; at the end of an epoch it may be short, and the epoch after begins behind it. */
CRESSET_API void cresset_loader_next(struct cresset_loader *loader,
                                     struct cresset_batch *ret_batch);
/* Where the next batch begins. position is below the count of examples. */
CRESSET_API void cresset_loader_seek(struct cresset_loader *loader, int64_t epoch,
                                     int64_t position);
CRESSET_API void cresset_loader_close(struct cresset_loader *loader);

/* Training ------------------------------------------------------------------------------------- */

struct cresset_recipe {
    size_t size;
    const char *name;      /* "mlp", "cnn" */
    int64_t rows, columns; /* of a picture */
    const int64_t *widths; /* mlp: units of each layer, the last the classes; cnn: channels */
    int64_t width_count;
    const char *activation;        /* mlp: "relu", "gelu", "tanh"; NULL: relu */
    int64_t kernel, pool, classes; /* cnn */
};
struct cresset_learning {
    size_t size;
    const char *optimizer; /* "sgd", "adam", "adamw" */
    const char *schedule;  /* "constant", "linear", "cosine" */
    double rate, momentum, weight_decay, clip_norm;
    int64_t warmup_steps, steps;
};
struct cresset_trainer_options {
    size_t size;
    const struct cresset_recipe *recipe;
    const struct cresset_learning *learning; /* NULL: for evaluation alone */
    int64_t batch, last_batch;               /* of training; the last of an epoch, 0: as batch */
    int64_t test_batch, last_test_batch;     /* of evaluation; 0: none */
    bool test_labels;                        /* evaluation has labels, and gives losses */
    uint64_t seed;
};
struct cresset_step {
    double loss, rate, gradient_norm;
};
/* All memory of training is asked for here. */
CRESSET_API enum cr_status cresset_trainer_open(struct cr_call *call, struct cresset *engine,
                                                const struct cresset_trainer_options *options,
                                                struct cresset_trainer **ret_trainer) CR_CHECK;
CRESSET_API enum cr_status cresset_trainer_step(struct cr_call *call,
                                                struct cresset_trainer *trainer,
                                                const struct cresset_batch *batch,
                                                struct cresset_step *ret_step) CR_CHECK;
/* Logits [count][classes]; ret_losses [count] where there are labels. */
CRESSET_API enum cr_status cresset_trainer_evaluate(struct cr_call *call,
                                                    struct cresset_trainer *trainer,
                                                    const struct cresset_batch *batch,
                                                    float *ret_logits, float *ret_losses) CR_CHECK;
CRESSET_API int64_t cresset_trainer_steps(const struct cresset_trainer *trainer);
CRESSET_API struct cresset_plan cresset_trainer_plan(const struct cresset_trainer *trainer);
/*
 * The weights as safetensors: a model. Its metadata are those given and what the recipe is: recipe,
 * parameters (JSON), rows, columns.
 */
CRESSET_API enum cr_status cresset_trainer_save(struct cr_call *call,
                                                const struct cresset_trainer *trainer,
                                                int descriptor,
                                                const struct cr_labels *metadata) CR_CHECK;
CRESSET_API enum cr_status cresset_trainer_load(struct cr_call *call,
                                                struct cresset_trainer *trainer,
                                                const struct cresset_file *file) CR_CHECK;
/* The recipe of a model; its texts and widths are the call's. CR_INVALID: the file tells none. */
CRESSET_API enum cr_status cresset_file_recipe(struct cr_call *call,
                                               const struct cresset_file *file,
                                               struct cresset_recipe *ret_recipe) CR_CHECK;
/* The same with the optimizer's state and the step: what resumes without a difference. */
CRESSET_API enum cr_status cresset_trainer_checkpoint(struct cr_call *call,
                                                      const struct cresset_trainer *trainer,
                                                      int descriptor,
                                                      const struct cr_labels *metadata) CR_CHECK;
CRESSET_API enum cr_status cresset_trainer_restore(struct cr_call *call,
                                                   struct cresset_trainer *trainer,
                                                   const struct cresset_file *file) CR_CHECK;
CRESSET_API void cresset_trainer_close(struct cresset_trainer *trainer);
