/* run, inside: a program and its plan. */
#pragma once

#include "kernels/run/run.h"

enum run_home { RUN_ARENA, RUN_INPUT, RUN_OUTPUT };

/* Memory of one or more values. In the arena, steps first to last need it. */
struct run_buffer {
    enum run_home home;
    int32_t index; /* of the input or output */
    int32_t first, last;
    int64_t size, offset;
    struct storage storage;
};

struct run_step {
    const struct device_kernel *kernel;
    struct op_site site;
    const struct tensor **inputs; /* NULL: left out */
    struct tensor **outputs;
    bool constant; /* ran when the program was made */
};

struct run_program {
    struct cr_call memory; /* of everything here */
    struct cr_env env;
    struct device *device;
    const struct graph *graph;
    struct tensor *values;     /* where each value of the graph is */
    struct run_buffer **homes; /* by value */
    struct run_buffer **buffers;
    int32_t buffer_count, buffer_room;
    struct run_step *steps;
    int32_t step_count, step_room;
    struct run_buffer **inputs, **outputs;
    void *arena;
    int64_t arena_size, scratch_size, constants;
    int32_t views;
};

/* The graph with what the device has no kernel for replaced by its meaning (lower.c). */
enum cr_status run_lower(struct cr_call *call, const struct device *device,
                         const struct graph *graph, const struct graph **ret_graph) CR_CHECK;

/* Fills steps, buffers and values (plan.c). */
enum cr_status run_schedule(struct cr_call *call, struct run_program *program) CR_CHECK;

/* Gives every buffer of the arena its offset (place.c), and sets arena_size. */
void run_place(struct run_program *program);
