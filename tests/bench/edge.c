/*
 * edge: the yardstick of `make bench-edge` (tests/bench/edge.sh).
 *
 *     edge bare PORT                                 a bare libmicrohttpd, the same daemon and
 * answer size edge get PORT PATH CONNECTIONS SECONDS         GETs a second, over connections that
 * are kept edge submit PORT TOKEN CONNECTIONS COUNT BODY  POSTs of jobs a second, each with a key
 * of its own
 *
 * The load is one thread with epoll: one request under way on each connection.
 */
#include "base/core/banned.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 512
#define ANSWER_SIZE     93 /* of GET /v1/auth, in development */
#define BUFFER_SIZE     65536

/* Bare libmicrohttpd -------------------------------------------------------------------------- */

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **seen)
{
    (void)context, (void)url, (void)method, (void)version, (void)data, (void)size;
    static char body[ANSWER_SIZE];
    if (!*seen) {
        *seen = body;
        return MHD_YES;
    }
    memset(body, 'x', sizeof body);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(sizeof body, body, MHD_RESPMEM_MUST_COPY);
    MHD_add_response_header(response, "Content-Type", "application/json");
    enum MHD_Result queued = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return queued;
}

static int bare(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD, port, NULL, NULL, answer, NULL, MHD_OPTION_SOCK_ADDR,
        &address, MHD_OPTION_CONNECTION_LIMIT, 8192u, MHD_OPTION_END);
    if (!daemon)
        return 1;
    pause();
    MHD_stop_daemon(daemon);
    return 0;
}

/* The load ------------------------------------------------------------------------------------ */

struct line {
    int fd;
    size_t got;
    char buffer[BUFFER_SIZE];
};

struct load {
    uint16_t port;
    size_t connections;
    const char *token, *path, *body;
    int64_t count; /* requests in all; 0: until the time is over */
    double seconds;
    int64_t sent, done, failed;
    struct line *lines;
};

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static bool send_next(struct load *load, struct line *line)
{
    char text[8192];
    int size;
    if (load->body)
        size = snprintf(text, sizeof text,
                        "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nAuthorization: Bearer %s\r\n"
                        "Idempotency-Key: bench-%d-%lld\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\n\r\n%s",
                        load->path, load->port, load->token, (int)getpid(), (long long)load->sent,
                        strlen(load->body), load->body);
    else
        size = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n",
                        load->path, load->port);
    load->sent++;
    line->got = 0;
    return send(line->fd, text, (size_t)size, MSG_NOSIGNAL) == size;
}

/* Whether the answer is whole; its status then counts. */
static bool whole(struct load *load, struct line *line)
{
    line->buffer[line->got] = '\0';
    const char *end = strstr(line->buffer, "\r\n\r\n");
    const char *length = strstr(line->buffer, "Content-Length: ");
    if (!end || !length)
        return false;
    size_t size = (size_t)strtoul(length + 16, NULL, 10);
    if ((size_t)(end - line->buffer) + 4 + size > line->got)
        return false;
    load->done++;
    if (line->buffer[9] != '2' && load->failed++ == 0)
        fprintf(stderr, "%s\n", line->buffer);
    return true;
}

static bool dial(struct load *load, struct line *line)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(load->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    line->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return connect(line->fd, (struct sockaddr *)&address, sizeof address) == 0;
}

static bool more(const struct load *load, double end)
{
    return load->count ? load->sent < load->count : now() < end;
}

static int run(struct load *load)
{
    load->lines = calloc(load->connections, sizeof *load->lines);
    int poll = epoll_create1(EPOLL_CLOEXEC);
    for (size_t i = 0; i < load->connections; i++) {
        struct line *line = &load->lines[i];
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = line};
        if (!dial(load, line) || epoll_ctl(poll, EPOLL_CTL_ADD, line->fd, &event) != 0)
            return 1;
    }
    double begin = now(), end = begin + load->seconds;
    for (size_t i = 0; i < load->connections && more(load, end); i++)
        send_next(load, &load->lines[i]);
    struct epoll_event events[CONNECTIONS_MAX];
    while (load->done < load->sent) {
        int ready = epoll_wait(poll, events, CONNECTIONS_MAX, 30000);
        if (ready <= 0)
            return 1;
        for (int i = 0; i < ready; i++) {
            struct line *line = events[i].data.ptr;
            ssize_t got = recv(line->fd, line->buffer + line->got, BUFFER_SIZE - 1 - line->got, 0);
            if (got <= 0)
                return 1;
            line->got += (size_t)got;
            if (whole(load, line) && more(load, end) && !send_next(load, line))
                return 1;
        }
    }
    if (load->failed > 0)
        fprintf(stderr, "%lld of %lld were not answered with 2xx\n", (long long)load->failed,
                (long long)load->done);
    printf("%.1f\n", (double)load->done / (now() - begin));
    return load->failed > 0;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 2 ? argv[1] : "";
    uint16_t port = argc > 2 ? (uint16_t)strtoul(argv[2], NULL, 10) : 0;
    if (strcmp(verb, "bare") == 0)
        return bare(port);
    struct load load = {.port = port};
    if (strcmp(verb, "get") == 0 && argc == 6) {
        load.path = argv[3];
        load.connections = strtoul(argv[4], NULL, 10);
        load.seconds = strtod(argv[5], NULL);
    } else if (strcmp(verb, "submit") == 0 && argc == 7) {
        load.path = "/v1/jobs";
        load.token = argv[3];
        load.connections = strtoul(argv[4], NULL, 10);
        load.count = strtol(argv[5], NULL, 10);
        load.body = argv[6];
    } else {
        fputs("edge bare|get|submit PORT …: see tests/bench/edge.c\n", stderr);
        return 2;
    }
    return load.connections == 0 || load.connections > CONNECTIONS_MAX ? 2 : run(&load);
}
