/* verbs: what cressetd does besides serving. */
#include "base/core/log.h"
#include "controlplane/cressetd/cressetd.h"
#include "controlplane/service/keys.h"
#include "controlplane/service/sessions.h"

#include <string.h>

struct asked {
    const char *config, *tenant;
    bool operator_;
};

static const char usage[] =
    "cressetd: a region's control plane\n"
    "\n"
    "  cressetd --config FILE                        serve\n"
    "  cressetd migrate --config FILE                bring the schema up to date\n"
    "  cressetd secrets DIR                          make the keys that are missing\n"
    "  cressetd bootstrap --config FILE              print a new operator key, for 24 hours\n"
    "  cressetd login-code --config FILE --tenant NAME | --operator\n"
    "                                                print a code for the console, for 10 minutes\n"
    "  cressetd print openapi|nginx-map|permissions|matrix|errors|routes\n"
    "  cressetd --version\n";

static bool read_options(int argc, char **argv, struct asked *ret_asked)
{
    *ret_asked = (struct asked){0};
    for (int i = 0; i < argc; i++) {
        bool valued = i + 1 < argc;
        if (strcmp(argv[i], "--config") == 0 && valued)
            ret_asked->config = argv[++i];
        else if (strcmp(argv[i], "--tenant") == 0 && valued)
            ret_asked->tenant = argv[++i];
        else if (strcmp(argv[i], "--operator") == 0)
            ret_asked->operator_ = true;
        else
            return false;
    }
    return ret_asked->config != NULL;
}

static enum cr_status do_serve(struct cr_call *call, struct program *program,
                               const struct asked *asked)
{
    CR_TRY(program_open(call, asked->config, true, program));
    return serve(call, program);
}

static enum cr_status do_migrate(struct cr_call *call, struct program *program,
                                 const struct asked *asked)
{
    int64_t applied = 0;
    program->env = *call->env;
    program->env.db = &db_postgres;
    call->env = &program->env;
    CR_TRY(config_read(call, asked->config, &program->config));
    CR_TRY(service_migrate(call, program->config.database_owner, program->config.schema_dir,
                           &applied));
    printf("{\"applied\":%lld}\n", (long long)applied);
    return CR_OK;
}

static enum cr_status do_bootstrap(struct cr_call *call, struct program *program,
                                   const struct asked *asked)
{
    const char *key, *secret;
    CR_TRY(program_open(call, asked->config, false, program));
    CR_TRY(keys_bootstrap(call, &program->services[0], &key, &secret));
    printf("{\"name\":\"%s\",\"key\":\"%s\"}\n", key, secret);
    return CR_OK;
}

static enum cr_status do_login_code(struct cr_call *call, struct program *program,
                                    const struct asked *asked)
{
    const char *code;
    if (!asked->tenant == !asked->operator_)
        return cr_fail(call, CR_INVALID, "say --tenant NAME or --operator");
    CR_TRY(program_open(call, asked->config, false, program));
    CR_TRY(sessions_code(call, &program->services[0], asked->tenant, &code));
    puts(code);
    return CR_OK;
}

static enum cr_status do_print(struct cr_call *call, const char *what)
{
    static const struct {
        const char *name;
        const char *(*print)(struct cr_call *call);
    } forms[] = {
        {"nginx-map", api_print_nginx_map}, {"permissions", api_print_permissions},
        {"matrix", api_print_matrix},       {"errors", api_print_errors},
        {"routes", api_print_routes},
    };
    if (strcmp(what, "openapi") == 0) {
        puts(api_print_openapi(call, "http://127.0.0.1:7070"));
        return CR_OK;
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].name, what) == 0) {
            fputs(forms[i].print(call), stdout);
            return CR_OK;
        }
    return cr_fail(call, CR_INVALID, "there is no '%s' to print", what);
}

static const struct verb {
    const char *name;
    enum cr_status (*run)(struct cr_call *call, struct program *program, const struct asked *asked);
} verbs[] = {
    {"serve", do_serve},
    {"migrate", do_migrate},
    {"bootstrap", do_bootstrap},
    {"login-code", do_login_code},
};

static int finish(const struct cr_call *call, enum cr_status status)
{
    if (status == CR_OK)
        return 0;
    fprintf(stderr, "error: %s (%s)\n", call->reason,
            call->code ? call->code->word : cr_status_word(status));
    return 1;
}

static int run_verb(struct cr_call *call, const struct verb *verb, int argc, char **argv)
{
    struct asked asked;
    if (!read_options(argc, argv, &asked)) {
        fputs(usage, stderr);
        return 2;
    }
    struct program *program = calloc(1, sizeof *program);
    if (!program)
        return 1;
    int result = finish(call, verb->run(call, program, &asked));
    call->env = NULL; /* it stands in the program */
    program_close(program);
    free(program);
    return result;
}

int verb_run(const struct cr_env *env, int argc, char **argv)
{
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env, INT64_MAX);
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--version") == 0) {
        puts("cressetd " CRESSETD_VERSION);
        return 0;
    }
    if (strcmp(name, "print") == 0 && argc == 3)
        return finish(&call, do_print(&call, argv[2]));
    if (strcmp(name, "secrets") == 0 && argc == 3)
        return finish(&call, service_secrets_make(&call, argv[2]));
    if (strncmp(name, "--", 2) == 0)
        return run_verb(&call, &verbs[0], argc - 1, argv + 1);
    for (size_t i = 1; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(name, verbs[i].name) == 0)
            return run_verb(&call, &verbs[i], argc - 2, argv + 2);
    fputs(usage, stderr);
    return 2;
}
