/*
 * edge: a server with a few paths, each for one thing that the edge does, and a client that sends
 * any bytes and reads to the end of the connection. For tests of base/http over real sockets.
 */
#pragma once

#include "base/core/codes.h"
#include "base/http/http.h"
#include "base/json/json.h"
#include "tests/unit/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static struct cr_env env;
static struct http_server *server;
static int port;
static atomic_int handled, slow_release, left;

/* The owner of these tests: a few paths, each for one thing that the edge does. */
static void plan(void *owner, const struct http_request *head, struct http_plan *ret_plan)
{
    (void)owner;
    if (strcmp(head->path, "/bulk") == 0) {
        ret_plan->body_to_file = true;
        ret_plan->body_size_max = 4 * HTTP_BODY_SIZE_MAX;
    }
    if (strcmp(head->path, "/late") == 0)
        ret_plan->deadline_ns = 300000000;
}

struct counter {
    int next;
};

static enum cr_status feed(struct cr_call *call, void *feeder, void *state,
                           struct http_stream *stream)
{
    (void)feeder;
    struct counter *counter = state;
    while (counter->next < 600 && http_stream_room(stream) > 0) {
        const char *id = cr_format(call, "%d", counter->next);
        if (!http_stream_write(stream, id, "tick", "one\ntwo", 7))
            return CR_OK;
        counter->next++;
    }
    if (counter->next == 600)
        http_stream_end(stream);
    return CR_OK;
}

static enum cr_status tick(struct cr_call *call, void *feeder, void *state,
                           struct http_stream *stream)
{
    (void)call, (void)feeder, (void)state;
    http_stream_write(stream, NULL, NULL, "now", 3);
    return CR_OK;
}

static void feed_done(void *state)
{
    free(state);
    left++;
}

static enum http_next serve(struct cr_call *call, void *worker, struct http_request *request,
                            struct http_response *response)
{
    (void)worker;
    handled++;
    response->status = 200;
    response->body = "{}";
    response->body_size = 2;
    if (strcmp(request->method, "BREW") == 0) {
        response->status = 405;
        http_answer_field(response, "Allow", "GET, POST");
    } else if (strcmp(request->path, "/echo") == 0 && request->body) {
        response->body = request->body;
        response->body_size = request->body_size;
    } else if (strcmp(request->path, "/who") == 0) {
        response->status = http_field_of(request, "Authorization") ? 200 : 401;
    } else if (strcmp(request->path, "/bulk") == 0) {
        response->body = cr_format(call, "%zu", request->body_size);
        response->body_size = strlen(response->body);
    } else if (strcmp(request->path, "/late") == 0) {
        for (int i = 0; i < 100 && !slow_release; i++)
            usleep(20000);
    } else if (strcmp(request->path, "/park") == 0 && request->runs == 1) {
        return http_park(response, "job:1", cr_now_ns(call) + 5 * INT64_C(1000000000));
    } else if (strcmp(request->path, "/stream") == 0) {
        response->source = (struct http_source){.key = "job:2",
                                                .feed = feed,
                                                .close = feed_done,
                                                .state = calloc(1, sizeof(struct counter))};
    } else if (strcmp(request->path, "/idle") == 0) {
        response->source = (struct http_source){.key = "job:3",
                                                .owner = "me",
                                                .owner_max = 1,
                                                .feed = tick,
                                                .close = feed_done,
                                                .state = calloc(1, 1)};
    } else if (strcmp(request->path, "/file") == 0) {
        response->file_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        response->file_size = 1000;
    }
    return HTTP_ANSWER;
}

static int start(void **state)
{
    (void)state;
    env = cr_env_system();
    static const char *const hosts[] = {"a", NULL};
    static const struct http_listen listens[] = {{"all", "127.0.0.1:0", -1}};
    static void *const workers[4] = {0};
    static const struct http_config config = {.env = &env,
                                              .listens = listens,
                                              .listen_count = 1,
                                              .hosts = hosts,
                                              .problem_base = "http://a/docs/errors/",
                                              .bulk_dir = "/tmp",
                                              .worker_count = 4,
                                              .workers = workers,
                                              .plan = plan,
                                              .handle = serve};
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    assert_ok(&call, http_open(&call, &config, &server));
    port = http_port(server, 0);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    http_drain(server, 1000000000);
    http_close(server);
    return 0;
}

static int dial(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        fail_msg("connect: %s", strerror(errno));
    return fd;
}

static void say(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return; /* the other side has heard enough */
        at += sent;
        size -= (size_t)sent;
    }
}

/* Reads until the end, or until nothing comes for wait_ms. True: the connection has ended. */
static bool hear(int fd, char *text, size_t size, int wait_ms)
{
    size_t length = 0;
    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        text[length] = '\0';
        if (poll(&ready, 1, wait_ms) <= 0)
            return false;
        ssize_t got = recv(fd, text + length, size - 1 - length, 0);
        if (got <= 0)
            return true;
        length += (size_t)got;
        if (length == size - 1) /* the rest is not looked at */
            length = size / 2;
    }
}

static int status_of(const char *text)
{
    return strncmp(text, "HTTP/1.1 ", 9) == 0 || strncmp(text, "HTTP/1.0 ", 9) == 0
               ? (int)strtol(text + 9, NULL, 10)
               : 0;
}

/* libmicrohttpd 0.9.75 sends the head of an answer of its own twice: that is one answer. */
static size_t answers_in(const char *text)
{
    size_t count = 0;
    const char *behind = NULL;
    for (const char *at = text; (at = strstr(at, "HTTP/1.1 ")); at++) {
        bool twice = behind == at && strncmp(text, at, (size_t)(at - text)) == 0;
        const char *end = strstr(at, "\r\n\r\n");
        behind = end ? end + 4 : NULL;
        count += !twice;
    }
    return count;
}

struct heard {
    int status;
    bool closed;
    size_t answers;
    char text[16384];
};

static void probe(const void *bytes, size_t size, int wait_ms, struct heard *ret_heard)
{
    int fd = dial();
    say(fd, bytes, size);
    ret_heard->closed = hear(fd, ret_heard->text, sizeof ret_heard->text, wait_ms);
    ret_heard->status = status_of(ret_heard->text);
    ret_heard->answers = answers_in(ret_heard->text);
    close(fd);
}
