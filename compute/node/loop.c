/* loop: the thread that owns the book. It polls, applies events, and carries commands out. */
#include "compute/node/node.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define LOOK_NS       INT64_C(250000000) /* the longest sleep */
#define MS            INT64_C(1000000)
#define LEAVE_MORE_NS INT64_C(10000000000) /* beyond the grace of a SIGTERM */

enum { EXIT_STALE = 4 };

static void go(struct agent *agent, int entry)
{
    struct holding *holding = &agent->holdings[entry];
    int64_t now = agent->book.entries[entry].acquire_ns;
    holding->go_ns = holding->step_ns = holding->pong_ns = holding->ping_ns = now;
    launch_tell(holding->launch, &(struct protocol_frame){.type = PROTOCOL_FRAME_GO});
}

static void give_fetch(struct agent *agent, int entry)
{
    struct holding *holding = &agent->holdings[entry];
    struct task *task = task_make(agent, TASK_FETCH, holding->lease);
    struct cr_call *call = &task->call;
    struct protocol_assignment *assignment = cr_new(call, struct protocol_assignment, 1);
    const char *text = json_write(call, &protocol_assignment_shape, &holding->assignment);
    if (json_read(call, &protocol_assignment_shape, text, strlen(text), assignment) != CR_OK)
        abort(); /* it was read so before */
    task->assignment = assignment;
    task->tenant = assignment->tenant;
    task->input_count = assignment->inputs.count + (assignment->resume != NULL);
    task->inputs = cr_new(call, int, task->input_count);
    for (size_t i = 0; i < task->input_count; i++)
        task->inputs[i] = -1;
    task_give(agent, task);
}

static void launch(struct cr_call *call, struct agent *agent, int entry)
{
    struct holding *holding = &agent->holdings[entry];
    if (runner_launch(call, agent, entry) == CR_OK)
        return;
    snprintf(holding->end.detail, sizeof holding->end.detail, "%.250s", call->reason);
    cr_forgive(call);
    holding->ended = true;
    loop_apply(agent, &(struct lease_event){.kind = LEASE_ENDED, .lease = holding->lease});
}

static void carry_out(struct cr_call *call, struct agent *agent,
                      const struct lease_command *command)
{
    struct holding *holding = &agent->holdings[command->entry];
    switch (command->kind) {
    case LEASE_DO_JOURNAL:
        if (journal_write(call, agent, &command->record) != CR_OK) {
            struct cr_log_field fields[] = {{"reason", call->reason, 0}};
            cr_log_event(&agent->env, "error", "the journal takes nothing", fields, 1);
            abort(); /* what is not written may not be told: end as a crash would */
        }
        return;
    case LEASE_DO_ASK_PROGRAM:
        tell_program(agent, command->entry);
        return;
    case LEASE_DO_FETCH:
        give_fetch(agent, command->entry);
        return;
    case LEASE_DO_LAUNCH:
        launch(call, agent, command->entry);
        return;
    case LEASE_DO_ASK_START:
        tell_start(agent, command->entry);
        return;
    case LEASE_DO_GO:
        go(agent, command->entry);
        return;
    case LEASE_DO_STOP:
        launch_tell(holding->launch,
                    &(struct protocol_frame){.type = PROTOCOL_FRAME_STOP,
                                             .grace_ms = (uint32_t)(command->grace_s * 1000),
                                             .cause = (uint8_t)command->cause});
        return;
    case LEASE_DO_KEEP:
        launch_keep(holding->launch, command->until_ns);
        return;
    case LEASE_DO_KILL:
        if (holding->launch)
            launch_kill(holding->launch);
        return;
    case LEASE_DO_FINISH:
        tell_upload(agent, command->entry);
        return;
    case LEASE_DO_REPORT:
        return; /* loop_finish has the request at hand */
    case LEASE_DO_DECLINE:
        tell_decline(agent, command);
        return;
    case LEASE_DO_FORGET:
        if (holding->used && strcmp(holding->lease, command->lease) == 0)
            holding_close(holding);
        return;
    }
}

void loop_apply(struct agent *agent, const struct lease_event *event)
{
    struct cr_call call = cr_call_open(&agent->env, INT64_MAX);
    struct lease_commands *commands = cr_new(&call, struct lease_commands, 1);
    lease_apply(&call, &agent->book, event, cr_now_ns(&call), commands);
    for (size_t i = 0; i < commands->count; i++)
        carry_out(&call, agent, &commands->items[i]);
    cr_call_close(&call);
}

/* A lease that is finishing: its outputs are up and its progress is told; then its end is signed.
 */
static void finish(struct agent *agent, int entry)
{
    struct cr_call call = cr_call_open(&agent->env, INT64_MAX);
    char lease[LEASE_ID_SIZE];
    const char *request = "";
    snprintf(lease, sizeof lease, "%s", agent->book.entries[entry].lease);
    if (tell_result(&call, agent, entry, &request) != CR_OK)
        abort(); /* it is made of what we have checked */
    struct cr_bytes bytes = {(const unsigned char *)request, strlen(request)};
    loop_apply(agent,
               &(struct lease_event){.kind = LEASE_RESULT, .lease = lease, .request = bytes});
    tell_complete(agent, lease, bytes);
    cr_call_close(&call);
}

