/*
 * kind: how the runner drives a kind of job: compute/train and compute/batch each export one.
 *
 *     load phase   the runner maps the inputs, opens the engine with its threads, and seals itself:
 *                  from here on there is no open, no socket and no new thread
 *     work phase   open, then step until it says done or a stop is asked for, with a checkpoint
 *                  between two steps where one is due; finish; close
 *
 * The runner alone speaks to the agent. A kind tells by `host` how it goes, and writes its outputs
 * to the descriptors it is given, from offset 0, by pwrite or ftruncate.
 *
 * A kind that cannot go on fails. What the agent is told is the word of the code it fails with, one
 * of those below, protocol_program_rejected of spec.h, or, for CR_EXHAUSTED, device_memory; any
 * other failure is a crash of ours. EFBIG of a write is output_limit.
 *
 * Ownership    everything in the task lives until close; a step has a call of its own, and what it
 *              allocates there is gone after it
 * Threads      all functions of a kind are called by one thread
 * Source       design: compute.md sections 1, 5 and 8
 */
#pragma once

#include "compute/protocol/protocol.h"

struct cresset; /* an engine of kernels/cresset, opened by the runner */

/* Bytes that are mapped read-only and do not change. */
struct protocol_mapped {
    const char *name; /* of an input: its role */
    const unsigned char *data;
    size_t size;
};

/* A file that the kind may write. */
struct protocol_file {
    const char *name; /* of an output: "model", "predictions" */
    int descriptor;
};

/* What a kind tells. Every function returns at once. */
struct protocol_host {
    void (*phase)(void *context, const char *phase); /* a word of protocol_phases */
    void (*step)(void *context, int64_t step, int64_t steps, int64_t epoch); /* of the whole job */
    void (*metric)(void *context, int64_t step, const char *name, double value); /* one point */
    void (*log)(void *context, int level, const char *text); /* 0 debug .. 3 error */
    void *context;
};

struct protocol_task {
    const struct protocol_spec *spec; /* checked by protocol_spec_check */
    struct cresset *engine;
    const struct protocol_mapped *inputs; /* by the roles of the spec */
    size_t input_count;
    const struct protocol_mapped *model;  /* batch: the artifact of the program; else NULL */
    const struct protocol_mapped *resume; /* a checkpoint of an earlier attempt; NULL: none */
    int64_t resume_step;
    const struct protocol_file *outputs;
    size_t output_count;
    const struct protocol_host *host;
};

/* What a job ends with. */
struct protocol_result {
    struct cr_labels metrics; /* sorted by name; each value by json_add_number, finite */
    int64_t steps;            /* done in all, with those of earlier attempts */
};

struct protocol_kind {
    const char *name; /* "train": a word of protocol_kinds */
    /* The outputs that the kind writes, and the artifact kind of each ("model"); NULL ends both. */
    const char *const *outputs;
    const char *const *output_kinds;

    /* Reads inputs and resume, and builds what is to be run. call lives until close. */
    enum cr_status (*open)(struct cr_call *call, const struct protocol_task *task,
                           void **ret_state);
    /* One step: a batch of training, a part of an evaluation. Tells host->step and host->metric. */
    enum cr_status (*step)(struct cr_call *call, void *state, bool *ret_done);
    /* Writes all that a later attempt needs to the empty file; NULL: the kind has none. */
    enum cr_status (*checkpoint)(struct cr_call *call, void *state, int descriptor,
                                 int64_t *ret_step);
    /* Writes the outputs. Also after a stop, with what there is: `stopped` says so. */
    enum cr_status (*finish)(struct cr_call *call, void *state, bool stopped,
                             struct protocol_result *ret_result);
    void (*close)(void *state);
};

/* The words that a kind may fail with, as codes. */
extern const struct cr_code protocol_input_rejected; /* a dataset or checkpoint is malformed */
extern const struct cr_code protocol_nonfinite;      /* the loss is not finite, 3 steps in a row */
extern const struct cr_code protocol_output_limit;   /* EFBIG */
