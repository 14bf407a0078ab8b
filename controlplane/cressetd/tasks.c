/*
 * tasks: what runs beside the calls. Each has a thread, a struct service and a beat: it runs at
 * least so often, and sooner when it says that there is more to do. One that fails waits for its
 * next beat; what it was doing was one transaction, so nothing is half done.
 */
#include "base/core/log.h"
#include "base/core/time.h"
#include "controlplane/cressetd/cressetd.h"
#include "controlplane/service/ledger.h"
#include "controlplane/service/engine.h"

#include <string.h>

#define NS_A_MS          INT64_C(1000000)
#define TASK_DEADLINE_NS INT64_C(10000000000)
#define TASK_PAUSE_NS    INT64_C(50000000) /* the longest that a task sleeps without a look around */
#define HEAR_WAIT_NS     INT64_C(500000000)

struct task {
    const char *name;
    int64_t beat_ns;
    /* ret_more: there is more to do at once. state is the task's own, NULL at first. */
    enum cr_status (*run)(struct cr_call *call, struct service *service, void **state,
                          bool *ret_more);
    void (*close)(void *state); /* NULL: there is none */
};

static const struct task tasks[] = {
    {"engine", ENGINE_BEAT_NS, engine_turn, engine_close},
    {"ledger", LEDGER_SEAL_WAIT_MS *NS_A_MS, ledger_turn, ledger_turn_close},
    {0},
};

struct thread {
    struct program *program;
    const struct task *task;
    struct service service;
    pthread_t thread;
    bool started;
};

static struct thread threads[CRESSETD_TASKS_MAX], hearer;

static void pause_until(const struct program *program, int64_t until_ns)
{
    const struct cr_env *env = &program->env;
    while (!atomic_load(&program->stopping)) {
        int64_t now = env->now_ns(env->context);
        if (now >= until_ns)
            return;
        int64_t next = now + TASK_PAUSE_NS;
        env->sleep_until(env->context, next < until_ns ? next : until_ns);
    }
}

static void log_failure(const struct cr_call *call, const struct task *task, int64_t began,
                        const char **said)
{
    const char *word = call->code ? call->code->word : cr_status_word(call->status);
    if (*said && strcmp(*said, word) == 0)
        return; /* the same fault at every beat is said once */
    *said = word;
    cr_log_call(call, task->name, began, NULL, 0);
}

static void *run(void *context)
{
    struct thread *thread = context;
    const struct task *task = thread->task;
    const struct cr_env *env = &thread->program->env;
    void *state = NULL;
    const char *said = NULL;
    while (!atomic_load(&thread->program->stopping)) {
        int64_t began = env->now_ns(env->context);
        CR_SCOPED(cr_call_close)
        struct cr_call call = cr_call_open(env, began + TASK_DEADLINE_NS);
        bool more = false;
        if (task->run(&call, &thread->service, &state, &more) != CR_OK) {
            log_failure(&call, task, began, &said);
            more = false;
        } else {
            said = NULL;
        }
        if (!more)
            pause_until(thread->program, began + task->beat_ns);
    }
    if (task->close && state)
        task->close(state);
    return NULL;
}

/* job.TENANT.JOB and node.NODE wake who is parked on the last of these, and the tenant's streams.
 */
static void pass_on(struct cr_call *call, struct http_server *server, const char *subject)
{
    const char *last = strrchr(subject, '.'), *first = strchr(subject, '.');
    if (!last || !server)
        return;
    http_wake(server, cr_format(call, "%.*s:%s", (int)(first - subject), subject, last + 1));
    if (first != last)
        http_wake(server, cr_format(call, "tenant:%.*s", (int)(last - first - 1), first + 1));
}

static void *hear(void *context)
{
    struct thread *thread = context;
    struct program *program = thread->program;
    struct bus_subscription *subscription = NULL;
    while (!atomic_load(&program->stopping)) {
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&program->env, INT64_MAX);
        struct bus_hint hint;
        if (!subscription && bus_subscribe(&call, program->bus, ">", &subscription) != CR_OK) {
            subscription = NULL;
            pause_until(program, cr_now_ns(&call) + CR_NS_A_SECOND);
            continue;
        }
        if (bus_next(&call, subscription, HEAR_WAIT_NS, &hint))
            pass_on(&call, atomic_load(&program->server), hint.subject);
    }
    if (subscription)
        bus_leave(&program->env, subscription);
    return NULL;
}

static enum cr_status start(struct cr_call *call, struct thread *thread, void *(*body)(void *))
{
    thread->started = pthread_create(&thread->thread, NULL, body, thread) == 0;
    return thread->started ? CR_OK : cr_fail(call, CR_UNAVAILABLE, "no thread could be started");
}

enum cr_status tasks_start(struct cr_call *call, struct program *program)
{
    for (size_t i = 0; tasks[i].name; i++) {
        threads[i] = (struct thread){.program = program, .task = &tasks[i]};
        CR_TRY(program_service(call, program, cr_format(call, "cressetd %s", tasks[i].name),
                               &threads[i].service));
        CR_TRY(start(call, &threads[i], run));
    }
    hearer = (struct thread){.program = program};
    return start(call, &hearer, hear);
}

void tasks_stop(struct program *program)
{
    atomic_store(&program->stopping, true);
    for (size_t i = 0; i < CRESSETD_TASKS_MAX; i++) {
        if (threads[i].started)
            pthread_join(threads[i].thread, NULL);
        program_service_close(program, &threads[i].service);
    }
    if (hearer.started)
        pthread_join(hearer.thread, NULL);
}
