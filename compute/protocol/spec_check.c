/* spec_check: whether a spec means something, and what it says where it is silent. */
#include "compute/protocol/spec.h"

#include "base/core/codes.h"
#include "base/core/id.h"
#include "compute/protocol/protocol.h"

#include <math.h>

const struct cr_code protocol_program_rejected = {
    "program_rejected", CR_INVALID, 422, 2, false, "The program cannot be built"};
const struct cr_code *const protocol_codes[] = {&protocol_program_rejected, NULL};

#define DEVIATION_MIN 1e-6

/* Whether a member of a kind is read: by a bit for each kind, or recipe. */
enum { MLP = 1, CNN = 2 };

static void fault(struct cr_call *call, const char *at, const char *code, const char *detail)
{
    cr_fault(call, CR_AT_POINTER, at, code, "%s", detail);
}

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

static bool is_reference(const char *text)
{
    return cr_id_is(text, "art") ||
           (strncmp(text, "sha256:", 7) == 0 && protocol_is_digest(text + 7));
}

/* Each member of the recipe's parameters stands where its recipe reads it, and only there. */
static void check_parameters(struct cr_call *call, const char *recipe,
                             const struct protocol_parameters *parameters)
{
    static const struct {
        const char *name;
        int recipe;
    } reads[] = {{"widths", MLP}, {"activation", MLP}, {"channels", CNN},
                 {"kernel", CNN}, {"pool", CNN},       {"classes", CNN}};
    int present = is(recipe, "mlp") ? MLP : CNN;
    const struct cr_shape *shape = &protocol_parameters_shape;
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        bool absent = cr_shape_absent(&shape->members[i], parameters);
        const char *at = cr_format(call, "/program/parameters/%s", reads[i].name);
        if (reads[i].recipe == present && absent)
            cr_fault(call, CR_AT_POINTER, at, "missing", "%s of recipe %s is missing",
                     reads[i].name, recipe);
        if (reads[i].recipe != present && !absent)
            cr_fault(call, CR_AT_POINTER, at, "not_read", "recipe %s does not read %s", recipe,
                     reads[i].name);
    }
    if (parameters->kernel != CR_NO_INTEGER && parameters->kernel % 2 == 0)
        fault(call, "/program/parameters/kernel", "out_of_range", "kernel must be 3, 5 or 7");
    if (present == MLP && parameters->widths.items &&
        (parameters->widths.items[parameters->widths.count - 1] < PROTOCOL_CLASSES_MIN ||
         parameters->widths.items[parameters->widths.count - 1] > PROTOCOL_CLASSES_MAX))
        cr_fault(call, CR_AT_POINTER,
                 cr_format(call, "/program/parameters/widths/%zu", parameters->widths.count - 1),
                 "out_of_range", "the last of widths is the number of classes, %d to %d",
                 PROTOCOL_CLASSES_MIN, PROTOCOL_CLASSES_MAX);
}

static void check_recipe(struct cr_call *call, const struct protocol_program *program)
{
    if (program->artifact)
        fault(call, "/program/artifact", "not_read", "a train job takes a recipe, not an artifact");
    if (!program->recipe)
        fault(call, "/program/recipe", "missing", "recipe of a train job is missing");
    else if (!program->parameters)
        fault(call, "/program/parameters", "missing", "parameters of the recipe are missing");
    else
        check_parameters(call, program->recipe, program->parameters);
}

static void check_model(struct cr_call *call, const struct protocol_program *program)
{
    if (program->recipe || program->parameters)
        fault(call, program->recipe ? "/program/recipe" : "/program/parameters", "not_read",
              "a batch job takes the artifact of a model, not a recipe");
    if (!program->artifact)
        fault(call, "/program/artifact", "missing", "artifact of a batch job is missing");
    else if (!is_reference(program->artifact))
        fault(call, "/program/artifact", "wrong_id_kind",
              "artifact must be an artifact id, or sha256: and a digest");
}

static bool has_input(const struct protocol_spec *spec, const char *role)
{
    for (size_t i = 0; i < spec->inputs.count; i++)
        if (strcmp(spec->inputs.items[i].name, role) == 0)
            return true;
    return false;
}

