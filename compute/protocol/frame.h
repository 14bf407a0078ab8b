/*
 * frame: what a runner and its agent say to each other, one datagram each.
 *
 *     u16 0x5243, u8 version 1, u8 type, u32 size, u64 seq    little-endian; then size bytes of
 * body
 *
 * seq counts from 0 by 1 in each direction. The agent trusts nothing in a frame but its length: a
 * wrong magic, size, order, type or phase ends the runner by the word `garbage`.
 *
 * Units     _ns CLOCK_BOOTTIME; sizes in bytes
 * Threads   pure
 * Source    design: compute.md section 5
 */
#pragma once

#include "base/core/call.h"

#define PROTOCOL_FRAME_SIZE_MAX   65536
#define PROTOCOL_FRAME_HEAD_SIZE  16
#define PROTOCOL_FRAME_BODY_MAX   (PROTOCOL_FRAME_SIZE_MAX - PROTOCOL_FRAME_HEAD_SIZE)
#define PROTOCOL_METRIC_NAME_MAX  64
#define PROTOCOL_METRIC_NAMES_MAX 32
#define PROTOCOL_LOG_TEXT_MAX     4096
#define PROTOCOL_RESULT_JSON_MAX  (60 * 1024)
#define PROTOCOL_CLASS_MAX        64 /* bytes of READY's engine class */
#define PROTOCOL_CHECKPOINT_SLOTS 2
#define PROTOCOL_PING_NS          INT64_C(10000000000) /* a PONG comes sooner, or: stalled */

/* The descriptors of a runner, by number. Inputs and outputs follow, as the table says. */
#define PROTOCOL_FD_CONTROL 3
#define PROTOCOL_FD_SPEC    4
#define PROTOCOL_FD_TABLE   5
#define PROTOCOL_FD_FIRST   6

/* clang-format off */
/* name, number, from: r(unner) or a(gent), smallest and largest body */
#define PROTOCOL_FRAMES(row)                                          \
    row(READY,      1,  'r', 4,  4 + PROTOCOL_CLASS_MAX)              \
    row(STEP,       2,  'r', 20, 20)                                  \
    row(METRIC,     3,  'r', 17, 16 + PROTOCOL_METRIC_NAME_MAX)       \
    row(LOG,        4,  'r', 1,  1 + PROTOCOL_LOG_TEXT_MAX)           \
    row(CHECKPOINT, 5,  'r', 17, 17)                                  \
    row(USAGE,      6,  'r', 16, 16)                                  \
    row(RESULT,     7,  'r', 3,  1 + PROTOCOL_RESULT_JSON_MAX)        \
    row(PONG,       8,  'r', 0,  0)                                   \
    row(PHASE,      9,  'r', 1,  1)                                   \
    row(GO,         16, 'a', 0,  0)                                   \
    row(STOP,       17, 'a', 5,  5)                                   \
    row(SLOT,       18, 'a', 1,  1)                                   \
    row(PING,       19, 'a', 0,  0)                                   \
    row(KEEP,       20, 'a', 8,  8)
/* clang-format on */

#define PROTOCOL_FRAME_NAME(name, number, from, low, high) PROTOCOL_FRAME_##name = (number),
enum protocol_frame_type { PROTOCOL_FRAMES(PROTOCOL_FRAME_NAME) };
#undef PROTOCOL_FRAME_NAME

/*
 * A frame, read. The members that its type has are set; text lies in the datagram, without a NUL.
 */
struct protocol_frame {
    enum protocol_frame_type type;
    uint64_t seq;
    uint32_t layers;  /* READY: bits of base/jail's layers */
    uint64_t step;    /* STEP, METRIC, CHECKPOINT */
    uint64_t steps;   /* STEP: of the whole job */
    uint32_t epoch;   /* STEP */
    double value;     /* METRIC */
    uint8_t level;    /* LOG: 0 debug, 1 info, 2 warning, 3 error */
    uint8_t slot;     /* CHECKPOINT, SLOT */
    uint64_t size;    /* CHECKPOINT: bytes of the file in the slot */
    uint64_t busy_ns; /* USAGE */
    uint64_t energy_mj;
    uint8_t word;      /* RESULT: enum protocol_word */
    uint8_t phase;     /* PHASE: index of protocol_phases */
    uint32_t grace_ms; /* STOP */
    uint8_t cause;     /* STOP: index of protocol_causes */
    uint64_t until_ns; /* KEEP */
    const char *text;  /* READY: class; METRIC: name; LOG; RESULT: JSON */
    size_t text_size;
};

/*
 * Writes the frame into bytes, which hold PROTOCOL_FRAME_SIZE_MAX, and returns its size. A text
 * that is longer than its type allows is a bug of ours (assert).
 */
size_t protocol_frame_write(const struct protocol_frame *frame, unsigned char *bytes);

/*
 * Reads a datagram of size bytes that came from 'r' or 'a' as number seq of its direction. NULL:
 * it is well-formed, ret_frame is written. Else: what is wrong with it, static.
 */
const char *protocol_frame_read(const unsigned char *bytes, size_t size, char from, uint64_t seq,
                                struct protocol_frame *ret_frame);

/* The name of a type, for example "METRIC"; NULL: no such type. Static. */
const char *protocol_frame_name(int type);

/* One measured value on its way to job_chunk: packed, little-endian. */
#define PROTOCOL_POINT_SIZE 25
struct protocol_point {
    uint8_t series;   /* index of the names of the job */
    uint64_t step;    /* of the job */
    uint64_t mono_ns; /* since GO */
    double value;
};
void protocol_point_write(const struct protocol_point *point,
                          unsigned char bytes[PROTOCOL_POINT_SIZE]);
struct protocol_point protocol_point_read(const unsigned char bytes[PROTOCOL_POINT_SIZE]);
