#include "tests/unit/test.h"

#include "kernels/random/random.h"

#include <math.h>

#define DRAWS 200000

static float draws[DRAWS];

static void uniform_is_24_bits_of_a_word(void **state)
{
    (void)state;
    random_uniform_f32(42, 1, 0, DRAWS, draws);
    double sum = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        assert_true(draws[i] >= 0 && draws[i] < 1);
        sum += (double)draws[i];
    }
    assert_true(draws[0] == (float)(0x02933769 >> 8) * 0x1p-24f);
    /* five sigma of the mean */
    assert_true(fabs(sum / DRAWS - 0.5) < 5 * sqrt(1.0 / 12 / DRAWS));
}

static void uniform_f64_is_53_bits_of_two_words(void **state)
{
    (void)state;
    double x[3];
    random_uniform_f64(42, 1, 0, 3, x);
    assert_true(x[0] == (double)(UINT64_C(0x2051e91302933769) >> 11) * 0x1p-53);
    assert_true(x[2] >= 0 && x[2] < 1);
}

/* Moments to the fourth, each within five sigma. */
static void normal_has_the_moments_of_the_normal(void **state)
{
    (void)state;
    random_normal_f32(9, 4, 0, DRAWS, draws);
    double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        double z = (double)draws[i];
        m1 += z / DRAWS;
        m2 += z * z / DRAWS;
        m3 += z * z * z / DRAWS;
        m4 += z * z * z * z / DRAWS;
    }
    double sigma = 1 / sqrt((double)DRAWS);
    assert_true(fabs(m1) < 5 * sigma);
    assert_true(fabs(m2 - 1) < 5 * sqrt(2.0) * sigma);
    assert_true(fabs(m3) < 5 * sqrt(15.0) * sigma);
    assert_true(fabs(m4 - 3) < 5 * sqrt(96.0) * sigma);
}

static void normal_is_box_and_muller_of_its_words(void **state)
{
    (void)state;
    random_normal_f32(9, 4, 0, 1000, draws);
    for (size_t p = 0; p < 500; p++) {
        double u1 = ((random_word(9, 4, 2 * p) >> 8) + 1) * 0x1p-24;
        double u2 = (random_word(9, 4, 2 * p + 1) >> 8) * 0x1p-24;
        double radius = sqrt(-2 * log(u1)), angle = 2 * M_PI * u2;
        assert_true(fabs((double)draws[2 * p] - radius * cos(angle)) < 4e-7);
        assert_true(fabs((double)draws[2 * p + 1] - radius * sin(angle)) < 4e-7);
    }
}

static void a_draw_does_not_depend_on_where_the_run_began(void **state)
{
    (void)state;
    random_normal_f32(3, 5, 0, 100, draws);
    for (size_t first = 0; first < 50; first++) {
        float part[7];
        random_normal_f32(3, 5, first, 7, part);
        assert_memory_equal(part, draws + first, sizeof(part));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniform_is_24_bits_of_a_word),
        cmocka_unit_test(uniform_f64_is_53_bits_of_two_words),
        cmocka_unit_test(normal_has_the_moments_of_the_normal),
        cmocka_unit_test(normal_is_box_and_muller_of_its_words),
        cmocka_unit_test(a_draw_does_not_depend_on_where_the_run_began),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