static void check_inputs(struct cr_call *call, const struct protocol_spec *spec)
{
    static const char *const train[] = {"images", "labels", "test_images", "test_labels", NULL};
    static const char *const batch[] = {"images", "labels", NULL};
    bool trains = is(spec->kind, "train");
    for (size_t i = 0; i < spec->inputs.count; i++) {
        const struct cr_label *input = &spec->inputs.items[i];
        const char *at = cr_format(call, "/inputs/%s", input->name);
        const char *const *role = trains ? train : batch;
        while (*role && strcmp(*role, input->name) != 0)
            role++;
        if (!*role)
            cr_fault(call, CR_AT_POINTER, at, "not_read", "a %s job has no input %s", spec->kind,
                     input->name);
        else if (!is_reference(input->value))
            cr_fault(call, CR_AT_POINTER, at, "wrong_id_kind",
                     "%s must be an artifact id, or sha256: and a digest", input->name);
    }
    if (!has_input(spec, "images"))
        fault(call, "/inputs/images", "missing", "images is missing");
    if (trains && !has_input(spec, "labels"))
        fault(call, "/inputs/labels", "missing", "labels is missing");
    if (trains && has_input(spec, "test_images") != has_input(spec, "test_labels"))
        fault(call, has_input(spec, "test_images") ? "/inputs/test_labels" : "/inputs/test_images",
              "missing", "test_images and test_labels come together or not at all");
}

static void check_hyperparameters(struct cr_call *call, const struct protocol_spec *spec)
{
    const struct protocol_hyperparameters *given = spec->hyperparameters;
    if (!given)
        return;
    const struct cr_shape *shape = &protocol_hyperparameters_shape;
    for (size_t i = 0; is(spec->kind, "batch") && i < shape->member_count; i++)
        if (!cr_shape_absent(&shape->members[i], given) &&
            strcmp(shape->members[i].name, "batch") != 0)
            cr_fault(call, CR_AT_POINTER,
                     cr_format(call, "/hyperparameters/%s", shape->members[i].name), "not_read",
                     "a batch job does not read %s", shape->members[i].name);
    if (is(spec->kind, "train") && !isnan(given->momentum) && !is(given->optimizer, "sgd"))
        fault(call, "/hyperparameters/momentum", "not_read", "momentum is read by sgd alone");
    if (given->normalise && !(given->normalise->deviation > DEVIATION_MIN))
        fault(call, "/hyperparameters/normalise/deviation", "out_of_range",
              "deviation must be greater than 0.000001");
}

static void check_retry(struct cr_call *call, const struct protocol_retry *retry)
{
    for (size_t i = 0; retry && i < retry->on.count; i++) {
        const char *const *word = protocol_retry_words;
        while (*word && strcmp(*word, retry->on.items[i]) != 0)
            word++;
        if (!*word)
            fault(call, cr_format(call, "/retry/on/%zu", i), "unknown_word",
                  "each of on must be one of crash, device_memory, nonfinite");
    }
}

enum cr_status protocol_spec_check(struct cr_call *call, const struct protocol_spec *spec)
{
    size_t before = call->fault_count;
    if (cr_shape_faults(call, &protocol_spec_shape, spec, "") == 0) {
        if (is(spec->kind, "train"))
            check_recipe(call, spec->program);
        else
            check_model(call, spec->program);
        check_inputs(call, spec);
        check_hyperparameters(call, spec);
        check_retry(call, spec->retry);
    }
    if (call->fault_count > before)
        return cr_fail_as(call, &cr_code_invalid_body, "%s", call->faults[before].detail);
    return CR_OK;
}

static enum cr_status rejected(struct cr_call *call, const char *at, const char *detail)
{
    fault(call, at, "program_rejected", detail);
    return cr_fail_as(call, &protocol_program_rejected, "%s", detail);
}

/* Parameters of a dense layer, with its bias. Exact: both are at most 2^31. */
static int64_t dense(int64_t in, int64_t out)
{
    return in * out + out;
}

static enum cr_status check_mlp(struct cr_call *call, const struct protocol_parameters *parameters,
                                int64_t pixels)
{
    int64_t weights = 0, in = pixels;
    for (size_t i = 0; i < parameters->widths.count; i++) {
        weights += dense(in, parameters->widths.items[i]);
        in = parameters->widths.items[i];
        if (weights > PROTOCOL_WEIGHTS_MAX)
            return rejected(call, "/program/parameters/widths",
                            "the recipe has more than 2147483648 parameters");
    }
    return CR_OK;
}

