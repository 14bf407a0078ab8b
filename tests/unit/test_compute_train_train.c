/* train: it learns, its bits depend on the spec alone, and it goes on where it was stopped. */
#include "compute/train/train.h"
#include "tests/unit/training.h"

#include <math.h>

static struct idx images, labels, test_images, test_labels;

static int make_sets(void **state)
{
    (void)state;
    make_set(200, 7, &images, &labels);
    make_set(90, 8, &test_images, &test_labels);
    return 0;
}

#define CNN                                                                           \
    "{\"recipe\":\"cnn\",\"parameters\":{\"channels\":[4,6],\"kernel\":3,\"pool\":2," \
    "\"classes\":3}}"
#define MLP "{\"recipe\":\"mlp\",\"parameters\":{\"widths\":[16,3],\"activation\":\"gelu\"}}"

struct run {
    const char *program, *hyperparameters;
    int threads;
    const char *tier;
    int64_t stop_after; /* steps; 0: to the end */
    const struct protocol_mapped *resume;
};

struct outcome {
    struct protocol_mapped model, checkpoint;
    struct protocol_result result;
    struct told told;
};

static struct outcome run(struct cr_call *call, const struct run *how)
{
    struct outcome outcome = {0};
    struct protocol_spec spec =
        spec_of(call, "train", how->program, TRAIN_INPUTS, how->hyperparameters);
    struct protocol_host host = host_of(&outcome.told);
    const struct protocol_mapped inputs[] = {
        {"images", images.bytes, images.size},
        {"labels", labels.bytes, labels.size},
        {"test_images", test_images.bytes, test_images.size},
        {"test_labels", test_labels.bytes, test_labels.size},
    };
    int model = memfd_create("model", 0), checkpoint = memfd_create("checkpoint", 0);
    const struct protocol_file outputs[] = {{"model", model}};
    struct protocol_task task = {.spec = &spec,
                                 .engine = engine_of(call, how->threads, how->tier),
                                 .inputs = inputs,
                                 .input_count = 4,
                                 .resume = how->resume,
                                 .outputs = outputs,
                                 .output_count = 1,
                                 .host = &host};
    void *state;
    bool done = false;
    int64_t step;
    assert_ok(call, train_kind.open(call, &task, &state));
    while (!done && (how->stop_after == 0 || outcome.told.steps < how->stop_after)) {
        CR_SCOPED(cr_call_close) struct cr_call one = cr_call_open(call->env, INT64_MAX);
        assert_ok(&one, train_kind.step(&one, state, &done));
    }
    assert_ok(call, train_kind.checkpoint(call, state, checkpoint, &step));
    assert_int_equal(step, outcome.told.steps);
    assert_ok(call, train_kind.finish(call, state, !done, &outcome.result));
    outcome.model = contents(call, "model", model);
    outcome.checkpoint = contents(call, "checkpoint", checkpoint);
    train_kind.close(state);
    cresset_close(task.engine);
    close(model);
    close(checkpoint);
    return outcome;
}

static double metric(const struct outcome *outcome, const char *name)
{
    for (size_t i = 0; i < outcome->result.metrics.count; i++)
        if (strcmp(outcome->result.metrics.items[i].name, name) == 0)
            return strtod(outcome->result.metrics.items[i].value, NULL);
    return NAN;
}

static void assert_same_model(const struct outcome *a, const struct outcome *b)
{
    assert_int_equal(a->model.size, b->model.size);
    assert_memory_equal(a->model.data, b->model.data, a->model.size);
}

static void both_recipes_learn_what_is_there_to_learn(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct run cnn = {CNN, "{\"epochs\":12,\"batch\":16,\"rate\":0.01}", 1, NULL, 0, NULL};
    struct run mlp = {MLP, "{\"epochs\":12,\"batch\":16,\"rate\":0.01}", 1, NULL, 0, NULL};
    struct outcome learned = run(&call, &cnn);
    assert_true(metric(&learned, "test_accuracy") > 0.9);
    assert_true(metric(&learned, "train_loss") < 0.3);
    assert_int_equal((int)metric(&learned, "steps"), 12 * 13);
    assert_int_equal((int)metric(&learned, "epochs"), 12);
    assert_int_equal((int)metric(&learned, "examples"), 12 * 200);
    assert_int_equal(learned.told.metrics, 3 * 12 * 13 + 2 * 12);
    assert_memory_equal(learned.told.phases, "train test train test ", 22);
    learned = run(&call, &mlp);
    assert_true(metric(&learned, "test_accuracy") > 0.8);
}

static void every_optimizer_and_schedule_learns(void **state)
{
    (void)state;
    static const char *const hyperparameters[] = {
        "{\"epochs\":8,\"batch\":16,\"optimizer\":\"sgd\",\"rate\":0.02,\"schedule\":\"linear\"}",
        "{\"epochs\":8,\"batch\":16,\"optimizer\":\"adam\",\"rate\":0.01,\"warmup_steps\":20}",
        "{\"epochs\":8,\"batch\":16,\"rate\":0.01,\"weight_decay\":0.01,\"clip_norm\":1,"
        "\"schedule\":\"constant\",\"normalise\":{\"mean\":0.2,\"deviation\":0.3}}",
    };
    for (size_t i = 0; i < 3; i++) {
        struct cr_env env = cr_env_system();
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
        struct run how = {CNN, hyperparameters[i], 1, NULL, 0, NULL};
        struct outcome learned = run(&call, &how);
        assert_true(metric(&learned, "train_loss") < 0.8);
    }
}

