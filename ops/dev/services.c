/* nats-server, cressetd and cresset-node: their configuration, and how each is started. */
#include "ops/dev/dev_internal.h"

#include "base/core/text.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define POLL_NS        INT64_C(20000000)
#define ASK_NS         INT64_C(10000000000) /* of one request to our own server */
#define TOKEN_SIZE     24                   /* random bytes of the bus's token */
#define NODE_NAME      "local-1"
#define CPU_SLOTS_MIN  2 /* what the samples ask for */
#define PROBE_STALL_NS INT64_C(2000000000)

enum cr_status dev_ask(struct cr_call *call, const struct dev *dev,
                       const struct fetch_request *request, struct fetch_answer *ret_answer)
{
    struct fetch *fetch;
    (void)dev;
    CR_TRY(fetch_open(call, &(struct fetch_config){.user_agent = "cresset-dev"}, &fetch));
    int64_t deadline = call->deadline_ns, limit = cr_now_ns(call) + ASK_NS;
    call->deadline_ns = deadline < limit ? deadline : limit;
    enum cr_status status = fetch_run(call, fetch, request, ret_answer);
    call->deadline_ns = deadline;
    fetch_close(call->env, fetch);
    return status;
}

/* Waits until the health listener says 200 on a path. */
static enum cr_status wait_for(struct cr_call *call, const struct dev *dev, const char *path)
{
    const char *url = cr_format(call, "http://127.0.0.1:%" PRId64 "%s", dev->port_ops, path);
    int64_t until = cr_now_ns(call) + DEV_READY_NS;
    for (;;) {
        struct fetch_answer answer = {0};
        if (dev_ask(
                call, dev,
                &(struct fetch_request){.method = "GET", .url = url, .stall_ns = PROBE_STALL_NS},
                &answer) != CR_OK)
            cr_forgive(call);
        if (answer.http == 200)
            return CR_OK;
        if (!dev_pid(call, dev, "cressetd") || cr_now_ns(call) > until)
            return cr_fail(call, CR_UNAVAILABLE,
                           "cressetd did not come up: %s (var/log/cressetd.log)",
                           dev_last_line(call, dev, "cressetd"));
        call->env->sleep_until(call->env->context, cr_now_ns(call) + POLL_NS);
    }
}

static enum cr_status find_program(struct cr_call *call, const struct dev *dev, const char *path)
{
    if (access(cr_format(call, "%s/%s", dev->config->checkout, path), X_OK) != 0)
        return cr_fail(call, CR_NOT_FOUND, "%s is not built; try: make", path);
    return CR_OK;
}

/* The bus ---------------------------------------------------------------------------------------
 */

static const char *bus_token(struct cr_call *call, const struct dev *dev)
{
    const char *token = dev_read(call, dev, "secrets/bus.token");
    return token ? cr_format(call, "%.*s", (int)strcspn(token, "\n"), token) : NULL;
}

static const char *bus_url(struct cr_call *call, const struct dev *dev)
{
    return cr_format(call, "nats://%s@127.0.0.1:%" PRId64, bus_token(call, dev), dev->port_bus);
}

enum cr_status dev_bus_up(struct cr_call *call, const struct dev *dev)
{
    if (!bus_token(call, dev)) {
        unsigned char random[TOKEN_SIZE];
        cr_random(call, random, sizeof random);
        CR_TRY(dev_write(call, dev, "secrets/bus.token", cr_hex(call, random, sizeof random)));
    }
    CR_TRY(dev_write(call, dev, "config/nats.conf",
                     cr_format(call,
                               "listen: \"127.0.0.1:%" PRId64 "\"\nmax_payload: 1048576\n"
                               "authorization { token: \"%s\" }\n",
                               dev->port_bus, bus_token(call, dev))));
    if (dev_pid(call, dev, "nats"))
        return CR_OK;
    CR_TRY(dev_stop(call, dev, "nats", SIGTERM));
    const char *program = access("/usr/sbin/nats-server", X_OK) == 0 ? "/usr/sbin/nats-server"
                                                                     : "/usr/bin/nats-server";
    if (access(program, X_OK) != 0)
        return cr_fail(call, CR_NOT_FOUND,
                       "nats-server is not installed; try: apt-get install nats-server");
    const char *const argv[] = {program, "-c", cr_format(call, "%s/config/nats.conf", dev->seen),
                                NULL};
    return dev_start(
        call, dev,
        &(struct dev_program){.name = "nats", .argv = argv, .as_user = dev->drop_all, .keep = -1});
}

/* cressetd --------------------------------------------------------------------------------------
 */

static void add_member(struct cr_text *text, const char *name, const char *value)
{
    cr_text_add(text, text->length > 1 ? ",\n " : "\n ");
    json_add_text(text, name);
    cr_text_add(text, ": ");
    json_add_text(text, value);
}

static const char *connection(struct cr_call *call, const struct dev *dev, const char *user)
{
    const char *folder = dev->seen[0] == '/' ? cr_format(call, "%s/run", dev->seen)
                                             : cr_format(call, "/proc/self/cwd/%s/run", dev->seen);
    return cr_format(call, "host='%s' dbname=cresset user=%s", folder, user);
}

