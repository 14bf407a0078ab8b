/* compute/protocol: a spec says what its kind reads, and each fault is told under its pointer. */
#include "tests/unit/test.h"

#include "base/core/codes.h"
#include "base/json/json.h"
#include "compute/protocol/protocol.h"

#include <string.h>

#define ART "art_01M8RHHQPNQ4ZK9W7V2X5T8RND"

static struct cr_env env;

#define MLP                                                                                        \
    "\"program\":{\"recipe\":\"mlp\",\"parameters\":{\"widths\":[128,10],\"activation\":\"relu\"}" \
    "}"
#define CNN                                                                                       \
    "\"program\":{\"recipe\":\"cnn\",\"parameters\":{\"channels\":[16,32],\"kernel\":3,\"pool\":" \
    "2,\"classes\":10}}"
#define MODEL  "\"program\":{\"artifact\":\"" ART "\"}"
#define INPUTS "\"inputs\":{\"images\":\"" ART "\",\"labels\":\"" ART "\"}"
#define TRAIN  "{\"name\":\"a\",\"kind\":\"train\","
#define BATCH  "{\"name\":\"a\",\"kind\":\"batch\","

static void check(const char *text, const char *pointer, const char *code)
{
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct protocol_spec spec;
    enum cr_status status = json_read(&call, &protocol_spec_shape, text, strlen(text), &spec);
    if (status == CR_OK)
        status = protocol_spec_check(&call, &spec);
    if (!pointer) {
        assert_ok(&call, status);
        return;
    }
    if (status != CR_INVALID)
        fail_msg("%s was taken", text);
    assert_ptr_equal(call.code, &cr_code_invalid_body);
    for (size_t i = 0; i < call.fault_count; i++)
        if (strcmp(call.faults[i].at, pointer) == 0 && strcmp(call.faults[i].code, code) == 0)
            return;
    fail_msg("%s: no %s at %s, but %s at %s", text, code, pointer, call.faults[0].code,
             call.faults[0].at);
}

static void what_a_kind_reads_is_taken(void **state)
{
    (void)state;
    check(TRAIN MLP "," INPUTS "}", NULL, NULL);
    check(TRAIN CNN "," INPUTS ",\"hyperparameters\":{\"epochs\":1000,\"rate\":1e-7,\"seed\":"
                    "9007199254740991,\"optimizer\":\"sgd\",\"momentum\":0.5}}",
          NULL, NULL);
    check(BATCH MODEL ",\"inputs\":{\"images\":\"sha256:"
                      "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b\"},"
                      "\"hyperparameters\":{\"batch\":1}}",
          NULL, NULL);
}