static enum cr_status check_cnn(struct cr_call *call, const struct protocol_parameters *parameters,
                                int64_t rows, int64_t columns)
{
    int64_t weights = 0, in = 1, kernel = parameters->kernel, pool = parameters->pool;
    for (size_t i = 0; i < parameters->channels.count; i++) {
        if (kernel > rows || kernel > columns)
            return rejected(call, "/program/parameters/kernel",
                            cr_format(call, "kernel %lld is larger than the picture of layer %zu",
                                      (long long)kernel, i));
        if (pool > rows || pool > columns)
            return rejected(call, "/program/parameters/pool",
                            cr_format(call, "pool %lld leaves nothing of the picture of layer %zu",
                                      (long long)pool, i));
        rows /= pool;
        columns /= pool;
        weights += dense(in * kernel * kernel, parameters->channels.items[i]);
        in = parameters->channels.items[i];
    }
    int64_t features;
    if (__builtin_mul_overflow(in, rows * columns, &features) || features > PROTOCOL_WEIGHTS_MAX ||
        weights + dense(features, parameters->classes) > PROTOCOL_WEIGHTS_MAX)
        return rejected(call, "/program/parameters/channels",
                        "the recipe has more than 2147483648 parameters");
    return CR_OK;
}

enum cr_status protocol_recipe_check(struct cr_call *call, const struct protocol_spec *spec,
                                     int64_t rows, int64_t columns)
{
    int64_t pixels;
    if (rows < 1 || columns < 1 || __builtin_mul_overflow(rows, columns, &pixels) ||
        pixels > PROTOCOL_WEIGHTS_MAX)
        return rejected(call, "/inputs/images", "a picture has 1 to 2147483648 points");
    const struct protocol_parameters *parameters = spec->program->parameters;
    return is(spec->program->recipe, "mlp") ? check_mlp(call, parameters, pixels)
                                            : check_cnn(call, parameters, rows, columns);
}

static int64_t integer_or(int64_t value, int64_t otherwise)
{
    return value == CR_NO_INTEGER ? otherwise : value;
}

static double number_or(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

static const char *word_or(const char *value, const char *otherwise)
{
    return value ? value : otherwise;
}

struct protocol_hyperparameters protocol_spec_defaults(const struct protocol_spec *spec)
{
    static const struct protocol_hyperparameters none = {.epochs = CR_NO_INTEGER,
                                                         .batch = CR_NO_INTEGER,
                                                         .rate = NAN,
                                                         .momentum = NAN,
                                                         .weight_decay = NAN,
                                                         .warmup_steps = CR_NO_INTEGER,
                                                         .clip_norm = NAN,
                                                         .seed = CR_NO_INTEGER};
    const struct protocol_hyperparameters *given =
        spec->hyperparameters ? spec->hyperparameters : &none;
    return (struct protocol_hyperparameters){
        .epochs = integer_or(given->epochs, 5),
        .batch = integer_or(given->batch, is(spec->kind, "batch") ? 256 : 64),
        .optimizer = word_or(given->optimizer, "adamw"),
        .rate = number_or(given->rate, 0.001),
        .momentum = number_or(given->momentum, 0.9),
        .weight_decay = number_or(given->weight_decay, 0),
        .schedule = word_or(given->schedule, "cosine"),
        .warmup_steps = integer_or(given->warmup_steps, 0),
        .clip_norm = number_or(given->clip_norm, 0),
        .normalise = given->normalise,
        .seed = integer_or(given->seed, 1),
        .precision = word_or(given->precision, "f32"),
    };
}

int64_t protocol_spec_slots(const struct protocol_spec *spec)
{
    const struct protocol_resources *resources = spec->resources;
    if (resources && integer_or(resources->gpus, 0) > 0)
        return 0;
    return ((resources ? integer_or(resources->cpu_milli, 1000) : 1000) + 999) / 1000;
}

int64_t protocol_spec_memory_mib(const struct protocol_spec *spec)
{
    return spec->resources ? integer_or(spec->resources->memory_mib, PROTOCOL_MEMORY_MIB)
                           : PROTOCOL_MEMORY_MIB;
}

int64_t protocol_spec_runtime_s(const struct protocol_spec *spec)
{
    return integer_or(spec->max_runtime_s, PROTOCOL_RUNTIME_S);
}

int64_t protocol_spec_grace_s(const struct protocol_spec *spec)
{
    return integer_or(spec->stop_grace_s, PROTOCOL_STOP_GRACE_S);
}