static enum cr_status write_control_config(struct cr_call *call, const struct dev *dev)
{
    struct cr_text text = cr_text_open(call);
    const struct {
        const char *name, *value;
    } members[] = {
        {"region", "local"},
        {"domain", "local.cresset.localhost"},
        {"listen", cr_format(call, "127.0.0.1:%" PRId64, dev->port)},
        {"ops_listen", cr_format(call, "127.0.0.1:%" PRId64, dev->port_ops)},
        {"public_origin", cr_format(call, "http://127.0.0.1:%" PRId64, dev->port)},
        {"database", connection(call, dev, "cresset_app_login")},
        {"database_engine", connection(call, dev, "cresset_engine_login")},
        {"database_owner", connection(call, dev, "cresset_owner")},
        {"bus_url", bus_url(call, dev)},
        {"artifacts_dir", cr_format(call, "%s/artifacts", dev->seen)},
        {"log_dir", cr_format(call, "%s/tiles", dev->seen)},
        {"secrets_dir", cr_format(call, "%s/secrets", dev->seen)},
        {"schema_dir", "ops/schema"},
        {"console_dir", "web/console/dist"},
        {"docs_dir", "build/docs"},
        {"durability", "local"},
        {"kind", "dev"},
    };
    cr_text_add(&text, "{");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        add_member(&text, members[i].name, members[i].value);
    cr_text_add(&text, ",\n \"workers\": 8\n}\n");
    return dev_write(call, dev, "config/cressetd.json", text.data);
}

static enum cr_status run_control(struct cr_call *call, const struct dev *dev, const char *verb,
                                  const char *option, const char *value, const char **ret_output)
{
    const char *const argv[] = {"build/bin/cressetd", verb, option, value, NULL};
    return dev_run(
        call, dev,
        &(struct dev_program){.name = "setup", .argv = argv, .as_user = dev->drop_all, .keep = -1},
        ret_output);
}

enum cr_status dev_control(struct cr_call *call, const struct dev *dev, const char *verb,
                           const char **ret_output)
{
    return run_control(call, dev, verb, "--config",
                       cr_format(call, "%s/config/cressetd.json", dev->seen), ret_output);
}

enum cr_status dev_control_up(struct cr_call *call, const struct dev *dev)
{
    CR_TRY(find_program(call, dev, "build/bin/cressetd"));
    CR_TRY(write_control_config(call, dev));
    pid_t pid = dev_pid(call, dev, "cressetd");
    if (pid && !dev_replaced(pid))
        return wait_for(call, dev, "/readyz");
    CR_TRY(dev_stop(call, dev, "cressetd", SIGTERM));
    CR_TRY(run_control(call, dev, "secrets", cr_format(call, "%s/secrets", dev->seen), NULL, NULL));
    CR_TRY(dev_control(call, dev, "migrate", NULL));
    const char *const argv[] = {"build/bin/cressetd", "--config",
                                cr_format(call, "%s/config/cressetd.json", dev->seen), NULL};
    CR_TRY(dev_start(call, dev,
                     &(struct dev_program){
                         .name = "cressetd", .argv = argv, .as_user = dev->drop_all, .keep = -1}));
    return wait_for(call, dev, "/readyz");
}

/* cresset-node ----------------------------------------------------------------------------------
 */

static enum cr_status write_node_config(struct cr_call *call, const struct dev *dev)
{
    struct cr_text text = cr_text_open(call);
    const struct {
        const char *name, *value;
    } members[] = {
        {"name", NODE_NAME},
        {"url", cr_format(call, "http://127.0.0.1:%" PRId64, dev->port)},
        {"state_dir", cr_format(call, "%s/nodes/" NODE_NAME, dev->seen)},
        {"token_file", cr_format(call, "%s/nodes/" NODE_NAME ".token", dev->seen)},
        {"runner", "build/bin/cresset-runner"},
    };
    cr_text_add(&text, "{");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        add_member(&text, members[i].name, members[i].value);
    int64_t cores = get_nprocs();
    cr_text_add_format(&text, ",\n \"cpu_slots\": %" PRId64 "\n}\n",
                       cores > CPU_SLOTS_MIN ? cores : CPU_SLOTS_MIN);
    return dev_write(call, dev, "config/node.json", text.data);
}

enum cr_status dev_node_up(struct cr_call *call, const struct dev *dev)
{
    CR_TRY(find_program(call, dev, "build/bin/cresset-node"));
    CR_TRY(find_program(call, dev, "build/bin/cresset-runner"));
    CR_TRY(write_node_config(call, dev));
    pid_t pid = dev_pid(call, dev, "node");
    if (pid && !dev_replaced(pid))
        return CR_OK;
    CR_TRY(dev_stop(call, dev, "node", SIGTERM));
    if (access(cr_format(call, "%s/nodes/" NODE_NAME, dev->var), F_OK) != 0)
        CR_TRY(dev_enrol(call, dev, NODE_NAME));
    const char *const argv[] = {"build/bin/cresset-node", "--config",
                                cr_format(call, "%s/config/node.json", dev->seen), NULL};
    return dev_start(
        call, dev,
        &(struct dev_program){.name = "node", .argv = argv, .as_user = dev->drop_all, .keep = -1});
}
