/* jobs_read: jobs as they are shown. */
#include "controlplane/service/jobs_internal.h"

#include "base/core/text.h"
#include "base/json/json.h"
#include "controlplane/service/jobs_sql.h"

#include <assert.h>
#include <string.h>

/* Above every id: ids are ASCII. */
#define TOP "~"

/* A row of jobs_rows; what is nested comes out of the spec. */
struct row {
    struct job job;
    const char *spec, *flavor, *engine_class, *phase;
    int64_t step, steps;
};
#define OF_JOB(member, kind_)                                                        \
    {                                                                                \
        .name = #member, .kind = (kind_), .offset = offsetof(struct row, job.member) \
    }
static const struct cr_member row_members[] = {
    OF_JOB(job, CR_KIND_TEXT),           OF_JOB(name, CR_KIND_TEXT),
    OF_JOB(labels, CR_KIND_LABELS),      OF_JOB(kind, CR_KIND_TEXT),
    OF_JOB(state, CR_KIND_TEXT),         OF_JOB(code, CR_KIND_TEXT),
    OF_JOB(reason, CR_KIND_TEXT),        OF_JOB(mark, CR_KIND_TEXT),
    OF_JOB(queue, CR_KIND_TEXT),         OF_JOB(class, CR_KIND_TEXT),
    OF_JOB(price, CR_KIND_TEXT),         OF_JOB(submitted, CR_KIND_TIME),
    OF_JOB(started, CR_KIND_TIME),       OF_JOB(ended, CR_KIND_TIME),
    OF_JOB(attempt, CR_KIND_INTEGER),    OF_JOB(lease_epoch, CR_KIND_INTEGER),
    OF_JOB(node, CR_KIND_TEXT),          OF_JOB(outputs, CR_KIND_JSON),
    OF_JOB(metrics, CR_KIND_JSON),       OF_JOB(record, CR_KIND_TEXT),
    OF_JOB(device_ns, CR_KIND_INTEGER),  OF_JOB(cost_microusd, CR_KIND_INTEGER),
    OF_JOB(version, CR_KIND_INTEGER),    CR_MEMBER(struct row, spec, 0, 0),
    CR_MEMBER(struct row, flavor, 0, 0), CR_MEMBER(struct row, engine_class, 0, 0),
    CR_MEMBER(struct row, phase, 0, 0),  CR_MEMBER(struct row, step, 0, 0),
    CR_MEMBER(struct row, steps, 0, 0),
};
static const struct cr_shape row_shape = CR_SHAPE(struct row, row_members);

static enum cr_status job_of(struct cr_call *call, const struct service_config *config,
                             const struct row *row, struct job *ret_job)
{
    struct protocol_spec spec;
    CR_TRY(json_read(call, &protocol_spec_shape, row->spec, strlen(row->spec), &spec));
    struct job job = row->job;
    job.program = spec.program;
    job.inputs = spec.inputs;
    job.hyperparameters = spec.hyperparameters;
    job.resources = spec.resources;
    job.retry = spec.retry;
    job.max_runtime_s = protocol_spec_runtime_s(&spec);
    job.stop_grace_s = protocol_spec_grace_s(&spec);
    job.progress = NULL;
    if (row->phase) {
        struct jobs_progress *progress = cr_new(call, struct jobs_progress, 1);
        *progress = (struct jobs_progress){row->step, row->steps, row->phase};
        job.progress = progress;
    }
    job.device = row->flavor && row->engine_class
                     ? cr_format(call, "%s %s", row->flavor, row->engine_class)
                     : row->flavor;
    job.region = config->region;
    job.durability = config->durability;
    *ret_job = job;
    return CR_OK;
}

enum cr_status jobs_read_many(struct cr_call *call, struct db *db,
                              const struct service_config *config, const char *tenant,
                              const char *const *jobs, size_t count, struct cr_list *ret_jobs)
{
    struct cr_list rows;
    CR_TRY(db_list(call, db, &jobs_rows, DB_VALUES(db_text(tenant), db_texts(jobs, count)),
                   &row_shape, &rows));
    struct job *items = cr_new(call, struct job, rows.count);
    for (size_t i = 0; i < rows.count; i++)
        CR_TRY(job_of(call, config, (const struct row *)rows.items + i, &items[i]));
    *ret_jobs = (struct cr_list){items, rows.count};
    return CR_OK;
}

enum cr_status jobs_read(struct cr_call *call, struct db *db, const struct service_config *config,
                         const char *tenant, const char *job, struct job *ret_job)
{
    struct cr_list found;
    CR_TRY(jobs_read_many(call, db, config, tenant, &job, 1, &found));
    if (found.count == 0)
        return service_missing(call, "job", job);
    *ret_job = *(const struct job *)found.items;
    return CR_OK;
}

