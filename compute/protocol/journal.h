/*
 * journal: what a node writes down before it tells.
 *
 * A record is u32 length and u32 CRC-32C, little-endian, both of what follows: u8 type, and the
 * JSON of the members that the type has. A file is replayed to its first bad record;
 * that record is torn if nothing whole stands behind it, else the file is damaged.
 *
 * Units     _ns CLOCK_BOOTTIME
 * Threads   pure
 * Source    design: compute.md section 4, reliability.md proc.3
 */
#pragma once

#include "compute/protocol/protocol.h"

#define PROTOCOL_RECORD_HEAD_SIZE 8
#define PROTOCOL_RECORD_SIZE_MAX  (INT64_C(1) << 20) /* a RESULT holds a whole signed request */

enum protocol_record_type {
    PROTOCOL_RECORD_BOOT = 1,   /* node node_epoch boot start_ns */
    PROTOCOL_RECORD_ACCEPT,     /* lease lease_epoch node_epoch tenant job member devices boot */
    PROTOCOL_RECORD_ACQUIRE,    /* lease lease_epoch at_ns */
    PROTOCOL_RECORD_CHECKPOINT, /* lease lease_epoch step digest size held_ns */
    PROTOCOL_RECORD_RELEASE,    /* lease lease_epoch at_ns */
    PROTOCOL_RECORD_RESULT,     /* lease lease_epoch request */
    PROTOCOL_RECORD_ANSWERED,   /* lease lease_epoch answer */
    PROTOCOL_RECORD_SCRUB,      /* device tenant done */
    PROTOCOL_RECORD_DEVICE,     /* device state */
    PROTOCOL_RECORD_TYPES
};

struct protocol_record {
    enum protocol_record_type type;
    const char *node;
    int64_t node_epoch;
    const char *boot;
    int64_t start_ns;
    const char *lease;
    int64_t lease_epoch;
    const char *tenant, *job;
    int64_t member;
    struct cr_texts devices;
    int64_t at_ns;
    int64_t step;
    const char *digest;
    int64_t size;
    int64_t held_ns;
    struct cr_bytes request; /* the whole body of POST …/complete, as it was signed */
    const char *answer;      /* "accepted", or the code that refused it */
    const char *device;
    bool done;
    const char *state;
};

/* The record as it stands in the file, of the call's memory. */
struct cr_bytes protocol_record_write(struct cr_call *call, const struct protocol_record *record);

enum protocol_replay {
    PROTOCOL_REPLAY_RECORD,
    PROTOCOL_REPLAY_END,
    PROTOCOL_REPLAY_TORN,
    PROTOCOL_REPLAY_DAMAGED
};

/*
 * The record at *at of a whole file in memory, and moves *at behind it. END: nothing is left.
 * TORN: the rest of the file is one record that was not finished; it may be cut off. DAMAGED: a
 * bad record has whole ones behind it, or a whole one says nothing that we write.
 *
 * ret_record   written with RECORD only; its texts live as long as the call
 */
enum protocol_replay protocol_record_read(struct cr_call *call, struct cr_bytes file, size_t *at,
                                          struct protocol_record *ret_record);
