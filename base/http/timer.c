/* timer: ends what is late. Every wait of the edge has its end here. */
#include "base/http/http_internal.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/*
 * libmicrohttpd owns the socket and sees only the end of it. What is sent here is sent where no
 * answer has begun, and once: a full buffer means that nobody reads.
 */
void http_cut(struct link *link, const struct cr_code *code)
{
    const struct http_server *server = link->listener->server;
    char body[512], head[1024];
    int size = snprintf(body, sizeof body,
                        "{\"type\":\"%s%s\",\"title\":\"%s\",\"status\":%d,\"code\":\"%s\","
                        "\"retryable\":%s}",
                        server->config.problem_base, code->word, code->title, code->http,
                        code->word, code->retryable ? "true" : "false");
    int length = snprintf(head, sizeof head,
                          "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\n"
                          "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                          "Content-Length: %d\r\nConnection: close\r\n\r\n%s",
                          code->http, code->title, size, body);
    if (length > 0 && (size_t)length < sizeof head)
        (void)!send(link->fd, head, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(link->fd, SHUT_RDWR);
}

static bool slow(const struct link *link, int64_t age_ns)
{
    return atomic_load(&link->phase) == LINK_BODY && age_ns > HTTP_BODY_GRACE_NS &&
           atomic_load(&link->body_size) < age_ns / 1000000000 * HTTP_BODY_RATE_MIN;
}

/*
 * Whether the client has shut its side before its request was whole. libmicrohttpd misses an end
 * that comes in one event with the last bytes. Twice, since those bytes may be under way to its
 * callback.
 */
static bool left_amid(struct link *link)
{
    char byte;
    bool ended = atomic_load(&link->phase) <= LINK_BODY &&
                 recv(link->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
    link->ends = ended ? link->ends + 1 : 0;
    return link->ends > 1;
}

static void look_at_links(struct http_server *server, int64_t now)
{
    for (struct link *link = server->links; link; link = link->next) {
        int phase = atomic_load(&link->phase);
        int64_t age = now - atomic_load(&link->since_ns);
        if (link->fd < 0)
            continue;
        if ((phase == LINK_HEAD && age > HTTP_HEAD_DEADLINE_NS) || slow(link, age))
            http_cut(link, &http_request_timeout);
        else if (left_amid(link) || (phase == LINK_IDLE && age > HTTP_KEEP_ALIVE_NS))
            shutdown(link->fd, SHUT_RDWR);
        else
            continue;
        link->fd = -1; /* once is enough; libmicrohttpd closes it */
    }
}

/* Answers in the place of the handler. The mailbox's ownership ends where a worker has none. */
static void end(struct exchange *exchange, const struct cr_code *code, const char *why)
{
    struct http_server *server = exchange->listener->server;
    if (exchange->state != EXCHANGE_RUNNING) {
        http_unlink(exchange);
        atomic_fetch_sub(&exchange->owners, 1); /* never the last: the connection is suspended */
    }
    struct http_made made = http_make_problem(server, exchange->id, code, why, false);
    http_tell(exchange, made, NULL, code->word);
    http_finish(exchange, made);
    http_resume(exchange);
}

void http_end_waiting(struct http_server *server, bool running)
{
    for (struct exchange *next, *one = server->live; one; one = next) {
        next = one->live_next;
        if (one->state != EXCHANGE_RUNNING || running)
            end(one, &cr_code_draining, "send it again: another process will answer");
    }
}

static void look_at_calls(struct http_server *server, int64_t now)
{
    for (struct exchange *next, *one = server->live; one; one = next) {
        next = one->live_next;
        if (one->state == EXCHANGE_PARKED && now >= one->park_until_ns) {
            http_unlink(one);
            one->request.parked_out = true;
            http_enqueue(one);
        }
        if (now >= one->deadline_ns)
            end(one, &cr_code_deadline_exceeded, "the answer was not ready in time");
    }
}

void http_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t wait_ns)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + wait_ns;
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_cond_timedwait(condition, lock, &until);
}

void *http_time(void *context)
{
    struct http_server *server = context;
    pthread_mutex_lock(&server->lock);
    while (!server->stopping) {
        int64_t now = http_now(server);
        look_at_links(server, now);
        look_at_calls(server, now);
        http_wait(&server->tick, &server->lock, HTTP_TICK_NS);
    }
    pthread_mutex_unlock(&server->lock);
    return NULL;
}
