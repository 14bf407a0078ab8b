/* answers: what a task came back with. */
#include "compute/node/node.h"

#include <string.h>

#define AGAIN_FIRST_NS INT64_C(1000000000)
#define RENEW_AGAIN_NS INT64_C(500000000)
#define AGAIN_MOST_NS  INT64_C(30000000000)

/* The task is given again, as it is, after a pause with full jitter. */
static void later(struct agent *agent, struct task *task)
{
    int64_t most = AGAIN_FIRST_NS << (task->tries < 5 ? task->tries : 5);
    uint64_t random;
    if (most > AGAIN_MOST_NS)
        most = AGAIN_MOST_NS;
    agent->env.random(agent->env.context, &random, sizeof random);
    task->again_ns = cr_now_ns(&task->call) + (int64_t)(random % (uint64_t)most);
    task->tries++;
    cr_forgive(&task->call);
    task->next = agent->later;
    agent->later = task;
}

void answer_later(struct agent *agent, int64_t now_ns)
{
    struct task **at = &agent->later;
    while (*at) {
        struct task *task = *at;
        if (task->again_ns > now_ns) {
            at = &task->next;
            continue;
        }
        *at = task->next;
        task->next = NULL;
        task_give(agent, task);
    }
}

int64_t answer_next_ns(const struct agent *agent)
{
    int64_t next = INT64_MAX;
    for (const struct task *task = agent->later; task; task = task->next)
        if (task->again_ns < next)
            next = task->again_ns;
    return next;
}

/* Whether the region has refused for good: what it says will not change. */
static bool refused(const struct task *task)
{
    return task->http == 404 || task->http == 409 || task->http == 403 || task->http == 400 ||
           task->http == 413 || task->http == 422;
}

static void apply(struct agent *agent, enum lease_event_kind kind, const struct task *task)
{
    loop_apply(agent, &(struct lease_event){.kind = kind, .lease = task->lease});
}

static void refuse(struct agent *agent, const struct task *task, const char *word,
                   const char *detail)
{
    loop_apply(agent,
               &(struct lease_event){
                   .kind = LEASE_REFUSED, .lease = task->lease, .word = word, .detail = detail});
}

/* Whether every role of the spec has its artifact: one that was deleted is left out. */
static bool has_all(const struct holding *holding)
{
    size_t wanted = holding->spec.inputs.count + (holding->spec.program->artifact != NULL);
    return holding->assignment.inputs.count >= wanted;
}

static bool on_program(struct agent *agent, int entry, struct task *task)
{
    struct holding *holding = &agent->holdings[entry];
    if (task->http != 200 && !refused(task)) {
        if (task->tries < NODE_TRIES_MAX)
            return false;
        refuse(agent, task, "input_unavailable", "the program cannot be read");
        return true;
    }
    if (task->http != 200) {
        apply(agent, LEASE_GONE, task);
        return true;
    }
    const struct protocol_assignment *assignment = task->answer;
    if (holding_open(&task->call, agent, entry, assignment) != CR_OK)
        refuse(agent, task, "unsupported", holding->call.reason);
    else if (assignment->memory_mib > agent->memory_mib)
        refuse(agent, task, "no_memory", "the job asks for more memory than there is");
    else if (!has_all(holding))
        refuse(agent, task, "input_unavailable", "an input is held no more");
    else
        apply(agent, LEASE_PROGRAM, task);
    return true;
}

static bool on_fetch(struct agent *agent, int entry, struct task *task)
{
    struct holding *holding = &agent->holdings[entry];
    switch (task->call.status) {
    case CR_OK:
        for (size_t i = 0; i < task->input_count; i++) {
            holding->inputs[i] = task->inputs[i];
            task->inputs[i] = -1;
        }
        apply(agent, LEASE_FETCHED, task);
        return true;
    case CR_CONFLICT:
        apply(agent, LEASE_GONE, task);
        return true;
    case CR_EXHAUSTED:
        refuse(agent, task, "no_disk", task->call.reason);
        return true;
    default:
        refuse(agent, task, "input_unavailable", task->call.reason);
        return true;
    }
}

