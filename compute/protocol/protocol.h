/*
 * protocol: what a node and its region say to each other: the bodies of /v1/node/….
 *
 * Both sides read and write the structs below by the same shapes. Bodies that a node signs (join,
 * start, progress, decline, complete, account) travel as the payload of a DSSE envelope over
 * canonical JSON and hold no JSON number: each of their integers has the maximum INT64_MAX, hence
 * travels as a decimal text (base/core/shape.h), and is bounded by protocol_*_check. Answers are
 * plain JSON.
 *
 * Beside this header: spec.h (what a job asks), frame.h (what a runner and its agent say),
 * journal.h (what the agent writes down before it tells).
 *
 * Units     _ns CLOCK_BOOTTIME of the node; _mib 2^20 bytes; digests are 64 lower hex digits
 * Threads   pure; values belong to the call that read them
 * Source    design: compute.md section 3
 */
#pragma once

#include "base/core/shape.h"
#include "compute/protocol/spec.h"

#define PROTOCOL_NUMBER          1
#define PROTOCOL_DIGEST_LENGTH   64
#define PROTOCOL_DEVICES_MAX     512
#define PROTOCOL_LEASES_MAX      512
#define PROTOCOL_RENEW_LEASES    120 /* of one renewal: 121 leaves pad to 128 */
#define PROTOCOL_RENEW_PATH_MAX  7
#define PROTOCOL_OUTPUTS_MAX     16
#define PROTOCOL_METRICS_MAX     64
#define PROTOCOL_SERIES_NAME_MAX 64
#define PROTOCOL_DETAIL_MAX      1024
#define PROTOCOL_ANSWER_SIZE_MAX (INT64_C(1) << 20)

/* Bytes of a request, its envelope included. */
#define PROTOCOL_JOIN_SIZE_MAX     (INT64_C(64) << 10)
#define PROTOCOL_START_SIZE_MAX    (INT64_C(4) << 10)
#define PROTOCOL_RENEW_SIZE_MAX    (INT64_C(256) << 10)
#define PROTOCOL_PROGRESS_SIZE_MAX (INT64_C(256) << 10)
#define PROTOCOL_DECLINE_SIZE_MAX  (INT64_C(4) << 10)
#define PROTOCOL_COMPLETE_SIZE_MAX (INT64_C(512) << 10)
#define PROTOCOL_CHUNK_SIZE_MAX    (INT64_C(90) << 10) /* of log or points in one progress */

/* reliability.md: the constants of a lease. */
#define PROTOCOL_LEASE_TTL_NS INT64_C(15000000000)
#define PROTOCOL_RENEW_NS     INT64_C(5000000000)
#define PROTOCOL_NODE_STOP_NS INT64_C(10000000000)
#define PROTOCOL_OUTPUT_MAX   (INT64_C(1) << 30) /* bytes of a job's outputs, each */

/* What a node signs: the type of its envelope. */
#define PROTOCOL_TYPE(what)     "application/vnd.cresset.node-" what ".v1+json"
#define PROTOCOL_TYPE_JOIN      PROTOCOL_TYPE("join")
#define PROTOCOL_TYPE_START     PROTOCOL_TYPE("start")
#define PROTOCOL_TYPE_PROGRESS  PROTOCOL_TYPE("progress")
#define PROTOCOL_TYPE_DECLINE   PROTOCOL_TYPE("decline")
#define PROTOCOL_TYPE_COMPLETE  PROTOCOL_TYPE("complete")
#define PROTOCOL_TYPE_STATEMENT PROTOCOL_TYPE("statement") /* of billing: ledger.md section 3 */
#define PROTOCOL_ACCOUNT_TYPE   "cresset.device-account/v1"

/*
 * The ways a lease ends: word of the node, code of the job, outcome of the ledger. An empty code:
 * the job is queued again, until its losses are too many; of `stopped` the cause decides both.
 */
/* clang-format off */
#define PROTOCOL_WORDS(row)                                         \
    row(finished,         "OK",            "completed")             \
    row(program_rejected, "PROGRAM_ERROR", "tenant_error")          \
    row(input_rejected,   "PROGRAM_ERROR", "tenant_error")          \
    row(input_missing,    "INPUT_MISSING", "tenant_error")          \
    row(device_memory,    "DEVICE_MEMORY", "tenant_error")          \
    row(host_memory,      "PROGRAM_ERROR", "tenant_error")          \
    row(output_limit,     "PROGRAM_ERROR", "tenant_error")          \
    row(nonfinite,        "NONFINITE",     "tenant_error")          \
    row(stalled,          "PROGRAM_ERROR", "tenant_error")          \
    row(stopped,          "",              "")                      \
    row(crashed,          "",              "platform_error")        \
    row(syscall,          "",              "platform_error")        \
    row(garbage,          "",              "platform_error")        \
    row(unsealed,         "",              "platform_error")        \
    row(device_fault,     "",              "platform_error")        \
    row(node_lost,        "",              "platform_error")
