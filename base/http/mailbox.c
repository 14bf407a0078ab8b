/* mailbox: where requests wait for a worker, for a key, and for their end. */
#include "base/http/http_internal.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

/* How many may wait when one more of the class comes: what can be done without is refused first. */
static const int64_t room[HTTP_CLASSES] = {
    2 * HTTP_QUEUED_MAX,     HTTP_QUEUED_MAX,         HTTP_QUEUED_MAX * 7 / 8,
    HTTP_QUEUED_MAX * 3 / 4, HTTP_QUEUED_MAX * 5 / 8, HTTP_QUEUED_MAX * 3 / 8,
    HTTP_QUEUED_MAX / 4,
};

int64_t http_now(const struct http_server *server)
{
    return server->config.env->now_ns(server->config.env->context);
}

static void append(struct queue *queue, struct exchange *exchange)
{
    exchange->next = NULL;
    exchange->previous = queue->last;
    if (queue->last)
        queue->last->next = exchange;
    else
        queue->first = exchange;
    queue->last = exchange;
}

static void take_out(struct queue *queue, struct exchange *exchange)
{
    *(exchange->previous ? &exchange->previous->next : &queue->first) = exchange->next;
    *(exchange->next ? &exchange->next->previous : &queue->last) = exchange->previous;
    exchange->next = exchange->previous = NULL;
}

static size_t bucket(const char *key)
{
    uint32_t hash = 2166136261u; /* FNV-1a: the keys are ids, which are random */
    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * 16777619u;
    return hash % HTTP_PARK_BUCKETS;
}

/*
 * Calls a worker that waits, one at a time: whoever comes calls the next if there is still work. So
 * a burst of short calls is served by few threads, and one that is long holds nothing up.
 */
static pthread_cond_t *call_one(struct http_server *server)
{
    if (server->idle == 0 || server->waking)
        return NULL;
    server->waking = true;
    return &server->queued_more;
}

static void signal_it(pthread_cond_t *condition)
{
    if (condition)
        pthread_cond_signal(condition);
}

/* The result is whom to call; best when `lock` is free again, or the call only meets the lock. */
static pthread_cond_t *enqueue(struct exchange *exchange)
{
    struct http_server *server = exchange->listener->server;
    exchange->state = EXCHANGE_QUEUED;
    exchange->queued_ns = http_now(server);
    append(&server->queues[exchange->plan.class], exchange);
    server->gauges.queued++;
    if (exchange->plan.class <= 1 && server->first_idle) {
        server->first_idle = false;
        return &server->queued_first;
    }
    return call_one(server);
}

void http_enqueue(struct exchange *exchange)
{
    signal_it(enqueue(exchange));
}

void http_unlink(struct exchange *exchange)
{
    struct http_server *server = exchange->listener->server;
    if (exchange->state == EXCHANGE_QUEUED) {
        take_out(&server->queues[exchange->plan.class], exchange);
        server->gauges.queued--;
    } else {
        assert(exchange->state == EXCHANGE_PARKED);
        take_out(&server->parked[bucket(exchange->park_key)], exchange);
        server->gauges.parked--;
    }
}

/* The connection is suspended already, so that a worker may resume it at once. */
void http_submit(struct exchange *exchange)
{
    struct http_server *server = exchange->listener->server;
    const struct cr_code *code = NULL;
    struct http_made made = {0};
    pthread_cond_t *called = NULL;
    pthread_mutex_lock(&server->lock);
    exchange->live_next = server->live;
    exchange->live_previous = NULL;
    if (server->live)
        server->live->live_previous = exchange;
    server->live = exchange;
    if (server->draining)
        code = &cr_code_draining;
    else if (server->gauges.queued >= room[exchange->plan.class])
        code = &cr_code_overloaded;
    if (!code) {
        exchange->owners++;
        called = enqueue(exchange);
    } else {
        made = http_make_problem(server, exchange->id, code, "send it again later", false);
        http_finish(exchange, made);
    }
    pthread_mutex_unlock(&server->lock);
    signal_it(called);
    if (code) {
        http_tell(exchange, made, NULL, code->word);
        http_resume(exchange);
    }
}

void http_finish(struct exchange *exchange, struct http_made made)
{
    struct http_server *server = exchange->listener->server;
    *(exchange->live_previous ? &exchange->live_previous->live_next : &server->live) =
        exchange->live_next;
    if (exchange->live_next)
        exchange->live_next->live_previous = exchange->live_previous;
    exchange->made = made;
    exchange->state = EXCHANGE_ANSWERED;
}

/* From here on the exchange is the socket thread's. */
void http_resume(struct exchange *exchange)
{
    MHD_resume_connection(exchange->connection);
}

