/* ops_nodes: the nodes of a region, and what an operator does with one. */
#include "controlplane/service/ops.h"

#include "base/json/json.h"
#include "controlplane/service/jobs.h"
#include "controlplane/service/ops_nodes_sql.h"

#include <string.h>

#define OPERATORS "operators"

static const char *const node_states[] = {"joining", "ready", "cordoned", "quarantined", "draining",
                                          "suspect", "lost",  "retired",  NULL};
static const char *const device_states[] = {"ok", "suspect", "failed", NULL};

/* clang-format off */
static const struct cr_member device_members[] = {
    CR_MEMBER(struct ops_device, device, 1, 255),
    CR_MEMBER(struct ops_device, model, 1, 63),
    CR_WORD(struct ops_device, state, device_states),
    CR_MEMBER(struct ops_device, memory_mib, 0, CR_SAFE_INTEGER),
    CR_ID(struct ops_device, lease, "lse", .flags = CR_NULLABLE),
    CR_ID(struct ops_device, job, "job", .flags = CR_NULLABLE),
    CR_ID(struct ops_device, tenant, "tnt", .flags = CR_NULLABLE),
    CR_TIME(struct ops_device, leased, .flags = CR_NULLABLE),
};
static const struct cr_shape device_shape =
    CR_SHAPE(struct ops_device, device_members, .name = "Device");

static const struct cr_member node_members[] = {
    CR_ID(struct ops_node, node, "node"),
    CR_MEMBER(struct ops_node, name, 1, 63),
    CR_MEMBER(struct ops_node, region, 1, 63),
    CR_WORD(struct ops_node, state, node_states),
    CR_MEMBER(struct ops_node, reason, 1, 1024, .flags = CR_NULLABLE),
    CR_MEMBER(struct ops_node, model, 1, 63),
    CR_LIST(struct ops_node, devices, &device_shape, 0, 512),
    CR_MEMBER(struct ops_node, cpu_milli, 0, CR_SAFE_INTEGER),
    CR_MEMBER(struct ops_node, memory_mib, 0, CR_SAFE_INTEGER),
    CR_MEMBER(struct ops_node, disk_mib, 0, CR_SAFE_INTEGER),
    CR_MEMBER(struct ops_node, disk_free_mib, 0, CR_SAFE_INTEGER, .flags = CR_NULLABLE),
    CR_MEMBER(struct ops_node, engine, 0, 63),
    CR_TEXTS(struct ops_node, jail, 0, 32, .about = "Layers of the jail that are in force"),
    CR_LABELS(struct ops_node, labels, 64),
    CR_MEMBER(struct ops_node, build, 0, 255),
    CR_MEMBER(struct ops_node, protocol, 0, 1000),
    CR_TIME(struct ops_node, joined),
    CR_TIME(struct ops_node, seen, .flags = CR_NULLABLE),
    CR_MEMBER(struct ops_node, version, 1, CR_SAFE_INTEGER),
};
/* clang-format on */

const struct cr_shape ops_node_shape = CR_SHAPE(struct ops_node, node_members, .name = "Node");

/* Whether a device, node_…/gpu0, is of the node. */
static bool is_of(const struct ops_device *device, const struct ops_node *node)
{
    size_t length = strlen(node->node);
    return strncmp(device->device, node->node, length) == 0 && device->device[length] == '/';
}

/* Gives each node its devices: one statement for all of them. The rows of a node stand together. */
static enum cr_status add_devices(struct cr_call *call, struct db *db, struct ops_node *nodes,
                                  size_t count)
{
    const char **names = cr_new(call, const char *, count);
    for (size_t i = 0; i < count; i++)
        names[i] = nodes[i].node;
    struct cr_list all;
    CR_TRY(
        db_list(call, db, &ops_devices_of, DB_VALUES(db_texts(names, count)), &device_shape, &all));
    struct ops_device *devices = all.items;
    for (size_t i = 0; i < count; i++) {
        size_t first = 0, end;
        while (first < all.count && !is_of(&devices[first], &nodes[i]))
            first++;
        for (end = first; end < all.count && is_of(&devices[end], &nodes[i]);)
            end++;
        nodes[i].devices = (struct cr_list){devices + first, end - first};
    }
    return CR_OK;
}

struct page {
    const char *region, *after;
    int64_t limit;
    struct cr_list *ret_nodes;
};

static enum cr_status list_work(struct cr_call *call, struct db *db, void *context)
{
    const struct page *it = context;
    CR_TRY(db_list(call, db, &ops_node_page,
                   DB_VALUES(db_text(it->region), db_text(it->after), db_int(it->limit)),
                   &ops_node_shape, it->ret_nodes));
    return add_devices(call, db, it->ret_nodes->items, it->ret_nodes->count);
}

