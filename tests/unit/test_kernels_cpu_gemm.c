#include "tests/unit/cpu_tiers.h"

#include "kernels/cpu/gemm_internal.h"

#define ULP 0x1p-24

struct shape {
    int64_t m, n, k;
    bool a_turned, b_turned, bias, relu;
};

static const struct shape shapes[] = {
    {1, 1, 1, false, false, false, false},      {3, 5, 0, false, false, true, true},
    {4, 33, 17, false, false, false, false},    {17, 31, 3, true, false, false, false},
    {33, 127, 255, false, true, true, false},   {14, 32, 256, true, true, false, true},
    {15, 33, 257, false, false, true, true},    {127, 65, 513, true, true, true, true},
    {113, 10, 1025, false, true, false, false}, {2, 1030, 300, false, false, true, false},
    {230, 100, 31, true, false, false, true},   {64, 10, 1568, false, false, true, false},
};

/* sum of a b + bias in f64, and sum of |a b| + |bias| for its bound. */
static double meaning(const struct cpu_gemm *gemm, int64_t i, int64_t j, double *ret_size)
{
    double sum = gemm->bias ? (double)gemm->bias[j] : 0, size = fabs(sum);
    for (int64_t k = 0; k < gemm->k; k++) {
        double product = (double)gemm->a[i * gemm->a_row + k * gemm->a_column] *
                         (double)gemm->b[k * gemm->b_row + j * gemm->b_column];
        sum += product;
        size += fabs(product);
    }
    *ret_size = size;
    return gemm->relu && sum <= 0 ? 0 : sum;
}

static struct cpu_gemm gemm_of(struct cpu_tiers *tiers, const struct shape *shape)
{
    int64_t m = shape->m, n = shape->n, k = shape->k;
    return (struct cpu_gemm){
        .m = m,
        .n = n,
        .k = k,
        .a = cpu_tiers_floats(tiers, m * k, 1),
        .a_row = shape->a_turned ? 1 : k,
        .a_column = shape->a_turned ? m : 1,
        .b = cpu_tiers_floats(tiers, n * k, 2),
        .b_row = shape->b_turned ? 1 : n,
        .b_column = shape->b_turned ? k : 1,
        .c_row = n,
        .bias = shape->bias ? cpu_tiers_floats(tiers, n, 3) : NULL,
        .relu = shape->relu,
    };
}

static void products_are_within_their_bound_of_f64(void **state)
{
    (void)state;
    struct cpu_tiers *tiers = cpu_tiers_open();
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
        struct cpu_gemm gemm = gemm_of(tiers, &shapes[s]);
        gemm.c = cpu_tiers_floats(tiers, gemm.m * gemm.n, 4);
        cpu_gemm(cpu_of(tiers->devices[tiers->count - 1]), &gemm);
        for (int64_t i = 0; i < gemm.m; i++)
            for (int64_t j = 0; j < gemm.n; j++) {
                double size, want = meaning(&gemm, i, j, &size);
                double bound = 4 * sqrt((double)gemm.k + 1) * ULP * size + ULP * fabs(want);
                double got = (double)gemm.c[i * gemm.c_row + j];
                if (!(fabs(got - want) <= bound))
                    fail_msg("shape %zu, c[%lld][%lld] is %a, not %a", s, (long long)i,
                             (long long)j, got, want);
            }
    }
    cpu_tiers_close(tiers);
}

static void all_tiers_and_numbers_of_threads_give_the_same_bits(void **state)
{
    (void)state;
    struct cpu_tiers *tiers = cpu_tiers_open();
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
        struct cpu_gemm gemm = gemm_of(tiers, &shapes[s]);
        size_t size = (size_t)(gemm.m * gemm.n) * sizeof(float);
        float *first = cpu_tiers_floats(tiers, gemm.m * gemm.n, 4);
        gemm.c = first;
        cpu_gemm(cpu_of(tiers->devices[0]), &gemm);
        for (int d = 1; d < tiers->count; d++) {
            gemm.c = cpu_tiers_floats(tiers, gemm.m * gemm.n, 5);
            cpu_gemm(cpu_of(tiers->devices[d]), &gemm);
            assert_memory_equal(gemm.c, first, size);
        }
    }
    cpu_tiers_close(tiers);
}

/* Enough work that it is divided, by rows and by columns. */
static void large_products_are_divided_without_changing_a_bit(void **state)
{
    (void)state;
    static const struct shape large[] = {{400, 301, 600, false, false, false, false},
                                         {301, 400, 600, false, true, true, false}};
    struct cpu_tiers *tiers = cpu_tiers_open();
    for (size_t s = 0; s < 2; s++) {
        struct cpu_gemm gemm = gemm_of(tiers, &large[s]);
        float *first = cpu_tiers_floats(tiers, gemm.m * gemm.n, 4);
        for (int d = tiers->count - 1; d >= 3; d--) { /* portable would take long */
            gemm.c = d == tiers->count - 1 ? first : cpu_tiers_floats(tiers, gemm.m * gemm.n, 5);
            cpu_gemm(cpu_of(tiers->devices[d]), &gemm);
            assert_memory_equal(gemm.c, first, (size_t)(gemm.m * gemm.n) * sizeof(float));
        }
    }
    cpu_tiers_close(tiers);
}

/* Rows of c that are further apart than its columns keep what lies between. */
static void nothing_beside_c_is_written(void **state)
{
    (void)state;
    struct cpu_tiers *tiers = cpu_tiers_open();
    for (int d = 0; d < tiers->count; d += 3) {
        struct cpu_gemm gemm = gemm_of(tiers, &shapes[6]);
        gemm.c_row = gemm.n + 7;
        gemm.c = cr_new(&tiers->call, float, (size_t)(gemm.m * gemm.c_row));
        cpu_gemm(cpu_of(tiers->devices[d]), &gemm);
        for (int64_t i = 0; i < gemm.m; i++)
            for (int64_t j = gemm.n; j < gemm.c_row; j++)
                assert_true(gemm.c[i * gemm.c_row + j] == 0);
    }
    cpu_tiers_close(tiers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_within_their_bound_of_f64),
        cmocka_unit_test(all_tiers_and_numbers_of_threads_give_the_same_bits),
        cmocka_unit_test(large_products_are_divided_without_changing_a_bit),
        cmocka_unit_test(nothing_beside_c_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
