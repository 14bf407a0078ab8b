/* training: trainers as handles, their models and checkpoints as files. */
#include "kernels/cresset/cresset_internal.h"

#include "base/core/parse.h"

struct cresset_trainer {
    struct nn_trainer *trainer;
    struct nn_recipe recipe;
    bool training;
};

#define STEP_NAME "step" /* the metadata of a checkpoint that tells the steps taken */

static enum cr_status read_learning(struct cr_call *call, const struct cresset_learning *from,
                                    struct nn_learning *ret_learning)
{
    static const char *const optimizers[] = {"sgd", "adam", "adamw", NULL};
    static const char *const schedules[] = {"constant", "linear", "cosine", NULL};
    int optimizer, schedule;
    CR_TRY(cresset_check_size(call, "cresset_learning", from->size, sizeof *from));
    CR_TRY(cresset_word(call, "optimizer", from->optimizer, optimizers, &optimizer));
    CR_TRY(cresset_word(call, "schedule", from->schedule, schedules, &schedule));
    *ret_learning = (struct nn_learning){.optimizer = (enum nn_optimizer)optimizer,
                                         .schedule = (enum nn_schedule)schedule,
                                         .rate = from->rate,
                                         .momentum = from->momentum,
                                         .weight_decay = from->weight_decay,
                                         .clip_norm = from->clip_norm,
                                         .warmup_steps = from->warmup_steps,
                                         .steps = from->steps};
    return CR_OK;
}

enum cr_status cresset_trainer_open(struct cr_call *call, struct cresset *engine,
                                    const struct cresset_trainer_options *options,
                                    struct cresset_trainer **ret_trainer)
{
    struct nn_trainer_options to = {.batch = options->batch,
                                    .last_batch = options->last_batch,
                                    .test_batch = options->test_batch,
                                    .last_test_batch = options->last_test_batch,
                                    .training = options->learning != NULL,
                                    .labels = options->test_labels,
                                    .seed = options->seed};
    void *handle;
    CR_TRY(cresset_check_size(call, "cresset_trainer_options", options->size, sizeof *options));
    CR_TRY(cresset_recipe_check(call, options->recipe, &to.recipe));
    if (options->learning)
        CR_TRY(read_learning(call, options->learning, &to.learning));
    CR_TRY(cresset_handle(call, sizeof(struct cresset_trainer), &handle));
    struct cresset_trainer *trainer = handle;
    trainer->training = to.training;
    trainer->recipe = to.recipe;
    if (nn_trainer_open(call, engine->device, &to, &trainer->trainer) != CR_OK) {
        free(trainer);
        return call->status;
    }
    *ret_trainer = trainer;
    return CR_OK;
}

enum cr_status cresset_trainer_step(struct cr_call *call, struct cresset_trainer *trainer,
                                    const struct cresset_batch *batch,
                                    struct cresset_step *ret_step)
{
    struct nn_step step;
    if (!batch->labels)
        return cr_fail(call, CR_INVALID, "a batch without labels");
    CR_TRY(
        nn_trainer_step(call, trainer->trainer, batch->images, batch->labels, batch->count, &step));
    *ret_step = (struct cresset_step){step.loss, step.rate, step.gradient_norm};
    return CR_OK;
}

enum cr_status cresset_trainer_evaluate(struct cr_call *call, struct cresset_trainer *trainer,
                                        const struct cresset_batch *batch, float *ret_logits,
                                        float *ret_losses)
{
    return nn_trainer_evaluate(call, trainer->trainer, batch->images, batch->labels, batch->count,
                               ret_logits, ret_losses);
}

int64_t cresset_trainer_steps(const struct cresset_trainer *trainer)
{
    return nn_trainer_steps(trainer->trainer);
}

struct cresset_plan cresset_trainer_plan(const struct cresset_trainer *trainer)
{
    struct run_plan plan = nn_trainer_plan(trainer->trainer);
    return (struct cresset_plan){plan.memory, plan.constants, plan.steps, plan.views};
}

