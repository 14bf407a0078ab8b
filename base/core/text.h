/*
 * text: bytes as text and back, and texts that grow.
 *
 * The decoders are strict: each value has one text, and every other is refused. Sizes are bytes,
 * results are written on success only, and what is written has a NUL behind it where it is text.
 */
#pragma once

#include "base/core/shape.h"

/* Whether the bytes are UTF-8 (RFC 3629) without NUL. */
bool cr_utf8(const void *bytes, size_t length);

/*
 * Whether a text in UTF-8 can be shown as one line without surprise: no control, no bidirectional
 * control, nothing of no width, no line or paragraph separator.
 */
bool cr_printable(const char *text);

/* Lower-case hex: twice the size and a NUL. Parsing takes lower case alone. */
void cr_hex_print(const void *bytes, size_t size, char *ret_text);
bool cr_hex_parse(const char *text, size_t length, void *ret_bytes, size_t size);
const char *cr_hex(struct cr_call *call, const void *bytes, size_t size);

/* Base64 of RFC 4648: with padding ("+/"), or the one for URLs, without ("-_"). */
enum cr_base64 { CR_BASE64_STANDARD, CR_BASE64_URL };
const char *cr_base64_print(struct cr_call *call, enum cr_base64 alphabet, const void *bytes,
                            size_t size);
bool cr_base64_parse(struct cr_call *call, enum cr_base64 alphabet, const char *text, size_t length,
                     struct cr_bytes *ret_bytes);

/* A number in the alphabet 0-9A-Za-z, big-endian, in exactly so many letters. */
#define CR_BASE62_ALPHABET "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
void cr_base62_print(uint64_t value, size_t letters, char *ret_text);

/* Percent encoding: all but A-Za-z0-9-._~ is %XX. Parsing refuses a bad escape, NUL and non-UTF-8.
 */
const char *cr_percent_print(struct cr_call *call, const char *text);
const char *cr_percent_parse(struct cr_call *call, const char *text, size_t length); /* or NULL */

/* Check sums: IEEE 802.3 (as in gzip), and Castagnoli (as in iSCSI). Begin with sum 0. */
uint32_t cr_crc32(uint32_t sum, const void *bytes, size_t size);
uint32_t cr_crc32c(uint32_t sum, const void *bytes, size_t size);

/* A text that grows, in the memory of the call. data always has a NUL behind its length. */
struct cr_text {
    struct cr_call *call;
    char *data;
    size_t length, size;
};
struct cr_text cr_text_open(struct cr_call *call);
void cr_text_add(struct cr_text *text, const char *more);
void cr_text_add_bytes(struct cr_text *text, const void *bytes, size_t length);
void cr_text_add_format(struct cr_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Adds the bytes, which are UTF-8, as a JSON string with its quotes. Escaped are '"', '\' and what
 * is below a blank, those with a short form by it (RFC 8785, section 3.2.2.2).
 */
void cr_text_add_quoted(struct cr_text *text, const char *bytes, size_t length);
