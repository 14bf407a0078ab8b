/* fetch: the seam, and its operations by libcurl's easy interface. */
#include "base/fetch/fetch.h"

#include "base/core/time.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BODY_MAX_USUAL ((size_t)1 << 20)
#define MS             INT64_C(1000000)

struct fetch {
    CURL *curl;
    char *user_agent, *unix_socket, *ca_file, *cert_file, *key_file;
};

/* One request on its way: what the callbacks of libcurl see. */
struct exchange {
    struct cr_call *call;
    const struct fetch_request *request;
    struct fetch_answer *answer;
    CURL *curl;
    char *kept; /* of the answer's body */
    size_t kept_size, body_max;
    size_t head_size;
    int64_t sent;     /* bytes of the request's body */
    int64_t moved_ns; /* when a byte last went either way */
    curl_off_t moved;
    bool stalled;
};

static char *copy_of(const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy)
        abort();
    return copy;
}

static void init_once(void)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        abort();
}

static enum cr_status open_(struct cr_call *call, const struct fetch_config *config,
                            struct fetch **ret_fetch)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init_once);

    struct fetch *fetch = calloc(1, sizeof *fetch);
    if (!fetch)
        abort();
    fetch->curl = curl_easy_init();
    if (!fetch->curl) {
        free(fetch);
        return cr_fail(call, CR_UNAVAILABLE, "libcurl cannot be used");
    }
    fetch->user_agent = copy_of(config->user_agent);
    fetch->unix_socket = copy_of(config->unix_socket);
    fetch->ca_file = copy_of(config->ca_file);
    fetch->cert_file = copy_of(config->cert_file);
    fetch->key_file = copy_of(config->key_file);
    *ret_fetch = fetch;
    return CR_OK;
}

static void close_(struct fetch *fetch)
{
    curl_easy_cleanup(fetch->curl);
    free(fetch->user_agent);
    free(fetch->unix_socket);
    free(fetch->ca_file);
    free(fetch->cert_file);
    free(fetch->key_file);
    free(fetch);
}

/* What comes ----------------------------------------------------------------------------------- */

static size_t take_head(char *bytes, size_t one, size_t size, void *context)
{
    (void)one;
    struct exchange *it = context;
    struct fetch_answer *answer = it->answer;
    it->head_size += size;
    if (it->head_size > FETCH_HEAD_MAX) {
        (void)!cr_fail(it->call, CR_TOO_LARGE, "the head of the answer is over %d bytes",
                       FETCH_HEAD_MAX);
        return 0;
    }
    if (size >= 5 && memcmp(bytes, "HTTP/", 5) == 0) { /* of the answer, after a 100 perhaps */
        answer->header_count = 0;
        return size;
    }
    const char *colon = memchr(bytes, ':', size);
    if (!colon || answer->header_count == FETCH_HEADERS_MAX)
        return size;

    char *name = cr_new(it->call, char, (size_t)(colon - bytes) + 1);
    for (const char *at = bytes; at < colon; at++)
        name[at - bytes] = (char)tolower((unsigned char)*at);
    const char *begin = colon + 1, *end = bytes + size;
    while (begin < end && (*begin == ' ' || *begin == '\t'))
        begin++;
    while (end > begin && isspace((unsigned char)end[-1]))
        end--;
    answer->headers[answer->header_count++] =
        (struct fetch_header){name, cr_copy(it->call, begin, (size_t)(end - begin))};
    return size;
}

static bool keep(struct exchange *it, const char *bytes, size_t size)
{
    size_t wanted = it->answer->body_size + size;
    if (wanted > it->body_max) {
        (void)!cr_fail(it->call, CR_TOO_LARGE, "the answer is over %zu bytes", it->body_max);
        return false;
    }
    if (wanted + 1 > it->kept_size) {
        size_t larger = it->kept_size ? it->kept_size * 2 : 4096;
        it->kept_size = larger > wanted + 1 ? larger : wanted + 1;
        char *kept = cr_new(it->call, char, it->kept_size);
        if (it->answer->body_size)
            memcpy(kept, it->kept, it->answer->body_size);
        it->kept = kept;
    }
    memcpy(it->kept + it->answer->body_size, bytes, size);
    it->kept[wanted] = '\0';
    return true;
}

