/* join: how this agent comes into its region, and comes back. */
#include "compute/node/node.h"

#include "base/core/time.h"
#include "policy/tlog/tlog.h"

#include <signal.h>
#include <string.h>

#define TOKEN_SIZE_MAX 256
#define WAIT_FIRST_NS  INT64_C(500000000)
#define WAIT_MOST_NS   INT64_C(10000000000)

static enum cr_status read_token(struct cr_call *call, const struct agent *agent,
                                 const char **ret_token)
{
    struct cr_bytes bytes;
    if (!agent->config.token_file)
        return cr_fail(call, CR_UNAUTHENTICATED,
                       "this node is not enrolled: make a token (cresset ops node enroll) and name "
                       "its file by --token-file");
    CR_TRY(cr_file_read(call, agent->config.token_file, TOKEN_SIZE_MAX, &bytes));
    size_t length = bytes.size;
    while (length > 0 && (bytes.data[length - 1] == '\n' || bytes.data[length - 1] == '\r'))
        length--;
    *ret_token = cr_copy(call, bytes.data, length);
    return CR_OK;
}

static struct cr_texts jail_words(struct cr_call *call, unsigned layers)
{
    const char **items = cr_new(call, const char *, JAIL_LAYER_COUNT);
    size_t count = 0;
    for (unsigned i = 0; i < JAIL_LAYER_COUNT; i++)
        if (layers & 1u << i)
            items[count++] = jail_layer_word(1u << i);
    return (struct cr_texts){items, count};
}

static struct cr_list device_list(struct cr_call *call, const struct agent *agent)
{
    struct protocol_device *devices = cr_new(call, struct protocol_device, agent->device_count);
    for (size_t i = 0; i < agent->device_count; i++)
        devices[i] = (struct protocol_device){
            .device = agent->devices[i].device,
            .card = agent->devices[i].device,
            .model = "cpu",
            .memory_mib = agent->memory_mib / (int64_t)agent->device_count,
            .slices = agent->devices[i].slices,
            .class = agent->class,
            .driver = "",
        };
    return (struct cr_list){devices, agent->device_count};
}

static struct protocol_join request_of(struct cr_call *call, const struct agent *agent,
                                       const struct lease_past *past)
{
    struct tlog_vkey vkey;
    const char *vkey_text = "";
    if (tlog_vkey_make(agent->config.name, TLOG_ED25519, base_crypto_signer_public(agent->signer),
                       &vkey))
        vkey_text = tlog_vkey_write(call, &vkey);
    return (struct protocol_join){
        .cause = agent->node ? "start" : "enrol",
        .node = agent->node ? agent->node : "",
        .name = agent->config.name,
        .boot = agent->boot,
        .vkey = vkey_text,
        .csr = "",
        .protocol = PROTOCOL_NUMBER,
        .build = NODE_BUILD,
        .engine = agent->class,
        .address = "",
        .zone = "",
        .block = "",
        .rack = "",
        .labels = {.items = cr_new(call, struct cr_label, 1), .count = 0},
        .cpu_milli = (int64_t)agent->device_count * 1000,
        .memory_mib = agent->memory_mib,
        .disk_mib = agent->disk_mib,
        .devices = device_list(call, agent),
        .jail = jail_words(call, agent->layers),
        .ended = past->ended.items ? past->ended
                                   : (struct cr_list){cr_new(call, struct protocol_ended, 1), 0},
    };
}

/* Whether asking again could help. */
static bool passes(const struct task *task)
{
    return task->http == 0 || task->http >= 500 || task->http == 429;
}

/* Pauses; true: a signal, which are blocked everywhere, says to stop meanwhile. */
static bool told_to_stop(int64_t wait_ns)
{
    struct timespec wait = {.tv_sec = wait_ns / CR_NS_A_SECOND,
                            .tv_nsec = wait_ns % CR_NS_A_SECOND};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    return sigtimedwait(&set, NULL, &wait) > 0;
}

static enum cr_status send_join(struct cr_call *call, struct agent *agent, const char *token,
                                struct fetch *fetch, struct task *task)
{
    struct agent asking = *agent; /* the token takes the place of the credential */
    asking.credential = token ? cr_format(call, "Bearer %s", token) : agent->credential;
    int64_t wait = WAIT_FIRST_NS;
    for (;;) {
        call->deadline_ns = cr_now_ns(call) + NODE_CALL_NS;
        enum cr_status status = agent_ask(call, &asking, fetch, NULL, task);
        call->deadline_ns = INT64_MAX;
        if (status == CR_OK && task->http == 200)
            return CR_OK;
        if (status == CR_OK && !passes(task))
            return cr_fail(call, CR_DENIED, "the region refuses this node: %d %s", task->http,
                           task->code);
        struct cr_log_field fields[] = {{"reason", call->reason, 0}, {"http", NULL, task->http}};
        cr_log_event(call->env, "warning", "the region does not answer; asking again", fields, 2);
        cr_forgive(call);
        if (told_to_stop(wait))
            return cr_fail(call, CR_UNAVAILABLE, "stopped before the region answered");
        wait = wait * 2 < WAIT_MOST_NS ? wait * 2 : WAIT_MOST_NS;
    }
}

enum cr_status agent_join(struct cr_call *call, struct agent *agent, const struct lease_past *past)
{
    const char *token = NULL;
    struct fetch *fetch;
    if (!agent->node)
        CR_TRY(read_token(call, agent, &token));
    struct protocol_join join = request_of(call, agent, past);
    struct cr_bytes payload = agent_canonical(call, &protocol_join_shape, &join);
    struct task task = {.method = "POST",
                        .path = "/v1/node/join",
                        .body = agent_sign(call, agent, PROTOCOL_TYPE_JOIN, payload),
                        .gives = &protocol_joined_shape};
    CR_TRY(
        fetch_open(call, &(struct fetch_config){.user_agent = "cresset-node/" NODE_BUILD}, &fetch));
    enum cr_status status = send_join(call, agent, token, fetch, &task);
    fetch_close(call->env, fetch);
    CR_TRY(status);

    const struct protocol_joined *joined = task.answer;
    if (agent->node && strcmp(joined->node, agent->node) != 0)
        return cr_fail(call, CR_INVALID, "the region answers as another node");
    if (!agent->node)
        CR_TRY(agent_remember(call, agent, joined->node, joined->key));
    agent->node_epoch = joined->node_epoch;
    agent->renew_ns = joined->renew_ns;
    agent->stop_ns = joined->stop_ns;
    snprintf(agent->state, sizeof agent->state, "%s", joined->state);
    return CR_OK;
}
