/*
 * A private PostgreSQL cluster in var/postgres.
 *
 * It is named to PostgreSQL as /proc/self/fd/N, an inherited descriptor: so the unprivileged user
 * need not be able to walk to it. For the same reason its working folder is "/" when it starts,
 * and its socket is told as "../run", relative to the cluster.
 */
#include "ops/dev/dev_internal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/core/parse.h"

#define POLL_NS   INT64_C(20000000)
#define SUPERUSER "cresset_super"

/* What cressetd migrate builds on. May be repeated. */
static const char roles_sql[] =
    "SELECT 'CREATE ROLE cresset_owner LOGIN CREATEROLE' WHERE NOT EXISTS\n"
    "  (SELECT FROM pg_roles WHERE rolname = 'cresset_owner') \\gexec\n"
    "SELECT 'CREATE DATABASE cresset OWNER cresset_owner' WHERE NOT EXISTS\n"
    "  (SELECT FROM pg_database WHERE datname = 'cresset') \\gexec\n"
    "\\connect cresset\n"
    "ALTER SCHEMA public OWNER TO cresset_owner;\n";

static enum cr_status open_folder(struct cr_call *call, const char *path, int *ret_fd)
{
    *ret_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*ret_fd < 0)
        return cr_fail(call, CR_UNAVAILABLE, "%s cannot be opened", path);
    return CR_OK;
}

static void close_folder(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* Makes the cluster beside its place and renames it, so that one half made is never used. */
static enum cr_status make_cluster(struct cr_call *call, const struct dev *dev)
{
    const char *beside = cr_format(call, "%s/postgres.new", dev->var);
    CR_SCOPED(close_folder) int fd = -1;
    CR_TRY(dev_remove(call, dev, "postgres.new"));
    if (mkdir(beside, 0700) != 0 || (dev->drop && lchown(beside, dev->uid, dev->gid) != 0))
        return cr_fail(call, CR_UNAVAILABLE, "%s cannot be made", beside);
    CR_TRY(open_folder(call, beside, &fd));
    const char *const argv[] = {cr_format(call, "%s/initdb", dev->postgres_bin),
                                "-D",
                                cr_format(call, "/proc/self/fd/%d", fd),
                                "-U",
                                SUPERUSER,
                                "--auth=trust",
                                "-E",
                                "UTF8",
                                "--locale=C.UTF-8",
                                "--lc-collate=C",
                                "--data-checksums",
                                "--no-instructions",
                                NULL};
    CR_TRY(
        dev_run(call, dev,
                &(struct dev_program){
                    .name = "postgres", .argv = argv, .in_root = true, .as_user = true, .keep = fd},
                NULL));
    return cr_file_rename(call, beside, cr_format(call, "%s/postgres", dev->var));
}

/* The state that the postmaster writes into line 8 of its pid file, as pg_ctl reads it. */
static bool is_ready(struct cr_call *call, const struct dev *dev)
{
    const char *line = dev_read(call, dev, "postgres/postmaster.pid");
    for (int i = 1; line && i < 8; i++) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return line && strncmp(line, "ready", 5) == 0;
}

/*
 * After a kill -9 the server's children live on for a moment, and its lock files stay. While its
 * pid is a zombie's, or has been given to another process, PostgreSQL would not start: they go.
 * That it is dead is known from its record, and that nobody starts another from our own lock.
 */
static void clear_remains(struct cr_call *call, const struct dev *dev)
{
    static const char *const remains[] = {"postgres/postmaster.pid", "run/.s.PGSQL.5432.lock",
                                          "run/.s.PGSQL.5432", NULL};
    dev_kill_within(call, cr_format(call, "%s/postgres", dev->var));
    for (const char *const *name = remains; *name; name++)
        if (cr_file_remove(call, cr_format(call, "%s/%s", dev->var, *name)) != CR_OK)
            cr_forgive(call);
}

static enum cr_status start_server(struct cr_call *call, const struct dev *dev)
{
    CR_SCOPED(close_folder) int fd = -1;
    clear_remains(call, dev);
    CR_TRY(open_folder(call, cr_format(call, "%s/postgres", dev->var), &fd));
    const char *const argv[] = {cr_format(call, "%s/postgres", dev->postgres_bin),
                                "-D",
                                cr_format(call, "/proc/self/fd/%d", fd),
                                "-c",
                                "listen_addresses=",
                                "-c",
                                "unix_socket_directories=../run",
                                "-c",
                                "unix_socket_permissions=0700",
                                "-c",
                                "max_connections=64",
                                "-c",
                                "shared_buffers=64MB",
                                "-c",
                                "log_timezone=UTC",
                                "-c",
                                "timezone=UTC",
                                NULL};
    CR_TRY(dev_start(
        call, dev,
        &(struct dev_program){
            .name = "postgres", .argv = argv, .in_root = true, .as_user = true, .keep = fd}));
    int64_t until = cr_now_ns(call) + DEV_READY_NS;
    while (!is_ready(call, dev)) {
        if (!dev_pid(call, dev, "postgres") || cr_now_ns(call) > until)
            return cr_fail(call, CR_UNAVAILABLE,
                           "PostgreSQL did not start: %s (var/log/postgres.log)",
                           dev_last_line(call, dev, "postgres"));
        call->env->sleep_until(call->env->context, cr_now_ns(call) + POLL_NS);
    }
    return CR_OK;
}

enum cr_status dev_postgres_up(struct cr_call *call, const struct dev *dev)
{
    CR_SCOPED(close_folder) int fd = -1;
    if (dev_pid(call, dev, "postgres") && is_ready(call, dev))
        return CR_OK;
    CR_TRY(dev_stop(call, dev, "postgres", SIGINT));
    if (access(cr_format(call, "%s/postgres", dev->var), F_OK) != 0)
        CR_TRY(make_cluster(call, dev));
    CR_TRY(start_server(call, dev));
    CR_TRY(open_folder(call, cr_format(call, "%s/run", dev->var), &fd));
    const char *const argv[] = {cr_format(call, "%s/psql", dev->postgres_bin),
                                "-h",
                                cr_format(call, "/proc/self/fd/%d", fd),
                                "-U",
                                SUPERUSER,
                                "-d",
                                "postgres",
                                "-X",
                                "-q",
                                "-v",
                                "ON_ERROR_STOP=1",
                                NULL};
    return dev_run(call, dev,
                   &(struct dev_program){.name = "psql",
                                         .argv = argv,
                                         .in_root = true,
                                         .as_user = true,
                                         .keep = fd,
                                         .input = roles_sql},
                   NULL);
}
