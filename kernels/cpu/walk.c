/* walk: elements in order, run by run of the innermost dimension. */
#include "kernels/cpu/walk_internal.h"

struct cpu_walk cpu_walk_of(const struct tensor *tensor)
{
    return cpu_walk_across(tensor, tensor->rank, tensor->shape);
}

struct cpu_walk cpu_walk_across(const struct tensor *tensor, int rank, const int64_t *shape)
{
    struct cpu_walk walk = {
        .bytes = (const char *)tensor_bytes(tensor), .dtype = tensor->dtype, .count = 1};
    int missing = rank - tensor->rank;
    for (int i = 0; i < rank; i++) {
        int64_t own = i < missing ? 1 : tensor->shape[i - missing];
        int64_t stride = i < missing || own == 1 ? 0 : tensor->stride[i - missing];
        walk.count *= shape[i];
        if (shape[i] == 1)
            continue;
        int last = walk.rank - 1;
        if (last >= 0 && walk.stride[last] == shape[i] * stride) {
            walk.shape[last] *= shape[i];
            walk.stride[last] = stride;
        } else {
            walk.shape[walk.rank] = shape[i];
            walk.stride[walk.rank++] = stride;
        }
    }
    return walk;
}

bool cpu_walk_gapless(const struct cpu_walk *walk)
{
    return walk->rank == 0 || (walk->rank == 1 && walk->stride[0] == 1);
}

bool cpu_walk_scalar(const struct cpu_walk *walk)
{
    return walk->rank == 0 || (walk->rank == 1 && walk->stride[0] == 0);
}

/* A place in a walk: the run of the innermost dimension that element first lies in. */
struct place {
    int64_t index[TENSOR_RANK_MAX];
    int64_t at; /* offset in elements */
};

static struct place place_of(const struct cpu_walk *walk, int64_t first)
{
    struct place place = {{0}, 0};
    for (int i = walk->rank - 1; i >= 0; i--) {
        place.index[i] = first % walk->shape[i];
        place.at += place.index[i] * walk->stride[i];
        first /= walk->shape[i];
    }
    return place;
}

/* On by count elements, which end the run at most. */
static void step(const struct cpu_walk *walk, struct place *place, int64_t count)
{
    int i = walk->rank - 1;
    if (i < 0)
        return;
    place->index[i] += count;
    place->at += count * walk->stride[i];
    for (; i > 0 && place->index[i] == walk->shape[i]; i--) {
        place->index[i] = 0;
        place->at += walk->stride[i - 1] - walk->shape[i] * walk->stride[i];
        place->index[i - 1]++;
    }
}

static int64_t run_of(const struct cpu_walk *walk, const struct place *place, int64_t count)
{
    int last = walk->rank - 1;
    int64_t rest = last < 0 ? 1 : walk->shape[last] - place->index[last];
    return rest < count ? rest : count;
}

static void run_floats(const struct cpu_walk *walk, int64_t at, int64_t stride, int64_t count,
                       float *to)
{
    if (walk->dtype == DTYPE_F32) {
        const float *x = (const float *)(const void *)walk->bytes + at;
        if (stride == 1)
            memcpy(to, x, (size_t)count * sizeof(float));
        else if (stride == 0)
            for (int64_t i = 0; i < count; i++)
                to[i] = *x;
        else
            for (int64_t i = 0; i < count; i++)
                to[i] = x[i * stride];
    } else if (walk->dtype == DTYPE_BOOL) {
        const uint8_t *x = (const uint8_t *)walk->bytes + at;
        for (int64_t i = 0; i < count; i++)
            to[i] = x[i * stride];
    } else {
        for (int64_t i = 0; i < count; i++)
            to[i] = (float)dtype_read(walk->dtype, walk->bytes, at + i * stride);
    }
}

void cpu_walk_floats(const struct cpu_walk *walk, int64_t first, int64_t count, float *ret_x)
{
    struct place place = place_of(walk, first);
    int64_t stride = walk->rank > 0 ? walk->stride[walk->rank - 1] : 0;
    while (count > 0) {
        int64_t run = run_of(walk, &place, count);
        run_floats(walk, place.at, stride, run, ret_x);
        step(walk, &place, run);
        ret_x += run;
        count -= run;
    }
}

#define RUN_COPY(type)                                             \
    do {                                                           \
        const type *from = (const type *)(const void *)bytes + at; \
        type *typed = ret_x;                                       \
        for (int64_t i = 0; i < count; i++)                        \
            typed[i] = from[i * stride];                           \
    } while (0)

static void run_copy(const char *bytes, size_t size, int64_t at, int64_t stride, int64_t count,
                     void *ret_x)
{
    if (stride == 1)
        memcpy(ret_x, bytes + (size_t)at * size, (size_t)count * size);
    else if (size == 1)
        RUN_COPY(uint8_t);
    else if (size == 2)
        RUN_COPY(uint16_t);
    else if (size == 4)
        RUN_COPY(uint32_t);
    else
        RUN_COPY(uint64_t);
}

void cpu_walk_copy(const struct cpu_walk *walk, int64_t first, int64_t count, void *ret_x)
{
    struct place place = place_of(walk, first);
    size_t size = dtype_size(walk->dtype);
    int64_t stride = walk->rank > 0 ? walk->stride[walk->rank - 1] : 0;
    char *to = ret_x;
    while (count > 0) {
        int64_t run = run_of(walk, &place, count);
        run_copy(walk->bytes, size, place.at, stride, run, to);
        step(walk, &place, run);
        to += (size_t)run * size;
        count -= run;
    }
}

void cpu_floats_write(unsigned dtype, const float *x, int64_t count, void *ret_array)
{
    if (dtype == DTYPE_F32) {
        memcpy(ret_array, x, (size_t)count * sizeof(float));
    } else if (dtype == DTYPE_BOOL) {
        uint8_t *truths = ret_array;
        for (int64_t i = 0; i < count; i++)
            truths[i] = x[i] != 0;
    } else {
        for (int64_t i = 0; i < count; i++)
            dtype_write(dtype, ret_array, i, (double)x[i]);
    }
}
