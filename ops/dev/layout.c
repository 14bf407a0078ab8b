/* Folders, files and who owns them. */
#include "ops/dev/dev_internal.h"

#include "base/core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <pwd.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOLDERS_OPEN_MAX 16 /* descriptors of one walk through a tree */

static const char *const folders[] = {"run",   "log",   "config",   "secrets",     "artifacts",
                                      "tiles", "nodes", "receipts", "credentials", NULL};

void dev_say(struct cr_call *call, const struct dev *dev, const char *format, ...)
{
    if (!dev->config->say)
        return;
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    (void)call;
    dev->config->say(dev->config->context, line);
}

static enum cr_status fail_at(struct cr_call *call, const char *path)
{
    return cr_fail(call, CR_UNAVAILABLE, "%s: %s", path, strerror(errno));
}

/* Whether a user could run the programs, standing in the checkout. */
static bool reaches(const struct dev *dev)
{
    pid_t pid = fork();
    if (pid == 0) {
        bool fine = fchdir(dev->checkout) == 0 && setgroups(0, NULL) == 0 &&
                    setgid(dev->gid) == 0 && setuid(dev->uid) == 0 &&
                    access("build/bin/cresset", X_OK) == 0;
        _exit(fine ? 0 : 1);
    }
    int status = 1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && status == 0;
}

static void find_user(struct dev *dev)
{
    dev->uid = geteuid();
    dev->gid = getegid();
    if (dev->uid != 0)
        return;
    const struct passwd *user = getpwnam("postgres");
    if (!user)
        user = getpwnam("nobody");
    if (!user)
        return;
    dev->uid = user->pw_uid;
    dev->gid = user->pw_gid;
    dev->drop = true;
    dev->drop_all = reaches(dev);
}

static enum cr_status find_postgres(struct cr_call *call, struct dev *dev)
{
    static const int versions[] = {17, 16, 15, 0};
    for (const int *version = versions; *version; version++) {
        const char *folder = cr_format(call, "/usr/lib/postgresql/%d/bin", *version);
        if (access(cr_format(call, "%s/initdb", folder), X_OK) == 0) {
            dev->postgres_bin = folder;
            return CR_OK;
        }
    }
    return cr_fail(call, CR_NOT_FOUND,
                   "PostgreSQL's server is not installed; try: apt-get install postgresql-15");
}

static enum cr_status own(struct cr_call *call, const struct dev *dev, const char *path)
{
    if (dev->drop && lchown(path, dev->uid, dev->gid) != 0)
        return fail_at(call, path);
    return CR_OK;
}

static enum cr_status make_folder(struct cr_call *call, const struct dev *dev, const char *path,
                                  mode_t mode)
{
    if (mkdir(path, mode) != 0 && errno != EEXIST)
        return fail_at(call, path);
    struct stat about;
    if (stat(path, &about) != 0)
        return fail_at(call, path);
    if (about.st_uid != geteuid() && geteuid() != 0)
        return cr_fail(call, CR_DENIED, "%s belongs to another user; try: sudo rm -r %s", path,
                       dev->config->var);
    if (dev->drop && about.st_uid != dev->uid)
        return own(call, dev, path);
    return CR_OK;
}

/* The folder as the services name it, whose working folder is the checkout. */
static const char *seen_from(const char *checkout, const char *var)
{
    size_t length = strlen(checkout);
    if (strncmp(var, checkout, length) == 0 && var[length] == '/' && var[length + 1])
        return var + length + 1;
    return var;
}

enum cr_status dev_open(struct cr_call *call, const struct dev_config *config, bool make,
                        struct dev *ret_dev)
{
    struct dev *dev = ret_dev;
    *dev = DEV_CLOSED;
    dev->config = config;
    dev->var = config->var;
    dev->seen = seen_from(config->checkout, config->var);
    dev->checkout = open(config->checkout, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dev->checkout < 0)
        return fail_at(call, config->checkout);
    find_user(dev);
    if (!make)
        return CR_OK;
    CR_TRY(find_postgres(call, dev));
    CR_TRY(make_folder(call, dev, dev->var, 0711));
    for (const char *const *name = folders; *name; name++)
        CR_TRY(make_folder(call, dev, cr_format(call, "%s/%s", dev->var, *name), 0700));
    return CR_OK;
}

void dev_close(struct dev *dev)
{
    if (dev->checkout >= 0)
        close(dev->checkout);
    if (dev->lock >= 0)
        close(dev->lock);
    *dev = DEV_CLOSED;
}

enum cr_status dev_lock(struct cr_call *call, struct dev *dev)
{
    const char *path = cr_format(call, "%s/run/lock", dev->var);
    dev->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (dev->lock < 0)
        return fail_at(call, path);
    if (flock(dev->lock, LOCK_EX | LOCK_NB) != 0)
        return cr_fail(call, CR_CONFLICT, "another cresset dev is at work in %s", dev->var);
    return CR_OK;
}

enum cr_status dev_write(struct cr_call *call, const struct dev *dev, const char *name,
                         const char *text)
{
    const char *path = cr_format(call, "%s/%s", dev->var, name);
    CR_TRY(cr_file_replace(call, path, text, strlen(text), 0600));
    return own(call, dev, path);
}

const char *dev_read(struct cr_call *call, const struct dev *dev, const char *name)
{
    struct cr_bytes bytes;
    if (cr_file_read(call, cr_format(call, "%s/%s", dev->var, name), DEV_OUTPUT_MAX, &bytes) !=
        CR_OK) {
        cr_forgive(call);
        return NULL;
    }
    return (const char *)bytes.data;
}

/* nftw(3) hands its callbacks no context; one command walks one tree at a time. */
static uid_t walk_uid;
static gid_t walk_gid;

static int own_one(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)type, (void)place;
    if (about->st_uid == walk_uid)
        return 0;
    return lchown(path, walk_uid, walk_gid) == 0 || errno == ENOENT ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)about, (void)type, (void)place;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

enum cr_status dev_own(struct cr_call *call, const struct dev *dev)
{
    if (!dev->drop)
        return CR_OK;
    walk_uid = dev->uid;
    walk_gid = dev->gid;
    if (nftw(dev->var, own_one, FOLDERS_OPEN_MAX, FTW_PHYS | FTW_MOUNT) != 0)
        return fail_at(call, dev->var);
    return CR_OK;
}

enum cr_status dev_remove(struct cr_call *call, const struct dev *dev, const char *name)
{
    const char *path = *name ? cr_format(call, "%s/%s", dev->var, name) : dev->var;
    if (nftw(path, remove_one, FOLDERS_OPEN_MAX, FTW_PHYS | FTW_MOUNT | FTW_DEPTH) != 0 &&
        errno != ENOENT)
        return fail_at(call, path);
    return CR_OK;
}
