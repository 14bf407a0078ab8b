/* table: the bounds of a runner's table of descriptors. */
#include "compute/protocol/table.h"

#define DESCRIPTOR_MAX 127

/* clang-format off */
static const struct cr_member descriptor[] = {
    CR_MEMBER(struct protocol_descriptor, name, 1, 64),
    CR_MEMBER(struct protocol_descriptor, descriptor, PROTOCOL_FD_FIRST, DESCRIPTOR_MAX),
};
static const struct cr_shape descriptor_shape = CR_SHAPE(struct protocol_descriptor, descriptor);
static const struct cr_member table[] = {
    CR_LIST(struct protocol_table, inputs, &descriptor_shape, 0, PROTOCOL_INPUTS_MAX + 2),
    CR_LIST(struct protocol_table, outputs, &descriptor_shape, 0, PROTOCOL_OUTPUTS_MAX),
    CR_LIST(struct protocol_table, slots, &descriptor_shape, 0, PROTOCOL_CHECKPOINT_SLOTS),
    CR_MEMBER(struct protocol_table, resume_step, 0, CR_SAFE_INTEGER),
    CR_MEMBER(struct protocol_table, threads, 1, PROTOCOL_DEVICES_MAX),
    CR_MEMBER(struct protocol_table, memory_size, 1, CR_SAFE_INTEGER),
    CR_MEMBER(struct protocol_table, checkpoint_s, 0, PROTOCOL_RUNTIME_S_MAX),
};
static const struct cr_member made[] = {
    CR_MEMBER(struct protocol_made, name, 1, 64),
    CR_MEMBER(struct protocol_made, size, 0, CR_SAFE_INTEGER),
};
static const struct cr_shape made_shape = CR_SHAPE(struct protocol_made, made);
static const struct cr_member ending[] = {
    CR_MEMBER(struct protocol_ending, detail, 0, PROTOCOL_DETAIL_MAX),
    CR_LABELS(struct protocol_ending, metrics, PROTOCOL_METRICS_MAX),
    CR_LIST(struct protocol_ending, outputs, &made_shape, 0, PROTOCOL_OUTPUTS_MAX),
    CR_MEMBER(struct protocol_ending, steps, 0, CR_SAFE_INTEGER),
};
/* clang-format on */

const struct cr_shape protocol_table_shape = CR_SHAPE(struct protocol_table, table);

const struct cr_shape protocol_ending_shape = CR_SHAPE(struct protocol_ending, ending);

_Static_assert(PROTOCOL_FD_FIRST + PROTOCOL_INPUTS_MAX + 2 + PROTOCOL_OUTPUTS_MAX +
                       PROTOCOL_CHECKPOINT_SLOTS <=
                   DESCRIPTOR_MAX,
               "a runner's descriptors have numbers below its limit");
