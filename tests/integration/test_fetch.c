/* fetch: bodies go and come as they are, within their limits; a broken peer is told, not waited
 * for. */
#include "tests/unit/test.h"

#include "base/core/time.h"
#include "base/fetch/fetch.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A peer that says one thing, whatever it is asked, and keeps what it was asked. */
struct peer {
    int listener, port;
    pthread_t thread;
    atomic_bool stopping;
    const char *says; /* "": nothing at all */
    bool closes;      /* after that */
    char asked[65536];
    atomic_size_t asked_size;
};

static struct cr_env env;
static struct peer peer;
static struct fetch *fetch;

static void serve(int socket)
{
    bool said = false;
    while (!atomic_load(&peer.stopping)) {
        struct pollfd ready = {.fd = socket, .events = POLLIN};
        if (poll(&ready, 1, 50) <= 0)
            continue;
        size_t size = atomic_load(&peer.asked_size);
        ssize_t got = recv(socket, peer.asked + size, sizeof peer.asked - 1 - size, 0);
        if (got <= 0)
            return;
        peer.asked[size + (size_t)got] = '\0';
        atomic_store(&peer.asked_size, size + (size_t)got);
        bool whole = strstr(peer.asked, "\r\n\r\n") && !strstr(peer.asked, "Content-Length: 9\r\n");
        whole = whole || strstr(peer.asked, "middle!!!");
        if (!said && whole && *peer.says) {
            send(socket, peer.says, strlen(peer.says), MSG_NOSIGNAL);
            said = true;
            if (peer.closes)
                return;
        }
    }
}

static void *run(void *context)
{
    (void)context;
    while (!atomic_load(&peer.stopping)) {
        struct pollfd ready = {.fd = peer.listener, .events = POLLIN};
        if (poll(&ready, 1, 50) <= 0)
            continue;
        int socket = accept(peer.listener, NULL, NULL);
        serve(socket);
        close(socket);
    }
    return NULL;
}

/* One request to a peer that says so; the fetch is new, and so is the connection. */
static enum cr_status ask(struct cr_call *call, const char *says, struct fetch_request request,
                          struct fetch_answer *ret_answer)
{
    peer.says = says;
    peer.closes = true;
    atomic_store(&peer.asked_size, 0);
    memset(peer.asked, 0, sizeof peer.asked);
    request.url = cr_format(call, "http://127.0.0.1:%d/x", peer.port);
    if (!request.method)
        request.method = "GET";
    return fetch_run(call, fetch, &request, ret_answer);
}

static struct cr_call fresh(int64_t seconds)
{
    return cr_call_open(&env, env.now_ns(NULL) + seconds * CR_NS_A_SECOND);
}

static void an_answer_of_any_status_comes_with_its_head_and_body(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = fresh(10);
    struct fetch_answer answer;
    const struct fetch_header headers[] = {{"X-One", "1"}, {0}};
    assert_ok(&call, ask(&call,
                         "HTTP/1.1 404 No\r\nETag:  \"7\" \r\nConnection: close\r\nContent-Length: "
                         "5\r\n\r\nhello",
                         (struct fetch_request){.headers = headers}, &answer));
    assert_int_equal(answer.http, 404);
    assert_string_equal(answer.body, "hello");
    assert_string_equal(fetch_header(&answer, "etag"), "\"7\"");
    assert_null(fetch_header(&answer, "x-none"));
    assert_non_null(strstr(peer.asked, "GET /x HTTP/1.1\r\n"));
    assert_non_null(strstr(peer.asked, "X-One: 1\r\n"));
}

static void a_redirect_is_an_answer_and_not_followed(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = fresh(10);
    struct fetch_answer answer;
    assert_ok(&call, ask(&call,
                         "HTTP/1.1 302 Go\r\nLocation: http://127.0.0.1:1/\r\n"
                         "Connection: close\r\nContent-Length: 0\r\n\r\n",
                         (struct fetch_request){0}, &answer));
    assert_int_equal(answer.http, 302);
}

