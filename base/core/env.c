#include "base/core/env.h"

#include "base/core/file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define NS_A_SECOND INT64_C(1000000000)

static int64_t now_ns(void *context)
{
    (void)context;
    struct timespec at;
    if (clock_gettime(CLOCK_BOOTTIME, &at) != 0)
        abort();
    return at.tv_sec * NS_A_SECOND + at.tv_nsec;
}

static int64_t utc_us(void *context)
{
    (void)context;
    struct timespec at;
    if (clock_gettime(CLOCK_REALTIME, &at) != 0)
        abort();
    return at.tv_sec * INT64_C(1000000) + at.tv_nsec / 1000;
}

static void fill(void *context, void *bytes, size_t size)
{
    (void)context;
    unsigned char *at = bytes;
    while (size > 0) {
        ssize_t got = getrandom(at, size, 0);
        if (got < 0 && errno != EINTR)
            abort();
        if (got > 0) {
            at += got;
            size -= (size_t)got;
        }
    }
}

static void sleep_until(void *context, int64_t until_ns)
{
    (void)context;
    struct timespec until = {.tv_sec = until_ns / NS_A_SECOND, .tv_nsec = until_ns % NS_A_SECOND};
    while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;
}

struct cr_env cr_env_system(void)
{
    return (struct cr_env){
        .now_ns = now_ns,
        .utc_us = utc_us,
        .random = fill,
        .sleep_until = sleep_until,
        .file = &cr_file_system,
    };
}
