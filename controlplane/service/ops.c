/* ops: the region at a glance, its scheduler, its meters, and what there is to run on. */
#include "controlplane/service/ops.h"

#include "controlplane/service/ops_sql.h"

/* clang-format off */
#define COUNT(type, member) CR_MEMBER(struct type, member, 0, CR_SAFE_INTEGER)

static const struct cr_member jobs_members[] = {
    COUNT(ops_jobs, queued), COUNT(ops_jobs, placing), COUNT(ops_jobs, running),
    COUNT(ops_jobs, stopping),
};
static const struct cr_shape jobs_shape = CR_SHAPE(struct ops_jobs, jobs_members);
static const struct cr_member nodes_members[] = {
    COUNT(ops_node_counts, joining), COUNT(ops_node_counts, ready),
    COUNT(ops_node_counts, cordoned), COUNT(ops_node_counts, draining),
    COUNT(ops_node_counts, quarantined), COUNT(ops_node_counts, suspect),
    COUNT(ops_node_counts, lost),
};
static const struct cr_shape nodes_shape = CR_SHAPE(struct ops_node_counts, nodes_members);
static const struct cr_member devices_members[] = {
    COUNT(ops_device_counts, free), COUNT(ops_device_counts, leased),
    COUNT(ops_device_counts, failed),
};
static const struct cr_shape devices_shape = CR_SHAPE(struct ops_device_counts, devices_members);

static const struct cr_member status_members[] = {
    CR_MEMBER(struct ops_status, region, 1, 63),
    CR_MEMBER(struct ops_status, epoch, 0, INT64_MAX, .flags = CR_NULLABLE),
    CR_MEMBER(struct ops_status, holder, 1, 255, .flags = CR_NULLABLE),
    CR_TIME(struct ops_status, holder_until, .flags = CR_NULLABLE),
    CR_OBJECT(struct ops_status, jobs, &jobs_shape),
    CR_OBJECT(struct ops_status, nodes, &nodes_shape),
    CR_OBJECT(struct ops_status, devices, &devices_shape),
    COUNT(ops_status, tenants),
    COUNT(ops_status, log_size),
    COUNT(ops_status, log_waiting),
    CR_TIME(struct ops_status, checkpoint, .flags = CR_NULLABLE),
    COUNT(ops_status, outbox),
    CR_TIME(struct ops_status, as_of),
};
static const struct cr_member parked_members[] = {
    CR_MEMBER(struct ops_parked, why, 1, 1024),
    COUNT(ops_parked, jobs),
    CR_TIME(struct ops_parked, since),
};
static const struct cr_shape parked_shape = CR_SHAPE(struct ops_parked, parked_members);
static const struct cr_member scheduler_members[] = {
    CR_MEMBER(struct ops_scheduler, region, 1, 63),
    CR_MEMBER(struct ops_scheduler, epoch, 0, INT64_MAX),
    CR_MEMBER(struct ops_scheduler, holder, 1, 255, .flags = CR_NULLABLE),
    CR_TIME(struct ops_scheduler, since, .flags = CR_NULLABLE),
    CR_TIME(struct ops_scheduler, until, .flags = CR_NULLABLE),
    COUNT(ops_scheduler, queued),
    CR_TIME(struct ops_scheduler, oldest_queued, .flags = CR_NULLABLE),
    COUNT(ops_scheduler, batches),
    CR_TIME(struct ops_scheduler, last_batch, .flags = CR_NULLABLE),
    CR_LIST(struct ops_scheduler, parked, &parked_shape, 0, 100),
    CR_TIME(struct ops_scheduler, as_of),
};
static const struct cr_member metering_members[] = {
    COUNT(ops_metering, leases),
    COUNT(ops_metering, readings_late),
    CR_TIME(struct ops_metering, oldest_reading, .flags = CR_NULLABLE),
    COUNT(ops_metering, records),
    COUNT(ops_metering, charges),
    COUNT(ops_metering, records_uncharged),
    COUNT(ops_metering, completions_unrecorded),
    CR_MEMBER(struct ops_metering, present_ns, 0, INT64_MAX),
    CR_MEMBER(struct ops_metering, billed_ns, 0, INT64_MAX),
    CR_MEMBER(struct ops_metering, idle_ns, 0, INT64_MAX),
    CR_MEMBER(struct ops_metering, maintenance_ns, 0, INT64_MAX),
    CR_MEMBER(struct ops_metering, unattributed_ns, 0, INT64_MAX),
    CR_MEMBER(struct ops_metering, difference_ns, INT64_MIN + 1, INT64_MAX),
    CR_TIME(struct ops_metering, as_of),
};
static const char *const bands[] = {"none", "few", "some", "many", NULL};
static const struct cr_member flavor_members[] = {
    CR_MEMBER(struct flavor, flavor, 1, 63),
    COUNT(flavor, memory_mib),
    CR_WORD(struct flavor, capacity, bands),
    CR_MEMBER(struct flavor, region, 1, 63),
};
static const struct cr_member region_members[] = {
    CR_MEMBER(struct ops_region, region, 1, 63),
    CR_MEMBER(struct ops_region, domain, 1, 255),
    CR_MEMBER(struct ops_region, url, 1, 255),
    CR_MEMBER(struct ops_region, home, 0, 0, .about = "Whether the caller's things are kept here"),
};
/* clang-format on */

