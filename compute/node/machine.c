/* machine: the cores, memory and disk that this node offers, and the jail it has. */
#include "compute/node/node.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define MIB             (INT64_C(1) << 20)
#define DISCOVER_MEMORY (INT64_C(256) << 20)
#define DISCOVER_NS     INT64_C(30000000000)

/* Which cores are slots: the last of those we may use, so that the first is left to ourselves. */
static enum cr_status find_cores(struct cr_call *call, struct agent *agent)
{
    cpu_set_t set;
    int cores[NODE_CORES_MAX];
    size_t count = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return cr_fail(call, CR_UNAVAILABLE, "the cores cannot be told: %s", strerror(errno));
    for (int i = 0; i < CPU_SETSIZE && count < NODE_CORES_MAX; i++)
        if (CPU_ISSET((size_t)i, &set))
            cores[count++] = i;
    int64_t slots = agent->config.cpu_slots;
    if (slots == CR_NO_INTEGER)
        slots = count > 1 ? (int64_t)count - 1 : 1;
    if (slots > (int64_t)count)
        return cr_fail(call, CR_INVALID, "cpu_slots is %lld, but there are %zu cores",
                       (long long)slots, count);
    agent->device_count = (size_t)slots;
    for (size_t i = 0; i < agent->device_count; i++) {
        agent->cores[i] = cores[count - agent->device_count + i];
        snprintf(agent->devices[i].device, sizeof agent->devices[i].device, "cpu%zu", i);
        agent->devices[i].slices = 1;
    }
    return CR_OK;
}

static enum cr_status open_runner(struct cr_call *call, struct agent *agent)
{
    struct cr_file file;
    int64_t size;
    agent->program = open(agent->config.runner, O_RDONLY | O_CLOEXEC);
    if (agent->program < 0)
        return cr_fail(call, CR_NOT_FOUND, "the runner %s cannot be opened: %s",
                       agent->config.runner, strerror(errno));
    file = (struct cr_file){.descriptor = agent->program, .path = agent->config.runner};
    CR_TRY(cr_file_size(call, &file, &size));
    return cache_digest(call, agent->program, size, agent->program_sha256);
}

/* Asks a runner, in its jail, what it would compute with: READY bears the class. */
static enum cr_status ask_runner(struct cr_call *call, struct agent *agent)
{
    struct launch_config config = {
        .program = agent->program,
        .task = "discover",
        .spec = {(const unsigned char *)"{}", 2},
        .memory_size = DISCOVER_MEMORY,
        .file_size = MIB,
        .until_ns = cr_now_ns(call) + DISCOVER_NS,
        .insecure = agent->config.insecure_jail,
    };
    struct launch *launch;
    struct launch_end end;
    struct protocol_frame frame;
    const char *fault;
    CR_TRY(launch_open(call, &config, &launch));
    for (bool over = false; !over;) {
        struct pollfd polled[] = {{.fd = launch_control(launch), .events = POLLIN},
                                  {.fd = launch_warden(launch), .events = POLLIN}};
        poll(polled, 2, 100);
        over = launch_ended(launch, &end);
        while (launch_hear(launch, &frame, &fault) == LAUNCH_FRAME)
            if (frame.type == PROTOCOL_FRAME_READY) {
                snprintf(agent->class, sizeof agent->class, "%.*s", (int)frame.text_size,
                         frame.text);
                agent->layers = launch_layers(launch) | frame.layers;
            }
    }
    launch_close(&launch);
    if (!agent->class[0])
        return cr_fail(call, CR_UNAVAILABLE, "the runner does not say what it is: %s%s", end.detail,
                       end.exited && end.code == 126 ? " (its jail is not whole)" : "");
    return CR_OK;
}

enum cr_status agent_discover(struct cr_call *call, struct agent *agent)
{
    struct sysinfo about;
    int64_t free_size, total;
    CR_TRY(find_cores(call, agent));
    CR_TRY(open_runner(call, agent));
    CR_TRY(ask_runner(call, agent));
    if (sysinfo(&about) == 0)
        agent->memory_mib = (int64_t)about.totalram / MIB * about.mem_unit;
    CR_TRY(cr_file_free_space(call, agent->config.state_dir, &free_size, &total));
    agent->disk_mib = total / MIB;
    return CR_OK;
}
