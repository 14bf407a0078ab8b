/*
 * fetch: an HTTP/1.1 client. The only door to libcurl.
 *
 * One request, one answer, on a kept-alive connection of this client. No redirects are followed (a
 * 3xx is an answer), no proxy or netrc of the environment is read, and http and https are all the
 * protocols there are. An answer of any HTTP status is a success here: its meaning is the caller's.
 *
 * Bodies       out: bytes in memory, or a part of an open file. In: memory up to body_max, an open
 *              file from an offset on, or a function that is given the bytes as they come
 * Ownership    the answer belongs to the call; files stay the caller's
 * Threads      a client is used by one thread at a time
 * Deadlines    the call's, and the request's own stall_ns without a byte either way
 * fails with   CR_UNAVAILABLE   no connection, or it broke; ret_answer->http is 0
 *              CR_TIMEOUT       the deadline, or silence of stall_ns
 *              CR_TOO_LARGE     the answer's head or body is over its limit
 *              CR_INVALID       the URL is none, or its protocol is another
 * Source       reliability rule input.5; RFC 9110, RFC 9112
 */
#pragma once

#include "base/core/call.h"

#define FETCH_HEADERS_MAX 32
#define FETCH_HEAD_MAX    (64 * 1024) /* bytes of an answer's head */
#define FETCH_CONNECT_NS  INT64_C(5000000000)
#define FETCH_STALL_NS    INT64_C(60000000000) /* where a request says 0 */

struct fetch; /* a client with its connections */

struct fetch_config {
    const char *user_agent;
    const char *unix_socket;          /* path of a socket to speak to in place of TCP; NULL: TCP */
    const char *ca_file;              /* PEM of the authorities of https; NULL: the system's */
    const char *cert_file, *key_file; /* PEM of ours; NULL: none */
};

struct fetch_header {
    const char *name, *value;
};

struct fetch_request {
    const char *method; /* "GET"; a HEAD is answered without a body */
    const char *url;
    const struct fetch_header *headers; /* ends at the first without a name; may be NULL */
    const void *body;                   /* NULL: none, or body_fd */
    size_t body_size;                   /* bytes of body, or of the part of body_fd */
    int body_fd;                        /* used where has_body_fd */
    bool has_body_fd;
    int64_t body_offset; /* where the part of body_fd begins */
    size_t body_max;     /* of an answer that is kept in memory; 0: 1 MiB */
    bool has_sink_fd;    /* the body of a 200 or 206 goes to sink_fd at sink_offset, by pwrite */
    int sink_fd;
    int64_t sink_offset, sink_max; /* no byte is written at or above sink_max */
    /*
     * Given each part of the body of a 2xx as it comes, for streams. A failure ends the request
     * with it. NULL: the body is kept.
     */
    enum cr_status (*take)(struct cr_call *call, void *context, const void *bytes, size_t size);
    void *context;
    int64_t stall_ns;
};

struct fetch_answer {
    int http;
    struct fetch_header headers[FETCH_HEADERS_MAX]; /* names in lower case; others are dropped */
    size_t header_count;
    const char *body; /* NUL behind; "" where it went elsewhere */
    size_t body_size; /* also of what went elsewhere */
};

struct fetch_ops {
    enum cr_status (*open)(struct cr_call *call, const struct fetch_config *config,
                           struct fetch **ret_fetch);
    void (*close)(struct fetch *fetch);
    enum cr_status (*run)(struct cr_call *call, struct fetch *fetch,
                          const struct fetch_request *request, struct fetch_answer *ret_answer);
};

/* The operations by libcurl: env.fetch = &fetch_curl. */
extern const struct fetch_ops fetch_curl;

enum cr_status fetch_open(struct cr_call *call, const struct fetch_config *config,
                          struct fetch **ret_fetch) CR_CHECK;
void fetch_close(const struct cr_env *env, struct fetch *fetch);

/* Asks, and waits for the whole answer. */
enum cr_status fetch_run(struct cr_call *call, struct fetch *fetch,
                         const struct fetch_request *request,
                         struct fetch_answer *ret_answer) CR_CHECK;

/* The value of a header of the answer, by its name in lower case; NULL: it has none. */
const char *fetch_header(const struct fetch_answer *answer, const char *name);
