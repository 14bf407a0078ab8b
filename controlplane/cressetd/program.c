/* program: what the process holds from its start to its end. */
#include "base/core/file.h"
#include "base/core/log.h"
#include "base/core/time.h"
#include "controlplane/cressetd/cressetd.h"
#include "controlplane/service/identity.h"

#include <string.h>
#include <unistd.h>

static void wake(void *context, const char *key)
{
    struct program *program = context;
    struct http_server *server = atomic_load(&program->server);
    if (server)
        http_wake(server, key);
}

#define POOL_SIZE 4096

/*
 * The system's randomness, asked for many bytes at a time, since each call wants some for its ids.
 * A byte is given once, and wiped then. Of one thread each.
 */
static void draw(void *context, void *bytes, size_t size)
{
    static _Thread_local unsigned char pool[POOL_SIZE];
    static _Thread_local size_t left;
    const struct cr_env *system = context;
    if (size > POOL_SIZE / 8) {
        system->random(system->context, bytes, size);
        return;
    }
    if (left < size) {
        system->random(system->context, pool, sizeof pool);
        left = sizeof pool;
    }
    left -= size;
    memcpy(bytes, pool + left, size);
    base_crypto_wipe(pool + left, size);
}

static int64_t now_ns(void *context)
{
    const struct cr_env *system = context;
    return system->now_ns(system->context);
}

static int64_t utc_us(void *context)
{
    const struct cr_env *system = context;
    return system->utc_us(system->context);
}

static void sleep_until(void *context, int64_t until_ns)
{
    const struct cr_env *system = context;
    system->sleep_until(system->context, until_ns);
}

static enum cr_status open_database(struct cr_call *call, const char *conninfo, const char *name,
                                    struct db **ret_db)
{
    struct db_config config = {.conninfo = conninfo, .application = name};
    return db_open(call, &config, ret_db);
}

enum cr_status program_service(struct cr_call *call, struct program *program, const char *name,
                               struct service *ret_service)
{
    struct service service = {.config = &program->service_config, .bus = program->bus};
    CR_TRY(open_database(call, program->config.database, name, &service.db));
    enum cr_status status =
        open_database(call, program->config.database_engine, name, &service.engine_db);
    if (status != CR_OK) {
        program_service_close(program, &service);
        return status;
    }
    *ret_service = service;
    return CR_OK;
}

void program_service_close(struct program *program, struct service *service)
{
    if (service->db)
        db_close(&program->env, service->db);
    if (service->engine_db)
        db_close(&program->env, service->engine_db);
    *service = (struct service){0};
}

/* PostgreSQL may start after us, or be on its way back: that is no reason to end. */
static enum cr_status first_service(struct cr_call *call, struct program *program,
                                    struct service *ret_service)
{
    for (int try = 1;; try++) {
        enum cr_status status = program_service(call, program, "cressetd worker", ret_service);
        if (status != CR_UNAVAILABLE || try == CRESSETD_DATABASE_TRIES)
            return status;
        struct cr_log_field why = {"reason", call->reason, 0};
        cr_log_event(&program->env, "warning", "the database does not answer yet", &why, 1);
        cr_forgive(call);
        program->env.sleep_until(program->env.context, cr_now_ns(call) + CR_NS_A_SECOND);
    }
}

static enum cr_status open_workers(struct cr_call *call, struct program *program)
{
    size_t count = (size_t)program->config.workers;
    for (size_t i = 0; i < count; i++) {
        struct service *service = &program->services[i];
        CR_TRY(i == 0 ? first_service(call, program, service)
                      : program_service(call, program, "cressetd worker", service));
        program->workers[i] = (struct api_worker){&program->settings, service};
        program->worker_contexts[i] = &program->workers[i];
    }
    return program_service(call, program, "cressetd feed", &program->feeder);
}

static void fill_settings(struct program *program)
{
    const struct config *config = &program->config;
    program->service_config = (struct service_config){
        .region = config->region,
        .domain = config->domain,
        .public_origin = config->public_origin,
        .durability = config->durability,
        .installation = config->kind,
        .artifacts_dir = config->artifacts_dir,
        .log_dir = config->log_dir,
        .secrets = &program->secrets,
        .identities = identity_cache_open(),
        .wake = wake,
        .wake_context = program,
    };
    program->settings = (struct api_settings){
        .region = config->region,
        .public_origin = config->public_origin,
        .version = CRESSETD_VERSION,
        .console_dir = config->console_dir,
        .docs_dir = config->docs_dir,
        .cookie_secure = strcmp(config->kind, "dev") != 0,
        .rate_read = config->rate_read,
        .rate_write = config->rate_write,
        .ops_apart = true,
        .ops_listener = 1,
        .needs = metrics_needs,
        .metrics = metrics_print,
        .program = program,
        .rate = api_rate_open(),
    };
    memcpy(program->settings.cursor_key, program->secrets.cursor, BASE_CRYPTO_KEY_SIZE);
}

static const char *holder(struct cr_call *call)
{
    char host[65] = "localhost";
    gethostname(host, sizeof host - 1);
    return cr_format(call, "%s:%d", host, (int)getpid());
}

enum cr_status program_open(struct cr_call *call, const char *config_path, bool workers,
                            struct program *program)
{
    program->system = *call->env;
    program->env = (struct cr_env){
        .now_ns = now_ns,
        .utc_us = utc_us,
        .random = draw,
        .sleep_until = sleep_until,
        .context = &program->system,
        .db = &db_postgres,
        .bus = &bus_nats,
        .file = program->system.file,
    };
    call->env = &program->env;
    CR_TRY(config_read(call, config_path, &program->config));
    CR_TRY(service_secrets_open(call, program->config.secrets_dir, &program->secrets));
    CR_TRY(cr_file_make_folder(call, program->config.artifacts_dir, 0700));
    CR_TRY(cr_file_make_folder(call, program->config.log_dir, 0755));
    fill_settings(program);
    program->service_config.holder = holder(call);
    program->metrics = metrics_open();
    CR_TRY(bus_open(call, program->config.bus_url, &program->bus));
    if (workers)
        return open_workers(call, program);
    return program_service(call, program, "cressetd", &program->services[0]);
}

void program_close(struct program *program)
{
    for (size_t i = 0; i < CRESSETD_WORKERS_MAX; i++)
        program_service_close(program, &program->services[i]);
    program_service_close(program, &program->feeder);
    if (program->bus)
        bus_close(&program->env, program->bus);
    metrics_close(&program->metrics);
    api_rate_close(program->settings.rate);
    identity_cache_close(&program->service_config.identities);
    base_crypto_wipe(program->settings.cursor_key, sizeof program->settings.cursor_key);
    service_secrets_close(&program->secrets);
}
