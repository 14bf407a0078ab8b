/* file_system: the operations on files, by the operating system. */
#include "base/core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static enum cr_status failed(struct cr_call *call, const char *what, const char *path)
{
    int error = errno;
    enum cr_status status = error == ENOENT || error == ENOTDIR  ? CR_NOT_FOUND
                            : error == EEXIST                    ? CR_CONFLICT
                            : error == EFBIG                     ? CR_TOO_LARGE
                            : error == ENOSPC || error == EDQUOT ? CR_EXHAUSTED
                                                                 : CR_UNAVAILABLE;
    return cr_fail(call, status, "cannot %s %s: %s", what, path, strerror(error));
}

static int flags_of(enum cr_file_mode mode)
{
    switch (mode) {
    case CR_FILE_READ:
        return O_RDONLY;
    case CR_FILE_WRITE:
        return O_RDWR | O_CREAT;
    case CR_FILE_CREATE:
        return O_RDWR | O_CREAT | O_EXCL;
    case CR_FILE_APPEND:
        return O_RDWR | O_CREAT | O_APPEND;
    }
    abort();
}

static enum cr_status system_open(struct cr_call *call, const char *path, enum cr_file_mode mode,
                                  unsigned permissions, struct cr_file *ret_file)
{
    int descriptor;
    do
        descriptor = open(path, flags_of(mode) | O_CLOEXEC | O_NOCTTY, (mode_t)permissions);
    while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0)
        return failed(call, "open", path);
    *ret_file = (struct cr_file){descriptor, cr_format(call, "%s", path)};
    return CR_OK;
}

static void system_close(struct cr_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    *file = CR_FILE_CLOSED;
}

void cr_file_close(struct cr_file *file)
{
    system_close(file);
}

static enum cr_status system_size(struct cr_call *call, const struct cr_file *file,
                                  int64_t *ret_size)
{
    struct stat about;
    if (fstat(file->descriptor, &about) != 0)
        return failed(call, "look at", file->path);
    if (!S_ISREG(about.st_mode))
        return cr_fail(call, CR_UNAVAILABLE, "%s is not a file", file->path);
    *ret_size = about.st_size;
    return CR_OK;
}

static enum cr_status system_read_at(struct cr_call *call, const struct cr_file *file,
                                     int64_t offset, void *bytes, size_t size, size_t *ret_size)
{
    size_t have = 0;
    while (have < size) {
        ssize_t got = pread(file->descriptor, (char *)bytes + have, size - have,
                            (off_t)(offset + (int64_t)have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return failed(call, "read", file->path);
        if (got == 0)
            break;
        have += (size_t)got;
    }
    *ret_size = have;
    return CR_OK;
}

static enum cr_status system_write_at(struct cr_call *call, const struct cr_file *file,
                                      int64_t offset, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t put = pwrite(file->descriptor, (const char *)bytes + done, size - done,
                             (off_t)(offset + (int64_t)done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return failed(call, "write", file->path);
        done += (size_t)put;
    }
    return CR_OK;
}

static enum cr_status system_append(struct cr_call *call, const struct cr_file *file,
                                    const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t put = write(file->descriptor, (const char *)bytes + done, size - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return failed(call, "append to", file->path);
        done += (size_t)put;
    }
    return CR_OK;
}

static enum cr_status system_cut(struct cr_call *call, const struct cr_file *file, int64_t size)
{
    return ftruncate(file->descriptor, (off_t)size) == 0 ? CR_OK
                                                         : failed(call, "shorten", file->path);
}

static void sync_or_end(int descriptor, const char *path)
{
    int result;
    do
        result = fsync(descriptor);
    while (result != 0 && errno == EINTR);
    if (result != 0) {
        dprintf(STDERR_FILENO, "cannot sync %s: %s\n", path, strerror(errno));
        abort();
    }
}

static void system_sync(const struct cr_file *file)
{
    sync_or_end(file->descriptor, file->path);
}

/* A new name is on the disk when its folder is. */
static enum cr_status sync_folder_of(struct cr_call *call, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *folder = !slash          ? "."
                         : slash == path ? "/"
                                         : cr_copy(call, path, (size_t)(slash - path));
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return failed(call, "open", folder);
    sync_or_end(descriptor, folder);
    close(descriptor);
    return CR_OK;
}

static enum cr_status system_rename(struct cr_call *call, const char *from, const char *to)
{
    if (rename(from, to) != 0)
        return failed(call, cr_format(call, "rename %s to", from), to);
    return sync_folder_of(call, to);
}

static enum cr_status system_remove(struct cr_call *call, const char *path)
{
    return remove(path) == 0 ? CR_OK : failed(call, "remove", path);
}

static enum cr_status system_make_folder(struct cr_call *call, const char *path,
                                         unsigned permissions)
{
    if (mkdir(path, (mode_t)permissions) == 0)
        return sync_folder_of(call, path);
    struct stat about;
    bool there = errno == EEXIST && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
    return there ? CR_OK : failed(call, "make folder", path);
}

static enum cr_status system_free_space(struct cr_call *call, const char *path, int64_t *ret_free,
                                        int64_t *ret_total)
{
    struct statvfs about;
    if (statvfs(path, &about) != 0)
        return failed(call, "look at", path);
    *ret_free = (int64_t)(about.f_bavail * about.f_frsize);
    *ret_total = (int64_t)(about.f_blocks * about.f_frsize);
    return CR_OK;
}

const struct file_ops cr_file_system = {
    .open = system_open,
    .close = system_close,
    .size = system_size,
    .read_at = system_read_at,
    .write_at = system_write_at,
    .append = system_append,
    .cut = system_cut,
    .sync = system_sync,
    .rename = system_rename,
    .remove = system_remove,
    .make_folder = system_make_folder,
    .free_space = system_free_space,
};
