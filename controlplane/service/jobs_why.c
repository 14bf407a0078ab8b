/*
 * jobs_why: why a job waits, and what would become of one. The answer is admission's own, asked of
 * books that are read from the tables at this moment: so any process gives it, whoever decides.
 */
#include "controlplane/service/engine_internal.h"
#include "controlplane/service/jobs_internal.h"

#include "base/core/text.h"
#include "base/json/json.h"
#include "controlplane/service/jobs_sql.h"

#include <string.h>

#define PICO_A_MICRO INT64_C(1000000)

static void books_close(struct admission **books)
{
    admission_close(*books);
}

/* Everybody's jobs and leases, in one look; what is not this tenant's leaves it as sums alone. */
struct load {
    const char *region;
    struct admission *books;
};

static enum cr_status load_work(struct cr_call *call, struct db *db, void *context)
{
    struct load *it = context;
    admission_close(it->books);
    it->books = admission_open();
    return engine_load_books(call, db, it->region, it->books);
}

static enum cr_status load(struct cr_call *call, struct service *service,
                           struct admission **ret_books)
{
    struct load it = {.region = service->config->region};
    enum cr_status status =
        db_transaction(call, service->engine_db, NULL, DB_SNAPSHOT, load_work, &it);
    *ret_books = it.books;
    return status;
}

static struct cr_json numbers_json(struct cr_call *call, const struct admission_number *numbers,
                                   size_t count)
{
    struct cr_text text = cr_text_open(call);
    cr_text_add(&text, "{");
    for (size_t i = 0; i < count; i++)
        cr_text_add_format(&text, "%s\"%s\":%lld", i ? "," : "", numbers[i].name,
                           (long long)numbers[i].value);
    cr_text_add(&text, "}");
    return (struct cr_json){text.data, text.length};
}

static struct cr_list blockers_of(struct cr_call *call, const struct admission_why *why)
{
    struct jobs_blocker *blockers = cr_new(call, struct jobs_blocker, why->blocker_count);
    for (size_t i = 0; i < why->blocker_count; i++) {
        const struct admission_blocker *from = &why->blockers[i];
        blockers[i] = (struct jobs_blocker){
            .code = from->code,
            .tier = from->tier,
            .sentence = from->sentence,
            .numbers = numbers_json(call, from->numbers, from->number_count),
        };
    }
    return (struct cr_list){blockers, why->blocker_count};
}

static struct cr_json counts_json(struct cr_call *call, const struct admission_counts *counts)
{
    const char *text =
        cr_format(call,
                  "{\"total\":%lld,\"state\":%lld,\"model\":%lld,\"memory\":%lld,\"devices\":%lld,"
                  "\"fit\":%lld}",
                  (long long)counts->total, (long long)counts->state, (long long)counts->model,
                  (long long)counts->memory, (long long)counts->devices, (long long)counts->fit);
    return (struct cr_json){text, strlen(text)};
}

/* Why -------------------------------------------------------------------------------------------
 */

enum cr_status jobs_why(struct cr_call *call, struct service *service, const struct principal *who,
                        const char *job, struct jobs_why *ret_why)
{
    struct job now;
    CR_TRY(jobs_get(call, service, who, job, &now));
    struct jobs_why why = {.as_of = cr_utc_us(call), .state = now.state};
    why.blockers.items = why.would_start_if.items = cr_new(call, char, 1);
    *ret_why = why;
    if (strcmp(now.state, "queued") != 0)
        return CR_OK; /* nothing stands in its way any more */

    CR_SCOPED(books_close) struct admission *books = NULL;
    CR_TRY(load(call, service, &books));
    struct admission_why found;
    enum cr_status status = admission_why(call, books, job, why.as_of, &found);
    if (status == CR_NOT_FOUND) { /* it was granted between the two looks */
        cr_forgive(call);
        return CR_OK;
    }
    CR_TRY(status);
    why.blockers = blockers_of(call, &found);
    why.counts = counts_json(call, &found.counts);
    if (found.would_start_if) {
        struct jobs_change *change = cr_new(call, struct jobs_change, 1);
        *change = (struct jobs_change){found.would_start_if, found.would_detail};
        why.would_start_if = (struct cr_list){change, 1};
    }
    struct jobs_position *position = cr_new(call, struct jobs_position, 1);
    position->jobs = found.position;
    why.position = position;
    *ret_why = why;
    return CR_OK;
}

