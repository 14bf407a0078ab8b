/* file: what a call may do with files, over the operations of its env. */
#include "base/core/file.h"

#include <string.h>

static const struct file_ops *ops(const struct cr_call *call)
{
    return call->env->file;
}

enum cr_status cr_file_open(struct cr_call *call, const char *path, enum cr_file_mode mode,
                            unsigned permissions, struct cr_file *ret_file)
{
    return ops(call)->open(call, path, mode, permissions, ret_file);
}

enum cr_status cr_file_size(struct cr_call *call, const struct cr_file *file, int64_t *ret_size)
{
    return ops(call)->size(call, file, ret_size);
}

enum cr_status cr_file_read_at(struct cr_call *call, const struct cr_file *file, int64_t offset,
                               void *bytes, size_t size, size_t *ret_size)
{
    return ops(call)->read_at(call, file, offset, bytes, size, ret_size);
}

enum cr_status cr_file_write_at(struct cr_call *call, const struct cr_file *file, int64_t offset,
                                const void *bytes, size_t size)
{
    return ops(call)->write_at(call, file, offset, bytes, size);
}

enum cr_status cr_file_append(struct cr_call *call, const struct cr_file *file, const void *bytes,
                              size_t size)
{
    return ops(call)->append(call, file, bytes, size);
}

enum cr_status cr_file_cut(struct cr_call *call, const struct cr_file *file, int64_t size)
{
    return ops(call)->cut(call, file, size);
}

void cr_file_sync(struct cr_call *call, const struct cr_file *file)
{
    ops(call)->sync(file);
}

enum cr_status cr_file_read(struct cr_call *call, const char *path, size_t limit,
                            struct cr_bytes *ret_bytes)
{
    CR_SCOPED(cr_file_close) struct cr_file file = CR_FILE_CLOSED;
    CR_TRY(cr_file_open(call, path, CR_FILE_READ, 0, &file));
    int64_t size;
    CR_TRY(cr_file_size(call, &file, &size));
    if ((uint64_t)size > limit)
        return cr_fail(call, CR_TOO_LARGE, "%s is longer than %zu bytes", path, limit);

    unsigned char *data = cr_new(call, unsigned char, (size_t)size + 1);
    size_t got;
    CR_TRY(cr_file_read_at(call, &file, 0, data, (size_t)size, &got));
    *ret_bytes = (struct cr_bytes){data, got};
    return CR_OK;
}

enum cr_status cr_file_replace(struct cr_call *call, const char *path, const void *bytes,
                               size_t size, unsigned permissions)
{
    unsigned char random[8];
    cr_random(call, random, sizeof random);
    uint64_t mark;
    memcpy(&mark, random, sizeof mark);
    const char *beside = cr_format(call, "%s.%016llx.new", path, (unsigned long long)mark);

    CR_SCOPED(cr_file_close) struct cr_file file = CR_FILE_CLOSED;
    CR_TRY(cr_file_open(call, beside, CR_FILE_CREATE, permissions, &file));
    enum cr_status status = cr_file_write_at(call, &file, 0, bytes, size);
    if (status != CR_OK) /* the disk is full: what was written of it must not stay */
        return cr_file_remove(call, beside) == CR_OK ? status : call->status;
    cr_file_sync(call, &file);
    return cr_file_rename(call, beside, path);
}

enum cr_status cr_file_rename(struct cr_call *call, const char *from, const char *to)
{
    return ops(call)->rename(call, from, to);
}

enum cr_status cr_file_remove(struct cr_call *call, const char *path)
{
    return ops(call)->remove(call, path);
}

enum cr_status cr_file_make_folder(struct cr_call *call, const char *path, unsigned permissions)
{
    for (const char *at = strchr(path + 1, '/'); at && at[1]; at = strchr(at + 1, '/'))
        CR_TRY(ops(call)->make_folder(call, cr_copy(call, path, (size_t)(at - path)), permissions));
    return ops(call)->make_folder(call, path, permissions);
}

enum cr_status cr_file_free_space(struct cr_call *call, const char *path, int64_t *ret_free,
                                  int64_t *ret_total)
{
    return ops(call)->free_space(call, path, ret_free, ret_total);
}
