/* dtype: the table, and conversions one element at a time. */
#include "kernels/dtype/dtype.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const struct {
    const char *name, *safetensors;
    uint8_t size, class, dlpack;
} types[DTYPE_COUNT] = {
#define ROW(number, id, word, size_, class_, dlpack_, safetensors_) \
    [number] = {word, safetensors_, size_, class_, dlpack_},
    DTYPE_TABLE(ROW)
#undef ROW
};

bool dtype_known(unsigned dtype)
{
    return dtype < DTYPE_COUNT && types[dtype].name != NULL;
}

const char *dtype_name(unsigned dtype)
{
    assert(dtype_known(dtype));
    return types[dtype].name;
}

static bool same_word(const char *word, const char *text, size_t length)
{
    return word != NULL && strlen(word) == length && memcmp(word, text, length) == 0;
}

unsigned dtype_of_name(const char *name, size_t length)
{
    for (unsigned i = 0; i < DTYPE_COUNT; i++)
        if (same_word(types[i].name, name, length))
            return i;
    return DTYPE_NONE;
}

size_t dtype_size(unsigned dtype)
{
    assert(dtype_known(dtype));
    return types[dtype].size;
}

enum dtype_class dtype_class_of(unsigned dtype)
{
    assert(dtype_known(dtype));
    return (enum dtype_class)types[dtype].class;
}

unsigned dtype_dlpack(unsigned dtype)
{
    assert(dtype_known(dtype));
    return types[dtype].dlpack;
}

const char *dtype_safetensors(unsigned dtype)
{
    assert(dtype_known(dtype));
    return types[dtype].safetensors;
}

unsigned dtype_of_safetensors(const char *word, size_t length)
{
    for (unsigned i = 0; i < DTYPE_COUNT; i++)
        if (same_word(types[i].safetensors, word, length))
            return i;
    return DTYPE_NONE;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The value as a multiple of 2^-24 is what a denormal half counts; rint rounds to nearest even. */
uint16_t dtype_f16_of_f32(float value)
{
    uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000;
    float size = fabsf(value);
    if (isnan(value))
        return (uint16_t)(sign | 0x7e00 | (bits >> 13 & 0x1ff));
    if (size >= 65520.0f)
        return (uint16_t)(sign | 0x7c00);
    if (size < 0x1p-14f)
        return (uint16_t)(sign | (uint32_t)rintf(size * 0x1p24f));
    uint32_t rounded = bits_of(size) + 0xfff + (bits >> 13 & 1);
    return (uint16_t)(sign | ((rounded >> 13) - (112u << 10)));
}

float dtype_f32_of_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31;
    uint32_t fraction = half & 0x3ff;
    if (exponent == 0)
        return of_bits(sign | bits_of((float)fraction * 0x1p-24f));
    if (exponent == 31)
        return of_bits(sign | 0x7f800000 | fraction << 13);
    return of_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

uint16_t dtype_bf16_of_f32(float value)
{
    uint32_t bits = bits_of(value);
    if (isnan(value))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float dtype_f32_of_bf16(uint16_t bits)
{
    return of_bits((uint32_t)bits << 16);
}

double dtype_read(unsigned dtype, const void *array, int64_t index)
{
    switch (dtype) {
    case DTYPE_F32:
        return (double)((const float *)array)[index];
    case DTYPE_F64:
        return ((const double *)array)[index];
    case DTYPE_F16:
        return (double)dtype_f32_of_f16(((const uint16_t *)array)[index]);
    case DTYPE_BF16:
        return (double)dtype_f32_of_bf16(((const uint16_t *)array)[index]);
    case DTYPE_F8E4M3:
        return (double)dtype_f32_of_f8e4m3(((const uint8_t *)array)[index]);
    case DTYPE_F8E5M2:
        return (double)dtype_f32_of_f8e5m2(((const uint8_t *)array)[index]);
    case DTYPE_U8:
    case DTYPE_BOOL:
        return ((const uint8_t *)array)[index];
    case DTYPE_I8:
        return ((const int8_t *)array)[index];
    case DTYPE_U16:
        return ((const uint16_t *)array)[index];
    case DTYPE_I16:
        return ((const int16_t *)array)[index];
    case DTYPE_U32:
        return ((const uint32_t *)array)[index];
    case DTYPE_I32:
        return ((const int32_t *)array)[index];
    case DTYPE_U64:
        return (double)((const uint64_t *)array)[index];
    case DTYPE_I64:
        return (double)((const int64_t *)array)[index];
    default:
        assert(false && "a type that is offered");
        return 0;
    }
}

/* Truncated and saturated; NaN gives 0. */
static int64_t to_signed(double value, int bits)
{
    double edge = ldexp(1, bits - 1);
    if (isnan(value))
        return 0;
    if (value >= edge)
        return bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - 1)) - 1;
    if (value <= -edge)
        return bits == 64 ? INT64_MIN : -(INT64_C(1) << (bits - 1));
    return (int64_t)value;
}

static uint64_t to_unsigned(double value, int bits)
{
    double edge = ldexp(1, bits);
    if (isnan(value) || value <= 0)
        return 0;
    if (value >= edge)
        return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    return (uint64_t)value;
}

void dtype_write(unsigned dtype, void *array, int64_t index, double value)
{
    switch (dtype) {
    case DTYPE_F32:
        ((float *)array)[index] = (float)value;
        break;
    case DTYPE_F64:
        ((double *)array)[index] = value;
        break;
    case DTYPE_F16:
        ((uint16_t *)array)[index] = dtype_f16_of_f32((float)value);
        break;
    case DTYPE_BF16:
        ((uint16_t *)array)[index] = dtype_bf16_of_f32((float)value);
        break;
    case DTYPE_F8E4M3:
        ((uint8_t *)array)[index] = dtype_f8e4m3_of_f32((float)value);
        break;
    case DTYPE_F8E5M2:
        ((uint8_t *)array)[index] = dtype_f8e5m2_of_f32((float)value);
        break;
    case DTYPE_BOOL:
        ((uint8_t *)array)[index] = value != 0;
        break;
    case DTYPE_U8:
        ((uint8_t *)array)[index] = (uint8_t)to_unsigned(value, 8);
        break;
    case DTYPE_U16:
        ((uint16_t *)array)[index] = (uint16_t)to_unsigned(value, 16);
        break;
    case DTYPE_U32:
        ((uint32_t *)array)[index] = (uint32_t)to_unsigned(value, 32);
        break;
    case DTYPE_U64:
        ((uint64_t *)array)[index] = to_unsigned(value, 64);
        break;
    case DTYPE_I8:
        ((int8_t *)array)[index] = (int8_t)to_signed(value, 8);
        break;
    case DTYPE_I16:
        ((int16_t *)array)[index] = (int16_t)to_signed(value, 16);
        break;
    case DTYPE_I32:
        ((int32_t *)array)[index] = (int32_t)to_signed(value, 32);
        break;
    case DTYPE_I64:
        ((int64_t *)array)[index] = to_signed(value, 64);
        break;
    default:
        assert(false && "a type that is offered");
    }
}
