/* read: safetensors, where they lie. */
#include "kernels/format/format.h"

#include "base/json/json.h"

#define HEAD_SIZE 8

static const struct json_limits limits = {.size = FORMAT_HEADER_MAX,
                                          .members = FORMAT_TENSORS_MAX + 1};

struct reader {
    struct cr_call *call;
    const unsigned char *data; /* of the tensors */
    size_t size;
};

/* How a tensor is called in reasons: names come from outside and may be long. */
static enum cr_status wrong(struct reader *in, const char *name, const char *what)
{
    return cr_fail(in->call, CR_INVALID, "tensor '%.64s': %s", name, what);
}

static enum cr_status read_shape(struct reader *in, const char *name,
                                 const struct json_value *shape, struct format_tensor *tensor)
{
    if (!shape || shape->kind != JSON_KIND_ARRAY || shape->count > TENSOR_RANK_MAX)
        return wrong(in, name, "shape must be an array of at most 8 sizes");
    tensor->rank = (uint8_t)shape->count;
    for (size_t i = 0; i < shape->count; i++) {
        if (shape->items[i].kind != JSON_KIND_INTEGER || shape->items[i].integer < 0)
            return wrong(in, name, "shape must have sizes of 0 or more");
        tensor->shape[i] = shape->items[i].integer;
    }
    return tensor_measure(in->call, tensor->dtype, tensor->rank, tensor->shape, NULL,
                          &tensor->size);
}

static enum cr_status read_range(struct reader *in, const char *name,
                                 const struct json_value *range, struct format_tensor *tensor)
{
    bool two = range && range->kind == JSON_KIND_ARRAY && range->count == 2 &&
               range->items[0].kind == JSON_KIND_INTEGER &&
               range->items[1].kind == JSON_KIND_INTEGER;
    if (!two)
        return wrong(in, name, "data_offsets must be two integers");
    int64_t from = range->items[0].integer, to = range->items[1].integer;
    if (from < 0 || to < from || (uint64_t)to > in->size)
        return wrong(in, name, "data_offsets leave the file");
    if ((uint64_t)(to - from) != tensor->size)
        return wrong(in, name, "data_offsets are not as long as dtype and shape say");
    tensor->bytes = in->data + from;
    return CR_OK;
}

static enum cr_status read_tensor(struct reader *in, const char *name,
                                  const struct json_value *value, struct format_tensor *ret_tensor)
{
    struct format_tensor tensor = {.name = name};
    const char *word = json_member_text(value, "dtype");
    if (value->kind != JSON_KIND_OBJECT || value->count != 3)
        return wrong(in, name, "dtype, shape and data_offsets are expected, and nothing else");
    tensor.dtype = (uint8_t)(word ? dtype_of_safetensors(word, strlen(word)) : DTYPE_NONE);
    if (tensor.dtype == DTYPE_NONE)
        return wrong(in, name, "an unknown dtype");
    CR_TRY(read_shape(in, name, json_member(value, "shape"), &tensor));
    CR_TRY(read_range(in, name, json_member(value, "data_offsets"), &tensor));
    *ret_tensor = tensor;
    return CR_OK;
}

static int by_label(const void *a, const void *b)
{
    return strcmp(((const struct cr_label *)a)->name, ((const struct cr_label *)b)->name);
}

static enum cr_status read_metadata(struct reader *in, const struct json_value *value,
                                    struct cr_labels *ret_metadata)
{
    if (value->kind != JSON_KIND_OBJECT)
        return cr_fail(in->call, CR_INVALID, "__metadata__ must be an object of texts");
    struct cr_label *labels = cr_new(in->call, struct cr_label, value->count + 1);
    for (size_t i = 0; i < value->count; i++) {
        if (value->items[i].kind != JSON_KIND_TEXT)
            return cr_fail(in->call, CR_INVALID, "__metadata__ must be an object of texts");
        labels[i] = (struct cr_label){value->names[i], value->items[i].text};
    }
    qsort(labels, value->count, sizeof *labels, by_label);
    *ret_metadata = (struct cr_labels){labels, value->count};
    return CR_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct format_tensor *left = a, *right = b;
    if (left->bytes != right->bytes)
        return (const char *)left->bytes < (const char *)right->bytes ? -1 : 1;
    return (left->size > right->size) - (left->size < right->size);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct format_tensor *)a)->name, ((const struct format_tensor *)b)->name);
}

/* One behind the other they are all of the data. */
static enum cr_status check_cover(struct reader *in, struct format_tensor *tensors, size_t count)
{
    const unsigned char *at = in->data;
    qsort(tensors, count, sizeof *tensors, by_place);
    for (size_t i = 0; i < count; i++) {
        if (tensors[i].bytes != at)
            return wrong(in, tensors[i].name, "a hole before it, or an overlap");
        at += tensors[i].size;
    }
    return at == in->data + in->size
               ? CR_OK
               : cr_fail(in->call, CR_INVALID, "bytes behind the last tensor");
}

enum cr_status format_read_safetensors(struct cr_call *call, const void *bytes, size_t size,
                                       struct format_safetensors *ret_file)
{
    const unsigned char *file = bytes;
    struct format_safetensors result = {0};
    const struct json_value *header;
    uint64_t length = 0;
    if (size < HEAD_SIZE)
        return cr_fail(call, CR_INVALID, "shorter than the size of a header");
    for (int i = 0; i < HEAD_SIZE; i++)
        length |= (uint64_t)file[i] << 8 * i;
    if (length > FORMAT_HEADER_MAX || length > size - HEAD_SIZE)
        return cr_fail(call, CR_INVALID, "the size of the header is %llu",
                       (unsigned long long)length);
    if (length == 0 || file[HEAD_SIZE] != '{')
        return cr_fail(call, CR_INVALID, "the header does not begin with '{'");
    CR_TRY(json_parse(call, &limits, (const char *)file + HEAD_SIZE, length, &header));

    struct reader in = {call, file + HEAD_SIZE + length, size - HEAD_SIZE - length};
    struct format_tensor *tensors = cr_new(call, struct format_tensor, header->count + 1);
    for (size_t i = 0; i < header->count; i++)
        if (strcmp(header->names[i], "__metadata__") == 0)
            CR_TRY(read_metadata(&in, &header->items[i], &result.metadata));
        else
            CR_TRY(read_tensor(&in, header->names[i], &header->items[i], &tensors[result.count++]));
    CR_TRY(check_cover(&in, tensors, result.count));
    qsort(tensors, result.count, sizeof *tensors, by_name);
    result.tensors = tensors;
    *ret_file = result;
    return CR_OK;
}

const struct format_tensor *format_find(const struct format_safetensors *file, const char *name)
{
    for (size_t i = 0; i < file->count; i++)
        if (strcmp(file->tensors[i].name, name) == 0)
            return &file->tensors[i];
    return NULL;
}

const char *format_metadata(const struct format_safetensors *file, const char *name)
{
    for (size_t i = 0; i < file->metadata.count; i++)
        if (strcmp(file->metadata.items[i].name, name) == 0)
            return file->metadata.items[i].value;
    return NULL;
}
