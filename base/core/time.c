#include "base/core/time.h"

#include "base/core/parse.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct date {
    int64_t year, month, day;
};

/*
 * Days since 1970 of a date of the Gregorian calendar, and back. The year is taken to begin in
 * March, so that the leap day is its last; 400 of them are an era of 146097 days.
 * Source: H. Hinnant, "chrono-compatible low-level date algorithms".
 */
static int64_t days_of(struct date date)
{
    int64_t year = date.month <= 2 ? date.year - 1 : date.year;
    int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    int64_t month = (date.month + 9) % 12;
    int64_t of_year = (153 * month + 2) / 5 + date.day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static struct date date_of(int64_t days)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097, of_era = days - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;
    struct date date = {
        .year = year + era * 400,
        .month = month < 10 ? month + 3 : month - 9,
        .day = of_year - (153 * month + 2) / 5 + 1,
    };
    date.year += date.month <= 2;
    return date;
}

static int64_t floor_of(int64_t value, int64_t unit)
{
    int64_t quotient = value / unit;
    return value % unit < 0 ? quotient - 1 : quotient;
}

void cr_time_print(int64_t utc_us, char ret_text[CR_TIME_SIZE])
{
    assert(utc_us >= CR_TIME_US_MIN && utc_us <= CR_TIME_US_MAX);
    int64_t days = floor_of(utc_us, CR_US_A_DAY), of_day = utc_us - days * CR_US_A_DAY;
    struct date date = date_of(days);
    int64_t seconds = of_day / CR_US_A_SECOND;
    snprintf(ret_text, CR_TIME_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u.%06uZ",
             (unsigned)date.year % 10000, (unsigned)date.month % 100, (unsigned)date.day % 100,
             (unsigned)(seconds / 3600) % 100, (unsigned)(seconds / 60 % 60),
             (unsigned)(seconds % 60), (unsigned)(of_day % CR_US_A_SECOND));
}

void cr_date_print(int64_t utc_us, char ret_text[CR_DATE_SIZE])
{
    char text[CR_TIME_SIZE];
    cr_time_print(utc_us, text);
    memcpy(ret_text, text, CR_DATE_SIZE - 1);
    ret_text[CR_DATE_SIZE - 1] = '\0';
}

/* The number that digits of a fixed width make; false: there is another letter among them. */
static bool digits(const char *text, size_t width, int64_t *ret_value)
{
    int64_t value = 0;
    for (size_t i = 0; i < width; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (text[i] - '0');
    }
    *ret_value = value;
    return true;
}

bool cr_date_parse(const char *text, size_t length, int64_t *ret_utc_us)
{
    struct date date;
    if (length != 10 || text[4] != '-' || text[7] != '-' || !digits(text, 4, &date.year) ||
        !digits(text + 5, 2, &date.month) || !digits(text + 8, 2, &date.day))
        return false;
    if (date.year < 1 || date.month < 1 || date.month > 12 || date.day < 1)
        return false;

    int64_t days = days_of(date);
    if (date_of(days).day != date.day) /* the month is shorter */
        return false;
    *ret_utc_us = days * CR_US_A_DAY;
    return true;
}

static bool clock_parse(const char *text, int64_t *ret_seconds)
{
    int64_t hour, minute, second;
    if (text[2] != ':' || text[5] != ':' || !digits(text, 2, &hour) ||
        !digits(text + 3, 2, &minute) || !digits(text + 6, 2, &second))
        return false;
    if (hour > 23 || minute > 59 || second > 59)
        return false;
    *ret_seconds = hour * 3600 + minute * 60 + second;
    return true;
}

/* What stands between the seconds and the Z: nothing, or a point and one to six digits. */
static bool fraction_parse(const char *text, size_t length, int64_t *ret_us)
{
    *ret_us = 0;
    if (length == 0)
        return true;
    if (text[0] != '.' || length < 2 || length > 7 || !digits(text + 1, length - 1, ret_us))
        return false;
    for (size_t i = length; i < 7; i++)
        *ret_us *= 10;
    return true;
}

bool cr_time_parse(const char *text, size_t length, int64_t *ret_utc_us)
{
    int64_t day_us, seconds, fraction_us;
    if (length < 20 || length > CR_TIME_SIZE - 1 || text[10] != 'T' || text[length - 1] != 'Z')
        return false;
    if (!cr_date_parse(text, 10, &day_us) || !clock_parse(text + 11, &seconds) ||
        !fraction_parse(text + 19, length - 20, &fraction_us))
        return false;
    *ret_utc_us = day_us + seconds * CR_US_A_SECOND + fraction_us;
    return true;
}
