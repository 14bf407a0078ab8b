/* tasks: the threads that wait for the network, and what they are given. */
#include "compute/node/node.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define RETRY_WATCH_NS INT64_C(1000000000)

struct task *task_make(struct agent *agent, enum task_kind kind, const char *lease)
{
    struct task *task = calloc(1, sizeof *task);
    if (!task)
        abort();
    task->kind = kind;
    task->call = cr_call_open(&agent->env, INT64_MAX);
    task->lease = cr_copy(&task->call, lease, strlen(lease));
    task->code = "";
    return task;
}

void task_free(struct task *task)
{
    for (size_t i = 0; i < task->input_count; i++)
        if (task->inputs[i] >= 0)
            close(task->inputs[i]);
    for (size_t i = 0; i < task->upload_count; i++)
        if (task->uploads[i].descriptor >= 0)
            close(task->uploads[i].descriptor);
    cr_call_close(&task->call);
    free(task);
}

static struct cr_mailbox *mailbox_of(struct agent *agent, enum task_kind kind)
{
    switch (kind) {
    case TASK_RENEW:
        return agent->renews;
    case TASK_FETCH:
    case TASK_CHECKPOINT:
    case TASK_UPLOAD:
        return agent->transfers;
    case TASK_WATCH:
    case TASK_PROGRAM:
    case TASK_START:
    case TASK_PROGRESS:
    case TASK_DECLINE:
    case TASK_COMPLETE:
        return agent->calls;
    }
    return agent->calls;
}

/* Back to the loop. The mailbox is larger than all that can be under way. */
static void give_back(struct agent *agent, struct task *task)
{
    uint64_t one = 1;
    if (!cr_mailbox_put(agent->done, task)) {
        task_free(task);
        return;
    }
    ssize_t written = write(agent->wake, &one, sizeof one);
    (void)written; /* a counter that is full wakes as well */
}

void task_give(struct agent *agent, struct task *task)
{
    if (cr_mailbox_put(mailbox_of(agent, task->kind), task))
        return;
    enum cr_status full = cr_fail(&task->call, CR_UNAVAILABLE, "too much is under way");
    (void)full; /* it stands in the task's call */
    give_back(agent, task);
}

static struct fetch *open_client(struct agent *agent)
{
    struct cr_call call = cr_call_open(&agent->env, INT64_MAX);
    struct fetch *fetch = NULL;
    if (fetch_open(&call, &(struct fetch_config){.user_agent = "cresset-node/" NODE_BUILD},
                   &fetch) != CR_OK)
        abort(); /* a client is memory alone */
    cr_call_close(&call);
    return fetch;
}

static void run_request(struct agent *agent, struct fetch *fetch, struct task *task)
{
    struct cr_call *call = &task->call;
    bool renews = task->kind == TASK_RENEW;
    task->sent_ns = cr_now_ns(call);
    call->deadline_ns = task->sent_ns + (renews ? NODE_RENEW_CALL_NS : NODE_CALL_NS);
    if (agent_ask(call, agent, fetch, NULL, task) != CR_OK)
        task->http = 0;
    call->deadline_ns = INT64_MAX;
}

static struct cache_source source_of(const struct agent *agent, struct fetch *fetch,
                                     const struct task *task)
{
    return (struct cache_source){.fetch = fetch,
                                 .url = agent->config.url,
                                 .credential = agent->credential,
                                 .lease = task->lease};
}

/* All inputs, and the checkpoint to go on from, as open files. */
static enum cr_status run_fetch(struct agent *agent, struct fetch *fetch, struct task *task)
{
    struct cr_call *call = &task->call;
    struct cache_source source = source_of(agent, fetch, task);
    const struct protocol_input *inputs = task->assignment->inputs.items;
    size_t count = task->assignment->inputs.count;
    for (size_t i = 0; i < count; i++)
        CR_TRY(cache_get(call, agent->cache, &source, task->tenant, inputs[i].digest,
                         inputs[i].size, &task->inputs[i]));
    const struct protocol_resume *resume = task->assignment->resume;
    if (resume)
        CR_TRY(cache_get(call, agent->cache, &source, task->tenant, resume->digest, resume->size,
                         &task->inputs[count]));
    return CR_OK;
}

