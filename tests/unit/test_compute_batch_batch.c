/* batch: a model that train has made predicts, and says how well where there are labels. */
#include "compute/batch/batch.h"
#include "compute/train/train.h"
#include "tests/unit/training.h"

static struct idx images, labels, test_images, test_labels;
static struct cr_env env;
static struct cr_call whole;
static struct protocol_mapped model;
static double test_accuracy;

#define CNN                                                                           \
    "{\"recipe\":\"cnn\",\"parameters\":{\"channels\":[4,6],\"kernel\":3,\"pool\":2," \
    "\"classes\":3}}"
#define TRAINED       "{\"artifact\":\"" HASH "\"}"
#define IMAGES        "{\"images\":\"" HASH "\"}"
#define IMAGES_LABELS "{\"images\":\"" HASH "\",\"labels\":\"" HASH "\"}"

static int train_a_model(void **state)
{
    (void)state;
    env = cr_env_system();
    whole = cr_call_open(&env, INT64_MAX);
    make_set(200, 7, &images, &labels);
    make_set(90, 8, &test_images, &test_labels);
    struct told told = {0};
    struct protocol_host host = host_of(&told);
    struct protocol_spec spec =
        spec_of(&whole, "train", CNN, TRAIN_INPUTS, "{\"epochs\":12,\"batch\":16,\"rate\":0.01}");
    const struct protocol_mapped inputs[] = {
        {"images", images.bytes, images.size},
        {"labels", labels.bytes, labels.size},
        {"test_images", test_images.bytes, test_images.size},
        {"test_labels", test_labels.bytes, test_labels.size},
    };
    const struct protocol_file outputs[] = {{"model", memfd_create("model", 0)}};
    struct protocol_task task = {.spec = &spec,
                                 .engine = engine_of(&whole, 1, NULL),
                                 .inputs = inputs,
                                 .input_count = 4,
                                 .outputs = outputs,
                                 .output_count = 1,
                                 .host = &host};
    struct protocol_result result;
    void *trained;
    bool done = false;
    assert_ok(&whole, train_kind.open(&whole, &task, &trained));
    while (!done)
        assert_ok(&whole, train_kind.step(&whole, trained, &done));
    assert_ok(&whole, train_kind.finish(&whole, trained, false, &result));
    train_kind.close(trained);
    cresset_close(task.engine);
    model = contents(&whole, "model", outputs[0].descriptor);
    close(outputs[0].descriptor);
    test_accuracy = told.test_accuracy;
    return 0;
}

static int forget(void **state)
{
    (void)state;
    cr_call_close(&whole);
    return 0;
}

/* Runs to the end; the predictions are of the call's memory. */
static struct protocol_result predict(struct cr_call *call, bool labelled, const char *hyper,
                                      struct told *told, struct protocol_mapped *ret_predictions)
{
    struct protocol_host host = host_of(told);
    struct protocol_spec spec =
        spec_of(call, "batch", TRAINED, labelled ? IMAGES_LABELS : IMAGES, hyper);
    const struct protocol_mapped inputs[] = {{"images", test_images.bytes, test_images.size},
                                             {"labels", test_labels.bytes, test_labels.size}};
    const struct protocol_file outputs[] = {{"predictions", memfd_create("predictions", 0)}};
    struct protocol_task task = {.spec = &spec,
                                 .engine = engine_of(call, 2, NULL),
                                 .inputs = inputs,
                                 .input_count = labelled ? 2 : 1,
                                 .model = &model,
                                 .outputs = outputs,
                                 .output_count = 1,
                                 .host = &host};
    struct protocol_result result;
    void *state;
    bool done = false;
    assert_ok(call, batch_kind.open(call, &task, &state));
    while (!done)
        assert_ok(call, batch_kind.step(call, state, &done));
    assert_ok(call, batch_kind.finish(call, state, false, &result));
    batch_kind.close(state);
    cresset_close(task.engine);
    *ret_predictions = contents(call, "predictions", outputs[0].descriptor);
    close(outputs[0].descriptor);
    return result;
}

static const char *metric(const struct protocol_result *result, const char *name)
{
    for (size_t i = 0; i < result->metrics.count; i++)
        if (strcmp(result->metrics.items[i].name, name) == 0)
            return result->metrics.items[i].value;
    return NULL;
}

