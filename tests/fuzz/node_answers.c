/*
 * node_answers: what a region may answer a node, or a node tell its region: refused with a reason,
 * or read; and what was read is written and read again as the same.
 */
#include "base/json/json.h"
#include "compute/protocol/table.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct cr_shape *const shapes[] = {
    &protocol_joined_shape,   &protocol_leases_shape,     &protocol_assignment_shape,
    &protocol_ordered_shape,  &protocol_renewed_shape,    &protocol_accepted_shape,
    &protocol_upload_shape,   &protocol_join_shape,       &protocol_start_shape,
    &protocol_progress_shape, &protocol_decline_shape,    &protocol_complete_shape,
    &protocol_renew_shape,    &protocol_completion_shape, &protocol_account_shape,
    &protocol_spec_shape,     &protocol_table_shape,      &protocol_ending_shape,
};
#define SHAPE_COUNT (sizeof shapes / sizeof shapes[0])

/* What a shape cannot say is said by these: they may refuse, and may not break. */
static void check(struct cr_call *call, const struct cr_shape *shape, const void *value)
{
    enum cr_status status = CR_OK;
    if (shape == &protocol_leases_shape)
        status = protocol_leases_check(call, value);
    else if (shape == &protocol_assignment_shape)
        status = protocol_assignment_check(call, value);
    else if (shape == &protocol_join_shape)
        status = protocol_join_check(call, value);
    else if (shape == &protocol_progress_shape)
        status = protocol_progress_check(call, value);
    else if (shape == &protocol_complete_shape)
        status = protocol_complete_check(call, value);
    else if (shape == &protocol_account_shape)
        status = protocol_account_check(call, value);
    else if (shape == &protocol_spec_shape)
        status = protocol_spec_check(call, value);
    assert(status == CR_OK || call->reason[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    const struct cr_shape *shape = shapes[data[0] % SHAPE_COUNT];
    void *value = cr_alloc(&call, 1, shape->size), *again = cr_alloc(&call, 1, shape->size);
    if (json_read(&call, shape, (const char *)data + 1, size - 1, value) != CR_OK) {
        assert(call.reason[0] != '\0');
        return 0;
    }
    const char *text = json_write(&call, shape, value);
    assert(json_read(&call, shape, text, strlen(text), again) == CR_OK);
    assert(strcmp(json_write(&call, shape, again), text) == 0);
    check(&call, shape, value);
    return 0;
}
