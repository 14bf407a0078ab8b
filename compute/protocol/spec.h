/*
 * spec: what a tenant asks for, the body of POST /v1/jobs, and its bounds.
 *
 * The control plane checks a spec when it is submitted; the runner reads the stored bytes and
 * checks them again, by the same tables. A program is typed: a recipe and its parameters, or a
 * model artifact; never a binary.
 *
 * Units     _s seconds, _mib 2^20 bytes, cpu_milli thousandths of a core
 * Absent    as in base/core/shape.h: CR_NO_INTEGER, NULL, NAN
 * Threads   pure; specs are values of the call that read them
 * Source    design: compute.md section 8, admission.md section 2
 */
#pragma once

#include "base/core/shape.h"

#define PROTOCOL_SPEC_SIZE_MAX  (INT64_C(1) << 20) /* bytes of a stored spec */
#define PROTOCOL_INPUTS_MAX     64
#define PROTOCOL_WIDTHS_MAX     8
#define PROTOCOL_WIDTH_MAX      8192
#define PROTOCOL_CHANNELS_MAX   6
#define PROTOCOL_CHANNEL_MAX    512
#define PROTOCOL_POOL_MAX       4
#define PROTOCOL_CLASSES_MIN    2
#define PROTOCOL_CLASSES_MAX    1000
#define PROTOCOL_WEIGHTS_MAX    (INT64_C(1) << 31) /* parameters of a model */
#define PROTOCOL_EPOCHS_MAX     1000
#define PROTOCOL_BATCH_MAX      8192
#define PROTOCOL_WARMUP_MAX     100000
#define PROTOCOL_RUNTIME_S_MIN  60
#define PROTOCOL_RUNTIME_S_MAX  2592000
#define PROTOCOL_RUNTIME_S      86400 /* where the spec says none */
#define PROTOCOL_STOP_GRACE_S   10
#define PROTOCOL_MEMORY_MIB     1024
#define PROTOCOL_MEMORY_MIB_MAX (INT64_C(1) << 24)
#define PROTOCOL_CPU_MILLI_MAX  512000

/* What a recipe reads. mlp: widths (the last is the number of classes), activation; cnn: the rest.
 */
struct protocol_parameters {
    struct cr_integers widths;
    const char *activation; /* relu, gelu, tanh */
    struct cr_integers channels;
    int64_t kernel;  /* 3, 5 or 7 */
    int64_t pool;    /* 1..4 */
    int64_t classes; /* 2..1,000 */
};

/* Either a recipe with its parameters, or the artifact of a model. */
struct protocol_program {
    const char *recipe; /* mlp, cnn */
    const struct protocol_parameters *parameters;
    const char *artifact; /* art_… or sha256:… */
};

struct protocol_normalise {
    double mean;
    double deviation; /* > 1e-6 */
};

/* Absent members have the defaults of protocol_spec_defaults. A batch job reads batch alone. */
struct protocol_hyperparameters {
    int64_t epochs;
    int64_t batch;
    const char *optimizer; /* sgd, adam, adamw */
    double rate;
    double momentum; /* of sgd alone */
    double weight_decay;
    const char *schedule; /* constant, linear, cosine */
    int64_t warmup_steps;
    double clip_norm;                           /* 0: off */
    const struct protocol_normalise *normalise; /* absent: as the training images are */
    int64_t seed;
    const char *precision; /* f32 */
};

struct protocol_resources {
    int64_t members; /* 1 */
    int64_t gpus;    /* 0: the job takes ceil(cpu_milli / 1000) CPU slots */
    int64_t gpu_memory_mib;
    struct cr_texts models; /* absent: any */
    int64_t cpu_milli;
    int64_t memory_mib;
};

struct protocol_retry {
    int64_t max;
    struct cr_texts on; /* crash, device_memory, nonfinite */
};

/* The body of POST /v1/jobs. `class` is a word of the region: critical, high, normal, low, spot. */
struct protocol_spec {
    const char *name;
    struct cr_labels labels;
    const char *kind; /* train, batch */
    const struct protocol_program *program;
    struct cr_labels inputs; /* role → art_… or sha256:… */
    const struct protocol_hyperparameters *hyperparameters;
    const struct protocol_resources *resources;
    const char *queue;
    const char *class;
    int64_t max_runtime_s;
    int64_t stop_grace_s;
    int64_t checkpoint_s;
    int64_t not_before; /* microseconds of UTC */
    int64_t queue_ttl_s;
    const struct protocol_retry *retry;
};

extern const struct cr_shape protocol_parameters_shape;
extern const struct cr_shape protocol_program_shape;
extern const struct cr_shape protocol_hyperparameters_shape;
extern const struct cr_shape protocol_resources_shape;
extern const struct cr_shape protocol_retry_shape;
extern const struct cr_shape protocol_spec_shape; /* "JobSpec" */

/* The words of the members above; NULL ends each. */
extern const char *const protocol_kinds[];
extern const char *const protocol_recipes[];
extern const char *const protocol_retry_words[];

/*
 * Whether the spec means something: the bounds of its shape, then program, inputs and
 * hyperparameters against what its kind reads. Every fault is noted under its pointer.
 *
 * fails with   CR_INVALID  invalid_body: a bound, an unknown role, a member that the kind does not
 *                          read; program_rejected (HTTP 422): the recipe itself cannot be built
 */
enum cr_status protocol_spec_check(struct cr_call *call, const struct protocol_spec *spec) CR_CHECK;

/*
 * Whether the recipe of a checked train spec can be built for pictures of rows × columns: its
 * kernels and pools fit the picture, and its parameters are at most PROTOCOL_WEIGHTS_MAX.
 *
 * fails with   CR_INVALID  program_rejected
 */
enum cr_status protocol_recipe_check(struct cr_call *call, const struct protocol_spec *spec,
                                     int64_t rows, int64_t columns) CR_CHECK;

/* The hyperparameters of a checked spec, with a default for each absent member but normalise. */
struct protocol_hyperparameters protocol_spec_defaults(const struct protocol_spec *spec);

/* What the spec asks for, or its default: CPU slots (of jobs without GPUs), memory, limits. */
int64_t protocol_spec_slots(const struct protocol_spec *spec);
int64_t protocol_spec_memory_mib(const struct protocol_spec *spec);
int64_t protocol_spec_runtime_s(const struct protocol_spec *spec);
int64_t protocol_spec_grace_s(const struct protocol_spec *spec);

extern const struct cr_code protocol_program_rejected;

/* For the list of all codes; NULL ends it. */
extern const struct cr_code *const protocol_codes[];
