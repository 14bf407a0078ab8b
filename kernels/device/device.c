/* device: what is the same for every backend: limits, counts, time. */
#include "kernels/device/device.h"

#include <assert.h>
#include <stdatomic.h>

/* Adds size to memory_used if that stays within memory_max. */
static bool reserve(struct device *device, int64_t size)
{
    int64_t used = atomic_load_explicit(&device->memory_used, memory_order_relaxed);
    do {
        if (size > device->memory_max - used)
            return false;
    } while (!atomic_compare_exchange_weak(&device->memory_used, &used, used + size));

    int64_t peak = atomic_load_explicit(&device->memory_peak, memory_order_relaxed);
    while (peak < used + size &&
           !atomic_compare_exchange_weak(&device->memory_peak, &peak, used + size))
        ;
    return true;
}

enum cr_status device_allocate(struct cr_call *call, struct device *device, size_t size,
                               void **ret_bytes)
{
    if (size > INT64_MAX || !reserve(device, (int64_t)size))
        return cr_fail(call, CR_EXHAUSTED, "%s memory: %zu bytes wanted, %lld of %lld in use",
                       device->ops->kind, size, (long long)device->memory_used,
                       (long long)device->memory_max);

    void *bytes = device->ops->allocate(device, size);
    if (!bytes) {
        device->memory_used -= (int64_t)size;
        return cr_fail(call, CR_EXHAUSTED, "%s memory: %zu bytes are not there", device->ops->kind,
                       size);
    }
    *ret_bytes = bytes;
    return CR_OK;
}

void device_release(struct device *device, void *bytes, size_t size)
{
    if (!bytes)
        return;
    device->ops->release(device, bytes, size);
    int64_t before = atomic_fetch_sub(&device->memory_used, (int64_t)size);
    assert(before >= (int64_t)size);
}

enum cr_status device_copy(struct cr_call *call, struct device *device, enum device_way way,
                           void *to, const void *from, size_t size)
{
    return device->ops->copy(call, device, way, to, from, size);
}

const struct device_kernel *device_find(const struct device *device, int op,
                                        const struct op_site *site)
{
    return device->ops->find(device, op, site);
}

size_t device_scratch_size(const struct device *device, const struct device_kernel *kernel,
                           const struct op_site *site)
{
    return kernel->scratch_size ? kernel->scratch_size(device, site) : 0;
}

enum cr_status device_run(struct cr_call *call, const struct device_kernel *kernel,
                          const struct device_launch *launch)
{
    int64_t began_ns = cr_now_ns(call);
    enum cr_status status = kernel->run(call, launch);
    launch->device->busy_ns += cr_now_ns(call) - began_ns;
    return status;
}

enum cr_status device_wait(struct cr_call *call, struct device *device)
{
    return device->ops->wait(call, device);
}

void device_scrub(struct device *device)
{
    device->ops->scrub(device);
}

void device_close(struct device *device)
{
    if (device)
        device->ops->close(device);
}
