#include "tests/unit/test.h"

#include "kernels/expr/functions.h"

/* Of the bits of f32, from one argument to the next; under a sanitizer each takes ten times as
 * long. */
#ifdef __SANITIZE_ADDRESS__
#define STEP 4111
#else
#define STEP 257
#endif
#define ULP_MAX 2.0

/* |got - want| in steps of f32 at want; what both overflow to is equal. */
static double ulps(float got, double want)
{
    float rounded = (float)want;
    if (got != got || rounded != rounded)
        return got != got && rounded != rounded ? 0 : INFINITY;
    if (got == rounded)
        return 0;
    if (isinf(got) || isinf(rounded))
        return INFINITY;
    int exponent;
    frexp(want, &exponent);
    double step = ldexp(1, exponent - 24 < -149 ? -149 : exponent - 24);
    return fabs((double)got - want) / step;
}

struct function {
    const char *name;
    float (*ours)(float x);
    double (*wide)(double x);
};

static double wide_rsqrt(double x)
{
    return 1 / sqrt(x);
}

static const struct function functions[] = {
    {"exp", expr_exp, exp},       {"exp2", expr_exp2, exp2},
    {"expm1", expr_expm1, expm1}, {"log", expr_log, log},
    {"log1p", expr_log1p, log1p}, {"tanh", expr_tanh, tanh},
    {"erf", expr_erf, erf},       {"sin", expr_sin, sin},
    {"cos", expr_cos, cos},       {"rsqrt", expr_rsqrt, wide_rsqrt},
};

static void every_function_is_within_2_ulp_of_f64(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof(functions) / sizeof(functions[0]); f++) {
        double worst = 0;
        float worst_at = 0;
        for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STEP) {
            float x = expr_of_bits((uint32_t)bits);
            double distance = ulps(functions[f].ours(x), functions[f].wide((double)x));
            if (distance > worst) {
                worst = distance;
                worst_at = x;
            }
        }
        print_message("%-6s %.3f ulp at %a\n", functions[f].name, worst, (double)worst_at);
        assert_true(worst <= ULP_MAX);
    }
}

static void the_ends_are_those_of_annex_f(void **state)
{
    (void)state;
    static const float ends[] = {
        0.0f,      -0.0f,      INFINITY,        -INFINITY,       NAN, 1.0f, -1.0f,
        0x1p-149f, -0x1p-149f, 0x1.fffffep127f, -0x1.fffffep127f};
    for (size_t f = 0; f < sizeof(functions) / sizeof(functions[0]); f++)
        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
            float got = functions[f].ours(ends[i]);
            double want = functions[f].wide((double)ends[i]);
            if (ulps(got, want) > ULP_MAX)
                fail_msg("%s(%a) is %a, not %a", functions[f].name, (double)ends[i], (double)got,
                         want);
        }
}

static void powers_are_within_2_ulp_of_f64(void **state)
{
    (void)state;
    static const float exponents[] = {0.0f,   1.0f,     -1.0f,     2.0f,  3.0f,
                                      -3.0f,  0.5f,     -2.5f,     17.0f, 0x1.8p-20f,
                                      127.5f, INFINITY, -INFINITY, NAN,   1e9f};
    for (size_t e = 0; e < sizeof(exponents) / sizeof(exponents[0]); e++)
        for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 65521) {
            float x = expr_of_bits((uint32_t)bits);
            double want = pow((double)x, (double)exponents[e]);
            if (ulps(expr_pow(x, exponents[e]), want) > ULP_MAX)
                fail_msg("pow(%a, %a)", (double)x, (double)exponents[e]);
        }
}

static void nan_wins_in_min_and_max(void **state)
{
    (void)state;
    assert_true(isnan(expr_min(NAN, 1)) && isnan(expr_min(1, NAN)));
    assert_true(isnan(expr_max(NAN, 1)) && isnan(expr_max(1, NAN)));
    assert_true(expr_min(1, 2) == 1 && expr_max(1, 2) == 2);
    assert_true(expr_round(2.5f) == 2 && expr_round(-3.5f) == -4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_is_within_2_ulp_of_f64),
        cmocka_unit_test(the_ends_are_those_of_annex_f),
        cmocka_unit_test(powers_are_within_2_ulp_of_f64),
        cmocka_unit_test(nan_wins_in_min_and_max),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
