/* server: its beginning and its end. */
#include "base/http/http_internal.h"

#include <assert.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void start_condition(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* Held for a few instructions: whoever finds it taken looks again before going to sleep. */
static void start_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t adaptive;
    pthread_mutexattr_init(&adaptive);
    pthread_mutexattr_settype(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(lock, &adaptive);
    pthread_mutexattr_destroy(&adaptive);
}

static struct http_server *prepare(const struct http_config *config)
{
    struct http_server *server = calloc(1, sizeof *server);
    assert(server);
    server->config = *config;
    start_lock(&server->lock);
    start_lock(&server->stream_lock);
    start_condition(&server->queued_more);
    start_condition(&server->queued_first);
    start_condition(&server->feed_due);
    start_condition(&server->tick);
    for (size_t i = 0; i < HTTP_LISTENERS_MAX; i++)
        server->listeners[i] = (struct http_listener){.server = server, .index = i, .fd = -1};
    return server;
}

static enum cr_status start_daemon(struct cr_call *call, struct http_listener *listener)
{
    listener->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, http_access,
        listener, MHD_OPTION_LISTEN_SOCKET, listener->fd, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_POOL_SIZE, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)(HTTP_KEEP_ALIVE_NS / 1000000000), MHD_OPTION_NOTIFY_COMPLETED, http_completed,
        listener, MHD_OPTION_NOTIFY_CONNECTION, http_connected, listener,
        MHD_OPTION_URI_LOG_CALLBACK, http_begin, listener, MHD_OPTION_UNESCAPE_CALLBACK,
        http_unescape, listener, MHD_OPTION_END);
    if (!listener->daemon)
        return cr_fail(call, CR_UNAVAILABLE, "libmicrohttpd did not start on listener %zu",
                       listener->index);
    listener->fd = -1; /* the daemon's */
    return CR_OK;
}

static enum cr_status start_threads(struct cr_call *call, struct http_server *server)
{
    for (size_t i = 0; i < server->config.worker_count; i++) {
        struct worker *worker = &server->workers[i];
        *worker = (struct worker){.server = server, .index = i};
        worker->started = pthread_create(&worker->thread, NULL, http_work, worker) == 0;
        if (!worker->started)
            return cr_fail(call, CR_UNAVAILABLE, "no thread could be started for worker %zu", i);
    }
    server->timer_started = pthread_create(&server->timer, NULL, http_time, server) == 0;
    server->feed_started = pthread_create(&server->feed, NULL, http_feed, server) == 0;
    if (!server->timer_started || !server->feed_started)
        return cr_fail(call, CR_UNAVAILABLE, "no thread could be started for the timer");
    return CR_OK;
}

static enum cr_status start(struct cr_call *call, struct http_server *server)
{
    const struct http_config *config = &server->config;
    for (size_t i = 0; i < config->listen_count; i++)
        CR_TRY(http_listen_open(call, &config->listens[i], &server->listeners[i]));
    CR_TRY(start_threads(call, server));
    for (size_t i = 0; i < config->listen_count; i++)
        CR_TRY(start_daemon(call, &server->listeners[i]));
    return CR_OK;
}

enum cr_status http_open(struct cr_call *call, const struct http_config *config,
                         struct http_server **ret_server)
{
    assert(config->worker_count >= 1 && config->worker_count <= HTTP_WORKERS_MAX);
    assert(config->listen_count >= 1 && config->listen_count <= HTTP_LISTENERS_MAX);
    signal(SIGPIPE, SIG_IGN); /* a client that leaves is no news */
    struct http_server *server = prepare(config);
    enum cr_status status = start(call, server);
    if (status != CR_OK) {
        http_close(server);
        return status;
    }
    *ret_server = server;
    return CR_OK;
}

int http_port(const struct http_server *server, size_t listener)
{
    return server->listeners[listener].port;
}

struct http_gauges http_read_gauges(struct http_server *server)
{
    pthread_mutex_lock(&server->lock);
    struct http_gauges gauges = server->gauges;
    pthread_mutex_unlock(&server->lock);
    pthread_mutex_lock(&server->stream_lock);
    gauges.streams = server->stream_count;
    pthread_mutex_unlock(&server->stream_lock);
    return gauges;
}

static void pause_a_tick(const struct http_server *server)
{
    const struct cr_env *env = server->config.env;
    env->sleep_until(env->context, http_now(server) + HTTP_TICK_NS / 5);
}

/* Nothing is suspended any more, neither a call nor a stream: only then may a daemon be stopped. */
static bool quiet(struct http_server *server)
{
    pthread_mutex_lock(&server->lock);
    bool live = server->live != NULL;
    pthread_mutex_unlock(&server->lock);
    pthread_mutex_lock(&server->stream_lock);
    bool streams = server->stream_count > 0;
    pthread_mutex_unlock(&server->stream_lock);
    return !live && !streams;
}

void http_drain(struct http_server *server, int64_t grace_ns)
{
    int64_t until = http_now(server) + grace_ns;
    for (size_t i = 0; i < server->config.listen_count; i++)
        if (server->listeners[i].daemon && !server->listeners[i].quiesced) {
            int fd = MHD_quiesce_daemon(server->listeners[i].daemon);
            server->listeners[i].quiesced = true;
            if (fd != MHD_INVALID_SOCKET)
                server->listeners[i].fd = fd;
        }
    for (bool late = false; !late || !quiet(server); pause_a_tick(server)) {
        pthread_mutex_lock(&server->lock);
        server->draining = true;
        http_end_waiting(server, late);
        pthread_mutex_unlock(&server->lock);
        http_streams_end(server);
        if (quiet(server))
            return;
        late = http_now(server) >= until;
    }
}

void http_close(struct http_server *server)
{
    bool serving = server->listeners[0].daemon != NULL;
    if (serving)
        http_drain(server, 0);
    pthread_mutex_lock(&server->lock);
    server->stopping = true;
    pthread_cond_broadcast(&server->queued_more);
    pthread_cond_broadcast(&server->queued_first);
    pthread_cond_broadcast(&server->tick);
    pthread_mutex_unlock(&server->lock);
    for (size_t i = 0; i < server->config.worker_count; i++)
        if (server->workers[i].started)
            pthread_join(server->workers[i].thread, NULL);
    if (server->timer_started)
        pthread_join(server->timer, NULL);
    for (size_t i = 0; i < server->config.listen_count; i++) {
        if (server->listeners[i].daemon)
            MHD_stop_daemon(server->listeners[i].daemon);
        http_listen_close(&server->listeners[i]);
    }
    http_streams_close(server);
    free(server);
}
