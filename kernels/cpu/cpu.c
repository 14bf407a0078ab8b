/* cpu: the device itself: memory, threads, and the search for a kernel. */
#include "kernels/cpu/cpu_internal.h"
#include "kernels/cpu/kernels_internal.h"

#include <sched.h>
#include <sys/mman.h>

#define PAGE_SIZE     4096
#define MAPPED_MIN    ((size_t)1 << 16) /* from here on memory is mapped, and goes back at once */
#define HUGE_MIN      ((size_t)4 << 20) /* from here on large pages are asked for */
#define PACK_A_FLOATS ((CPU_MC + CPU_ROWS_MAX) * CPU_KC)
#define PACK_B_FLOATS ((CPU_NC + CPU_COLS_MAX) * CPU_KC)

static bool is_mapped(size_t size)
{
    return size >= MAPPED_MIN;
}

static void *cpu_allocate(struct device *device, size_t size)
{
    (void)device;
    size_t rounded = (size + PAGE_SIZE - 1) & ~(size_t)(PAGE_SIZE - 1);
    void *bytes;
    if (rounded < size)
        return NULL;
    if (is_mapped(size)) {
        bytes = mmap(NULL, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (bytes == MAP_FAILED)
            return NULL;
        if (rounded >= HUGE_MIN)
            madvise(bytes, rounded, MADV_HUGEPAGE); /* a hint, that a kernel may not know */
    } else {
        size_t small = (size + DEVICE_ALIGNMENT) & ~(size_t)(DEVICE_ALIGNMENT - 1);
        bytes = aligned_alloc(DEVICE_ALIGNMENT, small);
    }
#ifdef __SANITIZE_ADDRESS__
    if (bytes)
        memset(bytes, 0xff, size);
#endif
    return bytes;
}

static void cpu_release(struct device *device, void *bytes, size_t size)
{
    (void)device;
    if (is_mapped(size))
        munmap(bytes, (size + PAGE_SIZE - 1) & ~(size_t)(PAGE_SIZE - 1));
    else
        free(bytes);
}

static enum cr_status cpu_copy(struct cr_call *call, struct device *device, enum device_way way,
                               void *to, const void *from, size_t size)
{
    (void)call;
    (void)device;
    (void)way; /* it is all one memory */
    if (size > 0)
        memmove(to, from, size);
    return CR_OK;
}

/* The kernel of a table for a site; NULL: it has none. */
static const struct device_kernel *find_in(const struct device_kernel *table, int op,
                                           const struct op_site *site)
{
    for (const struct device_kernel *kernel = table; kernel->run; kernel++)
        if ((kernel->op == 0 || kernel->op == op) && (!kernel->accepts || kernel->accepts(site)))
            return kernel;
    return NULL;
}

static const struct device_kernel *cpu_find(const struct device *device, int op,
                                            const struct op_site *site)
{
    (void)device;
    const struct device_kernel *const tables[] = {
        cpu_product_kernels,   cpu_window_kernels, cpu_softmax_kernels, cpu_index_kernels,
        cpu_pointwise_kernels, cpu_reduce_kernels, cpu_wide_kernels,
    };
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        const struct device_kernel *kernel = find_in(tables[i], op, site);
        if (kernel)
            return kernel;
    }
    return NULL;
}

static enum cr_status cpu_wait(struct cr_call *call, struct device *device)
{
    (void)call;
    (void)device;
    return CR_OK;
}

static void free_threads(struct cpu *cpu)
{
    for (int i = 0; i < cpu->thread_count; i++) {
        free(cpu->threads[i].pack_a);
        free(cpu->threads[i].pack_b);
    }
}

/* What tensors held was released to the system; what kernels packed is ours still. */
static void cpu_scrub(struct device *device)
{
    struct cpu *cpu = cpu_of(device);
    for (int i = 0; i < cpu->thread_count; i++) {
        explicit_bzero(cpu->threads[i].pack_a, PACK_A_FLOATS * sizeof(float));
        explicit_bzero(cpu->threads[i].pack_b, PACK_B_FLOATS * sizeof(float));
    }
}

static void cpu_close(struct device *device)
{
    struct cpu *cpu = cpu_of(device);
    cpu_pool_close(cpu->pool);
    free_threads(cpu);
    free(cpu);
}

static const struct device_ops cpu_ops = {
    .kind = "cpu",
    .allocate = cpu_allocate,
    .release = cpu_release,
    .copy = cpu_copy,
    .find = cpu_find,
    .wait = cpu_wait,
    .scrub = cpu_scrub,
    .close = cpu_close,
};

static enum cr_status choose_tier(struct cr_call *call, const char *word, enum cpu_tier *ret_tier)
{
    enum cpu_tier best = cpu_detect(), asked = best;
    bool from_env = !word;
    if (from_env)
        word = getenv("CRESSET_CPU");
    if (word && *word && !cpu_tier_of(word, &asked))
        return cr_fail(call, CR_INVALID, "no tier '%s': portable, avx2 or avx512", word);
    if (asked > best && !from_env)
        return cr_fail(call, CR_INVALID, "this machine has no %s", word);
    *ret_tier = asked < best ? asked : best; /* CRESSET_CPU only lowers */
    return CR_OK;
}

static int usable_cores(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < CPU_THREADS_MAX ? count : CPU_THREADS_MAX;
}

static enum cr_status open_threads(struct cr_call *call, struct cpu *cpu)
{
    for (int i = 0; i < cpu->thread_count; i++) {
        cpu->threads[i].pack_a = aligned_alloc(DEVICE_ALIGNMENT, PACK_A_FLOATS * sizeof(float));
        cpu->threads[i].pack_b = aligned_alloc(DEVICE_ALIGNMENT, PACK_B_FLOATS * sizeof(float));
        if (!cpu->threads[i].pack_a || !cpu->threads[i].pack_b)
            return cr_fail(call, CR_EXHAUSTED, "no memory for %d threads", cpu->thread_count);
        memset(cpu->threads[i].pack_a, 0, PACK_A_FLOATS * sizeof(float));
        memset(cpu->threads[i].pack_b, 0, PACK_B_FLOATS * sizeof(float));
    }
    return cpu_pool_open(call, cpu->thread_count, &cpu->pool);
}

enum cr_status cpu_open(struct cr_call *call, const struct cpu_options *options,
                        struct device **ret_device)
{
    enum cpu_tier tier;
    CR_TRY(choose_tier(call, options->tier, &tier));
    if (options->threads < 0 || options->threads > CPU_THREADS_MAX)
        return cr_fail(call, CR_INVALID, "%d threads, not 0 to %d", options->threads,
                       CPU_THREADS_MAX);

    struct cpu *cpu = calloc(1, sizeof(*cpu));
    if (!cpu)
        return cr_fail(call, CR_EXHAUSTED, "no memory for a device");
    cpu->device.ops = &cpu_ops;
    cpu->device.memory_max = options->memory_max > 0 ? options->memory_max : INT64_MAX;
    cpu->loops = cpu_loops_of(tier);
    cpu->thread_count = options->threads > 0 ? options->threads : usable_cores();
    cpu_model(cpu->device.model, sizeof(cpu->device.model));
    snprintf(cpu->device.class, sizeof(cpu->device.class), "cpu/base");

    enum cr_status status = open_threads(call, cpu);
    if (status != CR_OK) {
        cpu_close(&cpu->device);
        return status;
    }
    *ret_device = &cpu->device;
    return CR_OK;
}

const char *cpu_tier(const struct device *device)
{
    return cpu_of(device)->loops->name;
}

int cpu_threads(const struct device *device)
{
    return cpu_of(device)->thread_count;
}
