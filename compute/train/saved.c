/* saved: checkpoints, the model, and what the job ends with. */
#include "compute/train/train_internal.h"

#include "base/core/parse.h"
#include "base/json/json.h"

#include <math.h>

static const char *number(struct cr_call *call, double value)
{
    struct cr_text text = cr_text_open(call);
    json_add_number(&text, value);
    return text.data;
}

static const char *integer(struct cr_call *call, int64_t value)
{
    return cr_format(call, "%lld", (long long)value);
}

/* EFBIG is the tenant's limit on outputs. */
static enum cr_status written(struct cr_call *call, enum cr_status status)
{
    if (status != CR_TOO_LARGE)
        return status;
    const char *reason = cr_copy(call, call->reason, strlen(call->reason));
    cr_forgive(call);
    return cr_fail_as(call, &protocol_output_limit, "%s", reason);
}

/*
 * Beside weights and states a checkpoint has the sums of the epoch so far. A test in progress is
 * not saved: the step tells that it is due, and it begins again.
 */
enum cr_status train_checkpoint(struct cr_call *call, void *state, int descriptor,
                                int64_t *ret_step)
{
    struct train *train = state;
    const struct cr_label labels[] = {
        {"loss_sum", cr_format(call, "%a", train->loss_sum)},
        {"loss_count", integer(call, train->loss_count)},
        {"nonfinite", integer(call, train->nonfinite)},
        {"train_loss", cr_format(call, "%a", train->train_loss)},
        {"steps", integer(call, train->steps)},
        {"batch", integer(call, train->batch)},
        {"seed", integer(call, train->hyper.seed)},
    };
    struct cr_labels metadata = {labels, sizeof labels / sizeof labels[0]};
    CR_TRY(written(call, cresset_trainer_checkpoint(call, train->trainer, descriptor, &metadata)));
    *ret_step = cresset_trainer_steps(train->trainer);
    return CR_OK;
}

static enum cr_status saved_integer(struct cr_call *call, const struct cresset_file *file,
                                    const char *name, int64_t max, int64_t *ret_value)
{
    const char *text = cresset_file_metadata(file, name);
    if (!text || !cr_parse_integer(text, strlen(text), 0, max, ret_value))
        return cr_fail(call, CR_INVALID, "checkpoint: %s is missing or wrong", name);
    return CR_OK;
}

static enum cr_status saved_number(struct cr_call *call, const struct cresset_file *file,
                                   const char *name, double *ret_value)
{
    const char *text = cresset_file_metadata(file, name);
    char *end = NULL;
    double value = text ? strtod(text, &end) : 0;
    if (!text || end == text || *end != '\0')
        return cr_fail(call, CR_INVALID, "checkpoint: %s is missing or wrong", name);
    *ret_value = value;
    return CR_OK;
}

static enum cr_status read_sums(struct cr_call *call, struct train *train,
                                const struct cresset_file *file)
{
    int64_t steps, batch, seed;
    CR_TRY(saved_integer(call, file, "steps", INT64_MAX, &steps));
    CR_TRY(saved_integer(call, file, "batch", INT64_MAX, &batch));
    CR_TRY(saved_integer(call, file, "seed", INT64_MAX, &seed));
    if (steps != train->steps || batch != train->batch || seed != train->hyper.seed)
        return cr_fail(call, CR_INVALID, "checkpoint: it is of another job");
    CR_TRY(saved_number(call, file, "loss_sum", &train->loss_sum));
    CR_TRY(saved_number(call, file, "train_loss", &train->train_loss));
    CR_TRY(saved_integer(call, file, "loss_count", train->info.count, &train->loss_count));
    return saved_integer(call, file, "nonfinite", TRAIN_NONFINITE_MAX - 1, &train->nonfinite);
}

static enum cr_status resume_from(struct cr_call *call, struct train *train,
                                  const struct cresset_file *file)
{
    CR_TRY(read_sums(call, train, file));
    CR_TRY(cresset_trainer_restore(call, train->trainer, file));
    int64_t step = cresset_trainer_steps(train->trainer), within = step % train->epoch_steps;
    if (step > train->steps)
        return cr_fail(call, CR_INVALID, "checkpoint: step %lld of %lld", (long long)step,
                       (long long)train->steps);
    cresset_loader_seek(train->loader, step / train->epoch_steps, within * train->batch);
    train->testing = step > 0 && within == 0 && train->test_set != NULL;
    return CR_OK;
}

enum cr_status train_resume(struct cr_call *call, struct train *train)
{
    const struct protocol_mapped *resume = train->task->resume;
    struct cresset_file *file;
    CR_TRY(cresset_file_open(call, resume->data, resume->size, "safetensors", &file));
    enum cr_status status = resume_from(call, train, file);
    cresset_file_close(file);
    return status;
}

static enum cr_status save_model(struct cr_call *call, struct train *train)
{
    const struct protocol_task *task = train->task;
    const struct cr_label labels[] = {
        {"classes", integer(call, train->classes)},
        {"deviation", number(call, train->deviation)},
        {"mean", number(call, train->mean)},
        {"seed", integer(call, train->hyper.seed)},
        {"step", integer(call, cresset_trainer_steps(train->trainer))},
    };
    struct cr_labels metadata = {labels, sizeof labels / sizeof labels[0]};
    for (size_t i = 0; i < task->output_count; i++)
        if (strcmp(task->outputs[i].name, train_kind.outputs[0]) == 0)
            return written(call, cresset_trainer_save(call, train->trainer,
                                                      task->outputs[i].descriptor, &metadata));
    return cr_fail(call, CR_INTERNAL, "the task has no output 'model'");
}

enum cr_status train_finish(struct cr_call *call, void *state, bool stopped,
                            struct protocol_result *ret_result)
{
    struct train *train = state;
    const struct protocol_host *host = train->task->host;
    int64_t steps = cresset_trainer_steps(train->trainer);
    const struct {
        const char *name;
        double value;
    } metrics[] = {
        {"epochs", (double)(steps / train->epoch_steps)},
        {"examples", (double)(steps / train->epoch_steps * train->info.count +
                              steps % train->epoch_steps * train->batch)},
        {"steps", (double)steps},
        {"test_accuracy", train->test_accuracy},
        {"test_loss", train->test_loss},
        {"train_loss", train->train_loss},
    };
    size_t count = 0, all = sizeof metrics / sizeof metrics[0];
    struct cr_label *labels = cr_new(call, struct cr_label, all);
    host->phase(host->context, "save");
    if (stopped)
        host->log(host->context, 2,
                  cr_format(call, "stopped after step %lld of %lld", (long long)steps,
                            (long long)train->steps));
    CR_TRY(save_model(call, train));
    for (size_t i = 0; i < all; i++)
        if (isfinite(metrics[i].value))
            labels[count++] = (struct cr_label){metrics[i].name, number(call, metrics[i].value)};
    *ret_result = (struct protocol_result){.metrics = {labels, count}, .steps = steps};
    return CR_OK;
}
