/*
 * bus: hints over NATS. The only door to the NATS C client.
 *
 * A message is a hint: it may come never, once, often, late and out of order, and is never the only
 * copy of anything. Whoever waits for one also looks at PostgreSQL by its own timer. So nothing
 * here fails when NATS is away: a publication is dropped, a wait runs to its end, and the client
 * goes on trying to connect in the background.
 *
 * Subjects     node.NODE, job.TENANT.JOB: what was touched; the body is at most BUS_BODY_MAX bytes
 * Ownership    a hint's texts belong to the call; a subscription to its bus
 * Threads      bus_publish from any thread; a subscription is read by one thread, in its own loop
 * Source       reliability rules bus.1 to bus.6
 */
#pragma once

#include "base/core/call.h"

#define BUS_BODY_MAX 4096
#define BUS_PENDING_MAX                                                      \
    8192 /* messages of a subscription that wait; what comes then is dropped \
          */

struct bus;
struct bus_subscription;

struct bus_hint {
    const char *subject;
    const char *body; /* NUL behind */
    size_t size;
};

struct bus_ops {
    enum cr_status (*open)(struct cr_call *call, const char *url, struct bus **ret_bus);
    void (*close)(struct bus *bus);
    void (*publish)(struct bus *bus, const char *subject, const void *body, size_t size);
    enum cr_status (*subscribe)(struct cr_call *call, struct bus *bus, const char *subject,
                                struct bus_subscription **ret_subscription);
    bool (*next)(struct cr_call *call, struct bus_subscription *subscription, int64_t wait_ns,
                 struct bus_hint *ret_hint);
    void (*leave)(struct bus_subscription *subscription);
    bool (*connected)(const struct bus *bus);
};

/* The operations by libnats: env.bus = &bus_nats. */
extern const struct bus_ops bus_nats;

/*
 * A client of the server at url, for example "nats://127.0.0.1:4222"; "" gives a bus without a
 * server, on which nothing is ever heard. Does not wait for the connection.
 *
 * fails with   CR_INVALID, the url is none
 */
enum cr_status bus_open(struct cr_call *call, const char *url, struct bus **ret_bus) CR_CHECK;

/* Closes it, and the subscriptions of it that are left. bus may be NULL. */
void bus_close(const struct cr_env *env, struct bus *bus);

/* Gives a hint to whoever listens. subject without spaces; body may be NULL. Never waits. */
void bus_publish(const struct cr_call *call, struct bus *bus, const char *subject, const void *body,
                 size_t size);

/* Listens to a subject, which may end in ".>" or hold "*". Left by bus_leave. */
enum cr_status bus_subscribe(struct cr_call *call, struct bus *bus, const char *subject,
                             struct bus_subscription **ret_subscription) CR_CHECK;

/*
 * Waits for the next hint, at most wait_ns. False: none came, which says nothing. A subscription of
 * a bus without a server sleeps for wait_ns.
 */
bool bus_next(struct cr_call *call, struct bus_subscription *subscription, int64_t wait_ns,
              struct bus_hint *ret_hint);

void bus_leave(const struct cr_env *env, struct bus_subscription *subscription);

/* Whether a server answers at present: for /readyz, and for nothing that decides. */
bool bus_connected(const struct cr_call *call, const struct bus *bus);
