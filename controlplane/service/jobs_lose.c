/* jobs_lose: what becomes of a job whose lease ended, and the job did not. */
#include "controlplane/service/jobs_internal.h"

#include "base/core/time.h"
#include "controlplane/service/jobs_sql.h"

#include <string.h>

#define LOSSES_MAX    8 /* of the platform; then PLATFORM_EXHAUSTED */
#define POISON_LEASES 3 /* so many attempts that ended badly, on so many nodes */
#define POISON_NODES  2
#define WAIT_FIRST_US (5 * CR_US_A_SECOND) /* doubled with each loss */
#define WAIT_MOST_US  (300 * CR_US_A_SECOND)

/* Ends that speak against the job itself where they come again and again. */
static const char *const bad_words[] = {"crashed",  "syscall",      "garbage",
                                        "unsealed", "device_fault", "node_lost"};
#define BAD_WORD_COUNT (sizeof bad_words / sizeof bad_words[0])

struct lost {
    const char *state, *stop_cause;
    int64_t platform_losses, retries, retry_max, bad, bad_nodes;
    struct cr_texts retry_on;
};
static const struct cr_member lost_members[] = {
    CR_MEMBER(struct lost, state, 0, 0),     CR_MEMBER(struct lost, stop_cause, 0, 0),
    CR_MEMBER(struct lost, retries, 0, 0),   CR_MEMBER(struct lost, platform_losses, 0, 0),
    CR_MEMBER(struct lost, retry_max, 0, 0), CR_MEMBER(struct lost, bad, 0, 0),
    CR_MEMBER(struct lost, bad_nodes, 0, 0), CR_TEXTS(struct lost, retry_on, 0, 16),
};
static const struct cr_shape lost_shape = CR_SHAPE(struct lost, lost_members);

/* The ends that causes of a stop lead to; the others queue the job again. */
static const struct {
    const char *cause, *terminal, *code, *reason;
} finals[] = {
    {"cancel", "cancelled", "CANCELLED", "cancelled while it ran"},
    {"deadline", "failed", "DEADLINE", "it ran longer than its max_runtime_s"},
    {"budget", "failed", "BUDGET", "its budget is spent"},
};

static enum cr_status end(struct cr_call *call, struct db *db, const struct service_config *config,
                          const struct jobs_loss *loss, const char *terminal, const char *code,
                          const char *reason)
{
    struct jobs_end it = {
        .tenant = loss->tenant,
        .job = loss->job,
        .from = {"placing", "running", "stopping"},
        .lease_epoch = loss->lease_epoch,
        .terminal = terminal,
        .code = code,
        .reason = reason,
        .ended = CR_NO_INTEGER,
    };
    return jobs_write_end(call, db, config, &it);
}

/* What is added to the counters of the job, and what it is told meanwhile. */
struct again {
    const char *code, *mark;
    int64_t losses, retries, preempted, wait_us;
};

static int64_t wait_of(struct cr_call *call, int64_t losses)
{
    int64_t most = WAIT_FIRST_US << (losses > 6 ? 6 : losses);
    uint64_t random;
    cr_random(call, &random, sizeof random);
    return (int64_t)(random % (uint64_t)(most < WAIT_MOST_US ? most : WAIT_MOST_US));
}

static enum cr_status requeue(struct cr_call *call, struct db *db, const struct jobs_loss *loss,
                              const struct again *again)
{
    return db_exec_fenced(call, db, &jobs_requeue,
                          DB_VALUES(db_text(loss->tenant), db_text(loss->job),
                                    db_int(loss->lease_epoch), db_text(again->code),
                                    db_text(cr_format(call, "attempt %lld ended: %s",
                                                      (long long)loss->lease_epoch, loss->word)),
                                    db_text(again->mark), db_int(again->losses),
                                    db_int(again->retries), db_int(again->preempted),
                                    db_int(again->wait_us)),
                          "the job has moved on since it was looked at");
}

/* Whether the job asks to be tried again after this failure of its own. */
static bool wants_retry(const struct lost *lost, const char *word)
{
    static const char *const crashes[] = {"host_memory", "stalled"};
    if (lost->retries >= lost->retry_max)
        return false;
    for (size_t i = 0; i < lost->retry_on.count; i++) {
        const char *on = lost->retry_on.items[i];
        if (strcmp(on, word) == 0)
            return true;
        for (size_t c = 0; c < sizeof crashes / sizeof crashes[0]; c++)
            if (strcmp(on, "crash") == 0 && strcmp(word, crashes[c]) == 0)
                return true;
    }
    return false;
}

static enum cr_status lose_to_platform(struct cr_call *call, struct db *db,
                                       const struct service_config *config,
                                       const struct jobs_loss *loss, const struct lost *lost)
{
    if (lost->bad >= POISON_LEASES && lost->bad_nodes >= POISON_NODES)
        return end(call, db, config, loss, "failed", "POISON",
                   "its runner died again and again, on more than one node");
    if (lost->platform_losses >= LOSSES_MAX)
        return end(call, db, config, loss, "failed", "PLATFORM_EXHAUSTED",
                   "the platform lost it too many times");
    struct again again = {
        .code = "BACKOFF", .losses = 1, .wait_us = wait_of(call, lost->platform_losses)};
    return requeue(call, db, loss, &again);
}

static enum cr_status decide(struct cr_call *call, struct db *db,
                             const struct service_config *config, const struct jobs_loss *loss,
                             const struct lost *lost, bool *ret_done)
{
    *ret_done = true;
    if (lost->stop_cause) {
        for (size_t i = 0; i < sizeof finals / sizeof finals[0]; i++)
            if (strcmp(finals[i].cause, lost->stop_cause) == 0)
                return end(call, db, config, loss, finals[i].terminal, finals[i].code,
                           finals[i].reason);
        struct again again = {.mark = "preempted", .preempted = 1};
        return requeue(call, db, loss, &again);
    }
    if (!loss->own)
        return lose_to_platform(call, db, config, loss, lost);
    *ret_done = wants_retry(lost, loss->word);
    struct again again = {.code = "BACKOFF", .retries = 1, .wait_us = wait_of(call, lost->retries)};
    return *ret_done ? requeue(call, db, loss, &again) : CR_OK;
}

enum cr_status jobs_lose(struct cr_call *call, struct db *db, const struct service_config *config,
                         const struct jobs_loss *loss, const char **ret_state)
{
    struct lost lost;
    bool found, done;
    CR_TRY(db_one(call, db, &jobs_lost,
                  DB_VALUES(db_text(loss->tenant), db_text(loss->job), db_int(loss->lease_epoch),
                            db_texts(bad_words, BAD_WORD_COUNT)),
                  &lost_shape, &lost, &found));
    if (!found)
        return cr_fail_as(call, &service_code_stale_lease, "job %s is not live under epoch %lld",
                          loss->job, (long long)loss->lease_epoch);
    CR_TRY(decide(call, db, config, loss, &lost, &done));
    *ret_state = NULL;
    if (!done)
        return CR_OK;

    struct job now;
    CR_TRY(jobs_read(call, db, config, loss->tenant, loss->job, &now));
    *ret_state = now.state;
    return jobs_tell(call, db, config, loss->tenant, loss->job, now.mark ? "job.preempted" : NULL);
}
