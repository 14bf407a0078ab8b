/*
 * journal: any bytes are a prefix of whole records and a torn tail, or an error that says where;
 * and the prefix alone says the same.
 */
#include "compute/lease/lease.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct lease_past past, again;
    if (lease_replay(&call, (struct cr_bytes){data, size}, &past) != CR_OK) {
        assert(call.reason[0] != '\0');
        return 0;
    }
    assert(past.size >= 0 && (size_t)past.size <= size);
    assert(past.torn == ((size_t)past.size != size));
    assert(lease_replay(&call, (struct cr_bytes){data, (size_t)past.size}, &again) == CR_OK);
    assert(!again.torn && again.size == past.size);
    assert(again.ended.count == past.ended.count && again.results.count == past.results.count);
    return 0;
}
