/* idx: MNIST's container, read where it lies. */
#include "kernels/data/data.h"

#include <math.h>

#define IDX_TYPE_U8   0x08
#define IDX_RANK_MAX  3
#define IDX_HEAD_SIZE 4 /* before the sizes */
#define IDX_DIM_SIZE  4
#define PIXEL_MAX     255.0

struct idx {
    int64_t dims[IDX_RANK_MAX];
    const uint8_t *elements;
};

static uint32_t big_endian_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static enum cr_status check_head(struct cr_call *call, const char *name, const uint8_t *bytes,
                                 size_t size, int rank)
{
    if (size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
        return cr_fail(call, CR_INVALID, "%s: is compressed by gzip, unpack it first", name);
    if (size < IDX_HEAD_SIZE)
        return cr_fail(call, CR_INVALID, "%s: %zu bytes are no IDX file", name, size);
    if (bytes[0] != 0 || bytes[1] != 0)
        return cr_fail(call, CR_INVALID, "%s: magic begins %02x%02x, not 0000", name, bytes[0],
                       bytes[1]);
    if (bytes[2] != IDX_TYPE_U8)
        return cr_fail(call, CR_INVALID, "%s: element type 0x%02x, not 0x08 (u8)", name, bytes[2]);
    if (bytes[3] != rank)
        return cr_fail(call, CR_INVALID, "%s: rank %d, not %d", name, bytes[3], rank);
    if (size < (size_t)(IDX_HEAD_SIZE + rank * IDX_DIM_SIZE))
        return cr_fail(call, CR_INVALID, "%s: ends within its sizes, after %zu bytes", name, size);
    return CR_OK;
}

static enum cr_status idx_read(struct cr_call *call, const char *name, const void *bytes,
                               size_t size, int rank, struct idx *ret_idx)
{
    const uint8_t *head = bytes;
    CR_TRY(check_head(call, name, head, size, rank));

    struct idx idx = {{0}, head + IDX_HEAD_SIZE + rank * IDX_DIM_SIZE};
    size_t expected = 1;
    for (int i = 0; i < rank; i++) {
        idx.dims[i] = big_endian_u32(head + IDX_HEAD_SIZE + i * IDX_DIM_SIZE);
        if (idx.dims[i] < 1 || idx.dims[i] > DATA_COUNT_MAX)
            return cr_fail(call, CR_INVALID, "%s: size %d is %lld, not 1 to %lld", name, i,
                           (long long)idx.dims[i], (long long)DATA_COUNT_MAX);
        if (__builtin_mul_overflow(expected, (size_t)idx.dims[i], &expected))
            return cr_fail(call, CR_INVALID, "%s: the product of its sizes overflows", name);
    }

    size_t held = size - (size_t)(idx.elements - head);
    if (held != expected)
        return cr_fail(call, CR_INVALID, "%s: sizes say %zu elements, the file holds %zu", name,
                       expected, held);
    *ret_idx = idx;
    return CR_OK;
}

enum cr_status data_read_images(struct cr_call *call, const char *name, const void *bytes,
                                size_t size, struct data_images *ret_images)
{
    struct idx idx = {{0}, NULL};
    CR_TRY(idx_read(call, name, bytes, size, 3, &idx));
    *ret_images = (struct data_images){idx.elements, idx.dims[0], idx.dims[1], idx.dims[2]};
    return CR_OK;
}

enum cr_status data_read_labels(struct cr_call *call, const char *name, const void *bytes,
                                size_t size, int64_t classes, struct data_labels *ret_labels)
{
    struct idx idx = {{0}, NULL};
    CR_TRY(idx_read(call, name, bytes, size, 1, &idx));
    for (int64_t i = 0; i < idx.dims[0]; i++)
        if (idx.elements[i] >= classes)
            return cr_fail(call, CR_INVALID, "%s: label %lld is %d, not below %lld classes", name,
                           (long long)i, idx.elements[i], (long long)classes);
    *ret_labels = (struct data_labels){idx.elements, idx.dims[0]};
    return CR_OK;
}

enum cr_status data_check_pair(struct cr_call *call, const char *images_name,
                               const struct data_images *images, const char *labels_name,
                               const struct data_labels *labels)
{
    if (images->count == labels->count)
        return CR_OK;
    return cr_fail(call, CR_INVALID, "%s: %lld labels for the %lld pictures of %s", labels_name,
                   (long long)labels->count, (long long)images->count, images_name);
}

/* deviation^2 = (n sum x^2 - (sum x)^2) / n^2, whose numerator is exact in 128 bits. */
struct data_normal data_measure(const struct data_images *images)
{
    unsigned __int128 n =
        (unsigned __int128)images->count * (uint64_t)images->rows * (uint64_t)images->columns;
    uint64_t counts[256] = {0};
    for (uint64_t i = 0; i < n; i++)
        counts[images->pixels[i]]++;

    unsigned __int128 sum = 0, squares = 0;
    for (unsigned value = 0; value < 256; value++) {
        sum += (unsigned __int128)counts[value] * value;
        squares += (unsigned __int128)counts[value] * value * value;
    }

    double mean = (double)sum / (double)n / PIXEL_MAX;
    double deviation = sqrt((double)(n * squares - sum * sum)) / (double)n / PIXEL_MAX;
    return (struct data_normal){mean, deviation > DATA_DEVIATION_MIN ? deviation : 1};
}
