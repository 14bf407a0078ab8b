/* write: safetensors, the same bytes for the same tensors. */
#include "kernels/format/format.h"

#include "base/core/text.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

#define HEAD_SIZE 8

static enum cr_status put(struct cr_call *call, int descriptor, const void *bytes, size_t size,
                          off_t *at)
{
    const char *from = bytes;
    while (size > 0) {
        ssize_t written = pwrite(descriptor, from, size, *at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return cr_fail(call, errno == EFBIG ? CR_TOO_LARGE : CR_UNAVAILABLE,
                           "the file cannot be written: %s", strerrorname_np(errno));
        from += written;
        size -= (size_t)written;
        *at += written;
    }
    return CR_OK;
}

static int by_label(const void *a, const void *b)
{
    return strcmp(((const struct cr_label *)a)->name, ((const struct cr_label *)b)->name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct format_tensor *)a)->name, ((const struct format_tensor *)b)->name);
}

static void add_metadata(struct cr_text *text, const struct cr_labels *metadata)
{
    struct cr_label *labels = cr_new(text->call, struct cr_label, metadata->count);
    memcpy(labels, metadata->items, sizeof *labels * metadata->count);
    qsort(labels, metadata->count, sizeof *labels, by_label);
    cr_text_add(text, "\"__metadata__\":{");
    for (size_t i = 0; i < metadata->count; i++) {
        cr_text_add(text, i > 0 ? "," : "");
        cr_text_add_quoted(text, labels[i].name, strlen(labels[i].name));
        cr_text_add(text, ":");
        cr_text_add_quoted(text, labels[i].value, strlen(labels[i].value));
    }
    cr_text_add(text, "}");
}

static void add_tensor(struct cr_text *text, const struct format_tensor *tensor, size_t offset)
{
    cr_text_add_quoted(text, tensor->name, strlen(tensor->name));
    cr_text_add_format(text, ":{\"dtype\":\"%s\",\"shape\":[", dtype_safetensors(tensor->dtype));
    for (int i = 0; i < tensor->rank; i++)
        cr_text_add_format(text, "%s%lld", i > 0 ? "," : "", (long long)tensor->shape[i]);
    cr_text_add_format(text, "],\"data_offsets\":[%zu,%zu]}", offset, offset + tensor->size);
}

enum cr_status format_write_safetensors(struct cr_call *call, int descriptor,
                                        const struct format_tensor *tensors, size_t count,
                                        const struct cr_labels *metadata)
{
    struct format_tensor *sorted = cr_new(call, struct format_tensor, count + 1);
    struct cr_text text = cr_text_open(call);
    unsigned char head[HEAD_SIZE];
    size_t offset = 0;
    off_t at = 0;
    if (count > 0)
        memcpy(sorted, tensors, sizeof *sorted * count);
    qsort(sorted, count, sizeof *sorted, by_name);
    cr_text_add(&text, "{");
    if (metadata && metadata->count > 0)
        add_metadata(&text, metadata);
    for (size_t i = 0; i < count; i++) {
        assert(i == 0 || strcmp(sorted[i - 1].name, sorted[i].name) != 0);
        if (i > 0 || (metadata && metadata->count > 0))
            cr_text_add(&text, ",");
        add_tensor(&text, &sorted[i], offset);
        offset += sorted[i].size;
    }
    cr_text_add(&text, "}");
    while (text.length % HEAD_SIZE != 0)
        cr_text_add(&text, " ");
    for (int i = 0; i < HEAD_SIZE; i++)
        head[i] = (unsigned char)(text.length >> 8 * i);

    CR_TRY(put(call, descriptor, head, sizeof head, &at));
    CR_TRY(put(call, descriptor, text.data, text.length, &at));
    for (size_t i = 0; i < count; i++)
        CR_TRY(put(call, descriptor, sorted[i].bytes, sorted[i].size, &at));
    if (ftruncate(descriptor, at) != 0)
        return cr_fail(call, CR_UNAVAILABLE, "the file cannot be cut: %s", strerrorname_np(errno));
    return CR_OK;
}
