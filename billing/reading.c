/* reading: what nodes say, and what the region says of their keys. */
#include "billing/billing_internal.h"

#include "base/core/id.h"

#include <string.h>

static const char *const states[] = {"held", "released", NULL};

/* clang-format off */
#define COUNT(type, member, ...) CR_MEMBER(type, member, 0, INT64_MAX, __VA_ARGS__)

static const struct cr_member reading[] = {
    COUNT(struct billing_reading, acquire_ns),
    CR_MEMBER(struct billing_reading, boot, 36, 36),
    COUNT(struct billing_reading, busy_ns, .flags = CR_OPTIONAL),
    COUNT(struct billing_reading, energy_mj, .flags = CR_OPTIONAL),
    COUNT(struct billing_reading, held_ns),
    CR_ID(struct billing_reading, lease, "lse"),
    COUNT(struct billing_reading, lease_epoch),
    COUNT(struct billing_reading, mono_ns),
    CR_ID(struct billing_reading, node, "node"),
    CR_MEMBER(struct billing_reading, nonce, 32, 32),
    COUNT(struct billing_reading, seq),
    COUNT(struct billing_reading, slices),
    CR_WORD(struct billing_reading, state, states),
    CR_MEMBER(struct billing_reading, type, 1, 63),
};
static const struct cr_member statement[] = {
    CR_MEMBER(struct billing_statement, boot, 36, 36),
    COUNT(struct billing_statement, mono_ns),
    CR_ID(struct billing_statement, node, "node"),
    CR_MEMBER(struct billing_statement, root, 64, 64),
    COUNT(struct billing_statement, seq),
    CR_MEMBER(struct billing_statement, type, 1, 63),
};
static const struct cr_member node_key[] = {
    COUNT(struct billing_node_key, from_us),
    CR_ID(struct billing_node_key, node, "node"),
    CR_MEMBER(struct billing_node_key, region, 1, 253),
    CR_MEMBER(struct billing_node_key, type, 1, 63),
    COUNT(struct billing_node_key, until_us, .flags = CR_OPTIONAL),
    CR_MEMBER(struct billing_node_key, vkey, 1, 512),
};
/* clang-format on */

static const struct cr_shape reading_shape = CR_SHAPE(struct billing_reading, reading);
static const struct cr_shape statement_shape = CR_SHAPE(struct billing_statement, statement);
static const struct cr_shape node_key_shape = CR_SHAPE(struct billing_node_key, node_key);

struct cr_bytes billing_reading_write(struct cr_call *call, const struct billing_reading *value)
{
    struct billing_reading typed = *value;
    typed.type = BILLING_READING_TYPE;
    return billing_body_write(call, &reading_shape, &typed);
}

struct cr_bytes billing_statement_write(struct cr_call *call, const struct billing_statement *value)
{
    struct billing_statement typed = *value;
    typed.type = BILLING_STATEMENT_TYPE;
    return billing_body_write(call, &statement_shape, &typed);
}

struct cr_bytes billing_node_key_write(struct cr_call *call, const struct billing_node_key *value)
{
    struct billing_node_key typed = *value;
    typed.type = BILLING_NODE_KEY_TYPE;
    return billing_body_write(call, &node_key_shape, &typed);
}

static bool is_hex_text(const char *text)
{
    return strspn(text, "0123456789abcdef") == strlen(text);
}

/* Held time is what has passed since it was acquired; after the release, at most that. */
static bool counters_hold(const struct billing_reading *value)
{
    int64_t passed_ns = value->mono_ns - value->acquire_ns;
    bool is_held = strcmp(value->state, states[0]) == 0;
    return value->held_ns <= passed_ns && (!is_held || value->held_ns == passed_ns) &&
           value->slices >= 1 && value->slices <= BILLING_SLICES_MAX && value->lease_epoch >= 1;
}

bool billing_reading_read(struct cr_call *call, struct cr_bytes body,
                          struct billing_reading *ret_reading)
{
    return billing_body_read(call, &reading_shape, body, ret_reading) &&
           strcmp(ret_reading->type, BILLING_READING_TYPE) == 0 &&
           billing_is_boot(ret_reading->boot) && is_hex_text(ret_reading->nonce) &&
           counters_hold(ret_reading);
}

bool billing_statement_read(struct cr_call *call, struct cr_bytes body,
                            struct billing_statement *ret_statement)
{
    return billing_body_read(call, &statement_shape, body, ret_statement) &&
           strcmp(ret_statement->type, BILLING_STATEMENT_TYPE) == 0 &&
           billing_is_boot(ret_statement->boot) && billing_is_digest(ret_statement->root);
}

bool billing_node_key_read(struct cr_call *call, struct cr_bytes body,
                           struct billing_node_key *ret_key)
{
    return billing_body_read(call, &node_key_shape, body, ret_key) &&
           strcmp(ret_key->type, BILLING_NODE_KEY_TYPE) == 0 && billing_is_region(ret_key->region);
}

/* Whether a counter that may not be known fell. */
static bool fell(int64_t last, int64_t next)
{
    return last != CR_NO_INTEGER && next != CR_NO_INTEGER && next < last;
}

enum billing_order billing_reading_order(const struct billing_reading *last, bool same_bytes,
                                         const struct billing_reading *next)
{
    if (next->seq < last->seq)
        return BILLING_OLDER;
    if (next->seq == last->seq)
        return same_bytes ? BILLING_SAME : BILLING_CONTRADICTION;
    bool was_released = strcmp(last->state, states[1]) == 0;
    bool is_fixed = next->held_ns == last->held_ns && strcmp(next->state, states[1]) == 0;
    if (next->held_ns < last->held_ns || next->mono_ns < last->mono_ns ||
        next->acquire_ns != last->acquire_ns || next->slices != last->slices ||
        fell(last->busy_ns, next->busy_ns) || fell(last->energy_mj, next->energy_mj) ||
        (was_released && !is_fixed))
        return BILLING_CONTRADICTION;
    return BILLING_NEWER;
}
