/*
 * nn: recipes of networks, how they begin, and how they learn.
 *
 * A recipe is a graph, made of the rows of kernels/op, and a list of weights with the rule by which
 * each begins. Training one is a graph too: loss, gradients, their norm, clipping and the optimizer
 * in one program, which takes weights and states and gives the next.
 *
 *     mlp   pictures as rows of numbers; each layer x w + b, an activation between two
 *     cnn   each stage: conv (padded to the same size) + bias, max_pool, relu; at the end x w + b
 *
 * Weights of a product are [in, out]; of a convolution [out, in, kernel, kernel].
 *
 * Memory    graphs are of the call's memory
 * Threads   a trainer belongs to one thread at a time; the rest only computes
 * Source    engine.md section 8; layers begin as in K. He et al., arXiv:1502.01852, section 2.2
 */
#pragma once

#include "kernels/device/device.h"
#include "kernels/graph/graph.h"
#include "kernels/run/run.h"

#define NN_LAYERS_MAX   8
#define NN_CHANNELS_MAX 6
#define NN_WEIGHTS_MAX  (2 * NN_LAYERS_MAX)
#define NN_STATES_MAX   2                  /* an optimizer's tensors for each weight */
#define NN_COUNT_MAX    (INT64_C(1) << 31) /* numbers in all weights */

enum nn_kind { NN_MLP, NN_CNN };
enum nn_activation { NN_RELU, NN_GELU, NN_TANH };

struct nn_recipe {
    enum nn_kind kind;
    int64_t rows, columns; /* of a picture */
    int layer_count;       /* mlp: widths; cnn: channels */
    int64_t widths[NN_LAYERS_MAX];
    enum nn_activation activation; /* mlp */
    int64_t kernel, pool, classes; /* cnn */
};

/* How a weight begins: zeros, or normal numbers of this deviation. */
struct nn_weight {
    const char *name; /* "conv0.weight" */
    struct op_type type;
    double deviation;
};

/* Classes of the recipe: the last width, or classes. */
int64_t nn_classes(const struct nn_recipe *recipe);

/*
 * The weights in the order in which graphs take them.
 *
 * fails with   CR_INVALID    a bound, a kernel or pool that does not fit the picture, or too large
 */
enum cr_status nn_weights(struct cr_call *call, const struct nn_recipe *recipe,
                          struct nn_weight ret_weights[NN_WEIGHTS_MAX], int *ret_count) CR_CHECK;

/* One weight's first values: those of Philox at (seed, its number). */
void nn_begin(const struct nn_weight *weight, int index, uint64_t seed, float *ret_values);

/* (weights..., images: f32[B, rows, columns]) -> (logits: f32[B, classes]). */
enum cr_status nn_forward(struct cr_call *call, const struct nn_recipe *recipe,
                          const struct graph **ret_graph) CR_CHECK;

/* (weights..., images, labels: i32[B]) -> (logits, loss: f32[B]). */
enum cr_status nn_evaluation(struct cr_call *call, const struct nn_recipe *recipe,
                             const struct graph **ret_graph) CR_CHECK;

enum nn_optimizer { NN_SGD, NN_ADAM, NN_ADAMW };
enum nn_schedule { NN_CONSTANT, NN_LINEAR, NN_COSINE };

#define NN_BETA1 0.9
#define NN_BETA2 0.999

struct nn_learning {
    enum nn_optimizer optimizer;
    enum nn_schedule schedule;
    double rate, momentum, weight_decay;
    double clip_norm; /* 0: off */
    int64_t warmup_steps, steps;
};

/* Tensors of state that the optimizer has for each weight, and their names: "m", "v". */
int nn_state_count(enum nn_optimizer optimizer);
const char *nn_state_name(enum nn_optimizer optimizer, int state);

/* The learning rate of a step, 1 to steps: rising in the warm-up, then as the schedule says. */
double nn_rate(const struct nn_learning *learning, int64_t step);

/* 1 - beta^step. */
double nn_correction(double beta, int64_t step);

/*
 * (weights..., states of the first weight, of the second, ..., images, labels, rate, correction1,
 * correction2) -> (weights..., states..., loss, norm of the gradient). The last two parameters are
 * there for adam and adamw only; loss and norm are f32[].
 */
enum cr_status nn_training(struct cr_call *call, const struct nn_recipe *recipe,
                           const struct nn_learning *learning,
                           const struct graph **ret_graph) CR_CHECK;

/*
 * trainer: weights and states on a device, and the programs for batches of two sizes.
 *
 * Every batch has `batch` examples but the last of an epoch, which may have fewer. All memory is
 * asked for when it is opened.
 */
struct nn_trainer;

struct nn_trainer_options {
    struct nn_recipe recipe;
    struct nn_learning learning;
    int64_t batch, last_batch;           /* of training; last_batch 0: as batch */
    int64_t test_batch, last_test_batch; /* of evaluation; 0: none */
    bool training;                       /* false: evaluation alone, and learning is not read */
    bool labels;                         /* evaluation has labels */
    uint64_t seed;
};

struct nn_step {
    double loss, rate, gradient_norm;
};

enum cr_status nn_trainer_open(struct cr_call *call, struct device *device,
                               const struct nn_trainer_options *options,
                               struct nn_trainer **ret_trainer) CR_CHECK;
void nn_trainer_close(struct nn_trainer *trainer); /* NULL: nothing happens */

/* Steps that were taken; a restored trainer goes on with the next. */
int64_t nn_trainer_steps(const struct nn_trainer *trainer);

/* One step on count examples: pictures [count][rows][columns], labels below classes. */
enum cr_status nn_trainer_step(struct cr_call *call, struct nn_trainer *trainer,
                               const float *images, const int32_t *labels, int64_t count,
                               struct nn_step *ret_step) CR_CHECK;

/* Logits [count][classes], and, where the trainer has labels, the loss of each example. */
enum cr_status nn_trainer_evaluate(struct cr_call *call, struct nn_trainer *trainer,
                                   const float *images, const int32_t *labels, int64_t count,
                                   float *ret_logits, float *ret_losses) CR_CHECK;

/*
 * What a trainer holds, by name: its weights, then (states true) "NAME.m", "NAME.v". The tensors
 * are those of the device, as they are now; they stay the trainer's.
 */
struct nn_named {
    const char *name;
    struct tensor tensor;
};
int nn_trainer_tensors(struct cr_call *call, const struct nn_trainer *trainer, bool states,
                       const struct nn_named **ret_tensors);

/*
 * Puts back what was saved: tensors by name, of the same types, in this process's memory, and the
 * number of steps taken.
 *
 * fails with   CR_INVALID    a tensor is missing or of another type; it is named
 */
enum cr_status nn_trainer_restore(struct cr_call *call, struct nn_trainer *trainer,
                                  const struct nn_named *tensors, int count, bool states,
                                  int64_t steps) CR_CHECK;

/* Memory that the programs take, in bytes, and kernels of one step. */
struct run_plan nn_trainer_plan(const struct nn_trainer *trainer);
