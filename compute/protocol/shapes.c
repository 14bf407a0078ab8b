/* shapes: the bounds of every body of /v1/node/…. */
#include "compute/protocol/protocol.h"

#include "compute/protocol/frame.h"

/* Of a signed body: an integer that travels as a decimal text. protocol_*_check bounds it. */
#define DECIMAL(type, member, ...) CR_MEMBER(type, member, 0, INT64_MAX, __VA_ARGS__)
#define EPOCH(type)                CR_MEMBER(type, lease_epoch, 1, INT64_MAX)
#define DIGEST(type, member, ...) \
    CR_MEMBER(type, member, PROTOCOL_DIGEST_LENGTH, PROTOCOL_DIGEST_LENGTH, __VA_ARGS__)

#define BOOT_LENGTH   36
#define CANONICAL_MAX (128 << 10) /* an account with PROTOCOL_DEVICES_MAX devices */
#define READING_MAX   1024
#define NAME_MAX_     64
#define DEVICE_MAX    32
#define PEM_MAX       16384
#define SERIES_MAX    32

#define LEASE_HEAD(type)                                                        \
    CR_ID(type, node, "node"), CR_MEMBER(type, boot, BOOT_LENGTH, BOOT_LENGTH), \
        CR_ID(type, lease, "lse"), EPOCH(type), DECIMAL(type, seq)

/* clang-format off */
static const struct cr_member signature[] = {
    CR_MEMBER(struct protocol_signature, keyid, 0, 255),
    CR_BYTES(struct protocol_signature, sig, 64, 64),
};
static const struct cr_shape signature_shape = CR_SHAPE(struct protocol_signature, signature);
static const struct cr_member envelope[] = {
    CR_MEMBER(struct protocol_envelope, payloadType, 1, 127),
    CR_BYTES(struct protocol_envelope, payload, 2, PROTOCOL_COMPLETE_SIZE_MAX),
    CR_LIST(struct protocol_envelope, signatures, &signature_shape, 1, 1),
};

/* join */
static const struct cr_member device[] = {
    CR_MEMBER(struct protocol_device, device, 1, DEVICE_MAX),
    CR_MEMBER(struct protocol_device, card, 1, DEVICE_MAX),
    CR_MEMBER(struct protocol_device, model, 1, 32),
    DECIMAL(struct protocol_device, memory_mib),
    DECIMAL(struct protocol_device, slices),
    CR_MEMBER(struct protocol_device, class, 1, PROTOCOL_CLASS_MAX),
    CR_MEMBER(struct protocol_device, driver, 0, 64),
};
static const struct cr_member ended[] = {
    CR_ID(struct protocol_ended, lease, "lse"),
    EPOCH(struct protocol_ended),
};
static const struct cr_shape ended_shape = CR_SHAPE(struct protocol_ended, ended);
static const struct cr_member join[] = {
    CR_WORD(struct protocol_join, cause, protocol_join_causes),
    CR_MEMBER(struct protocol_join, node, 0, 31),
    CR_MEMBER(struct protocol_join, name, 1, NAME_MAX_),
    CR_MEMBER(struct protocol_join, boot, BOOT_LENGTH, BOOT_LENGTH),
    CR_MEMBER(struct protocol_join, vkey, 0, 512),
    CR_MEMBER(struct protocol_join, csr, 0, PEM_MAX),
    DECIMAL(struct protocol_join, protocol),
    CR_MEMBER(struct protocol_join, build, 1, 128),
    CR_MEMBER(struct protocol_join, engine, 1, 128),
    CR_MEMBER(struct protocol_join, address, 0, 255),
    CR_MEMBER(struct protocol_join, zone, 0, NAME_MAX_),
    CR_MEMBER(struct protocol_join, block, 0, NAME_MAX_),
    CR_MEMBER(struct protocol_join, rack, 0, NAME_MAX_),
    CR_LABELS(struct protocol_join, labels, 32),
    DECIMAL(struct protocol_join, cpu_milli),
    DECIMAL(struct protocol_join, memory_mib),
    DECIMAL(struct protocol_join, disk_mib),
    CR_LIST(struct protocol_join, devices, &protocol_device_shape, 0, PROTOCOL_DEVICES_MAX),
    CR_TEXTS(struct protocol_join, jail, 0, 16),
    CR_LIST(struct protocol_join, ended, &ended_shape, 0, PROTOCOL_LEASES_MAX),
};
static const struct cr_member bus[] = {
    CR_TEXTS(struct protocol_bus, urls, 0, 16),
    CR_MEMBER(struct protocol_bus, credential, 0, 4096),
};
static const struct cr_shape bus_shape = CR_SHAPE(struct protocol_bus, bus);
static const struct cr_member joined[] = {
    CR_ID(struct protocol_joined, node, "node"),
    CR_MEMBER(struct protocol_joined, node_epoch, 1, INT64_MAX),
    CR_MEMBER(struct protocol_joined, protocol, 1, 1000),
    CR_MEMBER(struct protocol_joined, certificate, 1, PEM_MAX, .flags = CR_OPTIONAL),
    CR_MEMBER(struct protocol_joined, chain, 1, PEM_MAX, .flags = CR_OPTIONAL),
    CR_MEMBER(struct protocol_joined, key, 1, 128, .flags = CR_OPTIONAL,
              .about = "Development: the node's credential for GET and PUT, in place of a "
                       "certificate. Answered at enrol alone"),
    CR_OBJECT(struct protocol_joined, bus, &bus_shape),
    CR_MEMBER(struct protocol_joined, renew_ns, 1, CR_SAFE_INTEGER),
    CR_MEMBER(struct protocol_joined, stop_ns, 1, CR_SAFE_INTEGER),
    CR_WORD(struct protocol_joined, state, protocol_node_states),
};

