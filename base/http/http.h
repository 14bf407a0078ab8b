/*
 * http: the edge. The door of libmicrohttpd 0.9.75, hardened.
 *
 * A server has listeners, workers, one timer and one feed. A listener is one socket thread that
 * never blocks: it checks the head (head.h), collects the body, suspends the connection and puts
 * the request into the mailbox. A worker takes it out, runs the owner's handler in straight lines,
 * and resumes the connection; the socket thread sends the answer. The timer ends what is late, the
 * feed fills streams. Nothing here knows a route: the owner says by `plan` what a request may
 * carry, by `handle` what it answers.
 *
 * Units     *_ns are nanoseconds of env's now_ns, *_size bytes
 * Threads   plan and ended run on a socket thread, the timer or a worker: they must not block.
 * handle runs on one worker at a time for a request, feed on the feed thread alone Source
 * surface.md section 1; RFC 9110, 9112; WHATWG HTML section 9.2 (event streams)
 */
#pragma once

#include "base/core/codes.h"

#define HTTP_HEAD_SIZE_MAX      16384 /* request line and fields */
#define HTTP_POOL_SIZE          32768 /* of a connection: head, buffers */
#define HTTP_TARGET_SIZE_MAX    8192
#define HTTP_FIELDS_MAX         64
#define HTTP_QUERY_MEMBERS_MAX  32
#define HTTP_BODY_SIZE_MAX      1048576           /* of a body that is kept in memory */
#define HTTP_BULK_SIZE_MAX      (256L * 1048576L) /* of one that goes to a file */
#define HTTP_CONNECTIONS_MAX    8192
#define HTTP_QUEUED_MAX         1024
#define HTTP_STREAMS_MAX        10000 /* of a server that has a listener of its own for them */
#define HTTP_STREAMS_SHARED_MAX 64    /* of one that serves all by one listener */
#define HTTP_STREAM_FRAMES_MAX  256
#define HTTP_STREAM_SIZE_MAX    65536
#define HTTP_CLASSES            7 /* 0 is never shed, 6 is shed first */
#define HTTP_WORKERS_MAX        64
#define HTTP_LISTENERS_MAX      8
#define HTTP_ANSWER_FIELDS_MAX  32
#define HTTP_KEY_SIZE           96 /* of what a request parks on, with its NUL */

#define HTTP_HEAD_DEADLINE_NS   INT64_C(10000000000)
#define HTTP_BODY_GRACE_NS      INT64_C(5000000000) /* then a body must have come at 1 KiB/s */
#define HTTP_BODY_RATE_MIN      1024
#define HTTP_KEEP_ALIVE_NS      INT64_C(75000000000)
#define HTTP_DEADLINE_NS        INT64_C(30000000000)
#define HTTP_STREAM_BEAT_NS     INT64_C(15000000000) /* of silence, then a comment is sent */
#define HTTP_STREAM_SLOW_NS     INT64_C(10000000000) /* a ring full for so long is a gap */
#define HTTP_STREAM_POLL_NS     INT64_C(1000000000)  /* a stream is fed at least so often */

/* What this library answers by itself, besides some of base/core/codes.h. */
extern const struct cr_code http_bad_head, http_wrong_host, http_target_too_long,
    http_head_too_large, http_coding_unknown, http_version_unknown, http_request_timeout,
    http_method_not_allowed;
extern const struct cr_code *const http_codes[]; /* all of them; NULL ends them */

struct http_server;
struct http_stream;

/* Name and value, both with a NUL behind. */
struct http_field {
    const char *name, *value;
};

/*
 * One request, whose head has been checked: method, names and values are clean bytes, the path is
 * decoded once and holds no dot segment, no empty one, no '%'. All of it lives until the request
 * ends.
 */
struct http_request {
    const char *id; /* "req_" and a ULID, ours; what X-Request-Id tells */
    const char *method;
    const char *target; /* as it was sent: path and query */
    const char *path;   /* decoded */
    const char *query;  /* as it was sent, behind the '?'; NULL for none */
    const struct http_field *fields;
    size_t field_count;
    size_t listener;    /* index of the listener that took it */
    bool local;         /* by AF_UNIX: what the proxy in front adds may be believed */
    const char *body;   /* NUL behind; NULL where it went to a file, or there is none */
    size_t body_size;   /* in memory or in the file */
    int body_fd;        /* unlinked, at its beginning; -1 for none. The request closes it */
    int64_t arrived_ns; /* when its head was complete */
    int64_t queue_ns;   /* what it waited for a worker, in all its runs */
    unsigned runs;      /* of the handler, this one included; above 1 after a park */
    const void *tag;    /* what plan left there for handle and ended */
    bool parked_out;    /* it was parked, and its time came without a wake */
};

/* The value of a field, by its name in any case; NULL: not there. */
const char *http_field_of(const struct http_request *request, const char *name);

/* What the owner grants a request, from its head alone. */
struct http_plan {
    int class; /* 0 to 6 */
    int64_t body_size_max;
    bool body_to_file;
    int64_t deadline_ns; /* from now; 0: HTTP_DEADLINE_NS */
    const void *tag;     /* static; handed on in the request */
};

