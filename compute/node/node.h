/*
 * node: the agent of a compute node, as one process. This header is what its files share.
 *
 * Threads   loop (main): owns the book of leases, the journal, runners and their frames; it never
 *           waits for the network. watch parks on the list of leases; renew sends renewals and
 *           nothing else; calls and transfers work off tasks
 * Tasks     a task belongs to whoever holds it: the loop makes it, a worker fills its answer, the
 *           loop takes it back by the mailbox `done` and frees it. Its texts live in its own call
 * Source    design: compute.md sections 1 to 7
 */
#pragma once

#include "base/core/log.h"
#include "base/core/mailbox.h"
#include "base/core/text.h"
#include "base/crypto/crypto.h"
#include "base/fetch/fetch.h"
#include "base/json/json.h"
#include "compute/cache/cache.h"
#include "compute/launch/launch.h"
#include "compute/lease/lease.h"

#include <pthread.h>
#include <stdatomic.h>

#define NODE_BUILD         "0.1.0"
#define NODE_CORES_MAX     256
#define NODE_MAILBOX       1024
#define NODE_CALLS         2 /* threads */
#define NODE_TRANSFERS     2
#define NODE_CALL_NS       INT64_C(15000000000) /* of one request */
#define NODE_RENEW_CALL_NS INT64_C(4000000000)
#define NODE_TRANSFER_NS   INT64_C(3600000000000)
#define NODE_WATCH_S       25
#define NODE_LOG_MAX       ((size_t)1 << 20) /* bytes of log that wait */
#define NODE_POINTS_MAX    65536             /* points that wait */
#define NODE_SERIES_MAX    PROTOCOL_METRIC_NAMES_MAX
#define NODE_PROGRESS_NS   INT64_C(2000000000)
#define NODE_READY_NS      INT64_C(30000000000)
#define NODE_STALL_NS      INT64_C(600000000000)
#define NODE_PING_NS       INT64_C(5000000000)
#define NODE_JOURNAL_MAX   (INT64_C(8) << 20)
#define NODE_TERM_GRACE_S  30
#define NODE_TRIES_MAX     3 /* of program and decline */

/* One file of JSON; flags override it. */
struct node_config {
    const char *name, *url, *state_dir, *token_file, *runner;
    int64_t cpu_slots, cache_mib;
    bool insecure_jail, exit_when_drained;
};
enum cr_status node_config_read(struct cr_call *call, int argc, char **argv,
                                struct node_config *ret_config) CR_CHECK;

enum task_kind {
    TASK_WATCH,
    TASK_PROGRAM,
    TASK_FETCH,
    TASK_START,
    TASK_PROGRESS,
    TASK_DECLINE,
    TASK_CHECKPOINT, /* hash, upload */
    TASK_UPLOAD,     /* hash and upload of all outputs */
    TASK_COMPLETE,
    TASK_RENEW,
};

/* A file that is to be uploaded. */
struct upload {
    const char *name, *kind;
    int descriptor;
    int64_t size;
    char digest[PROTOCOL_DIGEST_LENGTH + 1];
};

struct task {
    enum task_kind kind;
    struct cr_call call; /* memory of all below; its status and reason are the task's */
    const char *lease;
    const char *tenant;
    /* of a request: what is asked */
    const char *method, *path, *body;
    const struct cr_shape *gives; /* of a 2xx; NULL: nothing */
    /* what was answered */
    int http;         /* 0: no answer */
    const char *code; /* of a problem; "" */
    void *answer;
    int64_t sent_ns;
    /* of a transfer */
    const struct protocol_assignment *assignment;
    int *inputs; /* FETCH: descriptors, one an input, then the checkpoint's; its own until taken */
    size_t input_count;
    struct upload *uploads; /* their descriptors are the task's */
    size_t upload_count;
    int slot; /* CHECKPOINT */
    int64_t step, held_ns;
    struct cr_texts renewed; /* RENEW: the leases that it names */
    int tries;               /* before this one */
    int64_t again_ns;        /* in `later`: when it is given again, as it is */
    struct task *next;
};

/* A lease, beside the book: files, runner, what is to be told. */
struct holding {
    bool used;
    char lease[LEASE_ID_SIZE];
    struct cr_call call; /* memory until it is forgotten */
    struct protocol_assignment assignment;
    struct protocol_spec spec;
    int inputs[PROTOCOL_INPUTS_MAX + 1]; /* the last is the checkpoint's */
    struct upload outputs[PROTOCOL_OUTPUTS_MAX];
    size_t output_count;
    int slots[PROTOCOL_CHECKPOINT_SLOTS];
    struct launch *launch;
    struct launch_end end;
    bool ready, garbage, ended, has_ending, stalled;
    char fault[LAUNCH_DETAIL_SIZE]; /* why a frame was refused */
    char class[PROTOCOL_CLASS_MAX + 1];
    int word; /* of RESULT; -1 */
    struct protocol_ending ending;
    int64_t launch_ns, go_ns, step_ns, step_longest_ns, ping_ns, pong_ns;
    uint64_t step, steps, epoch;
    uint8_t phase;
    char series[NODE_SERIES_MAX][PROTOCOL_METRIC_NAME_MAX + 1];
    size_t series_count;
    unsigned char *points;
    size_t point_count;
    char *log;
    size_t log_size;
    int64_t log_dropped, log_marked, points_dropped;
    int64_t progress_seq, progress_ns;
    int checkpoints_asked; /* that are on their way */
    bool progress_asked, progress_now, changed, uploaded;
    bool has_checkpoint;
    struct protocol_checkpoint checkpoint;
    char checkpoint_digest[PROTOCOL_DIGEST_LENGTH + 1];
    int held_slot; /* of the checkpoint that is being told; -1: none */
};

