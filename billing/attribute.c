/* attribute: what became of each nanosecond of a device's day (M2). */
#include "billing/billing.h"

#include <string.h>

/* Half-open, in ns since 1970. Moments times 1000 fit until the year 2262; days are of our time. */
struct span {
    int64_t from, to;
};

static struct span overlap(struct span a, struct span b)
{
    int64_t from = a.from > b.from ? a.from : b.from, to = a.to < b.to ? a.to : b.to;
    return (struct span){from, to > from ? to : from};
}

static int64_t length_of(struct span span)
{
    return span.to - span.from;
}

/* Whether the records say what became of a leased part: one is final, or reaches to its end. */
static bool is_settled(const struct billing_held *records, size_t count, const char *lease,
                       struct span part)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(records[i].lease, lease) == 0 &&
            (records[i].is_final || records[i].ended_us * 1000 >= part.to))
            return true;
    return false;
}

static void attribute_leased(struct billing_attribution *day, const struct billing_held *records,
                             size_t count, const char *lease, struct span part)
{
    if (!is_settled(records, count, lease, part)) {
        day->unattributed_ns += length_of(part);
        return;
    }
    int64_t billed_ns = 0, held_ns = 0;
    for (size_t i = 0; i < count; i++) {
        const struct billing_held *record = &records[i];
        if (strcmp(record->lease, lease) != 0)
            continue;
        int64_t from = record->from_us * 1000, end = record->ended_us * 1000;
        int64_t held_to = from + record->held_ns - record->prior_ns;
        struct span billed = {from, from + record->billed_ns};
        struct span held = {from, held_to < end ? held_to : end};
        billed_ns += length_of(overlap(billed, part));
        held_ns += length_of(overlap(held, part));
    }
    day->billed_ns += billed_ns;
    day->idle_waived_ns += held_ns > billed_ns ? held_ns - billed_ns : 0;
    day->idle_reserved_ns += length_of(part) - (held_ns > billed_ns ? held_ns : billed_ns);
}

struct billing_attribution billing_attribute(int64_t day_us, const struct billing_interval *states,
                                             size_t state_count, const struct billing_held *records,
                                             size_t record_count)
{
    struct billing_attribution day = {0};
    struct span whole = {day_us * 1000, (day_us + BILLING_DAY_US) * 1000};
    for (size_t i = 0; i < state_count; i++) {
        const struct billing_interval *state = &states[i];
        struct span part =
            overlap((struct span){state->from_us * 1000, state->to_us * 1000}, whole);
        int64_t ns = length_of(part);
        if (ns <= 0 || state->state == BILLING_GONE)
            continue;
        day.present_ns += ns;
        if (state->state == BILLING_FREE)
            day.idle_free_ns += ns;
        else if (state->state == BILLING_MAINTENANCE)
            day.maintenance_ns += ns;
        else if (state->state == BILLING_LEASED)
            attribute_leased(&day, records, record_count, state->lease, part);
        else
            day.unattributed_ns += ns;
    }
    return day;
}
