/* access: what libmicrohttpd calls on a listener's socket thread. None of it blocks. */
#include "base/core/id.h"
#include "base/http/head.h"
#include "base/http/http_internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

size_t http_unescape(void *listener, struct MHD_Connection *connection, char *text)
{
    (void)listener;
    (void)connection;
    return strlen(text); /* head.c decodes the path, once, from what came on the wire */
}

static void enter(struct link *link, enum link_phase phase)
{
    atomic_store_explicit(&link->since_ns, http_now(link->listener->server), memory_order_relaxed);
    atomic_store_explicit(&link->body_size, 0, memory_order_relaxed);
    atomic_store_explicit(&link->phase, (int)phase, memory_order_release);
}

void http_connected(void *context, struct MHD_Connection *connection, void **ret_link,
                    enum MHD_ConnectionNotificationCode how)
{
    struct http_listener *listener = context;
    struct http_server *server = listener->server;
    if (how == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        struct link *link = calloc(1, sizeof *link);
        assert(link && info);
        link->listener = listener;
        link->fd = info->connect_fd;
        enter(link, LINK_HEAD);
        pthread_mutex_lock(&server->lock);
        link->next = server->links;
        if (link->next)
            link->next->previous = link;
        server->links = link;
        server->gauges.connections++;
        pthread_mutex_unlock(&server->lock);
        *ret_link = link;
        return;
    }
    struct link *link = *ret_link;
    pthread_mutex_lock(&server->lock);
    *(link->previous ? &link->previous->next : &server->links) = link->next;
    if (link->next)
        link->next->previous = link->previous;
    server->gauges.connections--;
    pthread_mutex_unlock(&server->lock);
    free(link);
}

/* Random bytes for an id; the system is asked once for many. Of the listener's socket thread. */
static void draw(struct http_listener *listener, unsigned char *ret_random)
{
    const struct cr_env *env = listener->server->config.env;
    if (listener->random_left < HTTP_ID_RANDOM) {
        env->random(env->context, listener->random, sizeof listener->random);
        listener->random_left = sizeof listener->random;
    }
    listener->random_left -= HTTP_ID_RANDOM;
    memcpy(ret_random, listener->random + listener->random_left, HTTP_ID_RANDOM);
}

void *http_begin(void *context, const char *uri, struct MHD_Connection *connection)
{
    struct http_listener *listener = context;
    const struct cr_env *env = listener->server->config.env;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct exchange *exchange = calloc(1, sizeof *exchange);
    assert(exchange && info);
    exchange->listener = listener;
    exchange->connection = connection;
    exchange->link = info->socket_context;
    exchange->owners = 1;
    exchange->request.body_fd = -1;
    exchange->target = strdup(uri);
    assert(exchange->target);
    unsigned char random[HTTP_ID_RANDOM];
    draw(listener, random);
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(env, INT64_MAX);
    snprintf(exchange->id, sizeof exchange->id, "%s",
             cr_id_of(&call, "req", env->utc_us(env->context) / 1000, random));
    enter(exchange->link, LINK_HEAD);
    return exchange;
}

/* Field by field, as it was parsed; one more than allowed is enough to refuse it. */
struct gathered {
    struct http_span names[HTTP_FIELDS_MAX + 1], values[HTTP_FIELDS_MAX + 1];
    size_t count, size;
};

static enum MHD_Result gather(void *context, enum MHD_ValueKind kind, const char *name,
                              size_t name_size, const char *value, size_t value_size)
{
    (void)kind;
    struct gathered *all = context;
    if (all->count > HTTP_FIELDS_MAX)
        return MHD_NO;
    all->names[all->count] = (struct http_span){name, name_size};
    all->values[all->count++] = (struct http_span){value ? value : "", value ? value_size : 0};
    all->size += name_size + value_size + 2;
    return MHD_YES;
}

static char *put(char **at, struct http_span span)
{
    char *start = *at;
    memcpy(start, span.bytes, span.size);
    start[span.size] = '\0';
    *at += span.size + 1;
    return start;
}

