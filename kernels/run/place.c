/*
 * place: where in the arena each buffer lies.
 *
 * By falling size, each at the lowest offset where it meets none that lives at the same time: the
 * largest decide the size of the arena, the small ones fill the gaps.
 * Source: Y. Pisarchyk and J. Lee, "Efficient Memory Management for Deep Neural Net Inference",
 * arXiv:2001.03288, section 5.1.
 */
#include "kernels/run/run_internal.h"

static int by_size(const void *a, const void *b)
{
    const struct run_buffer *left = *(const struct run_buffer *const *)a;
    const struct run_buffer *right = *(const struct run_buffer *const *)b;
    if (left->size != right->size)
        return left->size > right->size ? -1 : 1;
    return (left->first > right->first) - (left->first < right->first);
}

static int64_t padded(int64_t size)
{
    return (size + DEVICE_ALIGNMENT - 1) / DEVICE_ALIGNMENT * DEVICE_ALIGNMENT;
}

static bool meet(const struct run_buffer *a, const struct run_buffer *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* placed is sorted by offset; the new one is put in where it keeps the order. */
static void place(struct run_buffer *buffer, struct run_buffer **placed, int32_t count)
{
    int64_t offset = 0;
    for (int32_t i = 0; i < count; i++) {
        if (!meet(buffer, placed[i]))
            continue;
        if (placed[i]->offset >= offset + padded(buffer->size))
            break;
        int64_t end = placed[i]->offset + padded(placed[i]->size);
        offset = end > offset ? end : offset;
    }
    buffer->offset = offset;
    int32_t at = count;
    for (; at > 0 && placed[at - 1]->offset > offset; at--)
        placed[at] = placed[at - 1];
    placed[at] = buffer;
}

void run_place(struct run_program *program)
{
    size_t room = (size_t)program->buffer_count + 1;
    struct run_buffer **sorted = cr_new(&program->memory, struct run_buffer *, room);
    struct run_buffer **placed = cr_new(&program->memory, struct run_buffer *, room);
    int32_t count = 0;
    for (int32_t i = 0; i < program->buffer_count; i++)
        if (program->buffers[i]->home == RUN_ARENA)
            sorted[count++] = program->buffers[i];
    qsort(sorted, (size_t)count, sizeof(struct run_buffer *), by_size);
    for (int32_t i = 0; i < count; i++) {
        place(sorted[i], placed, i);
        int64_t end = sorted[i]->offset + padded(sorted[i]->size);
        if (end > program->arena_size)
            program->arena_size = end;
    }
}
