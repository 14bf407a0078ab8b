/* expr: formulas mean what they say, and their gradients agree with differences. */
#include "kernels/expr/expr.h"
#include "tests/unit/test.h"

#include <math.h>

static const char *const names[] = {"x", "y", "z"};
static const char *const one_root[] = {"r"};

static struct expr *read(struct cr_call *call, const char *text)
{
    struct expr *expr;
    assert_ok(call, expr_parse(call, text, names, 3, one_root, 1, &expr));
    return expr;
}

static void formulas_mean_what_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double result; /* at x = 0.5, y = -2, z = 3 */
    } cases[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"2 - 3 - 4", -5},
        {"16 / 4 / 2", 2},
        {"-x * -y", -1},
        {"- -x", 0.5},
        {"x < y ? 1 : x < z ? 2 : 3", 2},
        {"x == 0.5 ? y : z", -2},
        {"x != 0.5 ? y : z", 3},
        {"1e-2 * 1.5e2", 1.5},
        {"max(x, y) + min(x, y)", -1.5},
        {"fma(x, y, z)", 2},
        {"abs(y) + sign(y) + floor(x) + ceil(x) + trunc(y / 3)", 2},
        {"pow(z, 2) + sqrt(4) + rsqrt(4)", 11.5},
        {"u = x + 1; v = u * u; r = v * v;", 5.0625},
    };
    const double values[] = {0.5, -2, 3};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cr_env env = cr_env_system();
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
        double result;
        expr_evaluate(read(&call, cases[i].text), values, &result);
        if (fabs(result - cases[i].result) > 1e-12)
            fail_msg("%s is %g, not %g", cases[i].text, result, cases[i].result);
    }
}

static void gradients_agree_with_differences(void **state)
{
    (void)state;
    static const char *const formulas[] = {
        "x * y * z + x",
        "x / z - y / x",
        "exp(x) * exp2(y) + expm1(z)",
        "log(z) + log1p(x)",
        "sqrt(z) * rsqrt(x)",
        "sin(x) * cos(y)",
        "tanh(x * y)",
        "erf(x * y)",
        "pow(z, y) + pow(x, 3)",
        "abs(y) * x",
        "max(x, y) * min(y, z)",
        "fma(x, y, z * z)",
        "x < z ? y * y : x",
        "floor(x) + round(y)",
        "u = x * x; r = u * u + u;",
        "sign(y) * z",
        "-(x - y) * 2 / (z + 1)",
        "0 * x + y",
    };
    static const char *const gradient[] = {"dr"};
    static const int wrt[] = {0, 1, 2};
    for (size_t i = 0; i < sizeof formulas / sizeof formulas[0]; i++) {
        struct cr_env env = cr_env_system();
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
        struct expr *expr = read(&call, formulas[i]), *derived;
        assert_ok(&call, expr_derive(&call, expr, gradient, wrt, 3, &derived));
        double values[] = {0.7, -1.3, 2.1, 1.5}, by_rule[3];
        expr_evaluate(derived, values, by_rule);
        for (int j = 0; j < 3; j++) {
            double above, below, at = values[j];
            values[j] = at + 1e-6;
            expr_evaluate(expr, values, &above);
            values[j] = at - 1e-6;
            expr_evaluate(expr, values, &below);
            values[j] = at;
            double by_difference = 1.5 * (above - below) / 2e-6;
            if (fabs(by_rule[j] - by_difference) > 1e-7 * (1 + fabs(by_difference)))
                fail_msg("%s by %s: %g by the rule, %g by differences", formulas[i], names[j],
                         by_rule[j], by_difference);
        }
    }
}

static void equal_parts_are_computed_once(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    assert_int_equal(read(&call, "(x + y) * (x + y)")->node_count, 4);
    assert_int_equal(read(&call, "x * 1 + 0")->node_count, 3); /* x, and the numbers */
}

static void what_is_wrong_is_told_by_its_byte(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"", "formula, byte 0: a value is missing"},
        {"x +", "formula, byte 3: a value is missing"},
        {"x + w", "formula, byte 4: an unknown name"},
        {"(x", "formula, byte 2: ')' is missing"},
        {"max(x)", "formula, byte 5: an argument is missing"},
        {"x ? y", "formula, byte 5: ':' is missing"},
        {"x y", "formula, byte 2: something is left over"},
        {"u = x;", "formula: nothing is assigned to r"},
        {"r = x", "formula, byte 5: ';' is missing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cr_env env = cr_env_system();
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
        struct expr *expr;
        assert_int_equal(expr_parse(&call, cases[i].text, names, 3, one_root, 1, &expr),
                         CR_INVALID);
        assert_string_equal(call.reason, cases[i].reason);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_mean_what_they_say),
        cmocka_unit_test(gradients_agree_with_differences),
        cmocka_unit_test(equal_parts_are_computed_once),
        cmocka_unit_test(what_is_wrong_is_told_by_its_byte),
    };
    return cmocka_run_group_tests_name("expr", tests, NULL, NULL);
}
