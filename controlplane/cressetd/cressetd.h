/*
 * cressetd: a region's control plane, as one process. This header is what its files share.
 *
 * Threads   main waits for signals; base/http has its own (sockets, workers, timer, feed); each
 *           background task of tasks.c has one; one hears NATS. Every one of them that asks the
 * database has a struct service of its own
 */
#pragma once

#include "base/telemetry/telemetry.h"
#include "controlplane/api/api.h"
#include "controlplane/service/secrets.h"
#include "controlplane/service/service.h"

#include <pthread.h>
#include <stdatomic.h>

#define CRESSETD_VERSION        "0.1.0"
#define CRESSETD_WORKERS_MAX    HTTP_WORKERS_MAX
#define CRESSETD_CONFIG_MAX     ((size_t)64 * 1024)
#define CRESSETD_GRACE_NS       INT64_C(10000000000) /* for calls that run when we are stopped */
#define CRESSETD_DATABASE_TRIES 60                   /* at start, one a second */
#define CRESSETD_TASKS_MAX      8

/* One file of JSON. */
struct config {
    const char *region, *domain, *listen, *ops_listen, *public_origin;
    const char *database, *database_engine, *database_owner; /* libpq's conninfo; owner: migrate */
    const char *bus_url;                                     /* "": without NATS */
    const char *artifacts_dir, *log_dir, *secrets_dir, *schema_dir, *console_dir, *docs_dir;
    const char *durability, *kind;
    int64_t workers, rate_read, rate_write;
};
enum cr_status config_read(struct cr_call *call, const char *path,
                           struct config *ret_config) CR_CHECK;

/* What the process holds. Read-only while it serves, but for what is atomic. */
struct program {
    struct cr_env system, env; /* env asks system */
    struct config config;
    struct service_secrets secrets;
    struct service_config service_config;
    struct api_settings settings;
    struct bus *bus;
    struct service services[CRESSETD_WORKERS_MAX];
    struct api_worker workers[CRESSETD_WORKERS_MAX];
    void *worker_contexts[CRESSETD_WORKERS_MAX];
    struct service feeder;
    struct metrics *metrics;
    _Atomic(struct http_server *) server; /* NULL until it serves */
    atomic_bool stopping;
};

/* program.c: opens all but the server; what was opened is closed by program_close, also in part. */
enum cr_status program_open(struct cr_call *call, const char *config_path, bool workers,
                            struct program *program) CR_CHECK;
void program_close(struct program *program);
enum cr_status program_service(struct cr_call *call, struct program *program, const char *name,
                               struct service *ret_service) CR_CHECK;
void program_service_close(struct program *program, struct service *service);

/* serve.c: serves until a signal says otherwise. */
enum cr_status serve(struct cr_call *call, struct program *program) CR_CHECK;

/* tasks.c: what runs beside the calls: engine, sequencer, sealer; and who hears NATS. */
enum cr_status tasks_start(struct cr_call *call, struct program *program) CR_CHECK;
void tasks_stop(struct program *program);

/* metrics.c: what is counted of calls, and the log's one line for each. */
struct metrics *metrics_open(void);
void metrics_close(struct metrics **metrics);
void metrics_ended(void *program, const struct http_ended *ended);
const char *metrics_print(struct cr_call *call, void *program);
void metrics_needs(struct cr_call *call, void *program, struct service *service,
                   struct cr_list *ret_needs);

/* verbs.c: everything but serving. The result is the exit of the process. */
int verb_run(const struct cr_env *env, int argc, char **argv);
