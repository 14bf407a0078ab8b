/*
 * data: sets of examples, the order in which training sees them, and batches.
 *
 * A set is one IDX file of pictures and, where there are any, one of labels: MNIST's container,
 *
 *     0 0 08 rank, then rank sizes as u32 big-endian, then the elements, one byte each
 *
 * read where it lies; nothing is copied until a batch is. The order of an epoch is a permutation by
 * (seed, epoch), so a position says all: a run that is resumed at (epoch, position) sees what an
 * uninterrupted one would have seen.
 *
 * Units        pixels are 0 to 255 in the file and 0 to 1 before they are normalised
 * Memory       a set points into the caller's bytes, which outlive it
 * Threads      sets are constants; an order belongs to one thread at a time
 * Source       Y. LeCun, C. Cortes and C. Burges, "The MNIST database", section "File formats"
 */
#pragma once

#include "base/core/call.h"

#define DATA_COUNT_MAX     INT64_C(0x7fffffff) /* examples of a set */
#define DATA_DEVIATION_MIN 1e-6                /* of normalise */

struct data_images {
    const uint8_t *pixels; /* [count][rows][columns] */
    int64_t count, rows, columns;
};

struct data_labels {
    const uint8_t *labels; /* [count] */
    int64_t count;
};

/*
 * The pictures of an IDX file: element type 08, rank 3, no empty dimension, and not a byte more or
 * less than the sizes say.
 *
 * name         how the client called the file, for example "test_images"; reasons begin with it
 * fails with   CR_INVALID   the reason names the field at fault
 */
enum cr_status data_read_images(struct cr_call *call, const char *name, const void *bytes,
                                size_t size, struct data_images *ret_images) CR_CHECK;

/* The same for labels: rank 1, each below classes; the first that is not is named by its index. */
enum cr_status data_read_labels(struct cr_call *call, const char *name, const void *bytes,
                                size_t size, int64_t classes,
                                struct data_labels *ret_labels) CR_CHECK;

/* Whether pictures and labels are as many; if not, CR_INVALID naming both. */
enum cr_status data_check_pair(struct cr_call *call, const char *images_name,
                               const struct data_images *images, const char *labels_name,
                               const struct data_labels *labels) CR_CHECK;

/* What is taken off each pixel, and what the rest is divided by; both of pixels between 0 and 1. */
struct data_normal {
    double mean, deviation;
};

/*
 * Mean and standard deviation over all pixels, from sums in integers: the same bits everywhere. A
 * set whose pixels are all alike has the deviation 1.
 */
struct data_normal data_measure(const struct data_images *images);

/* The order of examples: which are next, and where that leaves off. */
struct data_order {
    uint64_t seed;
    int64_t count;    /* of examples in the set, at least 1 */
    int64_t epoch;    /* from 0 */
    int64_t position; /* within the epoch, below count */
};

/* Batches in an epoch, the last of which may be short. */
int64_t data_order_steps(const struct data_order *order, int64_t batch);

/*
 * The indices of the next batch, and a step on; at the end of an epoch the batch is short and the
 * next begins the epoch after it.
 *
 * ret_indices  room for batch
 * returns      how many there are, 1 to batch
 */
int64_t data_order_next(struct data_order *order, int64_t batch, int64_t *ret_indices);

/* Indices first to first + count - 1 as they lie, for evaluation. */
void data_order_plain(int64_t first, int64_t count, int64_t *ret_indices);

/*
 * The pictures of the indices, normalised, as [count][rows][columns] of f32; all indices are below
 * images->count.
 */
void data_gather_images(const struct data_images *images, const struct data_normal *normal,
                        const int64_t *indices, int64_t count, float *ret_x);
void data_gather_labels(const struct data_labels *labels, const int64_t *indices, int64_t count,
                        int32_t *ret_labels);
