/* training: what the tests of compute/train and compute/batch share: a small set, a task, a host.
 */
#pragma once

#include "tests/unit/test.h"

#include "base/json/json.h"
#include "compute/protocol/kind.h"
#include "kernels/cresset/cresset.h"
#include "kernels/random/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIDE    12
#define CLASSES 3
#define HASH    "sha256:0000000000000000000000000000000000000000000000000000000000000000"

/* An IDX file in memory. */
struct idx {
    unsigned char bytes[16 + 600 * SIDE * SIDE];
    size_t size;
};

static inline void put_size(unsigned char *at, uint32_t size)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(size >> (24 - 8 * i));
}

/* Bars that lie, stand or lean, in noise: the label is which of them. */
static inline void make_set(uint32_t count, uint64_t seed, struct idx *ret_images,
                            struct idx *ret_labels)
{
    static const unsigned char image_head[] = {0, 0, 8, 3}, label_head[] = {0, 0, 8, 1};
    memcpy(ret_images->bytes, image_head, 4);
    memcpy(ret_labels->bytes, label_head, 4);
    put_size(ret_images->bytes + 4, count);
    put_size(ret_images->bytes + 8, SIDE);
    put_size(ret_images->bytes + 12, SIDE);
    put_size(ret_labels->bytes + 4, count);
    for (uint32_t i = 0; i < count; i++) {
        unsigned label = random_word(seed, 1, i) % CLASSES;
        int at = (int)(random_word(seed, 2, i) % SIDE);
        unsigned char *picture = ret_images->bytes + 16 + (size_t)i * SIDE * SIDE;
        for (int row = 0; row < SIDE; row++)
            for (int column = 0; column < SIDE; column++) {
                bool on = label == 0   ? row == at
                          : label == 1 ? column == at
                                       : (row + column) % SIDE == at;
                uint64_t place = (uint64_t)(i * SIDE * SIDE) + (uint64_t)(row * SIDE + column);
                picture[row * SIDE + column] =
                    (unsigned char)(random_word(seed, 3, place) % 100 + (on ? 150 : 0));
            }
        ret_labels->bytes[8 + i] = (unsigned char)label;
    }
    ret_images->size = 16 + (size_t)count * SIDE * SIDE;
    ret_labels->size = 8 + count;
}

/* What a host was told. */
struct told {
    int64_t steps;
    int metrics, logs;
    double loss, test_accuracy;
    char phases[64];
};

static inline void told_phase(void *context, const char *phase)
{
    struct told *told = context;
    size_t used = strlen(told->phases);
    snprintf(told->phases + used, sizeof told->phases - used, "%s ", phase);
}

static inline void told_step(void *context, int64_t step, int64_t steps, int64_t epoch)
{
    (void)epoch;
    assert_true(step >= 1 && step <= steps);
    ((struct told *)context)->steps = step;
}

static inline void told_metric(void *context, int64_t step, const char *name, double value)
{
    struct told *told = context;
    (void)step;
    told->metrics++;
    if (strcmp(name, "loss") == 0)
        told->loss = value;
    if (strcmp(name, "test_accuracy") == 0)
        told->test_accuracy = value;
}

static inline void told_log(void *context, int level, const char *text)
{
    (void)level;
    (void)text;
    ((struct told *)context)->logs++;
}

static inline struct protocol_host host_of(struct told *told)
{
    return (struct protocol_host){told_phase, told_step, told_metric, told_log, told};
}

/* A spec of the kind, program and hyperparameters given as JSON. */
static inline struct protocol_spec spec_of(struct cr_call *call, const char *kind,
                                           const char *program, const char *inputs,
                                           const char *hyperparameters)
{
    struct protocol_spec spec;
    const char *text = cr_format(call,
                                 "{\"name\":\"t\",\"kind\":\"%s\",\"program\":%s,\"inputs\":%s,"
                                 "\"hyperparameters\":%s}",
                                 kind, program, inputs, hyperparameters);
    assert_ok(call, json_read(call, &protocol_spec_shape, text, strlen(text), &spec));
    assert_ok(call, protocol_spec_check(call, &spec));
    return spec;
}

#define TRAIN_INPUTS                                                           \
    "{\"images\":\"" HASH "\",\"labels\":\"" HASH "\",\"test_images\":\"" HASH \
    "\",\"test_labels\":\"" HASH "\"}"

static inline struct cresset *engine_of(struct cr_call *call, int threads, const char *tier)
{
    struct cresset_options options = {.size = sizeof options, .threads = threads, .tier = tier};
    struct cresset *engine;
    assert_ok(call, cresset_open(call, &options, &engine));
    return engine;
}

/* What was written to a descriptor, of the call's memory. */
static inline struct protocol_mapped contents(struct cr_call *call, const char *name,
                                              int descriptor)
{
    off_t size = lseek(descriptor, 0, SEEK_END);
    unsigned char *data = cr_alloc(call, 1, (size_t)size + 1);
    assert_int_equal(pread(descriptor, data, (size_t)size, 0), size);
    return (struct protocol_mapped){name, data, (size_t)size};
}