static void apply_order(struct agent *agent, enum lease_event_kind kind, const struct task *task)
{
    const struct protocol_ordered *ordered = task->answer;
    loop_apply(agent, &(struct lease_event){.kind = kind,
                                            .lease = task->lease,
                                            .order = ordered->order,
                                            .cause = ordered->cause,
                                            .grace_s = ordered->grace_s});
}

static bool on_start(struct agent *agent, const struct task *task)
{
    if (task->http == 200)
        apply_order(agent, LEASE_STARTED, task);
    else if (refused(task))
        apply(agent, LEASE_GONE, task);
    else
        return false;
    return true;
}

static void free_slot(struct holding *holding, int slot)
{
    if (slot >= 0 && holding->launch && !holding->ended)
        launch_tell(holding->launch,
                    &(struct protocol_frame){.type = PROTOCOL_FRAME_SLOT, .slot = (uint8_t)slot});
}

static bool on_progress(struct agent *agent, int entry, const struct task *task)
{
    struct holding *holding = &agent->holdings[entry];
    if (task->http != 200 && !refused(task))
        return false;
    holding->progress_asked = false;
    free_slot(holding, task->slot);
    if (task->http == 200)
        apply_order(agent, LEASE_ORDERED, task);
    return true;
}

static bool on_checkpoint(struct agent *agent, int entry, const struct task *task)
{
    struct holding *holding = &agent->holdings[entry];
    holding->checkpoints_asked--;
    if (task->call.status != CR_OK) {
        free_slot(holding, task->slot);
        return true;
    }
    const struct upload *upload = &task->uploads[0];
    struct protocol_record record = {.type = PROTOCOL_RECORD_CHECKPOINT,
                                     .lease = task->lease,
                                     .lease_epoch = agent->book.entries[entry].lease_epoch,
                                     .step = task->step,
                                     .digest = upload->digest,
                                     .size = upload->size,
                                     .held_ns = task->held_ns};
    struct cr_call call = cr_call_open(&agent->env, INT64_MAX);
    if (journal_write(&call, agent, &record) != CR_OK)
        abort(); /* a journal that takes nothing ends the process, as a crash would */
    cr_call_close(&call);
    if (holding->has_checkpoint)
        free_slot(holding, holding->held_slot); /* the newest wins */
    snprintf(holding->checkpoint_digest, sizeof holding->checkpoint_digest, "%s", upload->digest);
    holding->checkpoint = (struct protocol_checkpoint){.digest = holding->checkpoint_digest,
                                                       .size = upload->size,
                                                       .step = task->step,
                                                       .held_ns = task->held_ns};
    holding->has_checkpoint = holding->progress_now = true;
    holding->held_slot = task->slot;
    return true;
}

static bool on_upload(struct agent *agent, int entry, const struct task *task)
{
    struct holding *holding = &agent->holdings[entry];
    enum cr_status status = task->call.status;
    if (status == CR_UNAVAILABLE || status == CR_TIMEOUT)
        return false;
    for (size_t i = 0; status == CR_OK && i < task->upload_count; i++)
        for (size_t j = 0; j < holding->output_count; j++)
            if (strcmp(holding->outputs[j].name, task->uploads[i].name) == 0) {
                memcpy(holding->outputs[j].digest, task->uploads[i].digest,
                       sizeof holding->outputs[j].digest);
                holding->outputs[j].size = task->uploads[i].size;
            }
    if (status == CR_TOO_LARGE)
        agent->book.entries[entry].own = PROTOCOL_output_limit;
    holding->uploaded = true; /* of a lease that is over nothing is taken: complete says so */
    return true;
}

static const char *final_answer(const struct task *task)
{
    if (task->http == 200)
        return "accepted";
    return refused(task) ? (*task->code ? task->code : "refused") : NULL;
}

static bool on_complete(struct agent *agent, const struct task *task)
{
    const char *answer = final_answer(task);
    if (!answer)
        return false;
    struct cr_log_field fields[] = {{"lease", task->lease, 0}, {"answer", answer, 0}};
    cr_log_event(&agent->env, task->http == 200 ? "info" : "warning", "its end was answered",
                 fields, 2);
    loop_apply(agent, &(struct lease_event){
                          .kind = LEASE_ANSWERED, .lease = task->lease, .answer = answer});
    return true;
}

