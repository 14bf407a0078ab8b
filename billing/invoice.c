/* invoice: the second rounding, down to what a currency can pay. */
#include "billing/billing.h"

#include <string.h>

/* Source: ISO 4217. Those that are not listed have 2 decimals. */
static const struct {
    const char currency[4];
    int exponent;
} exponents[] = {
    {"JPY", 0}, {"KRW", 0}, {"KWD", 3}, {"BHD", 3}, {"JOD", 3}, {"OMR", 3}, {"TND", 3},
};

int billing_exponent(const char *currency)
{
    for (size_t i = 0; i < 3; i++)
        if (currency[i] < 'A' || currency[i] > 'Z')
            return -1;
    if (currency[3])
        return -1;
    for (size_t i = 0; i < sizeof exponents / sizeof exponents[0]; i++)
        if (strcmp(exponents[i].currency, currency) == 0)
            return exponents[i].exponent;
    return 2;
}

bool billing_total(int exponent, const int64_t *lines_micro, size_t line_count,
                   int64_t *ret_rounding_micro, int64_t *ret_total_micro)
{
    int64_t minor = 1000000, sum = 0, total = 0;
    for (int i = 0; i < exponent; i++)
        minor /= 10;
    for (size_t i = 0; i < line_count; i++)
        if (__builtin_add_overflow(sum, lines_micro[i], &sum))
            return false;

    int64_t above = sum % minor; /* towards minus infinity: what is below zero goes further down */
    if (above < 0)
        above += minor;
    if (__builtin_sub_overflow(sum, above, &total))
        return false;
    *ret_rounding_micro = -above;
    *ret_total_micro = total;
    return true;
}
