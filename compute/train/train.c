/* train: open, step, and the two loops: examples of an epoch, then the test pictures. */
#include "compute/train/train_internal.h"

#include <math.h>

static const char *const outputs[] = {"model", NULL};
static const char *const output_kinds[] = {"model", NULL};

/* What failed is the fault of what code says; the reason stays. */
static enum cr_status blame(struct cr_call *call, const struct cr_code *code)
{
    if (call->status != CR_INVALID)
        return call->status;
    const char *reason = cr_copy(call, call->reason, strlen(call->reason));
    cr_forgive(call);
    return cr_fail_as(call, code, "%s", reason);
}

static const struct protocol_mapped *input(const struct protocol_task *task, const char *name)
{
    for (size_t i = 0; i < task->input_count; i++)
        if (strcmp(task->inputs[i].name, name) == 0)
            return &task->inputs[i];
    return NULL;
}

static enum cr_status open_set(struct cr_call *call, struct train *train, const char *images_name,
                               const char *labels_name, struct cresset_dataset **ret_set)
{
    const struct protocol_mapped *images = input(train->task, images_name);
    const struct protocol_mapped *labels = input(train->task, labels_name);
    if (!images || !labels)
        return cr_fail_as(call, &protocol_input_rejected, "%s: there is no such input",
                          images ? labels_name : images_name);
    struct cresset_dataset_options options = {.size = sizeof options,
                                              .images_name = images_name,
                                              .labels_name = labels_name,
                                              .images = images->data,
                                              .labels = labels->data,
                                              .images_size = images->size,
                                              .labels_size = labels->size,
                                              .classes = train->classes};
    return cresset_dataset_open(call, &options, ret_set) == CR_OK
               ? CR_OK
               : blame(call, &protocol_input_rejected);
}

static enum cr_status open_sets(struct cr_call *call, struct train *train)
{
    CR_TRY(open_set(call, train, "images", "labels", &train->set));
    train->info = cresset_dataset_describe(train->set);
    if (!input(train->task, "test_images"))
        return CR_OK;
    CR_TRY(open_set(call, train, "test_images", "test_labels", &train->test_set));
    struct cresset_dataset_info test = cresset_dataset_describe(train->test_set);
    train->test_count = test.count;
    if (test.rows != train->info.rows || test.columns != train->info.columns)
        return cr_fail_as(call, &protocol_input_rejected,
                          "test_images are %lld x %lld, but images are %lld x %lld",
                          (long long)test.rows, (long long)test.columns,
                          (long long)train->info.rows, (long long)train->info.columns);
    return CR_OK;
}

static enum cr_status open_loader(struct cr_call *call, const struct train *train,
                                  const struct cresset_dataset *set, int64_t batch, bool shuffled,
                                  struct cresset_loader **ret_loader)
{
    struct cresset_loader_options options = {.size = sizeof options,
                                             .batch = batch,
                                             .mean = train->mean,
                                             .deviation = train->deviation,
                                             .shuffled = shuffled,
                                             .seed = (uint64_t)train->hyper.seed};
    return cresset_loader_open(call, set, &options, ret_loader);
}