/* Copies the head: libmicrohttpd's own may move while the request waits. */
static void keep(struct exchange *exchange, const char *method, const struct gathered *all)
{
    struct http_request *request = &exchange->request;
    size_t target_size = strlen(exchange->target);
    char *at = exchange->texts = malloc(all->size + strlen(method) + 1 + target_size + 1);
    exchange->fields = calloc(all->count + 1, sizeof *exchange->fields);
    assert(at && exchange->fields);
    for (size_t i = 0; i < all->count; i++) {
        exchange->fields[i].name = put(&at, all->names[i]);
        exchange->fields[i].value = put(&at, all->values[i]);
    }
    request->method = put(&at, (struct http_span){method, strlen(method)});
    bool decoded = http_path_decode(exchange->target, target_size, at);
    assert(decoded); /* the head check has seen it */
    const char *mark = strchr(exchange->target, '?');
    request->path = at;
    request->query = mark ? mark + 1 : NULL;
    request->target = exchange->target;
    request->fields = exchange->fields;
    request->field_count = all->count;
    request->id = exchange->id;
    request->listener = exchange->listener->index;
    request->local = exchange->listener->local;
    request->arrived_ns = http_now(exchange->listener->server);
}

/* Sent from the socket thread, at once; the connection ends with it where the body is not read. */
static enum MHD_Result refuse(struct exchange *exchange, const struct cr_code *code,
                              const char *why)
{
    const struct http_server *server = exchange->listener->server;
    struct http_made made = http_make_problem(server, exchange->id, code, why, true);
    exchange->state = EXCHANGE_SENT;
    http_tell(exchange, made, NULL, code->word);
    enum MHD_Result queued =
        MHD_queue_response(exchange->connection, (unsigned)made.status, made.response);
    MHD_destroy_response(made.response);
    return queued;
}

/* O_TMPFILE: the bytes have no name, so nothing is left of them when the process ends. */
static bool open_bulk(struct exchange *exchange)
{
    exchange->request.body_fd =
        open(exchange->listener->server->config.bulk_dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return exchange->request.body_fd >= 0;
}

static enum MHD_Result grant(struct exchange *exchange)
{
    struct http_server *server = exchange->listener->server;
    struct http_plan *plan = &exchange->plan;
    *plan = (struct http_plan){.class = 3, .body_size_max = HTTP_BODY_SIZE_MAX};
    server->config.plan(server->config.owner, &exchange->request, plan);
    assert(plan->class >= 0 && plan->class < HTTP_CLASSES);
    exchange->request.tag = plan->tag;
    exchange->deadline_ns =
        exchange->request.arrived_ns + (plan->deadline_ns ? plan->deadline_ns : HTTP_DEADLINE_NS);
    const char *length = http_field_of(&exchange->request, "Content-Length");
    if (length && strlen(length) > 18)
        return refuse(exchange, &cr_code_body_too_large, "the body is longer than its limit");
    if (length && strtoll(length, NULL, 10) > plan->body_size_max)
        return refuse(exchange, &cr_code_body_too_large, "the body is longer than its limit");
    bool body = (length && strcmp(length, "0") != 0) ||
                http_field_of(&exchange->request, "Transfer-Encoding");
    if (body && plan->body_to_file && !open_bulk(exchange))
        return refuse(exchange, &cr_code_overloaded, "there is no room for a body");
    enter(exchange->link, body ? LINK_BODY : LINK_BUSY);
    return MHD_YES;
}

static enum MHD_Result take_head(struct exchange *exchange, const char *method, const char *version)
{
    static _Thread_local struct gathered all; /* too long to be cleared for each request */
    all.count = all.size = 0;
    MHD_get_connection_values_n(exchange->connection, MHD_HEADER_KIND, gather, &all);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    struct http_head head = {
        .method = {method, strlen(method)},
        .target = {exchange->target, strlen(exchange->target)},
        .version = {version, strlen(version)},
        .names = all.names,
        .values = all.values,
        .field_count = all.count,
        .wire_size = info->header_size,
    };
    const char *why = "";
    const struct cr_code *code =
        http_head_check(&head, exchange->listener->server->config.hosts, &why);
    if (code)
        return refuse(exchange, code, why);
    keep(exchange, method, &all);
    exchange->headed = true;
    return grant(exchange);
}

static void grow(struct exchange *exchange, size_t size)
{
    if (size < exchange->body_capacity)
        return;
    size_t capacity = exchange->body_capacity ? exchange->body_capacity : 1024;
    while (capacity <= size)
        capacity *= 2;
    exchange->body = realloc(exchange->body, capacity);
    assert(exchange->body);
    exchange->body_capacity = capacity;
}

static bool write_bulk(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, data, size < HTTP_BULK_WRITE ? size : HTTP_BULK_WRITE);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        data += written;
        size -= (size_t)written;
    }
    return true;
}