enum cr_status ops_nodes_list(struct cr_call *call, struct service *service, const char *after,
                              int64_t limit, struct cr_list *ret_nodes)
{
    struct page it = {service->config->region, after, limit, ret_nodes};
    return db_transaction(call, service->engine_db, OPERATORS, 0, list_work, &it);
}

struct one {
    const char *node;
    struct ops_node *ret_node;
};

static enum cr_status get_work(struct cr_call *call, struct db *db, void *context)
{
    const struct one *it = context;
    bool found;
    CR_TRY(db_one(call, db, &ops_node_one, DB_VALUES(db_text(it->node)), &ops_node_shape,
                  it->ret_node, &found));
    return found ? add_devices(call, db, it->ret_node, 1) : service_missing(call, "node", it->node);
}

enum cr_status ops_nodes_get(struct cr_call *call, struct service *service, const char *node,
                             struct ops_node *ret_node)
{
    struct one it = {node, ret_node};
    return db_transaction(call, service->engine_db, OPERATORS, 0, get_work, &it);
}

/* Turning ------------------------------------------------------------------------------------- */

static const struct {
    const char *state, *action;
    const char *from[4];
} turns[] = {
    [OPS_CORDON] = {"cordoned", "node.cordoned", {"ready", "joining", "suspect"}},
    [OPS_UNCORDON] = {"ready", "node.uncordoned", {"cordoned", "draining", "quarantined"}},
    [OPS_DRAIN] = {"draining", "node.draining", {"ready", "cordoned", "joining", "suspect"}},
};

static size_t length_of(const char *const *texts, size_t most)
{
    size_t count = 0;
    while (count < most && texts[count])
        count++;
    return count;
}

struct turning {
    enum ops_verb verb;
    const char *node;
};

/* A job that a drain has asked to stop. */
struct stopped {
    const char *tenant, *job;
};
static const struct cr_member stopped_members[] = {
    CR_ID(struct stopped, tenant, "tnt"),
    CR_ID(struct stopped, job, "job"),
};
static const struct cr_shape stopped_shape = CR_SHAPE(struct stopped, stopped_members);

static enum cr_status stop_leases(struct cr_call *call, struct db *db,
                                  const struct service_config *config, const char *node)
{
    struct cr_list list;
    CR_TRY(
        db_list(call, db, &ops_node_stop_leases, DB_VALUES(db_text(node)), &stopped_shape, &list));
    const struct stopped *stopped = list.items;
    for (size_t i = 0; i < list.count; i++)
        CR_TRY(jobs_tell(call, db, config, stopped[i].tenant, stopped[i].job, NULL));
    return CR_OK;
}

static enum cr_status turn_work(struct cr_call *call, struct db *db, struct service_work *work)
{
    const struct turning *it = work->request;
    const char *state = turns[it->verb].state, *action = turns[it->verb].action;
    const char *const *from = turns[it->verb].from;
    struct ops_node before, *after = work->reply;
    struct one one = {it->node, &before};
    CR_TRY(get_work(call, db, &one));
    int64_t hit;
    CR_TRY(db_exec(call, db, &ops_node_turn,
                   DB_VALUES(db_text(it->node), db_text(state),
                             db_text(it->verb == OPS_UNCORDON ? NULL : work->ask->reason),
                             db_texts(from, length_of(from, 4))),
                   &hit));
    if (hit == 0 && strcmp(before.state, state) != 0) {
        cr_extra_text(call, "state", before.state);
        return cr_fail_as(call, &cr_code_state_forbids, "%s is %s", it->node, before.state);
    }
    if (it->verb == OPS_DRAIN)
        CR_TRY(stop_leases(call, db, work->service->config, it->node));
    one.ret_node = after;
    CR_TRY(get_work(call, db, &one));

    const char *body = json_write(call, &ops_node_shape, after);
    struct service_mutation mutation = {.action = action,
                                        .object = it->node,
                                        .before = json_write(call, &ops_node_shape, &before),
                                        .after = body};
    CR_TRY(service_audit(call, db, work->ask, &mutation, NULL));
    return service_outbox(call, db, NULL, action, it->node, body);
}

enum cr_status ops_nodes_turn(struct cr_call *call, struct service *service,
                              const struct service_ask *ask, enum ops_verb verb, const char *node,
                              struct ops_node *ret_node)
{
    struct turning it = {verb, node};
    CR_TRY(service_keyed(call, service, ask, &ops_node_shape, turn_work, &it, ret_node));
    service_wake(call, service, NULL, node);
    return CR_OK;
}
