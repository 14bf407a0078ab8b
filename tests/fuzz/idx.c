/* idx: any bytes are read as pictures or labels, or refused; every pixel that is told is there. */
#include "kernels/data/data.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct data_images images;
    struct data_labels labels;
    if (data_read_images(&call, "images", data, size, &images) == CR_OK) {
        struct data_normal normal = data_measure(&images);
        assert(normal.deviation > 0);
        assert(images.pixels + images.count * images.rows * images.columns == data + size);
    }
    cr_forgive(&call);
    if (data_read_labels(&call, "labels", data, size, 10, &labels) == CR_OK)
        for (int64_t i = 0; i < labels.count; i++)
            assert(labels.labels[i] < 10);
    return 0;
}
