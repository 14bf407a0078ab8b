/* journal: records of a node's journal, in and out of bytes. */
#include "compute/protocol/journal.h"

#include "base/core/text.h"
#include "base/json/json.h"

#include <assert.h>

#define R(member, ...) CR_MEMBER(struct protocol_record, member, __VA_ARGS__)
#define NUMBER(member) R(member, 0, INT64_MAX)
#define LEASE          CR_ID(struct protocol_record, lease, "lse"), R(lease_epoch, 1, INT64_MAX)

/* clang-format off */
static const struct cr_member boot[] = {
    CR_ID(struct protocol_record, node, "node"), R(node_epoch, 1, INT64_MAX), R(boot, 36, 36),
    NUMBER(start_ns)};
static const struct cr_member accept[] = {
    LEASE, R(node_epoch, 1, INT64_MAX), CR_ID(struct protocol_record, tenant, "tnt"),
    CR_ID(struct protocol_record, job, "job"), NUMBER(member),
    CR_TEXTS(struct protocol_record, devices, 1, PROTOCOL_DEVICES_MAX), R(boot, 36, 36)};
static const struct cr_member acquire[] = {LEASE, NUMBER(at_ns)};
static const struct cr_member checkpoint[] = {
    LEASE, NUMBER(step), R(digest, PROTOCOL_DIGEST_LENGTH, PROTOCOL_DIGEST_LENGTH), NUMBER(size),
    NUMBER(held_ns)};
static const struct cr_member result[] = {
    LEASE, CR_BYTES(struct protocol_record, request, 1, PROTOCOL_COMPLETE_SIZE_MAX)};
static const struct cr_member answered[] = {LEASE, R(answer, 1, 64)};
static const struct cr_member scrub[] = {
    R(device, 1, 32), R(tenant, 0, 31), R(done, 0, 1)};
static const struct cr_member device[] = {
    R(device, 1, 32), CR_WORD(struct protocol_record, state, protocol_device_states)};

static const struct cr_shape shapes[PROTOCOL_RECORD_TYPES] = {
    [PROTOCOL_RECORD_BOOT] = CR_SHAPE(struct protocol_record, boot),
    [PROTOCOL_RECORD_ACCEPT] = CR_SHAPE(struct protocol_record, accept),
    [PROTOCOL_RECORD_ACQUIRE] = CR_SHAPE(struct protocol_record, acquire),
    [PROTOCOL_RECORD_CHECKPOINT] = CR_SHAPE(struct protocol_record, checkpoint),
    [PROTOCOL_RECORD_RELEASE] = CR_SHAPE(struct protocol_record, acquire),
    [PROTOCOL_RECORD_RESULT] = CR_SHAPE(struct protocol_record, result),
    [PROTOCOL_RECORD_ANSWERED] = CR_SHAPE(struct protocol_record, answered),
    [PROTOCOL_RECORD_SCRUB] = CR_SHAPE(struct protocol_record, scrub),
    [PROTOCOL_RECORD_DEVICE] = CR_SHAPE(struct protocol_record, device),
};
/* clang-format on */

static void put32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static uint32_t get32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

struct cr_bytes protocol_record_write(struct cr_call *call, const struct protocol_record *record)
{
    assert(record->type >= PROTOCOL_RECORD_BOOT && record->type < PROTOCOL_RECORD_TYPES);
    struct cr_text text = cr_text_open(call);
    json_add(&text, &shapes[record->type], record);
    size_t body = text.length + 1;
    assert(body <= PROTOCOL_RECORD_SIZE_MAX);

    unsigned char *bytes = cr_new(call, unsigned char, PROTOCOL_RECORD_HEAD_SIZE + body);
    bytes[PROTOCOL_RECORD_HEAD_SIZE] = (unsigned char)record->type;
    memcpy(bytes + PROTOCOL_RECORD_HEAD_SIZE + 1, text.data, text.length);
    put32(bytes, (uint32_t)body);
    put32(bytes + 4, cr_crc32c(0, bytes + PROTOCOL_RECORD_HEAD_SIZE, body));
    return (struct cr_bytes){bytes, PROTOCOL_RECORD_HEAD_SIZE + body};
}

/* The size of the whole record at `at`; 0: there is none that is whole. */
static size_t whole(struct cr_bytes file, size_t at)
{
    size_t left = file.size - at;
    if (left <= PROTOCOL_RECORD_HEAD_SIZE)
        return 0;
    const unsigned char *head = file.data + at;
    size_t body = get32(head);
    if (body < 1 || body > PROTOCOL_RECORD_SIZE_MAX || body > left - PROTOCOL_RECORD_HEAD_SIZE)
        return 0;
    if (cr_crc32c(0, head + PROTOCOL_RECORD_HEAD_SIZE, body) != get32(head + 4))
        return 0;
    return PROTOCOL_RECORD_HEAD_SIZE + body;
}

/* Whether a whole record stands anywhere behind `at`: then what is bad there was not the last. */
static bool more_behind(struct cr_bytes file, size_t at)
{
    for (size_t i = at + 1; i < file.size; i++)
        if (whole(file, i))
            return true;
    return false;
}

enum protocol_replay protocol_record_read(struct cr_call *call, struct cr_bytes file, size_t *at,
                                          struct protocol_record *ret_record)
{
    if (*at == file.size)
        return PROTOCOL_REPLAY_END;
    size_t size = whole(file, *at);
    if (size == 0)
        return more_behind(file, *at) ? PROTOCOL_REPLAY_DAMAGED : PROTOCOL_REPLAY_TORN;

    const unsigned char *body = file.data + *at + PROTOCOL_RECORD_HEAD_SIZE;
    size_t length = size - PROTOCOL_RECORD_HEAD_SIZE - 1;
    struct protocol_record record = {0};
    if (body[0] < PROTOCOL_RECORD_BOOT || body[0] >= PROTOCOL_RECORD_TYPES)
        return PROTOCOL_REPLAY_DAMAGED;
    if (json_read(call, &shapes[body[0]], (const char *)body + 1, length, &record) != CR_OK) {
        cr_forgive(call);
        return PROTOCOL_REPLAY_DAMAGED;
    }
    record.type = (enum protocol_record_type)body[0];
    *at += size;
    *ret_record = record;
    return PROTOCOL_REPLAY_RECORD;
}
