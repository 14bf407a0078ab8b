/*
 * filter: the two lists of what may be called, compiled by libseccomp before the fork. Whatever is
 * on no list kills the process.
 */
#include "base/jail/jail_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILTER_MAX 4096 /* instructions, as the kernel has it */

/* What a sealed runner does: memory, its descriptors, its threads, clocks; and ending. */
static const char *const sealed[] = {"brk",
                                     "mmap",
                                     "munmap",
                                     "mremap",
                                     "madvise",
                                     "mprotect",
                                     "read",
                                     "readv",
                                     "pread64",
                                     "write",
                                     "writev",
                                     "pwrite64",
                                     "lseek",
                                     "ftruncate",
                                     "fsync",
                                     "fdatasync",
                                     "fstat",
                                     "newfstatat",
                                     "close",
                                     "sendto",
                                     "recvfrom",
                                     "sendmsg",
                                     "recvmsg",
                                     "poll",
                                     "ppoll",
                                     "futex",
                                     "sched_yield",
                                     "sched_getaffinity",
                                     "clock_gettime",
                                     "clock_nanosleep",
                                     "nanosleep",
                                     "gettimeofday",
                                     "getrandom",
                                     "getpid",
                                     "gettid",
                                     "tgkill",
                                     "rt_sigaction",
                                     "rt_sigprocmask",
                                     "rt_sigreturn",
                                     "sigaltstack",
                                     "restart_syscall",
                                     "rseq",
                                     "set_robust_list",
                                     "exit",
                                     "exit_group",
                                     "getrusage",
                                     "membarrier",
                                     "uname",
                                     NULL};

/* What it does besides while it loads: libraries, threads, itself. */
static const char *const loading[] = {"execveat",
                                      "execve",
                                      "open",
                                      "openat",
                                      "access",
                                      "faccessat",
                                      "faccessat2",
                                      "readlink",
                                      "readlinkat",
                                      "stat",
                                      "lstat",
                                      "statx",
                                      "statfs",
                                      "getdents64",
                                      "getcwd",
                                      "fcntl",
                                      "arch_prctl",
                                      "set_tid_address",
                                      "prlimit64",
                                      "getrlimit",
                                      "sched_setaffinity",
                                      "sched_getparam",
                                      "sched_getscheduler",
                                      "sched_get_priority_max",
                                      "sched_get_priority_min",
                                      "prctl",
                                      "seccomp",
                                      "getuid",
                                      "geteuid",
                                      "getgid",
                                      "getegid",
                                      "getppid",
                                      "ioctl",
                                      "sysinfo",
                                      "pipe2",
                                      "dup",
                                      "eventfd2",
                                      NULL};

static bool allow(scmp_filter_ctx filter, const char *const *names)
{
    for (const char *const *name = names; *name; name++) {
        int number = seccomp_syscall_resolve_name(*name);
        if (number != __NR_SCMP_ERROR && number >= 0 &&
            seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0) != 0)
            return false;
    }
    return true;
}

/* A thread may be made, a process or a namespace may not; clone3 hides its flags, so it is not. */
static bool allow_threads(scmp_filter_ctx filter)
{
    return seccomp_rule_add(
               filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
               SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_NEWUSER, CLONE_THREAD)) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
}

static scmp_filter_ctx list(bool seal)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (!filter)
        return NULL;
    bool done = allow(filter, sealed);
    if (!seal)
        done = done && allow(filter, loading) && allow_threads(filter);
    if (!done) {
        seccomp_release(filter);
        return NULL;
    }
    return filter;
}

enum cr_status jail_compile(struct cr_call *call, struct jail *jail)
{
    scmp_filter_ctx filter = list(false);
    int file = memfd_create("filter", MFD_CLOEXEC);
    struct stat about = {0};
    bool done = filter && file >= 0 && seccomp_export_bpf(filter, file) == 0 &&
                fstat(file, &about) == 0 && about.st_size > 0 &&
                about.st_size <= (off_t)(FILTER_MAX * sizeof(struct sock_filter));
    if (done) {
        jail->load_filter = calloc(1, (size_t)about.st_size);
        jail->load_count = (size_t)about.st_size / sizeof(struct sock_filter);
        done = jail->load_filter &&
               pread(file, jail->load_filter, (size_t)about.st_size, 0) == about.st_size;
    }
    if (file >= 0)
        close(file);
    if (filter)
        seccomp_release(filter);
    return done ? CR_OK : cr_fail(call, CR_UNAVAILABLE, "no filter of syscalls can be made here");
}

bool jail_filter(const struct sock_filter *filter, size_t count)
{
    union {
        const struct sock_filter *read;
        struct sock_filter *kernel; /* which does not write it, but has it so in its type */
    } code = {.read = filter};
    struct sock_fprog program = {.len = (unsigned short)count, .filter = code.kernel};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

enum cr_status jail_seal(struct cr_call *call)
{
    scmp_filter_ctx filter = list(true);
    bool done = filter && seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0 &&
                seccomp_load(filter) == 0;
    if (filter)
        seccomp_release(filter);
    return done ? CR_OK : cr_fail(call, CR_UNAVAILABLE, "the seal cannot be put on");
}
