/* engine: calls, engines and their devices. */
#include "kernels/cresset/cresset_internal.h"

#include "kernels/cpu/cpu.h"

enum cr_status cresset_handle(struct cr_call *call, size_t size, void **ret_handle)
{
    void *handle = calloc(1, size);
    if (!handle)
        return cr_fail(call, CR_EXHAUSTED, "no memory for a handle");
    *ret_handle = handle;
    return CR_OK;
}

enum cr_status cresset_check_size(struct cr_call *call, const char *what, size_t size,
                                  size_t expected)
{
    return size == expected
               ? CR_OK
               : cr_fail(call, CR_INVALID, "%s: %zu bytes, %zu are expected", what, size, expected);
}

enum cr_status cresset_hand_on(struct cr_call *call, const struct cr_call *from)
{
    return cr_fail(call, from->status, "%s", from->reason);
}

/* A call together with the env that it points to. */
struct own_call {
    struct cr_call call;
    struct cr_env env;
};

struct cr_call *cresset_call_open(int64_t timeout_ns)
{
    struct own_call *own = calloc(1, sizeof *own);
    if (!own)
        return NULL;
    own->env = cr_env_system();
    own->call = cr_call_open(&own->env, INT64_MAX);
    if (timeout_ns > 0)
        own->call.deadline_ns = cr_now_ns(&own->call) + timeout_ns;
    return &own->call;
}

void cresset_call_close(struct cr_call *call)
{
    if (!call)
        return;
    cr_call_close(call);
    free(call); /* the first member of struct own_call */
}

const char *cresset_call_reason(const struct cr_call *call)
{
    return call->reason;
}

void cresset_call_cancel(struct cr_call *call)
{
    __atomic_store_n(&call->deadline_ns, 0, __ATOMIC_RELAXED);
}

enum cr_status cresset_open(struct cr_call *call, const struct cresset_options *options,
                            struct cresset **ret_engine)
{
    struct cpu_options cpu = {0};
    void *handle;
    if (options) {
        CR_TRY(cresset_check_size(call, "cresset_options", options->size, sizeof *options));
        if (options->threads < 0 || options->threads > CPU_THREADS_MAX)
            return cr_fail(call, CR_INVALID, "threads must be 0 to %d", CPU_THREADS_MAX);
        if (options->memory_max < 0)
            return cr_fail(call, CR_INVALID, "memory_max is negative");
        cpu.threads = (int)options->threads;
        cpu.memory_max = options->memory_max;
        cpu.tier = options->tier;
    }
    CR_TRY(cresset_handle(call, sizeof(struct cresset), &handle));
    struct cresset *engine = handle;
    if (cpu_open(call, &cpu, &engine->device) != CR_OK) {
        free(engine);
        return call->status;
    }
    *ret_engine = engine;
    return CR_OK;
}

void cresset_close(struct cresset *engine)
{
    if (!engine)
        return;
    device_close(engine->device);
    free(engine);
}

const char *cresset_version(void)
{
    return CRESSET_VERSION;
}

int64_t cresset_device_count(const char *kind)
{
    return strcmp(kind, "cpu") == 0 ? 1 : 0;
}

struct cresset_device cresset_device_describe(const struct cresset *engine)
{
    const struct device *device = engine->device;
    return (struct cresset_device){
        .kind = device->ops->kind,
        .model = device->model,
        .class = device->class,
        .tier = cpu_tier(device),
        .threads = cpu_threads(device),
        .memory_max = device->memory_max,
    };
}

struct cresset_memory cresset_memory(const struct cresset *engine)
{
    return (struct cresset_memory){engine->device->memory_used, engine->device->memory_peak,
                                   engine->device->memory_max};
}

int64_t cresset_usage(const struct cresset *engine)
{
    return engine->device->busy_ns;
}

void cresset_scrub(struct cresset *engine)
{
    device_scrub(engine->device);
}
