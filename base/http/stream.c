/*
 * stream: event streams. Frames wait in a ring for the socket thread; the feed thread puts them
 * there.
 *
 * A stream is freed by the feed thread alone, after libmicrohttpd has let its response go; so
 * whoever holds one within a turn of the feed, or within the reader, holds a live one.
 */
#include "base/http/http_internal.h"

#include <assert.h>
#include <string.h>

struct frame {
    size_t size;
    char *bytes;
};

struct http_stream {
    struct http_server *server;
    struct MHD_Connection *connection; /* NULL until the answer is queued */
    struct http_source source;
    char key[HTTP_KEY_SIZE], owner[HTTP_KEY_SIZE];
    struct frame frames[HTTP_STREAM_FRAMES_MAX];
    size_t first, count, size, sent; /* sent: of the first frame */
    bool waiting;                    /* the connection is suspended, until there is a frame */
    bool ended, left, due;
    int64_t fed_ns, wrote_ns, full_ns; /* full_ns: since when there is no room; 0: there is */
    struct http_stream *next;
};

static bool fits(const struct http_stream *stream, size_t size)
{
    return stream->count < HTTP_STREAM_FRAMES_MAX && stream->size + size <= HTTP_STREAM_SIZE_MAX;
}

/* Takes the bytes over. `stream_lock` is held. */
static void push(struct http_stream *stream, char *bytes, size_t size)
{
    stream->frames[(stream->first + stream->count++) % HTTP_STREAM_FRAMES_MAX] =
        (struct frame){size, bytes};
    stream->size += size;
    stream->wrote_ns = http_now(stream->server);
    if (stream->waiting) {
        stream->waiting = false;
        MHD_resume_connection(stream->connection);
    }
}

static void push_text(struct http_stream *stream, const char *text)
{
    char *bytes = strdup(text);
    assert(bytes);
    push(stream, bytes, strlen(text));
}

static void pop(struct http_stream *stream)
{
    struct frame *first = &stream->frames[stream->first];
    stream->size -= first->size;
    free(first->bytes);
    *first = (struct frame){0};
    stream->first = (stream->first + 1) % HTTP_STREAM_FRAMES_MAX;
    stream->count--;
    stream->sent = 0;
}

static void destroy(struct http_stream *stream)
{
    while (stream->count > 0)
        pop(stream);
    if (stream->source.close)
        stream->source.close(stream->source.state);
    free(stream);
}

static void copy_key(char ret_key[HTTP_KEY_SIZE], const char *key)
{
    size_t length = strlen(key);
    assert(length < HTTP_KEY_SIZE);
    memcpy(ret_key, key, length + 1);
}

/* Why one more may not be opened; NULL: it may. `stream_lock` is held. */
static const struct cr_code *refusal(const struct http_server *server,
                                     const struct http_source *source)
{
    size_t max = server->config.streams_max ? server->config.streams_max : HTTP_STREAMS_SHARED_MAX;
    if (server->streams_refused)
        return &cr_code_draining;
    if (server->stream_count >= (int64_t)max)
        return &cr_code_overloaded;
    size_t count = 0;
    for (const struct http_stream *stream = server->streams; stream; stream = stream->next)
        count += source->owner && !stream->left && strcmp(stream->owner, source->owner) == 0;
    return source->owner && count >= source->owner_max ? &cr_code_too_many_streams : NULL;
}

struct http_stream *http_stream_open(struct http_server *server, const struct http_source *source,
                                     const struct cr_code **ret_code)
{
    struct http_stream *stream = calloc(1, sizeof *stream);
    assert(stream);
    stream->server = server;
    stream->source = *source;
    stream->due = true;
    copy_key(stream->key, source->key);
    copy_key(stream->owner, source->owner ? source->owner : "");
    push_text(stream, HTTP_STREAM_RETRY);

    pthread_mutex_lock(&server->stream_lock);
    *ret_code = refusal(server, source);
    if (!*ret_code) {
        server->stream_count++;
        stream->next = server->streams;
        server->streams = stream;
        pthread_cond_signal(&server->feed_due);
    }
    pthread_mutex_unlock(&server->stream_lock);
    if (*ret_code) {
        destroy(stream);
        return NULL;
    }
    return stream;
}

/* The reader, on the socket thread. Nothing there: the connection sleeps until the feed wakes it.
 */
