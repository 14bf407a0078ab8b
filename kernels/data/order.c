/* order: which examples come next, and how they become a batch. */
#include "kernels/data/data.h"

#include "kernels/random/random.h"

#include <assert.h>

#define PIXEL_VALUES 256

int64_t data_order_steps(const struct data_order *order, int64_t batch)
{
    assert(batch >= 1);
    return (order->count + batch - 1) / batch;
}

int64_t data_order_next(struct data_order *order, int64_t batch, int64_t *ret_indices)
{
    assert(batch >= 1 && order->count >= 1 && order->position < order->count);
    int64_t left = order->count - order->position, count = batch < left ? batch : left;
    for (int64_t i = 0; i < count; i++)
        ret_indices[i] =
            (int64_t)random_permutation(order->seed, (uint64_t)order->epoch, (uint64_t)order->count,
                                        (uint64_t)(order->position + i));
    order->position += count;
    if (order->position == order->count) {
        order->position = 0;
        order->epoch++;
    }
    return count;
}

void data_order_plain(int64_t first, int64_t count, int64_t *ret_indices)
{
    for (int64_t i = 0; i < count; i++)
        ret_indices[i] = first + i;
}

void data_gather_images(const struct data_images *images, const struct data_normal *normal,
                        const int64_t *indices, int64_t count, float *ret_x)
{
    float value_of[PIXEL_VALUES];
    for (int pixel = 0; pixel < PIXEL_VALUES; pixel++)
        value_of[pixel] = (float)((pixel / 255.0 - normal->mean) / normal->deviation);

    size_t size = (size_t)(images->rows * images->columns);
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *pixels = images->pixels + (size_t)indices[i] * size;
        float *x = ret_x + (size_t)i * size;
        for (size_t p = 0; p < size; p++)
            x[p] = value_of[pixels[p]];
    }
}

void data_gather_labels(const struct data_labels *labels, const int64_t *indices, int64_t count,
                        int32_t *ret_labels)
{
    for (int64_t i = 0; i < count; i++)
        ret_labels[i] = labels->labels[indices[i]];
}
