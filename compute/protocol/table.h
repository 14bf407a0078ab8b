/*
 * table: what the agent tells a runner of its descriptors, in the sealed file PROTOCOL_FD_TABLE.
 *
 * Ownership    values belong to the call that read them
 * Source       design: compute.md section 5
 */
#pragma once

#include "compute/protocol/frame.h"
#include "compute/protocol/protocol.h"

#define PROTOCOL_INPUT_PROGRAM "program" /* the artifact of a program, among the inputs */
#define PROTOCOL_INPUT_RESUME  "resume"  /* the checkpoint of an earlier attempt */

struct protocol_descriptor {
    const char *name;
    int64_t descriptor;
};
struct protocol_table {
    struct cr_list inputs;  /* struct protocol_descriptor, read-only */
    struct cr_list outputs; /* of the names that the kind writes */
    struct cr_list slots;   /* of checkpoints: PROTOCOL_CHECKPOINT_SLOTS, or none */
    int64_t resume_step;    /* of the input PROTOCOL_INPUT_RESUME */
    int64_t threads;        /* as many as leased cores, which they are bound to */
    int64_t memory_size;    /* bytes that the engine may take */
    int64_t checkpoint_s;   /* 0: none but at a stop */
};
extern const struct cr_shape protocol_table_shape;

/* What a RESULT says beside its word. */
struct protocol_made {
    const char *name;
    int64_t size; /* bytes that the runner has written */
};
struct protocol_ending {
    const char *detail;
    struct cr_labels metrics; /* name to decimal */
    struct cr_list outputs;   /* struct protocol_made */
    int64_t steps;
};
extern const struct cr_shape protocol_ending_shape;
