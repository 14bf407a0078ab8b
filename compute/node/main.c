/* cresset-node: the agent of a compute node. */
#include "compute/node/node.h"

#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define MIB INT64_C(1048576)

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_REFUSED = 3 };

/* No core of ours may hold the key; signals are read by the loop; a reader that left is an error.
 */
static void settle_process(void)
{
    struct rlimit none = {0, 0};
    sigset_t set;
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Results of older boots are offered again, as they are. */
static void offer_olds(struct agent *agent, const struct lease_past *past)
{
    const struct lease_left *results = past->results.items;
    agent->olds = cr_new(&agent->memory, struct old_result, past->results.count);
    agent->old_count = past->results.count;
    for (size_t i = 0; i < past->results.count; i++) {
        memcpy(agent->olds[i].lease, results[i].lease, sizeof agent->olds[i].lease);
        agent->olds[i].lease_epoch = results[i].lease_epoch;
        tell_complete(agent, results[i].lease, results[i].request);
    }
}

static enum cr_status begin(struct cr_call *call, struct agent *agent)
{
    struct lease_past past;
    CR_TRY(agent_identify(call, agent));
    CR_TRY(journal_read(call, agent, &past));
    CR_TRY(agent_discover(call, agent));
    lease_book_init(&agent->book, agent->devices, agent->device_count, PROTOCOL_NODE_STOP_NS,
                    cr_now_ns(call));
    CR_TRY(agent_join(call, agent, &past));
    agent->book.stop_after_ns = agent->stop_ns;
    CR_TRY(journal_begin(call, agent, &past));
    CR_TRY(cache_open(call, agent->config.state_dir, agent->config.cache_mib * MIB, &agent->cache));
    agent->calls = cr_mailbox_open(NODE_MAILBOX);
    agent->transfers = cr_mailbox_open(NODE_MAILBOX);
    agent->renews = cr_mailbox_open(NODE_MAILBOX);
    agent->done = cr_mailbox_open(NODE_MAILBOX * 4);
    agent->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CR_TRY(tasks_start(call, agent));
    offer_olds(agent, &past);
    return CR_OK;
}

static int failed(const struct cr_call *call)
{
    fprintf(stderr, "cresset-node: %s\n", call->reason);
    if (call->status == CR_INVALID)
        return EXIT_USAGE;
    return call->status == CR_DENIED || call->status == CR_UNAUTHENTICATED ? EXIT_REFUSED
                                                                           : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    static struct agent agent;
    settle_process();
    agent.env = cr_env_system();
    agent.env.fetch = &fetch_curl;
    agent.program = -1;
    agent.memory = cr_call_open(&agent.env, INT64_MAX);
    struct cr_call *call = &agent.memory;
    if (node_config_read(call, argc, argv, &agent.config) != CR_OK || begin(call, &agent) != CR_OK)
        return failed(call);
    struct cr_log_field fields[] = {{"node", agent.node, 0},
                                    {"name", agent.config.name, 0},
                                    {"boot", agent.boot, 0},
                                    {"class", agent.class, 0},
                                    {"devices", NULL, (int64_t)agent.device_count},
                                    {"jail", NULL, agent.layers}};
    cr_log_event(&agent.env, "info", "joined", fields, 6);
    loop_run(&agent);
    tasks_stop(&agent);
    cr_log_event(&agent.env, "info", "stopped", NULL, 0);
    _exit(agent.exit_code); /* a thread may be parked at the region: it is not waited for */
}
