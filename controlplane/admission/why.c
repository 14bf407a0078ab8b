/* why: what stands between a job and its start, tier by tier. */
#include "controlplane/admission/admission_internal.h"

#include <stdarg.h>
#include <string.h>

static const struct {
    const char *word;
    int64_t tier;
} blockers[] = {
#define ROW(name, word, tier) [name] = {word, tier},
    ADMISSION_BLOCKER_TABLE(ROW)
#undef ROW
};

/* The one who asks; job NONE where it is only thought of. */
struct asked {
    struct question question;
    int32_t job;
    int64_t priority, not_before_us;
    bool backoff;
};

static struct admission_blocker *block(struct admission_why *why, enum admission_code code,
                                       const char *sentence)
{
    if (why->blocker_count == ADMISSION_BLOCKERS_MAX)
        return &why->blockers[ADMISSION_BLOCKERS_MAX - 1];
    struct admission_blocker *blocker = &why->blockers[why->blocker_count++];
    *blocker = (struct admission_blocker){
        .code = blockers[code].word, .tier = blockers[code].tier, .sentence = sentence};
    return blocker;
}

static void number(struct admission_blocker *blocker, const char *name, int64_t value)
{
    if (blocker->number_count < sizeof blocker->numbers / sizeof blocker->numbers[0])
        blocker->numbers[blocker->number_count++] = (struct admission_number){name, value};
}

/* What the nodes have for a shape. */
struct supply {
    int64_t models;               /* nodes of an allowed model, ready or not */
    int64_t largest;              /* devices that work on the largest of them */
    int64_t large_enough;         /* of them, nodes that could hold it when empty */
    int64_t ready;                /* of these, nodes that are ready */
    int64_t free, held_by_others; /* devices on nodes that are ready */
};

static struct supply look(const struct admission *books, const struct asked *asked,
                          struct admission_counts *counts)
{
    const struct shape *shape = asked->question.shape;
    struct supply supply = {0};
    for (int32_t i = 0; i < books->node_count; i++) {
        const struct node *node = &books->nodes[i];
        if (node->leaving)
            continue;
        counts->total++;
        if (!allows(node, shape)) {
            counts->model++;
            continue;
        }
        supply.models++;
        if (node->ok > supply.largest)
            supply.largest = node->ok;
        bool devices = node->ok >= shape->devices, memory = node->memory_mib >= shape->memory_mib;
        supply.large_enough += devices && memory;
        if (!node->ready) {
            counts->state++;
            continue;
        }
        supply.free += node->free;
        supply.ready += devices && memory;
        if (node->memory_mib - node->memory_used < shape->memory_mib)
            counts->memory++;
        else if (node->free < shape->devices)
            counts->devices++;
        else
            counts->fit++;
    }
    return supply;
}

/* Tier 1: what will not change by waiting. */
static void can_never(struct cr_call *call, const struct admission *books,
                      const struct asked *asked, const struct supply *supply,
                      struct admission_why *why)
{
    const struct shape *shape = asked->question.shape;
    const struct tenant *tenant = &books->tenants[asked->question.tenant];
    if (supply->models == 0) {
        struct admission_blocker *one =
            block(why, ADMISSION_NO_SUCH_MODEL,
                  shape->gpu ? "no node of this region has a GPU of the kind that it asks for"
                             : "no node of this region offers CPU slots");
        number(one, "nodes", why->counts.total);
    } else if (supply->large_enough == 0) {
        struct admission_blocker *one = block(
            why, ADMISSION_LARGER_THAN_NODE,
            cr_format(call,
                      "it asks for %lld devices and %lld MiB on one node, and no node has both",
                      (long long)shape->devices, (long long)shape->memory_mib));
        number(one, "devices", shape->devices);
        number(one, "largest_node", supply->largest);
        number(one, "memory_mib", shape->memory_mib);
    }
    if (shape->devices > tenant->limit) {
        struct admission_blocker *one =
            block(why, ADMISSION_ABOVE_QUOTA_CEILING,
                  cr_format(call, "it asks for %lld devices, and the tenant's limit is %lld",
                            (long long)shape->devices, (long long)tenant->limit));
        number(one, "devices", shape->devices);
        number(one, "limit", tenant->limit);
    }
}

