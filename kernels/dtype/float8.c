/*
 * float8: the two floats of 8 bits, to and from f32.
 *
 * Source: P. Micikevicius et al., "FP8 Formats for Deep Learning", arXiv:2209.05433, table 1;
 * saturation as in ONNX, Cast, "saturate".
 */
#include "kernels/dtype/dtype.h"

#include <math.h>

struct format {
    int mantissa_bits, bias;
    float max;
    uint8_t max_bits, nan_bits;
};

static const struct format e4m3 = {3, 7, 448.0f, 0x7e, 0x7f};
static const struct format e5m2 = {2, 15, 57344.0f, 0x7b, 0x7f};

/* The value as a multiple of what its last bit weighs; rint rounds to nearest even. */
static uint8_t narrowed(const struct format *format, float value)
{
    uint8_t sign = signbit(value) ? 0x80 : 0;
    float size = fabsf(value);
    if (isnan(value))
        return (uint8_t)(sign | format->nan_bits);
    if (size >= format->max)
        return (uint8_t)(sign | format->max_bits);

    int exponent;
    frexpf(size, &exponent); /* size is in [2^(exponent - 1), 2^exponent) */
    exponent = exponent - 1 < 1 - format->bias ? 1 - format->bias : exponent - 1;
    int units = (int)rintf(ldexpf(size, format->mantissa_bits - exponent));
    int implied = 1 << format->mantissa_bits;
    /* A denormal has no implied bit; one unit too many carries into the exponent by itself. */
    int bits = units < implied
                   ? units
                   : ((exponent + format->bias) << format->mantissa_bits) + (units - implied);
    return (uint8_t)(sign | (bits > format->max_bits ? format->max_bits : bits));
}

static float widened(const struct format *format, uint8_t bits)
{
    int exponent = (bits & 0x7f) >> format->mantissa_bits, implied = 1 << format->mantissa_bits;
    int fraction = bits & (implied - 1);
    int units = exponent == 0 ? fraction : fraction + implied;
    float size =
        ldexpf((float)units, (exponent == 0 ? 1 : exponent) - format->bias - format->mantissa_bits);
    return bits & 0x80 ? -size : size;
}

uint8_t dtype_f8e4m3_of_f32(float value)
{
    return narrowed(&e4m3, value);
}

float dtype_f32_of_f8e4m3(uint8_t bits)
{
    return (bits & 0x7f) == e4m3.nan_bits ? NAN : widened(&e4m3, bits);
}

uint8_t dtype_f8e5m2_of_f32(float value)
{
    return narrowed(&e5m2, value);
}

float dtype_f32_of_f8e5m2(uint8_t bits)
{
    return dtype_f32_of_f16((uint16_t)(bits << 8));
}