static void every_fault_is_told_under_its_pointer(void **state)
{
    (void)state;
    static const struct {
        const char *text, *pointer, *code;
    } cases[] = {
        {TRAIN MODEL "," INPUTS "}", "/program/recipe", "missing"},
        {TRAIN MODEL "," INPUTS "}", "/program/artifact", "not_read"},
        {BATCH MLP "," INPUTS "}", "/program/artifact", "missing"},
        {TRAIN "\"program\":{\"recipe\":\"mlp\",\"parameters\":{\"widths\":[10]}}," INPUTS "}",
         "/program/parameters/activation", "missing"},
        {TRAIN "\"program\":{\"recipe\":\"mlp\",\"parameters\":{\"widths\":[10],\"activation\":"
               "\"relu\",\"pool\":2}}," INPUTS "}",
         "/program/parameters/pool", "not_read"},
        {TRAIN "\"program\":{\"recipe\":\"mlp\",\"parameters\":{\"widths\":[0,10],\"activation\":"
               "\"relu\"}}," INPUTS "}",
         "/program/parameters/widths/0", "out_of_range"},
        {TRAIN "\"program\":{\"recipe\":\"mlp\",\"parameters\":{\"widths\":[8,1],\"activation\":"
               "\"relu\"}}," INPUTS "}",
         "/program/parameters/widths/1", "out_of_range"},
        {TRAIN "\"program\":{\"recipe\":\"cnn\",\"parameters\":{\"channels\":[8],\"kernel\":4,"
               "\"pool\":2,\"classes\":10}}," INPUTS "}",
         "/program/parameters/kernel", "out_of_range"},
        {TRAIN CNN ",\"inputs\":{\"images\":\"" ART "\"}}", "/inputs/labels", "missing"},
        {TRAIN CNN ",\"inputs\":{\"images\":\"" ART "\",\"labels\":\"" ART
                   "\",\"test_images\":\"" ART "\"}}",
         "/inputs/test_labels", "missing"},
        {TRAIN CNN ",\"inputs\":{\"images\":\"" ART "\",\"labels\":\"" ART "\",\"audio\":\"" ART
                   "\"}}",
         "/inputs/audio", "not_read"},
        {TRAIN CNN ",\"inputs\":{\"images\":\"job_01M8RHHQPNQ4ZK9W7V2X5T8RND\",\"labels\":\"" ART
                   "\"}}",
         "/inputs/images", "wrong_id_kind"},
        {TRAIN CNN "," INPUTS ",\"hyperparameters\":{\"momentum\":0.5}}",
         "/hyperparameters/momentum", "not_read"},
        {TRAIN CNN "," INPUTS ",\"hyperparameters\":{\"rate\":11}}", "/hyperparameters/rate",
         "out_of_range"},
        {TRAIN CNN "," INPUTS ",\"hyperparameters\":{\"precision\":\"bf16\"}}",
         "/hyperparameters/precision", "unknown_word"},
        {TRAIN CNN "," INPUTS ",\"hyperparameters\":{\"normalise\":{\"mean\":0,\"deviation\":0}}}",
         "/hyperparameters/normalise/deviation", "out_of_range"},
        {BATCH MODEL "," INPUTS ",\"hyperparameters\":{\"epochs\":2}}", "/hyperparameters/epochs",
         "not_read"},
        {TRAIN CNN "," INPUTS ",\"resources\":{\"members\":2}}", "/resources/members",
         "out_of_range"},
        {TRAIN CNN "," INPUTS ",\"retry\":{\"max\":1,\"on\":[\"luck\"]}}", "/retry/on/0",
         "unknown_word"},
        {TRAIN CNN "," INPUTS ",\"mood\":1}", "/mood", "not_known"},
        {"{\"name\":\"\\u001b[31m\",\"kind\":\"train\"," CNN "," INPUTS "}", "/name",
         "not_printable"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(cases[i].text, cases[i].pointer, cases[i].code);
}

static void a_recipe_that_does_not_fit_its_picture_is_rejected(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t rows, columns;
        bool fits;
    } cases[] = {
        {TRAIN CNN "," INPUTS "}", 28, 28, true},
        {TRAIN CNN "," INPUTS "}", 2, 28, false}, /* kernel 3 above 2 rows */
        {TRAIN CNN "," INPUTS "}", 4, 4, false},  /* and above 2 x 2, behind the first pool */
        {TRAIN MLP "," INPUTS "}", 28, 28, true},
        {TRAIN MLP "," INPUTS "}", 65536, 4096, false}, /* 2^35 weights */
        {TRAIN MLP "," INPUTS "}", INT64_MAX, 2, false},
        {TRAIN CNN "," INPUTS "}", 65536, 32768, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
        struct protocol_spec spec;
        assert_ok(&call, json_read(&call, &protocol_spec_shape, cases[i].text,
                                   strlen(cases[i].text), &spec));
        enum cr_status status =
            protocol_recipe_check(&call, &spec, cases[i].rows, cases[i].columns);
        if ((status == CR_OK) != cases[i].fits)
            fail_msg("case %zu: %s", i, call.reason);
        if (status != CR_OK)
            assert_ptr_equal(call.code, &protocol_program_rejected);
    }
}

static void what_is_not_said_has_its_default(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct protocol_spec spec;
    const char *text = TRAIN CNN "," INPUTS ",\"hyperparameters\":{\"epochs\":3}}";
    assert_ok(&call, json_read(&call, &protocol_spec_shape, text, strlen(text), &spec));
    struct protocol_hyperparameters read = protocol_spec_defaults(&spec);
    assert_int_equal(read.epochs, 3);
    assert_int_equal(read.batch, 64);
    assert_string_equal(read.optimizer, "adamw");
    assert_true(read.rate == 0.001);
    assert_string_equal(read.schedule, "cosine");
    assert_int_equal(read.seed, 1);
    assert_int_equal(protocol_spec_slots(&spec), 1);
    assert_int_equal(protocol_spec_runtime_s(&spec), 86400);
    assert_int_equal(protocol_spec_memory_mib(&spec), 1024);
}

int main(void)
{
    env = cr_env_system();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_kind_reads_is_taken),
        cmocka_unit_test(every_fault_is_told_under_its_pointer),
        cmocka_unit_test(a_recipe_that_does_not_fit_its_picture_is_rejected),
        cmocka_unit_test(what_is_not_said_has_its_default),
    };
    return cmocka_run_group_tests_name("compute/protocol specs", tests, NULL, NULL);
}
