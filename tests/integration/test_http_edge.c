/*
 * The edge over real sockets: every probe of surface.md section 1 and every `http` row of the bad
 * input, read to the end of the connection; then what waits, streams, and is cut off.
 */
#include "tests/integration/edge.h"

static void each_of_the_thirteen_probes_is_refused_and_nothing_behind_it_served(void **state)
{
    (void)state;
#define PROBE(status, text)            \
    {                                  \
        status, text, sizeof(text) - 1 \
    }
    static const struct {
        int status;
        const char *bytes;
        size_t size;
    } probes[] = {
        PROBE(400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: "
                   "chunked\r\n\r\n0\r\n\r\nGET /sm HTTP/1.1\r\nHost: a\r\n\r\n"),
        PROBE(501,
              "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        PROBE(400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\nContent-Length: "
                   "3\r\n\r\nabc"),
        PROBE(400,
              "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde"),
        PROBE(400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc"),
        PROBE(400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
                   "chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n"),
        PROBE(400, "GET / HTTP/1.1\nHost: a\n\n"),
        PROBE(400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\nContent-Length: "
                   "5\r\n\r\nabcde"),
        PROBE(400, "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n"),
        PROBE(400, "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n"),
        PROBE(400, "GET / HTTP/1.1\r\nX: y\r\n\r\n"),
        PROBE(400, "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
        PROBE(400, "GET / HTTP/1.1\r\nHost: a\rX: y\r\n\r\n"),
    };
#undef PROBE
    int before = handled;
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        struct heard heard;
        probe(probes[i].bytes, probes[i].size, 3000, &heard);
        if (heard.status != probes[i].status || !heard.closed || heard.answers != 1)
            fail_msg("probe %zu: status %d, closed %d, answers %zu: %s", i + 1, heard.status,
                     heard.closed, heard.answers, heard.text);
    }
    assert_int_equal(handled, before);
}

/* The NUL of a row, which our JSON refuses, stands in it as STX (each `\u0000` was made so). */
static size_t put(char *at, const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        at[i] = text[i] == 2 ? '\0' : text[i];
    return length;
}

/* Rows of `gen` are a prefix, something many times, a suffix. */
static char *bytes_of(struct cr_call *call, const struct json_value *row, size_t *ret_size)
{
    const struct json_value *gen = json_member(row, "gen");
    const char *begin = json_member_text(gen ? gen : row, gen ? "prefix" : "input");
    const char *repeat = gen ? json_member_text(gen, "repeat") : "";
    const char *end = gen ? json_member_text(gen, "suffix") : "";
    int64_t times = gen ? json_member(gen, "times")->integer : 0;
    char *bytes = cr_alloc(call, strlen(begin) + strlen(repeat) * (size_t)times + strlen(end) + 1,
                           sizeof(char));
    *ret_size = put(bytes, begin);
    for (; times > 0; times--)
        *ret_size += put(bytes + *ret_size, repeat);
    *ret_size += put(bytes + *ret_size, end);
    return bytes;
}

static void try_row(struct cr_call *call, const struct json_value *row)
{
    const char *id = json_member_text(row, "id"), *expect = json_member_text(row, "expect");
    int status = (int)strtol(expect, NULL, 10);
    bool either = strcmp(id, "http-cl-2pow64") == 0 || strcmp(id, "http-chunk-size-overflow") == 0;
    size_t size;
    char *bytes = bytes_of(call, row, &size);
    struct heard heard;
    probe(bytes, size, strstr(expect, "close") ? 3000 : 300, &heard);
    bool right = heard.status == status || (either && heard.status == 413);
    if (!right || (strstr(expect, "close") && !heard.closed))
        fail_msg("%s: %s wanted, %d %s: %s", id, expect, heard.status,
                 heard.closed ? "close" : "open", heard.text);
}

/* Those that are more than bytes have tests of their own below. */
static bool bytes_alone(const struct json_value *row)
{
    const char *id = json_member_text(row, "id");
    return strcmp(json_member_text(row, "target"), "http") == 0 && !json_member(row, "script") &&
           strcmp(id, "http-half-close") != 0 && strcmp(id, "http-pipelined") != 0;
}

static void every_bad_input_is_answered_as_it_is_listed(void **state)
{
    (void)state;
    const char *data = getenv("CRESSET_TEST_DATA");
    char path[512], line[4096];
    snprintf(path, sizeof path, "%s/reliability/bad_input.jsonl", data ? data : "../shared/data");
    FILE *file = fopen(path, "r");
    if (!file) {
        assert_null(getenv("CI"));
        printf("SKIPPED: %s is not there\n", path);
        skip();
    }
    size_t tried = 0;
    while (fgets(line, sizeof line, file)) {
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
        for (char *nul; (nul = strstr(line, "\\u0000"));)
            nul[5] = '2';
        const struct json_value *row;
        assert_ok(&call, json_parse(&call, NULL, line, strcspn(line, "\n"), &row));
        if (bytes_alone(row)) {
            try_row(&call, row);
            tried++;
        }
    }
    fclose(file);
    assert_in_range(tried, 30, 60);
}

static void ask(const char *head, int wait_ms, struct heard *ret_heard)
{
    char bytes[1024];
    int size = snprintf(bytes, sizeof bytes, "%s\r\nHost: a\r\nConnection: close\r\n\r\n", head);
    probe(bytes, (size_t)size, wait_ms, ret_heard);
}

static void a_body_comes_back_whole_and_the_connection_serves_again(void **state)
{
    (void)state;
    static const char two[] =
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
        "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    struct heard heard;
    probe(two, sizeof two - 1, 3000, &heard);
    assert_int_equal(heard.answers, 2);
    assert_non_null(strstr(heard.text, "hello"));
    assert_non_null(strstr(heard.text, "abcde"));
    assert_non_null(strstr(heard.text, "X-Request-Id: req_"));
}

static void a_credential_belongs_to_one_request_of_a_pipeline(void **state)
{
    (void)state;
    static const char two[] = "GET /who HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\n\r\n"
                              "GET /who HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    struct heard heard;
    probe(two, sizeof two - 1, 3000, &heard);
    assert_int_equal(heard.status, 200);
    assert_int_equal(heard.answers, 2);
    assert_non_null(strstr(heard.text + 9, "HTTP/1.1 401"));
}

static void a_body_beyond_its_limit_is_refused_before_and_amid(void **state)
{
    (void)state;
    static const char before[] =
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1048577\r\n\r\n";
    struct heard heard;
    probe(before, sizeof before - 1, 3000, &heard);
    assert_int_equal(heard.status, 413);
    assert_true(heard.closed);
    int fd = dial();
    static const char head[] =
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    static char chunk[65536 + 10];
    memcpy(chunk, "10000\r\n", 7);
    memset(chunk + 7, 'x', 65536);
    memcpy(chunk + 7 + 65536, "\r\n", 2);
    say(fd, head, sizeof head - 1);
    for (int i = 0; i < 16; i++)
        say(fd, chunk, 65536 + 9);
    assert_false(hear(fd, heard.text, sizeof heard.text, 200));
    assert_string_equal(heard.text, "");
    say(fd, "1\r\nx\r\n", 6);
    assert_true(hear(fd, heard.text, sizeof heard.text, 3000));
    assert_int_equal(status_of(heard.text), 413);
    close(fd);
}

static void a_body_for_a_file_may_be_longer(void **state)
{
    (void)state;
    int fd = dial();
    static const char head[] =
        "PUT /bulk HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3000000\r\n\r\n";
    static char bytes[3000000];
    say(fd, head, sizeof head - 1);
    say(fd, bytes, sizeof bytes);
    struct heard heard;
    assert_true(hear(fd, heard.text, sizeof heard.text, 5000));
    assert_non_null(strstr(heard.text, "\r\n\r\n3000000"));
    close(fd);
}

static void half_a_body_and_a_client_that_leaves_do_no_work(void **state)
{
    (void)state;
    int before = handled, fd = dial();
    static const char half[] = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello";
    say(fd, half, sizeof half - 1);
    shutdown(fd, SHUT_WR);
    char text[64];
    assert_true(hear(fd, text, sizeof text, 3000));
    assert_string_equal(text, "");
    assert_int_equal(handled, before);
    close(fd);
}

static void a_call_that_does_not_end_is_answered_at_its_deadline(void **state)
{
    (void)state;
    struct heard heard;
    ask("GET /late HTTP/1.1", 1500, &heard);
    assert_int_equal(heard.status, 504);
    assert_non_null(strstr(heard.text, "deadline_exceeded"));
    slow_release = 1;
}

static void *wake_soon(void *unused)
{
    (void)unused;
    usleep(200000);
    http_wake(server, "job:1");
    return NULL;
}

static void what_is_parked_runs_again_when_its_key_is_woken(void **state)
{
    (void)state;
    pthread_t waker;
    pthread_create(&waker, NULL, wake_soon, NULL);
    struct heard heard;
    ask("GET /park HTTP/1.1", 2000, &heard);
    pthread_join(waker, NULL);
    assert_int_equal(heard.status, 200);
}

static void a_stream_gives_every_frame_in_order(void **state)
{
    (void)state;
    int fd = dial();
    static const char head[] = "GET /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    static char text[65536];
    say(fd, head, sizeof head - 1);
    assert_true(hear(fd, text, sizeof text, 4000));
    close(fd);
    assert_non_null(strstr(text, "retry: 2000\n\n"));
    int next = 0;
    for (const char *at = text; (at = strstr(at, "id: ")); at += 4)
        assert_int_equal(strtol(at + 4, NULL, 10), next++);
    assert_int_equal(next, 600);
    assert_non_null(strstr(text, "event: tick\ndata: one\ndata: two\n\n"));
    for (int i = 0; i < 100 && !left; i++)
        usleep(20000);
    assert_int_equal(left, 1);
}

static void an_owner_has_so_many_streams_and_no_more(void **state)
{
    (void)state;
    int before = left, fd = dial();
    static const char head[] = "GET /idle HTTP/1.1\r\nHost: a\r\n\r\n";
    static char text[4096];
    say(fd, head, sizeof head - 1);
    assert_false(hear(fd, text, sizeof text, 300));
    assert_int_equal(status_of(text), 200);
    struct heard heard;
    ask("GET /idle HTTP/1.1", 2000, &heard);
    assert_int_equal(heard.status, 429);
    assert_non_null(strstr(heard.text, "too_many_streams"));
    close(fd);
    /* who leaves is noticed when something is written: the wake makes the feed write */
    for (int i = 0; i < 100 && left < before + 2; i++) {
        http_wake(server, "job:3");
        usleep(20000);
    }
    assert_int_equal(left, before + 2);
}

static void a_range_of_a_file_is_served(void **state)
{
    (void)state;
    static const struct {
        const char *range;
        int status;
        const char *content;
    } rows[] = {
        {"bytes=0-3", 206, "bytes 0-3/1000"},       {"bytes=990-", 206, "bytes 990-999/1000"},
        {"bytes=-5", 206, "bytes 995-999/1000"},    {"bytes=990-5000", 206, "bytes 990-999/1000"},
        {"bytes=1000-", 416, "bytes */1000"},       {"bytes=0-1,5-6", 200, "Accept-Ranges: bytes"},
        {"bytes=5-2", 200, "Accept-Ranges: bytes"}, {"lines=1-2", 200, "Accept-Ranges: bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char head[256];
        snprintf(head, sizeof head, "GET /file HTTP/1.1\r\nRange: %s", rows[i].range);
        struct heard heard;
        ask(head, 2000, &heard);
        if (heard.status != rows[i].status || !strstr(heard.text, rows[i].content))
            fail_msg("%s: %s", rows[i].range, heard.text);
    }
}

static void what_is_slow_is_ended_with_408(void **state)
{
    (void)state;
    int head = dial(), body = dial();
    static const char half[] = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n";
    say(body, half, sizeof half - 1);
    char first[1024] = "", second[1024] = "";
    for (int i = 0; i < 13; i++) {
        if (i % 2 == 0)
            say(head, &"GET / HTTP/1.1"[i / 2], 1);
        say(body, "x", 1);
        usleep(1000000);
    }
    assert_true(hear(head, first, sizeof first, 100));
    assert_true(hear(body, second, sizeof second, 100));
    assert_int_equal(status_of(first), 408);
    assert_int_equal(status_of(second), 408);
    close(head);
    close(body);
}

static void silent_connections_keep_nobody_out(void **state)
{
    (void)state;
    enum { SILENT = 400 }; /* the same code path as with 4096, within everybody's limit of files */
    int fds[SILENT];
    for (int i = 0; i < SILENT; i++)
        fds[i] = dial();
    struct heard heard;
    ask("GET / HTTP/1.1", 1000, &heard);
    assert_int_equal(heard.status, 200);
    for (int i = 0; i < SILENT; i++)
        close(fds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_of_the_thirteen_probes_is_refused_and_nothing_behind_it_served),
        cmocka_unit_test(every_bad_input_is_answered_as_it_is_listed),
        cmocka_unit_test(a_body_comes_back_whole_and_the_connection_serves_again),
        cmocka_unit_test(a_credential_belongs_to_one_request_of_a_pipeline),
        cmocka_unit_test(a_body_beyond_its_limit_is_refused_before_and_amid),
        cmocka_unit_test(a_body_for_a_file_may_be_longer),
        cmocka_unit_test(half_a_body_and_a_client_that_leaves_do_no_work),
        cmocka_unit_test(a_call_that_does_not_end_is_answered_at_its_deadline),
        cmocka_unit_test(what_is_parked_runs_again_when_its_key_is_woken),
        cmocka_unit_test(a_stream_gives_every_frame_in_order),
        cmocka_unit_test(an_owner_has_so_many_streams_and_no_more),
        cmocka_unit_test(a_range_of_a_file_is_served),
        cmocka_unit_test(silent_connections_keep_nobody_out),
        cmocka_unit_test(what_is_slow_is_ended_with_408),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
