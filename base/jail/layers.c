/* layers: limits, privileges, namespaces, root, and the order in which they are entered. */
#include "base/jail/jail_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY         65534
#define CAPABILITY_MAX 63
#define TMPFS_OPTIONS  "size=1m,nr_inodes=64,mode=755"
#define NEW_ROOT       "/tmp" /* a folder that every system has; covered by the tmpfs */

static const char *const words[JAIL_LAYER_COUNT] = {
    "limits", "privileges", "namespaces", "root", "landlock", "seccomp", "sealed", "environment"};

const char *jail_layer_word(unsigned layer)
{
    for (unsigned i = 0; i < JAIL_LAYER_COUNT; i++)
        if (layer == 1u << i)
            return words[i];
    return NULL;
}

const char *const jail_libraries[] = {"/usr/lib", "/usr/lib64", "/lib", "/lib64", NULL};

static bool limit(int what, int64_t value)
{
    struct rlimit both = {(rlim_t)value, (rlim_t)value};
    return setrlimit((__rlimit_resource_t)what, &both) == 0;
}

static bool limits(const struct jail *jail)
{
    const struct jail_config *config = &jail->config;
    return limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, config->file_size) &&
           limit(RLIMIT_NOFILE, config->file_count) && limit(RLIMIT_MEMLOCK, 0) &&
           limit(RLIMIT_MSGQUEUE, 0) && limit(RLIMIT_STACK, INT64_C(8) << 20) &&
           (config->data_size == 0 || limit(RLIMIT_DATA, config->data_size));
}

static bool privileges(void)
{
    for (unsigned long i = 0; i <= CAPABILITY_MAX; i++)
        if (prctl(PR_CAPBSET_DROP, i, 0, 0, 0) != 0 && errno != EINVAL && errno != EPERM)
            return false;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}, {0}};
    if (syscall(SYS_capset, &head, none) != 0)
        return false;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

static bool write_text(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t size = (ssize_t)strlen(text);
    bool done = write(file, text, (size_t)size) == size;
    close(file);
    return done;
}

/* Root outside is nobody outside: a breakout finds nothing that root could do. */
static bool become_nobody(void)
{
    if (geteuid() != 0)
        return true;
    return setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
           setresuid(NOBODY, NOBODY, NOBODY) == 0;
}

static bool map_user(uid_t user, gid_t group)
{
    char users[48], groups[48];
    snprintf(users, sizeof users, "%u %u 1", (unsigned)user, (unsigned)user);
    snprintf(groups, sizeof groups, "%u %u 1", (unsigned)group, (unsigned)group);
    return write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/uid_map", users) &&
           write_text("/proc/self/gid_map", groups);
}

unsigned jail_separate(const struct jail *jail)
{
    (void)jail;
    if (!become_nobody())
        return 0;
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* else /proc/self is root's, and the maps cannot be set */
    uid_t user = geteuid();
    gid_t group = getegid();
    if (unshare(CLONE_NEWUSER) != 0 || !map_user(user, group))
        return 0;
    if (unshare(CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) != 0)
        return 0;
    return JAIL_NAMESPACES;
}

/* Binds the folder of jail->folders into the new root under its own path, read-only. */
static bool bind_folder(const struct jail *jail, size_t i)
{
    const char *path = jail->config.libraries[i];
    char target[128], link[128];
    struct stat about;
    snprintf(target, sizeof target, ".%s", path);
    if (lstat(path, &about) != 0)
        return true; /* not on this system */
    if (S_ISLNK(about.st_mode)) {
        ssize_t length = readlink(path, link, sizeof link - 1);
        link[length > 0 ? length : 0] = '\0';
        return length > 0 && symlink(link, target) == 0;
    }
    for (char *slash = strchr(target + 2, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(target, 0755) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return mkdir(target, 0755) == 0 && mount(path, target, NULL, MS_BIND | MS_REC, NULL) == 0;
}

static void make_read_only(const char *path)
{
    struct {
        uint64_t set, clear, propagation, namespace;
    } attributes = {.set = 0x1 | 0x2 | 0x4}; /* MOUNT_ATTR_RDONLY, NOSUID, NODEV */
    syscall(SYS_mount_setattr, AT_FDCWD, path, AT_RECURSIVE, &attributes, sizeof attributes);
}

static bool new_root(const struct jail *jail)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return false;
    if (mount("tmpfs", NEW_ROOT, "tmpfs", MS_NOSUID | MS_NODEV, TMPFS_OPTIONS) != 0 ||
        chdir(NEW_ROOT) != 0)
        return false;
    for (size_t i = 0; i < jail->folder_count; i++)
        if (!bind_folder(jail, i))
            return false;
    if (syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0)
        return false;
    make_read_only("/");
    return chdir("/") == 0;
}

unsigned jail_enter(const struct jail *jail, unsigned separated)
{
    unsigned layers = separated;
    if (separated && new_root(jail))
        layers |= JAIL_ROOT;
    if (limits(jail))
        layers |= JAIL_LIMITS;
    if (privileges())
        layers |= JAIL_PRIVILEGES;
    if (jail_landlock(jail))
        layers |= JAIL_LANDLOCK;
    if (jail_filter(jail->load_filter, jail->load_count))
        layers |= JAIL_SECCOMP;
    return layers;
}

void jail_start(const struct jail *jail, char *const argv[])
{
    char *environment[] = {NULL};
    syscall(SYS_execveat, jail->config.program, "", argv, environment, AT_EMPTY_PATH);
}

unsigned jail_seen(void)
{
    unsigned layers = 0;
    struct rlimit core;
    if (getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max == 0)
        layers |= JAIL_LIMITS;
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        layers |= JAIL_PRIVILEGES;
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2)
        layers |= JAIL_SECCOMP;
    if (!environ || !environ[0])
        layers |= JAIL_ENVIRONMENT;
    return layers;
}

/* In a child of the child: enters all, and says by its exit status which layers hold. */
static int try_all(const struct jail *jail)
{
    unsigned separated = jail_separate(jail);
    pid_t child = fork();
    if (child == 0)
        _exit((int)jail_enter(jail, separated));
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return 0;
    return WEXITSTATUS(status);
}

unsigned jail_possible(struct cr_call *call)
{
    struct jail_config config = {
        .program = -1, .file_size = 1 << 20, .file_count = 64, .libraries = jail_libraries};
    struct jail *jail;
    if (jail_open(call, &config, &jail) != CR_OK) {
        cr_forgive(call);
        return 0;
    }
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(try_all(jail));
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        status = 0;
    jail_close(&jail);
    return (unsigned)WEXITSTATUS(status) | JAIL_SEALED | JAIL_ENVIRONMENT;
}