void http_release(struct exchange *exchange)
{
    if (atomic_fetch_sub(&exchange->owners, 1) > 1)
        return;
    if (exchange->request.body_fd >= 0)
        close(exchange->request.body_fd);
    free(exchange->texts);
    free(exchange->fields);
    free(exchange->target);
    free(exchange->body);
    free(exchange);
}

void http_wake(struct http_server *server, const char *key)
{
    size_t at = bucket(key);
    pthread_mutex_lock(&server->lock);
    server->wakes[at] = ++server->wake_count;
    for (struct exchange *next, *one = server->parked[at].first; one; one = next) {
        next = one->next;
        if (strcmp(one->park_key, key) == 0) {
            http_unlink(one);
            one->request.parked_out = false;
            http_enqueue(one);
        }
    }
    pthread_mutex_unlock(&server->lock);
    http_streams_wake(server, key);
}

static struct exchange *take(struct worker *worker)
{
    struct http_server *server = worker->server;
    int classes = worker->index == 0 && server->config.worker_count > 1 ? 2 : HTTP_CLASSES;
    for (int class = 0; class < classes; class ++) {
        struct exchange *first = server->queues[class].first;
        if (first)
            return first;
    }
    return NULL;
}

/* Parks, unless its key was woken since the handler began to look. False: it is answered already.
 */
static bool park(struct exchange *exchange, const struct http_response *response)
{
    struct http_server *server = exchange->listener->server;
    bool kept = true;
    pthread_mutex_lock(&server->lock);
    server->gauges.running--;
    if (exchange->state != EXCHANGE_RUNNING) {
        kept = false;
    } else {
        size_t length = strlen(response->park_key);
        assert(length < sizeof exchange->park_key);
        memcpy(exchange->park_key, response->park_key, length + 1);
        exchange->park_until_ns = response->park_until_ns;
        size_t at = bucket(exchange->park_key);
        if (server->wakes[at] > exchange->wakes_seen) {
            http_enqueue(exchange);
        } else {
            exchange->state = EXCHANGE_PARKED;
            append(&server->parked[at], exchange);
            server->gauges.parked++;
        }
    }
    pthread_mutex_unlock(&server->lock);
    return kept;
}

/* The answer is made before the call ends, since it stands in the call's memory. */
static void answer(struct exchange *exchange, struct http_response *response)
{
    struct http_server *server = exchange->listener->server;
    struct http_made made = http_make(exchange, response);
    http_tell(exchange, made, response, response->code);
    pthread_mutex_lock(&server->lock);
    server->gauges.running--;
    bool late = exchange->state != EXCHANGE_RUNNING; /* the timer was first */
    if (!late)
        http_finish(exchange, made);
    pthread_mutex_unlock(&server->lock);
    if (late)
        MHD_destroy_response(made.response);
    else
        http_resume(exchange);
}

static void run(struct worker *worker, struct exchange *exchange)
{
    const struct http_config *config = &worker->server->config;
    CR_SCOPED(cr_call_close)
    struct cr_call call = cr_call_open(config->env, exchange->deadline_ns);
    struct http_response response = {.file_fd = -1};
    exchange->request.runs++;
    enum http_next next =
        config->handle(&call, config->workers[worker->index], &exchange->request, &response);
    if (next == HTTP_ANSWER || !park(exchange, &response)) {
        if (next == HTTP_ANSWER)
            answer(exchange, &response);
        http_release(exchange);
    }
}

/* Waits until there may be something to take. */
static void rest(struct worker *worker)
{
    struct http_server *server = worker->server;
    if (worker->index == 0 && server->config.worker_count > 1) {
        server->first_idle = true;
        pthread_cond_wait(&server->queued_first, &server->lock);
        server->first_idle = false;
        return;
    }
    server->idle++;
    pthread_cond_wait(&server->queued_more, &server->lock);
    server->idle--;
    server->waking = false;
}

void *http_work(void *context)
{
    struct worker *worker = context;
    struct http_server *server = worker->server;
    pthread_mutex_lock(&server->lock);
    while (!server->stopping) {
        struct exchange *exchange = take(worker);
        if (!exchange) {
            rest(worker);
            continue;
        }
        http_unlink(exchange);
        exchange->state = EXCHANGE_RUNNING;
        exchange->wakes_seen = server->wake_count;
        exchange->request.queue_ns += http_now(server) - exchange->queued_ns;
        server->gauges.running++;
        pthread_cond_t *called = server->gauges.queued > 0 ? call_one(server) : NULL;
        pthread_mutex_unlock(&server->lock);
        signal_it(called);
        run(worker, exchange);
        pthread_mutex_lock(&server->lock);
    }
    pthread_mutex_unlock(&server->lock);
    return NULL;
}
