/* jobs_data: what a job left behind: attempts, outputs, logs; and how many there are. */
#include "controlplane/service/jobs_internal.h"

#include "base/core/text.h"
#include "controlplane/service/jobs_sql.h"

#include <string.h>

/* What a look at one job asks, and where its answer goes. */
struct look {
    struct service *service;
    const char *tenant, *job;
    int64_t offset;
    void *result;
};

static enum cr_status look_at(struct cr_call *call, struct service *service,
                              const struct principal *who, struct look *look,
                              enum cr_status (*work)(struct cr_call *, struct db *, void *))
{
    look->service = service;
    look->tenant = service_tenant(who);
    return jobs_look(call, service, who, work, look);
}

/* 404 before anything else. */
static enum cr_status job_is_there(struct cr_call *call, struct db *db, const struct look *it,
                                   struct job *ret_job)
{
    return jobs_read(call, db, it->service->config, it->tenant, it->job, ret_job);
}

/* Attempts and outputs --------------------------------------------------------------------------
 */

static enum cr_status attempts_work(struct cr_call *call, struct db *db, void *context)
{
    const struct look *it = context;
    struct job job;
    CR_TRY(job_is_there(call, db, it, &job));
    return db_list(call, db, &jobs_leases, DB_VALUES(db_text(it->tenant), db_text(it->job)),
                   &jobs_attempt_shape, it->result);
}

enum cr_status jobs_attempts(struct cr_call *call, struct service *service,
                             const struct principal *who, const char *job,
                             struct cr_list *ret_attempts)
{
    struct look look = {.job = job, .result = ret_attempts};
    return look_at(call, service, who, &look, attempts_work);
}

static enum cr_status outputs_work(struct cr_call *call, struct db *db, void *context)
{
    const struct look *it = context;
    struct job job;
    CR_TRY(job_is_there(call, db, it, &job));
    return db_list(call, db, &jobs_made, DB_VALUES(db_text(it->tenant), db_text(it->job)),
                   &jobs_output_shape, it->result);
}

enum cr_status jobs_outputs(struct cr_call *call, struct service *service,
                            const struct principal *who, const char *job,
                            struct cr_list *ret_outputs)
{
    struct look look = {.job = job, .result = ret_outputs};
    return look_at(call, service, who, &look, outputs_work);
}

/* Logs ------------------------------------------------------------------------------------------
 */

struct size_row {
    int64_t size, dropped;
};
static const struct cr_member size_members[] = {
    CR_MEMBER(struct size_row, size, 0, 0),
    CR_MEMBER(struct size_row, dropped, 0, 0),
};
static const struct cr_shape size_shape = CR_SHAPE(struct size_row, size_members);

struct chunk {
    int64_t start_at;
    struct cr_bytes payload;
};
static const struct cr_member chunk_members[] = {
    CR_MEMBER(struct chunk, start_at, 0, 0),
    CR_BYTES(struct chunk, payload, 0, INT32_MAX),
};
static const struct cr_shape chunk_shape = CR_SHAPE(struct chunk, chunk_members);

static enum cr_status log_work(struct cr_call *call, struct db *db, void *context)
{
    const struct look *it = context;
    struct jobs_log *log = it->result;
    struct job job;
    struct size_row size;
    struct cr_list chunks;
    bool found;
    CR_TRY(job_is_there(call, db, it, &job));
    CR_TRY(db_one(call, db, &jobs_log_size, DB_VALUES(db_text(it->tenant), db_text(it->job)),
                  &size_shape, &size, &found));
    int64_t end = it->offset + JOBS_LOG_MAX;
    CR_TRY(
        db_list(call, db, &jobs_log_chunks,
                DB_VALUES(db_text(it->tenant), db_text(it->job), db_int(it->offset), db_int(end)),
                &chunk_shape, &chunks));
    struct cr_text text = cr_text_open(call);
    const struct chunk *items = chunks.items;
    for (size_t i = 0; i < chunks.count; i++) {
        int64_t from = it->offset > items[i].start_at ? it->offset - items[i].start_at : 0;
        int64_t to = (int64_t)items[i].payload.size;
        if (items[i].start_at + to > end)
            to = end - items[i].start_at;
        cr_text_add_bytes(&text, items[i].payload.data + from, (size_t)(to - from));
    }
    *log = (struct jobs_log){
        .bytes = {(const unsigned char *)text.data, text.length},
        .offset = it->offset,
        .size = size.size,
        .dropped = size.dropped,
        .ended = job.ended != CR_NO_INTEGER,
    };
    return CR_OK;
}

enum cr_status jobs_log(struct cr_call *call, struct service *service, const struct principal *who,
                        const char *job, int64_t offset, struct jobs_log *ret_log)
{
    struct look look = {.job = job, .offset = offset, .result = ret_log};
    return look_at(call, service, who, &look, log_work);
}

/* Counts ----------------------------------------------------------------------------------------
 */

struct total {
    const char *state;
    int64_t jobs;
};
static const struct cr_member total_members[] = {
    CR_MEMBER(struct total, state, 0, 0),
    CR_MEMBER(struct total, jobs, 0, 0),
};
static const struct cr_shape total_shape = CR_SHAPE(struct total, total_members);

static int64_t total_of(const struct cr_list *totals, const char *state)
{
    const struct total *items = totals->items;
    for (size_t i = 0; i < totals->count; i++)
        if (strcmp(items[i].state, state) == 0)
            return items[i].jobs;
    return 0;
}

static enum cr_status summary_work(struct cr_call *call, struct db *db, void *context)
{
    const struct look *it = context;
    struct jobs_summary *summary = it->result;
    struct cr_list totals;
    CR_TRY(db_list(call, db, &jobs_counts, DB_VALUES(db_text(it->tenant)),
                   jobs_summary_shape.members[0].shape, &summary->data));
    CR_TRY(db_list(call, db, &jobs_count_totals, DB_VALUES(db_text(it->tenant)), &total_shape,
                   &totals));
    struct cr_text text = cr_text_open(call);
    for (const char *const *state = jobs_states; *state; state++)
        cr_text_add_format(&text, "%s\"%s\":%lld", text.length ? "," : "{", *state,
                           (long long)total_of(&totals, *state));
    cr_text_add(&text, "}");
    summary->total = (struct cr_json){text.data, text.length};
    return CR_OK;
}

enum cr_status jobs_summary(struct cr_call *call, struct service *service,
                            const struct principal *who, struct jobs_summary *ret_summary)
{
    struct look look = {.result = ret_summary};
    return look_at(call, service, who, &look, summary_work);
}
