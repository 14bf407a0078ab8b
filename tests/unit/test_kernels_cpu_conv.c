#include "tests/unit/cpu_tiers.h"

#include "kernels/cpu/conv_internal.h"

#define ULP 0x1p-24

static const struct cpu_conv convs[] = {
    {2, 3, 4, {7, 6}, {7, 6}, {3, 3}, {1, 1}, {1, 1}},
    {1, 1, 2, {5, 5}, {1, 1}, {5, 5}, {1, 1}, {0, 0}},
    {3, 2, 5, {9, 8}, {9, 8}, {1, 1}, {1, 1}, {0, 0}},
    {2, 3, 4, {9, 8}, {5, 3}, {3, 2}, {2, 3}, {1, 0}},
    {2, 3, 4, {11, 9}, {6, 4}, {3, 3}, {2, 2}, {2, 0}},
    {19, 17, 33, {14, 14}, {14, 14}, {3, 3}, {1, 1}, {1, 1}},
    {1, 30, 3, {28, 28}, {28, 28}, {3, 3}, {1, 1}, {1, 1}}, /* two blocks of k */
    {2, 2, 15, {40, 31}, {40, 31}, {5, 7}, {1, 1}, {2, 3}}, /* several strips */
    {1, 2, 3, {4, 4}, {8, 8}, {1, 1}, {1, 1}, {2, 2}},      /* more padding than kernel */
};
#define CONVS (sizeof(convs) / sizeof(convs[0]))

struct sizes {
    int64_t x, w, y;
};

static struct sizes sizes_of(const struct cpu_conv *conv)
{
    return (struct sizes){conv->images * conv->channels * conv->in[0] * conv->in[1],
                          conv->outputs * conv->channels * conv->kernel[0] * conv->kernel[1],
                          conv->images * conv->outputs * conv->out[0] * conv->out[1]};
}

struct wide {
    double *sum, *size; /* of the products, and of their absolute values */
};

static struct wide wide_of(struct cpu_tiers *tiers, int64_t count)
{
    return (struct wide){cr_new(&tiers->call, double, (size_t)count),
                         cr_new(&tiers->call, double, (size_t)count)};
}

static void add(const struct wide *wide, int64_t at, double product)
{
    wide->sum[at] += product;
    wide->size[at] += fabs(product);
}

/* All three passes in f64, product by product. */
static void meaning(const struct cpu_conv *conv, const float *x, const float *w, const float *dy,
                    const struct wide *y, const struct wide *dx, const struct wide *dw)
{
    const int64_t places = conv->kernel[0] * conv->kernel[1];
    const int64_t windows = conv->out[0] * conv->out[1];
    for (int64_t n = 0; n < conv->images; n++)
        for (int64_t o = 0; o < conv->outputs; o++)
            for (int64_t c = 0; c < conv->channels; c++)
                for (int64_t window = 0; window < windows; window++)
                    for (int64_t place = 0; place < places; place++) {
                        int64_t i = window / conv->out[1] * conv->stride[0] +
                                    place / conv->kernel[1] - conv->before[0];
                        int64_t j = window % conv->out[1] * conv->stride[1] +
                                    place % conv->kernel[1] - conv->before[1];
                        if (i < 0 || i >= conv->in[0] || j < 0 || j >= conv->in[1])
                            continue;
                        int64_t at_x =
                            ((n * conv->channels + c) * conv->in[0] + i) * conv->in[1] + j;
                        int64_t at_w = (o * conv->channels + c) * places + place;
                        int64_t at_y = (n * conv->outputs + o) * windows + window;
                        add(y, at_y, (double)x[at_x] * (double)w[at_w]);
                        add(dx, at_x, (double)dy[at_y] * (double)w[at_w]);
                        add(dw, at_w, (double)dy[at_y] * (double)x[at_x]);
                    }
}

static void assert_close(const float *got, const struct wide *want, int64_t count, double terms)
{
    for (int64_t i = 0; i < count; i++) {
        double bound = 4 * sqrt(terms) * ULP * want->size[i] + ULP * fabs(want->sum[i]);
        if (!(fabs((double)got[i] - want->sum[i]) <= bound))
            fail_msg("element %lld is %a, not %a", (long long)i, (double)got[i], want->sum[i]);
    }
}

struct passes {
    float *y, *dx, *dw;
};

