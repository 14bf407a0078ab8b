/* recipe: what a network is, as options and in the metadata of a model. */
#include "kernels/cresset/cresset_internal.h"

#include "base/core/parse.h"
#include "base/json/json.h"

static const char *const names[] = {"mlp", "cnn", NULL};
static const char *const activations[] = {"relu", "gelu", "tanh", NULL};

/* The metadata `parameters`: the members that the recipe has, under the names of a job's spec. */
struct parameters {
    struct cr_integers widths, channels;
    const char *activation;
    int64_t kernel, pool, classes;
};
static const struct cr_member members[] = {
    CR_INTEGERS(struct parameters, widths, 1, NN_LAYERS_MAX, 1, 8192, .flags = CR_OPTIONAL),
    CR_WORD(struct parameters, activation, activations, .flags = CR_OPTIONAL),
    CR_INTEGERS(struct parameters, channels, 1, NN_CHANNELS_MAX, 1, 8192, .flags = CR_OPTIONAL),
    CR_MEMBER(struct parameters, kernel, 1, 7, .flags = CR_OPTIONAL),
    CR_MEMBER(struct parameters, pool, 1, 4, .flags = CR_OPTIONAL),
    CR_MEMBER(struct parameters, classes, 1, 8192, .flags = CR_OPTIONAL),
};
static const struct cr_shape parameters_shape = CR_SHAPE(struct parameters, members);

enum cr_status cresset_word(struct cr_call *call, const char *what, const char *value,
                            const char *const *words, int *ret_index)
{
    for (int i = 0; words[i]; i++)
        if (value && strcmp(value, words[i]) == 0) {
            *ret_index = i;
            return CR_OK;
        }
    return cr_fail(call, CR_INVALID, "no %s '%.32s'", what, value ? value : "");
}

enum cr_status cresset_recipe_check(struct cr_call *call, const struct cresset_recipe *from,
                                    struct nn_recipe *ret_recipe)
{
    struct nn_recipe recipe = {.rows = from->rows,
                               .columns = from->columns,
                               .kernel = from->kernel,
                               .pool = from->pool,
                               .classes = from->classes};
    int kind, activation = NN_RELU;
    CR_TRY(cresset_check_size(call, "cresset_recipe", from->size, sizeof *from));
    CR_TRY(cresset_word(call, "recipe", from->name, names, &kind));
    if (from->activation)
        CR_TRY(cresset_word(call, "activation", from->activation, activations, &activation));
    if (from->width_count < 1 || from->width_count > NN_LAYERS_MAX)
        return cr_fail(call, CR_INVALID, "a recipe has 1 to %d layers", NN_LAYERS_MAX);
    recipe.kind = (enum nn_kind)kind;
    recipe.activation = (enum nn_activation)activation;
    recipe.layer_count = (int)from->width_count;
    for (int i = 0; i < recipe.layer_count; i++)
        recipe.widths[i] = from->widths[i];
    *ret_recipe = recipe;
    return CR_OK;
}

struct cr_labels cresset_recipe_labels(struct cr_call *call, const struct nn_recipe *recipe,
                                       const struct cr_labels *metadata)
{
    struct cr_integers widths = {recipe->widths, (size_t)recipe->layer_count};
    struct parameters mlp = {.widths = widths,
                             .activation = activations[recipe->activation],
                             .kernel = CR_NO_INTEGER,
                             .pool = CR_NO_INTEGER,
                             .classes = CR_NO_INTEGER};
    struct parameters cnn = {.channels = widths,
                             .kernel = recipe->kernel,
                             .pool = recipe->pool,
                             .classes = recipe->classes};
    const struct parameters *parameters = recipe->kind == NN_MLP ? &mlp : &cnn;
    const struct cr_label own[] = {
        {"recipe", names[recipe->kind]},
        {"parameters", json_write(call, &parameters_shape, parameters)},
        {"rows", cr_format(call, "%lld", (long long)recipe->rows)},
        {"columns", cr_format(call, "%lld", (long long)recipe->columns)},
    };
    size_t own_count = sizeof own / sizeof own[0], given = metadata ? metadata->count : 0;
    struct cr_label *labels = cr_new(call, struct cr_label, given + own_count);
    if (given > 0)
        memcpy(labels, metadata->items, sizeof *labels * given);
    memcpy(&labels[given], own, sizeof own);
    return (struct cr_labels){labels, given + own_count};
}

static enum cr_status read_number(struct cr_call *call, const struct cresset_file *file,
                                  const char *name, int64_t *ret_number)
{
    const char *text = cresset_file_metadata(file, name);
    if (!text || !cr_parse_integer(text, strlen(text), 1, INT32_MAX, ret_number))
        return cr_fail(call, CR_INVALID, "the model does not tell its %s", name);
    return CR_OK;
}

enum cr_status cresset_file_recipe(struct cr_call *call, const struct cresset_file *file,
                                   struct cresset_recipe *ret_recipe)
{
    struct cresset_recipe recipe = {.size = sizeof recipe,
                                    .name = cresset_file_metadata(file, "recipe")};
    const char *text = cresset_file_metadata(file, "parameters");
    struct parameters parameters;
    if (!recipe.name || !text)
        return cr_fail(call, CR_INVALID, "the model does not tell its recipe");
    CR_TRY(json_read(call, &parameters_shape, text, strlen(text), &parameters));
    CR_TRY(read_number(call, file, "rows", &recipe.rows));
    CR_TRY(read_number(call, file, "columns", &recipe.columns));
    struct cr_integers widths =
        strcmp(recipe.name, "cnn") == 0 ? parameters.channels : parameters.widths;
    recipe.name = cr_copy(call, recipe.name, strlen(recipe.name));
    recipe.widths = widths.items;
    recipe.width_count = (int64_t)widths.count;
    recipe.activation = parameters.activation;
    recipe.kernel = parameters.kernel;
    recipe.pool = parameters.pool;
    recipe.classes = parameters.classes;
    *ret_recipe = recipe;
    return CR_OK;
}
