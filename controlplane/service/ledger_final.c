/* ledger_final: records of leases that cross midnights, and of those that the platform lost. */
#include "controlplane/service/ledger_internal.h"

#include "controlplane/service/ledger_sql.h"

#include <string.h>

#define MIDNIGHTS_MAX 400 /* that one lease crosses without a record between */

/* Where what is not billed yet begins. */
static int64_t open_from(const struct ledger_held *held)
{
    if (held->midnight_us != CR_NO_INTEGER)
        return held->midnight_us;
    return held->from_us > held->granted ? held->from_us : held->granted;
}

enum cr_status ledger_record_midnights(struct cr_call *call, struct db *db,
                                       const struct service_config *config,
                                       const struct service_ask *ask, struct ledger_held *held,
                                       int64_t ended_us, int64_t *ret_count)
{
    int64_t count = 0;
    while (held->seq != CR_NO_INTEGER && count < MIDNIGHTS_MAX) {
        int64_t midnight_us = (billing_day(open_from(held)) + 1) * BILLING_DAY_US;
        struct billing_lease lease = ledger_lease_of(call, held, midnight_us);
        struct ledger_entry entry = {
            .held = held,
            .kind = BILLING_KIND_interim,
            .outcome = billing_outcome_word(BILLING_OUTCOME_open),
        };
        if (midnight_us >= ended_us || !billing_leg_interim(&lease, &entry.leg))
            break;
        const char *record = NULL;
        CR_TRY(ledger_record_write(call, db, config, ask, &entry, &record));
        held->midnight_us = midnight_us;
        held->prior_ns += entry.leg.billed_ns;
        count++;
    }
    if (ret_count)
        *ret_count = count;
    return CR_OK;
}

/* What an interim record billed. */
struct interim {
    const char *record;
    int64_t prior_ns, billed_ns, from_us, ended_us, granted_us, held_ns;
};
static const struct cr_member interim_members[] = {
    CR_MEMBER(struct interim, record, 0, 0),    CR_MEMBER(struct interim, prior_ns, 0, 0),
    CR_MEMBER(struct interim, billed_ns, 0, 0), CR_MEMBER(struct interim, from_us, 0, 0),
    CR_MEMBER(struct interim, ended_us, 0, 0),  CR_MEMBER(struct interim, granted_us, 0, 0),
    CR_MEMBER(struct interim, held_ns, 0, 0),
};
static const struct cr_shape interim_shape = CR_SHAPE(struct interim, interim_members);

static const struct cr_member accepted_members[] = {
    {.name = "held_ns", .kind = CR_KIND_INTEGER, .offset = 0}};
static const struct cr_shape accepted_shape = {
    .size = sizeof(int64_t), .members = accepted_members, .member_count = 1};

/* Takes back what interim records billed after the last checkpoint that was accepted (M3). */
static enum cr_status reverse(struct cr_call *call, struct db *db,
                              const struct service_config *config, const struct service_ask *ask,
                              const struct ledger_held *held)
{
    bool found = false;
    int64_t accepted_ns = 0;
    struct cr_list list;
    CR_TRY(db_one(call, db, &ledger_accepted_ns,
                  DB_VALUES(db_text(held->tenant), db_text(held->job), db_int(held->lease_epoch)),
                  &accepted_shape, &accepted_ns, &found));
    CR_TRY(db_list(call, db, &ledger_interims_of,
                   DB_VALUES(db_text(held->tenant), db_text(held->job), db_int(held->lease_epoch),
                             db_int(held->member)),
                   &interim_shape, &list));
    const struct interim *interims = list.items;
    for (size_t i = 0; i < list.count; i++) {
        const struct interim *interim = &interims[i];
        int64_t kept_ns = accepted_ns - interim->prior_ns;
        kept_ns = kept_ns < 0 ? 0 : kept_ns < interim->billed_ns ? kept_ns : interim->billed_ns;
        if (kept_ns == interim->billed_ns)
            continue;
        struct ledger_entry entry = {
            .held = held,
            .kind = BILLING_KIND_correction,
            .outcome = billing_outcome_word(BILLING_OUTCOME_completed),
            .corrects = interim->record,
            .reason = "lost by the platform after the last accepted checkpoint",
            .leg = {.billed_ns = kept_ns - interim->billed_ns,
                    .devices = held->devices,
                    .ended_us = interim->ended_us,
                    .from_us = interim->from_us,
                    .granted_us = interim->granted_us,
                    .held_ns = interim->held_ns,
                    .node = held->node,
                    .prior_ns = interim->prior_ns,
                    .slices = held->slices},
        };
        const char *record = NULL;
        CR_TRY(ledger_record_write(call, db, config, ask, &entry, &record));
    }
    return CR_OK;
}