static bool sink(struct exchange *it, const char *bytes, size_t size)
{
    int64_t at = it->request->sink_offset + (int64_t)it->answer->body_size;
    if (at + (int64_t)size > it->request->sink_max) {
        (void)!cr_fail(it->call, CR_TOO_LARGE, "the answer goes on beyond %lld bytes",
                       (long long)it->request->sink_max);
        return false;
    }
    for (size_t done = 0; done < size;) {
        ssize_t wrote = pwrite(it->request->sink_fd, bytes + done, size - done, at + (int64_t)done);
        if (wrote < 0 && errno != EINTR) {
            (void)!cr_fail(it->call, errno == ENOSPC ? CR_EXHAUSTED : CR_UNAVAILABLE,
                           "what was fetched cannot be written: %s", strerrordesc_np(errno));
            return false;
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

static size_t take_body(char *bytes, size_t one, size_t size, void *context)
{
    (void)one;
    struct exchange *it = context;
    long http = 0;
    curl_easy_getinfo(it->curl, CURLINFO_RESPONSE_CODE, &http);
    bool taken;
    if (it->request->take && http >= 200 && http < 300)
        taken = it->request->take(it->call, it->request->context, bytes, size) == CR_OK;
    else if (it->request->has_sink_fd && (http == 200 || http == 206))
        taken = sink(it, bytes, size);
    else
        taken = keep(it, bytes, size);
    if (!taken)
        return size ? 0 : 1; /* another number than size ends the transfer */
    it->answer->body_size += size;
    return size;
}

/* What goes ------------------------------------------------------------------------------------ */

static size_t give_body(char *bytes, size_t one, size_t room, void *context)
{
    struct exchange *it = context;
    room *= one;
    size_t left = it->request->body_size - (size_t)it->sent;
    size_t size = left < room ? left : room;
    if (it->request->has_body_fd) {
        ssize_t got = pread(it->request->body_fd, bytes, size, it->request->body_offset + it->sent);
        if (got < 0 || (got == 0 && size > 0)) {
            (void)!cr_fail(it->call, CR_UNAVAILABLE, "the file that is sent cannot be read");
            return CURL_READFUNC_ABORT;
        }
        size = (size_t)got;
    } else if (size) {
        memcpy(bytes, (const char *)it->request->body + it->sent, size);
    }
    it->sent += (int64_t)size;
    return size;
}

/* A kept-alive connection may turn out dead after bytes went into it: begin again. */
static int seek_body(void *context, curl_off_t offset, int origin)
{
    struct exchange *it = context;
    if (origin != SEEK_SET)
        return CURL_SEEKFUNC_CANTSEEK;
    it->sent = offset;
    return CURL_SEEKFUNC_OK;
}

/* Called at least once a second: ends what is late or silent. */
static int watch(void *context, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                 curl_off_t up)
{
    (void)down_total;
    (void)up_total;
    struct exchange *it = context;
    int64_t now_ns = cr_now_ns(it->call);
    if (down + up != it->moved) {
        it->moved = down + up;
        it->moved_ns = now_ns;
    }
    int64_t stall_ns = it->request->stall_ns ? it->request->stall_ns : FETCH_STALL_NS;
    it->stalled = now_ns - it->moved_ns > stall_ns;
    return it->stalled || cr_expired(it->call);
}

/* The request ---------------------------------------------------------------------------------- */

static void list_done(struct curl_slist **list)
{
    curl_slist_free_all(*list);
}

static void set_connection(const struct fetch *fetch)
{
    CURL *curl = fetch->curl;
    curl_easy_reset(curl); /* keeps its connections */
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* also not that of the environment */
    curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)(FETCH_CONNECT_NS / MS));
    if (fetch->user_agent)
        curl_easy_setopt(curl, CURLOPT_USERAGENT, fetch->user_agent);
    if (fetch->unix_socket)
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, fetch->unix_socket);
    if (fetch->ca_file)
        curl_easy_setopt(curl, CURLOPT_CAINFO, fetch->ca_file);
    if (fetch->cert_file)
        curl_easy_setopt(curl, CURLOPT_SSLCERT, fetch->cert_file);
    if (fetch->key_file)
        curl_easy_setopt(curl, CURLOPT_SSLKEY, fetch->key_file);
}

