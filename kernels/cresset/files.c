/* files: safetensors as handles. */
#include "kernels/cresset/cresset_internal.h"

enum cr_status cresset_file_open(struct cr_call *call, const void *bytes, size_t size,
                                 const char *kind, struct cresset_file **ret_file)
{
    void *handle;
    if (strcmp(kind, "safetensors") != 0)
        return cr_fail(call, CR_NOT_FOUND, "no format '%.32s'", kind);
    CR_TRY(cresset_handle(call, sizeof(struct cresset_file), &handle));
    struct cresset_file *file = handle;
    file->env = *call->env;
    file->memory = cr_call_open(&file->env, INT64_MAX);
    if (format_read_safetensors(&file->memory, bytes, size, &file->file) != CR_OK) {
        enum cr_status status = cresset_hand_on(call, &file->memory);
        cresset_file_close(file);
        return status;
    }
    file->names = cr_new(&file->memory, const char *, file->file.count + 1);
    for (size_t i = 0; i < file->file.count; i++)
        file->names[i] = file->file.tensors[i].name;
    *ret_file = file;
    return CR_OK;
}

const char *const *cresset_file_names(const struct cresset_file *file, int64_t *ret_count)
{
    *ret_count = (int64_t)file->file.count;
    return file->names;
}

const char *cresset_file_metadata(const struct cresset_file *file, const char *name)
{
    return format_metadata(&file->file, name);
}

enum cr_status cresset_file_tensor(struct cr_call *call, const struct cresset_file *file,
                                   const char *name, struct cresset *engine,
                                   struct cresset_tensor **ret_tensor)
{
    const struct format_tensor *tensor = format_find(&file->file, name);
    if (!tensor)
        return cr_fail(call, CR_NOT_FOUND, "no tensor '%.64s'", name);
    return cresset_tensor_copy_in(call, engine, dtype_name(tensor->dtype), tensor->rank,
                                  tensor->shape, tensor->bytes, tensor->size, ret_tensor);
}

void cresset_file_close(struct cresset_file *file)
{
    if (!file)
        return;
    cr_call_close(&file->memory);
    free(file);
}

enum cr_status cresset_write_safetensors(struct cr_call *call, int descriptor,
                                         const struct cresset_named *tensors, int64_t count,
                                         const struct cr_labels *metadata)
{
    if (count < 0 || count > FORMAT_TENSORS_MAX)
        return cr_fail(call, CR_INVALID, "0 to %d tensors can be written", FORMAT_TENSORS_MAX);
    struct format_tensor *items = cr_new(call, struct format_tensor, (size_t)count + 1);
    for (int64_t i = 0; i < count; i++) {
        const struct tensor *tensor = &tensors[i].tensor->tensor;
        if (!tensor_contiguous(tensor))
            return cr_fail(call, CR_INVALID, "tensor '%.64s' is not contiguous", tensors[i].name);
        for (int64_t j = 0; j < i; j++)
            if (strcmp(tensors[i].name, tensors[j].name) == 0)
                return cr_fail(call, CR_INVALID, "tensor '%.64s' twice", tensors[i].name);
        items[i] = (struct format_tensor){.name = tensors[i].name,
                                          .dtype = tensor->dtype,
                                          .rank = tensor->rank,
                                          .bytes = tensor_bytes(tensor)};
        items[i].size = (size_t)tensor_elements(tensor) * dtype_size(tensor->dtype);
        memcpy(items[i].shape, tensor->shape, sizeof items[i].shape);
    }
    return format_write_safetensors(call, descriptor, items, (size_t)count, metadata);
}
