/* Starts programs: services that outlive us, and tools that do not. */
#include "ops/dev/dev_internal.h"

#include "base/core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define LAST_LINE_MAX 200 /* bytes of a log's last line that are shown */

/* What the child does before it is another program. Only calls that are safe after fork. */
static void become(const struct dev *dev, const struct dev_program *program)
{
    static char *const environment[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:"
                                        "/sbin:/bin",
                                        "LC_ALL=C.UTF-8", "TZ=UTC", "HOME=/", NULL};
    signal(SIGPIPE, SIG_DFL);
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    if (program->keep >= 0)
        fcntl(program->keep, F_SETFD, 0);
    if ((program->in_root ? chdir("/") : fchdir(dev->checkout)) != 0)
        _exit(126);
    bool drop = program->as_user && dev->drop;
    if (drop && (setgroups(0, NULL) != 0 || setgid(dev->gid) != 0 || setuid(dev->uid) != 0))
        _exit(126);
    /* execve takes char *const[] for the sake of old callers; it changes nothing. */
    union {
        const char *const *given;
        char *const *taken;
    } argv = {.given = program->argv};
    execve(argv.given[0], argv.taken, environment);
    _exit(127);
}

/* Writes "PID START" of this very process, before it becomes the service: so none is unknown. */
static bool write_record(int folder, const char *name, const char *temporary)
{
    char line[64];
    int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    int length =
        snprintf(line, sizeof line, "%d %lld\n", (int)getpid(), (long long)dev_started(getpid()));
    bool fine = write(fd, line, (size_t)length) == length && fsync(fd) == 0;
    close(fd);
    return fine && renameat(folder, temporary, folder, name) == 0;
}

static int open_log(struct cr_call *call, const struct dev *dev, const char *name)
{
    const char *path = cr_format(call, "%s/log/%s.log", dev->var, name);
    int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log >= 0 && dev->drop && fchown(log, dev->uid, dev->gid) != 0) {
        close(log);
        return -1;
    }
    return log;
}

enum cr_status dev_start(struct cr_call *call, const struct dev *dev,
                         const struct dev_program *program)
{
    const char *run = cr_format(call, "%s/run", dev->var);
    const char *record = cr_format(call, "%s.pid", program->name);
    const char *temporary = cr_format(call, ".%s.pid.new", program->name);
    int log = open_log(call, dev, program->name);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    int folder = open(run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int told[2] = {-1, -1};
    pid_t pid = -1;
    if (log >= 0 && nothing >= 0 && folder >= 0 && pipe2(told, O_CLOEXEC) == 0)
        pid = fork();
    if (pid == 0) {
        setsid();
        if (!write_record(folder, record, temporary))
            _exit(126);
        dup2(nothing, 0);
        dup2(log, 1);
        dup2(log, 2);
        if (write(told[1], "", 1) != 1)
            _exit(126);
        become(dev, program);
    }
    int reason = errno;
    close(told[1]);
    char byte;
    bool recorded = pid > 0 && read(told[0], &byte, 1) == 1;
    close(told[0]);
    close(log);
    close(nothing);
    close(folder);
    if (!recorded)
        return cr_fail(call, CR_UNAVAILABLE, "%s could not be started: %s", program->name,
                       strerror(reason));
    return CR_OK;
}

/* Feeds the input, closes *to, and collects the output until its end, or the deadline. */
static bool converse(struct cr_call *call, int *to, int from, const char *input,
                     struct cr_text *output)
{
    size_t left = input ? strlen(input) : 0;
    char part[4096];
    for (;;) {
        struct pollfd ends[2] = {{.fd = from, .events = POLLIN},
                                 {.fd = left ? *to : -1, .events = POLLOUT}};
        int64_t wait_ns = call->deadline_ns - cr_now_ns(call);
        if (wait_ns <= 0 || output->length > DEV_OUTPUT_MAX)
            return false;
        int wait_ms = wait_ns > DEV_READY_NS ? 1000 : (int)(wait_ns / 1000000) + 1;
        if (poll(ends, 2, wait_ms) < 0 && errno != EINTR)
            return false;
        if (left && (ends[1].revents & (POLLOUT | POLLERR))) {
            ssize_t sent = write(*to, input, left);
            left = sent > 0 ? left - (size_t)sent : 0;
            input += sent > 0 ? sent : 0;
        }
        if (!left && *to >= 0) {
            close(*to);
            *to = -1;
        }
        if (ends[0].revents) {
            ssize_t got = read(from, part, sizeof part);
            if (got <= 0)
                return got == 0;
            cr_text_add_bytes(output, part, (size_t)got);
        }
    }
}

const char *dev_last_line(struct cr_call *call, const struct dev *dev, const char *name)
{
    char bytes[4096];
    const char *path = cr_format(call, "%s/log/%s.log", dev->var, name);
    int log = open(path, O_RDONLY | O_CLOEXEC);
    if (log < 0)
        return "";
    off_t size = lseek(log, 0, SEEK_END), from = size > 4095 ? size - 4095 : 0;
    ssize_t length = pread(log, bytes, sizeof bytes - 1, from);
    close(log);
    while (length > 0 && bytes[length - 1] == '\n')
        length--;
    if (length <= 0)
        return "";
    bytes[length] = 0;
    const char *line = strrchr(bytes, '\n');
    return cr_format(call, "%.*s", LAST_LINE_MAX, line ? line + 1 : bytes);
}

enum cr_status dev_run(struct cr_call *call, const struct dev *dev,
                       const struct dev_program *program, const char **ret_output)
{
    int to[2] = {-1, -1}, from[2] = {-1, -1};
    int log = open_log(call, dev, program->name);
    if (log < 0 || pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
        return cr_fail(call, CR_UNAVAILABLE, "%s: %s", program->name, strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        dup2(log, 2);
        become(dev, program);
    }
    close(log);
    close(to[0]);
    close(from[1]);
    struct cr_text output = cr_text_open(call);
    bool whole = pid > 0 && converse(call, &to[1], from[0], program->input, &output);
    close(from[0]);
    if (to[1] >= 0)
        close(to[1]);
    int status = 0;
    if (pid > 0 && !whole)
        kill(pid, SIGKILL);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!whole || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return cr_fail(call, CR_UNAVAILABLE, "%s failed: %s (var/log/%s.log)", program->argv[0],
                       dev_last_line(call, dev, program->name), program->name);
    if (ret_output)
        *ret_output = output.data;
    return CR_OK;
}