static void the_model_is_the_same_for_any_threads_and_instruction_set(void **state)
{
    (void)state;
    static const char *const tiers[] = {"portable", "avx2", "avx512"};
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct run how = {CNN, "{\"epochs\":2,\"batch\":24,\"clip_norm\":1}", 1, NULL, 20, NULL};
    struct outcome first = run(&call, &how);
    for (int threads = 1; threads <= 3; threads++)
        for (size_t i = 0; i < 3; i++) {
            struct cresset_options options = {
                .size = sizeof options, .threads = 1, .tier = tiers[i]};
            struct cresset *engine;
            if (cresset_open(&call, &options, &engine) != CR_OK) {
                cr_forgive(&call); /* this machine has no such tier */
                continue;
            }
            cresset_close(engine);
            how.threads = threads;
            how.tier = tiers[i];
            struct outcome other = run(&call, &how);
            assert_same_model(&first, &other);
        }
}

static void what_is_resumed_gives_the_bytes_of_what_was_not_stopped(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct run how = {CNN, "{\"epochs\":3,\"batch\":24}", 2, NULL, 0, NULL};
    struct outcome whole = run(&call, &how);
    static const int64_t stops[] = {1, 5, 9, 13, 18, 26}; /* 9 and 18 end an epoch */
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        how.stop_after = stops[i];
        how.resume = NULL;
        struct outcome part = run(&call, &how);
        how.stop_after = 0;
        how.resume = &part.checkpoint;
        struct outcome rest = run(&call, &how);
        assert_same_model(&whole, &rest);
        assert_int_equal(whole.result.metrics.count, rest.result.metrics.count);
        for (size_t m = 0; m < whole.result.metrics.count; m++)
            assert_string_equal(whole.result.metrics.items[m].value,
                                rest.result.metrics.items[m].value);
    }
}

static void another_seed_gives_another_model(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct run one = {MLP, "{\"epochs\":1,\"seed\":1}", 1, NULL, 0, NULL};
    struct run two = {MLP, "{\"epochs\":1,\"seed\":2}", 1, NULL, 0, NULL};
    struct outcome first = run(&call, &one), second = run(&call, &two);
    assert_memory_not_equal(first.model.data, second.model.data, first.model.size);
}

/* Opens and runs up to 400 steps, and gives the word and reason that it ended with. */
static void refused(const char *program, const char *hyperparameters,
                    const struct protocol_mapped *resume, const struct idx *pictures,
                    size_t pictures_size, int64_t memory_max, const struct cr_code *code,
                    const char *reason)
{
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct told told = {0};
    struct protocol_spec spec = spec_of(&call, "train", program, TRAIN_INPUTS, hyperparameters);
    struct protocol_host host = host_of(&told);
    const struct protocol_mapped inputs[] = {
        {"images", pictures->bytes, pictures_size},
        {"labels", labels.bytes, labels.size},
        {"test_images", test_images.bytes, test_images.size},
        {"test_labels", test_labels.bytes, test_labels.size},
    };
    struct cresset_options options = {
        .size = sizeof options, .threads = 1, .memory_max = memory_max};
    struct protocol_task task = {
        .spec = &spec, .inputs = inputs, .input_count = 4, .resume = resume, .host = &host};
    void *opened = NULL;
    bool done = false;
    assert_ok(&call, cresset_open(&call, &options, &task.engine));
    enum cr_status status = train_kind.open(&call, &task, &opened);
    for (int i = 0; status == CR_OK && i < 400; i++)
        status = train_kind.step(&call, opened, &done);
    assert_int_not_equal(status, CR_OK);
    assert_ptr_equal(call.code, code);
    if (!code)
        assert_int_equal(call.status, CR_EXHAUSTED);
    if (!strstr(call.reason, reason))
        fail_msg("'%s' is not in '%s'", reason, call.reason);
    if (opened)
        train_kind.close(opened);
    cresset_close(task.engine);
}

static void what_cannot_be_trained_ends_by_its_word(void **state)
{
    (void)state;
    static const struct protocol_mapped nothing = {"resume", (const unsigned char *)"{}", 2};
    static struct idx cut;
    cut = images;
    refused(CNN, "{}", NULL, &cut, cut.size - 1, 0, &protocol_input_rejected, "images");
    cut.bytes[2] = 9;
    refused(CNN, "{}", NULL, &cut, cut.size, 0, &protocol_input_rejected, "images");
    refused(CNN, "{}", &nothing, &images, images.size, 0, &protocol_input_rejected, "header");
    refused("{\"recipe\":\"cnn\",\"parameters\":{\"channels\":[4,4,4],\"kernel\":5,\"pool\":3,"
            "\"classes\":3}}",
            "{}", NULL, &images, images.size, 0, &protocol_program_rejected, "");
    refused("{\"recipe\":\"mlp\",\"parameters\":{\"widths\":[16,2],\"activation\":\"relu\"}}", "{}",
            NULL, &images, images.size, 0, &protocol_input_rejected, "labels");
    refused(CNN, "{}", NULL, &images, images.size, 4096, NULL, "memory");
    /* Decay of ten times the weight a step makes it grow without bound. */
    refused(CNN,
            "{\"epochs\":20,\"rate\":10,\"optimizer\":\"sgd\",\"weight_decay\":1,"
            "\"schedule\":\"constant\",\"batch\":8}",
            NULL, &images, images.size, 0, &protocol_nonfinite, "the loss is not finite at steps");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_recipes_learn_what_is_there_to_learn),
        cmocka_unit_test(every_optimizer_and_schedule_learns),
        cmocka_unit_test(the_model_is_the_same_for_any_threads_and_instruction_set),
        cmocka_unit_test(what_is_resumed_gives_the_bytes_of_what_was_not_stopped),
        cmocka_unit_test(another_seed_gives_another_model),
        cmocka_unit_test(what_cannot_be_trained_ends_by_its_word),
    };
    return cmocka_run_group_tests_name("train", tests, make_sets, NULL);
}