static ssize_t read_frames(void *context, uint64_t position, char *buffer, size_t max)
{
    (void)position;
    struct http_stream *stream = context;
    struct http_server *server = stream->server;
    size_t copied = 0;
    pthread_mutex_lock(&server->stream_lock);
    while (stream->count > 0 && copied < max) {
        const struct frame *first = &stream->frames[stream->first];
        size_t size = first->size - stream->sent;
        if (size > max - copied)
            size = max - copied;
        memcpy(buffer + copied, first->bytes + stream->sent, size);
        copied += size;
        stream->sent += size;
        if (stream->sent == first->size)
            pop(stream);
    }
    bool ended = stream->ended && copied == 0;
    if (copied > 0)
        stream->full_ns = 0;
    if (copied == 0 && !ended) {
        stream->waiting = true;
        MHD_suspend_connection(stream->connection);
    }
    pthread_mutex_unlock(&server->stream_lock);
    return ended ? MHD_CONTENT_READER_END_OF_STREAM : (ssize_t)copied;
}

static void leave(void *context)
{
    struct http_stream *stream = context;
    struct http_server *server = stream->server;
    pthread_mutex_lock(&server->stream_lock);
    stream->left = true;
    stream->waiting = false;
    server->stream_count--;
    pthread_cond_signal(&server->feed_due);
    pthread_mutex_unlock(&server->stream_lock);
}

struct MHD_Response *http_stream_response(struct http_stream *stream)
{
    struct MHD_Response *made =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read_frames, stream, leave);
    assert(made);
    return made;
}

void http_stream_begin(struct http_stream *stream, struct MHD_Connection *connection)
{
    pthread_mutex_lock(&stream->server->stream_lock);
    stream->connection = connection;
    pthread_mutex_unlock(&stream->server->stream_lock);
}

static void end(struct http_stream *stream)
{
    stream->ended = true;
    if (stream->waiting) {
        stream->waiting = false;
        MHD_resume_connection(stream->connection);
    }
}

void http_stream_end(struct http_stream *stream)
{
    pthread_mutex_lock(&stream->server->stream_lock);
    end(stream);
    pthread_mutex_unlock(&stream->server->stream_lock);
}

void http_streams_end(struct http_server *server)
{
    pthread_mutex_lock(&server->stream_lock);
    server->streams_refused = true;
    for (struct http_stream *stream = server->streams; stream; stream = stream->next)
        end(stream);
    pthread_mutex_unlock(&server->stream_lock);
}

void http_streams_wake(struct http_server *server, const char *key)
{
    pthread_mutex_lock(&server->stream_lock);
    for (struct http_stream *stream = server->streams; stream; stream = stream->next)
        if (strcmp(stream->key, key) == 0) {
            stream->due = true;
            pthread_cond_signal(&server->feed_due);
        }
    pthread_mutex_unlock(&server->stream_lock);
}

size_t http_stream_room(const struct http_stream *stream)
{
    pthread_mutex_lock(&stream->server->stream_lock);
    bool full = stream->ended || stream->left || stream->size >= HTTP_STREAM_SIZE_MAX / 2;
    size_t room = full ? 0 : HTTP_STREAM_FRAMES_MAX - stream->count;
    pthread_mutex_unlock(&stream->server->stream_lock);
    return room;
}

/* A frame: each line of the data gets its `data: `; an empty line ends it. */
static char *frame(const char *id, const char *event, const char *data, size_t data_size,
                   size_t *ret_size)
{
    char *bytes = NULL;
    FILE *out = open_memstream(&bytes, ret_size);
    assert(out);
    if (id)
        fprintf(out, "id: %s\n", id);
    if (event)
        fprintf(out, "event: %s\n", event);
    for (size_t at = 0; at <= data_size;) {
        const char *stop = data_size > at ? memchr(data + at, '\n', data_size - at) : NULL;
        size_t length = stop ? (size_t)(stop - data) - at : data_size - at;
        fputs("data: ", out);
        if (length > 0)
            fwrite(data + at, 1, length, out);
        fputc('\n', out);
        at += length + 1;
    }
    fputc('\n', out);
    int closed = fclose(out);
    assert(closed == 0);
    return bytes;
}

bool http_stream_write(struct http_stream *stream, const char *id, const char *event,
                       const char *data, size_t data_size)
{
    size_t size = 0;
    char *bytes = frame(id, event, data, data_size, &size);
    struct http_server *server = stream->server;
    pthread_mutex_lock(&server->stream_lock);
    /* one that is longer than the ring itself goes out alone */
    bool written = !stream->ended && (fits(stream, size) || stream->count == 0);
    if (written)
        push(stream, bytes, size);
    else if (!stream->full_ns)
        stream->full_ns = http_now(server);
    pthread_mutex_unlock(&server->stream_lock);
    if (!written)
        free(bytes);
    return written;
}