/* A result of an older boot, offered until it is answered. */
struct old_result {
    char lease[LEASE_ID_SIZE];
    int64_t lease_epoch;
    bool answered;
};

struct journal {
    struct cr_file file;
    int64_t size;
};

struct agent {
    struct cr_env env;
    struct node_config config;
    struct base_crypto_signer *signer;
    const char *node, *credential; /* "Bearer …"; of `memory` */
    const char *vkey;
    char boot[37];
    int64_t node_epoch, renew_ns, stop_ns;
    char state[16];
    int program; /* the runner's binary */
    char program_sha256[PROTOCOL_DIGEST_LENGTH + 1];
    char class[PROTOCOL_CLASS_MAX + 1];
    unsigned layers;
    int cores[NODE_CORES_MAX]; /* of each slot */
    struct lease_device devices[NODE_CORES_MAX];
    size_t device_count;
    int64_t memory_mib, disk_mib;
    struct lease_book book;
    struct holding holdings[LEASE_LIVE_MAX]; /* by the entry of the book */
    struct old_result *olds;
    size_t old_count;
    struct journal journal;
    struct cache *cache;
    struct cr_mailbox *calls, *transfers, *renews, *done;
    struct task *later; /* what is asked again, as it was */
    int wake;           /* eventfd: something is in done */
    pthread_t threads[NODE_CALLS + NODE_TRANSFERS + 2];
    size_t thread_count;
    atomic_bool leaving;
    int64_t statement_seq, next_renew_ns, terminate_ns;
    bool renewing, terminated, stale;
    int exit_code;
    struct cr_call memory; /* what lives as long as the process */
};

/* identity.c: the key, the name and the number of this start. */
enum cr_status agent_identify(struct cr_call *call, struct agent *agent) CR_CHECK;
enum cr_status agent_remember(struct cr_call *call, struct agent *agent, const char *node,
                              const char *key) CR_CHECK;

/* ask.c: requests. Canonical JSON of a struct, a signed message, one request and its answer. */
struct cr_bytes agent_canonical(struct cr_call *call, const struct cr_shape *shape,
                                const void *value);
const char *agent_sign(struct cr_call *call, const struct agent *agent, const char *type,
                       struct cr_bytes payload);
enum cr_status agent_ask(struct cr_call *call, const struct agent *agent, struct fetch *fetch,
                         const struct fetch_header *more, struct task *task) CR_CHECK;

/* machine.c: what this machine offers. */
enum cr_status agent_discover(struct cr_call *call, struct agent *agent) CR_CHECK;

/* join.c */
enum cr_status agent_join(struct cr_call *call, struct agent *agent,
                          const struct lease_past *past) CR_CHECK;

/* journal.c */
enum cr_status journal_read(struct cr_call *call, const struct agent *agent,
                            struct lease_past *ret_past) CR_CHECK;
enum cr_status journal_begin(struct cr_call *call, struct agent *agent,
                             const struct lease_past *past) CR_CHECK;
enum cr_status journal_write(struct cr_call *call, struct agent *agent,
                             const struct protocol_record *record) CR_CHECK;

/* tasks.c: threads and what they are given. */
enum cr_status tasks_start(struct cr_call *call, struct agent *agent) CR_CHECK;
void tasks_stop(struct agent *agent);
struct task *task_make(struct agent *agent, enum task_kind kind, const char *lease);
void task_give(struct agent *agent, struct task *task); /* to the thread of its kind */
void task_free(struct task *task);

/* holding.c: files and buffers of a lease. */
enum cr_status holding_open(struct cr_call *call, struct agent *agent, int entry,
                            const struct protocol_assignment *assignment) CR_CHECK;
void holding_close(struct holding *holding);
void holding_log(struct holding *holding, const char *text, size_t size);
void holding_point(struct holding *holding, const struct protocol_frame *frame, int64_t now_ns);

/* runner.c: starting a runner and hearing it. */
enum cr_status runner_launch(struct cr_call *call, struct agent *agent, int entry) CR_CHECK;
void runner_hear(struct agent *agent, int entry);
void runner_watch(struct agent *agent, int entry, int64_t now_ns);
enum protocol_word runner_word(const struct agent *agent, int entry);
const char *runner_detail(const struct holding *holding, enum protocol_word word);

/* tell.c: what is told of a lease: start, progress, its end. */
void tell_program(struct agent *agent, int entry);
void tell_start(struct agent *agent, int entry);
void tell_decline(struct agent *agent, const struct lease_command *command);
void tell_progress(struct agent *agent, int entry, int64_t now_ns);
void tell_upload(struct agent *agent, int entry);
enum cr_status tell_result(struct cr_call *call, struct agent *agent, int entry,
                           const char **ret_request) CR_CHECK;
void tell_complete(struct agent *agent, const char *lease, struct cr_bytes request);

/* renewal.c: what is measured of all leases, signed. */
void tell_renewal(struct agent *agent, int64_t now_ns);
const char *renewal_of_end(struct cr_call *call, struct agent *agent, int entry,
                           const char *message);

/* loop.c */
void loop_apply(struct agent *agent, const struct lease_event *event);
void loop_run(struct agent *agent);

/* answers.c: what a task came back with. */
void answer_task(struct agent *agent, struct task *task);
void answer_later(struct agent *agent, int64_t now_ns); /* gives again what is due */
int64_t answer_next_ns(const struct agent *agent);
