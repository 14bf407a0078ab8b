/*
 * parse: numbers out of text from outside. Each takes the whole text or none of it, knows no
 * blanks, no sign but '-' where the range has negatives, no leading zero, and cannot overflow.
 * The results are written on success only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A decimal integer between min and max. */
bool cr_parse_integer(const char *text, size_t length, int64_t min, int64_t max,
                      int64_t *ret_value);

/*
 * A decimal number of at most so many decimals, times 10^decimals: "1.5" with 6 is 1500000. It is
 * not negative; a point has digits on both sides.
 */
bool cr_parse_decimal(const char *text, size_t length, int decimals, int64_t *ret_scaled);

/* Money, [0-9]{1,12}(.[0-9]{1,6})?, in microdollars. */
bool cr_parse_money(const char *text, size_t length, int64_t *ret_microusd);

/* A duration: an integer and one of ns us ms s m h d, for example "90s". In nanoseconds. */
bool cr_parse_duration(const char *text, size_t length, int64_t *ret_ns);

/* The shortest text that cr_parse_duration reads as ns, which is not negative. */
#define CR_DURATION_SIZE 24
void cr_duration_print(int64_t ns, char ret_text[CR_DURATION_SIZE]);

/* A finite number, as JSON writes them. */
bool cr_parse_number(const char *text, size_t length, double *ret_value);
