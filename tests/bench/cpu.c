/*
 * cpu: products of f32 against OpenBLAS, one thread each, alternating in this process.
 *
 * OpenBLAS comes by dlopen, with OPENBLAS_CORETYPE set to the kernels of the tier that is compared,
 * since what Debian's 0.3.21 picks by itself on newer processors are those of SSE3. Best of rounds.
 */
#include "kernels/cpu/conv_internal.h"
#include "kernels/cpu/gemm_internal.h"
#include "kernels/random/random.h"

#include <dlfcn.h>
#include <math.h>

#define ROUNDS    20
#define ROW_MAJOR 101
#define PLAIN     111

typedef void sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                   const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);

/* Of this thread alone, so that neighbours on the machine count less. */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static float *random_floats(size_t count, uint64_t stream)
{
    float *x = aligned_alloc(64, (count * sizeof(float) + 127) & ~(size_t)63);
    random_uniform_f32(1, stream, 0, count, x);
    return x;
}

static sgemm *open_peer(void)
{
    static const char *const names[] = {
        "libopenblas.so.0", "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0",
        "/usr/lib/x86_64-linux-gnu/openblas-serial/libopenblas.so.0"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        void *library = dlopen(names[i], RTLD_NOW);
        if (library)
            return (sgemm *)(uintptr_t)dlsym(library, "cblas_sgemm");
    }
    return NULL;
}

/* The better of ours and the peer's, in GFLOP/s; the result is the ratio, or 0 without a peer. */
static double compare(struct cpu *cpu, sgemm *peer, int m, int n, int k)
{
    float *a = random_floats((size_t)m * (size_t)k, 1),
          *b = random_floats((size_t)k * (size_t)n, 2);
    float *c = random_floats((size_t)m * (size_t)n, 3);
    struct cpu_gemm gemm = {m, n, k, a, k, 1, b, n, 1, c, n, NULL, false};
    double ours = INFINITY, theirs = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        double began = seconds();
        cpu_gemm_alone(cpu->loops, &cpu->threads[0], &gemm);
        double middle = seconds();
        if (peer)
            peer(ROW_MAJOR, PLAIN, PLAIN, m, n, k, 1, a, k, b, n, 0, c, n);
        double ended = seconds();
        ours = fmin(ours, middle - began);
        theirs = fmin(theirs, ended - middle);
    }
    double flops = 2.0 * m * n * k * 1e-9;
    printf("gemm %4dx%4dx%4d   ours %6.1f GFLOP/s", m, k, n, flops / ours);
    if (peer)
        printf("   openblas %6.1f   ratio %.2f", flops / theirs, theirs / ours);
    printf("\n");
    free(a);
    free(b);
    free(c);
    return peer ? theirs / ours : 0;
}

/* The three passes of one layer of the sample cnn, a batch of 64. */
static void convolve(struct cpu *cpu, int channels, int outputs, int size)
{
    enum { BATCH = 64, KERNEL = 3 };
    struct cpu_conv conv = {.images = BATCH,
                            .channels = channels,
                            .outputs = outputs,
                            .in = {size, size},
                            .out = {size, size},
                            .kernel = {KERNEL, KERNEL},
                            .stride = {1, 1},
                            .before = {1, 1}};
    size_t x_size = (size_t)(BATCH * channels * size * size);
    size_t y_size = (size_t)(BATCH * outputs * size * size);
    float *x = random_floats(x_size, 1), *y = random_floats(y_size, 2);
    float *w = random_floats((size_t)(outputs * channels * KERNEL * KERNEL), 3);
    float *scratch = random_floats(cpu_conv_scratch(cpu, &conv) / sizeof(float), 4);
    double best[3] = {INFINITY, INFINITY, INFINITY};
    for (int round = 0; round < ROUNDS; round++) {
        double t0 = seconds();
        cpu_conv_forward(cpu, &conv, x, w, NULL, false, y, scratch);
        double t1 = seconds();
        cpu_conv_input_gradient(cpu, &conv, y, w, x, scratch);
        double t2 = seconds();
        cpu_conv_weight_gradient(cpu, &conv, x, y, w, scratch);
        double t3 = seconds();
        best[0] = fmin(best[0], t1 - t0);
        best[1] = fmin(best[1], t2 - t1);
        best[2] = fmin(best[2], t3 - t2);
    }
    double flops = 2.0 * (double)y_size * channels * KERNEL * KERNEL * 1e-9;
    printf("conv %2d -> %2d, %dx%d, batch %d   forward %6.1f GFLOP/s   input gradient %6.1f   "
           "weight gradient %6.1f\n",
           channels, outputs, size, size, BATCH, flops / best[0], flops / best[1], flops / best[2]);
    free(x);
    free(y);
    free(w);
    free(scratch);
}

int main(void)
{
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct device *device;
    if (cpu_open(&call, &(struct cpu_options){.threads = 1}, &device) != CR_OK) {
        fprintf(stderr, "bench-cpu: %s\n", call.reason);
        return 1;
    }
    struct cpu *cpu = cpu_of(device);
    const char *core = cpu->loops->tier == CPU_AVX512 ? "SKYLAKEX" : "HASWELL";
    setenv("OPENBLAS_CORETYPE", core, 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    sgemm *peer = open_peer();
    printf("%s, tier %s, one thread; %s\n", device->model, cpu_tier(device),
           peer ? "" : "no OpenBLAS here, no ratio");
    if (peer)
        printf("OPENBLAS_CORETYPE=%s\n", core);

    static const int shapes[][3] = {
        {1024, 1024, 1024}, {2048, 2048, 2048}, {256, 3072, 768}, {64, 768, 768}};
    double product = 1;
    for (size_t i = 0; i < 4; i++)
        product *= compare(cpu, peer, shapes[i][0], shapes[i][1], shapes[i][2]);
    if (peer)
        printf("geometric mean of the ratios %.2f (bar 0.90)\n", pow(product, 0.25));
    convolve(cpu, 1, 16, 28);
    convolve(cpu, 16, 32, 14);
    device_close(device);
    return peer && pow(product, 0.25) < 0.9;
}
