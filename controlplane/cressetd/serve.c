/* serve: listeners, signals, and an end that loses nothing. */
#include "base/core/log.h"
#include "controlplane/cressetd/cressetd.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* What systemd is told, where it asks (sd_notify(3)); its library is not worth a door for this. */
static void notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!path || strlen(path) >= sizeof address.sun_path || (*path != '/' && *path != '@'))
        return;
    memcpy(address.sun_path, path, strlen(path));
    if (*path == '@')
        address.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    if (fd >= 0) {
        (void)!sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address, size);
        close(fd);
    }
}

/*
 * Whose requests are served: what public_origin says and what is listened to, so that a page of
 * another name cannot reach us by pointing its name here (DNS rebinding).
 */
static const char *const *hosts_of(struct cr_call *call, const struct config *config)
{
    const char **hosts = cr_new(call, const char *, 8);
    const char *origin = strstr(config->public_origin, "://");
    const char *colon = strrchr(config->listen, ':'), *ops = strrchr(config->ops_listen, ':');
    size_t count = 0;
    if (origin)
        hosts[count++] = origin + 3;
    for (const char *const *name = (const char *const[]){"127.0.0.1", "localhost", "[::1]", NULL};
         *name; name++) {
        if (colon && strncmp(config->listen, "unix:", 5) != 0)
            hosts[count++] = cr_format(call, "%s%s", *name, colon);
        if (ops && strncmp(config->ops_listen, "unix:", 5) != 0)
            hosts[count++] = cr_format(call, "%s%s", *name, ops);
    }
    return hosts;
}

static void wait_for_signal(const struct program *program, const sigset_t *signals)
{
    int signal = 0;
    while (sigwait(signals, &signal) != 0 || signal == SIGHUP)
        ;
    struct cr_log_field fields[] = {{"signal", strsignal(signal), 0}};
    cr_log_event(&program->env, "info", "draining", fields, 1);
}

/* A second signal does not wait: whoever sends it has decided. */
static void *hurry(void *signals)
{
    int signal = 0;
    while (sigwait(signals, &signal) != 0 || signal == SIGHUP)
        ;
    _exit(1);
}

static void plan(void *program, const struct http_request *head, struct http_plan *ret_plan)
{
    api_plan(&((struct program *)program)->settings, head, ret_plan);
}

static enum cr_status open_server(struct cr_call *call, struct program *program,
                                  struct http_server **ret_server)
{
    const struct config *config = &program->config;
    struct http_listen *listens = cr_new(call, struct http_listen, 2);
    listens[0] = (struct http_listen){"all", config->listen, -1};
    listens[1] = (struct http_listen){"ops", config->ops_listen, -1};
    struct http_config *http = cr_new(call, struct http_config, 1);
    *http = (struct http_config){
        .env = &program->env,
        .listens = listens,
        .listen_count = 2,
        .hosts = hosts_of(call, config),
        .problem_base = cr_format(call, "%s/docs/errors/", config->public_origin),
        .bulk_dir = config->artifacts_dir,
        .worker_count = (size_t)config->workers,
        .workers = program->worker_contexts,
        .feeder = &program->feeder,
        .owner = program,
        .plan = plan,
        .handle = api_handle,
        .ended = metrics_ended,
    };
    return http_open(call, http, ret_server);
}

enum cr_status serve(struct cr_call *call, struct program *program)
{
    static sigset_t signals; /* of all threads: they inherit that these are blocked */
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);

    struct http_server *server = NULL;
    CR_TRY(open_server(call, program, &server));
    atomic_store(&program->server, server);
    enum cr_status status = tasks_start(call, program);
    if (status == CR_OK) {
        struct cr_log_field fields[] = {{"listen", program->config.listen, 0},
                                        {"ops_listen", program->config.ops_listen, 0},
                                        {"version", CRESSETD_VERSION, 0}};
        cr_log_event(&program->env, "info", "serving", fields, 3);
        notify("READY=1");
        wait_for_signal(program, &signals);
        notify("STOPPING=1");
    }
    pthread_t second;
    if (pthread_create(&second, NULL, hurry, &signals) == 0)
        pthread_detach(second);
    tasks_stop(program);
    http_drain(server, CRESSETD_GRACE_NS);
    atomic_store(&program->server, NULL);
    http_close(server);
    cr_log_event(&program->env, "info", "stopped", NULL, 0);
    return status;
}
