/* Which of the services run: var/run/NAME.pid holds "PID START", START being field 22 of proc(5).
 */
#include "ops/dev/dev_internal.h"

#include "base/core/parse.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

#define POLL_NS INT64_C(20000000)

/* The n-th field behind the name of a process (1: its state); the name may hold blanks. */
static bool stat_field(pid_t pid, int n, char *ret_text, size_t size)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, line, sizeof line - 1);
    close(fd);
    if (length <= 0)
        return false;
    line[length] = 0;
    const char *field = strrchr(line, ')');
    for (int i = 0; field && i < n; i++)
        field = strchr(field + 1, ' ');
    if (!field)
        return false;
    snprintf(ret_text, size, "%.*s", (int)strcspn(field + 1, " "), field + 1);
    return true;
}

int64_t dev_started(pid_t pid)
{
    char text[32];
    int64_t started;
    if (!stat_field(pid, 1, text, sizeof text) || text[0] == 'Z' || text[0] == 'X')
        return 0;
    if (!stat_field(pid, 20, text, sizeof text) ||
        !cr_parse_integer(text, strlen(text), 0, INT64_MAX, &started))
        return 0;
    return started;
}

static pid_t session_of(pid_t pid)
{
    char text[32];
    int64_t session;
    if (!stat_field(pid, 4, text, sizeof text) ||
        !cr_parse_integer(text, strlen(text), 0, INT_MAX, &session))
        return 0;
    return (pid_t)session;
}

/* The pid of the record, and its start time; 0: there is no record. */
static pid_t recorded(struct cr_call *call, const struct dev *dev, const char *name,
                      int64_t *ret_started)
{
    const char *text = dev_read(call, dev, cr_format(call, "run/%s.pid", name));
    int64_t pid;
    if (!text)
        return 0;
    size_t first = strcspn(text, " "), rest = first + (text[first] == ' ');
    if (!cr_parse_integer(text, first, 1, INT_MAX, &pid) ||
        !cr_parse_integer(text + rest, strcspn(text + rest, "\n"), 0, INT64_MAX, ret_started))
        return 0;
    return (pid_t)pid;
}

bool dev_replaced(pid_t pid)
{
    static const char gone[] = " (deleted)";
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(link, path, sizeof path - 1), tail = (ssize_t)strlen(gone);
    path[length > 0 ? length : 0] = 0;
    return length > tail && strcmp(path + length - tail, gone) == 0;
}

bool dev_recorded(struct cr_call *call, const struct dev *dev, const char *name)
{
    int64_t started;
    return recorded(call, dev, name, &started) != 0;
}

pid_t dev_pid(struct cr_call *call, const struct dev *dev, const char *name)
{
    int64_t started;
    pid_t pid = recorded(call, dev, name, &started);
    return pid && dev_started(pid) == started ? pid : 0;
}

/* Calls kill for each process that fits; says whether there was one. */
static bool kill_each(bool (*fits)(pid_t pid, const void *what), const void *what)
{
    bool found = false;
    DIR *processes = opendir("/proc");
    if (!processes)
        return false;
    for (const struct dirent *entry; (entry = readdir(processes));) {
        int64_t pid;
        if (cr_parse_integer(entry->d_name, strlen(entry->d_name), 2, INT_MAX, &pid) &&
            pid != getpid() && fits((pid_t)pid, what) && dev_started((pid_t)pid) != 0) {
            found = true;
            kill((pid_t)pid, SIGKILL);
        }
    }
    closedir(processes);
    return found;
}

static bool of_session(pid_t pid, const void *what)
{
    return session_of(pid) == *(const pid_t *)what;
}

static bool works_within(pid_t pid, const void *what)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%d/cwd", (int)pid);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0)
        return false;
    path[length] = 0;
    return strcmp(path, what) == 0;
}

static void kill_until_gone(struct cr_call *call, bool (*fits)(pid_t pid, const void *what),
                            const void *what)
{
    int64_t until = cr_now_ns(call) + DEV_STOP_NS;
    while (kill_each(fits, what) && cr_now_ns(call) < until)
        call->env->sleep_until(call->env->context, cr_now_ns(call) + POLL_NS);
}

void dev_kill_within(struct cr_call *call, const char *path)
{
    kill_until_gone(call, works_within, path);
}

enum cr_status dev_stop(struct cr_call *call, const struct dev *dev, const char *name, int signal)
{
    int64_t started = 0, until = cr_now_ns(call) + DEV_STOP_NS;
    pid_t pid = recorded(call, dev, name, &started);
    if (pid && dev_started(pid) == started)
        kill(pid, signal);
    while (pid && dev_started(pid) == started && cr_now_ns(call) < until)
        call->env->sleep_until(call->env->context, cr_now_ns(call) + POLL_NS);
    if (pid)
        kill_until_gone(call, of_session, &pid);
    if (pid && dev_started(pid) == started)
        return cr_fail(call, CR_UNAVAILABLE, "%s (pid %d) does not end", name, (int)pid);
    if (pid)
        CR_TRY(cr_file_remove(call, cr_format(call, "%s/run/%s.pid", dev->var, name)));
    return CR_OK;
}
