/* config: the one file that cressetd reads. */
#include "base/core/file.h"
#include "base/json/json.h"
#include "controlplane/cressetd/cressetd.h"

#define RATE_READ_USUAL  500 /* requests a second of a tenant */
#define RATE_WRITE_USUAL 200
#define PATH_SIZE        1024
#define CONNINFO_SIZE    2048

static const char *const durabilities[] = {"local", "standby", "peer", NULL};
static const char *const kinds[] = {"dev", "test", "live", NULL};

static const struct cr_member members[] = {
    CR_MEMBER(struct config, region, 1, 63),
    CR_MEMBER(struct config, domain, 1, 253),
    CR_MEMBER(struct config, listen, 1, PATH_SIZE),
    CR_MEMBER(struct config, ops_listen, 1, PATH_SIZE),
    CR_MEMBER(struct config, public_origin, 8, 253),
    CR_MEMBER(struct config, database, 1, CONNINFO_SIZE),
    CR_MEMBER(struct config, database_engine, 1, CONNINFO_SIZE),
    CR_MEMBER(struct config, database_owner, 0, CONNINFO_SIZE, .flags = CR_OPTIONAL),
    CR_MEMBER(struct config, bus_url, 0, PATH_SIZE),
    CR_MEMBER(struct config, artifacts_dir, 1, PATH_SIZE),
    CR_MEMBER(struct config, log_dir, 1, PATH_SIZE),
    CR_MEMBER(struct config, secrets_dir, 1, PATH_SIZE),
    CR_MEMBER(struct config, schema_dir, 0, PATH_SIZE, .flags = CR_OPTIONAL),
    CR_MEMBER(struct config, console_dir, 0, PATH_SIZE, .flags = CR_OPTIONAL),
    CR_MEMBER(struct config, docs_dir, 0, PATH_SIZE, .flags = CR_OPTIONAL),
    CR_WORD(struct config, durability, durabilities),
    CR_WORD(struct config, kind, kinds),
    CR_MEMBER(struct config, workers, 2, CRESSETD_WORKERS_MAX),
    CR_MEMBER(struct config, rate_read, 1, 1000000, .flags = CR_OPTIONAL),
    CR_MEMBER(struct config, rate_write, 1, 1000000, .flags = CR_OPTIONAL),
};
static const struct cr_shape shape = CR_SHAPE(struct config, members);

enum cr_status config_read(struct cr_call *call, const char *path, struct config *ret_config)
{
    struct cr_bytes text;
    CR_TRY(cr_file_read(call, path, CRESSETD_CONFIG_MAX, &text));
    if (json_read(call, &shape, (const char *)text.data, text.size, ret_config) != CR_OK) {
        const char *why = cr_format(call, "%s", call->reason);
        cr_forgive(call);
        return cr_fail(call, CR_INVALID, "%s: %s", path, why);
    }
    struct config *config = ret_config;
    config->database_owner = config->database_owner ? config->database_owner : "";
    config->schema_dir = config->schema_dir ? config->schema_dir : "ops/schema";
    config->console_dir = config->console_dir ? config->console_dir : "";
    config->docs_dir = config->docs_dir ? config->docs_dir : "";
    if (config->rate_read == CR_NO_INTEGER)
        config->rate_read = RATE_READ_USUAL;
    if (config->rate_write == CR_NO_INTEGER)
        config->rate_write = RATE_WRITE_USUAL;
    return CR_OK;
}
