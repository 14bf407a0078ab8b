/*
 * functions: the functions of formulas, for f32.
 *
 * Each is a fixed sequence of additions, products, fused multiply-adds, quotients and square roots,
 * all rounded by IEEE 754, and of operations on bits. So a formula gives the same bits in every
 * tier of the CPU and on any GPU. Those that bigger loops consist of (exp, exp2, log, tanh, erf)
 * are of f32 throughout and have no branch, which lets the compiler make vectors of them; the
 * rest are in functions.c, and go through f64.
 *
 * Precision    at most 2 ulp over all of f32; tests/unit/test_kernels_expr_functions.c
 * Specials     as in C's Annex F; denormal results are kept
 * Requires     -ffp-contract=off
 * Source       ranges are reduced as in W. Cody and W. Waite, "Software Manual for the Elementary
 *              Functions", 1980; the polynomials are Chebyshev fits of our own
 */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#define EXPR_ROUNDER 0x1.8p+23f /* added and taken off, rounds to the nearest integer */

static inline uint32_t expr_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static inline float expr_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static inline float expr_fma(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

static inline float expr_abs(float x)
{
    return expr_of_bits(expr_bits(x) & 0x7fffffff);
}

/* A NaN of either side wins. */
static inline float expr_min(float a, float b)
{
    return ((a < b) | (a != a)) ? a : b;
}

static inline float expr_max(float a, float b)
{
    return ((a > b) | (a != a)) ? a : b;
}

static inline float expr_sign(float x)
{
    return x > 0 ? 1.0f : x < 0 ? -1.0f : x;
}

static inline float expr_floor(float x)
{
    return __builtin_floorf(x);
}

static inline float expr_ceil(float x)
{
    return __builtin_ceilf(x);
}

static inline float expr_trunc(float x)
{
    return __builtin_truncf(x);
}

/* To the nearest integer, halves to the even one. */
static inline float expr_round(float x)
{
    return __builtin_rintf(x);
}

static inline float expr_sqrt(float x)
{
    return __builtin_sqrtf(x);
}

static inline float expr_rsqrt(float x)
{
    return 1.0f / __builtin_sqrtf(x);
}

/* x 2^n for the integer n in [-252, 256]: in two steps, since 2^n alone may be no float. */
static inline float expr_scale(float x, int32_t n)
{
    int32_t half = n >> 1;
    float first = expr_of_bits((uint32_t)(half + 127) << 23);
    float second = expr_of_bits((uint32_t)(n - half + 127) << 23);
    return x * first * second;
}

/* e^x = 2^n e^r, r = x - n ln 2, |r| <= ln 2 / 2. */
static inline float expr_exp(float x)
{
    float bounded = x > 89.0f ? 89.0f : x < -104.5f ? -104.5f : x;
    float shifted = expr_fma(bounded, 0x1.715476p+0f, EXPR_ROUNDER);
    float n = shifted - EXPR_ROUNDER;
    float r = expr_fma(n, -0x1.62e4p-1f, bounded);
    r = expr_fma(n, -0x1.7f7d1cp-20f, r);

    float p = 0.000198909942f;
    p = expr_fma(p, r, 0.001393365304f);
    p = expr_fma(p, r, 0.008333310922f);
    p = expr_fma(p, r, 0.0416664649f);
    p = expr_fma(p, r, 0.1666666668f);
    p = expr_fma(p, r, 0.5000000013f);
    p = expr_fma(p * r, r, r) + 1.0f;
    return expr_scale(p, (int32_t)(expr_bits(shifted) - expr_bits(EXPR_ROUNDER)));
}

static inline float expr_exp2(float x)
{
    float bounded = x > 129.0f ? 129.0f : x < -151.0f ? -151.0f : x;
    float shifted = bounded + EXPR_ROUNDER;
    float r = bounded - (shifted - EXPR_ROUNDER);

    float p = 1.529094855e-5f;
    p = expr_fma(p, r, 0.0001545316295f);
    p = expr_fma(p, r, 0.001333352231f);
    p = expr_fma(p, r, 0.009618082557f);
    p = expr_fma(p, r, 0.05550410871f);
    p = expr_fma(p, r, 0.2402265076f);
    p = expr_fma(p, r, 0x1.62e43p-1f);
    p = expr_fma(p, r, 1.0f);
    return expr_scale(p, (int32_t)(expr_bits(shifted) - expr_bits(EXPR_ROUNDER)));
}

/* ln x = e ln 2 + ln(1 + f), 1 + f in [sqrt(1/2), sqrt(2)). */
static inline float expr_log(float x)
{
    int small = x < 0x1p-126f;
    uint32_t bits = expr_bits(small ? x * 0x1p23f : x) - 0x3f3504f3u; /* less sqrt(1/2) */
    float e = (float)((int32_t)bits >> 23) - (small ? 23.0f : 0.0f);
    float f = expr_of_bits((bits & 0x7fffff) + 0x3f3504f3u) - 1.0f;

    float p = 0.06971611471f;
    p = expr_fma(p, f, -0.1147973385f);
    p = expr_fma(p, f, 0.1168541992f);
    p = expr_fma(p, f, -0.1242568733f);
    p = expr_fma(p, f, 0.1424905765f);
    p = expr_fma(p, f, -0.1666780232f);
    p = expr_fma(p, f, 0.2000071575f);
    p = expr_fma(p, f, -0.2499999696f);
    p = expr_fma(p, f, 0.3333333118f);
    float square = f * f;
    float tail = expr_fma(p * f, square, e * 0x1.7f7d1cp-20f);
    tail = expr_fma(-0.5f, square, tail);
    float y = expr_fma(e, 0x1.62e4p-1f, f + tail);

    y = x == 0 ? -__builtin_inff() : y;
    y = x == __builtin_inff() ? x : y;
    return x >= 0 ? y : __builtin_nanf("");
}

/* Near 0 a polynomial, then 1 - 2 / (e^2x + 1). */
static inline float expr_tanh(float x)
{
    float size = expr_abs(x), square = x * x;
    float p = 0.002269501684f;
    p = expr_fma(p, square, -0.008323187058f);
    p = expr_fma(p, square, 0.02176250291f);
    p = expr_fma(p, square, -0.05395846163f);
    p = expr_fma(p, square, 0.1333330015f);
    p = expr_fma(p, square, -0.3333333315f);
    float near = expr_fma(p * square, x, x);

    float far = 1.0f - 2.0f / (expr_exp(2.0f * size) + 1.0f);
    far = expr_of_bits(expr_bits(far) | (expr_bits(x) & 0x80000000u));
    return size < 0.625f ? near : far;
}

/* Near 0 a polynomial, then 1 - e^q(x) with q = ln erfc. */
static inline float expr_erf(float x)
{
    float size = expr_abs(x), square = x * x;
    float p = 8.285848296e-5f;
    p = expr_fma(p, square, -0.0008122966156f);
    p = expr_fma(p, square, 0.005199318673f);
    p = expr_fma(p, square, -0.02685872289f);
    p = expr_fma(p, square, 0.112836837f);
    p = expr_fma(p, square, -0.37612633f);
    p = expr_fma(p, square, 0.1283791666f);
    float near = expr_fma(p, x, x);

    float t = size > 4.0f ? 4.0f : size;
    float q = 1.01184519e-6f;
    q = expr_fma(q, t, -3.376522549e-5f);
    q = expr_fma(q, t, 0.0004940896085f);
    q = expr_fma(q, t, -0.004284392391f);
    q = expr_fma(q, t, 0.0250934346f);
    q = expr_fma(q, t, -0.1077922316f);
    q = expr_fma(q, t, -0.6341947419f);
    q = expr_fma(q, t, -0.1288887674f);
    q = expr_fma(q, t, -t);
    float far = 1.0f - expr_exp(q);
    far = expr_of_bits(expr_bits(far) | (expr_bits(x) & 0x80000000u));
    return size < 0.9375f ? near : x != x ? x : far;
}

/* functions.c: through f64, rounded once. */
float expr_expm1(float x);
float expr_log1p(float x);
float expr_sin(float x);
float expr_cos(float x);
float expr_pow(float x, float y);