/* leases, program */
static const struct cr_member lease[] = {
    CR_ID(struct protocol_lease, lease, "lse"),
    EPOCH(struct protocol_lease),
    CR_MEMBER(struct protocol_lease, node_epoch, 1, INT64_MAX),
    CR_MEMBER(struct protocol_lease, member, 0, PROTOCOL_LEASES_MAX),
    CR_TEXTS(struct protocol_lease, devices, 1, PROTOCOL_DEVICES_MAX),
    CR_WORD(struct protocol_lease, state, protocol_lease_states),
    CR_ID(struct protocol_lease, tenant, "tnt"),
    CR_ID(struct protocol_lease, job, "job"),
};
static const struct cr_member leases[] = {
    CR_LIST(struct protocol_leases, leases, &protocol_lease_shape, 0, PROTOCOL_LEASES_MAX),
};
static const struct cr_member input[] = {
    CR_MEMBER(struct protocol_input, name, 1, NAME_MAX_),
    DIGEST(struct protocol_input, digest),
    CR_MEMBER(struct protocol_input, size, 0, CR_SAFE_INTEGER),
    CR_WORD(struct protocol_input, kind, protocol_artifact_kinds),
};
static const struct cr_member resume[] = {
    DIGEST(struct protocol_resume, digest),
    CR_MEMBER(struct protocol_resume, size, 1, CR_SAFE_INTEGER),
    CR_MEMBER(struct protocol_resume, step, 0, CR_SAFE_INTEGER),
};
static const struct cr_shape resume_shape = CR_SHAPE(struct protocol_resume, resume);
static const struct cr_member assignment[] = {
    CR_ID(struct protocol_assignment, tenant, "tnt"),
    CR_ID(struct protocol_assignment, job, "job"),
    CR_WORD(struct protocol_assignment, kind, protocol_kinds),
    CR_JSON(struct protocol_assignment, spec, PROTOCOL_SPEC_SIZE_MAX),
    DIGEST(struct protocol_assignment, spec_sha256),
    CR_LIST(struct protocol_assignment, inputs, &protocol_input_shape, 0, PROTOCOL_INPUTS_MAX),
    CR_OBJECT(struct protocol_assignment, resume, &resume_shape, .flags = CR_NULLABLE),
    CR_MEMBER(struct protocol_assignment, memory_mib, 1, PROTOCOL_MEMORY_MIB_MAX),
    CR_MEMBER(struct protocol_assignment, cpu_milli, 0, PROTOCOL_CPU_MILLI_MAX),
    CR_MEMBER(struct protocol_assignment, max_runtime_s, 1, PROTOCOL_RUNTIME_S_MAX),
    CR_MEMBER(struct protocol_assignment, checkpoint_s, 0, PROTOCOL_RUNTIME_S_MAX,
              .about = "Seconds between checkpoints; 0: none but at a stop"),
    CR_MEMBER(struct protocol_assignment, output_max, 1, CR_SAFE_INTEGER),
    CR_MEMBER(struct protocol_assignment, traceparent, 0, 55),
};

