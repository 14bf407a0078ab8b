/*
 * launch: the agent's side of a runner.
 *
 *     agent ──control── runner      frames, both ways
 *       └────warden──────┘          the runner's parent: 100 lines that read no tenant's byte
 *
 * The warden holds the dead-man's timer: it kills the runner at the moment that the last
 * launch_keep named, on CLOCK_BOOTTIME, whatever the agent does; also when the agent is gone, and
 * when the runner holds more memory than it may. A warden that dies takes the runner with it.
 *
 * Units        _ns CLOCK_BOOTTIME; sizes in bytes
 * Ownership    descriptors of the config stay the caller's; they may be closed after launch_open
 * Threads      a launch belongs to the thread that opened it: the runner dies with that thread
 * Source       design: compute.md section 5
 */
#pragma once

#include "base/jail/jail.h"
#include "compute/protocol/table.h"

#define LAUNCH_DETAIL_SIZE 256
#define LAUNCH_WATCH_NS    INT64_C(100000000)   /* between two looks of the warden */
#define LAUNCH_OVERHEAD    (INT64_C(256) << 20) /* of memory, for ourselves */

struct launch_file {
    const char *name;
    int descriptor;
};

struct launch_config {
    int program;      /* the runner's binary, opened and checked by the caller */
    const char *task; /* argv[1]: "run", "discover", "probe" */
    struct cr_bytes spec;
    const struct launch_file *inputs, *outputs;
    size_t input_count, output_count;
    const int *slots; /* PROTOCOL_CHECKPOINT_SLOTS descriptors; NULL: none */
    int64_t resume_step, checkpoint_s;
    const int *cores; /* that it is bound to; NULL: all */
    size_t core_count;
    int64_t memory_size; /* of the job; LAUNCH_OVERHEAD is added */
    int64_t file_size;   /* of each file it writes */
    int64_t until_ns;    /* the first deadline of the warden */
    bool insecure;       /* start it also where a layer of JAIL_WANTED is missing */
};

struct launch;

/* Forks warden and runner. fails with CR_UNAVAILABLE: no process, no jail. */
enum cr_status launch_open(struct cr_call *call, const struct launch_config *config,
                           struct launch **ret_launch) CR_CHECK;

/* Kills what still lives, waits for it, and frees. NULL is allowed. */
void launch_close(struct launch **launch);

/* To be polled for POLLIN: frames of the runner, and the warden's reports. */
int launch_control(const struct launch *launch);
int launch_warden(const struct launch *launch);

enum launch_heard { LAUNCH_NOTHING, LAUNCH_FRAME, LAUNCH_GARBAGE, LAUNCH_CLOSED };

/*
 * The next frame, without waiting. GARBAGE: ret_fault, static, says what is wrong; the runner is to
 * be killed. ret_frame's text lives until the next call.
 */
enum launch_heard launch_hear(struct launch *launch, struct protocol_frame *ret_frame,
                              const char **ret_fault);

/* Tells the runner; false: its queue is full or it is gone. */
bool launch_tell(struct launch *launch, const struct protocol_frame *frame);

/* Moves the warden's deadline. */
void launch_keep(struct launch *launch, int64_t until_ns);

/* Has the warden kill the runner now; its end is reported as ever. */
void launch_kill(struct launch *launch);

enum launch_reason {
    LAUNCH_BY_ITSELF, /* it exited, or a signal that is not ours took it */
    LAUNCH_KILLED,    /* by launch_kill, or since the agent was gone */
    LAUNCH_DEADMAN,   /* the warden's deadline passed */
    LAUNCH_MEMORY,    /* it held more than memory_size and LAUNCH_OVERHEAD */
};

struct launch_end {
    enum launch_reason reason;
    bool exited; /* code is its exit status; else signal is what took it */
    int code, signal;
    int64_t memory_peak;             /* bytes */
    char detail[LAUNCH_DETAIL_SIZE]; /* the first line that it wrote on standard error, or "" */
};

/* Hears the warden, without waiting; true: the runner is dead and reaped, ret_end is written. */
bool launch_ended(struct launch *launch, struct launch_end *ret_end);

/* The layers of the jail that held when the program was started; 0: not yet known. */
unsigned launch_layers(const struct launch *launch);

/* What the agent knows when a runner has ended. */
struct launch_evidence {
    const struct launch_end *end;
    bool ready;       /* READY was heard */
    bool garbage;     /* a frame was refused */
    bool device;      /* a device failed */
    int own;          /* why the agent killed it: a word; -1: it did not */
    int word;         /* of RESULT; -1: none came */
    bool outputs_fit; /* they are as long as RESULT says */
};

/* The one word of an end, by the order of the design. Pure. */
enum protocol_word launch_word(const struct launch_evidence *evidence);
