/* record: a usage record's form and its arithmetic, and how a lease becomes a leg. */
#include "billing/billing_internal.h"

#include "base/core/id.h"

#include <string.h>

#define SIGNED_MIN (INT64_MIN + 1) /* INT64_MIN is CR_NO_INTEGER */

/* clang-format off */
#define COUNT(type, member, ...) CR_MEMBER(type, member, 0, INT64_MAX, __VA_ARGS__)
#define SIGNED(type, member)     CR_MEMBER(type, member, SIGNED_MIN, INT64_MAX)

static const struct cr_member leg[] = {
    SIGNED(struct billing_leg, billed_ns),
    CR_TEXTS(struct billing_leg, devices, 1, BILLING_DEVICES_MAX),
    COUNT(struct billing_leg, ended_us),
    COUNT(struct billing_leg, from_us),
    COUNT(struct billing_leg, granted_us),
    COUNT(struct billing_leg, held_ns),
    CR_ID(struct billing_leg, node, "node"),
    COUNT(struct billing_leg, prior_ns),
    CR_MEMBER(struct billing_leg, reading, 0, 64, .flags = CR_OPTIONAL),
    COUNT(struct billing_leg, slices),
};
static const struct cr_shape leg_shape = CR_SHAPE(struct billing_leg, leg);

static const struct cr_member quantity[] = {
    CR_WORD(struct billing_quantity, meter, billing_meter_words),
    CR_MEMBER(struct billing_quantity, price, 0, 63),
    SIGNED(struct billing_quantity, quantity),
};
static const struct cr_shape quantity_shape = CR_SHAPE(struct billing_quantity, quantity);

static const struct cr_member record[] = {
    COUNT(struct billing_record, at_us),
    CR_ID(struct billing_record, corrects, "rec", .flags = CR_OPTIONAL),
    CR_MEMBER(struct billing_record, flavor, 1, 63),
    COUNT(struct billing_record, from_us, .flags = CR_OPTIONAL),
    CR_MEMBER(struct billing_record, home, 1, 253),
    CR_ID(struct billing_record, job, "job"),
    CR_WORD(struct billing_record, kind, billing_kind_words),
    COUNT(struct billing_record, lease_epoch),
    CR_LIST(struct billing_record, legs, &leg_shape, 0, BILLING_LEGS_MAX),
    CR_WORD(struct billing_record, outcome, billing_outcome_words),
    CR_MEMBER(struct billing_record, prev, 0, 64),
    CR_WORD(struct billing_record, program, billing_program_words),
    CR_LIST(struct billing_record, quantities, &quantity_shape, 0, BILLING_QUANTITIES_MAX),
    CR_MEMBER(struct billing_record, reason, 1, 200, .flags = CR_OPTIONAL),
    CR_ID(struct billing_record, record, "rec"),
    CR_MEMBER(struct billing_record, region, 1, 253),
    CR_ID(struct billing_record, tenant, "tnt"),
    COUNT(struct billing_record, to_us, .flags = CR_OPTIONAL),
    CR_MEMBER(struct billing_record, type, 1, 63),
};
/* clang-format on */
static const struct cr_shape record_shape = CR_SHAPE(struct billing_record, record);

struct cr_bytes billing_record_write(struct cr_call *call, const struct billing_record *value)
{
    struct billing_record typed = *value;
    typed.type = BILLING_RECORD_TYPE;
    return billing_body_write(call, &record_shape, &typed);
}

static bool is_kind(const struct billing_record *value, enum billing_kind kind)
{
    return billing_kind_number(value->kind) == (int64_t)kind;
}

