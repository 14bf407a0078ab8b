/*
 * functions: those that f32 alone does not hold to 2 ulp. They go through f64, in sequences as
 * fixed as those of the header, and are rounded once.
 */
#include "kernels/expr/functions.h"

#define LN_2_HEAD    0x1.62e42fefa38p-1 /* 43 bits: a product with a small integer is exact */
#define LN_2_TAIL    0x1.ef35793c7673p-45
#define SQRT_HALF    0x1.6a09e667f3bcdp-1
#define HALF_PI      0x1.921fb54442d18p+0
#define HALF_PI_HEAD 0x1.921fb544p+0 /* 33 bits */
#define HALF_PI_TAIL 0x1.0b4611a626331p-34
#define ROUNDER      0x1.8p+52
#define PLAIN_MAX    0x1p18f /* above it, an angle is reduced in integers */

static double of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* e^x for |x| <= 700: 2^n by bits, and the series of e^r for |r| <= ln 2 / 2. */
static double wide_exp(double x)
{
    double n = x * 0x1.71547652b82fep+0 + ROUNDER - ROUNDER;
    double r = x - n * LN_2_HEAD - n * LN_2_TAIL, sum = 1;
    for (int k = 13; k >= 1; k--)
        sum = 1 + sum * r / k;
    return sum * of_bits((uint64_t)((int64_t)n + 1023) << 52);
}

/* ln x of a normal x > 0: 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.172. */
static double wide_log(double x)
{
    int exponent;
    double m = frexp(x, &exponent);
    if (m < SQRT_HALF) {
        m *= 2;
        exponent--;
    }
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (int k = 21; k >= 3; k -= 2)
        sum = sum * square + 1.0 / k;
    return exponent * LN_2_HEAD + (2 * s + (2 * s * square * sum + exponent * LN_2_TAIL));
}

float expr_expm1(float x)
{
    double wide = (double)x;
    if (expr_abs(x) < 0x1p-10f)
        return (float)(wide + wide * wide * (0.5 + wide * (1.0 / 6 + wide / 24)));
    if (x > 89.0f)
        return x + __builtin_inff();
    return x < -20.0f ? -1.0f : (float)(wide_exp(wide) - 1);
}

float expr_log1p(float x)
{
    double wide = (double)x;
    if (expr_abs(x) < 0x1p-12f)
        return (float)(wide - wide * wide * (0.5 - wide * (1.0 / 3 - wide / 4)));
    if (!(x > -1.0f))
        return x == -1.0f ? -__builtin_inff() : __builtin_nanf("");
    return x == __builtin_inff() ? x : (float)wide_log(1 + wide);
}

/*
 * |x| = quarter pi / 2 + angle, |angle| <= pi / 4, for |x| >= 2^18: the bits of 2 / pi that count,
 * 96 of them, times the 24 bits of x; what is above the quarter drops out.
 * Source: M. Payne and R. Hanek, "Radian Reduction for Trigonometric Functions", SIGNUM 1983.
 */
static unsigned reduce_large(float x, double *ret_angle)
{
    static const uint32_t two_by_pi[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599,
                                         0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a};
    uint32_t bits = expr_bits(x);
    unsigned exponent = (bits >> 23 & 0xff) - 150; /* |x| = mantissa 2^exponent */
    unsigned __int128 mantissa = (bits & 0x7fffff) | 0x800000, window = 0;
    /* Bit i of 2 / pi, from 1, weighs 2^-i; those up to exponent - 2 give multiples of 4. */
    unsigned first = (int)exponent > 2 ? exponent - 2 : 0;
    for (unsigned i = first; i < first + 96; i++)
        window = window << 1 | (two_by_pi[i / 32] >> (31 - i % 32) & 1);

    unsigned point = first + 96 - exponent; /* bits of the product behind the point */
    unsigned __int128 product = mantissa * window;
    unsigned quarter = (unsigned)(product >> point) & 3;
    uint64_t rest = (uint64_t)(product << (128 - point) >> 64);
    double fraction = (double)(rest >> 11) * 0x1p-53;
    if (fraction > 0.5) {
        fraction = -(double)(-rest >> 11) * 0x1p-53;
        quarter++;
    }
    *ret_angle = fraction * HALF_PI;
    return quarter;
}

static unsigned reduce(float x, double *ret_angle)
{
    float size = expr_abs(x);
    if (size >= PLAIN_MAX)
        return reduce_large(size, ret_angle);
    double wide = (double)size, n = wide * (1 / HALF_PI) + ROUNDER - ROUNDER;
    *ret_angle = wide - n * HALF_PI_HEAD - n * HALF_PI_TAIL;
    return (unsigned)n;
}

/* The series of sine (odd = 1) or cosine (odd = 0). */
static double series(double a, int odd)
{
    double square = a * a, sum = 1;
    for (int k = 16; k >= 2; k -= 2)
        sum = 1 - sum * square / (odd ? k * (k + 1) : k * (k - 1));
    return odd ? a * sum : sum;
}

static double quarter_sine(unsigned quarter, double angle)
{
    double y = series(angle, !(quarter & 1));
    return quarter & 2 ? -y : y;
}

float expr_sin(float x)
{
    if (!(expr_abs(x) < __builtin_inff()))
        return __builtin_nanf("");
    if (expr_abs(x) < 0x1p-13f)
        return x - x * x * x / 6;
    double angle;
    unsigned quarter = reduce(x, &angle);
    double y = quarter_sine(quarter, angle);
    return (float)(x < 0 ? -y : y);
}

float expr_cos(float x)
{
    if (!(expr_abs(x) < __builtin_inff()))
        return __builtin_nanf("");
    double angle;
    unsigned quarter = reduce(x, &angle);
    return (float)quarter_sine(quarter + 1, angle);
}

/* |x|^y where x is 0 or infinite, or y is infinite. */
static float pow_at_the_ends(float size, float y)
{
    if (expr_abs(y) == __builtin_inff() && size == 1.0f)
        return 1.0f;
    return (size > 1.0f) == (y > 0) ? __builtin_inff() : 0.0f;
}

float expr_pow(float x, float y)
{
    float size = expr_abs(x);
    if (y == 0 || x == 1.0f)
        return 1.0f;
    if (x != x || y != y)
        return __builtin_nanf("");

    int whole = __builtin_floorf(y) == y;
    int odd = whole && __builtin_floorf(y / 2) * 2 != y && expr_abs(y) < 0x1p24f;
    float sign = odd && expr_bits(x) >> 31 ? -1.0f : 1.0f;
    if (size == 0 || size == __builtin_inff() || expr_abs(y) == __builtin_inff())
        return sign * pow_at_the_ends(size, y);
    if (x < 0 && !whole)
        return __builtin_nanf("");

    double power = (double)y * wide_log((double)size);
    power = power > 700 ? 700 : power < -700 ? -700 : power;
    return sign * (float)wide_exp(power);
}
