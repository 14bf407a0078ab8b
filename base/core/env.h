/*
 * env: the world, as it is handed in: clock, randomness, sleep, and the four services.
 *
 * A real program fills it from the operating system (cr_env_system) and with the operations of
 * base/db, base/bus, base/core/file and base/fetch; a simulation fills it with its own. A call
 * carries its env, and nothing else does: what is pure gets the values instead.
 *
 * Units        now_ns is CLOCK_BOOTTIME, in nanoseconds; utc_us is microseconds since 1970
 * Threads      an env is read-only once it is filled; what its context holds must bear all threads
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct db_ops;    /* base/db/db.h */
struct bus_ops;   /* base/bus/bus.h */
struct file_ops;  /* base/core/file.h */
struct fetch_ops; /* base/fetch/fetch.h */

struct cr_env {
    int64_t (*now_ns)(void *context);
    int64_t (*utc_us)(void *context);
    void (*random)(void *context, void *bytes, size_t size); /* fit for keys; never fails */
    void (*sleep_until)(void *context, int64_t now_ns);
    void *context;
    const struct db_ops *db;
    const struct bus_ops *bus;
    const struct file_ops *file;
    const struct fetch_ops *fetch;
};

/* The operating system's clock, randomness, sleep and files; no database, bus or fetch yet. */
struct cr_env cr_env_system(void);
