/*
 * runner: the jailed process of one lease. This header is what its files share.
 *
 *     load    read spec and table, map the inputs, open the engine with its threads, seal, READY
 *     work    after GO: the kind, step by step; then RESULT, and exit 0
 *
 * Threads   main works; control answers PING and takes GO, STOP and SLOT; the engine has its own
 * Source    design: compute.md section 5
 */
#pragma once

#include "base/jail/jail.h"
#include "compute/protocol/kind.h"
#include "compute/protocol/table.h"

struct runner_stop {
    bool asked;
    int64_t until_ns; /* when its grace ends */
    const char *cause;
};

/* control.c: the socket to the agent. Every function ends the process where the agent is gone. */
void control_start(const struct cr_env *env); /* before the seal: it makes a thread */
void control_send(const struct protocol_frame *frame);
void control_wait_go(void);
struct runner_stop control_stop(void);
bool control_take_slot(int *ret_slot); /* one that is free, and is ours from now on */

/* load.c: what stands in the descriptors. */
struct runner_load {
    struct protocol_spec spec;
    struct protocol_table table;
    struct protocol_mapped inputs[PROTOCOL_INPUTS_MAX];
    size_t input_count;
    struct protocol_mapped model, resume; /* of no size: there is none */
    struct protocol_file outputs[PROTOCOL_OUTPUTS_MAX];
    size_t output_count;
    int slots[PROTOCOL_CHECKPOINT_SLOTS];
    size_t slot_count;
};
enum cr_status load_read(struct cr_call *call, struct runner_load *ret_load) CR_CHECK;

/* work.c: the kind of the spec, from open to its RESULT. */
void work_run(struct cr_call *call, const struct runner_load *load, struct cresset *engine);
