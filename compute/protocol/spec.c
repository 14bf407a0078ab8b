/* spec: what a job's spec may say, and what its kind reads of it. */
#include "compute/protocol/spec.h"

#include "base/core/id.h"
#include "compute/protocol/protocol.h"

#include <math.h>

const char *const protocol_kinds[] = {"train", "batch", NULL};
const char *const protocol_recipes[] = {"mlp", "cnn", NULL};
const char *const protocol_retry_words[] = {"crash", "device_memory", "nonfinite", NULL};
static const char *const activations[] = {"relu", "gelu", "tanh", NULL};
static const char *const optimizers[] = {"sgd", "adam", "adamw", NULL};
static const char *const schedules[] = {"constant", "linear", "cosine", NULL};
static const char *const precisions[] = {"f32", NULL};

#define REFERENCE_MIN 30 /* an artifact's id */
#define REFERENCE_MAX 71 /* "sha256:" and a digest */

/* clang-format off */
static const struct cr_member parameters[] = {
    CR_INTEGERS(struct protocol_parameters, widths, 1, PROTOCOL_WIDTHS_MAX, 1, PROTOCOL_WIDTH_MAX,
                .flags = CR_OPTIONAL, .about = "mlp: units of each layer; the last are the classes"),
    CR_WORD(struct protocol_parameters, activation, activations, .flags = CR_OPTIONAL),
    CR_INTEGERS(struct protocol_parameters, channels, 1, PROTOCOL_CHANNELS_MAX, 1,
                PROTOCOL_CHANNEL_MAX, .flags = CR_OPTIONAL,
                .about = "cnn: channels of each convolution"),
    CR_MEMBER(struct protocol_parameters, kernel, 3, 7, .flags = CR_OPTIONAL,
              .about = "cnn: 3, 5 or 7"),
    CR_MEMBER(struct protocol_parameters, pool, 1, PROTOCOL_POOL_MAX, .flags = CR_OPTIONAL),
    CR_MEMBER(struct protocol_parameters, classes, PROTOCOL_CLASSES_MIN, PROTOCOL_CLASSES_MAX,
              .flags = CR_OPTIONAL),
};
static const struct cr_member program[] = {
    CR_WORD(struct protocol_program, recipe, protocol_recipes, .flags = CR_OPTIONAL),
    CR_OBJECT(struct protocol_program, parameters, &protocol_parameters_shape,
              .flags = CR_OPTIONAL),
    CR_MEMBER(struct protocol_program, artifact, REFERENCE_MIN, REFERENCE_MAX,
              .flags = CR_OPTIONAL, .about = "batch: a model that a train job made"),
};
static const struct cr_member normalise[] = {
    CR_MEMBER(struct protocol_normalise, mean, -1e6, 1e6),
    CR_MEMBER(struct protocol_normalise, deviation, 0, 1e6),
};
static const struct cr_shape normalise_shape = CR_SHAPE(struct protocol_normalise, normalise);
static const struct cr_member hyperparameters[] = {
    CR_MEMBER(struct protocol_hyperparameters, epochs, 1, PROTOCOL_EPOCHS_MAX,
              .flags = CR_OPTIONAL, .about = "Default 5"),
    CR_MEMBER(struct protocol_hyperparameters, batch, 1, PROTOCOL_BATCH_MAX, .flags = CR_OPTIONAL,
              .about = "Examples of a step; default 64, of a batch job 256"),
    CR_WORD(struct protocol_hyperparameters, optimizer, optimizers, .flags = CR_OPTIONAL,
            .about = "Default adamw"),
    CR_MEMBER(struct protocol_hyperparameters, rate, 1e-7, 10, .flags = CR_OPTIONAL,
              .about = "Default 0.001"),
    CR_MEMBER(struct protocol_hyperparameters, momentum, 0, 0.999, .flags = CR_OPTIONAL,
              .about = "Of sgd alone; default 0.9"),
    CR_MEMBER(struct protocol_hyperparameters, weight_decay, 0, 1, .flags = CR_OPTIONAL,
              .about = "Default 0"),
    CR_WORD(struct protocol_hyperparameters, schedule, schedules, .flags = CR_OPTIONAL,
            .about = "Of the rate; default cosine"),
    CR_MEMBER(struct protocol_hyperparameters, warmup_steps, 0, PROTOCOL_WARMUP_MAX,
              .flags = CR_OPTIONAL),
    CR_MEMBER(struct protocol_hyperparameters, clip_norm, 0, 1000, .flags = CR_OPTIONAL,
              .about = "Largest norm of the gradient; 0: any"),
    CR_OBJECT(struct protocol_hyperparameters, normalise, &normalise_shape, .flags = CR_OPTIONAL,
              .about = "Absent: mean and deviation of the training images"),
    CR_MEMBER(struct protocol_hyperparameters, seed, 0, CR_SAFE_INTEGER, .flags = CR_OPTIONAL,
              .about = "Default 1"),
    CR_WORD(struct protocol_hyperparameters, precision, precisions, .flags = CR_OPTIONAL),
};
static const struct cr_member resources[] = {
    CR_MEMBER(struct protocol_resources, members, 1, 1, .flags = CR_OPTIONAL),
    CR_MEMBER(struct protocol_resources, gpus, 0, 16, .flags = CR_OPTIONAL,
              .about = "0, the default: the job takes CPU slots"),
    CR_MEMBER(struct protocol_resources, gpu_memory_mib, 0, PROTOCOL_MEMORY_MIB_MAX,
              .flags = CR_OPTIONAL),
    CR_TEXTS(struct protocol_resources, models, 1, 16, .flags = CR_OPTIONAL,
             .about = "Models of device that will do; absent: any"),
    CR_MEMBER(struct protocol_resources, cpu_milli, 1, PROTOCOL_CPU_MILLI_MAX,
              .flags = CR_OPTIONAL, .about = "Default 1000: one core"),
    CR_MEMBER(struct protocol_resources, memory_mib, 64, PROTOCOL_MEMORY_MIB_MAX,
              .flags = CR_OPTIONAL, .about = "Default 1024"),
};
static const struct cr_member retry[] = {
    CR_MEMBER(struct protocol_retry, max, 0, 5),
    CR_TEXTS(struct protocol_retry, on, 0, 3, .flags = CR_OPTIONAL),
};
static const struct cr_member spec[] = {
    CR_MEMBER(struct protocol_spec, name, 1, 64, .flags = CR_PRINTABLE),
    CR_LABELS(struct protocol_spec, labels, 32, .flags = CR_OPTIONAL),
    CR_WORD(struct protocol_spec, kind, protocol_kinds),
    CR_OBJECT(struct protocol_spec, program, &protocol_program_shape),
    CR_LABELS(struct protocol_spec, inputs, PROTOCOL_INPUTS_MAX,
              .about = "Role of the kind to artifact: an id, or sha256: and its digest"),
    CR_OBJECT(struct protocol_spec, hyperparameters, &protocol_hyperparameters_shape,
              .flags = CR_OPTIONAL),
    CR_OBJECT(struct protocol_spec, resources, &protocol_resources_shape, .flags = CR_OPTIONAL),
    CR_MEMBER(struct protocol_spec, queue, 1, 64, .flags = CR_OPTIONAL),
    CR_MEMBER(struct protocol_spec, class, 1, 32, .flags = CR_OPTIONAL),
    CR_MEMBER(struct protocol_spec, max_runtime_s, PROTOCOL_RUNTIME_S_MIN, PROTOCOL_RUNTIME_S_MAX,
              .flags = CR_OPTIONAL, .about = "Runs longer: stopped, DEADLINE; default 86400"),
    CR_MEMBER(struct protocol_spec, stop_grace_s, 0, 600, .flags = CR_OPTIONAL,
              .about = "Notice before a stop; default 10"),
    CR_MEMBER(struct protocol_spec, checkpoint_s, 0, PROTOCOL_RUNTIME_S_MAX,
              .flags = CR_OPTIONAL, .about = "Seconds between checkpoints; 0: none but at a stop"),
    CR_TIME(struct protocol_spec, not_before, .flags = CR_OPTIONAL),
    CR_MEMBER(struct protocol_spec, queue_ttl_s, 1, PROTOCOL_RUNTIME_S_MAX,
              .flags = CR_OPTIONAL),
    CR_OBJECT(struct protocol_spec, retry, &protocol_retry_shape, .flags = CR_OPTIONAL),
};
/* clang-format on */

const struct cr_shape protocol_parameters_shape =
    CR_SHAPE(struct protocol_parameters, parameters, .name = "Parameters");
const struct cr_shape protocol_program_shape =
    CR_SHAPE(struct protocol_program, program, .name = "Program");
const struct cr_shape protocol_hyperparameters_shape =
    CR_SHAPE(struct protocol_hyperparameters, hyperparameters, .name = "Hyperparameters");
const struct cr_shape protocol_resources_shape =
    CR_SHAPE(struct protocol_resources, resources, .name = "Resources");
const struct cr_shape protocol_retry_shape =
    CR_SHAPE(struct protocol_retry, retry, .name = "Retry");
const struct cr_shape protocol_spec_shape = CR_SHAPE(struct protocol_spec, spec, .name = "JobSpec");
