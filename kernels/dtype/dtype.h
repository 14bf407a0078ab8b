/*
 * dtype: the element types, and what they are called elsewhere.
 *
 * The number of a type is ONNX's TensorProto.DataType and never changes. Floats narrow to nearest
 * even; float to integer truncates and saturates, NaN gives 0; integers wrap.
 *
 * Offered now: f32, f64, f16, bf16, two of 8 bits (which saturate, as in ONNX's cast), the integers
 * of 8 to 64 bits, and bool, which is a byte of 0 or 1. The types below one byte, complex and block
 * types come with the rows that need them.
 *
 * Units    sizes in bytes
 * Threads  everything here only computes
 * Source   ONNX IR (TensorProto.DataType); DLPack 1.0 (DLDataType); safetensors' README
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
/* number, name, word, bytes, class, DLPack code, word of safetensors (NULL: it has none) */
#define DTYPE_TABLE(row)                                          \
    row( 1, F32,    "f32",      4, DTYPE_FLOAT,     2, "F32")     \
    row( 2, U8,     "u8",       1, DTYPE_UNSIGNED,  1, "U8")      \
    row( 3, I8,     "i8",       1, DTYPE_SIGNED,    0, "I8")      \
    row( 4, U16,    "u16",      2, DTYPE_UNSIGNED,  1, "U16")     \
    row( 5, I16,    "i16",      2, DTYPE_SIGNED,    0, "I16")     \
    row( 6, I32,    "i32",      4, DTYPE_SIGNED,    0, "I32")     \
    row( 7, I64,    "i64",      8, DTYPE_SIGNED,    0, "I64")     \
    row( 9, BOOL,   "bool",     1, DTYPE_TRUTH,     6, "BOOL")    \
    row(10, F16,    "f16",      2, DTYPE_FLOAT,     2, "F16")     \
    row(11, F64,    "f64",      8, DTYPE_FLOAT,     2, "F64")     \
    row(12, U32,    "u32",      4, DTYPE_UNSIGNED,  1, "U32")     \
    row(13, U64,    "u64",      8, DTYPE_UNSIGNED,  1, "U64")     \
    row(16, BF16,   "bf16",     2, DTYPE_FLOAT,     4, "BF16")    \
    row(17, F8E4M3, "f8e4m3fn", 1, DTYPE_FLOAT,    10, "F8_E4M3") \
    row(19, F8E5M2, "f8e5m2",   1, DTYPE_FLOAT,    12, "F8_E5M2")
/* clang-format on */

#define DTYPE_NUMBER(number, name, word, size, class, dlpack, safetensors) DTYPE_##name = (number),
enum { DTYPE_NONE = 0, DTYPE_TABLE(DTYPE_NUMBER) };
#undef DTYPE_NUMBER
#define DTYPE_COUNT 20 /* numbers are below this */

enum dtype_class { DTYPE_FLOAT = 1, DTYPE_SIGNED, DTYPE_UNSIGNED, DTYPE_TRUTH };

/* Whether the number is a type that is offered. All functions below want one that is. */
bool dtype_known(unsigned dtype);

/* Its name in the IR, such as "f32". Static. */
const char *dtype_name(unsigned dtype);

/* The type of that name; DTYPE_NONE: there is none. */
unsigned dtype_of_name(const char *name, size_t length);

/* Bytes of one element. */
size_t dtype_size(unsigned dtype);

enum dtype_class dtype_class_of(unsigned dtype);

/* DLPack's code; its bits are 8 * dtype_size. */
unsigned dtype_dlpack(unsigned dtype);

/* safetensors' word, such as "F32"; NULL: it has none. Static. */
const char *dtype_safetensors(unsigned dtype);

/* The type of safetensors' word; DTYPE_NONE: there is none. */
unsigned dtype_of_safetensors(const char *word, size_t length);

/* Element index of an array of the type, as f64 (64-bit integers lose what f64 cannot hold). */
double dtype_read(unsigned dtype, const void *array, int64_t index);

/* Writes one, converted by the rules above. */
void dtype_write(unsigned dtype, void *array, int64_t index, double value);

/* The two halves, by bits. */
uint16_t dtype_f16_of_f32(float value);
float dtype_f32_of_f16(uint16_t bits);
uint16_t dtype_bf16_of_f32(float value);
float dtype_f32_of_bf16(uint16_t bits);

/* f8e4m3fn has no infinity, and one NaN of either sign; f8e5m2 is the upper half of an f16. */
uint8_t dtype_f8e4m3_of_f32(float value);
float dtype_f32_of_f8e4m3(uint8_t bits);
uint8_t dtype_f8e5m2_of_f32(float value);
float dtype_f32_of_f8e5m2(uint8_t bits);
