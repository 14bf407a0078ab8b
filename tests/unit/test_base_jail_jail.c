/*
 * base/jail: each probe is a thing that a runner might try; each is refused, by the layer that
 * stands in its way first. A layer that this kernel lacks is printed as SKIPPED.
 */
#include "tests/unit/test.h"

#include "base/jail/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a probe ends with: 0 it was let through, else an errno; killed: 1000 + the signal. */
#define KILLED(signal) (1000 + (signal))
#define FAILED(work)   ((work) < 0 ? errno : 0)

static int parent;

static int read_passwords(void)
{
    return FAILED(open("/etc/passwd", O_RDONLY));
}
static int list_the_root(void)
{
    return FAILED(open("/", O_RDONLY | O_DIRECTORY));
}
static int write_into_the_libraries(void)
{
    return FAILED(open("/usr/lib/cresset-probe", O_WRONLY | O_CREAT, 0600));
}
static int write_a_file_in_tmp(void)
{
    return FAILED(open("/tmp/cresset-probe", O_WRONLY | O_CREAT, 0600));
}
static int read_the_parents_environment(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", parent);
    return FAILED(open(path, O_RDONLY));
}
static int open_a_device(void)
{
    return FAILED(open("/dev/mem", O_RDONLY));
}
static int connect_out(void)
{
    return FAILED(socket(AF_INET, SOCK_STREAM, 0));
}
static int connect_locally(void)
{
    return FAILED(socket(AF_UNIX, SOCK_STREAM, 0));
}
static int trace_the_parent(void)
{
    return FAILED(ptrace(PTRACE_ATTACH, parent, NULL, NULL));
}
static int make_a_process(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    return FAILED(child);
}
static int make_a_namespace(void)
{
    return FAILED(unshare(CLONE_NEWUSER));
}
static int mount_something(void)
{
    return FAILED(mount("none", "/tmp", "tmpfs", 0, NULL));
}
static int use_io_uring(void)
{
    return FAILED(syscall(SYS_io_uring_setup, 1, NULL));
}
static int load_a_bpf_program(void)
{
    return FAILED(syscall(SYS_bpf, 0, NULL, 0));
}
static int watch_performance(void)
{
    return FAILED(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
}
static int handle_faults(void)
{
    return FAILED(syscall(SYS_userfaultfd, 0));
}
static int use_the_keyring(void)
{
    return FAILED(syscall(SYS_keyctl, 0, 0, 0, 0, 0));
}
static int read_another_process(void)
{
    return FAILED(syscall(SYS_process_vm_readv, parent, NULL, 0, NULL, 0, 0));
}
static int signal_the_parent(void)
{
    return FAILED(kill(parent, SIGTERM));
}
static int join_a_namespace(void)
{
    return FAILED(setns(0, 0));
}
static int load_a_kernel(void)
{
    return FAILED(syscall(SYS_kexec_load, 0, 0, NULL, 0));
}
static int change_the_root(void)
{
    return FAILED(chroot("/usr"));
}
static int become_root(void)
{
    return FAILED(setuid(0));
}
static int link_out_of_the_jail(void)
{
    return FAILED(symlink("/etc/passwd", "/tmp/link"));
}
static int share_memory(void)
{
    return FAILED(memfd_create("probe", 0));
}
static int write_past_the_limit(void)
{
    signal(SIGXFSZ, SIG_IGN);
    return FAILED(pwrite(9, "x", 1, INT64_C(1) << 40));
}
static int dump_core(void)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    return FAILED(setrlimit(RLIMIT_CORE, &limit));
}
static int open_after_the_seal(void)
{
    return FAILED(open("/usr/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY));
}
static int make_a_thread_after_the_seal(void)
{
    return FAILED(syscall(SYS_clone, CLONE_THREAD | CLONE_SIGHAND | CLONE_VM, 0, 0, 0, 0));
}
static int start_a_program_after_the_seal(void)
{
    char *none[] = {NULL};
    return FAILED(execve("/usr/bin/true", none, none));
}
static int compute(void)
{
    void *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return errno;
    memset(memory, 1, 1 << 20);
    struct timespec now;
    return FAILED(clock_gettime(CLOCK_BOOTTIME, &now));
}

static const struct probe {
    const char *name;
    int (*run)(void);
    bool sealed;
    unsigned layer; /* that refuses it */
    int wanted[2];
} probes[] = {
#define PROBE(name, sealed, layer, ...) \
    {                                   \
#name, name, sealed, layer,     \
        {                               \
            __VA_ARGS__                 \
        }                               \
    }
    PROBE(read_passwords, false, JAIL_LANDLOCK, ENOENT, EACCES),
    PROBE(list_the_root, false, JAIL_LANDLOCK, EACCES, EACCES),
    PROBE(write_into_the_libraries, false, JAIL_LANDLOCK, EACCES, EROFS),
    PROBE(write_a_file_in_tmp, false, JAIL_LANDLOCK, ENOENT, EACCES),
    PROBE(read_the_parents_environment, false, JAIL_LANDLOCK, ENOENT, EACCES),
    PROBE(open_a_device, false, JAIL_LANDLOCK, ENOENT, EACCES),
    PROBE(connect_out, false, JAIL_SECCOMP, KILLED(SIGSYS)),
    PROBE(connect_locally, false, JAIL_SECCOMP, KILLED(SIGSYS)),
    PROBE(trace_the_parent, false, JAIL_SECCOMP, KILLED(SIGSYS)),
    PROBE(make_a_process, false, JAIL_SECCOMP, KILLED(SIGSYS)),
    PROBE(make_a_namespace, false, JAIL_SECCOMP, KILLED(SIGSYS)),
    PROBE(mount_something, false, JAIL_SECCOMP, KILLED(SIGSYS)),
    PROBE(use_io_uring, false, JAIL_SECCOMP, KILLED(SIGSYS)),
    PROBE(load_a_bpf_program, false, JAIL_SECCOMP, KILLED(SIGSYS)),
    PROBE(watch_performance, false, JAIL_SECCOMP, KILLED(SIGSYS)),
    PROBE(handle_faults, false, JAIL_SECCOMP, KILLED(SIGSYS)),
    PROBE(use_the_keyring, false, JAIL_SECCOMP, KILLED(SIGSYS)),
    PROBE(read_another_process, false, JAIL_SECCOMP, KILLED(SIGSYS)),
    PROBE(signal_the_parent, false, JAIL_SECCOMP, KILLED(SIGSYS)),
    PROBE(join_a_namespace, false, JAIL_SECCOMP, KILLED(SIGSYS)),
    PROBE(load_a_kernel, false, JAIL_SECCOMP, KILLED(SIGSYS)),
    PROBE(change_the_root, false, JAIL_SECCOMP, KILLED(SIGSYS)),
    PROBE(become_root, false, JAIL_SECCOMP, KILLED(SIGSYS)),
    PROBE(link_out_of_the_jail, false, JAIL_SECCOMP, KILLED(SIGSYS)),
    PROBE(share_memory, false, JAIL_SECCOMP, KILLED(SIGSYS)),
    PROBE(write_past_the_limit, true, JAIL_LIMITS, EFBIG),
    PROBE(dump_core, false, JAIL_LIMITS, EPERM),
    PROBE(open_after_the_seal, true, JAIL_SEALED, KILLED(SIGSYS)),
    PROBE(make_a_thread_after_the_seal, true, JAIL_SEALED, KILLED(SIGSYS)),
    PROBE(start_a_program_after_the_seal, true, JAIL_SEALED, KILLED(SIGSYS)),
    PROBE(compute, true, JAIL_SEALED, 0),
};

/* In the jailed child: the probe, and its end as an exit status. */
static void jailed(const struct jail *jail, const struct probe *probe, unsigned separated)
{
    jail_enter(jail, separated);
    struct cr_env env = cr_env_system();
    struct cr_call call = cr_call_open(&env, INT64_MAX);
    if (probe->sealed && jail_seal(&call) != CR_OK)
        _exit(255);
    _exit(probe->run());
}

static int end_of(const struct jail *jail, const struct probe *probe)
{
    int pair[2], end = -1;
    assert_int_equal(pipe(pair), 0);
    pid_t middle = fork();
    if (middle == 0) {
        unsigned separated = jail_separate(jail);
        pid_t child = fork();
        if (child == 0)
            jailed(jail, probe, separated);
        int status;
        waitpid(child, &status, 0);
        int told = WIFSIGNALED(status) ? KILLED(WTERMSIG(status)) : WEXITSTATUS(status);
        ssize_t written = write(pair[1], &told, sizeof told);
        _exit(written == sizeof told ? 0 : 1);
    }
    close(pair[1]);
    assert_int_equal(read(pair[0], &end, sizeof end), sizeof end);
    close(pair[0]);
    waitpid(middle, NULL, 0);
    return end;
}

static void what_a_runner_may_not_do_is_refused(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    unsigned layers = jail_possible(&call);
    for (unsigned layer = 1; layer < 1u << JAIL_LAYER_COUNT; layer <<= 1)
        printf("  layer %-12s %s\n", jail_layer_word(layer), layers & layer ? "holds" : "SKIPPED");
    assert_true((layers & JAIL_LIMITS) && (layers & JAIL_PRIVILEGES));

    struct jail_config config = {
        .program = -1, .file_size = 1 << 20, .file_count = 64, .libraries = jail_libraries};
    struct jail *jail;
    assert_ok(&call, jail_open(&call, &config, &jail));
    parent = getpid();
    int output = memfd_create("output", 0);
    assert_true(output >= 0 && dup2(output, 9) == 9);
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
        if (!(layers & probes[i].layer))
            continue;
        int end = end_of(jail, &probes[i]);
        if (end != probes[i].wanted[0] && end != probes[i].wanted[1])
            fail_msg("%s: ended with %d, wanted %d", probes[i].name, end, probes[i].wanted[0]);
    }
    close(output);
    close(9);
    jail_close(&jail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_runner_may_not_do_is_refused),
    };
    return cmocka_run_group_tests_name("base/jail", tests, NULL, NULL);
}
