/*
 * region: a database of its own for one test program, with the schema, a tenant and a node, and the
 * service as a worker has it. Needs what tests/harness/services exports; without it a program
 * prints SKIPPED and ends well, but for CI=true, where it fails.
 */
#pragma once

#include "tests/unit/test.h"

#include "base/bus/bus.h"
#include "base/core/file.h"
#include "base/core/id.h"
#include "base/core/time.h"
#include "base/db/db.h"
#include "base/fetch/fetch.h"
#include "controlplane/service/jobs.h"
#include "controlplane/service/secrets.h"
#include "controlplane/service/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REGION_NODE   "node_01M8RHHQPNQ4ZK9W7V2X5T8RND"
#define REGION_TENANT "tnt_01M8RHHQPNQ4ZK9W7V2X5T8RND"
#define REGION_OTHER  "tnt_01M8RHHQPNQ4ZK9W7V2X5T8RNE"

struct region {
    struct cr_env env;
    struct service_config config;
    struct service_secrets secrets;
    struct service service;
    struct db *owner; /* superuser */
    char database[64], conninfo[3][256];
};

static inline struct cr_call region_call(struct region *region)
{
    return cr_call_open(&region->env, region->env.now_ns(NULL) + 30 * CR_NS_A_SECOND);
}

static inline bool region_skipped(void)
{
    if (getenv("CRESSET_TEST_POSTGRES"))
        return false;
    const char *ci = getenv("CI");
    puts("SKIPPED: not run by tests/harness/services");
    if (ci && strcmp(ci, "true") == 0)
        exit(1);
    return true;
}

/* Runs SQL as the owner. */
static inline void region_sql(struct region *region, const char *sql)
{
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(region);
    assert_ok(&call, db_script(&call, region->owner, sql));
}

/* The one number that a query of the owner's gives; the query has no parameters. */
static inline int64_t region_number(struct region *region, const char *sql)
{
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(region);
    static struct db_statement *kept[256];
    static unsigned count;
    assert_true(count < sizeof kept / sizeof kept[0]);
    const char *name = cr_format(&call, "region_number_%u", count++);
    /* A prepared statement is remembered by its constant, so the constant must live on. */
    struct db_statement *statement = calloc(1, sizeof *statement);
    kept[count - 1] = statement;
    statement->name = strdup(name);
    statement->sql = strdup(sql);
    struct db_rows rows;
    assert_ok(&call, db_rows(&call, region->owner, statement, DB_NONE, &rows));
    assert_int_equal(rows.row_count, 1);
    return rows.cells[0].text ? strtoll(rows.cells[0].text, NULL, 10) : INT64_MIN;
}

static inline void region_connect(struct region *region, struct db **ret_db, const char *user,
                                  int at)
{
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(region);
    snprintf(region->conninfo[at], sizeof region->conninfo[at], "host=%s user=%s dbname=%s",
             getenv("CRESSET_TEST_POSTGRES"), user, region->database);
    struct db_config config = {.conninfo = region->conninfo[at], .application = "test"};
    assert_ok(&call, db_open(&call, &config, ret_db));
}

static inline void region_open(struct region *region)
{
    *region = (struct region){.env = cr_env_system()};
    region->env.db = &db_postgres;
    region->env.bus = &bus_nats;
    region->env.fetch = &fetch_curl;
    snprintf(region->database, sizeof region->database, "postgres");
    struct db *maker;
    region_connect(region, &maker, "cresset_owner", 0);
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(region);
    snprintf(region->database, sizeof region->database, "test_%d", (int)getpid());
    assert_ok(&call,
              db_script(&call, maker, cr_format(&call, "CREATE DATABASE %s", region->database)));
    db_close(&region->env, maker);

    region_connect(region, &region->owner, "cresset_owner", 0);
    int64_t applied;
    assert_ok(&call, service_migrate(&call, region->conninfo[0], "ops/schema", &applied));
    region_connect(region, &region->service.db, "cresset_app_login", 1);
    region_connect(region, &region->service.engine_db, "cresset_engine_login", 2);

    const char *folder = cr_format(&call, "%s/%s", getenv("CRESSET_TEST_FOLDER"), region->database);
    assert_ok(&call, service_secrets_make(&call, cr_format(&call, "%s/secrets", folder)));
    assert_ok(&call, service_secrets_open(&call, cr_format(&call, "%s/secrets", folder),
                                          &region->secrets));
    region->config = (struct service_config){
        .region = "local",
        .domain = "local.cresset.localhost",
        .public_origin = "http://127.0.0.1:7070",
        .durability = "local",
        .installation = "test",
        .artifacts_dir = strdup(cr_format(&call, "%s/artifacts", folder)),
        .log_dir = strdup(cr_format(&call, "%s/log", folder)),
        .holder = "test",
        .secrets = &region->secrets,
    };
    region->service.config = &region->config;
    assert_ok(&call, cr_file_make_folder(&call, region->config.artifacts_dir, 0700));
    region_sql(region,
               "INSERT INTO tenant (tenant_id, name, home) VALUES "
               "('" REGION_TENANT "', 'demo', 'local'), ('" REGION_OTHER "', 'other', 'local')");
}

/* A ready node of that many cores. */
static inline void region_node(struct region *region, int cores)
{
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(region);
    region_sql(region,
               cr_format(&call,
                         "INSERT INTO node (node_id, name, region, model, devices, cpu_milli,"
                         " memory_mib, state, node_epoch, vkey, seen) VALUES ('" REGION_NODE
                         "', 'local-1', 'local', 'cpu', %d, %d, 16384, 'ready', 1, 'v', "
                         "cresset_now_us() + 3600000000);"
                         "INSERT INTO card (node_id, card, model) SELECT '" REGION_NODE
                         "', 'cpu' || i, 'cpu' FROM generate_series(0, %d) i;"
                         "INSERT INTO device (device_id, node_id, card, model) SELECT '" REGION_NODE
                         "/cpu' || i, '" REGION_NODE
                         "', 'cpu' || i, 'cpu' FROM generate_series(0, %d) i",
                         cores, cores * 1000, cores - 1, cores - 1));
}

static inline void region_close(struct region *region)
{
    db_close(&region->env, region->owner);
    db_close(&region->env, region->service.db);
    db_close(&region->env, region->service.engine_db);
    service_secrets_close(&region->secrets);
}

/* As a tenant asks: under an Idempotency-Key, or NULL. */
static inline struct service_ask region_ask(const struct principal *who, const char *key)
{
    struct service_ask ask = {.who = who, .key = key, .request = "req_test"};
    memset(ask.request_sha256, 7, sizeof ask.request_sha256);
    return ask;
}