/* A result of an older boot is answered: it need not be offered any more. */
static bool on_old(struct agent *agent, const struct task *task)
{
    const char *answer = final_answer(task);
    if (!answer)
        return false;
    for (size_t i = 0; i < agent->old_count; i++) {
        struct old_result *old = &agent->olds[i];
        if (old->answered || strcmp(old->lease, task->lease) != 0)
            continue;
        struct cr_call call = cr_call_open(&agent->env, INT64_MAX);
        struct protocol_record record = {.type = PROTOCOL_RECORD_ANSWERED,
                                         .lease = old->lease,
                                         .lease_epoch = old->lease_epoch,
                                         .answer = answer};
        if (journal_write(&call, agent, &record) != CR_OK)
            abort(); /* as above */
        cr_call_close(&call);
        old->answered = true;
    }
    return true;
}

static bool on_decline(const struct task *task)
{
    return task->http / 100 == 2 || refused(task) || task->tries >= NODE_TRIES_MAX;
}

static void on_renewed(struct agent *agent, const struct task *task)
{
    const struct protocol_renewed *renewed = task->answer;
    const struct protocol_order *orders = renewed->leases.items;
    snprintf(agent->state, sizeof agent->state, "%s", renewed->node->state);
    for (size_t i = 0; i < renewed->leases.count; i++) {
        bool named = false;
        for (size_t j = 0; j < task->renewed.count; j++)
            named = named || strcmp(task->renewed.items[j], orders[i].lease) == 0;
        if (!named)
            continue;
        if (strcmp(orders[i].order, "drop") != 0)
            loop_apply(agent, &(struct lease_event){.kind = LEASE_RENEWED,
                                                    .lease = orders[i].lease,
                                                    .sent_ns = task->sent_ns});
        loop_apply(agent, &(struct lease_event){.kind = LEASE_ORDERED,
                                                .lease = orders[i].lease,
                                                .order = orders[i].order,
                                                .cause = orders[i].cause,
                                                .grace_s = orders[i].grace_s});
    }
}

static void on_renew(struct agent *agent, const struct task *task)
{
    agent->renewing = false;
    if (task->http == 200) {
        on_renewed(agent, task);
        return;
    }
    struct cr_log_field fields[] = {
        {"http", NULL, task->http}, {"code", task->code, 0}, {"reason", task->call.reason, 0}};
    cr_log_event(&agent->env, "warning", "a renewal was not taken", fields, 3);
    agent->next_renew_ns = cr_now_ns(&task->call) + RENEW_AGAIN_NS;
    agent->stale = task->http == 409 && strcmp(task->code, "stale_boot") == 0;
}

/* Whether the task is done with; false: it is asked again, as it is. */
static bool settle(struct agent *agent, int entry, struct task *task)
{
    switch (task->kind) {
    case TASK_PROGRAM:
        return on_program(agent, entry, task);
    case TASK_FETCH:
        return on_fetch(agent, entry, task);
    case TASK_START:
        return on_start(agent, task);
    case TASK_PROGRESS:
        return on_progress(agent, entry, task);
    case TASK_CHECKPOINT:
        return on_checkpoint(agent, entry, task);
    case TASK_UPLOAD:
        return on_upload(agent, entry, task);
    case TASK_COMPLETE:
        return on_complete(agent, task);
    case TASK_DECLINE:
    case TASK_WATCH:
    case TASK_RENEW:
        return true;
    }
    return true;
}

void answer_task(struct agent *agent, struct task *task)
{
    bool done = true;
    if (task->kind == TASK_WATCH) {
        loop_apply(agent, &(struct lease_event){
                              .kind = LEASE_LISTED, .leases = task->answer, .boot = agent->boot});
    } else if (task->kind == TASK_RENEW) {
        on_renew(agent, task);
    } else if (task->kind == TASK_DECLINE) {
        done = on_decline(task);
    } else {
        int entry = lease_find(&agent->book, task->lease);
        if (entry >= 0)
            done = settle(agent, entry, task);
        else if (task->kind == TASK_COMPLETE)
            done = on_old(agent, task);
    }
    if (done)
        task_free(task);
    else
        later(agent, task);
}
