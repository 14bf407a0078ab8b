/* data: sets of pictures and the batches that are made of them. */
#include "kernels/cresset/cresset_internal.h"

#include "kernels/data/data.h"

struct cresset_dataset {
    struct data_images images;
    struct data_labels labels;
    bool labelled, measured;
    struct data_normal normal;
};

struct cresset_loader {
    const struct cresset_dataset *dataset;
    struct data_normal normal;
    struct data_order order;
    bool shuffled;
    int64_t batch;
    int64_t *indices;
    float *images;
    int32_t *labels;
};

enum cr_status cresset_dataset_open(struct cr_call *call,
                                    const struct cresset_dataset_options *options,
                                    struct cresset_dataset **ret_dataset)
{
    struct cresset_dataset dataset = {.labelled = options->labels != NULL};
    void *handle;
    CR_TRY(cresset_check_size(call, "cresset_dataset_options", options->size, sizeof *options));
    CR_TRY(data_read_images(call, options->images_name, options->images, options->images_size,
                            &dataset.images));
    if (dataset.labelled) {
        CR_TRY(data_read_labels(call, options->labels_name, options->labels, options->labels_size,
                                options->classes, &dataset.labels));
        CR_TRY(data_check_pair(call, options->images_name, &dataset.images, options->labels_name,
                               &dataset.labels));
    }
    CR_TRY(cresset_handle(call, sizeof dataset, &handle));
    *(struct cresset_dataset *)handle = dataset;
    *ret_dataset = handle;
    return CR_OK;
}

struct cresset_dataset_info cresset_dataset_describe(struct cresset_dataset *dataset)
{
    if (!dataset->measured)
        dataset->normal = data_measure(&dataset->images);
    dataset->measured = true;
    return (struct cresset_dataset_info){.count = dataset->images.count,
                                         .rows = dataset->images.rows,
                                         .columns = dataset->images.columns,
                                         .mean = dataset->normal.mean,
                                         .deviation = dataset->normal.deviation,
                                         .labels = dataset->labelled};
}

void cresset_dataset_close(struct cresset_dataset *dataset)
{
    free(dataset);
}

enum cr_status cresset_loader_open(struct cr_call *call, const struct cresset_dataset *dataset,
                                   const struct cresset_loader_options *options,
                                   struct cresset_loader **ret_loader)
{
    void *handle;
    CR_TRY(cresset_check_size(call, "cresset_loader_options", options->size, sizeof *options));
    if (options->batch < 1 || options->batch > DATA_COUNT_MAX || !(options->deviation > 0))
        return cr_fail(call, CR_INVALID, "batch must be 1 or more, deviation above 0");
    int64_t batch = options->batch;
    int64_t pixels = dataset->images.rows * dataset->images.columns;
    CR_TRY(cresset_handle(call, sizeof(struct cresset_loader), &handle));
    struct cresset_loader *loader = handle;
    loader->dataset = dataset;
    loader->normal = (struct data_normal){options->mean, options->deviation};
    loader->shuffled = options->shuffled;
    loader->batch = batch;
    loader->order = (struct data_order){.seed = options->seed, .count = dataset->images.count};
    loader->indices = calloc((size_t)batch, sizeof *loader->indices);
    loader->images = calloc((size_t)(batch * pixels), sizeof *loader->images);
    loader->labels = calloc((size_t)batch, sizeof *loader->labels);
    if (!loader->indices || !loader->images || !loader->labels) {
        cresset_loader_close(loader);
        return cr_fail(call, CR_EXHAUSTED, "no memory for a batch of %lld", (long long)batch);
    }
    *ret_loader = loader;
    return CR_OK;
}

/* As they lie: the same steps, without a permutation. */
static int64_t next_plain(struct cresset_loader *loader)
{
    struct data_order *order = &loader->order;
    int64_t left = order->count - order->position;
    int64_t count = left < loader->batch ? left : loader->batch;
    data_order_plain(order->position, count, loader->indices);
    order->position += count;
    if (order->position == order->count) {
        order->position = 0;
        order->epoch++;
    }
    return count;
}

void cresset_loader_next(struct cresset_loader *loader, struct cresset_batch *ret_batch)
{
    struct cresset_batch batch = {.epoch = loader->order.epoch, .position = loader->order.position};
    batch.count = loader->shuffled ? data_order_next(&loader->order, loader->batch, loader->indices)
                                   : next_plain(loader);
    data_gather_images(&loader->dataset->images, &loader->normal, loader->indices, batch.count,
                       loader->images);
    batch.images = loader->images;
    if (loader->dataset->labelled) {
        data_gather_labels(&loader->dataset->labels, loader->indices, batch.count, loader->labels);
        batch.labels = loader->labels;
    }
    *ret_batch = batch;
}

void cresset_loader_seek(struct cresset_loader *loader, int64_t epoch, int64_t position)
{
    loader->order.epoch = epoch;
    loader->order.position = position % loader->order.count;
}

void cresset_loader_close(struct cresset_loader *loader)
{
    if (!loader)
        return;
    free(loader->indices);
    free(loader->images);
    free(loader->labels);
    free(loader);
}
