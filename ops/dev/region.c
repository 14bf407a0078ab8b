/* The region as a whole: its services in the order in which they need each other. */
#include "ops/dev/dev_internal.h"

#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

static const struct {
    const char *name;
    const char *shown; /* in what people read */
    int stop;          /* PostgreSQL's SIGINT is its fast shutdown */
    enum cr_status (*up)(struct cr_call *call, const struct dev *dev);
} services[DEV_SERVICE_COUNT] = {
    {"postgres", "PostgreSQL", SIGINT, dev_postgres_up},
    {"nats", "nats-server", SIGTERM, dev_bus_up},
    {"cressetd", "cressetd", SIGTERM, dev_control_up},
    {"node", "cresset-node", SIGTERM, dev_node_up},
};

static const char *server_of(struct cr_call *call, const struct dev *dev)
{
    return cr_format(call, "http://127.0.0.1:%" PRId64, dev->port ? dev->port : DEV_PORT);
}

static const char *address_of(struct cr_call *call, const struct dev *dev, size_t service)
{
    switch (service) {
    case 0:
        return cr_format(call, "%s/run", dev->var);
    case 1:
        return cr_format(call, "nats://127.0.0.1:%" PRId64, dev->port_bus);
    case 2:
        return server_of(call, dev);
    default:
        return "";
    }
}

static void read_state(struct cr_call *call, struct dev *dev, struct dev_state *ret_state)
{
    dev_ports_read(call, dev);
    ret_state->server = server_of(call, dev);
    for (size_t i = 0; i < DEV_SERVICE_COUNT; i++) {
        pid_t pid = dev_pid(call, dev, services[i].name);
        ret_state->services[i] = (struct dev_service_state){
            .service = services[i].name,
            .state = pid                                         ? "running"
                     : dev_recorded(call, dev, services[i].name) ? "dead"
                                                                 : "stopped",
            .pid = pid ? pid : INT64_MIN,
            .address = address_of(call, dev, i),
            .log = cr_format(call, "%s/log/%s.log", dev->var, services[i].name),
        };
    }
}

enum cr_status dev_up(struct cr_call *call, const struct dev_config *config,
                      struct dev_state *ret_state)
{
    CR_SCOPED(dev_close) struct dev dev = DEV_CLOSED;
    CR_TRY(dev_open(call, config, true, &dev));
    CR_TRY(dev_lock(call, &dev));
    CR_TRY(dev_ports(call, &dev));
    CR_TRY(dev_own(call, &dev));
    if (dev.drop && !dev.drop_all)
        dev_say(call, &dev, "note: only PostgreSQL drops root: its user cannot reach %s",
                config->checkout);
    for (size_t i = 0; i < DEV_SERVICE_COUNT; i++) {
        bool ran = dev_pid(call, &dev, services[i].name) != 0;
        int64_t began = cr_now_ns(call);
        if (strcmp(services[i].name, "node") == 0)
            CR_TRY(dev_tenant_up(call, &dev));
        CR_TRY(services[i].up(call, &dev));
        dev_say(call, &dev, "%-13s %s, %.1f s", services[i].shown, ran ? "ran already" : "started",
                (double)(cr_now_ns(call) - began) / 1e9);
    }
    read_state(call, &dev, ret_state);
    return CR_OK;
}

enum cr_status dev_status(struct cr_call *call, const struct dev_config *config,
                          struct dev_state *ret_state)
{
    CR_SCOPED(dev_close) struct dev dev = DEV_CLOSED;
    CR_TRY(dev_open(call, config, false, &dev));
    read_state(call, &dev, ret_state);
    return CR_OK;
}

static enum cr_status stop_all(struct cr_call *call, struct dev *dev)
{
    for (size_t i = DEV_SERVICE_COUNT; i-- > 0;) {
        bool recorded = dev_recorded(call, dev, services[i].name);
        CR_TRY(dev_stop(call, dev, services[i].name, services[i].stop));
        if (recorded)
            dev_say(call, dev, "%-13s stopped", services[i].shown);
    }
    dev_kill_within(call, cr_format(call, "%s/postgres", dev->var));
    return CR_OK;
}

enum cr_status dev_down(struct cr_call *call, const struct dev_config *config)
{
    CR_SCOPED(dev_close) struct dev dev = DEV_CLOSED;
    CR_TRY(dev_open(call, config, false, &dev));
    if (access(cr_format(call, "%s/run", dev.var), F_OK) != 0)
        return CR_OK;
    CR_TRY(dev_lock(call, &dev));
    return stop_all(call, &dev);
}

enum cr_status dev_reset(struct cr_call *call, const struct dev_config *config)
{
    static const char *const states[] = {
        "postgres",    "postgres.new", "secrets", "artifacts", "tiles",        "nodes", "receipts",
        "credentials", "config",       "log",     "run/ports", "tiles.signed", NULL};
    CR_SCOPED(dev_close) struct dev dev = DEV_CLOSED;
    CR_TRY(dev_open(call, config, false, &dev));
    if (access(cr_format(call, "%s/run", dev.var), F_OK) != 0)
        return CR_OK;
    CR_TRY(dev_lock(call, &dev));
    CR_TRY(stop_all(call, &dev));
    for (const char *const *state = states; *state; state++)
        CR_TRY(dev_remove(call, &dev, *state));
    return CR_OK;
}