/* clang-format on */

#define PROTOCOL_WORD_NAME(word, code, outcome) PROTOCOL_##word,
enum protocol_word { PROTOCOL_WORDS(PROTOCOL_WORD_NAME) PROTOCOL_WORD_COUNT };
#undef PROTOCOL_WORD_NAME

extern const char *const protocol_words[]; /* by enum protocol_word; NULL behind the last */

/* The number of a word; -1: there is none of that name. */
int protocol_word_of(const char *word);
const char *protocol_word_code(enum protocol_word word);
const char *protocol_word_outcome(enum protocol_word word);

/* The closed lists of words. */
extern const char *const protocol_join_causes[];    /* enrol, start, certificate */
extern const char *const protocol_orders[];         /* continue, stop, drop */
extern const char *const protocol_causes[];         /* of stop and drop */
extern const char *const protocol_decline_words[];  /* no_device, no_disk, … */
extern const char *const protocol_lease_states[];   /* granted, running, revoking */
extern const char *const protocol_node_states[];    /* joining, ready, cordoned, … */
extern const char *const protocol_artifact_kinds[]; /* dataset, model, checkpoint, … */
extern const char *const protocol_phases[];         /* load, train, test, run, save */
extern const char *const protocol_device_states[];  /* ok, suspect, failed */

/* DSSE's envelope as it travels; read and verified by policy/provenance. */
struct protocol_signature {
    const char *keyid;
    struct cr_bytes sig;
};
struct protocol_envelope {
    const char *payloadType;
    struct cr_bytes payload;
    struct cr_list signatures; /* struct protocol_signature, one */
};

/* join: signed */
struct protocol_device {
    const char *device; /* "gpu0", "cpu3": below the node's id */
    const char *card;
    const char *model; /* a word; "cpu" for a core */
    int64_t memory_mib;
    int64_t slices;
    const char *class; /* of the engine: "x86-64-v4" */
    const char *driver;
};
struct protocol_ended {
    const char *lease;
    int64_t lease_epoch;
};
struct protocol_join {
    const char *cause;
    const char *node; /* empty at enrol */
    const char *name;
    const char *boot;
    const char *vkey;
    const char *csr;
    int64_t protocol;
    const char *build;
    const char *engine;
    const char *address;
    const char *zone, *block, *rack;
    struct cr_labels labels;
    int64_t cpu_milli, memory_mib, disk_mib;
    struct cr_list devices; /* struct protocol_device */
    struct cr_texts jail;   /* layers in force */
    struct cr_list ended;   /* struct protocol_ended */
};
struct protocol_bus {
    struct cr_texts urls;
    const char *credential;
};
struct protocol_joined {
    const char *node;
    int64_t node_epoch;
    int64_t protocol;
    const char *certificate, *chain; /* PEM; absent in development */
    const char *key;                 /* development: the node's credential, at enrol alone */
    const struct protocol_bus *bus;
    int64_t renew_ns, stop_ns;
    const char *state;
};

/* leases: an answer */
struct protocol_lease {
    const char *lease;
    int64_t lease_epoch;
    int64_t node_epoch;
    int64_t member;
    struct cr_texts devices; /* "gpu0": below the node's id */
    const char *state;
    const char *tenant, *job;
};
struct protocol_leases {
    struct cr_list leases; /* struct protocol_lease: all that live, by id */
};

/* program: an answer */
struct protocol_input {
    const char *name;
    const char *digest;
    int64_t size;
    const char *kind;
};
struct protocol_resume {
    const char *digest;
    int64_t size;
    int64_t step;
};
struct protocol_assignment {
    const char *tenant, *job, *kind;
    struct cr_json spec;     /* canonical JSON */
    const char *spec_sha256; /* of its canonical form */
    struct cr_list inputs;   /* struct protocol_input */
    const struct protocol_resume *resume;
    int64_t memory_mib, cpu_milli, max_runtime_s, checkpoint_s, output_max;
    const char *traceparent;
};

/* What each signed message of a lease begins with. */
#define PROTOCOL_LEASE_HEAD \
    const char *node;       \
    const char *boot;       \
    const char *lease;      \
    int64_t lease_epoch;    \
    int64_t seq

struct protocol_start {
    PROTOCOL_LEASE_HEAD;
    const char *runner; /* sha256 of the binary */
    const char *engine_class;
};
struct protocol_ordered {
    const char *order;
    const char *cause; /* absent with continue */
    int64_t grace_s;
};

