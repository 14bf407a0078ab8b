/* cresset: the command line. */
#include "ops/cli/cli.h"

#include <locale.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static enum cr_status work(struct cr_call *call, struct cli *cli, int argc, char **argv)
{
    bool help;
    CR_TRY(cli_parse(call, cli, argc, argv, &help));
    if (help) {
        cli_help(cli, stdout, argc, argv);
        return CR_OK;
    }
    CR_TRY(cli_settings(call, cli));
    return cli->command->run(call, cli);
}

int main(int argc, char **argv)
{
    struct cr_env env = cr_env_system();
    struct cli cli = {.program = argv[0] ? argv[0] : "cresset"};
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core); /* keys are in memory (input.7) */
    setlocale(LC_CTYPE, "C.UTF-8");
    signal(SIGPIPE, SIG_IGN);
    env.fetch = &fetch_curl;
    struct cr_call call = cr_call_open(&env, INT64_MAX);
    (void)!work(&call, &cli, argc, argv);
    int code = cli_report(&call, &cli);

    if (cli.fetch)
        fetch_close(&env, cli.fetch);
    cr_call_close(&call);
    if (fflush(stdout) != 0 && code == 0)
        code = CLI_EXIT_FAILED; /* what was asked for was not written */
    return code;
}
