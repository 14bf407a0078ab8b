/* trainer: a recipe on a device, learning step by step. */
#include "kernels/nn/nn_internal.h"

#define SLOTS_MAX (NN_WEIGHTS_MAX * (1 + NN_STATES_MAX))

enum { SCALAR_RATE, SCALAR_CORRECTION1, SCALAR_CORRECTION2, SCALAR_LOSS, SCALAR_NORM, SCALARS };

/* The program of one size of batch, and the data that it takes; 0: there is none. */
struct sized {
    int64_t count;
    struct run_program *program;
    struct tensor images, labels, logits, losses;
};

struct nn_trainer {
    struct cr_call memory;
    struct cr_env env;
    struct device *device;
    struct nn_trainer_options options;
    struct nn_weight weights[NN_WEIGHTS_MAX];
    int weight_count, slot_count; /* slots: weights, then states */
    /* Two of each: a step reads one and writes the other. */
    struct tensor slots[2][SLOTS_MAX];
    int now;
    struct tensor scalars[SCALARS];
    struct sized train[2], test[2];
    struct storage *storage; /* all of the device's memory, but for the programs' */
    int64_t steps;
};

/* Takes tensors out of one piece of memory: first to measure it, then for good. */
struct carver {
    struct storage *storage; /* NULL while it is measured */
    int64_t size;
};

static struct tensor carve(struct carver *from, unsigned dtype, int rank, const int64_t *dims)
{
    int64_t item = (int64_t)dtype_size(dtype), size = item;
    struct tensor tensor = tensor_over(from->storage, from->size / item, dtype, rank, dims);
    for (int i = 0; i < rank; i++)
        size *= dims[i];
    from->size += (size + DEVICE_ALIGNMENT - 1) / DEVICE_ALIGNMENT * DEVICE_ALIGNMENT;
    return tensor;
}

static void carve_sized(struct nn_trainer *trainer, struct sized *sized, struct carver *from,
                        bool test)
{
    const struct nn_recipe *recipe = &trainer->options.recipe;
    int64_t images[] = {sized->count, recipe->rows, recipe->columns};
    int64_t logits[] = {sized->count, nn_classes(recipe)};
    if (sized->count == 0)
        return;
    sized->images = carve(from, DTYPE_F32, 3, images);
    sized->labels = carve(from, DTYPE_I32, 1, images);
    if (test) {
        sized->logits = carve(from, DTYPE_F32, 2, logits);
        sized->losses = carve(from, DTYPE_F32, 1, images);
    }
}

static void carve_all(struct nn_trainer *trainer, struct carver *from)
{
    int sets = trainer->options.training ? 2 : 1;
    int states =
        trainer->options.training ? nn_state_count(trainer->options.learning.optimizer) : 0;
    for (int set = 0; set < sets; set++) {
        trainer->slot_count = 0;
        for (int i = 0; i < trainer->weight_count; i++)
            trainer->slots[set][trainer->slot_count++] = carve(
                from, DTYPE_F32, trainer->weights[i].type.rank, trainer->weights[i].type.dims);
        for (int i = 0; i < trainer->weight_count * states; i++) {
            const struct op_type *type = &trainer->weights[i / states].type;
            trainer->slots[set][trainer->slot_count++] =
                carve(from, DTYPE_F32, type->rank, type->dims);
        }
    }
    for (int i = 0; i < SCALARS; i++)
        trainer->scalars[i] = carve(from, DTYPE_F32, 0, NULL);
    for (int i = 0; i < 2; i++) {
        carve_sized(trainer, &trainer->train[i], from, false);
        carve_sized(trainer, &trainer->test[i], from, true);
    }
}

static void release(void *context, void *bytes)
{
    struct nn_trainer *trainer = context;
    device_release(trainer->device, bytes, trainer->storage->size);
}

