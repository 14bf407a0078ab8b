/* price: what one second, or one count, costs. */
#include "billing/billing_internal.h"

#include <string.h>

#define SECONDS_AN_HOUR INT64_C(3600)
#define PICO_A_MICRO    INT64_C(1000000)

/* clang-format off */
static const struct cr_member price[] = {
    CR_MEMBER(struct billing_price, currency,  3, 3),
    CR_MEMBER(struct billing_price, flavor,    1, 63),
    CR_MEMBER(struct billing_price, from_us,   0, INT64_MAX),
    CR_WORD  (struct billing_price, meter,     billing_meter_words),
    CR_ID    (struct billing_price, price,     "prc"),
    CR_MEMBER(struct billing_price, rate_pico, 0, INT64_MAX),
    CR_MEMBER(struct billing_price, region,    1, 253),
    CR_ID    (struct billing_price, tenant,    "tnt", .flags = CR_OPTIONAL),
    CR_MEMBER(struct billing_price, type,      1, 63),
    CR_MEMBER(struct billing_price, unit,      1, 63),
};
/* clang-format on */
static const struct cr_shape price_shape = CR_SHAPE(struct billing_price, price);

struct cr_bytes billing_price_write(struct cr_call *call, const struct billing_price *value)
{
    struct billing_price typed = *value;
    typed.type = BILLING_PRICE_TYPE;
    return billing_body_write(call, &price_shape, &typed);
}

bool billing_price_read(struct cr_call *call, struct cr_bytes body, struct billing_price *ret_price)
{
    return billing_body_read(call, &price_shape, body, ret_price) &&
           strcmp(ret_price->type, BILLING_PRICE_TYPE) == 0 &&
           ret_price->rate_pico <= BILLING_RATE_PICO_MAX && billing_is_word(ret_price->flavor) &&
           billing_is_region(ret_price->region) && billing_exponent(ret_price->currency) >= 0;
}

const char *billing_unit(enum billing_meter meter, const char *flavor)
{
    switch (meter) {
    case BILLING_METER_device:
        return strncmp(flavor, "cpu", 3) == 0 ? "Core-Seconds" : "GPU-Seconds";
    case BILLING_METER_tokens_in:
    case BILLING_METER_tokens_out:
        return "Tokens";
    case BILLING_METER_requests:
    case BILLING_METER_requests_cut:
        return "Requests";
    }
    return "";
}

/* Rounded to the nearest, halves upwards; both are not negative. */
static int64_t nearest(int64_t value, int64_t by)
{
    return (value + by / 2) / by;
}

bool billing_rate_of_hour(int64_t rate_microusd_h, int64_t *ret_rate_pico)
{
    int64_t pico_h = 0;
    if (rate_microusd_h < 0 || __builtin_mul_overflow(rate_microusd_h, PICO_A_MICRO, &pico_h) ||
        pico_h > INT64_MAX - SECONDS_AN_HOUR ||
        nearest(pico_h, SECONDS_AN_HOUR) > BILLING_RATE_PICO_MAX)
        return false;
    *ret_rate_pico = nearest(pico_h, SECONDS_AN_HOUR);
    return true;
}

_Static_assert(BILLING_RATE_PICO_MAX <= INT64_MAX / SECONDS_AN_HOUR - PICO_A_MICRO,
               "an hour of the highest price fits");

int64_t billing_rate_to_hour(int64_t rate_pico)
{
    return nearest(rate_pico * SECONDS_AN_HOUR, PICO_A_MICRO);
}
