/* safetensors: any bytes are refused with a reason, or are tensors that lie within them. */
#include "kernels/format/format.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct format_safetensors file;
    size_t sum = 0;
    if (format_read_safetensors(&call, data, size, &file) != CR_OK) {
        assert(call.reason[0] != '\0');
        return 0;
    }
    for (size_t i = 0; i < file.count; i++) {
        const uint8_t *bytes = file.tensors[i].bytes;
        assert(bytes >= data && bytes + file.tensors[i].size <= data + size);
        assert(format_find(&file, file.tensors[i].name) == &file.tensors[i]);
        sum += file.tensors[i].size;
    }
    assert(sum <= size);
    return 0;
}
