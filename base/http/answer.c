/* answer: responses as libmicrohttpd takes them: bytes, files and parts of them, streams, problems.
 */
#include "base/http/http_internal.h"

#include <assert.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

const char *http_field_of(const struct http_request *request, const char *name)
{
    for (size_t i = 0; i < request->field_count; i++)
        if (strcasecmp(request->fields[i].name, name) == 0)
            return request->fields[i].value;
    return NULL;
}

void http_answer_field(struct http_response *response, const char *name, const char *value)
{
    assert(response->field_count < HTTP_ANSWER_FIELDS_MAX);
    response->fields[response->field_count++] = (struct http_field){name, value};
}

enum http_next http_park(struct http_response *response, const char *key, int64_t until_ns)
{
    response->park_key = key;
    response->park_until_ns = until_ns;
    return HTTP_PARK;
}

static void add(struct MHD_Response *made, const char *name, const char *value)
{
    enum MHD_Result added = MHD_add_response_header(made, name, value);
    assert(added == MHD_YES); /* names and values are ours, and hold no control byte */
}

static struct MHD_Response *of_bytes(const void *bytes, size_t size)
{
    /* MUST_COPY: libmicrohttpd does not write to what it copies */
    union {
        const void *read;
        void *written;
    } body = {.read = bytes ? bytes : ""};
    struct MHD_Response *made =
        MHD_create_response_from_buffer(size, body.written, MHD_RESPMEM_MUST_COPY);
    assert(made);
    return made;
}

/* A number that ends where stop stands; -1 for none. */
static int64_t number(const char **text, char stop)
{
    int64_t value = 0;
    const char *at = *text;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *at - '0', &value))
            return -1;
    if (at == *text || *at != stop)
        return -1;
    *text = at + (stop ? 1 : 0);
    return value;
}

enum range { RANGE_WHOLE, RANGE_PART, RANGE_BAD };

/* RFC 9110 section 14: one range of bytes; what is not one is served as if it were not there. */
static enum range range_of(const char *text, int64_t size, int64_t *ret_first, int64_t *ret_count)
{
    if (!text || strncmp(text, "bytes=", 6) != 0 || strchr(text, ','))
        return RANGE_WHOLE;
    text += 6;
    int64_t first, last = size - 1;
    if (*text == '-') {
        text++;
        int64_t tail = number(&text, '\0');
        if (tail < 0)
            return RANGE_WHOLE;
        first = tail < size ? size - tail : 0;
        if (tail == 0)
            return RANGE_BAD;
    } else {
        first = number(&text, '-');
        int64_t end = *text ? number(&text, '\0') : last;
        if (first < 0 || end < 0 || end < first)
            return first >= 0 && end < first && !*text && first >= size ? RANGE_BAD : RANGE_WHOLE;
        last = end < last ? end : last;
    }
    if (first >= size)
        return RANGE_BAD;
    *ret_first = first;
    *ret_count = last - first + 1;
    return RANGE_PART;
}

static struct http_made of_file(const struct exchange *exchange, struct http_response *response)
{
    int64_t first = 0, count = response->file_size;
    char text[96];
    struct http_made made = {.status = response->status};
    const char *asked = response->file_whole ? NULL : http_field_of(&exchange->request, "Range");
    enum range range = response->status == 200
                           ? range_of(asked, response->file_size, &first, &count)
                           : RANGE_WHOLE;
    if (range == RANGE_BAD) {
        close(response->file_fd);
        made.status = 416;
        made.response = of_bytes(NULL, 0);
        snprintf(text, sizeof text, "bytes */%lld", (long long)response->file_size);
        add(made.response, "Content-Range", text);
        return made;
    }
    made.size = (size_t)count;
    made.response = count ? MHD_create_response_from_fd_at_offset64(
                                (uint64_t)count, response->file_fd, (uint64_t)first)
                          : of_bytes(NULL, 0);
    assert(made.response);
    if (!count)
        close(response->file_fd);
    if (range == RANGE_PART) {
        made.status = 206;
        snprintf(text, sizeof text, "bytes %lld-%lld/%lld", (long long)first,
                 (long long)(first + count - 1), (long long)response->file_size);
        add(made.response, "Content-Range", text);
    }
    if (!response->file_whole)
        add(made.response, "Accept-Ranges", "bytes");
    return made;
}

static struct http_made of_stream(const struct exchange *exchange, struct http_response *response)
{
    struct http_server *server = exchange->listener->server;
    const struct cr_code *code;
    struct http_stream *stream = http_stream_open(server, &response->source, &code);
    if (!stream)
        return http_make_problem(server, exchange->id, code, "no more streams are opened now",
                                 false);
    struct http_made made = {.status = 200, .stream = stream};
    made.response = http_stream_response(stream);
    add(made.response, "Content-Type", "text/event-stream");
    return made;
}

struct http_made http_make(const struct exchange *exchange, struct http_response *response)
{
    struct http_made made;
    if (response->source.feed)
        made = of_stream(exchange, response);
    else if (response->file_fd >= 0)
        made = of_file(exchange, response);
    else
        made = (struct http_made){.status = response->status,
                                  .response = of_bytes(response->body, response->body_size),
                                  .size = response->body_size};
    if (response->source.feed && !made.stream)
        return made;
    add(made.response, "X-Request-Id", exchange->id);
    add(made.response, "X-Content-Type-Options", "nosniff");
    for (size_t i = 0; i < response->field_count; i++)
        add(made.response, response->fields[i].name, response->fields[i].value);
    return made;
}

struct http_made http_make_problem(const struct http_server *server, const char *id,
                                   const struct cr_code *code, const char *why, bool closing)
{
    char body[1024];
    int length = snprintf(body, sizeof body,
                          "{\"type\":\"%s%s\",\"title\":\"%s\",\"status\":%d,\"detail\":\"%s\","
                          "\"code\":\"%s\",\"request_id\":\"%s\",\"retryable\":%s}",
                          server->config.problem_base, code->word, code->title, code->http, why,
                          code->word, id, code->retryable ? "true" : "false");
    assert(length > 0 && (size_t)length < sizeof body);
    struct http_made made = {.status = code->http, .size = (size_t)length};
    made.response = of_bytes(body, (size_t)length);
    add(made.response, "Content-Type", "application/problem+json");
    add(made.response, "Cache-Control", "no-store");
    add(made.response, "X-Content-Type-Options", "nosniff");
    add(made.response, "X-Request-Id", id);
    if (code->http == 503 || code->http == 429)
        add(made.response, "Retry-After", "2");
    if (closing)
        add(made.response, "Connection", "close");
    return made;
}

void http_tell(const struct exchange *exchange, struct http_made made,
               const struct http_response *response, const char *code)
{
    const struct http_server *server = exchange->listener->server;
    if (!server->config.ended)
        return;
    const struct http_request *request = exchange->headed ? &exchange->request : NULL;
    struct http_ended ended = {
        .request = request,
        .listener = exchange->listener->index,
        .status = made.status,
        .code = code,
        .tenant = response ? response->tenant : NULL,
        .reason = response ? response->reason : NULL,
        .total_ns = request ? http_now(server) - request->arrived_ns : 0,
        .queue_ns = request ? request->queue_ns : 0,
        .work_ns = response ? response->work_ns : 0,
        .answer_size = made.size,
    };
    server->config.ended(server->config.owner, &ended);
}
