#include "controlplane/service/events.h"

#include "base/core/text.h"
#include "controlplane/service/events_sql.h"
#include "controlplane/service/identity.h"

#include <string.h>

/* clang-format off */
static const struct cr_member event_members[] = {
    CR_MEMBER(struct event, id, 1, 64),
    CR_MEMBER(struct event, seq, 1, CR_SAFE_INTEGER),
    CR_MEMBER(struct event, type, 1, 64),
    CR_TIME(struct event, timestamp),
    CR_MEMBER(struct event, subject, 1, 255),
    CR_JSON(struct event, data, SERVICE_EVENT_MAX),
};
static const struct cr_member filter_members[] = {
    CR_TEXTS(struct events_filter, types, 1, EVENTS_PATTERNS_MAX, .flags = CR_OPTIONAL,
             .about = "Types, or their nouns: job.*,usage.*"),
    CR_MEMBER(struct events_filter, subject, 1, 255, .flags = CR_OPTIONAL),
};
static const struct cr_member progress_members[] = {
    CR_ID(struct events_progress, job, "job"),
    CR_MEMBER(struct events_progress, step, 0, CR_SAFE_INTEGER),
    CR_MEMBER(struct events_progress, steps, 0, CR_SAFE_INTEGER),
    CR_MEMBER(struct events_progress, phase, 0, 64),
    CR_TIME(struct events_progress, at),
};

/* Which permission reads a subject. */
static const struct {
    const char *noun, *permission;
} readers[] = {
    {"job",        "jobs:read"},      {"artifact", "artifacts:read"}, {"key",  "keys:read"},
    {"usage",      "usage:read"},     {"invoice",  "billing:read"},   {"node", "ops:read"},
    {"enrollment", "ops:read"},       {"engine",   "ops:read"},       {"price", "ops:read"},
    {"tenant",     "tenants:read"},
};
/* clang-format on */
#define READER_COUNT (sizeof readers / sizeof readers[0])

const struct cr_shape event_shape = CR_SHAPE(struct event, event_members, .name = "Event");
const struct cr_shape events_filter_shape = CR_SHAPE(struct events_filter, filter_members);
const struct cr_shape events_progress_shape =
    CR_SHAPE(struct events_progress, progress_members, .name = "EventProgress");

static bool is_word(const char *text, size_t length)
{
    return length > 0 && strspn(text, "abcdefghijklmnopqrstuvwxyz_") >= length;
}

/* "job.*" and "job.succeeded" as patterns of LIKE, in which '_' stands for itself. NULL: neither.
 */
static const char *pattern_of(struct cr_call *call, const char *type)
{
    const char *dot = strchr(type, '.');
    if (!dot || !is_word(type, (size_t)(dot - type)))
        return NULL;
    if (strcmp(dot, ".*") != 0 && !is_word(dot + 1, strlen(dot + 1)))
        return NULL;
    struct cr_text pattern = cr_text_open(call);
    for (; *type; type++)
        if (*type == '*')
            cr_text_add(&pattern, "%");
        else
            cr_text_add_format(&pattern, "%s%c", *type == '_' ? "\\" : "", *type);
    return pattern.data;
}

enum cr_status events_view(struct cr_call *call, const struct principal *who,
                           const struct events_filter *filter, struct events_view *ret_view)
{
    const char **nouns = cr_new(call, const char *, READER_COUNT);
    size_t noun_count = 0;
    for (size_t i = 0; i < READER_COUNT; i++)
        if (identity_holds(who->permissions ? who->permissions : "", readers[i].permission))
            nouns[noun_count++] = readers[i].noun;

    size_t count = filter->types.count;
    const char **patterns = cr_new(call, const char *, count + 1);
    for (size_t i = 0; i < count; i++) {
        patterns[i] = pattern_of(call, filter->types.items[i]);
        if (!patterns[i]) {
            cr_fault(call, CR_AT_PARAMETER, "types", "invalid_parameter",
                     "'%.40s' is neither a type such as job.succeeded nor one such as job.*",
                     filter->types.items[i]);
            return cr_fail_as(call, &cr_code_invalid_parameter, "%s", call->faults[0].detail);
        }
    }
    if (count == 0)
        patterns[count++] = "%";
    *ret_view = (struct events_view){
        .tenant = service_tenant(who),
        .nouns = {nouns, noun_count},
        .patterns = {patterns, count},
        .subject = filter->subject,
    };
    return CR_OK;
}

struct reading {
    const struct events_view *view;
    int64_t seq, limit;
    struct cr_list *ret_events;
};

