/*
 * file: the files of this machine, as a call may use them.
 *
 * What is written so that it must still be there after a crash is written by cr_file_replace, or
 * appended and then synced. A sync that fails ends the process: what the kernel holds is unknown
 * then, and a second try would say that all is well (design/reliability.md, proc.3).
 *
 * Units        bytes; modes as in chmod(2)
 * Ownership    a struct cr_file belongs to who opened it; bytes that were read, to the call
 * Threads      a file is used by one thread at a time
 * Failures     CR_NOT_FOUND, CR_CONFLICT (it is there already), CR_TOO_LARGE, CR_EXHAUSTED (the
 *              disk is full), else CR_UNAVAILABLE; the reason names the path
 */
#pragma once

#include "base/core/shape.h"

struct cr_file {
    int descriptor;   /* to be handed to sendfile and the like; -1: closed */
    const char *path; /* a copy, for reasons */
};

enum cr_file_mode {
    CR_FILE_READ,   /* must exist */
    CR_FILE_WRITE,  /* made if it is not there; kept as it is if it is */
    CR_FILE_CREATE, /* must not exist */
    CR_FILE_APPEND, /* made if it is not there; every write goes to its end */
};

struct file_ops {
    enum cr_status (*open)(struct cr_call *call, const char *path, enum cr_file_mode mode,
                           unsigned permissions, struct cr_file *ret_file);
    void (*close)(struct cr_file *file);
    enum cr_status (*size)(struct cr_call *call, const struct cr_file *file, int64_t *ret_size);
    enum cr_status (*read_at)(struct cr_call *call, const struct cr_file *file, int64_t offset,
                              void *bytes, size_t size, size_t *ret_size);
    enum cr_status (*write_at)(struct cr_call *call, const struct cr_file *file, int64_t offset,
                               const void *bytes, size_t size);
    enum cr_status (*append)(struct cr_call *call, const struct cr_file *file, const void *bytes,
                             size_t size);
    enum cr_status (*cut)(struct cr_call *call, const struct cr_file *file, int64_t size);
    void (*sync)(const struct cr_file *file);
    enum cr_status (*rename)(struct cr_call *call, const char *from, const char *to);
    enum cr_status (*remove)(struct cr_call *call, const char *path);
    enum cr_status (*make_folder)(struct cr_call *call, const char *path, unsigned permissions);
    enum cr_status (*free_space)(struct cr_call *call, const char *path, int64_t *ret_free,
                                 int64_t *ret_total);
};

/* Those of the operating system; cr_env_system has them. */
extern const struct file_ops cr_file_system;

/* Opens a file. permissions are of one that is made. The caller closes it. */
enum cr_status cr_file_open(struct cr_call *call, const char *path, enum cr_file_mode mode,
                            unsigned permissions, struct cr_file *ret_file) CR_CHECK;
void cr_file_close(struct cr_file *file); /* may be repeated, and is fit for CR_SCOPED */

/* A closed file, to begin with: CR_SCOPED(cr_file_close) struct cr_file file = CR_FILE_CLOSED; */
#define CR_FILE_CLOSED ((struct cr_file){.descriptor = -1})

enum cr_status cr_file_size(struct cr_call *call, const struct cr_file *file,
                            int64_t *ret_size) CR_CHECK;

/* Reads up to size bytes from offset on; fewer only where the file ends. */
enum cr_status cr_file_read_at(struct cr_call *call, const struct cr_file *file, int64_t offset,
                               void *bytes, size_t size, size_t *ret_size) CR_CHECK;

/* Writes all of the bytes, at an offset, or at the end of a file of CR_FILE_APPEND. */
enum cr_status cr_file_write_at(struct cr_call *call, const struct cr_file *file, int64_t offset,
                                const void *bytes, size_t size) CR_CHECK;
enum cr_status cr_file_append(struct cr_call *call, const struct cr_file *file, const void *bytes,
                              size_t size) CR_CHECK;

/* Shortens the file to size bytes. */
enum cr_status cr_file_cut(struct cr_call *call, const struct cr_file *file, int64_t size) CR_CHECK;

/* Returns when what was written is on the disk; ends the process if it cannot be. */
void cr_file_sync(struct cr_call *call, const struct cr_file *file);

/* The whole file, with a NUL behind; CR_TOO_LARGE where it is longer than limit bytes. */
enum cr_status cr_file_read(struct cr_call *call, const char *path, size_t limit,
                            struct cr_bytes *ret_bytes) CR_CHECK;

/*
 * The file of that path becomes these bytes, at once and for good: they are written beside it,
 * synced, renamed over it, and the folder is synced.
 */
enum cr_status cr_file_replace(struct cr_call *call, const char *path, const void *bytes,
                               size_t size, unsigned permissions) CR_CHECK;

/* Renames, and syncs the folder of to. What was there before is gone. */
enum cr_status cr_file_rename(struct cr_call *call, const char *from, const char *to) CR_CHECK;

/* Removes a file, or an empty folder. */
enum cr_status cr_file_remove(struct cr_call *call, const char *path) CR_CHECK;

/* Makes a folder and those above it; one that is there already is no failure. */
enum cr_status cr_file_make_folder(struct cr_call *call, const char *path,
                                   unsigned permissions) CR_CHECK;

/* What is free, and the whole, of the file system that the path is on. */
enum cr_status cr_file_free_space(struct cr_call *call, const char *path, int64_t *ret_free,
                                  int64_t *ret_total) CR_CHECK;