static enum cr_status write(struct cr_call *call, const struct cresset_trainer *trainer,
                            int descriptor, const struct cr_labels *metadata, bool states)
{
    const struct nn_named *named;
    int count = nn_trainer_tensors(call, trainer->trainer, states, &named);
    struct format_tensor *tensors = cr_new(call, struct format_tensor, (size_t)count + 1);
    for (int i = 0; i < count; i++) {
        const struct tensor *tensor = &named[i].tensor;
        tensors[i] = (struct format_tensor){.name = named[i].name,
                                            .dtype = tensor->dtype,
                                            .rank = tensor->rank,
                                            .bytes = tensor_bytes(tensor)};
        tensors[i].size = (size_t)tensor_elements(tensor) * dtype_size(tensor->dtype);
        memcpy(tensors[i].shape, tensor->shape, sizeof tensors[i].shape);
    }
    return format_write_safetensors(call, descriptor, tensors, (size_t)count, metadata);
}

enum cr_status cresset_trainer_save(struct cr_call *call, const struct cresset_trainer *trainer,
                                    int descriptor, const struct cr_labels *metadata)
{
    struct cr_labels all = cresset_recipe_labels(call, &trainer->recipe, metadata);
    return write(call, trainer, descriptor, &all, false);
}

enum cr_status cresset_trainer_checkpoint(struct cr_call *call,
                                          const struct cresset_trainer *trainer, int descriptor,
                                          const struct cr_labels *metadata)
{
    struct cr_labels recipe = cresset_recipe_labels(call, &trainer->recipe, metadata);
    struct cr_label *labels = cr_new(call, struct cr_label, recipe.count + 1);
    memcpy(labels, recipe.items, sizeof *labels * recipe.count);
    labels[recipe.count] = (struct cr_label){
        STEP_NAME, cr_format(call, "%lld", (long long)nn_trainer_steps(trainer->trainer))};
    return write(call, trainer, descriptor, &(struct cr_labels){labels, recipe.count + 1}, true);
}

/* The tensors of a file as views into it. */
static enum cr_status restore(struct cr_call *call, struct cresset_trainer *trainer,
                              const struct cresset_file *file, bool states, int64_t steps)
{
    size_t count = file->file.count;
    struct nn_named *named = cr_new(call, struct nn_named, count + 1);
    struct storage *storages = cr_new(call, struct storage, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct format_tensor *from = &file->file.tensors[i];
        storages[i].size = from->size;
        storages[i].bytes = cr_alloc(call, 1, from->size + 1);
        if (from->size > 0)
            memcpy(storages[i].bytes, from->bytes, from->size);
        named[i] = (struct nn_named){
            from->name, tensor_over(&storages[i], 0, from->dtype, from->rank, from->shape)};
    }
    return nn_trainer_restore(call, trainer->trainer, named, (int)count, states, steps);
}

enum cr_status cresset_trainer_load(struct cr_call *call, struct cresset_trainer *trainer,
                                    const struct cresset_file *file)
{
    return restore(call, trainer, file, false, 0);
}

enum cr_status cresset_trainer_restore(struct cr_call *call, struct cresset_trainer *trainer,
                                       const struct cresset_file *file)
{
    const char *text = format_metadata(&file->file, STEP_NAME);
    int64_t steps;
    if (!trainer->training)
        return cr_fail(call, CR_INVALID, "a checkpoint is for a trainer that trains");
    if (!text || !cr_parse_integer(text, strlen(text), 0, INT64_MAX / 2, &steps))
        return cr_fail(call, CR_INVALID, "the checkpoint does not tell its step");
    return restore(call, trainer, file, true, steps);
}

void cresset_trainer_close(struct cresset_trainer *trainer)
{
    if (!trainer)
        return;
    nn_trainer_close(trainer->trainer);
    free(trainer);
}