/* Keeps the line warm, and ends who does not read: one frame beyond the ring says so. */
static void tend(struct http_stream *stream, int64_t now)
{
    pthread_mutex_lock(&stream->server->stream_lock);
    if (!stream->full_ns && stream->size >= HTTP_STREAM_SIZE_MAX / 2)
        stream->full_ns = now;
    if (!stream->ended && stream->full_ns && now - stream->full_ns >= HTTP_STREAM_SLOW_NS) {
        if (stream->count == HTTP_STREAM_FRAMES_MAX) { /* the last gives its place to the gap */
            struct frame *last =
                &stream->frames[(stream->first + stream->count - 1) % HTTP_STREAM_FRAMES_MAX];
            stream->size -= last->size;
            free(last->bytes);
            stream->count--;
        }
        push_text(stream, "event: gap\ndata: {}\n\n");
        end(stream);
    } else if (!stream->ended && now - stream->wrote_ns >= HTTP_STREAM_BEAT_NS &&
               stream->count == 0) {
        push_text(stream, ":\n\n");
    }
    pthread_mutex_unlock(&stream->server->stream_lock);
}

static void fill(struct http_stream *stream, int64_t now)
{
    const struct http_config *config = &stream->server->config;
    CR_SCOPED(cr_call_close)
    struct cr_call call = cr_call_open(config->env, now + HTTP_DEADLINE_NS);
    enum cr_status status =
        stream->source.feed(&call, config->feeder, stream->source.state, stream);
    if (status == CR_OK)
        return;
    const char *word = call.code ? call.code->word : cr_status_word(status);
    const char *text = cr_format(&call, "{\"code\":\"%s\"}", word);
    http_stream_write(stream, NULL, "error", text, strlen(text));
    http_stream_end(stream);
}

/* Takes those out that were left, and gives those that are to be fed now. `stream_lock` is held. */
static size_t sort_out(struct http_server *server, int64_t now, struct http_stream **ret_left,
                       struct http_stream **due)
{
    size_t count = 0;
    *ret_left = NULL;
    for (struct http_stream **at = &server->streams; *at;) {
        struct http_stream *stream = *at;
        if (stream->left) {
            *at = stream->next;
            stream->next = *ret_left;
            *ret_left = stream;
            continue;
        }
        if (!stream->ended && (stream->due || now - stream->fed_ns >= HTTP_STREAM_POLL_NS) &&
            count < HTTP_STREAMS_MAX) {
            stream->due = false;
            stream->fed_ns = now;
            due[count++] = stream;
        }
        at = &stream->next;
    }
    return count;
}

void *http_feed(void *context)
{
    struct http_server *server = context;
    struct http_stream **due = calloc(HTTP_STREAMS_MAX, sizeof *due);
    assert(due);
    pthread_mutex_lock(&server->stream_lock);
    while (!server->feed_stopping) {
        struct http_stream *left;
        int64_t now = http_now(server);
        size_t count = sort_out(server, now, &left, due);
        pthread_mutex_unlock(&server->stream_lock);
        for (struct http_stream *next; left; left = next) {
            next = left->next;
            destroy(left);
        }
        for (size_t i = 0; i < count; i++) {
            fill(due[i], now);
            tend(due[i], now);
        }
        pthread_mutex_lock(&server->stream_lock);
        bool more = false;
        for (struct http_stream *stream = server->streams; stream; stream = stream->next)
            more |= stream->left || (stream->due && !stream->ended);
        if (!more && !server->feed_stopping)
            http_wait(&server->feed_due, &server->stream_lock, HTTP_TICK_NS);
    }
    pthread_mutex_unlock(&server->stream_lock);
    free(due);
    return NULL;
}

void http_streams_close(struct http_server *server)
{
    pthread_mutex_lock(&server->stream_lock);
    server->feed_stopping = true;
    pthread_cond_signal(&server->feed_due);
    pthread_mutex_unlock(&server->stream_lock);
    if (server->feed_started)
        pthread_join(server->feed, NULL);
    for (struct http_stream *next, *stream = server->streams; stream; stream = next) {
        next = stream->next;
        destroy(stream);
    }
}