/* start, progress, decline, complete */
static const struct cr_member start[] = {
    LEASE_HEAD(struct protocol_start),
    DIGEST(struct protocol_start, runner),
    CR_MEMBER(struct protocol_start, engine_class, 1, PROTOCOL_CLASS_MAX),
};
static const struct cr_member ordered[] = {
    CR_WORD(struct protocol_ordered, order, protocol_orders),
    CR_WORD(struct protocol_ordered, cause, protocol_causes, .flags = CR_OPTIONAL),
    CR_MEMBER(struct protocol_ordered, grace_s, 0, 600, .flags = CR_OPTIONAL),
};
static const struct cr_member checkpoint[] = {
    DIGEST(struct protocol_checkpoint, digest),
    DECIMAL(struct protocol_checkpoint, size),
    DECIMAL(struct protocol_checkpoint, step),
    DECIMAL(struct protocol_checkpoint, held_ns),
};
static const struct cr_shape checkpoint_shape = CR_SHAPE(struct protocol_checkpoint, checkpoint);
static const struct cr_member dropped[] = {
    DECIMAL(struct protocol_dropped, log_bytes),
    DECIMAL(struct protocol_dropped, points),
};
static const struct cr_shape dropped_shape = CR_SHAPE(struct protocol_dropped, dropped);
static const struct cr_member progress[] = {
    LEASE_HEAD(struct protocol_progress),
    DECIMAL(struct protocol_progress, step),
    DECIMAL(struct protocol_progress, steps),
    CR_WORD(struct protocol_progress, phase, protocol_phases),
    CR_TEXTS(struct protocol_progress, series, 0, SERIES_MAX),
    CR_BYTES(struct protocol_progress, points, 0, PROTOCOL_CHUNK_SIZE_MAX),
    CR_BYTES(struct protocol_progress, log, 0, PROTOCOL_CHUNK_SIZE_MAX),
    CR_OBJECT(struct protocol_progress, dropped, &dropped_shape),
    CR_OBJECT(struct protocol_progress, checkpoint, &checkpoint_shape, .flags = CR_OPTIONAL),
};
static const struct cr_member decline[] = {
    LEASE_HEAD(struct protocol_decline),
    CR_WORD(struct protocol_decline, word, protocol_decline_words),
    CR_MEMBER(struct protocol_decline, detail, 0, 256),
};
static const struct cr_member output[] = {
    CR_MEMBER(struct protocol_output, name, 1, NAME_MAX_),
    DIGEST(struct protocol_output, digest),
    DECIMAL(struct protocol_output, size),
    CR_WORD(struct protocol_output, kind, protocol_artifact_kinds),
};
static const struct cr_member complete[] = {
    LEASE_HEAD(struct protocol_complete),
    CR_WORD(struct protocol_complete, word, protocol_words),
    CR_MEMBER(struct protocol_complete, detail, 0, PROTOCOL_DETAIL_MAX),
    CR_LABELS(struct protocol_complete, metrics, PROTOCOL_METRICS_MAX),
    CR_LIST(struct protocol_complete, outputs, &protocol_output_shape, 0, PROTOCOL_OUTPUTS_MAX),
    DECIMAL(struct protocol_complete, steps),
    DIGEST(struct protocol_complete, result_sha256),
};
static const struct cr_member metered[] = {
    CR_BYTES(struct protocol_metered, reading, 2, READING_MAX),
    CR_MEMBER(struct protocol_metered, index, 1, PROTOCOL_RENEW_LEASES),
    CR_MEMBER(struct protocol_metered, size, 16, 1 << PROTOCOL_RENEW_PATH_MAX),
    CR_TEXTS(struct protocol_metered, path, 4, PROTOCOL_RENEW_PATH_MAX),
};
static const struct cr_member completion[] = {
    CR_OBJECT(struct protocol_completion, message, &protocol_envelope_shape),
    CR_OBJECT(struct protocol_completion, statement, &protocol_envelope_shape),
    CR_BYTES(struct protocol_completion, account, 2, CANONICAL_MAX),
    CR_OBJECT(struct protocol_completion, reading, &protocol_metered_shape, .flags = CR_OPTIONAL),
};
static const struct cr_member accepted[] = {
    CR_MEMBER(struct protocol_accepted, accepted, 0, 1),
};

