/* What the files of ops/dev share. */
#pragma once

#include "base/core/file.h"
#include "base/fetch/fetch.h"
#include "ops/dev/dev.h"

#include <sys/types.h>

#define DEV_OUTPUT_MAX   (256 * 1024) /* bytes that a program may print for us */
#define DEV_ARGUMENT_MAX 32

/* The region as one command sees it. */
struct dev {
    const struct dev_config *config;
    const char *var;  /* as this process names it: absolute */
    const char *seen; /* as the services do, whose working folder is the checkout */
    int checkout;     /* open folders, for services that cannot walk to them */
    int lock;         /* -1 where it is not held */
    uid_t uid;        /* of the services */
    gid_t gid;
    bool drop;     /* we are root: PostgreSQL runs as uid */
    bool drop_all; /* the other services, too */
    int64_t port, port_ops, port_bus;
    const char *postgres_bin; /* folder of initdb and postgres */
};

/* How a program is run. */
struct dev_program {
    const char *name;        /* of its log and its record */
    const char *const *argv; /* argv[0] is the path; relative to the working folder */
    bool in_root;            /* its working folder is "/", not the checkout */
    bool as_user;            /* it drops to dev->uid, where we are root */
    int keep;                /* a descriptor that it inherits; -1: none */
    const char *input;       /* its standard input; NULL: none */
};

/* layout.c ------------------------------------------------------------------------------------- */

/* Opens the folders, finds the user and PostgreSQL, makes var where make says so. */
enum cr_status dev_open(struct cr_call *call, const struct dev_config *config, bool make,
                        struct dev *ret_dev) CR_CHECK;
void dev_close(struct dev *dev);
#define DEV_CLOSED ((struct dev){.checkout = -1, .lock = -1})

/* Takes the lock that keeps two commands apart. */
enum cr_status dev_lock(struct cr_call *call, struct dev *dev) CR_CHECK;

/* Writes a file below var that services may read. */
enum cr_status dev_write(struct cr_call *call, const struct dev *dev, const char *name,
                         const char *text) CR_CHECK;

/* The text of a file below var; NULL where there is none. */
const char *dev_read(struct cr_call *call, const struct dev *dev, const char *name);

/* Everything below var belongs to whom the services run as. */
enum cr_status dev_own(struct cr_call *call, const struct dev *dev) CR_CHECK;

/* Removes a folder below var and all that is in it. */
enum cr_status dev_remove(struct cr_call *call, const struct dev *dev, const char *name) CR_CHECK;

/* One line for people. */
void dev_say(struct cr_call *call, const struct dev *dev, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* process.c ------------------------------------------------------------------------------------ */

/* Starts a service in a session of its own, its output in var/log/NAME.log, its record written. */
enum cr_status dev_start(struct cr_call *call, const struct dev *dev,
                         const struct dev_program *program) CR_CHECK;

/* Runs a program to its end. ret_output, what it printed, may be NULL. */
enum cr_status dev_run(struct cr_call *call, const struct dev *dev,
                       const struct dev_program *program, const char **ret_output) CR_CHECK;

/* The last line of a log, for the reason of a failure. */
const char *dev_last_line(struct cr_call *call, const struct dev *dev, const char *name);

/* record.c ------------------------------------------------------------------------------------- */

/* When a process began, in ticks since boot; 0: there is none of that pid, or it is a zombie. */
int64_t dev_started(pid_t pid);

/* The pid of a service that runs; 0: it does not. */
pid_t dev_pid(struct cr_call *call, const struct dev *dev, const char *name);

/* Whether the program of a process has been built anew since it started. */
bool dev_replaced(pid_t pid);

/* Whether a record says that the service should run. */
bool dev_recorded(struct cr_call *call, const struct dev *dev, const char *name);

/* Stops a service, by signal, then by SIGKILL, with all of its session; its record goes. */
enum cr_status dev_stop(struct cr_call *call, const struct dev *dev, const char *name,
                        int signal) CR_CHECK;

/* Kills every process whose working folder is path: what PostgreSQL leaves when it is killed. */
void dev_kill_within(struct cr_call *call, const char *path);

/* port.c --------------------------------------------------------------------------------------- */

/* Whether 127.0.0.1:port can be listened on now. */
bool dev_port_free(int64_t port);

/* The first free port from this one on; 0: none of a hundred. */
int64_t dev_port_from(int64_t port);

/* Who listens there: "pid 812 (nginx)", or "another user's process". */
const char *dev_port_holder(struct cr_call *call, int64_t port);

/* Finds the three ports, and writes them down. */
enum cr_status dev_ports(struct cr_call *call, struct dev *dev) CR_CHECK;

/* Those that were written down. */
void dev_ports_read(struct cr_call *call, struct dev *dev);

/* postgres.c, services.c, tenant.c --------------------------------------------------------------
 */

enum cr_status dev_postgres_up(struct cr_call *call, const struct dev *dev) CR_CHECK;
enum cr_status dev_bus_up(struct cr_call *call, const struct dev *dev) CR_CHECK;
enum cr_status dev_control_up(struct cr_call *call, const struct dev *dev) CR_CHECK;
enum cr_status dev_node_up(struct cr_call *call, const struct dev *dev) CR_CHECK;

/* Runs "cressetd VERB --config FILE". ret_output may be NULL. */
enum cr_status dev_control(struct cr_call *call, const struct dev *dev, const char *verb,
                           const char **ret_output) CR_CHECK;

/* Writes a token by which the node may join into var/nodes/NAME.token. */
enum cr_status dev_enrol(struct cr_call *call, const struct dev *dev, const char *node) CR_CHECK;

/* The demo tenant and the operator have credentials that the server takes. */
enum cr_status dev_tenant_up(struct cr_call *call, const struct dev *dev) CR_CHECK;

/* One request to the region's own server, with a credential or NULL. */
enum cr_status dev_ask(struct cr_call *call, const struct dev *dev,
                       const struct fetch_request *request,
                       struct fetch_answer *ret_answer) CR_CHECK;
