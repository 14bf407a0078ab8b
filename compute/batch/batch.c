/* batch: a model, picture by picture, a batch a step. */
#include "compute/batch/batch.h"

#include "base/core/parse.h"
#include "base/json/json.h"
#include "kernels/cresset/cresset.h"

#include <math.h>

static const char *const outputs[] = {"predictions", NULL};
static const char *const output_kinds[] = {"predictions", NULL};

struct batch {
    const struct protocol_task *task;
    struct cresset_file *model;
    struct cresset_dataset *set;
    struct cresset_loader *loader;
    struct cresset_trainer *trainer;
    struct cresset_recipe recipe;
    struct cresset_dataset_info info;
    int64_t classes, size; /* of a batch */
    int64_t examples, steps, correct;
    double loss_sum;
    float *losses; /* of one batch */
    float *logits; /* of all, from here on in one piece, which is large */
    int32_t *labels;
};

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

static enum cr_status model_number(struct cr_call *call, const struct batch *batch,
                                   const char *name, double *ret_value)
{
    const char *text = cresset_file_metadata(batch->model, name);
    if (!text || !cr_parse_number(text, strlen(text), ret_value))
        return cr_fail(call, CR_INVALID, "the model does not tell its %s", name);
    return CR_OK;
}

static enum cr_status open_model(struct cr_call *call, struct batch *batch)
{
    const struct protocol_mapped *model = batch->task->model;
    double classes;
    if (!model)
        return cr_fail(call, CR_INVALID, "there is no model");
    CR_TRY(cresset_file_open(call, model->data, model->size, "safetensors", &batch->model));
    CR_TRY(cresset_file_recipe(call, batch->model, &batch->recipe));
    CR_TRY(model_number(call, batch, "classes", &classes));
    if (!(classes >= 1 && classes <= PROTOCOL_WIDTH_MAX))
        return cr_fail(call, CR_INVALID, "the model has %g classes", classes);
    batch->classes = (int64_t)classes;
    return CR_OK;
}

static enum cr_status open_set(struct cr_call *call, struct batch *batch)
{
    const struct protocol_mapped *images = input(batch->task, "images");
    const struct protocol_mapped *labels = input(batch->task, "labels");
    if (!images)
        return cr_fail(call, CR_INVALID, "images: there is no such input");
    struct cresset_dataset_options options = {.size = sizeof options,
                                              .images_name = "images",
                                              .labels_name = "labels",
                                              .images = images->data,
                                              .images_size = images->size,
                                              .labels = labels ? labels->data : NULL,
                                              .labels_size = labels ? labels->size : 0,
                                              .classes = batch->classes};
    CR_TRY(cresset_dataset_open(call, &options, &batch->set));
    batch->info = cresset_dataset_describe(batch->set);
    if (batch->info.rows != batch->recipe.rows || batch->info.columns != batch->recipe.columns)
        return cr_fail(call, CR_INVALID, "images are %lld x %lld, the model takes %lld x %lld",
                       (long long)batch->info.rows, (long long)batch->info.columns,
                       (long long)batch->recipe.rows, (long long)batch->recipe.columns);
    int64_t size = protocol_spec_defaults(batch->task->spec).batch;
    batch->size = size < batch->info.count ? size : batch->info.count;
    return CR_OK;
}

static enum cr_status open_trainer(struct cr_call *call, struct batch *batch)
{
    struct cresset_trainer_options options = {.size = sizeof options,
                                              .recipe = &batch->recipe,
                                              .test_batch = batch->size,
                                              .last_test_batch = batch->info.count % batch->size,
                                              .test_labels = batch->info.labels};
    CR_TRY(cresset_trainer_open(call, batch->task->engine, &options, &batch->trainer));
    return cresset_trainer_load(call, batch->trainer, batch->model);
}

static enum cr_status open_loader(struct cr_call *call, struct batch *batch)
{
    struct cresset_loader_options options = {.size = sizeof options, .batch = batch->size};
    CR_TRY(model_number(call, batch, "mean", &options.mean));
    CR_TRY(model_number(call, batch, "deviation", &options.deviation));
    return cresset_loader_open(call, batch->set, &options, &batch->loader);
}

/* Room for the results of all pictures, asked for before the first. */
static enum cr_status allocate(struct cr_call *call, struct batch *batch)
{
    size_t count = (size_t)batch->info.count;
    batch->losses = cr_new(call, float, (size_t)batch->size);
    batch->labels = calloc(count, sizeof *batch->labels);
    batch->logits = calloc(count * (size_t)batch->classes, sizeof *batch->logits);
    return batch->labels && batch->logits
               ? CR_OK
               : cr_fail(call, CR_EXHAUSTED, "no memory for %zu predictions", count);
}

static enum cr_status begin(struct cr_call *call, struct batch *batch)
{
    if (open_model(call, batch) != CR_OK)
        return blame(call, &protocol_program_rejected);
    if (open_set(call, batch) != CR_OK)
        return blame(call, &protocol_input_rejected);
    if (open_trainer(call, batch) != CR_OK || open_loader(call, batch) != CR_OK)
        return blame(call, &protocol_program_rejected);
    CR_TRY(allocate(call, batch));
    batch->task->host->phase(batch->task->host->context, "run");
    return CR_OK;
}

