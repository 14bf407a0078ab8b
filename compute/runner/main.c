/*
 * cresset-runner: the jailed process of one lease.
 *
 *     cresset-runner run        what the descriptors say
 *     cresset-runner discover   READY with the class of the engine
 *
 * It is started by cresset-node and by nobody else: it speaks to descriptor 3.
 */
#include "compute/runner/runner.h"

#include "kernels/cresset/cresset.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, EXIT_LOAD = 3 };

static int failed(const struct cr_call *call)
{
    dprintf(STDERR_FILENO, "%s\n", call->reason);
    return EXIT_LOAD;
}

static void send_ready(unsigned layers, const char *class)
{
    control_send(&(struct protocol_frame){
        .type = PROTOCOL_FRAME_READY, .layers = layers, .text = class, .text_size = strlen(class)});
}

static enum cr_status load_and_seal(struct cr_call *call, struct runner_load *load,
                                    struct cresset **ret_engine)
{
    unsigned layers = jail_seen();
    CR_TRY(load_read(call, load));
    struct cresset_options options = {.size = sizeof options,
                                      .threads = load->table.threads,
                                      .memory_max = load->table.memory_size};
    CR_TRY(cresset_open(call, &options, ret_engine));
    const char *class = cresset_device_describe(*ret_engine).class;
    control_start(call->env);
    CR_TRY(jail_seal(call));
    send_ready(layers | JAIL_SEALED, class);
    return CR_OK;
}

static int run(struct cr_call *call)
{
    static struct runner_load load;
    struct cresset *engine;
    signal(SIGXFSZ, SIG_IGN); /* a write past the limit fails with EFBIG, and is told */
    if (load_and_seal(call, &load, &engine) != CR_OK)
        return failed(call);
    control_wait_go();
    work_run(call, &load, engine);
    return 0;
}

static int discover(struct cr_call *call)
{
    struct cresset *engine;
    struct cresset_options options = {.size = sizeof options, .threads = 1};
    unsigned layers = jail_seen();
    if (cresset_open(call, &options, &engine) != CR_OK || jail_seal(call) != CR_OK)
        return failed(call);
    send_ready(layers | JAIL_SEALED, cresset_device_describe(engine).class);
    return 0;
}

int main(int argc, char **argv)
{
    struct cr_env env = cr_env_system();
    struct cr_call call = cr_call_open(&env, INT64_MAX);
    int code = EXIT_USAGE;
    if (argc == 2 && strcmp(argv[1], "run") == 0)
        code = run(&call);
    else if (argc == 2 && strcmp(argv[1], "discover") == 0)
        code = discover(&call);
    _exit(code); /* sealed: nothing is closed, the process is all there is */
}
