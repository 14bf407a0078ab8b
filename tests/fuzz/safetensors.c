/* safetensors: any bytes are read or refused; what is read lies within them, each byte once. */
#include "kernels/format/format.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct format_safetensors file;
    if (format_read_safetensors(&call, data, size, &file) != CR_OK) {
        assert(call.status == CR_INVALID && call.reason[0] != '\0');
        return 0;
    }
    size_t covered = 0;
    for (size_t i = 0; i < file.count; i++) {
        const uint8_t *bytes = file.tensors[i].bytes;
        assert(bytes >= data && file.tensors[i].size <= (size_t)(data + size - bytes));
        assert(format_find(&file, file.tensors[i].name) == &file.tensors[i]);
        covered += file.tensors[i].size;
    }
    assert(covered <= size);
    return 0;
}