/* Room for all tensors, in one piece. */
static enum cr_status allocate(struct cr_call *call, struct nn_trainer *trainer)
{
    struct carver measure = {0};
    void *bytes;
    carve_all(trainer, &measure);
    CR_TRY(device_allocate(call, trainer->device, (size_t)measure.size, &bytes));
    if (storage_borrow(call, bytes, (size_t)measure.size, release, trainer, &trainer->storage) !=
        CR_OK) {
        device_release(trainer->device, bytes, (size_t)measure.size);
        return call->status;
    }
    trainer->storage->device = trainer->device;
    struct carver carver = {.storage = trainer->storage};
    carve_all(trainer, &carver);
    return CR_OK;
}

static enum cr_status write_slot(struct cr_call *call, struct nn_trainer *trainer,
                                 const struct tensor *slot, const void *values)
{
    size_t size = (size_t)tensor_elements(slot) * dtype_size(slot->dtype);
    return device_copy(call, trainer->device, DEVICE_FROM_HOST, tensor_bytes(slot), values, size);
}

static enum cr_status read_slot(struct cr_call *call, struct nn_trainer *trainer,
                                const struct tensor *slot, void *ret_values)
{
    size_t size = (size_t)tensor_elements(slot) * dtype_size(slot->dtype);
    return device_copy(call, trainer->device, DEVICE_TO_HOST, ret_values, tensor_bytes(slot), size);
}

/* Weights begin by the seed, states at zero. */
static enum cr_status begin(struct cr_call *call, struct nn_trainer *trainer)
{
    for (int i = 0; i < trainer->slot_count; i++) {
        const struct tensor *slot = &trainer->slots[0][i];
        struct tensor values;
        CR_TRY(tensor_alloc(call, DTYPE_F32, slot->rank, slot->shape, &values));
        if (i < trainer->weight_count)
            nn_begin(&trainer->weights[i], i, trainer->options.seed, tensor_bytes(&values));
        enum cr_status status = write_slot(call, trainer, slot, tensor_bytes(&values));
        storage_close(values.storage);
        CR_TRY(status);
    }
    return CR_OK;
}

static enum cr_status compile(struct cr_call *call, struct nn_trainer *trainer,
                              const struct graph *graph, struct sized *sized)
{
    const struct graph *bound;
    for (int i = 0; i < 2; i++) {
        if (sized[i].count == 0)
            continue;
        CR_TRY(graph_bind(call, graph, &sized[i].count, &bound));
        CR_TRY(run_compile(call, trainer->device, bound, 0, &sized[i].program));
    }
    return CR_OK;
}

static enum cr_status prepare(struct cr_call *call, struct nn_trainer *trainer)
{
    const struct nn_trainer_options *options = &trainer->options;
    const struct graph *graph;
    CR_TRY(nn_weights(call, &options->recipe, trainer->weights, &trainer->weight_count));
    for (int i = 0; i < trainer->weight_count; i++)
        trainer->weights[i].name =
            cr_copy(&trainer->memory, trainer->weights[i].name, strlen(trainer->weights[i].name));
    if (options->training) {
        trainer->train[0].count = options->batch;
        trainer->train[1].count = options->last_batch == options->batch ? 0 : options->last_batch;
    }
    trainer->test[0].count = options->test_batch;
    trainer->test[1].count =
        options->last_test_batch == options->test_batch ? 0 : options->last_test_batch;
    CR_TRY(allocate(call, trainer));
    CR_TRY(begin(call, trainer));
    if (options->training) {
        CR_TRY(nn_training(call, &options->recipe, &options->learning, &graph));
        CR_TRY(compile(call, trainer, graph, trainer->train));
    }
    CR_TRY(options->labels ? nn_evaluation(call, &options->recipe, &graph)
                           : nn_forward(call, &options->recipe, &graph));
    return compile(call, trainer, graph, trainer->test);
}

