/* engine_books: the tables into the books of admission. */
#include "controlplane/service/engine_internal.h"

#include "base/json/json.h"
#include "controlplane/service/engine_sql.h"
#include "controlplane/service/jobs_internal.h"

#include <string.h>

#define PAGE_JOBS 5000 /* of the waiting jobs, read in one statement */

struct fleet_node {
    const char *node, *name, *model, *state;
    int64_t node_epoch, memory_mib;
};
static const struct cr_member node_members[] = {
    CR_MEMBER(struct fleet_node, node, 0, 0),       CR_MEMBER(struct fleet_node, name, 0, 0),
    CR_MEMBER(struct fleet_node, model, 0, 0),      CR_MEMBER(struct fleet_node, state, 0, 0),
    CR_MEMBER(struct fleet_node, node_epoch, 0, 0), CR_MEMBER(struct fleet_node, memory_mib, 0, 0),
};
static const struct cr_shape node_shape = CR_SHAPE(struct fleet_node, node_members);

struct fleet_device {
    const char *node, *device, *state;
};
static const struct cr_member device_members[] = {
    CR_MEMBER(struct fleet_device, node, 0, 0),
    CR_MEMBER(struct fleet_device, device, 0, 0),
    CR_MEMBER(struct fleet_device, state, 0, 0),
};
static const struct cr_shape device_shape = CR_SHAPE(struct fleet_device, device_members);

struct waiting {
    const char *tenant, *job, *state, *spec;
    int64_t priority, lease_epoch, not_before, device_limit;
    bool backoff, active;
    struct cr_texts avoid;
};
static const struct cr_member waiting_members[] = {
    CR_MEMBER(struct waiting, tenant, 0, 0),       CR_MEMBER(struct waiting, job, 0, 0),
    CR_MEMBER(struct waiting, state, 0, 0),        CR_MEMBER(struct waiting, spec, 0, 0),
    CR_MEMBER(struct waiting, priority, 0, 0),     CR_MEMBER(struct waiting, lease_epoch, 0, 0),
    CR_MEMBER(struct waiting, not_before, 0, 0),   CR_MEMBER(struct waiting, device_limit, 0, 0),
    CR_MEMBER(struct waiting, backoff, 0, 0),      CR_MEMBER(struct waiting, active, 0, 0),
    CR_TEXTS(struct waiting, avoid, 0, INT32_MAX),
};
static const struct cr_shape waiting_shape = CR_SHAPE(struct waiting, waiting_members);

struct holding {
    const char *tenant, *job, *lease, *node, *spec;
    int64_t lease_epoch, device_limit;
    bool active;
    struct cr_texts devices;
};
static const struct cr_member holding_members[] = {
    CR_MEMBER(struct holding, tenant, 0, 0),         CR_MEMBER(struct holding, job, 0, 0),
    CR_MEMBER(struct holding, lease, 0, 0),          CR_MEMBER(struct holding, node, 0, 0),
    CR_MEMBER(struct holding, spec, 0, 0),           CR_MEMBER(struct holding, lease_epoch, 0, 0),
    CR_MEMBER(struct holding, active, 0, 0),         CR_MEMBER(struct holding, device_limit, 0, 0),
    CR_TEXTS(struct holding, devices, 0, INT32_MAX),
};
static const struct cr_shape holding_shape = CR_SHAPE(struct holding, holding_members);

/* Jobs ------------------------------------------------------------------------------------------
 */

struct admission_shape engine_shape(struct cr_call *call, const struct protocol_spec *spec)
{
    (void)call;
    const struct protocol_resources *asked = spec->resources;
    bool gpu = asked && asked->gpus != CR_NO_INTEGER && asked->gpus > 0;
    return (struct admission_shape){
        .devices = jobs_devices(spec),
        .gpu = gpu,
        .device_memory_mib =
            gpu && asked->gpu_memory_mib != CR_NO_INTEGER ? asked->gpu_memory_mib : 0,
        .memory_mib = protocol_spec_memory_mib(spec),
        .models = gpu ? asked->models.items : NULL,
        .model_count = gpu ? asked->models.count : 0,
    };
}

static enum cr_status spec_of(struct cr_call *call, const char *text,
                              struct protocol_spec *ret_spec)
{
    return json_read(call, &protocol_spec_shape, text, strlen(text), ret_spec);
}

static enum cr_status enter_tenant(struct cr_call *call, struct admission *books, const char *name,
                                   int64_t limit, bool active)
{
    struct admission_tenant tenant = {.tenant = name, .device_limit = limit, .active = active};
    return admission_set_tenant(call, books, &tenant);
}

/* A spec that can no longer be read keeps its job waiting, and nobody else's. */
static enum cr_status enter_job(struct cr_call *call, struct admission *books,
                                const struct waiting *row)
{
    struct protocol_spec spec;
    if (spec_of(call, row->spec, &spec) != CR_OK) {
        cr_forgive(call);
        ENGINE_COUNT(stuck++);
        return CR_OK;
    }
    CR_TRY(enter_tenant(call, books, row->tenant, row->device_limit, row->active));
    size_t avoid = row->avoid.count;
    struct admission_job job = {
        .tenant = row->tenant,
        .job = row->job,
        .priority = row->priority,
        .lease_epoch = row->lease_epoch,
        .not_before_us = row->not_before == CR_NO_INTEGER ? 0 : row->not_before,
        .backoff = row->backoff,
        .shape = engine_shape(call, &spec),
        .avoid = row->avoid.items,
        .avoid_count = avoid < ADMISSION_AVOID_MAX ? avoid : ADMISSION_AVOID_MAX,
    };
    return admission_set_job(call, books, &job);
}

