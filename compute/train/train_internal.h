/* train, inside: what a run knows. */
#pragma once

#include "compute/train/train.h"
#include "kernels/cresset/cresset.h"

#define TRAIN_TEST_BATCH    256
#define TRAIN_NONFINITE_MAX 3 /* steps in a row whose loss is not finite end the job */

struct train {
    const struct protocol_task *task;
    struct protocol_hyperparameters hyper;
    struct cresset_dataset *set, *test_set; /* test_set NULL: there is none */
    struct cresset_loader *loader, *test_loader;
    struct cresset_trainer *trainer;
    struct cresset_dataset_info info;
    double mean, deviation;
    int64_t classes, batch, test_batch, test_count;
    int64_t epoch_steps, steps; /* of one epoch, and of all */

    double loss_sum; /* of the epoch so far, and over how many examples */
    int64_t loss_count;
    int64_t nonfinite;
    bool testing;
    int64_t tested, correct;
    double test_sum;
    float *logits, *losses;
    double train_loss, test_loss, test_accuracy; /* of the last epoch; NAN: not yet */
};

/* saved.c: what outlives a run. */
enum cr_status train_resume(struct cr_call *call, struct train *train) CR_CHECK;
enum cr_status train_checkpoint(struct cr_call *call, void *state, int descriptor,
                                int64_t *ret_step) CR_CHECK;
enum cr_status train_finish(struct cr_call *call, void *state, bool stopped,
                            struct protocol_result *ret_result) CR_CHECK;