static void set_body(CURL *curl, struct exchange *it)
{
    const struct fetch_request *request = it->request;
    if (strcmp(request->method, "HEAD") == 0) {
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
        return;
    }
    if (request->body || request->has_body_fd) {
        curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->body_size);
        curl_easy_setopt(curl, CURLOPT_READFUNCTION, give_body);
        curl_easy_setopt(curl, CURLOPT_READDATA, it);
        curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, seek_body);
        curl_easy_setopt(curl, CURLOPT_SEEKDATA, it);
    } else if (strcmp(request->method, "GET") != 0) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, 0L);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "");
    }
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
}

static enum cr_status set_request(struct exchange *it, struct curl_slist **list)
{
    CURL *curl = it->curl;
    *list = curl_slist_append(*list, "Expect:"); /* no wait for a 100 that nobody sends */
    for (const struct fetch_header *header = it->request->headers; header && header->name;
         header++) {
        struct curl_slist *longer =
            curl_slist_append(*list, cr_format(it->call, "%s: %s", header->name, header->value));
        if (!longer)
            abort();
        *list = longer;
    }
    set_body(curl, it);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, *list);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_head);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, it);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, it);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, watch);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, it);
    if (it->call->deadline_ns != INT64_MAX) {
        int64_t left_ms = (it->call->deadline_ns - cr_now_ns(it->call)) / MS;
        if (left_ms <= 0)
            return cr_fail(it->call, CR_TIMEOUT, "no time is left to ask");
        curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)left_ms);
    }
    if (curl_easy_setopt(curl, CURLOPT_URL, it->request->url) != CURLE_OK)
        return cr_fail(it->call, CR_INVALID, "'%s' is no URL", it->request->url);
    return CR_OK;
}

static enum cr_status failed(const struct exchange *it, CURLcode code)
{
    if (it->call->status != CR_OK)
        return it->call->status; /* a callback has said why */
    if (code == CURLE_OPERATION_TIMEDOUT || code == CURLE_ABORTED_BY_CALLBACK)
        return cr_fail(it->call, CR_TIMEOUT, "%s %s: %s", it->request->method, it->request->url,
                       it->stalled ? "silence for too long" : "no answer in time");
    /* libcurl also calls it so when a peer answers in something else than HTTP. */
    const char *url = it->request->url;
    bool http = strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
    bool wrong = code == CURLE_URL_MALFORMAT || (code == CURLE_UNSUPPORTED_PROTOCOL && !http);
    return cr_fail(it->call, wrong ? CR_INVALID : CR_UNAVAILABLE, "%s %s: %s", it->request->method,
                   it->request->url, curl_easy_strerror(code));
}

static enum cr_status run(struct cr_call *call, struct fetch *fetch,
                          const struct fetch_request *request, struct fetch_answer *ret_answer)
{
    *ret_answer = (struct fetch_answer){.body = ""};
    struct exchange it = {
        .call = call,
        .request = request,
        .answer = ret_answer,
        .curl = fetch->curl,
        .body_max = request->body_max ? request->body_max : BODY_MAX_USUAL,
        .moved_ns = cr_now_ns(call),
    };
    CR_SCOPED(list_done) struct curl_slist *list = NULL;
    set_connection(fetch);
    CR_TRY(set_request(&it, &list));

    CURLcode code = curl_easy_perform(fetch->curl);
    if (code != CURLE_OK)
        return failed(&it, code);
    long http = 0;
    curl_easy_getinfo(fetch->curl, CURLINFO_RESPONSE_CODE, &http);
    ret_answer->http = (int)http;
    if (it.kept)
        ret_answer->body = it.kept;
    return CR_OK;
}

const struct fetch_ops fetch_curl = {.open = open_, .close = close_, .run = run};

/* The seam ------------------------------------------------------------------------------------ */

enum cr_status fetch_open(struct cr_call *call, const struct fetch_config *config,
                          struct fetch **ret_fetch)
{
    return call->env->fetch->open(call, config, ret_fetch);
}

void fetch_close(const struct cr_env *env, struct fetch *fetch)
{
    if (fetch)
        env->fetch->close(fetch);
}

enum cr_status fetch_run(struct cr_call *call, struct fetch *fetch,
                         const struct fetch_request *request, struct fetch_answer *ret_answer)
{
    return call->env->fetch->run(call, fetch, request, ret_answer);
}

const char *fetch_header(const struct fetch_answer *answer, const char *name)
{
    for (size_t i = 0; i < answer->header_count; i++)
        if (strcmp(answer->headers[i].name, name) == 0)
            return answer->headers[i].value;
    return NULL;
}