static enum cr_status load_jobs(struct cr_call *call, struct db *db, struct admission *books)
{
    const char *after = "";
    for (size_t count = PAGE_JOBS; count == PAGE_JOBS;) {
        struct cr_list page;
        CR_TRY(db_list(call, db, &engine_waiting, DB_VALUES(db_text(after), db_int(PAGE_JOBS)),
                       &waiting_shape, &page));
        const struct waiting *rows = page.items;
        for (size_t i = 0; i < page.count; i++)
            CR_TRY(enter_job(call, books, &rows[i]));
        count = page.count;
        if (count)
            after = rows[count - 1].job;
    }
    return CR_OK;
}

enum cr_status engine_refresh_jobs(struct cr_call *call, struct engine *engine,
                                   const char *const *jobs, size_t count)
{
    if (count == 0)
        return CR_OK;
    struct cr_list found;
    CR_TRY(db_list(call, engine->service->engine_db, &engine_jobs, DB_VALUES(db_texts(jobs, count)),
                   &waiting_shape, &found));
    for (size_t i = 0; i < count; i++)
        admission_drop(engine->books, jobs[i]);
    const struct waiting *rows = found.items;
    for (size_t i = 0; i < found.count; i++)
        if (strcmp(rows[i].state, "queued") == 0)
            CR_TRY(enter_job(call, engine->books, &rows[i]));
    return CR_OK;
}

/* Nodes and leases ------------------------------------------------------------------------------
 */

static enum cr_status load_fleet(struct cr_call *call, struct db *db, const char *region,
                                 struct admission *books)
{
    struct cr_list list;
    CR_TRY(db_list(call, db, &engine_nodes, DB_VALUES(db_text(region)), &node_shape, &list));
    const struct fleet_node *nodes = list.items;
    for (size_t i = 0; i < list.count; i++) {
        const char *state = nodes[i].state;
        struct admission_node node = {
            .node = nodes[i].node,
            .name = nodes[i].name,
            .model = nodes[i].model,
            .node_epoch = nodes[i].node_epoch,
            .memory_mib = nodes[i].memory_mib,
            .ready = strcmp(state, "ready") == 0,
            .leaving = strcmp(state, "draining") == 0 || strcmp(state, "retired") == 0,
        };
        CR_TRY(admission_set_node(call, books, &node));
    }
    CR_TRY(db_list(call, db, &engine_devices, DB_VALUES(db_text(region)), &device_shape, &list));
    const struct fleet_device *devices = list.items;
    for (size_t i = 0; i < list.count; i++) {
        struct admission_device device = {.node = devices[i].node,
                                          .device = devices[i].device,
                                          .ok = strcmp(devices[i].state, "ok") == 0};
        CR_TRY(admission_set_device(call, books, &device));
    }
    return CR_OK;
}

static enum cr_status load_leases(struct cr_call *call, struct db *db, struct admission *books)
{
    struct cr_list list;
    CR_TRY(db_list(call, db, &engine_leases, DB_NONE, &holding_shape, &list));
    const struct holding *rows = list.items;
    for (size_t i = 0; i < list.count; i++) {
        struct protocol_spec spec;
        CR_TRY(spec_of(call, rows[i].spec, &spec));
        CR_TRY(enter_tenant(call, books, rows[i].tenant, rows[i].device_limit, rows[i].active));
        struct admission_lease lease = {
            .tenant = rows[i].tenant,
            .job = rows[i].job,
            .node = rows[i].node,
            .memory_mib = protocol_spec_memory_mib(&spec),
            .devices = rows[i].devices.items,
            .device_count = rows[i].devices.count,
        };
        CR_TRY(admission_hold(call, books, &lease));
    }
    return CR_OK;
}

enum cr_status engine_load_books(struct cr_call *call, struct db *db, const char *region,
                                 struct admission *books)
{
    CR_TRY(load_fleet(call, db, region, books));
    CR_TRY(load_leases(call, db, books));
    return load_jobs(call, db, books);
}

enum cr_status engine_refresh_fleet(struct cr_call *call, struct engine *engine)
{
    return load_fleet(call, engine->service->engine_db, engine->service->config->region,
                      engine->books);
}

struct load {
    struct engine *engine;
};

static enum cr_status load_work(struct cr_call *call, struct db *db, void *context)
{
    struct engine *engine = ((struct load *)context)->engine;
    admission_close(engine->books); /* also of a run of this that had to begin again */
    engine->books = admission_open();
    return engine_load_books(call, db, engine->service->config->region, engine->books);
}

enum cr_status engine_load(struct cr_call *call, struct engine *engine)
{
    struct load load = {engine};
    return db_transaction(call, engine->service->engine_db, NULL, DB_SNAPSHOT, load_work, &load);
}
