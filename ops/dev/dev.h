/*
 * dev: a whole region on one machine, for development: PostgreSQL, nats-server, cressetd and one
 * cresset-node, on loopback, with all state in one folder (var).
 *
 * Nothing watches the services: each is a process of its own session, whose pid and start time
 * stand in var/run/NAME.pid. dev_up looks at each and starts what is not running, so it brings up
 * and repairs alike; it may be killed at any line and run again.
 *
 * Who runs     an ordinary user: everything is theirs. root: an unprivileged user (postgres, else
 *              nobody), by whom var is owned then. Where that user cannot reach the programs,
 *              because the checkout lies in a closed folder, only PostgreSQL drops to it (it takes
 *              no root), and dev_up says so.
 * Threads      one; two processes at a time are kept apart by a lock in var/run
 * Failures     CR_CONFLICT    a port is taken (the reason names pid and program), or another
 *                             cresset dev is at work
 *              CR_NOT_FOUND   a program or package is missing
 *              CR_UNAVAILABLE a service did not come up; the reason names its log
 */
#pragma once

#include "base/core/call.h"

#define DEV_PORT     7070 /* where nothing is said */
#define DEV_PORT_OPS 7079
#define DEV_PORT_BUS 4222
#define DEV_READY_NS INT64_C(60000000000) /* for one service to come up */
#define DEV_STOP_NS  INT64_C(20000000000) /* for one service to go */

struct dev_config {
    const char *checkout; /* absolute: the folder of build/bin, ops and web */
    const char *var;      /* absolute: where everything is kept */
    int64_t port;         /* of the API and the console; 0: as last time, or DEV_PORT */
    void (*say)(void *context, const char *line); /* what happens, a line each */
    void *context;
};

/* What there is of one service. */
struct dev_service_state {
    const char *service; /* "postgres" */
    const char *state;   /* "running", "dead" (it should run, and does not) or "stopped" */
    int64_t pid;         /* CR_NO_INTEGER where it does not run */
    const char *address;
    const char *log;
};

enum { DEV_SERVICE_COUNT = 4 };

struct dev_state {
    const char *server; /* "http://127.0.0.1:7070" */
    struct dev_service_state services[DEV_SERVICE_COUNT];
};

/* Brings the region up, or repairs it. May be repeated. */
enum cr_status dev_up(struct cr_call *call, const struct dev_config *config,
                      struct dev_state *ret_state) CR_CHECK;

/* Stops everything, the node first; state is kept. Nothing of the region runs afterwards. */
enum cr_status dev_down(struct cr_call *call, const struct dev_config *config) CR_CHECK;

enum cr_status dev_status(struct cr_call *call, const struct dev_config *config,
                          struct dev_state *ret_state) CR_CHECK;

/* dev_down, and then all state is gone. */
enum cr_status dev_reset(struct cr_call *call, const struct dev_config *config) CR_CHECK;

/*
 * The address at which a browser signs in, once, within ten minutes: as the demo tenant, or as an
 * operator.
 */
enum cr_status dev_login(struct cr_call *call, const struct dev_config *config, bool as_operator,
                         const char **ret_url) CR_CHECK;