/* Tiers 2 and 4: what is not allowed now. */
static void may_not(struct cr_call *call, const struct admission *books, const struct asked *asked,
                    int64_t now_us, struct admission_why *why)
{
    const struct shape *shape = asked->question.shape;
    const struct tenant *tenant = &books->tenants[asked->question.tenant];
    if (!tenant->active)
        block(why, ADMISSION_TENANT_SUSPENDED, "the tenant may not start jobs at present");
    if (asked->not_before_us > now_us && !asked->backoff) {
        struct admission_blocker *one =
            block(why, ADMISSION_NOT_BEFORE, "its not_before has not been reached");
        number(one, "wait_ms", (asked->not_before_us - now_us) / 1000);
    }
    if (shape->devices <= tenant->limit && tenant->held + shape->devices > tenant->limit) {
        struct admission_blocker *one = block(
            why, ADMISSION_QUOTA_FULL,
            cr_format(call, "the tenant holds %lld of the %lld devices that it may hold at once",
                      (long long)tenant->held, (long long)tenant->limit));
        number(one, "held", tenant->held);
        number(one, "limit", tenant->limit);
        number(one, "devices", shape->devices);
    }
}

/* Tier 5: what is taken. */
static void no_room(struct cr_call *call, const struct asked *asked, const struct supply *supply,
                    struct admission_why *why)
{
    const struct shape *shape = asked->question.shape;
    if (supply->large_enough == 0 || why->counts.fit > 0)
        return;
    struct admission_blocker *one;
    if (supply->ready == 0)
        one = block(why, ADMISSION_NODES_UNHEALTHY,
                    cr_format(call, "all %lld nodes that could hold it are not ready",
                              (long long)supply->large_enough));
    else if (supply->free < shape->devices)
        one = block(why, ADMISSION_NO_FREE_DEVICES,
                    cr_format(call, "it asks for %lld devices, and %lld are free",
                              (long long)shape->devices, (long long)supply->free));
    else
        one = block(why, ADMISSION_FRAGMENTED,
                    cr_format(call, "%lld devices are free, but no one node has %lld and %lld MiB",
                              (long long)supply->free, (long long)shape->devices,
                              (long long)shape->memory_mib));
    number(one, "devices", shape->devices);
    number(one, "free", supply->free);
    number(one, "nodes", supply->large_enough);
    number(one, "nodes_ready", supply->ready);
}

/* Jobs that the order has before this one: of its tenant, or of all. */
static int64_t ahead(const struct admission *books, const struct asked *asked, bool all)
{
    int64_t count = 0;
    const char *name = asked->job == NONE ? NULL : books->jobs[asked->job].name;
    for (int32_t i = 0; i < books->job_count; i++) {
        const struct job *job = &books->jobs[i];
        if (!job->waiting || i == asked->job || job->not_before_us > 0 ||
            (!all && job->tenant != asked->question.tenant))
            continue;
        count += job->priority > asked->priority ||
                 (job->priority == asked->priority && (!name || strcmp(job->name, name) < 0));
    }
    return count;
}

/* Tiers 6 and 7: what passes. */
static void passing(struct cr_call *call, const struct admission *books, const struct asked *asked,
                    int64_t now_us, struct admission_why *why)
{
    if (asked->not_before_us > now_us && asked->backoff) {
        struct admission_blocker *one = block(
            why, ADMISSION_BACKOFF, "it pauses after an attempt that was lost, then starts again");
        number(one, "wait_ms", (asked->not_before_us - now_us) / 1000);
    }
    if (asked->job == NONE)
        return;
    int64_t before = why->blocker_count == 0 ? ahead(books, asked, true) : 0;
    if (before > 0) {
        struct admission_blocker *one = block(
            why, ADMISSION_TURN, cr_format(call, "%lld jobs come before it", (long long)before));
        number(one, "jobs", before);
    } else if (why->blocker_count == 0) {
        block(why, ADMISSION_EVALUATING, "it is being placed");
    }
}

/* Who holds the devices that it could use: the tenant's own jobs by name, of others the sum. */
static void holders(struct cr_call *call, const struct admission *books, const struct asked *asked,
                    struct admission_why *why)
{
    const char **names = cr_new(call, const char *, ADMISSION_BATCH_MAX);
    for (int32_t i = 0; i < books->job_count; i++) {
        const struct job *job = &books->jobs[i];
        if (!job->name || job->held == 0 ||
            !allows(&books->nodes[job->node], asked->question.shape))
            continue;
        if (job->tenant != asked->question.tenant)
            why->held_by_others += job->held;
        else if (why->holder_count < ADMISSION_BATCH_MAX)
            names[why->holder_count++] = cr_format(call, "%s", job->name);
    }
    why->holders = names;
}

