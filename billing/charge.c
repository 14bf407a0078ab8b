/* charge: exact amounts, and where days and months begin. */
#include "billing/billing.h"

#include <string.h>

#define ZEPTO_A_PICO  INT64_C(1000000000)       /* of a meter that counts */
#define ZEPTO_A_MICRO INT64_C(1000000000000000) /* 10^-6 over 10^-21 */
#define DECIMALS      21                        /* of one unit of the currency */
#define DIGITS_MAX    38                        /* what numeric(38,0) holds, and 127 bits too */

/* A record spans one day, so its device time fits; that of a thousand legs is checked. */
_Static_assert(BILLING_SLICES_MAX <= INT64_MAX / BILLING_DAY_NS, "a leg's device time fits");
/* A charge is below 10^37: a year of full records sums within 38 digits. */
_Static_assert(BILLING_COUNT_MAX <= INT64_C(10000000000000) &&
                   BILLING_RATE_PICO_MAX <= INT64_C(1000000000000000),
               "10^13 counts at 10^15 pico, times 10^9, are 10^37");

/* 10^38, the first amount that is too large. */
static billing_zepto limit(void)
{
    billing_zepto ten_19 = (billing_zepto)INT64_C(1000000000000000000) * 10;
    return ten_19 * ten_19;
}

static bool is_within(billing_zepto amount)
{
    return amount < limit() && amount > -limit();
}

void billing_zepto_print(billing_zepto amount, char ret_text[BILLING_ZEPTO_SIZE])
{
    char digits[BILLING_ZEPTO_SIZE];
    size_t count = 0;
    bool negative = amount < 0;
    unsigned __int128 rest = negative ? -(unsigned __int128)amount : (unsigned __int128)amount;
    do {
        digits[count++] = (char)('0' + (int)(rest % 10));
        rest /= 10;
    } while (rest && count < sizeof digits - 1);

    size_t length = 0;
    if (negative)
        ret_text[length++] = '-';
    while (count)
        ret_text[length++] = digits[--count];
    ret_text[length] = '\0';
}

bool billing_zepto_parse(const char *text, size_t length, billing_zepto *ret_amount)
{
    bool negative = length > 0 && text[0] == '-';
    text += negative;
    length -= negative;
    if (length == 0 || length > DIGITS_MAX || (text[0] == '0' && (length > 1 || negative)))
        return false;
    billing_zepto amount = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        amount = amount * 10 + (text[i] - '0');
    }
    *ret_amount = negative ? -amount : amount;
    return true;
}

const char *billing_zepto_decimal(struct cr_call *call, billing_zepto amount)
{
    char digits[BILLING_ZEPTO_SIZE];
    billing_zepto_print(amount < 0 ? -amount : amount, digits);
    size_t length = strlen(digits);
    const char *sign = amount < 0 ? "-" : "";

    /* At least one digit before the point: 21 decimals out of 22 digits or more. */
    const char *padded =
        cr_format(call, "%.*s%s", length > DECIMALS ? 0 : (int)(DECIMALS + 1 - length),
                  "0000000000000000000000", digits);
    size_t whole = strlen(padded) - DECIMALS, decimals = DECIMALS;
    while (decimals && padded[whole + decimals - 1] == '0')
        decimals--;
    return cr_format(call, "%s%.*s%s%.*s", sign, (int)whole, padded, decimals ? "." : "",
                     (int)decimals, padded + whole);
}

bool billing_amount(enum billing_meter meter, int64_t quantity, int64_t rate_pico,
                    billing_zepto *ret_amount)
{
    billing_zepto amount = 0;
    int64_t factor = meter == BILLING_METER_device ? 1 : ZEPTO_A_PICO;
    if (__builtin_mul_overflow((billing_zepto)quantity, rate_pico, &amount) ||
        __builtin_mul_overflow(amount, factor, &amount) || !is_within(amount))
        return false;
    *ret_amount = amount;
    return true;
}

bool billing_micro(billing_zepto amount, int64_t *ret_micro)
{
    billing_zepto micro = amount / ZEPTO_A_MICRO;
    if (amount % ZEPTO_A_MICRO < 0)
        micro--;
    if (micro > INT64_MAX || micro < INT64_MIN + 1)
        return false;
    *ret_micro = (int64_t)micro;
    return true;
}

bool billing_add(billing_zepto a, billing_zepto b, billing_zepto *ret_sum)
{
    billing_zepto sum = 0;
    if (__builtin_add_overflow(a, b, &sum) || !is_within(sum))
        return false;
    *ret_sum = sum;
    return true;
}

int64_t billing_day(int64_t utc_us)
{
    return utc_us / BILLING_DAY_US - (utc_us % BILLING_DAY_US < 0);
}

/* Year and month of a day since 1970, and back: the proleptic Gregorian calendar of Howard
 * Hinnant's "chrono-compatible low-level date algorithms", for days that are not negative. */
static void month_of(int64_t day, int64_t *ret_year, int64_t *ret_month)
{
    int64_t shifted = day + 719468, era = shifted / 146097, of_era = shifted % 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t from_march = (5 * of_year + 2) / 153;
    *ret_month = from_march < 10 ? from_march + 3 : from_march - 9;
    *ret_year = year_of_era + era * 400 + (*ret_month <= 2);
}

static int64_t day_of(int64_t year, int64_t month)
{
    year -= month <= 2;
    int64_t era = year / 400, year_of_era = year % 400;
    int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5;
    int64_t of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    return era * 146097 + of_era - 719468;
}

int64_t billing_period(int64_t utc_us)
{
    int64_t year = 0, month = 0;
    month_of(billing_day(utc_us), &year, &month);
    return year * 100 + month;
}

int64_t billing_period_from_us(int64_t period)
{
    return day_of(period / 100, period % 100) * BILLING_DAY_US;
}

int64_t billing_period_next(int64_t period)
{
    return period % 100 == 12 ? (period / 100 + 1) * 100 + 1 : period + 1;
}

size_t billing_split(int64_t from_us, int64_t ns, struct billing_piece *ret_pieces,
                     size_t piece_max)
{
    size_t count = 0;
    int64_t day = billing_day(from_us);
    int64_t room_ns = ((day + 1) * BILLING_DAY_US - from_us) * 1000;
    while (ns > 0 && count < piece_max) {
        int64_t piece_ns = ns < room_ns ? ns : room_ns;
        ret_pieces[count++] = (struct billing_piece){day++, piece_ns};
        ns -= piece_ns;
        room_ns = BILLING_DAY_NS;
    }
    return count;
}