static void a_part_of_a_file_goes_out_and_a_body_goes_into_one(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = fresh(10);
    struct fetch_answer answer;
    FILE *out = tmpfile(), *in = tmpfile();
    assert_true(out && in && fputs("begin-middle!!!-end", out) >= 0 && fflush(out) == 0);
    struct fetch_request request = {.method = "PUT",
                                    .has_body_fd = true,
                                    .body_fd = fileno(out),
                                    .body_offset = 6,
                                    .body_size = 9,
                                    .has_sink_fd = true,
                                    .sink_fd = fileno(in),
                                    .sink_offset = 3,
                                    .sink_max = 8};
    assert_ok(&call,
              ask(&call, "HTTP/1.1 206 P\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
                  request, &answer));
    assert_non_null(strstr(peer.asked, "\r\n\r\nmiddle!!!"));
    assert_null(strstr(peer.asked, "Expect"));
    char got[9] = {0};
    assert_int_equal(pread(fileno(in), got, 8, 0), 8);
    assert_memory_equal(got, "\0\0\0hello", 8);
    assert_int_equal(answer.body_size, 5);

    request.sink_max = 7; /* a byte less than the body wants */
    assert_int_equal(ask(&call,
                         "HTTP/1.1 200 O\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
                         request, &answer),
                     CR_TOO_LARGE);
    fclose(out);
    fclose(in);
}

static void what_is_too_long_broken_or_silent_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *says;
        enum cr_status status;
    } cases[] = {
        {"HTTP/1.1 200 O\r\nConnection: close\r\nContent-Length: 20\r\n\r\n01234567890123456789",
         CR_TOO_LARGE},
        {"HTTP/1.1 200 O\r\nConnection: close\r\nContent-Length: 9\r\n\r\nshort", CR_UNAVAILABLE},
        {"nonsense\r\n\r\n", CR_UNAVAILABLE},
        {"", CR_TIMEOUT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CR_SCOPED(cr_call_close) struct cr_call call = fresh(10);
        struct fetch_answer answer;
        struct fetch_request request = {.body_max = 10, .stall_ns = CR_NS_A_SECOND};
        assert_int_equal(ask(&call, cases[i].says, request, &answer), cases[i].status);
    }
    CR_SCOPED(cr_call_close) struct cr_call late = fresh(1);
    struct fetch_answer answer;
    assert_int_equal(ask(&late, "", (struct fetch_request){0}, &answer), CR_TIMEOUT);
}

static void only_http_is_spoken_and_nobody_there_is_unavailable(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        enum cr_status status;
    } cases[] = {
        {"file:///etc/passwd", CR_INVALID},
        {"ftp://127.0.0.1/x", CR_INVALID},
        {"http://[", CR_INVALID},
        {"http://127.0.0.1:1/", CR_UNAVAILABLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CR_SCOPED(cr_call_close) struct cr_call call = fresh(10);
        struct fetch_answer answer;
        struct fetch_request request = {.method = "GET", .url = cases[i].url};
        assert_int_equal(fetch_run(&call, fetch, &request, &answer), cases[i].status);
        assert_int_equal(answer.http, 0);
    }
}

static int open_all(void **state)
{
    (void)state;
    env = cr_env_system();
    env.fetch = &fetch_curl;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    peer.listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(peer.listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(peer.listener, 8), 0);
    assert_int_equal(getsockname(peer.listener, (struct sockaddr *)&address, &size), 0);
    peer.port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&peer.thread, NULL, run, NULL), 0);
    CR_SCOPED(cr_call_close) struct cr_call call = fresh(10);
    struct fetch_config config = {.user_agent = "test"};
    assert_ok(&call, fetch_open(&call, &config, &fetch));
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    fetch_close(&env, fetch);
    atomic_store(&peer.stopping, true);
    pthread_join(peer.thread, NULL);
    close(peer.listener);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_of_any_status_comes_with_its_head_and_body),
        cmocka_unit_test(a_redirect_is_an_answer_and_not_followed),
        cmocka_unit_test(a_part_of_a_file_goes_out_and_a_body_goes_into_one),
        cmocka_unit_test(what_is_too_long_broken_or_silent_is_told),
        cmocka_unit_test(only_http_is_spoken_and_nobody_there_is_unavailable),
    };
    return cmocka_run_group_tests_name("fetch", tests, open_all, close_all);
}