static enum cr_status open_loaders(struct cr_call *call, struct train *train)
{
    const struct protocol_normalise *normal = train->hyper.normalise;
    train->mean = normal ? normal->mean : train->info.mean;
    train->deviation = normal ? normal->deviation : train->info.deviation;
    CR_TRY(open_loader(call, train, train->set, train->batch, true, &train->loader));
    if (!train->test_set)
        return CR_OK;
    CR_TRY(
        open_loader(call, train, train->test_set, train->test_batch, false, &train->test_loader));
    train->logits = cr_new(call, float, (size_t)(train->test_batch * train->classes));
    train->losses = cr_new(call, float, (size_t)train->test_batch);
    return CR_OK;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void count_steps(struct train *train)
{
    train->batch = smaller(train->hyper.batch, train->info.count);
    train->test_batch = smaller(TRAIN_TEST_BATCH, train->test_count);
    train->epoch_steps = (train->info.count + train->batch - 1) / train->batch;
    train->steps = train->epoch_steps * train->hyper.epochs;
}

static enum cr_status open_trainer(struct cr_call *call, struct train *train)
{
    const struct protocol_program *program = train->task->spec->program;
    const struct protocol_parameters *parameters = program->parameters;
    const struct protocol_hyperparameters *hyper = &train->hyper;
    bool mlp = strcmp(program->recipe, "mlp") == 0;
    struct cr_integers widths = mlp ? parameters->widths : parameters->channels;
    struct cresset_recipe recipe = {.size = sizeof recipe,
                                    .name = program->recipe,
                                    .rows = train->info.rows,
                                    .columns = train->info.columns,
                                    .widths = widths.items,
                                    .width_count = (int64_t)widths.count,
                                    .activation = parameters->activation,
                                    .kernel = parameters->kernel,
                                    .pool = parameters->pool,
                                    .classes = parameters->classes};
    struct cresset_learning learning = {.size = sizeof learning,
                                        .optimizer = hyper->optimizer,
                                        .schedule = hyper->schedule,
                                        .rate = hyper->rate,
                                        .momentum = hyper->momentum,
                                        .weight_decay = hyper->weight_decay,
                                        .clip_norm = hyper->clip_norm,
                                        .warmup_steps = hyper->warmup_steps,
                                        .steps = train->steps};
    struct cresset_trainer_options options = {
        .size = sizeof options,
        .recipe = &recipe,
        .learning = &learning,
        .batch = train->batch,
        .last_batch = train->info.count % train->batch,
        .test_batch = train->test_batch,
        .last_test_batch = train->test_batch > 0 ? train->test_count % train->test_batch : 0,
        .test_labels = true,
        .seed = (uint64_t)hyper->seed};
    return cresset_trainer_open(call, train->task->engine, &options, &train->trainer) == CR_OK
               ? CR_OK
               : blame(call, &protocol_program_rejected);
}

static enum cr_status begin(struct cr_call *call, struct train *train)
{
    const struct protocol_program *program = train->task->spec->program;
    struct cr_integers widths = program->parameters->widths;
    train->hyper = protocol_spec_defaults(train->task->spec);
    train->classes = strcmp(program->recipe, "mlp") == 0 ? widths.items[widths.count - 1]
                                                         : program->parameters->classes;
    CR_TRY(open_sets(call, train));
    CR_TRY(protocol_recipe_check(call, train->task->spec, train->info.rows, train->info.columns));
    count_steps(train);
    CR_TRY(open_loaders(call, train));
    CR_TRY(open_trainer(call, train));
    if (train->task->resume && train_resume(call, train) != CR_OK)
        return blame(call, &protocol_input_rejected);
    train->task->host->phase(train->task->host->context, "train");
    return CR_OK;
}

static void train_close(void *state)
{
    struct train *train = state;
    cresset_trainer_close(train->trainer);
    cresset_loader_close(train->test_loader);
    cresset_loader_close(train->loader);
    cresset_dataset_close(train->test_set);
    cresset_dataset_close(train->set);
}

static enum cr_status train_open(struct cr_call *call, const struct protocol_task *task,
                                 void **ret_state)
{
    struct train *train = cr_new(call, struct train, 1);
    train->task = task;
    train->train_loss = train->test_loss = train->test_accuracy = NAN;
    if (begin(call, train) != CR_OK) {
        train_close(train);
        return call->status;
    }
    *ret_state = train;
    return CR_OK;
}

/* What is not a number cannot be drawn, and is not told. */
static void tell(const struct train *train, const char *name, double value)
{
    const struct protocol_host *host = train->task->host;
    if (isfinite(value))
        host->metric(host->context, cresset_trainer_steps(train->trainer), name, value);
}

static void end_epoch(struct cr_call *call, struct train *train, int64_t epoch)
{
    const struct protocol_host *host = train->task->host;
    train->train_loss = train->loss_sum / (double)train->loss_count;
    train->loss_sum = 0;
    train->loss_count = 0;
    train->testing = train->test_set != NULL;
    if (train->testing) {
        cresset_loader_seek(train->test_loader, 0, 0);
        train->tested = train->correct = 0;
        train->test_sum = 0;
        host->phase(host->context, "test");
    } else {
        host->log(host->context, 1,
                  cr_format(call, "epoch %lld of %lld: loss %.4f", (long long)epoch,
                            (long long)train->hyper.epochs, train->train_loss));
    }
}

static enum cr_status learn(struct cr_call *call, struct train *train)
{
    const struct protocol_host *host = train->task->host;
    struct cresset_batch batch;
    struct cresset_step step;
    cresset_loader_next(train->loader, &batch);
    CR_TRY(cresset_trainer_step(call, train->trainer, &batch, &step));
    int64_t done = cresset_trainer_steps(train->trainer);
    train->nonfinite = isfinite(step.loss) ? 0 : train->nonfinite + 1;
    if (train->nonfinite == TRAIN_NONFINITE_MAX)
        return cr_fail_as(call, &protocol_nonfinite, "the loss is not finite at steps %lld to %lld",
                          (long long)(done - TRAIN_NONFINITE_MAX + 1), (long long)done);
    train->loss_sum += step.loss * (double)batch.count;
    train->loss_count += batch.count;
    host->step(host->context, done, train->steps, batch.epoch);
    tell(train, "loss", step.loss);
    tell(train, "rate", step.rate);
    tell(train, "gradient_norm", step.gradient_norm);
    if (done % train->epoch_steps == 0)
        end_epoch(call, train, batch.epoch + 1);
    return CR_OK;
}

/* The class of the largest logit, the first of equal ones. */
static int64_t best(const float *logits, int64_t classes)
{
    int64_t top = 0;
    for (int64_t i = 1; i < classes; i++)
        if (logits[i] > logits[top])
            top = i;
    return top;
}

static void end_test(struct cr_call *call, struct train *train)
{
    const struct protocol_host *host = train->task->host;
    int64_t epoch = cresset_trainer_steps(train->trainer) / train->epoch_steps;
    train->testing = false;
    train->test_loss = train->test_sum / (double)train->tested;
    train->test_accuracy = (double)train->correct / (double)train->tested;
    tell(train, "test_loss", train->test_loss);
    tell(train, "test_accuracy", train->test_accuracy);
    host->log(host->context, 1,
              cr_format(call, "epoch %lld of %lld: loss %.4f, test loss %.4f, accuracy %.4f",
                        (long long)epoch, (long long)train->hyper.epochs, train->train_loss,
                        train->test_loss, train->test_accuracy));
    if (epoch < train->hyper.epochs)
        host->phase(host->context, "train");
}

static enum cr_status test(struct cr_call *call, struct train *train)
{
    struct cresset_batch batch;
    cresset_loader_next(train->test_loader, &batch);
    CR_TRY(cresset_trainer_evaluate(call, train->trainer, &batch, train->logits, train->losses));
    for (int64_t i = 0; i < batch.count; i++) {
        train->test_sum += (double)train->losses[i];
        train->correct +=
            best(&train->logits[i * train->classes], train->classes) == batch.labels[i];
    }
    train->tested += batch.count;
    if (train->tested == train->test_count)
        end_test(call, train);
    return CR_OK;
}

static enum cr_status train_step(struct cr_call *call, void *state, bool *ret_done)
{
    struct train *train = state;
    if (train->testing)
        CR_TRY(test(call, train));
    else if (cresset_trainer_steps(train->trainer) < train->steps)
        CR_TRY(learn(call, train));
    *ret_done = !train->testing && cresset_trainer_steps(train->trainer) == train->steps;
    return CR_OK;
}

const struct protocol_kind train_kind = {
    .name = "train",
    .outputs = outputs,
    .output_kinds = output_kinds,
    .open = train_open,
    .step = train_step,
    .checkpoint = train_checkpoint,
    .finish = train_finish,
    .close = train_close,
};
