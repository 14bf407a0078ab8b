/* cresset dev …: the region of this folder. */
#include "ops/dev/dev.h"
#include "ops/cli/cli.h"

#include "base/core/parse.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <unistd.h>

#define UP_NS              INT64_C(180000000000) /* for all of it, where no --timeout is given */
#define TAIL_ARGUMENTS_MAX 16

static void say(void *context, const char *line)
{
    const struct cli *cli = context;
    if (!cli->quiet)
        fprintf(stderr, "%s\n", line);
}

/* The checkout is where this program was built: above build/bin. */
static enum cr_status config_of(struct cr_call *call, struct cli *cli,
                                struct dev_config *ret_config)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    char *end = strstr(path, "/build/");
    for (char *later = end; later; later = strstr(later + 1, "/build/"))
        end = later;
    if (!end)
        return cr_fail(call, CR_NOT_FOUND, "cresset dev runs from a checkout: build/bin/cresset");
    *end = 0;
    const char *checkout = cr_copy(call, path, strlen(path)), *var = cli_flag(cli, "var");
    const char *port = cli_flag(cli, "port");
    *ret_config = (struct dev_config){.checkout = checkout,
                                      .var = cr_format(call, "%s/var", checkout),
                                      .say = say,
                                      .context = cli};
    if (var && var[0] == '/')
        ret_config->var = var;
    else if (var && getcwd(path, sizeof path))
        ret_config->var = cr_format(call, "%s/%s", path, var);
    if (port && !cr_parse_integer(port, strlen(port), 1, 65000, &ret_config->port))
        return cr_fail(call, CR_INVALID, "--port takes a number from 1 to 65000, not '%s'", port);
    if (call->deadline_ns == INT64_MAX)
        call->deadline_ns = cr_now_ns(call) + UP_NS;
    return CR_OK;
}

static enum cr_status show_state(struct cr_call *call, const struct cli *cli,
                                 const struct dev_state *state)
{
    struct cr_text text = cr_text_open(call);
    cr_text_add(&text, "{\"server\":");
    json_add_text(&text, state->server);
    cr_text_add(&text, ",\"data\":[");
    for (size_t i = 0; i < DEV_SERVICE_COUNT; i++) {
        const struct dev_service_state *service = &state->services[i];
        cr_text_add(&text, i ? ",{\"service\":" : "{\"service\":");
        json_add_text(&text, service->service);
        cr_text_add(&text, ",\"state\":");
        json_add_text(&text, service->state);
        if (service->pid > 0)
            cr_text_add_format(&text, ",\"pid\":%" PRId64, service->pid);
        else
            cr_text_add(&text, ",\"pid\":null");
        cr_text_add(&text, ",\"address\":");
        json_add_text(&text, service->address);
        cr_text_add(&text, ",\"log\":");
        json_add_text(&text, service->log);
        cr_text_add(&text, "}");
    }
    cr_text_add(&text, "]}");
    const struct json_value *value;
    CR_TRY(json_parse(call, NULL, text.data, text.length, &value));
    cli_show(call, cli, value);
    return call->status;
}

enum cr_status cli_dev_up(struct cr_call *call, struct cli *cli)
{
    struct dev_config config;
    struct dev_state state;
    CR_TRY(config_of(call, cli, &config));
    CR_TRY(dev_up(call, &config, &state));
    CR_TRY(show_state(call, cli, &state));
    if (!cli->quiet)
        fprintf(stderr, "console  %s   (to sign in: %s dev login)\n", state.server, cli->program);
    return CR_OK;
}

enum cr_status cli_dev_status(struct cr_call *call, struct cli *cli)
{
    struct dev_config config;
    struct dev_state state;
    CR_TRY(config_of(call, cli, &config));
    CR_TRY(dev_status(call, &config, &state));
    CR_TRY(show_state(call, cli, &state));
    for (size_t i = 0; i < DEV_SERVICE_COUNT; i++)
        if (strcmp(state.services[i].state, "running") != 0)
            cli->exit = CLI_EXIT_FAILED;
    return CR_OK;
}

enum cr_status cli_dev_down(struct cr_call *call, struct cli *cli)
{
    struct dev_config config;
    CR_TRY(config_of(call, cli, &config));
    return dev_down(call, &config);
}

enum cr_status cli_dev_reset(struct cr_call *call, struct cli *cli)
{
    struct dev_config config;
    char line[16];
    CR_TRY(config_of(call, cli, &config));
    if (!cli_has(cli, "yes")) {
        if (!isatty(STDIN_FILENO))
            return cr_fail(call, CR_INVALID,
                           "this deletes all jobs, artifacts and keys of %s; "
                           "try: --yes",
                           config.var);
        fprintf(stderr,
                "This deletes all jobs, artifacts and keys of %s. Type yes to go on: ", config.var);
        if (!fgets(line, sizeof line, stdin) || strcmp(line, "yes\n") != 0)
            return cr_fail(call, CR_CONFLICT, "not done");
    }
    return dev_reset(call, &config);
}

enum cr_status cli_dev_login(struct cr_call *call, struct cli *cli)
{
    struct dev_config config;
    const char *url;
    CR_TRY(config_of(call, cli, &config));
    CR_TRY(dev_login(call, &config, cli_has(cli, "operator"), &url));
    puts(url);
    return CR_OK;
}

/* logs [SERVICE]: becomes tail(1) of the logs. */
enum cr_status cli_dev_logs(struct cr_call *call, struct cli *cli)
{
    struct dev_config config;
    struct dev_state state;
    CR_TRY(config_of(call, cli, &config));
    CR_TRY(dev_status(call, &config, &state));
    const char *argv[TAIL_ARGUMENTS_MAX] = {"tail", "-n", "50"};
    size_t count = 3, first = count;
    if (cli_has(cli, "follow"))
        argv[count++] = "-F";
    first = count;
    for (size_t i = 0; i < DEV_SERVICE_COUNT; i++)
        if (cli->argument_count == 0 || strcmp(cli->arguments[0], state.services[i].service) == 0)
            argv[count++] = state.services[i].log;
    if (count == first)
        return cr_fail(call, CR_NOT_FOUND,
                       "no service is called '%s': they are postgres, nats, "
                       "cressetd and node",
                       cli->arguments[0]);
    union {
        const char *const *given;
        char *const *taken;
    } arguments = {.given = argv};
    execvp("tail", arguments.taken);
    return cr_fail(call, CR_NOT_FOUND, "tail: %s", strerror(errno));
}