/* renew */
static const struct cr_member renew[] = {
    CR_OBJECT(struct protocol_renew, statement, &protocol_envelope_shape),
    CR_BYTES(struct protocol_renew, account, 2, CANONICAL_MAX),
    CR_LIST(struct protocol_renew, leases, &protocol_metered_shape, 0, PROTOCOL_RENEW_LEASES),
};
static const struct cr_member node_state[] = {
    CR_WORD(struct protocol_node_state, state, protocol_node_states),
};
static const struct cr_shape node_state_shape = CR_SHAPE(struct protocol_node_state, node_state);
static const struct cr_member order[] = {
    CR_ID(struct protocol_order, lease, "lse"),
    CR_WORD(struct protocol_order, order, protocol_orders),
    CR_WORD(struct protocol_order, cause, protocol_causes, .flags = CR_OPTIONAL),
    CR_MEMBER(struct protocol_order, grace_s, 0, 600, .flags = CR_OPTIONAL),
};
static const struct cr_shape order_shape = CR_SHAPE(struct protocol_order, order);
static const struct cr_member renewed[] = {
    CR_MEMBER(struct protocol_renewed, seq, 0, CR_SAFE_INTEGER),
    CR_OBJECT(struct protocol_renewed, node, &node_state_shape),
    CR_LIST(struct protocol_renewed, leases, &order_shape, 0, PROTOCOL_LEASES_MAX),
};

/* account */
static const struct cr_member account_device[] = {
    CR_MEMBER(struct protocol_account_device, device, 1, DEVICE_MAX),
    DECIMAL(struct protocol_account_device, slices),
    CR_WORD(struct protocol_account_device, state, protocol_device_states),
    DECIMAL(struct protocol_account_device, held_ns),
    DECIMAL(struct protocol_account_device, idle_ns),
    DECIMAL(struct protocol_account_device, maintenance_ns),
};
static const struct cr_shape account_device_shape =
    CR_SHAPE(struct protocol_account_device, account_device);
static const struct cr_member account[] = {
    CR_MEMBER(struct protocol_account, type, 1, 64),
    CR_ID(struct protocol_account, node, "node"),
    CR_MEMBER(struct protocol_account, boot, BOOT_LENGTH, BOOT_LENGTH),
    DECIMAL(struct protocol_account, seq),
    DECIMAL(struct protocol_account, mono_ns),
    DECIMAL(struct protocol_account, start_ns),
    CR_LIST(struct protocol_account, devices, &account_device_shape, 0, PROTOCOL_DEVICES_MAX),
    CR_LIST(struct protocol_account, waiting, &ended_shape, 0, PROTOCOL_LEASES_MAX),
    DECIMAL(struct protocol_account, disk_free_mib),
};
static const struct cr_member upload[] = {
    CR_MEMBER(struct protocol_upload, offset, 0, CR_SAFE_INTEGER),
    CR_MEMBER(struct protocol_upload, held, 0, 1),
};
/* clang-format on */

#define SHAPE(what, name_)                          \
    const struct cr_shape protocol_##what##_shape = \
        CR_SHAPE(struct protocol_##what, what, .name = (name_))

SHAPE(envelope, "Envelope");
SHAPE(device, NULL);
SHAPE(join, "NodeJoin");
SHAPE(joined, "NodeJoined");
SHAPE(lease, NULL);
SHAPE(leases, "NodeLeases");
SHAPE(input, NULL);
SHAPE(assignment, "NodeProgram");
SHAPE(start, "NodeStart");
SHAPE(ordered, "NodeOrder");
SHAPE(progress, "NodeProgress");
SHAPE(decline, "NodeDecline");
SHAPE(output, NULL);
SHAPE(complete, "NodeComplete");
SHAPE(metered, NULL);
SHAPE(completion, "NodeCompletion");
SHAPE(accepted, "NodeAccepted");
SHAPE(renew, "NodeRenew");
SHAPE(renewed, "NodeRenewed");
SHAPE(account, "DeviceAccount");
SHAPE(upload, "NodeUpload");
