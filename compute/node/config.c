/* config: one file of JSON, and flags over it. */
#include "compute/node/node.h"

#include <getopt.h>
#include <string.h>

#define CONFIG_SIZE_MAX 65536
#define CACHE_MIB       4096

/* clang-format off */
static const struct cr_member members[] = {
    CR_MEMBER(struct node_config, name, 1, 64),
    CR_MEMBER(struct node_config, url, 8, 255),
    CR_MEMBER(struct node_config, state_dir, 1, 1024),
    CR_MEMBER(struct node_config, token_file, 1, 1024, .flags = CR_OPTIONAL),
    CR_MEMBER(struct node_config, runner, 1, 1024),
    CR_MEMBER(struct node_config, cpu_slots, 1, NODE_CORES_MAX, .flags = CR_OPTIONAL),
    CR_MEMBER(struct node_config, cache_mib, 64, 1 << 30, .flags = CR_OPTIONAL),
    CR_MEMBER(struct node_config, insecure_jail, 0, 1, .flags = CR_OPTIONAL),
    CR_MEMBER(struct node_config, exit_when_drained, 0, 1, .flags = CR_OPTIONAL),
};
/* clang-format on */
static const struct cr_shape shape = CR_SHAPE(struct node_config, members);

static enum cr_status read_file(struct cr_call *call, const char *path,
                                struct node_config *ret_config)
{
    struct cr_bytes bytes;
    CR_TRY(cr_file_read(call, path, CONFIG_SIZE_MAX, &bytes));
    return json_read(call, &shape, (const char *)bytes.data, bytes.size, ret_config);
}

static enum cr_status usage(struct cr_call *call)
{
    return cr_fail(call, CR_INVALID,
                   "use: cresset-node [--config FILE] [--join URL] [--token-file FILE] "
                   "[--state DIR] [--name NAME] [--runner FILE] [--insecure-jail] "
                   "[--exit-when-drained]");
}

enum cr_status node_config_read(struct cr_call *call, int argc, char **argv,
                                struct node_config *ret_config)
{
    static const struct option options[] = {
        {"config", required_argument, NULL, 'c'},
        {"join", required_argument, NULL, 'j'},
        {"token-file", required_argument, NULL, 't'},
        {"state", required_argument, NULL, 's'},
        {"name", required_argument, NULL, 'n'},
        {"runner", required_argument, NULL, 'r'},
        {"insecure-jail", no_argument, NULL, 'i'},
        {"exit-when-drained", no_argument, NULL, 'd'},
        {NULL, 0, NULL, 0},
    };
    struct node_config config = {
        .name = "node", .cpu_slots = CR_NO_INTEGER, .cache_mib = CR_NO_INTEGER};
    struct node_config flags = config;
    const char *file = NULL;
    flags.name = NULL;
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'c':
            file = optarg;
            break;
        case 'j':
            flags.url = optarg;
            break;
        case 't':
            flags.token_file = optarg;
            break;
        case 's':
            flags.state_dir = optarg;
            break;
        case 'n':
            flags.name = optarg;
            break;
        case 'r':
            flags.runner = optarg;
            break;
        case 'i':
            flags.insecure_jail = true;
            break;
        case 'd':
            flags.exit_when_drained = true;
            break;
        default:
            return usage(call);
        }
    }
    if (optind != argc)
        return usage(call);
    if (file)
        CR_TRY(read_file(call, file, &config));
    config.url = flags.url ? flags.url : config.url;
    config.token_file = flags.token_file ? flags.token_file : config.token_file;
    config.state_dir = flags.state_dir ? flags.state_dir : config.state_dir;
    config.name = flags.name ? flags.name : config.name;
    config.runner = flags.runner ? flags.runner : config.runner;
    config.insecure_jail |= flags.insecure_jail;
    config.exit_when_drained |= flags.exit_when_drained;
    if (config.cache_mib == CR_NO_INTEGER)
        config.cache_mib = CACHE_MIB;
    if (!config.url || !config.state_dir || !config.runner)
        return usage(call);
    CR_TRY(cr_shape_check(call, &shape, &config));
    *ret_config = config;
    return CR_OK;
}