static enum cr_status run_upload(struct agent *agent, struct fetch *fetch, struct task *task)
{
    struct cr_call *call = &task->call;
    struct cache_source source = source_of(agent, fetch, task);
    for (size_t i = 0; i < task->upload_count; i++) {
        struct upload *upload = &task->uploads[i];
        CR_TRY(cache_digest(call, upload->descriptor, upload->size, upload->digest));
        CR_TRY(cache_put(call, &source, upload->digest, upload->descriptor, upload->size,
                         upload->kind));
    }
    return CR_OK;
}

static void run_transfer(struct agent *agent, struct fetch *fetch, struct task *task)
{
    task->call.deadline_ns = cr_now_ns(&task->call) + NODE_TRANSFER_NS;
    enum cr_status status =
        task->kind == TASK_FETCH ? run_fetch(agent, fetch, task) : run_upload(agent, fetch, task);
    task->call.deadline_ns = INT64_MAX;
    (void)status; /* it stands in the task's call */
}

static void work_off(struct agent *agent, struct cr_mailbox *mailbox,
                     void (*run)(struct agent *agent, struct fetch *fetch, struct task *task))
{
    struct fetch *fetch = open_client(agent);
    for (struct task *task; (task = cr_mailbox_take(mailbox, INT64_MAX));) {
        run(agent, fetch, task);
        give_back(agent, task);
    }
    fetch_close(&agent->env, fetch);
}

static void *calls_main(void *agent)
{
    work_off(agent, ((struct agent *)agent)->calls, run_request);
    return NULL;
}

static void *renew_main(void *agent)
{
    work_off(agent, ((struct agent *)agent)->renews, run_request);
    return NULL;
}

static void *transfers_main(void *agent)
{
    work_off(agent, ((struct agent *)agent)->transfers, run_transfer);
    return NULL;
}

/* Asks for the list of leases once; what is new goes to the loop. Says how long to pause. */
static int64_t watch_once(struct agent *agent, struct fetch *fetch, char *etag, size_t etag_size)
{
    struct task *task = task_make(agent, TASK_WATCH, "");
    struct cr_call *call = &task->call;
    struct fetch_header seen = {"If-None-Match", etag};
    task->method = "GET";
    task->path = cr_format(call, "/v1/node/leases?wait=%d", NODE_WATCH_S);
    task->gives = &protocol_leases_shape;
    call->deadline_ns = cr_now_ns(call) + NODE_WATCH_S * INT64_C(1000000000) + NODE_CALL_NS;
    enum cr_status status = agent_ask(call, agent, fetch, *etag ? &seen : NULL, task);
    call->deadline_ns = INT64_MAX;
    bool good =
        status == CR_OK && task->http == 200 && protocol_leases_check(call, task->answer) == CR_OK;
    if (good && strlen(task->code) < etag_size)
        snprintf(etag, etag_size, "%s", task->code);
    bool same = status == CR_OK && task->http == 304;
    if (good)
        give_back(agent, task);
    else
        task_free(task);
    return good || same ? 0 : RETRY_WATCH_NS;
}

static void *watch_main(void *context)
{
    struct agent *agent = context;
    struct fetch *fetch = open_client(agent);
    char etag[64] = "";
    while (!atomic_load(&agent->leaving)) {
        int64_t pause = watch_once(agent, fetch, etag, sizeof etag);
        int64_t now = agent->env.now_ns(agent->env.context);
        if (pause > 0)
            agent->env.sleep_until(agent->env.context, now + pause);
    }
    fetch_close(&agent->env, fetch);
    return NULL;
}

static enum cr_status start(struct cr_call *call, struct agent *agent, void *(*main)(void *))
{
    if (pthread_create(&agent->threads[agent->thread_count], NULL, main, agent) != 0)
        return cr_fail(call, CR_UNAVAILABLE, "no thread can be made");
    agent->thread_count++;
    return CR_OK;
}

enum cr_status tasks_start(struct cr_call *call, struct agent *agent)
{
    CR_TRY(start(call, agent, renew_main));
    for (int i = 0; i < NODE_CALLS; i++)
        CR_TRY(start(call, agent, calls_main));
    for (int i = 0; i < NODE_TRANSFERS; i++)
        CR_TRY(start(call, agent, transfers_main));
    return start(call, agent, watch_main);
}

/* The watch may be parked; the process does not wait for it, nor for a transfer that hangs. */
void tasks_stop(struct agent *agent)
{
    atomic_store(&agent->leaving, true);
    cr_mailbox_shut(agent->calls);
    cr_mailbox_shut(agent->transfers);
    cr_mailbox_shut(agent->renews);
    cr_mailbox_shut(agent->done);
}