static struct passes run(struct cpu_tiers *tiers, struct device *device,
                         const struct cpu_conv *conv)
{
    struct sizes sizes = sizes_of(conv);
    const float *x = cpu_tiers_floats(tiers, sizes.x, 1), *w = cpu_tiers_floats(tiers, sizes.w, 2);
    const float *dy = cpu_tiers_floats(tiers, sizes.y, 3);
    struct passes passes = {cpu_tiers_floats(tiers, sizes.y, 4),
                            cpu_tiers_floats(tiers, sizes.x, 5),
                            cpu_tiers_floats(tiers, sizes.w, 6)};
    struct cpu *cpu = cpu_of(device);
    void *scratch;
    size_t size = cpu_conv_scratch(cpu, conv);
    assert_ok(&tiers->call, device_allocate(&tiers->call, device, size, &scratch));
    memset(scratch, 0xff, size);
    cpu_conv_forward(cpu, conv, x, w, NULL, false, passes.y, scratch);
    memset(scratch, 0xff, size);
    cpu_conv_input_gradient(cpu, conv, dy, w, passes.dx, scratch);
    memset(scratch, 0xff, size);
    cpu_conv_weight_gradient(cpu, conv, x, dy, passes.dw, scratch);
    device_release(device, scratch, size);
    return passes;
}

static void all_passes_are_within_their_bounds_of_f64(void **state)
{
    (void)state;
    struct cpu_tiers *tiers = cpu_tiers_open();
    for (size_t i = 0; i < CONVS; i++) {
        const struct cpu_conv *conv = &convs[i];
        struct sizes sizes = sizes_of(conv);
        struct wide y = wide_of(tiers, sizes.y), dx = wide_of(tiers, sizes.x);
        struct wide dw = wide_of(tiers, sizes.w);
        meaning(conv, cpu_tiers_floats(tiers, sizes.x, 1), cpu_tiers_floats(tiers, sizes.w, 2),
                cpu_tiers_floats(tiers, sizes.y, 3), &y, &dx, &dw);
        struct passes passes = run(tiers, tiers->devices[tiers->count - 1], conv);

        double places = (double)(conv->kernel[0] * conv->kernel[1]);
        assert_close(passes.y, &y, sizes.y, places * (double)conv->channels);
        assert_close(passes.dx, &dx, sizes.x, places * (double)conv->outputs);
        assert_close(passes.dw, &dw, sizes.w, (double)(conv->images * conv->out[0] * conv->out[1]));
    }
    cpu_tiers_close(tiers);
}

static void all_tiers_and_numbers_of_threads_give_the_same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < CONVS; i++) {
        struct cpu_tiers *tiers = cpu_tiers_open();
        struct sizes sizes = sizes_of(&convs[i]);
        struct passes first = run(tiers, tiers->devices[0], &convs[i]);
        for (int d = 1; d < tiers->count; d++) {
            struct passes passes = run(tiers, tiers->devices[d], &convs[i]);
            assert_memory_equal(passes.y, first.y, (size_t)sizes.y * sizeof(float));
            assert_memory_equal(passes.dx, first.dx, (size_t)sizes.x * sizeof(float));
            assert_memory_equal(passes.dw, first.dw, (size_t)sizes.w * sizeof(float));
        }
        cpu_tiers_close(tiers);
    }
}

static void bias_and_relu_are_what_they_are_alone(void **state)
{
    (void)state;
    struct cpu_tiers *tiers = cpu_tiers_open();
    const struct cpu_conv *conv = &convs[7];
    struct sizes sizes = sizes_of(conv);
    const float *x = cpu_tiers_floats(tiers, sizes.x, 1), *w = cpu_tiers_floats(tiers, sizes.w, 2);
    const float *bias = cpu_tiers_floats(tiers, conv->outputs, 3);
    float *plain = cpu_tiers_floats(tiers, sizes.y, 4), *with = cpu_tiers_floats(tiers, sizes.y, 5);
    struct cpu *cpu = cpu_of(tiers->devices[tiers->count - 1]);
    void *scratch = cr_alloc(&tiers->call, 1, cpu_conv_scratch(cpu, conv));
    cpu_conv_forward(cpu, conv, x, w, NULL, false, plain, scratch);
    cpu_conv_forward(cpu, conv, x, w, bias, true, with, scratch);

    int64_t plane = conv->out[0] * conv->out[1];
    for (int64_t i = 0; i < sizes.y; i++) {
        float sum = plain[i] + bias[i / plane % conv->outputs];
        assert_true(with[i] == (sum <= 0 ? 0 : sum));
    }
    cpu_tiers_close(tiers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_passes_are_within_their_bounds_of_f64),
        cmocka_unit_test(all_tiers_and_numbers_of_threads_give_the_same_bits),
        cmocka_unit_test(bias_and_relu_are_what_they_are_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