enum cr_status jobs_tell(struct cr_call *call, struct db *db, const struct service_config *config,
                         const char *tenant, const char *job, const char *type)
{
    struct job now;
    CR_TRY(jobs_read(call, db, config, tenant, job, &now));
    return service_outbox(call, db, tenant, type ? type : cr_format(call, "job.%s", now.state), job,
                          json_write(call, &job_shape, &now));
}

enum cr_status jobs_look(struct cr_call *call, struct service *service, const struct principal *who,
                         enum cr_status (*work)(struct cr_call *call, struct db *db, void *context),
                         void *context)
{
    /* It only reads, so it may be done again where the end of its commit was not heard. */
    return db_transaction(call, service_db(service, who), service_tenant(who), DB_REPEATABLE, work,
                          context);
}

/* One job ---------------------------------------------------------------------------------------
 */

struct get {
    struct service *service;
    const char *tenant, *job;
    struct job *ret_job;
};

static enum cr_status get_work(struct cr_call *call, struct db *db, void *context)
{
    const struct get *it = context;
    return jobs_read(call, db, it->service->config, it->tenant, it->job, it->ret_job);
}

enum cr_status jobs_get(struct cr_call *call, struct service *service, const struct principal *who,
                        const char *job, struct job *ret_job)
{
    struct get it = {service, service_tenant(who), job, ret_job};
    return jobs_look(call, service, who, get_work, &it);
}

/* Many jobs -------------------------------------------------------------------------------------
 */

struct listing {
    struct service *service;
    const char *tenant, *after;
    const struct jobs_filter *filter;
    int64_t limit;
    struct cr_list *ret_jobs;
};

struct page_row {
    const char *job;
};
static const struct cr_member page_members[] = {CR_MEMBER(struct page_row, job, 0, 0)};
static const struct cr_shape page_shape = CR_SHAPE(struct page_row, page_members);

/* "%" and "_" of a prefix mean themselves. */
static const char *like_of(struct cr_call *call, const char *prefix)
{
    if (!prefix)
        return NULL;
    struct cr_text text = cr_text_open(call);
    for (const char *at = prefix; *at; at++) {
        if (strchr("%_\\", *at))
            cr_text_add(&text, "\\");
        cr_text_add_bytes(&text, at, 1);
    }
    cr_text_add(&text, "%");
    return text.data;
}

static enum cr_status labels_of(struct cr_call *call, const char *label, const char **ret_json)
{
    *ret_json = NULL;
    if (!label)
        return CR_OK;
    const char *equals = strchr(label, '=');
    if (!equals || equals == label) {
        cr_fault(call, CR_AT_PARAMETER, "label", "out_of_range", "label must be NAME=VALUE");
        return cr_fail_as(call, &cr_code_invalid_parameter, "label must be NAME=VALUE");
    }
    struct cr_text text = cr_text_open(call);
    cr_text_add(&text, "{");
    cr_text_add_quoted(&text, label, (size_t)(equals - label));
    cr_text_add(&text, ":");
    cr_text_add_quoted(&text, equals + 1, strlen(equals + 1));
    cr_text_add(&text, "}");
    *ret_json = text.data;
    return CR_OK;
}

static bool is_live(const char *state)
{
    static const char *const live[] = {"queued", "placing", "running", "stopping"};
    for (size_t i = 0; i < sizeof live / sizeof live[0]; i++)
        if (strcmp(state, live[i]) == 0)
            return true;
    return false;
}

static enum cr_status list_work(struct cr_call *call, struct db *db, void *context)
{
    const struct listing *it = context;
    const struct jobs_filter *filter = it->filter;
    const char *labels;
    CR_TRY(labels_of(call, filter->label, &labels));
    const struct db_value values[] = {
        db_text(it->tenant),    db_text(it->after ? it->after : TOP),
        db_text(filter->kind),  db_text(like_of(call, filter->name)),
        db_text(labels),        db_int(filter->since),
        db_int(filter->until),  db_int(it->limit),
        db_text(filter->state),
    };
    size_t count = sizeof values / sizeof values[0];
    const struct db_statement *page = &jobs_page;
    if (!filter->state)
        count--;
    else
        page = is_live(filter->state) ? &jobs_page_live : &jobs_page_ended;

    struct cr_list found;
    CR_TRY(db_list(call, db, page, values, count, &page_shape, &found));
    const char **ids = cr_new(call, const char *, found.count);
    for (size_t i = 0; i < found.count; i++)
        ids[i] = ((const struct page_row *)found.items)[i].job;
    return jobs_read_many(call, db, it->service->config, it->tenant, ids, found.count,
                          it->ret_jobs);
}

enum cr_status jobs_list(struct cr_call *call, struct service *service, const struct principal *who,
                         const struct jobs_filter *filter, const char *after, int64_t limit,
                         struct cr_list *ret_jobs)
{
    struct listing it = {service, service_tenant(who), after, filter, limit, ret_jobs};
    return db_transaction(call, service_db(service, who), service_tenant(who),
                          DB_REPEATABLE | DB_PLANNED, list_work, &it);
}
