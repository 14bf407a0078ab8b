/* bus: the seam, and its operations by libnats. */
#include "base/bus/bus.h"

#include "base/core/time.h"

#include <nats/nats.h>
#include <stdlib.h>
#include <string.h>

#define RECONNECT_WAIT_MS 500
#define CONNECT_MS        1000
#define PING_MS           10000
#define URL_SIZE_MAX      512
#define PENDING_SIZE_MAX  ((size_t)8 << 20) /* bytes of a subscription that wait */

struct bus {
    natsConnection *connection; /* NULL: a bus without a server */
};

struct bus_subscription {
    natsSubscription *subscription; /* NULL: of a bus without a server */
};

static void options_done(natsOptions **options)
{
    natsOptions_Destroy(*options);
}

/* libnats connects in the background only where it has somebody to tell of it. */
static void connected_at_last(natsConnection *connection, void *context)
{
    (void)connection;
    (void)context;
}

/* Every refusal of an option is one of its value, and so of ours but for the url. */
static natsStatus options_of(natsOptions *options, const char *url)
{
    natsStatus status = natsOptions_SetURL(options, url);
    if (status == NATS_OK)
        status = natsOptions_SetAllowReconnect(options, true);
    if (status == NATS_OK)
        status = natsOptions_SetMaxReconnect(options, -1);
    if (status == NATS_OK)
        status = natsOptions_SetReconnectWait(options, RECONNECT_WAIT_MS);
    if (status == NATS_OK)
        status = natsOptions_SetTimeout(options, CONNECT_MS);
    if (status == NATS_OK)
        status = natsOptions_SetPingInterval(options, PING_MS);
    if (status == NATS_OK)
        status = natsOptions_SetIgnoreDiscoveredServers(options, true);
    if (status == NATS_OK)
        status = natsOptions_SetRetryOnFailedConnect(options, true, connected_at_last, NULL);
    if (status == NATS_OK)
        status = natsOptions_SetMaxPendingMsgs(options, BUS_PENDING_MAX);
    return status;
}

/* The client takes almost any text for an address, and would try it for ever. */
static bool is_url(const char *url)
{
    bool scheme = strncmp(url, "nats://", 7) == 0 || strncmp(url, "tls://", 6) == 0;
    return scheme && strlen(url) < URL_SIZE_MAX && !strpbrk(url, " \t\r\n");
}

static enum cr_status open_(struct cr_call *call, const char *url, struct bus **ret_bus)
{
    if (*url && !is_url(url))
        return cr_fail(call, CR_INVALID, "the address of the bus is no nats:// or tls:// URL");
    struct bus *bus = calloc(1, sizeof *bus);
    if (!bus)
        abort();
    if (*url) {
        CR_SCOPED(options_done) natsOptions *options = NULL;
        natsStatus status = natsOptions_Create(&options);
        if (status == NATS_OK)
            status = options_of(options, url);
        if (status == NATS_OK)
            status = natsConnection_Connect(&bus->connection, options);
        if (status != NATS_OK && status != NATS_NOT_YET_CONNECTED) {
            free(bus);
            return cr_fail(call, CR_INVALID, "the bus cannot be used: %s",
                           natsStatus_GetText(status));
        }
    }
    *ret_bus = bus;
    return CR_OK;
}

static void close_(struct bus *bus)
{
    natsConnection_Destroy(bus->connection);
    free(bus);
}

static bool connected(const struct bus *bus)
{
    return bus->connection && natsConnection_Status(bus->connection) == NATS_CONN_STATUS_CONNECTED;
}

/* What the client says of a publication proves nothing (bus.2), so its answer is not looked at. */
static void publish(struct bus *bus, const char *subject, const void *body, size_t size)
{
    if (connected(bus))
        (void)natsConnection_Publish(bus->connection, subject, body, (int)size);
}

static enum cr_status subscribe(struct cr_call *call, struct bus *bus, const char *subject,
                                struct bus_subscription **ret_subscription)
{
    struct bus_subscription *it = calloc(1, sizeof *it);
    if (!it)
        abort();
    if (bus->connection) {
        natsStatus status =
            natsConnection_SubscribeSync(&it->subscription, bus->connection, subject);
        if (status == NATS_OK)
            status = natsSubscription_SetPendingLimits(it->subscription, BUS_PENDING_MAX,
                                                       (int)PENDING_SIZE_MAX);
        if (status != NATS_OK) {
            natsSubscription_Destroy(it->subscription);
            free(it);
            return cr_fail(call, CR_INVALID, "no subscription to '%s': %s", subject,
                           natsStatus_GetText(status));
        }
    }
    *ret_subscription = it;
    return CR_OK;
}

static bool next(struct cr_call *call, struct bus_subscription *subscription, int64_t wait_ns,
                 struct bus_hint *ret_hint)
{
    natsMsg *message = NULL;
    int64_t wait_ms = wait_ns / 1000000 > 0 ? wait_ns / 1000000 : 1;
    int64_t until_ns = cr_now_ns(call) + wait_ns;
    natsStatus status =
        subscription->subscription
            ? natsSubscription_NextMsg(&message, subscription->subscription, wait_ms)
            : NATS_TIMEOUT;
    if (status != NATS_OK) {
        /* A closed or a missing one answers at once: the caller's loop must not spin on it. */
        call->env->sleep_until(call->env->context, until_ns);
        return false;
    }
    size_t size = (size_t)natsMsg_GetDataLength(message);
    *ret_hint = (struct bus_hint){
        .subject = cr_format(call, "%s", natsMsg_GetSubject(message)),
        .body = cr_copy(call, natsMsg_GetData(message), size < BUS_BODY_MAX ? size : BUS_BODY_MAX),
        .size = size < BUS_BODY_MAX ? size : BUS_BODY_MAX,
    };
    natsMsg_Destroy(message);
    return true;
}

static void leave(struct bus_subscription *subscription)
{
    natsSubscription_Destroy(subscription->subscription);
    free(subscription);
}

const struct bus_ops bus_nats = {
    .open = open_,
    .close = close_,
    .publish = publish,
    .subscribe = subscribe,
    .next = next,
    .leave = leave,
    .connected = connected,
};

/* The seam ------------------------------------------------------------------------------------ */

enum cr_status bus_open(struct cr_call *call, const char *url, struct bus **ret_bus)
{
    return call->env->bus->open(call, url, ret_bus);
}

void bus_close(const struct cr_env *env, struct bus *bus)
{
    if (bus)
        env->bus->close(bus);
}

void bus_publish(const struct cr_call *call, struct bus *bus, const char *subject, const void *body,
                 size_t size)
{
    if (size <= BUS_BODY_MAX)
        call->env->bus->publish(bus, subject, body, body ? size : 0);
}

enum cr_status bus_subscribe(struct cr_call *call, struct bus *bus, const char *subject,
                             struct bus_subscription **ret_subscription)
{
    return call->env->bus->subscribe(call, bus, subject, ret_subscription);
}

bool bus_next(struct cr_call *call, struct bus_subscription *subscription, int64_t wait_ns,
              struct bus_hint *ret_hint)
{
    return call->env->bus->next(call, subscription, wait_ns, ret_hint);
}

void bus_leave(const struct cr_env *env, struct bus_subscription *subscription)
{
    if (subscription)
        env->bus->leave(subscription);
}

bool bus_connected(const struct cr_call *call, const struct bus *bus)
{
    return call->env->bus->connected(bus);
}