struct protocol_checkpoint {
    const char *digest;
    int64_t size;
    int64_t step;
    int64_t held_ns;
};
struct protocol_dropped {
    int64_t log_bytes;
    int64_t points;
};
struct protocol_progress {
    PROTOCOL_LEASE_HEAD;
    int64_t step, steps;
    const char *phase;
    struct cr_texts series; /* the name of each series number that points use */
    struct cr_bytes points; /* PROTOCOL_POINT_SIZE each: frame.h */
    struct cr_bytes log;
    const struct protocol_dropped *dropped;
    const struct protocol_checkpoint *checkpoint;
};

struct protocol_decline {
    PROTOCOL_LEASE_HEAD;
    const char *word;
    const char *detail;
};

struct protocol_output {
    const char *name;
    const char *digest;
    int64_t size;
    const char *kind;
};
struct protocol_complete {
    PROTOCOL_LEASE_HEAD;
    const char *word;
    const char *detail;
    struct cr_labels metrics; /* name → shortest round-trip decimal */
    struct cr_list outputs;   /* struct protocol_output */
    int64_t steps;
    const char *result_sha256; /* of the canonical RESULT: protocol_result_sha256 */
};

/* The body of POST …/complete: two envelopes, the account and the reading of the release. */
struct protocol_metered {
    struct cr_bytes reading; /* canonical JSON of ledger.md section 3 */
    int64_t index, size;     /* of its leaf in the statement's tree */
    struct cr_texts path;    /* hex of each sibling, from the leaf */
};
struct protocol_completion {
    const struct protocol_envelope *message;
    const struct protocol_envelope *statement;
    struct cr_bytes account;
    const struct protocol_metered *reading; /* absent: never acquired */
};
struct protocol_accepted {
    bool accepted;
};

/* renew */
struct protocol_renew {
    const struct protocol_envelope *statement;
    struct cr_bytes account;
    struct cr_list leases; /* struct protocol_metered */
};
struct protocol_order {
    const char *lease;
    const char *order;
    const char *cause;
    int64_t grace_s;
};
struct protocol_node_state {
    const char *state;
};
struct protocol_renewed {
    int64_t seq;
    const struct protocol_node_state *node;
    struct cr_list leases; /* struct protocol_order */
};

/* account: leaf 0 of a statement, signed through its root */
struct protocol_account_device {
    const char *device;
    int64_t slices;
    const char *state;
    int64_t held_ns, idle_ns, maintenance_ns;
};
struct protocol_account {
    const char *type;
    const char *node;
    const char *boot;
    int64_t seq;
    int64_t mono_ns, start_ns;
    struct cr_list devices; /* struct protocol_account_device */
    struct cr_list waiting; /* struct protocol_ended: leases that hold no device yet */
    int64_t disk_free_mib;
};

/* PUT /v1/node/artifacts/{digest} */
struct protocol_upload {
    int64_t offset; /* held so far */
    bool held;      /* whole, and its digest is right */
};

/* clang-format off */
extern const struct cr_shape protocol_envelope_shape, protocol_join_shape, protocol_joined_shape,
    protocol_lease_shape, protocol_leases_shape, protocol_assignment_shape, protocol_start_shape,
    protocol_ordered_shape, protocol_progress_shape, protocol_decline_shape,
    protocol_complete_shape, protocol_completion_shape, protocol_accepted_shape,
    protocol_renew_shape, protocol_renewed_shape, protocol_account_shape, protocol_upload_shape,
    protocol_input_shape, protocol_output_shape, protocol_device_shape, protocol_metered_shape;
/* clang-format on */

/*
 * The digest of a result: SHA-256 of the canonical JSON of word, detail, metrics, outputs and
 * steps.
 */
enum cr_status protocol_result_sha256(struct cr_call *call,
                                      const struct protocol_complete *complete,
                                      const char **ret_hex) CR_CHECK;

/* Whether the text is a digest: 64 lower hex digits. */
bool protocol_is_digest(const char *text);

/* Whether the text is a UUID in lower hex, as a boot is. */
bool protocol_is_boot(const char *text);

/*
 * What the shapes of signed bodies cannot say: digests, boots, bounds of integers that travel as
 * texts, unique names, the sums of an account.
 *
 * fails with   CR_INVALID, the reason naming the member
 */
enum cr_status protocol_join_check(struct cr_call *call, const struct protocol_join *join) CR_CHECK;
enum cr_status protocol_progress_check(struct cr_call *call,
                                       const struct protocol_progress *progress) CR_CHECK;
enum cr_status protocol_complete_check(struct cr_call *call,
                                       const struct protocol_complete *complete) CR_CHECK;
enum cr_status protocol_account_check(struct cr_call *call,
                                      const struct protocol_account *account) CR_CHECK;

/*
 * The same for answers, which the node does not trust either: states, digests, devices without
 * doubles.
 */
enum cr_status protocol_leases_check(struct cr_call *call,
                                     const struct protocol_leases *leases) CR_CHECK;
enum cr_status protocol_assignment_check(struct cr_call *call,
                                         const struct protocol_assignment *assignment) CR_CHECK;
