#include "tests/unit/test.h"

#include "kernels/dtype/dtype.h"

#include <math.h>

static void every_byte_comes_back_from_f32(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 256; bits++) {
        float four = dtype_f32_of_f8e4m3((uint8_t)bits), five = dtype_f32_of_f8e5m2((uint8_t)bits);
        if (!isnan(four))
            assert_int_equal(dtype_f8e4m3_of_f32(four), bits);
        if (isfinite(five))
            assert_int_equal(dtype_f8e5m2_of_f32(five), bits);
    }
}

static void values_go_to_the_nearest_and_ties_to_the_even(void **state)
{
    (void)state;
    static const struct {
        float value;
        uint8_t four, five;
    } rows[] = {
        {0.0f, 0x00, 0x00},    {-0.0f, 0x80, 0x80},    {1.0f, 0x38, 0x3c},
        {448.0f, 0x7e, 0x5f},  {1e9f, 0x7e, 0x7b},     {-INFINITY, 0xfe, 0xfb},
        {0x1p-9f, 0x01, 0x18}, {0x1p-10f, 0x00, 0x14}, {0x1.8p-9f, 0x02, 0x1a},
        {1.0625f, 0x38, 0x3c}, {1.1875f, 0x3a, 0x3d},  {0x1p-16f, 0x00, 0x01},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(dtype_f8e4m3_of_f32(rows[i].value), rows[i].four);
        assert_int_equal(dtype_f8e5m2_of_f32(rows[i].value), rows[i].five);
    }
    assert_true(isnan(dtype_f32_of_f8e4m3(dtype_f8e4m3_of_f32(NAN))));
    assert_true(isnan(dtype_f32_of_f8e5m2(dtype_f8e5m2_of_f32(NAN))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_comes_back_from_f32),
        cmocka_unit_test(values_go_to_the_nearest_and_ties_to_the_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
