/*
 * time: moments as text. RFC 3339, in UTC, with six decimals: "2026-11-30T21:03:07.000250Z".
 *
 * Units        int64_t microseconds since 1970 began, leap seconds not counted
 * Range        the years 0001 to 9999
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CR_TIME_SIZE   28 /* of the text, with its NUL */
#define CR_TIME_US_MIN INT64_C(-62135596800000000)
#define CR_TIME_US_MAX INT64_C(253402300799999999)

#define CR_US_A_SECOND INT64_C(1000000)
#define CR_NS_A_SECOND INT64_C(1000000000)
#define CR_US_A_DAY    (86400 * CR_US_A_SECOND)

/* The text of a moment, which must be within the range. */
void cr_time_print(int64_t utc_us, char ret_text[CR_TIME_SIZE]);

/*
 * The moment that a text names: a date that exists, 'T', a time of day, at most six decimals, 'Z'.
 * Nothing else, and no leap second. false: it is not that.
 */
bool cr_time_parse(const char *text, size_t length, int64_t *ret_utc_us);

/* The date of a moment as "2026-11-30". */
#define CR_DATE_SIZE 11
void cr_date_print(int64_t utc_us, char ret_text[CR_DATE_SIZE]);

/* The moment at which a date, "2026-11-30", begins. false: it is not that. */
bool cr_date_parse(const char *text, size_t length, int64_t *ret_utc_us);