const struct cr_shape ops_status_shape =
    CR_SHAPE(struct ops_status, status_members, .name = "OpsStatus");
const struct cr_shape ops_scheduler_shape =
    CR_SHAPE(struct ops_scheduler, scheduler_members, .name = "Scheduler");
const struct cr_shape ops_metering_shape =
    CR_SHAPE(struct ops_metering, metering_members, .name = "Metering");
const struct cr_shape flavor_shape = CR_SHAPE(struct flavor, flavor_members, .name = "Flavor");
const struct cr_shape ops_region_shape =
    CR_SHAPE(struct ops_region, region_members, .name = "Region");

/* One row, which is always there, of a statement that takes the region or nothing. */
struct look {
    const char *region;
    void *ret;
};

static enum cr_status status_work(struct cr_call *call, struct db *db, void *context)
{
    const struct look *it = context;
    struct ops_status *status = it->ret;
    bool found;
    CR_TRY(db_one(call, db, &ops_status_row, DB_VALUES(db_text(it->region)), &ops_status_shape,
                  status, &found));
    status->jobs = cr_new(call, struct ops_jobs, 1);
    status->nodes = cr_new(call, struct ops_node_counts, 1);
    status->devices = cr_new(call, struct ops_device_counts, 1);
    CR_TRY(db_one(call, db, &ops_job_counts, DB_NONE, &jobs_shape, status->jobs, &found));
    CR_TRY(db_one(call, db, &ops_node_state_counts, DB_VALUES(db_text(it->region)), &nodes_shape,
                  status->nodes, &found));
    return db_one(call, db, &ops_device_state_counts, DB_VALUES(db_text(it->region)),
                  &devices_shape, status->devices, &found);
}

/* The region's transactions bear a tenant too, since some policies ask for one. */
#define OPERATORS "operators"

enum cr_status ops_status(struct cr_call *call, struct service *service,
                          struct ops_status *ret_status)
{
    struct look it = {service->config->region, ret_status};
    CR_TRY(db_transaction(call, service->engine_db, OPERATORS, DB_SNAPSHOT, status_work, &it));
    ret_status->region = service->config->region;
    return CR_OK;
}

static enum cr_status scheduler_work(struct cr_call *call, struct db *db, void *context)
{
    const struct look *it = context;
    struct ops_scheduler *scheduler = it->ret;
    bool found;
    CR_TRY(db_one(call, db, &ops_scheduler_row, DB_VALUES(db_text(it->region)),
                  &ops_scheduler_shape, scheduler, &found));
    return db_list(call, db, &ops_parks, DB_NONE, &parked_shape, &scheduler->parked);
}

enum cr_status ops_scheduler(struct cr_call *call, struct service *service,
                             struct ops_scheduler *ret_scheduler)
{
    struct look it = {service->config->region, ret_scheduler};
    return db_transaction(call, service->engine_db, OPERATORS, DB_SNAPSHOT, scheduler_work, &it);
}

static enum cr_status metering_work(struct cr_call *call, struct db *db, void *context)
{
    const struct look *it = context;
    bool found;
    return db_one(call, db, &ops_metering_row, DB_NONE, &ops_metering_shape, it->ret, &found);
}

enum cr_status ops_metering(struct cr_call *call, struct service *service,
                            struct ops_metering *ret_metering)
{
    struct look it = {NULL, ret_metering};
    return db_transaction(call, service->engine_db, OPERATORS, DB_SNAPSHOT, metering_work, &it);
}

static enum cr_status flavors_work(struct cr_call *call, struct db *db, void *context)
{
    const struct look *it = context;
    return db_list(call, db, &ops_flavor_rows, DB_VALUES(db_text(it->region)), &flavor_shape,
                   it->ret);
}

enum cr_status ops_flavors(struct cr_call *call, struct service *service,
                           struct cr_list *ret_flavors)
{
    struct look it = {service->config->region, ret_flavors};
    return db_transaction(call, service->engine_db, OPERATORS, 0, flavors_work, &it);
}
