/* frame: datagrams between a runner and its agent, in and out of bytes. */
#include "compute/protocol/frame.h"

#include "base/core/text.h"
#include "compute/protocol/protocol.h"

#include <assert.h>

#define MAGIC   0x5243
#define VERSION 1

static const struct rule {
    const char *name;
    char from;
    size_t low, high;
} rules[] = {
#define ROW(name_, number, from_, low_, high_) [number] = {#name_, from_, low_, high_},
    PROTOCOL_FRAMES(ROW)
#undef ROW
};
#define RULE_COUNT (sizeof rules / sizeof rules[0])

static unsigned char *put(unsigned char *at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        at[i] = (unsigned char)(value >> (8 * i));
    return at + size;
}

static uint64_t get(const unsigned char *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static unsigned char *put_number(unsigned char *at, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return put(at, bits, sizeof bits);
}

static double get_number(const unsigned char *at)
{
    uint64_t bits = get(at, sizeof bits);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static unsigned char *put_text(unsigned char *at, const struct protocol_frame *frame)
{
    if (frame->text_size)
        memcpy(at, frame->text, frame->text_size);
    return at + frame->text_size;
}

static const struct rule *rule_of(int type)
{
    if (type < 0 || (size_t)type >= RULE_COUNT || !rules[type].name)
        return NULL;
    return &rules[type];
}

const char *protocol_frame_name(int type)
{
    const struct rule *rule = rule_of(type);
    return rule ? rule->name : NULL;
}

static unsigned char *write_body(const struct protocol_frame *frame, unsigned char *at)
{
    switch (frame->type) {
    case PROTOCOL_FRAME_READY:
        return put_text(put(at, frame->layers, 4), frame);
    case PROTOCOL_FRAME_STEP:
        return put(put(put(at, frame->step, 8), frame->steps, 8), frame->epoch, 4);
    case PROTOCOL_FRAME_METRIC:
        return put_text(put_number(put(at, frame->step, 8), frame->value), frame);
    case PROTOCOL_FRAME_LOG:
        return put_text(put(at, frame->level, 1), frame);
    case PROTOCOL_FRAME_CHECKPOINT:
        return put(put(put(at, frame->step, 8), frame->slot, 1), frame->size, 8);
    case PROTOCOL_FRAME_USAGE:
        return put(put(at, frame->busy_ns, 8), frame->energy_mj, 8);
    case PROTOCOL_FRAME_RESULT:
        return put_text(put(at, frame->word, 1), frame);
    case PROTOCOL_FRAME_PHASE:
        return put(at, frame->phase, 1);
    case PROTOCOL_FRAME_STOP:
        return put(put(at, frame->grace_ms, 4), frame->cause, 1);
    case PROTOCOL_FRAME_SLOT:
        return put(at, frame->slot, 1);
    case PROTOCOL_FRAME_KEEP:
        return put(at, frame->until_ns, 8);
    case PROTOCOL_FRAME_PONG:
    case PROTOCOL_FRAME_GO:
    case PROTOCOL_FRAME_PING:
        return at;
    }
    return at;
}

size_t protocol_frame_write(const struct protocol_frame *frame, unsigned char *bytes)
{
    const struct rule *rule = rule_of((int)frame->type);
    assert(rule && frame->text_size <= rule->high);
    unsigned char *body = bytes + PROTOCOL_FRAME_HEAD_SIZE;
    size_t size = (size_t)(write_body(frame, body) - body);
    assert(size >= rule->low && size <= rule->high);

    unsigned char *at = put(put(bytes, MAGIC, 2), VERSION, 1);
    put(put(put(at, (uint64_t)frame->type, 1), size, 4), frame->seq, 8);
    return PROTOCOL_FRAME_HEAD_SIZE + size;
}

/* What is left of the body behind its numbers. */
static void take_text(struct protocol_frame *frame, const unsigned char *body, size_t skip,
                      size_t size)
{
    frame->text = (const char *)body + skip;
    frame->text_size = size - skip;
}

static void read_body(struct protocol_frame *frame, const unsigned char *body, size_t size)
{
    switch (frame->type) {
    case PROTOCOL_FRAME_READY:
        frame->layers = (uint32_t)get(body, 4);
        take_text(frame, body, 4, size);
        return;
    case PROTOCOL_FRAME_STEP:
        frame->step = get(body, 8);
        frame->steps = get(body + 8, 8);
        frame->epoch = (uint32_t)get(body + 16, 4);
        return;
    case PROTOCOL_FRAME_METRIC:
        frame->step = get(body, 8);
        frame->value = get_number(body + 8);
        take_text(frame, body, 16, size);
        return;
    case PROTOCOL_FRAME_LOG:
        frame->level = body[0];
        take_text(frame, body, 1, size);
        return;
    case PROTOCOL_FRAME_CHECKPOINT:
        frame->step = get(body, 8);
        frame->slot = body[8];
        frame->size = get(body + 9, 8);
        return;
    case PROTOCOL_FRAME_USAGE:
        frame->busy_ns = get(body, 8);
        frame->energy_mj = get(body + 8, 8);
        return;
    case PROTOCOL_FRAME_RESULT:
        frame->word = body[0];
        take_text(frame, body, 1, size);
        return;
    case PROTOCOL_FRAME_PHASE:
        frame->phase = body[0];
        return;
    case PROTOCOL_FRAME_STOP:
        frame->grace_ms = (uint32_t)get(body, 4);
        frame->cause = body[4];
        return;
    case PROTOCOL_FRAME_SLOT:
        frame->slot = body[0];
        return;
    case PROTOCOL_FRAME_KEEP:
        frame->until_ns = get(body, 8);
        return;
    case PROTOCOL_FRAME_PONG:
    case PROTOCOL_FRAME_GO:
    case PROTOCOL_FRAME_PING:
        return;
    }
}

static bool is_metric_name(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!(text[i] >= 'a' && text[i] <= 'z') && !(text[i] >= '0' && text[i] <= '9') &&
            text[i] != '_')
            return false;
    return size > 0;
}

static size_t count_of(const char *const *words)
{
    size_t count = 0;
    while (words[count])
        count++;
    return count;
}

/* What is wrong with the values of a frame, whose size is right; NULL: nothing. */
static const char *fault_of(const struct protocol_frame *frame)
{
    if (frame->text && !cr_utf8(frame->text, frame->text_size))
        return "the text is not UTF-8";
    if (frame->type == PROTOCOL_FRAME_METRIC && !is_metric_name(frame->text, frame->text_size))
        return "a metric's name holds a-z, 0-9 and _";
    if (frame->type == PROTOCOL_FRAME_LOG && frame->level > 3)
        return "there is no such level";
    if (frame->slot >= PROTOCOL_CHECKPOINT_SLOTS)
        return "there is no such slot";
    if (frame->type == PROTOCOL_FRAME_RESULT && frame->word >= PROTOCOL_WORD_COUNT)
        return "there is no such word";
    if (frame->phase >= count_of(protocol_phases))
        return "there is no such phase";
    if (frame->cause >= count_of(protocol_causes))
        return "there is no such cause";
    if (frame->step > (uint64_t)CR_SAFE_INTEGER || frame->steps > (uint64_t)CR_SAFE_INTEGER ||
        frame->size > (uint64_t)CR_SAFE_INTEGER)
        return "a number is too large";
    return NULL;
}

const char *protocol_frame_read(const unsigned char *bytes, size_t size, char from, uint64_t seq,
                                struct protocol_frame *ret_frame)
{
    if (size < PROTOCOL_FRAME_HEAD_SIZE || size > PROTOCOL_FRAME_SIZE_MAX)
        return "the datagram is too short or too long";
    if (get(bytes, 2) != MAGIC || bytes[2] != VERSION)
        return "the magic or the version is another";
    const struct rule *rule = rule_of(bytes[3]);
    if (!rule || rule->from != from)
        return "the type is unknown";
    size_t body_size = size - PROTOCOL_FRAME_HEAD_SIZE;
    if (get(bytes + 4, 4) != body_size || body_size < rule->low || body_size > rule->high)
        return "the size is wrong";
    if (get(bytes + 8, 8) != seq)
        return "the order is wrong";

    struct protocol_frame frame = {.type = (enum protocol_frame_type)bytes[3], .seq = seq};
    read_body(&frame, bytes + PROTOCOL_FRAME_HEAD_SIZE, body_size);
    const char *fault = fault_of(&frame);
    if (!fault)
        *ret_frame = frame;
    return fault;
}

void protocol_point_write(const struct protocol_point *point,
                          unsigned char bytes[PROTOCOL_POINT_SIZE])
{
    put_number(put(put(put(bytes, point->series, 1), point->step, 8), point->mono_ns, 8),
               point->value);
}

struct protocol_point protocol_point_read(const unsigned char bytes[PROTOCOL_POINT_SIZE])
{
    return (struct protocol_point){.series = bytes[0],
                                   .step = get(bytes + 1, 8),
                                   .mono_ns = get(bytes + 9, 8),
                                   .value = get_number(bytes + 17)};
}