static void remedy(struct cr_call *call, struct admission_why *why)
{
    if (why->blocker_count == 0)
        return;
    const struct admission_blocker *first = &why->blockers[0];
    static const struct {
        enum admission_code code;
        const char *change, *detail;
    } remedies[] = {
        {ADMISSION_NO_SUCH_MODEL, "node_joins", "a node with such devices joins"},
        {ADMISSION_LARGER_THAN_NODE, "smaller_request", "it asks for no more than one node has"},
        {ADMISSION_ABOVE_QUOTA_CEILING, "limit_raised", "the tenant's limit is raised"},
        {ADMISSION_TENANT_SUSPENDED, "tenant_resumed", "the tenant may start jobs again"},
        {ADMISSION_NOT_BEFORE, "time", "its time is reached"},
        {ADMISSION_QUOTA_FULL, "own_job_ends", "a job of this tenant ends, or its limit is raised"},
        {ADMISSION_NO_FREE_DEVICES, "devices_freed", "enough devices are given back"},
        {ADMISSION_FRAGMENTED, "devices_freed", "enough devices of one node are given back"},
        {ADMISSION_NODES_UNHEALTHY, "node_recovers", "one of these nodes is ready again"},
    };
    for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; i++)
        if (strcmp(first->code, blockers[remedies[i].code].word) == 0) {
            why->would_start_if = remedies[i].change;
            why->would_detail = cr_format(call, "%s", remedies[i].detail);
        }
}

static void answer(struct cr_call *call, const struct admission *books, const struct asked *asked,
                   int64_t now_us, struct admission_why *ret_why)
{
    struct admission_why why = {0};
    struct supply supply = look(books, asked, &why.counts);
    can_never(call, books, asked, &supply, &why);
    may_not(call, books, asked, now_us, &why);
    no_room(call, asked, &supply, &why);
    passing(call, books, asked, now_us, &why);
    holders(call, books, asked, &why);
    remedy(call, &why);
    why.position = ahead(books, asked, false);
    *ret_why = why;
}

static struct asked asked_of(const struct admission *books, int32_t at)
{
    const struct job *job = &books->jobs[at];
    return (struct asked){
        .question = {.tenant = job->tenant, .shape = &books->classes[job->class].shape},
        .job = at,
        .priority = job->priority,
        .not_before_us = job->not_before_us,
        .backoff = job->backoff,
    };
}

enum cr_status admission_why(struct cr_call *call, struct admission *books, const char *job,
                             int64_t now_us, struct admission_why *ret_why)
{
    int32_t at = map_find(&books->job_map, job);
    if (at == NONE || !books->jobs[at].waiting)
        return cr_fail(call, CR_NOT_FOUND, "%s does not wait", job);
    struct asked asked = asked_of(books, at);
    answer(call, books, &asked, now_us, ret_why);
    return CR_OK;
}

enum cr_status admission_plan(struct cr_call *call, struct admission *books,
                              const struct admission_job *job, int64_t now_us,
                              struct admission_why *ret_why)
{
    int32_t tenant = map_find(&books->tenant_map, job->tenant), class = NONE;
    if (tenant == NONE)
        return cr_fail(call, CR_NOT_FOUND, "no tenant %s", job->tenant);
    CR_TRY(class_of(call, books, job, &class)); /* a class that nobody waits in costs nothing */
    struct asked asked = {
        .question = {.tenant = tenant, .shape = &books->classes[class].shape},
        .job = NONE,
        .priority = job->priority,
        .not_before_us = job->not_before_us,
        .backoff = job->backoff,
    };
    answer(call, books, &asked, now_us, ret_why);
    return CR_OK;
}

enum cr_status admission_parked(struct cr_call *call, struct admission *books, int64_t now_us,
                                struct admission_park **ret_parks, size_t *ret_count)
{
    struct admission_park *parks =
        cr_new(call, struct admission_park, (size_t)books->class_count + 1);
    size_t count = 0;
    for (int32_t i = 0; i < books->class_count; i++) {
        int32_t first = first_of(books, i);
        if (first == NONE)
            continue;
        struct asked asked = asked_of(books, first);
        struct admission_why why;
        answer(call, books, &asked, now_us, &why);
        const struct class *class = &books->classes[i];
        parks[count++] = (struct admission_park){
            .tenant = cr_format(call, "%s", books->tenants[class->tenant].name),
            .class_key = cr_format(call, "%s", class->key),
            .first_job = cr_format(call, "%s", books->jobs[first].name),
            .jobs = class->waiting,
            .blocker = why.blockers[0],
        };
    }
    *ret_parks = parks;
    *ret_count = count;
    return CR_OK;
}