enum cr_status nn_trainer_open(struct cr_call *call, struct device *device,
                               const struct nn_trainer_options *options,
                               struct nn_trainer **ret_trainer)
{
    struct nn_trainer *trainer = calloc(1, sizeof *trainer);
    if (!trainer)
        return cr_fail(call, CR_EXHAUSTED, "no memory for a trainer");
    trainer->env = *call->env;
    trainer->memory = cr_call_open(&trainer->env, INT64_MAX);
    trainer->device = device;
    trainer->options = *options;
    if (prepare(call, trainer) != CR_OK) {
        nn_trainer_close(trainer);
        return call->status;
    }
    *ret_trainer = trainer;
    return CR_OK;
}

void nn_trainer_close(struct nn_trainer *trainer)
{
    if (!trainer)
        return;
    for (int i = 0; i < 2; i++) {
        run_close(trainer->train[i].program);
        run_close(trainer->test[i].program);
    }
    storage_close(trainer->storage);
    cr_call_close(&trainer->memory);
    free(trainer);
}

int64_t nn_trainer_steps(const struct nn_trainer *trainer)
{
    return trainer->steps;
}

static enum cr_status sized_for(struct cr_call *call, struct sized *sized, int64_t count,
                                struct sized **ret_sized)
{
    for (int i = 0; i < 2; i++)
        if (sized[i].count == count && count > 0) {
            *ret_sized = &sized[i];
            return CR_OK;
        }
    return cr_fail(call, CR_INVALID, "a batch of %lld examples was not prepared for",
                   (long long)count);
}

static enum cr_status write_scalars(struct cr_call *call, struct nn_trainer *trainer, int64_t step,
                                    double rate)
{
    const double values[] = {[SCALAR_RATE] = rate,
                             [SCALAR_CORRECTION1] = nn_correction(NN_BETA1, step),
                             [SCALAR_CORRECTION2] = nn_correction(NN_BETA2, step)};
    for (int i = 0; i <= SCALAR_CORRECTION2; i++) {
        float value = (float)values[i];
        CR_TRY(write_slot(call, trainer, &trainer->scalars[i], &value));
    }
    return CR_OK;
}

enum cr_status nn_trainer_step(struct cr_call *call, struct nn_trainer *trainer,
                               const float *images, const int32_t *labels, int64_t count,
                               struct nn_step *ret_step)
{
    struct tensor inputs[SLOTS_MAX + 5], outputs[SLOTS_MAX + 2];
    struct sized *sized;
    int slots = trainer->slot_count, next = !trainer->now, at = slots;
    double rate = nn_rate(&trainer->options.learning, trainer->steps + 1);
    float loss, norm;
    CR_TRY(sized_for(call, trainer->train, count, &sized));
    CR_TRY(write_slot(call, trainer, &sized->images, images));
    CR_TRY(write_slot(call, trainer, &sized->labels, labels));
    CR_TRY(write_scalars(call, trainer, trainer->steps + 1, rate));
    memcpy(inputs, trainer->slots[trainer->now], sizeof inputs[0] * (size_t)slots);
    memcpy(outputs, trainer->slots[next], sizeof outputs[0] * (size_t)slots);
    inputs[at++] = sized->images;
    inputs[at++] = sized->labels;
    for (int i = 0; i <= SCALAR_CORRECTION2; i++)
        inputs[at++] = trainer->scalars[i];
    outputs[slots] = trainer->scalars[SCALAR_LOSS];
    outputs[slots + 1] = trainer->scalars[SCALAR_NORM];
    CR_TRY(run_once(call, sized->program, inputs, outputs));
    CR_TRY(read_slot(call, trainer, &trainer->scalars[SCALAR_LOSS], &loss));
    CR_TRY(read_slot(call, trainer, &trainer->scalars[SCALAR_NORM], &norm));
    trainer->now = next;
    trainer->steps++;
    *ret_step = (struct nn_step){(double)loss, rate, (double)norm};
    return CR_OK;
}