/* Progress where it is due; and the end, where nothing is left to be told before it. */
static void tell_due(struct agent *agent, int entry, int64_t now_ns)
{
    struct holding *holding = &agent->holdings[entry];
    enum lease_state state = agent->book.entries[entry].state;
    if (!holding->used || holding->progress_asked ||
        (state != LEASE_HELD && state != LEASE_FINISHING))
        return;
    bool ending = state == LEASE_FINISHING && holding->uploaded && holding->checkpoints_asked == 0;
    bool due = holding->progress_now || now_ns - holding->progress_ns >= NODE_PROGRESS_NS || ending;
    if ((holding->changed || holding->has_checkpoint) && due && holding->go_ns > 0)
        tell_progress(agent, entry, now_ns);
    else if (ending)
        finish(agent, entry);
}

static void take_done(struct agent *agent)
{
    uint64_t count;
    ssize_t read_size = read(agent->wake, &count, sizeof count);
    (void)read_size; /* it may be empty: the mailbox says what there is */
    for (struct task *task; (task = cr_mailbox_take(agent->done, 0));)
        answer_task(agent, task);
}

static void terminate(struct agent *agent, int64_t now_ns)
{
    if (agent->terminated)
        return;
    agent->terminated = true;
    agent->terminate_ns = now_ns + NODE_TERM_GRACE_S * INT64_C(1000000000) + LEAVE_MORE_NS;
    cr_log_event(&agent->env, "info", "stopping", NULL, 0);
    loop_apply(agent, &(struct lease_event){.kind = LEASE_TERMINATE, .grace_s = NODE_TERM_GRACE_S});
}

/* What is polled: signals, the mailbox, and two descriptors of each runner. */
struct polled {
    struct pollfd items[2 + 2 * LEASE_LIVE_MAX];
    int entries[2 + 2 * LEASE_LIVE_MAX];
    nfds_t count;
};

static void watch(struct polled *polled, int descriptor, int entry)
{
    polled->items[polled->count] = (struct pollfd){.fd = descriptor, .events = POLLIN};
    polled->entries[polled->count++] = entry;
}

static void wait_for_work(struct agent *agent, int signals, struct polled *polled)
{
    int64_t now = agent->env.now_ns(agent->env.context), until = now + LOOK_NS;
    int64_t next[] = {lease_next_ns(&agent->book), answer_next_ns(agent),
                      agent->renewing ? INT64_MAX : agent->next_renew_ns};
    for (size_t i = 0; i < sizeof next / sizeof next[0]; i++)
        until = next[i] < until ? next[i] : until;
    polled->count = 0;
    watch(polled, signals, -1);
    watch(polled, agent->wake, -1);
    for (int i = 0; i < LEASE_LIVE_MAX; i++) {
        const struct holding *holding = &agent->holdings[i];
        if (!holding->used || !holding->launch || holding->ended)
            continue;
        watch(polled, launch_control(holding->launch), i);
        watch(polled, launch_warden(holding->launch), i);
    }
    int64_t wait_ms = until > now ? (until - now + MS - 1) / MS : 0;
    if (poll(polled->items, polled->count, (int)wait_ms) < 0 && errno != EINTR)
        abort();
}

static void tick(struct agent *agent)
{
    int64_t now = agent->env.now_ns(agent->env.context);
    loop_apply(agent, &(struct lease_event){.kind = LEASE_TICK});
    answer_later(agent, now);
    if (now >= agent->next_renew_ns && !agent->renewing)
        tell_renewal(agent, now);
    for (int i = 0; i < LEASE_LIVE_MAX; i++) {
        runner_watch(agent, i, now);
        tell_due(agent, i, now);
    }
}

static bool is_over(const struct agent *agent)
{
    int64_t now = agent->env.now_ns(agent->env.context);
    bool empty = lease_count(&agent->book) == 0;
    if (agent->stale)
        return true;
    if (agent->terminated)
        return empty || now >= agent->terminate_ns;
    return agent->config.exit_when_drained && empty && strcmp(agent->state, "draining") == 0;
}

static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void loop_run(struct agent *agent)
{
    static struct polled polled;
    int signals = open_signals();
    while (!is_over(agent)) {
        wait_for_work(agent, signals, &polled);
        struct signalfd_siginfo signal;
        if (polled.items[0].revents && read(signals, &signal, sizeof signal) == sizeof signal)
            terminate(agent, agent->env.now_ns(agent->env.context));
        take_done(agent);
        for (nfds_t i = 2; i < polled.count; i += 2)
            if (polled.items[i].revents || polled.items[i + 1].revents)
                runner_hear(agent, polled.entries[i]);
        tick(agent);
    }
    if (agent->stale) {
        cr_log_event(&agent->env, "error", "a newer start of this node has joined", NULL, 0);
        agent->exit_code = EXIT_STALE;
    }
    close(signals);
    for (int i = 0; i < LEASE_LIVE_MAX; i++)
        holding_close(&agent->holdings[i]);
}
