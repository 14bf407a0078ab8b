/*
 * distribution: words as real numbers. Everything is a sequence of float64 additions, products,
 * quotients and square roots, which IEEE 754 rounds alike everywhere.
 */
#include "kernels/random/random.h"

#include <math.h>

#define LN_2      0x1.62e42fefa39efp-1
#define HALF_PI   0x1.921fb54442d18p+0
#define SQRT_HALF 0x1.6a09e667f3bcdp-1

/* ln x for x = k 2^-24, 1 <= k <= 2^24: 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.172. */
static double natural_log(double x)
{
    int exponent;
    double m = frexp(x, &exponent);
    if (m < SQRT_HALF) {
        m *= 2;
        exponent--;
    }
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (int k = 19; k >= 1; k -= 2)
        sum = sum * square + 1.0 / k;
    return 2 * s * sum + exponent * LN_2;
}

/* sin(a) and cos(a) of |a| <= pi / 4, by their series. */
static void sine_cosine(double a, double *ret_sine, double *ret_cosine)
{
    double square = a * a, sine = 1, cosine = 1;
    for (int k = 16; k >= 2; k -= 2) {
        cosine = 1 - cosine * square / (k * (k - 1));
        sine = 1 - sine * square / (k * (k + 1));
    }
    *ret_sine = a * sine;
    *ret_cosine = cosine;
}

/* The same of 2 pi turn / 2^24: the quarter is taken off exactly, in integers. */
static void sine_cosine_of_turn(uint32_t turn, double *ret_sine, double *ret_cosine)
{
    uint32_t quarter = turn >> 22, rest = turn & 0x3fffff;
    double sine, cosine;
    if (rest <= 0x200000) {
        sine_cosine(rest * 0x1p-22 * HALF_PI, &sine, &cosine);
    } else { /* from the other end of the quarter, where sine and cosine change places */
        sine_cosine((0x400000 - rest) * 0x1p-22 * HALF_PI, &cosine, &sine);
    }
    const double sines[4] = {sine, cosine, -sine, -cosine};
    const double cosines[4] = {cosine, -sine, -cosine, sine};
    *ret_sine = sines[quarter];
    *ret_cosine = cosines[quarter];
}

void random_uniform_f32(uint64_t seed, uint64_t stream, uint64_t first, size_t count, float *ret_x)
{
    for (size_t i = 0; i < count; i++)
        ret_x[i] = (float)(random_word(seed, stream, first + i) >> 8) * 0x1p-24f;
}

void random_uniform_f64(uint64_t seed, uint64_t stream, uint64_t first, size_t count, double *ret_x)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t words[2];
        random_words(seed, stream, 2 * (first + i), 2, words);
        uint64_t both = (uint64_t)words[1] << 32 | words[0];
        ret_x[i] = (double)(both >> 11) * 0x1p-53;
    }
}

void random_normal_f32(uint64_t seed, uint64_t stream, uint64_t first, size_t count, float *ret_x)
{
    for (size_t i = 0; i < count;) {
        uint64_t element = first + i;
        uint32_t words[2];
        random_words(seed, stream, element & ~UINT64_C(1), 2, words);

        double u1 = ((words[0] >> 8) + 1) * 0x1p-24, sine, cosine;
        double radius = sqrt(-2 * natural_log(u1));
        sine_cosine_of_turn(words[1] >> 8, &sine, &cosine);
        if (element % 2 == 0) {
            ret_x[i++] = (float)(radius * cosine);
            element++;
        }
        if (i < count && element % 2 == 1)
            ret_x[i++] = (float)(radius * sine);
    }
}
