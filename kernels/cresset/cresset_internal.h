/* cresset, inside: what its handles are. */
#pragma once

#include "kernels/cresset/cresset.h"
#include "kernels/device/device.h"
#include "kernels/format/format.h"
#include "kernels/graph/graph.h"
#include "kernels/nn/nn.h"
#include "kernels/run/run.h"

struct cresset {
    struct device *device;
};

struct cresset_tensor {
    _Atomic int64_t users;
    struct cresset *engine;
    struct tensor tensor;
};

struct cresset_graph {
    struct cr_env env;
    struct cr_call memory;
    const struct graph *graph;
};

struct cresset_file {
    struct cr_env env;
    struct cr_call memory;
    struct format_safetensors file;
    const char **names;
};

/* A zeroed handle, which its close function frees. */
enum cr_status cresset_handle(struct cr_call *call, size_t size, void **ret_handle) CR_CHECK;

/* Whether a struct of options is one that this build knows. */
enum cr_status cresset_check_size(struct cr_call *call, const char *what, size_t size,
                                  size_t expected) CR_CHECK;

/* Hands on what failed under a handle's own call. */
enum cr_status cresset_hand_on(struct cr_call *call, const struct cr_call *from) CR_CHECK;

/* A handle of a tensor; it takes over one use of the storage, also when it fails. */
enum cr_status cresset_wrap(struct cr_call *call, struct cresset *engine,
                            const struct tensor *tensor,
                            struct cresset_tensor **ret_tensor) CR_CHECK;

/* The place of a word in a list that NULL ends. */
enum cr_status cresset_word(struct cr_call *call, const char *what, const char *value,
                            const char *const *words, int *ret_index) CR_CHECK;

/* A recipe as nn has it, and as metadata: behind those given. */
enum cr_status cresset_recipe_check(struct cr_call *call, const struct cresset_recipe *from,
                                    struct nn_recipe *ret_recipe) CR_CHECK;
struct cr_labels cresset_recipe_labels(struct cr_call *call, const struct nn_recipe *recipe,
                                       const struct cr_labels *metadata);