/* Where a stream's frames come from. */
struct http_source {
    const char *key;   /* a wake of it feeds the stream at once; copied */
    const char *owner; /* whose streams are counted together; copied. NULL: nobody's */
    size_t owner_max;  /* how many of the owner's may be open; more: 429 too_many_streams */
    /*
     * Writes what is new, by http_stream_write, while http_stream_room is above 0; it will be
     * called again. Runs on the feed thread. A failure is told as `event: error`, and ends the
     * stream.
     */
    enum cr_status (*feed)(struct cr_call *call, void *feed_context, void *state,
                           struct http_stream *stream);
    void (*close)(void *state); /* gives the state back; NULL: nothing to give back */
    void *state;                /* not of a call's memory: it outlives the call */
};

/* What the handler answers. It is filled by the handler; its pointers may be of the call's memory.
 */
struct http_response {
    int status;
    struct http_field fields[HTTP_ANSWER_FIELDS_MAX];
    size_t field_count;
    const char *body; /* NULL: empty */
    size_t body_size;
    int file_fd;       /* >= 0: the body is this file; taken over, and closed by the server */
    int64_t file_size; /* of the whole; a Range of the request is served out of it, 206 or 416 */
    bool file_whole;   /* a Range is not looked at */
    struct http_source source; /* with a feed: the answer is an event stream */
    const char *park_key;      /* of HTTP_PARK */
    int64_t park_until_ns;
    const char *code;   /* word of the failure, for the log; static */
    const char *tenant; /* for the log; copied */
    const char *reason; /* the same */
    int64_t work_ns;    /* what the database took, for the log */
};

/* Adds a field; name and value must live as long as the call. What is too much is a bug of ours. */
void http_answer_field(struct http_response *response, const char *name, const char *value);

/* Parks the request: it runs again, from the start, once the key is woken, or at until_ns. */
enum http_next { HTTP_ANSWER, HTTP_PARK };
enum http_next http_park(struct http_response *response, const char *key, int64_t until_ns);

/* How a request ended: for the log's one line, and for metrics. Lives during the callback alone. */
struct http_ended {
    const struct http_request *request; /* NULL: its head never was complete */
    size_t listener;
    int status;       /* 0: the client left before an answer */
    const char *code; /* NULL where it did not fail */
    const char *tenant, *reason;
    int64_t total_ns, queue_ns, work_ns;
    size_t answer_size;
};

struct http_listen {
    const char *name;    /* for the log and for `listener` */
    const char *address; /* "127.0.0.1:7070", "[::1]:7070", or "unix:/path" */
    int fd;              /* a listening socket that was inherited, and is taken over; -1: open it */
};

struct http_config {
    const struct cr_env *env;
    const struct http_listen *listens;
    size_t listen_count;
    const char *const *hosts; /* whose requests are served, "127.0.0.1:7070"; NULL ends them */
    const char *problem_base; /* before a code: "http://127.0.0.1:7070/docs/errors/" */
    const char *bulk_dir;     /* where bodies lie that go to a file */
    size_t worker_count;      /* worker 0 serves classes 0 and 1 alone, if there are others */
    void *const *workers;     /* a context each */
    void *feeder;             /* the feed's context */
    size_t streams_max;       /* 0: HTTP_STREAMS_SHARED_MAX */
    void *owner;              /* the context of plan and ended */
    void (*plan)(void *owner, const struct http_request *head, struct http_plan *ret_plan);
    enum http_next (*handle)(struct cr_call *call, void *worker, struct http_request *request,
                             struct http_response *response);
    void (*ended)(void *owner, const struct http_ended *ended); /* may be NULL */
};

/*
 * Starts listening and serving. What config points to must outlive the server; the server is the
 * caller's, to be drained and closed. CR_INVALID names an address that cannot be had (not a
 * loopback one, taken by another program).
 */
enum cr_status http_open(struct cr_call *call, const struct http_config *config,
                         struct http_server **ret_server) CR_CHECK;

/* The port of a listener, in use where 0 was asked for; 0 for AF_UNIX. */
int http_port(const struct http_server *server, size_t listener);

/* Runs again what is parked on the key, and feeds its streams. From any thread. */
void http_wake(struct http_server *server, const char *key);

/*
 * Takes no more connections, ends the streams, answers 503 `draining` to what is parked or waits,
 * and gives what runs until grace_ns from now to end. Then only http_close may follow.
 */
void http_drain(struct http_server *server, int64_t grace_ns);
void http_close(struct http_server *server);

/* Readings, for metrics. */
struct http_gauges {
    int64_t connections, queued, running, parked, streams;
};
struct http_gauges http_read_gauges(struct http_server *server);

/*
 * For a feed. A frame is written whole: id and event may be NULL, data is cut into lines. False:
 * there is no room, so the frame has to be written again at the next turn.
 */
bool http_stream_write(struct http_stream *stream, const char *id, const char *event,
                       const char *data, size_t data_size);
size_t http_stream_room(const struct http_stream *stream); /* in frames */
void http_stream_end(struct http_stream *stream);          /* after what was written so far */
