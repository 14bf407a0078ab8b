/*
 * rate: a bucket of tokens for each caller and class group, of this process. It fills by the rate
 * and holds two seconds' worth; a read costs 1, a list 5, a submit 2 (reliability section 11).
 * Classes 0 and 1 are never limited: that is work under way.
 *
 * Headers: draft-ietf-httpapi-ratelimit-headers, a moving draft; their names stand here alone.
 */
#include "controlplane/api/api_internal.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#define RATE_POLICY_HEADER "RateLimit-Policy"
#define RATE_LEFT_HEADER   "RateLimit"
#define RATE_BURST_S       2
#define RATE_BUCKETS       4096 /* callers at once; the one that was away longest gives way */
#define RATE_NEAR          8    /* places to look at */
#define NS                 INT64_C(1000000000)

struct bucket {
    char caller[48];
    bool write;
    int64_t filled_ns; /* when it was looked at last */
    int64_t left_ns;   /* tokens, as the time that they took to drip in, at the rate */
};

struct api_rate {
    pthread_mutex_t lock;
    struct bucket buckets[RATE_BUCKETS];
};

struct api_rate *api_rate_open(void)
{
    struct api_rate *rate = calloc(1, sizeof *rate);
    assert(rate);
    pthread_mutex_init(&rate->lock, NULL);
    return rate;
}

void api_rate_close(struct api_rate *rate)
{
    if (rate)
        pthread_mutex_destroy(&rate->lock);
    free(rate);
}

const char *api_rate_policy(const struct api_route *route, int64_t *ret_cost)
{
    switch (route->class) {
    case 0:
    case 1:
        return NULL;
    case 2:
        *ret_cost = 1;
        return "write";
    case 4:
        *ret_cost = 2;
        return "write";
    case 5:
        *ret_cost = 5;
        return "read";
    default:
        *ret_cost = 1;
        return "read";
    }
}

/* The caller's bucket; one that is new begins full. `lock` is held. */
static struct bucket *find(struct api_rate *rate, const char *caller, bool write, int64_t now)
{
    uint32_t hash = write ? 16777619u : 2166136261u;
    for (const char *at = caller; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    struct bucket *oldest = NULL;
    for (size_t i = 0; i < RATE_NEAR; i++) {
        struct bucket *bucket = &rate->buckets[(hash + i) % RATE_BUCKETS];
        if (bucket->write == write && strcmp(bucket->caller, caller) == 0)
            return bucket;
        if (!oldest || bucket->filled_ns < oldest->filled_ns)
            oldest = bucket;
    }
    *oldest = (struct bucket){.write = write, .filled_ns = now, .left_ns = RATE_BURST_S * NS};
    snprintf(oldest->caller, sizeof oldest->caller, "%s", caller);
    return oldest;
}

static bool draw(struct bucket *bucket, int64_t now, int64_t cost_ns)
{
    int64_t left = bucket->left_ns + (now - bucket->filled_ns);
    bucket->left_ns = left < RATE_BURST_S * NS ? left : RATE_BURST_S * NS;
    bucket->filled_ns = now;
    if (bucket->left_ns < cost_ns)
        return false;
    bucket->left_ns -= cost_ns;
    return true;
}

enum cr_status api_admit(struct cr_call *call, struct api_exchange *exchange)
{
    const struct api_settings *settings = exchange->worker->settings;
    const struct principal *who = exchange->api.who;
    int64_t cost = 0;
    const char *policy = api_rate_policy(exchange->api.route, &cost);
    const char *caller = who->tenant ? who->tenant : who->actor;
    /* what was parked has paid; who shows nothing is held by the connection limits of the edge */
    if (!policy || !caller || !settings->rate || exchange->http->runs > 1)
        return CR_OK;
    bool write = strcmp(policy, "write") == 0;
    int64_t rate = write ? settings->rate_write : settings->rate_read, now = cr_now_ns(call);
    pthread_mutex_lock(&settings->rate->lock);
    struct bucket *bucket = find(settings->rate, caller, write, now);
    bool drawn = draw(bucket, now, cost * NS / rate);
    int64_t left_ns = bucket->left_ns;
    pthread_mutex_unlock(&settings->rate->lock);
    http_answer_field(exchange->response, RATE_POLICY_HEADER,
                      cr_format(call, "\"%s\";q=%lld;w=%d", policy,
                                (long long)(rate * RATE_BURST_S), RATE_BURST_S));
    http_answer_field(
        exchange->response, RATE_LEFT_HEADER,
        cr_format(call, "\"%s\";r=%lld;t=1", policy, (long long)(left_ns * rate / NS)));
    if (drawn)
        return CR_OK;
    return cr_fail_as(call, &cr_code_rate_limited, "at most %lld %ss a second are served here",
                      (long long)rate, policy);
}