enum cr_status nn_trainer_evaluate(struct cr_call *call, struct nn_trainer *trainer,
                                   const float *images, const int32_t *labels, int64_t count,
                                   float *ret_logits, float *ret_losses)
{
    struct tensor inputs[NN_WEIGHTS_MAX + 2], outputs[2];
    struct sized *sized;
    int weights = trainer->weight_count;
    bool labelled = trainer->options.labels;
    CR_TRY(sized_for(call, trainer->test, count, &sized));
    CR_TRY(write_slot(call, trainer, &sized->images, images));
    if (labelled)
        CR_TRY(write_slot(call, trainer, &sized->labels, labels));
    memcpy(inputs, trainer->slots[trainer->now], sizeof inputs[0] * (size_t)weights);
    inputs[weights] = sized->images;
    inputs[weights + 1] = sized->labels;
    outputs[0] = sized->logits;
    outputs[1] = sized->losses;
    CR_TRY(run_once(call, sized->program, inputs, outputs));
    CR_TRY(read_slot(call, trainer, &sized->logits, ret_logits));
    return labelled ? read_slot(call, trainer, &sized->losses, ret_losses) : CR_OK;
}

/* "conv0.weight", or "conv0.weight.m". */
static const char *slot_name(struct cr_call *call, const struct nn_trainer *trainer, int slot)
{
    if (slot < trainer->weight_count)
        return trainer->weights[slot].name;
    enum nn_optimizer optimizer = trainer->options.learning.optimizer;
    int states = nn_state_count(optimizer), at = slot - trainer->weight_count;
    return cr_format(call, "%s.%s", trainer->weights[at / states].name,
                     nn_state_name(optimizer, at % states));
}

int nn_trainer_tensors(struct cr_call *call, const struct nn_trainer *trainer, bool states,
                       const struct nn_named **ret_tensors)
{
    int count = states ? trainer->slot_count : trainer->weight_count;
    struct nn_named *tensors = cr_new(call, struct nn_named, (size_t)count);
    for (int i = 0; i < count; i++)
        tensors[i] =
            (struct nn_named){slot_name(call, trainer, i), trainer->slots[trainer->now][i]};
    *ret_tensors = tensors;
    return count;
}

static enum cr_status restore_slot(struct cr_call *call, struct nn_trainer *trainer, int slot,
                                   const struct nn_named *tensors, int count)
{
    const struct tensor *to = &trainer->slots[trainer->now][slot];
    const char *name = slot_name(call, trainer, slot);
    for (int i = 0; i < count; i++) {
        const struct tensor *from = &tensors[i].tensor;
        if (strcmp(tensors[i].name, name) != 0)
            continue;
        bool same = from->dtype == to->dtype && from->rank == to->rank &&
                    memcmp(from->shape, to->shape, sizeof to->shape[0] * to->rank) == 0 &&
                    tensor_contiguous(from);
        return same ? write_slot(call, trainer, to, tensor_bytes(from))
                    : cr_fail(call, CR_INVALID, "%s is of another type or shape", name);
    }
    return cr_fail(call, CR_INVALID, "there is no %s", name);
}

enum cr_status nn_trainer_restore(struct cr_call *call, struct nn_trainer *trainer,
                                  const struct nn_named *tensors, int count, bool states,
                                  int64_t steps)
{
    int slots = states ? trainer->slot_count : trainer->weight_count;
    for (int i = 0; i < slots; i++)
        CR_TRY(restore_slot(call, trainer, i, tensors, count));
    trainer->steps = steps;
    return CR_OK;
}

struct run_plan nn_trainer_plan(const struct nn_trainer *trainer)
{
    struct run_plan plan = {0};
    for (int i = 0; i < 2; i++) {
        const struct run_program *programs[] = {trainer->train[i].program,
                                                trainer->test[i].program};
        for (int j = 0; j < 2; j++) {
            struct run_plan one = programs[j] ? run_plan(programs[j]) : (struct run_plan){0};
            plan.memory += one.memory;
            plan.constants += one.constants;
            plan.steps = plan.steps > 0 ? plan.steps : one.steps;
            plan.views = plan.views > 0 ? plan.views : one.views;
        }
    }
    return plan;
}