static void it_is_as_right_as_training_has_found(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct told told = {0};
    struct protocol_mapped predictions;
    struct protocol_result result = predict(&call, true, "{\"batch\":16}", &told, &predictions);
    assert_true(test_accuracy > 0.9);
    assert_true(strtod(metric(&result, "accuracy"), NULL) == test_accuracy);
    assert_string_equal(metric(&result, "examples"), "90");
    assert_string_equal(metric(&result, "steps"), "6");
    assert_non_null(metric(&result, "loss"));
    assert_int_equal(result.steps, 6);
    assert_int_equal(told.metrics, 6);
    assert_string_equal(told.phases, "run save ");
}

static void predictions_are_tensors_that_agree_with_one_another(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct told told = {0};
    struct protocol_mapped predictions, others;
    struct protocol_result result = predict(&call, false, "{}", &told, &predictions);
    assert_null(metric(&result, "accuracy"));
    assert_null(metric(&result, "loss"));
    struct cresset *engine = engine_of(&call, 1, NULL);
    struct cresset_file *file;
    struct cresset_tensor *label, *logits;
    int32_t labels_read[90];
    float logits_read[90 * CLASSES];
    assert_ok(&call,
              cresset_file_open(&call, predictions.data, predictions.size, "safetensors", &file));
    assert_ok(&call, cresset_file_tensor(&call, file, "label", engine, &label));
    assert_ok(&call, cresset_file_tensor(&call, file, "logits", engine, &logits));
    assert_ok(&call, cresset_tensor_read(&call, label, labels_read, sizeof labels_read));
    assert_ok(&call, cresset_tensor_read(&call, logits, logits_read, sizeof logits_read));
    for (int i = 0; i < 90; i++)
        for (int c = 0; c < CLASSES; c++)
            assert_true(logits_read[i * CLASSES + c] <= logits_read[i * CLASSES + labels_read[i]]);
    cresset_tensor_close(label);
    cresset_tensor_close(logits);
    cresset_file_close(file);
    cresset_close(engine);

    /* The size of a batch is no matter of a single picture's result. */
    predict(&call, false, "{\"batch\":7}", &told, &others);
    assert_int_equal(predictions.size, others.size);
    assert_memory_equal(predictions.data, others.data, others.size);
}

static void refused(const struct protocol_mapped *what, const struct idx *pictures,
                    size_t pictures_size, const struct cr_code *code, const char *reason)
{
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct told told = {0};
    struct protocol_host host = host_of(&told);
    struct protocol_spec spec = spec_of(&call, "batch", TRAINED, IMAGES, "{}");
    const struct protocol_mapped inputs[] = {{"images", pictures->bytes, pictures_size}};
    struct protocol_task task = {.spec = &spec,
                                 .engine = engine_of(&call, 1, NULL),
                                 .inputs = inputs,
                                 .input_count = 1,
                                 .model = what,
                                 .host = &host};
    void *state;
    assert_int_not_equal(batch_kind.open(&call, &task, &state), CR_OK);
    assert_ptr_equal(call.code, code);
    if (!strstr(call.reason, reason))
        fail_msg("'%s' is not in '%s'", reason, call.reason);
    cresset_close(task.engine);
}

static void a_model_or_pictures_that_do_not_fit_are_refused_by_name(void **state)
{
    (void)state;
    static struct idx other;
    struct protocol_mapped cut = {"model", model.data, model.size - 4};
    refused(&cut, &test_images, test_images.size, &protocol_program_rejected, "data_offsets");
    refused(&model, &test_images, test_images.size - 1, &protocol_input_rejected, "images");
    other = test_images;
    put_size(other.bytes + 8, SIDE / 2);
    put_size(other.bytes + 12, SIDE * 2);
    refused(&model, &other, other.size, &protocol_input_rejected,
            "images are 6 x 24, the model takes 12 x 12");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_as_right_as_training_has_found),
        cmocka_unit_test(predictions_are_tensors_that_agree_with_one_another),
        cmocka_unit_test(a_model_or_pictures_that_do_not_fit_are_refused_by_name),
    };
    return cmocka_run_group_tests_name("batch", tests, train_a_model, forget);
}
