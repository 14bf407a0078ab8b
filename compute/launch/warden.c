/*
 * warden: the parent of a runner, between fork and the runner's end. It allocates nothing, opens
 * nothing of a tenant, and knows three things: a deadline, a limit of memory, and a pid.
 */
#include "compute/launch/launch_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WARDEN_FD 3 /* of the warden itself */
#define MS_A_LOOK ((int)(LAUNCH_WATCH_NS / 1000000))

/* Exit statuses of a child that did not become the program. */
enum { EXIT_UNJAILED = 126, EXIT_NOT_STARTED = 127 };

static void close_from(unsigned first, unsigned last)
{
    syscall(SYS_close_range, first, last, 0);
}

static void reset_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void report(int to, const struct launch_report *what)
{
    ssize_t sent = send(to, what, sizeof *what, MSG_NOSIGNAL);
    (void)sent; /* nobody is left to hear it */
}

/* Gives the descriptors their numbers, by way of numbers that no one else has. */
static bool place(const struct launch_plan *plan)
{
    int high[LAUNCH_DESCRIPTORS_MAX];
    for (size_t i = 0; i < plan->descriptor_count; i++)
        high[i] = fcntl(plan->descriptors[i], F_DUPFD_CLOEXEC, JAIL_DESCRIPTOR_MIN);
    for (size_t i = 0; i < plan->descriptor_count; i++)
        if (high[i] < 0 || dup2(high[i], (int)i) < 0)
            return false;
    close_from((unsigned)plan->descriptor_count, JAIL_DESCRIPTOR_MIN - 1);
    return true;
}

static void __attribute__((noreturn))
become_runner(const struct launch_plan *plan, unsigned separated)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int warden = fcntl(plan->warden, F_DUPFD_CLOEXEC, JAIL_DESCRIPTOR_MIN);
    if (warden < 0 || !place(plan))
        _exit(EXIT_NOT_STARTED);
    if (plan->bound && sched_setaffinity(0, sizeof plan->cores, &plan->cores) != 0)
        _exit(EXIT_NOT_STARTED);
    unsigned layers = jail_enter(plan->jail, separated) | JAIL_ENVIRONMENT;
    if ((layers & JAIL_WANTED) != JAIL_WANTED && !plan->insecure)
        _exit(EXIT_UNJAILED);
    report(warden, &(struct launch_report){.layers = layers});
    jail_start(plan->jail, plan->argv);
    _exit(EXIT_NOT_STARTED);
}

static int64_t now_ns(void)
{
    struct timespec at;
    clock_gettime(CLOCK_BOOTTIME, &at);
    return at.tv_sec * INT64_C(1000000000) + at.tv_nsec;
}

/* Bytes of memory that are the process's own: resident, but for what it maps of files. */
static int64_t memory_of(int statm, int64_t page)
{
    char text[128];
    ssize_t length = pread(statm, text, sizeof text - 1, 0);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    long long size, resident, shared;
    if (sscanf(text, "%lld %lld %lld", &size, &resident, &shared) != 3)
        return 0;
    return (resident - shared) * page;
}

/* What the agent says: a new deadline in *until_ns. false: it is gone, or wants an end. */
static bool hear(uint64_t *seq, int64_t *until_ns)
{
    unsigned char bytes[PROTOCOL_FRAME_HEAD_SIZE + 8];
    ssize_t size = recv(WARDEN_FD, bytes, sizeof bytes, MSG_DONTWAIT);
    if (size < 0)
        return errno == EAGAIN || errno == EINTR;
    struct protocol_frame frame;
    if (size == 0 || protocol_frame_read(bytes, (size_t)size, 'a', *seq, &frame))
        return false;
    (*seq)++;
    if (frame.type == PROTOCOL_FRAME_KEEP)
        *until_ns = (int64_t)frame.until_ns;
    return true;
}

struct watch {
    int statm;
    int64_t page, memory_max, until_ns;
    uint64_t seq;
};

/* Waits for the runner's end, or for a reason to make one. */
static enum launch_reason watch_runner(struct watch *watch, int runner)
{
    struct pollfd polled[] = {{.fd = WARDEN_FD, .events = POLLIN},
                              {.fd = runner, .events = POLLIN}};
    for (;;) {
        polled[0].revents = polled[1].revents = 0;
        poll(polled, 2, MS_A_LOOK);
        if (polled[1].revents)
            return LAUNCH_BY_ITSELF;
        if (polled[0].revents && !hear(&watch->seq, &watch->until_ns))
            return LAUNCH_KILLED;
        if (now_ns() >= watch->until_ns)
            return LAUNCH_DEADMAN;
        if (memory_of(watch->statm, watch->page) > watch->memory_max)
            return LAUNCH_MEMORY;
    }
}

void launch_warden_run(const struct launch_plan *plan)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != plan->agent)
        _exit(1);
    prctl(PR_SET_NAME, "cresset-warden");
    setsid();
    reset_signals();
    unsigned separated = jail_separate(plan->jail);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of user clears it */
    if (getppid() != plan->agent)
        _exit(1);
    pid_t child = fork();
    if (child == 0)
        become_runner(plan, separated);

    dup2(plan->warden, WARDEN_FD);
    close_from(WARDEN_FD + 1, ~0u);
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/statm", (int)child);
    int runner = (int)syscall(SYS_pidfd_open, child, 0);
    struct watch watch = {.statm = open(path, O_RDONLY | O_CLOEXEC),
                          .page = sysconf(_SC_PAGESIZE),
                          .memory_max = plan->memory_max,
                          .until_ns = plan->until_ns};
    enum launch_reason reason = LAUNCH_BY_ITSELF;
    if (child > 0)
        reason = runner >= 0 ? watch_runner(&watch, runner) : LAUNCH_KILLED;
    if (reason != LAUNCH_BY_ITSELF)
        kill(child, SIGKILL);

    int status = EXIT_NOT_STARTED << 8;
    struct rusage usage = {0};
    while (child > 0 && wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
        continue;
    report(WARDEN_FD, &(struct launch_report){.is_end = 1,
                                              .status = status,
                                              .reason = (int32_t)reason,
                                              .memory_peak = (int64_t)usage.ru_maxrss * 1024});
    _exit(0);
}
