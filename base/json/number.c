/*
 * number: the shortest decimal of a double, laid out as ECMAScript does (ECMA-262,
 * Number::toString).
 *
 * Printing with more and more digits until the text reads back is not enough: at a power of two the
 * doubles below stand closer than those above, and the nearest decimal of p digits may miss where
 * its neighbour, on the wider side, hits. So neighbours are tried too. Of three that follow one
 * another the middle one is nearest; where it misses, at most one of the others hits.
 */
#include "base/json/json.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX    17
#define PLAIN_INTEGER 9007199254740992.0 /* 2^53: below it an integer is its own decimal */

/* 0.DIGITS x 10^point, positive; the last of the digits is no zero. */
struct decimal {
    char digits[DIGITS_MAX + 2];
    int count, point;
};

static bool reads_back(uint64_t digits, int exponent, double number)
{
    char text[64];
    snprintf(text, sizeof text, "%llue%d", (unsigned long long)digits, exponent);
    return strtod(text, NULL) == number;
}

/* A decimal of so many digits that reads back as the number; false: there is none. */
static bool with_digits(double number, int count, struct decimal *ret_decimal)
{
    char text[64];
    snprintf(text, sizeof text, "%.*e", count - 1, number);
    int exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10) - (count - 1);
    uint64_t nearest = 0;
    for (const char *at = text; *at != 'e'; at++)
        if (*at != '.')
            nearest = nearest * 10 + (uint64_t)(*at - '0');

    static const int sides[] = {0, -1, 1};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        uint64_t digits = nearest + (uint64_t)(int64_t)sides[i];
        if (!reads_back(digits, exponent, number))
            continue;
        int length = snprintf(ret_decimal->digits, sizeof ret_decimal->digits, "%llu",
                              (unsigned long long)digits);
        ret_decimal->point = length + exponent;
        while (length > 1 && ret_decimal->digits[length - 1] == '0')
            length--;
        ret_decimal->digits[length] = '\0';
        ret_decimal->count = length;
        return true;
    }
    return false;
}

/*
 * A decimal of DBL_DIG digits or fewer is kept by a normal double, so its digits are those of any
 * longer form that reads back, without the zeros; only the small, of less precision, are searched.
 */
static struct decimal shortest(double number)
{
    struct decimal decimal = {.count = 0};
    for (int count = number < DBL_MIN ? 1 : DBL_DIG; count <= DIGITS_MAX; count++)
        if (with_digits(number, count, &decimal))
            return decimal;
    abort(); /* 17 digits always do */
}

static void add_zeros(struct cr_text *text, int count)
{
    for (int i = 0; i < count; i++)
        cr_text_add(text, "0");
}

static void lay_out(struct cr_text *text, const struct decimal *decimal)
{
    int count = decimal->count, point = decimal->point;
    const char *digits = decimal->digits;
    if (count <= point && point <= 21) {
        cr_text_add(text, digits);
        add_zeros(text, point - count);
    } else if (0 < point && point <= 21) {
        cr_text_add_format(text, "%.*s.%s", point, digits, digits + point);
    } else if (-6 < point && point <= 0) {
        cr_text_add(text, "0.");
        add_zeros(text, -point);
        cr_text_add(text, digits);
    } else {
        cr_text_add_format(text, "%c%s%se%+d", digits[0], count > 1 ? "." : "", digits + 1,
                           point - 1);
    }
}

void json_add_number(struct cr_text *text, double number)
{
    assert(isfinite(number));
    if (fabs(number) < PLAIN_INTEGER && trunc(number) == number) {
        cr_text_add_format(text, "%lld", (long long)number);
        return;
    }
    if (number < 0)
        cr_text_add(text, "-");
    struct decimal decimal = shortest(fabs(number));
    lay_out(text, &decimal);
}