/* Which members and outcomes a kind has. */
static bool kind_fits(const struct billing_record *value)
{
    bool is_window = is_kind(value, BILLING_KIND_window);
    bool is_correction = is_kind(value, BILLING_KIND_correction);
    int64_t outcome = billing_outcome_number(value->outcome);
    bool is_open = outcome == BILLING_OUTCOME_open;

    if ((value->corrects != NULL) != is_correction || (value->reason != NULL) != is_correction)
        return false;
    if ((value->from_us != CR_NO_INTEGER) != is_window ||
        (value->to_us != CR_NO_INTEGER) != is_window ||
        (is_window && value->to_us <= value->from_us))
        return false;
    if (is_open != is_kind(value, BILLING_KIND_interim))
        return false;
    if ((is_window || is_correction) && outcome != BILLING_OUTCOME_completed)
        return false;
    return is_correction || (value->legs.count == 0) == is_window;
}

static bool devices_fit(const struct billing_leg *value)
{
    size_t length = strlen(value->node);
    for (size_t i = 0; i < value->devices.count; i++) {
        const char *device = value->devices.items[i];
        if (strncmp(device, value->node, length) != 0 || device[length] != '/' ||
            !billing_is_word(device + length + 1))
            return false;
    }
    return true;
}

static bool leg_fits(const struct billing_record *of, const struct billing_leg *value)
{
    bool is_correction = is_kind(of, BILLING_KIND_correction);
    if (!devices_fit(value) || value->slices < 1 || value->slices > BILLING_SLICES_MAX)
        return false;
    if (is_correction)
        return value->reading == NULL;
    if (value->billed_ns < 0 || value->reading == NULL)
        return false;
    bool is_empty = *value->reading == '\0';
    if (is_empty)
        return value->held_ns == 0 && billing_outcome_is_platform(of->outcome);
    return billing_is_digest(value->reading);
}

static bool quantities_fit(const struct billing_record *value)
{
    const struct billing_quantity *items = value->quantities.items;
    for (size_t i = 0; i < value->quantities.count; i++) {
        if (items[i].quantity < 0 && !is_kind(value, BILLING_KIND_correction))
            return false;
        if (*items[i].price && !cr_id_is(items[i].price, "prc"))
            return false;
        for (size_t j = 0; j < i; j++)
            if (strcmp(items[i].meter, items[j].meter) == 0)
                return false;
    }
    return value->quantities.count > 0;
}

bool billing_record_read(struct cr_call *call, struct cr_bytes body,
                         struct billing_record *ret_record)
{
    if (!billing_body_read(call, &record_shape, body, ret_record) ||
        strcmp(ret_record->type, BILLING_RECORD_TYPE) != 0 || !kind_fits(ret_record) ||
        !quantities_fit(ret_record))
        return false;
    if (!billing_is_region(ret_record->home) || !billing_is_region(ret_record->region) ||
        !billing_is_word(ret_record->flavor) ||
        (*ret_record->prev && !billing_is_digest(ret_record->prev)))
        return false;
    const struct billing_leg *legs = ret_record->legs.items;
    for (size_t i = 0; i < ret_record->legs.count; i++)
        if (!leg_fits(ret_record, &legs[i]))
            return false;
    return true;
}

bool billing_device_ns(const struct billing_record *value, int64_t *ret_device_ns)
{
    int64_t sum = 0;
    const struct billing_leg *legs = value->legs.items;
    for (size_t i = 0; i < value->legs.count; i++) {
        int64_t part = 0;
        if (__builtin_mul_overflow(legs[i].slices, legs[i].billed_ns, &part) ||
            __builtin_add_overflow(sum, part, &sum))
            return false;
    }
    *ret_device_ns = sum;
    return true;
}

/* Where a leg breaks an inequality. Moments times 1000 pass 63 bits, so they are wider here. */
static const char *leg_fault(const struct billing_leg *value)
{
    __int128 begin_ns = (__int128)value->from_us * 1000, end_ns = begin_ns + value->billed_ns;
    __int128 midnight_ns = ((__int128)billing_day(value->from_us) + 1) * BILLING_DAY_NS;
    if ((__int128)value->prior_ns + value->billed_ns > value->held_ns)
        return "more is billed than was held";
    if (value->granted_us > value->from_us)
        return "it is billed from before the grant";
    if (end_ns > (__int128)value->ended_us * 1000)
        return "it is billed beyond the end of the lease";
    if (end_ns > midnight_ns)
        return "it is billed beyond midnight";
    return NULL;
}

