/*
 * run: a graph, made ready for a device, and run.
 *
 * Compiling replaces operations that the device has no kernel for by their meaning, turns views
 * into strides, runs what is constant once, and lays out all memory: every value has its place in
 * one arena, places are shared by values that do not live at the same time, and the size of it all
 * is known, and compared with the limit, before anything runs. So a run allocates nothing.
 *
 * Units     bytes
 * Memory    a program owns its arena on the device until it is closed; inputs and outputs are the
 *           caller's, contiguous, and do not overlap one another
 * Threads   a program belongs to one thread at a time; the device may have many programs
 */
#pragma once

#include "kernels/device/device.h"
#include "kernels/graph/graph.h"

#define RUN_STEPS_MAX    16384
#define RUN_CONSTANT_MAX (1 << 20) /* bytes of a value that is computed once */

struct run_program;

struct run_plan {
    int64_t memory;    /* arena and scratch: what the program takes beside inputs and outputs */
    int64_t constants; /* of it, what is kept between runs */
    int32_t steps;     /* kernels of one run */
    int32_t views;     /* operations that have become strides */
};

/*
 * Makes a graph without named extents ready. memory_max limits the plan; 0: the device alone does.
 *
 * fails with   CR_NOT_FOUND    an operation has neither kernel nor meaning on this device
 *              CR_EXHAUSTED    the plan does not fit
 *              CR_INVALID      an extent is still a name
 */
enum cr_status run_compile(struct cr_call *call, struct device *device, const struct graph *graph,
                           int64_t memory_max, struct run_program **ret_program) CR_CHECK;

/*
 * Runs it: inputs by the graph's parameters, outputs by its results.
 *
 * fails with   CR_INVALID    an input or output is of another type, or not contiguous
 *              CR_TIMEOUT    the call's deadline has passed, seen between two kernels
 *              and what kernels fail with; outputs are then of no use
 */
enum cr_status run_once(struct cr_call *call, struct run_program *program,
                        const struct tensor *inputs, struct tensor *outputs) CR_CHECK;

struct run_plan run_plan(const struct run_program *program);

/* The graph that is run, views and all: for people. Of the program's memory. */
const struct graph *run_graph(const struct run_program *program);

void run_close(struct run_program *program); /* NULL: nothing happens */