/* Plan ------------------------------------------------------------------------------------------
 */

struct tenant_row {
    const char *tenant;
    int64_t device_limit;
    bool active;
};
static const struct cr_member tenant_members[] = {
    CR_MEMBER(struct tenant_row, tenant, 0, 0),
    CR_MEMBER(struct tenant_row, device_limit, 0, 0),
    CR_MEMBER(struct tenant_row, active, 0, 0),
};
static const struct cr_shape tenant_shape = CR_SHAPE(struct tenant_row, tenant_members);

struct rate_row {
    int64_t rate_pico;
};
static const struct cr_member rate_members[] = {CR_MEMBER(struct rate_row, rate_pico, 0, 0)};
static const struct cr_shape rate_shape = CR_SHAPE(struct rate_row, rate_members);

static enum cr_status enter_tenant(struct cr_call *call, struct service *service,
                                   const char *tenant, struct admission *books)
{
    struct tenant_row row;
    bool found;
    CR_TRY(db_one(call, service->engine_db, &jobs_limits, DB_VALUES(db_text(tenant)), &tenant_shape,
                  &row, &found));
    if (!found)
        return service_missing(call, "tenant", tenant);
    struct admission_tenant entry = {
        .tenant = tenant, .device_limit = row.device_limit, .active = row.active};
    return admission_set_tenant(call, books, &entry);
}

/* It is billed by the nanosecond, so from nothing to all of max_runtime_s; NULL: no price is known.
 */
static enum cr_status cost_of(struct cr_call *call, struct service *service, const char *tenant,
                              const struct protocol_spec *spec, const struct jobs_cost **ret_cost)
{
    struct rate_row row;
    bool found;
    CR_TRY(db_one(call, service->engine_db, &jobs_rate,
                  DB_VALUES(db_text(service->config->region), db_text(tenant),
                            db_text(jobs_flavor(call, spec))),
                  &rate_shape, &row, &found));
    *ret_cost = NULL;
    if (!found)
        return CR_OK;
    __int128 second = (__int128)row.rate_pico * jobs_devices(spec); /* pico-dollars */
    __int128 high = second * protocol_spec_runtime_s(spec) / PICO_A_MICRO;
    struct jobs_cost *cost = cr_new(call, struct jobs_cost, 1);
    cost->high = high > INT64_MAX ? INT64_MAX : (int64_t)high;
    *ret_cost = cost;
    return CR_OK;
}

static const char *decision_of(const struct admission_why *why)
{
    if (why->blocker_count == 0)
        return "start";
    return why->blockers[0].tier == 1 ? "never" : "wait";
}

enum cr_status jobs_plan(struct cr_call *call, struct service *service, const struct principal *who,
                         const struct protocol_spec *spec, struct jobs_plan *ret_plan)
{
    CR_TRY(jobs_check(call, spec));
    CR_TRY(jobs_check_picture(call, service, who, spec));
    CR_SCOPED(books_close) struct admission *books = NULL;
    CR_TRY(load(call, service, &books));
    CR_TRY(enter_tenant(call, service, who->tenant, books));

    struct admission_job job = {
        .tenant = who->tenant,
        .job = "job_~", /* after every other of its age */
        .not_before_us = spec->not_before == CR_NO_INTEGER ? 0 : spec->not_before,
        .shape = engine_shape(call, spec),
    };
    struct jobs_plan plan = {.as_of = cr_utc_us(call), .region = service->config->region};
    struct admission_why why;
    CR_TRY(admission_plan(call, books, &job, plan.as_of, &why));
    plan.decision = decision_of(&why);
    plan.blockers = blockers_of(call, &why);
    CR_TRY(cost_of(call, service, who->tenant, spec, &plan.cost_microusd));
    *ret_plan = plan;
    return CR_OK;
}