const char *billing_record_fault(const struct billing_record *value)
{
    bool is_failure =
        is_kind(value, BILLING_KIND_final) && billing_outcome_is_platform(value->outcome);
    const struct billing_leg *legs = value->legs.items;
    for (size_t i = 0; i < value->legs.count && !is_kind(value, BILLING_KIND_correction); i++) {
        const char *fault = leg_fault(&legs[i]);
        if (fault)
            return fault;
        if (is_failure && legs[i].billed_ns != 0)
            return "a failure of the platform is billed";
    }

    int64_t device_ns = 0;
    if (!billing_device_ns(value, &device_ns))
        return "the sum of the legs does not fit";
    const struct billing_quantity *items = value->quantities.items;
    bool has_device = false;
    for (size_t i = 0; i < value->quantities.count; i++) {
        if (billing_meter_number(items[i].meter) != BILLING_METER_device)
            continue;
        has_device = true;
        if (items[i].quantity != device_ns)
            return "the device time is not the sum of the legs";
    }
    return has_device == (value->legs.count > 0) ? NULL : "device time and legs go together";
}

const char *billing_final_outcome(const char *outcome, bool all_released)
{
    if (all_released || billing_outcome_is_platform(outcome))
        return outcome;
    return billing_outcome_word(BILLING_OUTCOME_platform_error);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct billing_leg leg_of(const struct billing_lease *lease, int64_t from_us,
                                 int64_t billed_ns)
{
    return (struct billing_leg){
        .billed_ns = billed_ns,
        .devices = lease->devices,
        .ended_us = lease->ended_us,
        .from_us = from_us,
        .granted_us = lease->granted_us,
        .held_ns = lease->held_ns,
        .node = lease->node,
        .prior_ns = lease->prior_ns,
        .reading = lease->reading,
        .slices = lease->slices,
    };
}

/* Where a leg may begin at the earliest: behind what interim records have billed. */
static int64_t floor_of(const struct billing_lease *lease)
{
    return lease->midnight_us == CR_NO_INTEGER ? lease->granted_us : lease->midnight_us;
}

struct billing_leg billing_leg_final(const struct billing_lease *lease, const char *outcome,
                                     int64_t *ret_capped_ns)
{
    int64_t low_us = floor_of(lease);
    int64_t room_ns = most(lease->ended_us - low_us, 0) * 1000;
    int64_t left_ns = most(lease->held_ns - lease->prior_ns, 0);
    bool is_billed = lease->is_released && !billing_outcome_is_platform(outcome);
    int64_t billed_ns = is_billed ? least(left_ns, room_ns) : 0;
    *ret_capped_ns = is_billed ? left_ns - billed_ns : 0;

    int64_t high_us = lease->ended_us - (billed_ns + 999) / 1000;
    int64_t start_us = lease->start_us;
    if (start_us == CR_NO_INTEGER || lease->midnight_us != CR_NO_INTEGER)
        start_us = low_us;
    return leg_of(lease, most(least(start_us, high_us), low_us), billed_ns);
}

bool billing_leg_interim(const struct billing_lease *lease, struct billing_leg *ret_leg)
{
    if (lease->start_us == CR_NO_INTEGER)
        return false;
    int64_t from_us = lease->midnight_us;
    if (from_us == CR_NO_INTEGER)
        from_us = most(lease->start_us, lease->granted_us);
    if (from_us >= lease->ended_us)
        return false;
    int64_t billed_ns = (lease->ended_us - from_us) * 1000;
    if (lease->prior_ns + billed_ns > lease->held_ns)
        return false;
    *ret_leg = leg_of(lease, from_us, billed_ns);
    return true;
}