static enum MHD_Result cut(struct exchange *exchange, const struct cr_code *code)
{
    struct http_server *server = exchange->listener->server;
    pthread_mutex_lock(&server->lock);
    http_cut(exchange->link, code);
    pthread_mutex_unlock(&server->lock);
    return MHD_NO;
}

/* Part of a body. libmicrohttpd takes no answer amid a body, so that a raw one ends it. */
static enum MHD_Result take_body(struct exchange *exchange, const char *data, size_t size)
{
    struct http_request *request = &exchange->request;
    if (request->body_size + size > (size_t)exchange->plan.body_size_max)
        return cut(exchange, &cr_code_body_too_large);
    if (request->body_fd >= 0) {
        if (!write_bulk(request->body_fd, data, size))
            return cut(exchange, &cr_code_overloaded);
    } else {
        grow(exchange, request->body_size + size);
        memcpy(exchange->body + request->body_size, data, size);
    }
    request->body_size += size;
    atomic_store_explicit(&exchange->link->body_size, (int64_t)request->body_size,
                          memory_order_relaxed);
    return MHD_YES;
}

static enum MHD_Result submit(struct exchange *exchange)
{
    struct http_request *request = &exchange->request;
    if (MHD_get_connection_values(exchange->connection, MHD_FOOTER_KIND, NULL, NULL) > 0)
        return refuse(exchange, &http_bad_head, "a trailer is not taken");
    if (exchange->body) {
        exchange->body[request->body_size] = '\0';
        request->body = exchange->body;
    }
    enter(exchange->link, LINK_BUSY);
    MHD_suspend_connection(exchange->connection);
    http_submit(exchange);
    return MHD_YES;
}

static enum MHD_Result send_answer(struct exchange *exchange, struct http_made made)
{
    if (made.stream)
        http_stream_begin(made.stream, exchange->connection);
    enum MHD_Result queued =
        MHD_queue_response(exchange->connection, (unsigned)made.status, made.response);
    MHD_destroy_response(made.response);
    return queued;
}

enum MHD_Result http_access(void *context, struct MHD_Connection *connection, const char *url,
                            const char *method, const char *version, const char *data, size_t *size,
                            void **request)
{
    (void)connection;
    (void)url;
    struct exchange *exchange = *request;
    (void)context;
    if (!exchange->headed)
        return take_head(exchange, method, version);
    if (*size > 0) {
        enum MHD_Result taken = take_body(exchange, data, *size);
        *size = 0;
        return taken;
    }
    if (atomic_load(&exchange->state) != EXCHANGE_ANSWERED)
        return submit(exchange);
    atomic_store(&exchange->state, EXCHANGE_SENT);
    return send_answer(exchange, exchange->made);
}

void http_completed(void *context, struct MHD_Connection *connection, void **request,
                    enum MHD_RequestTerminationCode how)
{
    (void)context;
    (void)connection;
    (void)how;
    struct exchange *exchange = *request;
    if (!exchange)
        return;
    if (exchange->state == EXCHANGE_TAKING)
        http_tell(exchange, (struct http_made){.status = exchange->headed ? 0 : 400}, NULL,
                  exchange->headed ? "client_left" : http_bad_head.word);
    if (exchange->state == EXCHANGE_ANSWERED) /* made, and then the connection was lost */
        MHD_destroy_response(exchange->made.response);
    enter(exchange->link, LINK_IDLE);
    http_release(exchange);
    *request = NULL;
}