enum cr_status ledger_record_final(struct cr_call *call, struct db *db,
                                   const struct service_config *config,
                                   const struct service_ask *ask, struct ledger_held *held,
                                   const char *outcome, const char *record)
{
    bool is_failure = billing_outcome_is_platform(outcome);
    if (!is_failure)
        CR_TRY(ledger_record_midnights(call, db, config, ask, held, held->ended, NULL));
    if (held->seq != CR_NO_INTEGER) {
        bool is_released = strcmp(held->meter_state, "released") == 0;
        CR_TRY(ledger_pin(call, db, held, is_released ? LEDGER_PIN_RELEASED : LEDGER_PIN_LAST,
                          held->ended));
    }

    struct billing_lease lease = ledger_lease_of(call, held, held->ended);
    int64_t capped_ns = 0;
    struct ledger_entry entry = {
        .held = held,
        .kind = BILLING_KIND_final,
        .outcome = outcome,
        .leg = billing_leg_final(&lease, outcome, &capped_ns),
        .record = record,
    };
    const char *written = NULL;
    CR_TRY(ledger_record_write(call, db, config, ask, &entry, &written));
    return is_failure ? reverse(call, db, config, ask, held) : CR_OK;
}

/* Whether the lease was taken away for the sake of others. */
static bool is_preempted(const struct ledger_held *held)
{
    return held->revoke_reason && (strcmp(held->revoke_reason, "preempt") == 0 ||
                                   strcmp(held->revoke_reason, "residency") == 0);
}

struct named {
    const char *tenant, *lease;
};
static const struct cr_member named_members[] = {
    CR_MEMBER(struct named, tenant, 0, 0),
    CR_MEMBER(struct named, lease, 0, 0),
};
static const struct cr_shape named_shape = CR_SHAPE(struct named, named_members);

enum cr_status ledger_settle(struct cr_call *call, struct db *db,
                             const struct service_config *config, const char *tenant,
                             const char *job, struct ledger_sum *ret_sum)
{
    struct cr_list list;
    CR_TRY(db_list(call, db, &ledger_unsettled, DB_VALUES(db_text(tenant), db_text(job)),
                   &named_shape, &list));
    const struct named *leases = list.items;
    for (size_t i = 0; i < list.count; i++) {
        struct ledger_held held;
        bool found = false;
        CR_TRY(db_one(call, db, &ledger_held, DB_VALUES(db_text(tenant), db_text(leases[i].lease)),
                      &ledger_held_shape, &held, &found));
        if (!found)
            return cr_fail(call, CR_INTERNAL, "lease %s is gone", leases[i].lease);
        int64_t outcome =
            is_preempted(&held) ? BILLING_OUTCOME_preempted : BILLING_OUTCOME_platform_error;
        CR_TRY(ledger_record_final(call, db, config, &service_by_engine, &held,
                                   billing_outcome_word(outcome), NULL));
    }
    return ledger_sum(call, db, tenant, job, ret_sum);
}

struct crossing {
    struct service *service;
    const struct named *lease;
    int64_t count;
};

/*
 * The first reading of the day in place of the last one: it is the one that is pinned, and so the
 * evidence that an interim record can cite.
 */
static enum cr_status take_pinned(struct cr_call *call, struct db *db, struct ledger_held *held,
                                  bool *ret_found)
{
    struct ledger_held pinned;
    CR_TRY(db_one(call, db, &ledger_pinned,
                  DB_VALUES(db_text(held->tenant), db_text(held->job), db_int(held->lease_epoch),
                            db_int(held->member), db_int(billing_day(held->received_us))),
                  &ledger_held_shape, &pinned, ret_found));
    if (*ret_found) {
        held->seq = pinned.seq;
        held->held_ns = pinned.held_ns;
        held->reading = pinned.reading;
    }
    return CR_OK;
}

static enum cr_status cross(struct cr_call *call, struct db *db, void *context)
{
    struct crossing *crossing = context;
    struct ledger_held held;
    bool found = false;
    crossing->count = 0;
    CR_TRY(db_one(call, db, &ledger_held,
                  DB_VALUES(db_text(crossing->lease->tenant), db_text(crossing->lease->lease)),
                  &ledger_held_shape, &held, &found));
    if (!found || held.ended != CR_NO_INTEGER)
        return CR_OK; /* it has ended meanwhile, and its end counts the midnight */
    CR_TRY(take_pinned(call, db, &held, &found));
    int64_t count = 0;
    if (found)
        CR_TRY(ledger_record_midnights(call, db, crossing->service->config, &service_by_engine,
                                       &held, held.now_us, &count));
    crossing->count = count;
    return CR_OK;
}

enum cr_status ledger_interims(struct cr_call *call, struct service *service, int64_t *ret_count)
{
    struct cr_list list;
    int64_t count = 0;
    CR_TRY(db_list(call, service->engine_db, &ledger_across_midnight,
                   DB_VALUES(db_int(LEDGER_INTERIMS_MAX)), &named_shape, &list));
    const struct named *leases = list.items;
    for (size_t i = 0; i < list.count; i++) {
        struct crossing crossing = {.service = service, .lease = &leases[i]};
        CR_TRY(db_transaction(call, service->engine_db, leases[i].tenant, 0, cross, &crossing));
        count += crossing.count;
    }
    *ret_count = count;
    return CR_OK;
}