static enum cr_status page_work(struct cr_call *call, struct db *db, void *context)
{
    const struct reading *it = context;
    const struct events_view *view = it->view;
    return db_list(call, db, &events_page,
                   DB_VALUES(db_text(view->tenant), db_texts(view->nouns.items, view->nouns.count),
                             db_texts(view->patterns.items, view->patterns.count),
                             db_text(view->subject), db_int(it->seq), db_int(it->limit)),
                   &event_shape, it->ret_events);
}

enum cr_status events_list(struct cr_call *call, struct service *service,
                           const struct events_view *view, int64_t before, int64_t limit,
                           struct cr_list *ret_events)
{
    struct reading it = {view, before, limit, ret_events};
    return db_transaction(call, service->db, view->tenant, DB_PLANNED, page_work, &it);
}

static enum cr_status next_work(struct cr_call *call, struct db *db, void *context)
{
    const struct reading *it = context;
    const struct events_view *view = it->view;
    return db_list(call, db, &events_following,
                   DB_VALUES(db_text(view->tenant), db_texts(view->nouns.items, view->nouns.count),
                             db_texts(view->patterns.items, view->patterns.count), db_int(it->seq),
                             db_int(it->limit)),
                   &event_shape, it->ret_events);
}

enum cr_status events_next(struct cr_call *call, struct service *service,
                           const struct events_view *view, int64_t after, int64_t limit,
                           struct cr_list *ret_events)
{
    struct reading it = {view, after, limit < EVENTS_PAGE_MAX ? limit : EVENTS_PAGE_MAX,
                         ret_events};
    return db_transaction(call, service->db, view->tenant, 0, next_work, &it);
}

/* Beginning ----------------------------------------------------------------------------------- */

struct ends {
    int64_t oldest, newest;
};
static const struct cr_member ends_members[] = {
    CR_MEMBER(struct ends, oldest, 1, CR_SAFE_INTEGER, .flags = CR_NULLABLE),
    CR_MEMBER(struct ends, newest, 1, CR_SAFE_INTEGER, .flags = CR_NULLABLE),
};
static const struct cr_shape ends_shape = CR_SHAPE(struct ends, ends_members);

struct beginning {
    const char *tenant;
    struct ends ends;
};

static enum cr_status ends_work(struct cr_call *call, struct db *db, void *context)
{
    struct beginning *it = context;
    bool found;
    return db_one(call, db, &events_ends, DB_VALUES(db_text(it->tenant)), &ends_shape, &it->ends,
                  &found);
}

enum cr_status events_begin(struct cr_call *call, struct service *service,
                            const struct events_view *view, int64_t after, int64_t *ret_after)
{
    struct beginning it = {.tenant = view->tenant};
    CR_TRY(db_transaction(call, service->db, view->tenant, 0, ends_work, &it));
    int64_t newest = it.ends.newest == CR_NO_INTEGER ? 0 : it.ends.newest;
    if (after == CR_NO_INTEGER) {
        *ret_after = newest;
        return CR_OK;
    }
    /* A number above the newest is of a history that is no more: of before a restore, or a reset.
     */
    bool older = it.ends.oldest != CR_NO_INTEGER && after < it.ends.oldest - 1;
    if (older || after > newest) {
        cr_extra_text(call, "url", "/v1/events");
        return cr_fail_as(
            call, &cr_code_history_expired,
            "the history does not go on behind %lld; what there is stands in the list",
            (long long)after);
    }
    *ret_after = after;
    return CR_OK;
}

/* Progress ------------------------------------------------------------------------------------ */

struct progress_reading {
    const char *tenant;
    const struct cr_texts *jobs;
    int64_t since;
    struct cr_list *ret_progress;
};

static enum cr_status progress_work(struct cr_call *call, struct db *db, void *context)
{
    const struct progress_reading *it = context;
    return db_list(call, db, &events_progressed,
                   DB_VALUES(db_text(it->tenant), db_int(it->since),
                             db_texts(it->jobs->items, it->jobs->count),
                             db_int(EVENTS_PROGRESS_MAX)),
                   &events_progress_shape, it->ret_progress);
}

enum cr_status events_progress(struct cr_call *call, struct service *service, const char *tenant,
                               const struct cr_texts *jobs, int64_t since,
                               struct cr_list *ret_progress)
{
    struct progress_reading it = {tenant, jobs, since, ret_progress};
    return db_transaction(call, service->db, tenant, 0, progress_work, &it);
}
