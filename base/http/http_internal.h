/*
 * http_internal: what the files of base/http share.
 *
 * Threads   `lock` guards the mailbox, the parking lot, the lists and each exchange's state; it is
 * held for a few instructions, and while libmicrohttpd is told to resume (whose own lock is taken
 *           inside ours, never around it). An exchange's request is the socket thread's until it is
 *           queued, then the worker's. Frames of streams have stream_lock, taken inside `lock` or
 * alone
 */
#pragma once

#include "base/http/http.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#define HTTP_PARK_BUCKETS 1024 /* of keys that are waited for */
#define HTTP_TICK_NS      INT64_C(100000000)
#define HTTP_ID_RANDOM    10 /* bytes in a ULID */
#define HTTP_BULK_WRITE   65536
#define HTTP_STREAM_RETRY "retry: 2000\n\n"

enum link_phase { LINK_HEAD, LINK_BODY, LINK_BUSY, LINK_IDLE };

/*
 * One connection, as the timer sees it. The socket thread writes what is atomic, the timer only
 * looks: it may be a tick late, which no deadline here minds.
 */
struct link {
    struct http_listener *listener;
    int fd;                   /* the timer's: -1 once it has cut it */
    atomic_int phase;         /* enum link_phase */
    _Atomic int64_t since_ns; /* the phase's beginning */
    _Atomic int64_t body_size;
    int ends; /* how often in turn the client's side was seen shut */
    struct link *next, *previous;
};

enum exchange_state {
    EXCHANGE_TAKING, /* head and body are coming in */
    EXCHANGE_QUEUED,
    EXCHANGE_RUNNING,
    EXCHANGE_PARKED,
    EXCHANGE_ANSWERED, /* resumed, or about to be */
    EXCHANGE_SENT,
};

/* An answer as libmicrohttpd takes it. */
struct http_made {
    int status;
    struct MHD_Response *response;
    size_t size;                /* of its body; 0 for streams */
    struct http_stream *stream; /* that the response reads; NULL for most */
};

/* One request and its answer. Two owners at most: the connection, and the mailbox with its worker.
 */
struct exchange {
    struct http_request request;
    struct http_listener *listener;
    struct MHD_Connection *connection;
    struct link *link;
    atomic_int owners;
    atomic_int state; /* enum exchange_state; changed under `lock`, but by the socket thread */
    bool headed, refused;
    struct http_plan plan;
    char *texts; /* behind the request's head */
    struct http_field *fields;
    char *target, *body;
    size_t body_capacity;
    int64_t deadline_ns, queued_ns;
    uint64_t wakes_seen;
    char park_key[HTTP_KEY_SIZE];
    int64_t park_until_ns;
    struct http_made made;
    char id[40];
    struct exchange *next, *previous;           /* of the mailbox, or of a bucket */
    struct exchange *live_next, *live_previous; /* of all that are suspended */
};

struct queue {
    struct exchange *first, *last;
};

struct http_listener {
    struct http_server *server;
    size_t index;
    int port;
    bool local;
    char path[108]; /* of AF_UNIX, to be removed; "" otherwise */
    int fd;
    struct MHD_Daemon *daemon;
    bool quiesced;
    unsigned char random[HTTP_ID_RANDOM * 64]; /* for ids to come */
    size_t random_left;
};

struct worker {
    struct http_server *server;
    size_t index;
    pthread_t thread;
    bool started;
};

struct http_server {
    struct http_config config;
    struct http_listener listeners[HTTP_LISTENERS_MAX];
    struct worker workers[HTTP_WORKERS_MAX];
    pthread_t timer, feed;
    bool timer_started, feed_started;
    pthread_mutex_t lock;
    pthread_cond_t queued_more;  /* for workers of all classes */
    pthread_cond_t queued_first; /* for worker 0, which serves classes 0 and 1 alone */
    size_t idle;                 /* workers of all classes that wait */
    bool waking;                 /* one of them has been called, and has not come yet */
    bool first_idle;
    struct queue queues[HTTP_CLASSES];
    struct queue parked[HTTP_PARK_BUCKETS];
    uint64_t wakes[HTTP_PARK_BUCKETS]; /* when a key of the bucket was woken last */
    uint64_t wake_count;
    struct exchange *live;
    struct link *links;
    struct http_gauges gauges;
    bool draining, stopping;
    pthread_cond_t tick;
    pthread_mutex_t stream_lock;
    pthread_cond_t feed_due;
    bool feed_stopping, streams_refused;
    int64_t stream_count;
    struct http_stream *streams;
};

/* Who reads the clock where no call is open. */
int64_t http_now(const struct http_server *server);

/*
 * mailbox.c. All but http_submit, http_resume and http_release want `lock` held. http_finish leaves
 * the connection suspended: whoever called it resumes it when it has let the lock go.
 */
void http_submit(struct exchange *exchange);
void http_enqueue(struct exchange *exchange);
void http_unlink(struct exchange *exchange); /* out of the mailbox or its bucket */
void http_finish(struct exchange *exchange, struct http_made made);
void http_resume(struct exchange *exchange);
void http_release(struct exchange *exchange);
void *http_work(void *worker);

/* answer.c: what is sent. A response that is made is the caller's, to be queued or destroyed. */
struct http_made http_make(const struct exchange *exchange, struct http_response *response);
struct http_made http_make_problem(const struct http_server *server, const char *id,
                                   const struct cr_code *code, const char *why, bool closing);
void http_tell(const struct exchange *exchange, struct http_made made,
               const struct http_response *response, const char *code);

/* access.c: libmicrohttpd's callbacks. */
enum MHD_Result http_access(void *context, struct MHD_Connection *connection, const char *url,
                            const char *method, const char *version, const char *data, size_t *size,
                            void **request);
void *http_begin(void *listener, const char *uri, struct MHD_Connection *connection);
void http_completed(void *context, struct MHD_Connection *connection, void **request,
                    enum MHD_RequestTerminationCode how);
void http_connected(void *context, struct MHD_Connection *connection, void **ret_link,
                    enum MHD_ConnectionNotificationCode how);
size_t http_unescape(void *listener, struct MHD_Connection *connection, char *text);

/* timer.c */
void *http_time(void *server);
void http_cut(struct link *link, const struct cr_code *code);    /* a raw answer, then the end */
void http_end_waiting(struct http_server *server, bool running); /* running: those as well */
void http_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t wait_ns);

/* listen.c */
enum cr_status http_listen_open(struct cr_call *call, const struct http_listen *listen,
                                struct http_listener *listener) CR_CHECK;
void http_listen_close(struct http_listener *listener);

/* stream.c */
/* NULL: not now; ret_code says why. The source is closed then. */
struct http_stream *http_stream_open(struct http_server *server, const struct http_source *source,
                                     const struct cr_code **ret_code);
struct MHD_Response *http_stream_response(struct http_stream *stream);
void http_stream_begin(struct http_stream *stream, struct MHD_Connection *connection);
void *http_feed(void *server);
void http_streams_wake(struct http_server *server, const char *key);
void http_streams_end(struct http_server *server);   /* and opens no more */
void http_streams_close(struct http_server *server); /* after the daemons */
