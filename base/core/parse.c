#include "base/core/parse.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_LENGTH_MAX 512 /* of the text of a double; what is longer is refused */
#define MICROUSD_DECIMALS 6
#define USD_DIGITS_MAX    12

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/* How many digits the text begins with. */
static size_t digit_count(const char *text, size_t length)
{
    size_t count = 0;
    while (count < length && is_digit(text[count]))
        count++;
    return count;
}

/* Digits without a leading zero; false also where they do not fit. */
static bool natural(const char *text, size_t length, uint64_t *ret_value)
{
    if (length == 0 || digit_count(text, length) != length || (length > 1 && text[0] == '0'))
        return false;
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++)
        if (__builtin_mul_overflow(value, 10U, &value) ||
            __builtin_add_overflow(value, (unsigned)(text[i] - '0'), &value))
            return false;
    *ret_value = value;
    return true;
}

bool cr_parse_integer(const char *text, size_t length, int64_t min, int64_t max, int64_t *ret_value)
{
    bool negative = length > 0 && text[0] == '-';
    uint64_t size;
    if (!natural(text + negative, length - negative, &size) || (negative && size == 0))
        return false;
    if (size > (uint64_t)INT64_MAX + negative)
        return false;

    int64_t value = negative ? (int64_t)(0 - size) : (int64_t)size;
    if (value < min || value > max)
        return false;
    *ret_value = value;
    return true;
}

bool cr_parse_decimal(const char *text, size_t length, int decimals, int64_t *ret_scaled)
{
    assert(decimals >= 0 && decimals <= 18);
    size_t whole = digit_count(text, length), places = 0;
    if (whole < length) {
        places = length - whole - 1;
        if (text[whole] != '.' || places < 1 || places > (size_t)decimals ||
            digit_count(text + whole + 1, places) != places)
            return false;
    }
    uint64_t value;
    if (!natural(text, whole, &value))
        return false;
    for (size_t i = 0; i < (size_t)decimals; i++) {
        unsigned digit = i < places ? (unsigned)(text[whole + 1 + i] - '0') : 0U;
        if (__builtin_mul_overflow(value, 10U, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    if (value > INT64_MAX)
        return false;
    *ret_scaled = (int64_t)value;
    return true;
}

bool cr_parse_money(const char *text, size_t length, int64_t *ret_microusd)
{
    return digit_count(text, length) <= USD_DIGITS_MAX &&
           cr_parse_decimal(text, length, MICROUSD_DECIMALS, ret_microusd);
}

static const struct {
    const char *unit;
    int64_t ns;
} units[] = {
    {"d", INT64_C(86400000000000)},
    {"h", INT64_C(3600000000000)},
    {"m", INT64_C(60000000000)},
    {"s", INT64_C(1000000000)},
    {"ms", INT64_C(1000000)},
    {"us", INT64_C(1000)},
    {"ns", INT64_C(1)},
};
#define UNIT_COUNT (sizeof units / sizeof units[0])

bool cr_parse_duration(const char *text, size_t length, int64_t *ret_ns)
{
    size_t count = digit_count(text, length);
    int64_t number;
    if (!cr_parse_integer(text, count, 0, INT64_MAX, &number))
        return false;
    for (size_t i = 0; i < UNIT_COUNT; i++)
        if (strlen(units[i].unit) == length - count &&
            memcmp(units[i].unit, text + count, length - count) == 0)
            return !__builtin_mul_overflow(number, units[i].ns, ret_ns);
    return false;
}

void cr_duration_print(int64_t ns, char ret_text[CR_DURATION_SIZE])
{
    assert(ns >= 0);
    size_t i = 0;
    while (ns % units[i].ns != 0)
        i++;
    if (ns == 0)
        i = 3; /* "0s" */
    snprintf(ret_text, CR_DURATION_SIZE, "%lld%s", (long long)(ns / units[i].ns), units[i].unit);
}

/* number = [ "-" ] int [ frac ] [ exp ] (RFC 8259, section 6) */
static bool is_number(const char *text, size_t length)
{
    size_t at = length > 0 && text[0] == '-', count = digit_count(text + at, length - at);
    if (count == 0 || (count > 1 && text[at] == '0'))
        return false;
    at += count;
    if (at < length && text[at] == '.') {
        at++;
        count = digit_count(text + at, length - at);
        if (count == 0)
            return false;
        at += count;
    }
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        at += at < length && (text[at] == '+' || text[at] == '-');
        count = digit_count(text + at, length - at);
        if (count == 0)
            return false;
        at += count;
    }
    return at == length;
}

bool cr_parse_number(const char *text, size_t length, double *ret_value)
{
    char copy[NUMBER_LENGTH_MAX + 1];
    if (length > NUMBER_LENGTH_MAX || !is_number(text, length))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    double value = strtod(copy, NULL);
    if (!isfinite(value))
        return false;
    *ret_value = value;
    return true;
}