static void batch_close(void *state)
{
    struct batch *batch = state;
    cresset_trainer_close(batch->trainer);
    cresset_loader_close(batch->loader);
    cresset_dataset_close(batch->set);
    cresset_file_close(batch->model);
    free(batch->labels);
    free(batch->logits);
}

static enum cr_status batch_open(struct cr_call *call, const struct protocol_task *task,
                                 void **ret_state)
{
    struct batch *batch = cr_new(call, struct batch, 1);
    batch->task = task;
    if (begin(call, batch) != CR_OK) {
        batch_close(batch);
        return call->status;
    }
    *ret_state = batch;
    return CR_OK;
}

/* The class of the largest logit, the first of equal ones. */
static int32_t best(const float *logits, int64_t classes)
{
    int32_t top = 0;
    for (int32_t i = 1; i < classes; i++)
        if (logits[i] > logits[top])
            top = i;
    return top;
}

static enum cr_status batch_step(struct cr_call *call, void *state, bool *ret_done)
{
    struct batch *batch = state;
    const struct protocol_host *host = batch->task->host;
    struct cresset_batch pictures;
    float *logits = batch->logits + batch->examples * batch->classes;
    int64_t steps = (batch->info.count + batch->size - 1) / batch->size;
    cresset_loader_next(batch->loader, &pictures);
    CR_TRY(cresset_trainer_evaluate(call, batch->trainer, &pictures, logits, batch->losses));
    for (int64_t i = 0; i < pictures.count; i++) {
        int32_t label = best(&logits[i * batch->classes], batch->classes);
        batch->labels[batch->examples + i] = label;
        if (pictures.labels) {
            batch->loss_sum += (double)batch->losses[i];
            batch->correct += label == pictures.labels[i];
        }
    }
    batch->examples += pictures.count;
    batch->steps++;
    host->step(host->context, batch->steps, steps, 0);
    host->metric(host->context, batch->steps, "examples", (double)batch->examples);
    *ret_done = batch->examples == batch->info.count;
    return CR_OK;
}

static enum cr_status write_tensors(struct cr_call *call, struct batch *batch, int descriptor,
                                    struct cresset_tensor **labels, struct cresset_tensor **logits)
{
    struct cresset *engine = batch->task->engine;
    int64_t shape[] = {batch->examples, batch->classes};
    size_t count = (size_t)batch->examples;
    CR_TRY(cresset_tensor_borrow(call, engine, "i32", 1, shape, batch->labels,
                                 count * sizeof *batch->labels, NULL, NULL, labels));
    CR_TRY(cresset_tensor_borrow(call, engine, "f32", 2, shape, batch->logits,
                                 count * (size_t)batch->classes * sizeof *batch->logits, NULL, NULL,
                                 logits));
    const struct cresset_named named[] = {{"label", *labels}, {"logits", *logits}};
    return cresset_write_safetensors(call, descriptor, named, 2, NULL);
}

static enum cr_status write_predictions(struct cr_call *call, struct batch *batch)
{
    const struct protocol_task *task = batch->task;
    struct cresset_tensor *labels = NULL, *logits = NULL;
    for (size_t i = 0; i < task->output_count; i++) {
        if (strcmp(task->outputs[i].name, outputs[0]) != 0)
            continue;
        enum cr_status status =
            write_tensors(call, batch, task->outputs[i].descriptor, &labels, &logits);
        cresset_tensor_close(labels);
        cresset_tensor_close(logits);
        if (status != CR_TOO_LARGE)
            return status;
        const char *reason = cr_copy(call, call->reason, strlen(call->reason));
        cr_forgive(call);
        return cr_fail_as(call, &protocol_output_limit, "%s", reason);
    }
    return cr_fail(call, CR_INTERNAL, "the task has no output 'predictions'");
}

static const char *number(struct cr_call *call, double value)
{
    struct cr_text text = cr_text_open(call);
    json_add_number(&text, value);
    return text.data;
}

static enum cr_status batch_finish(struct cr_call *call, void *state, bool stopped,
                                   struct protocol_result *ret_result)
{
    struct batch *batch = state;
    const struct protocol_host *host = batch->task->host;
    struct cr_label *labels = cr_new(call, struct cr_label, 4);
    double examples = (double)batch->examples, loss = batch->loss_sum / examples;
    size_t count = 0;
    host->phase(host->context, "save");
    if (stopped)
        host->log(host->context, 2,
                  cr_format(call, "stopped after %lld of %lld pictures", (long long)batch->examples,
                            (long long)batch->info.count));
    CR_TRY(write_predictions(call, batch));
    bool measured = batch->info.labels && batch->examples > 0;
    if (measured)
        labels[count++] =
            (struct cr_label){"accuracy", number(call, (double)batch->correct / examples)};
    labels[count++] = (struct cr_label){"examples", number(call, examples)};
    if (measured && isfinite(loss))
        labels[count++] = (struct cr_label){"loss", number(call, loss)};
    labels[count++] = (struct cr_label){"steps", number(call, (double)batch->steps)};
    *ret_result = (struct protocol_result){.metrics = {labels, count}, .steps = batch->steps};
    return CR_OK;
}

const struct protocol_kind batch_kind = {
    .name = "batch",
    .outputs = outputs,
    .output_kinds = output_kinds,
    .open = batch_open,
    .step = batch_step,
    .finish = batch_finish,
    .close = batch_close,
};
