/* learning: how weights begin, the rate of each step, and a step as a graph. */
#include "kernels/grad/grad.h"
#include "kernels/nn/nn_internal.h"
#include "kernels/random/random.h"

#include <math.h>

#define LABEL_WEIGHTS 0x57454947u /* what random_fork gives weights a seed by: "WEIG" */

void nn_begin(const struct nn_weight *weight, int index, uint64_t seed, float *ret_values)
{
    int64_t count = 1;
    for (int i = 0; i < weight->type.rank; i++)
        count *= weight->type.dims[i];
    if (weight->deviation > 0)
        random_normal_f32(random_fork(seed, LABEL_WEIGHTS), (uint64_t)index, 0, (size_t)count,
                          ret_values);
    float deviation = (float)weight->deviation;
    for (int64_t i = 0; i < count; i++)
        ret_values[i] = weight->deviation > 0 ? ret_values[i] * deviation : 0;
}

int nn_state_count(enum nn_optimizer optimizer)
{
    return optimizer == NN_SGD ? 1 : 2;
}

const char *nn_state_name(enum nn_optimizer optimizer, int state)
{
    (void)optimizer; /* all begin with the mean of gradients */
    return state == 0 ? "m" : "v";
}

/*
 * cos(pi t) for t in [0, 1], of additions and products alone, so that the bits are not those of a C
 * library: the series of the sine of what is left to a right angle, at most pi / 2.
 */
static double cosine_of_half_turn(double t)
{
    double x = M_PI * (0.5 - t), square = x * x, term = x, sum = x;
    for (int n = 1; n <= 11; n++) {
        term *= -square / (double)((2 * n) * (2 * n + 1));
        sum += term;
    }
    return sum;
}

double nn_rate(const struct nn_learning *learning, int64_t step)
{
    int64_t warmup = learning->warmup_steps, steps = learning->steps;
    if (step <= warmup)
        return learning->rate * (double)step / (double)warmup;
    int64_t left = steps > warmup ? steps - warmup : 1;
    double t = (double)(step - warmup - 1) / (double)left;
    t = t > 1 ? 1 : t;
    if (learning->schedule == NN_LINEAR)
        return learning->rate * (1 - t);
    if (learning->schedule == NN_COSINE)
        return learning->rate * 0.5 * (1 + cosine_of_half_turn(t));
    return learning->rate;
}

double nn_correction(double beta, int64_t step)
{
    double power = 1;
    for (int64_t left = step; left > 0; left /= 2, beta *= beta)
        power *= left % 2 ? beta : 1;
    return 1 - power;
}

/* sqrt of the sum of all squares. */
static op_value norm_of(struct op_builder *to, const op_value *gradients, int count)
{
    op_value sum = OP_NO_VALUE;
    for (int i = 0; i < count; i++) {
        const struct op_type *type = to->type_of(to, gradients[i]);
        op_value squares =
            op_reduce(to, OP_REDUCE_SUM_SQUARE, gradients[i], (1u << type->rank) - 1, false);
        sum = i == 0 ? squares : op_add(to, sum, squares);
    }
    return op_unary(to, OP_SQRT, sum);
}

struct step {
    struct nn_graph graph;
    const struct nn_learning *learning;
    op_value states[NN_WEIGHTS_MAX * NN_STATES_MAX];
    op_value rate, scale, correction1, correction2;
};

/* Adds the optimizer's row for weight i, and gives its results: the weight, then the states. */
static enum cr_status update(struct step *step, int i, op_value gradient, op_value *ret_next)
{
    static const unsigned rows[] = {OP_SGD, OP_ADAM, OP_ADAMW};
    const struct nn_learning *learning = step->learning;
    const struct op *op = op_find(rows[learning->optimizer]);
    int states = nn_state_count(learning->optimizer), count = 0;
    op_value inputs[OP_INPUTS_MAX] = {step->graph.weights[i], gradient};
    struct op_datum attrs[OP_ATTRS_MAX];
    struct op_type types[OP_INPUTS_MAX];
    for (count = 2; count < 2 + states; count++)
        inputs[count] = step->states[i * states + count - 2];
    inputs[count++] = step->rate;
    inputs[count++] = step->scale;
    if (learning->optimizer != NN_SGD) {
        inputs[count++] = step->correction1;
        inputs[count++] = step->correction2;
    }
    CR_TRY(step->graph.ops->call->status);
    for (int j = 0; j < count; j++)
        types[j] = *step->graph.ops->type_of(step->graph.ops, inputs[j]);
    for (int j = 0; j < op->signature.attr_count; j++) {
        attrs[j] = op->signature.attrs[j].standard;
        if (strcmp(op->signature.attrs[j].name, "momentum") == 0)
            attrs[j].number = learning->momentum;
        if (strcmp(op->signature.attrs[j].name, "weight_decay") == 0)
            attrs[j].number = learning->weight_decay;
    }
    struct op_site site = {.op = op,
                           .input_count = count,
                           .output_count = op->signature.output_count,
                           .inputs = types,
                           .attrs = attrs,
                           .values = inputs};
    step->graph.ops->add(step->graph.ops, &site, ret_next);
    return step->graph.ops->call->status;
}

static void add_params(struct step *step, const struct nn_learning *learning)
{
    struct graph_builder *builder = step->graph.builder;
    struct op_type scalar = {.dtype = DTYPE_F32};
    int states = nn_state_count(learning->optimizer);
    for (int i = 0; i < step->graph.weight_count; i++)
        for (int j = 0; j < states; j++) {
            const struct graph_value *weight = &builder->graph->values[step->graph.weights[i]];
            struct op_type type = weight->type;
            step->states[i * states + j] =
                graph_param(builder,
                            cr_format(builder->ops.call, "%s.%s", weight->name,
                                      nn_state_name(learning->optimizer, j)),
                            &type);
        }
    nn_add_data(&step->graph, true);
    step->rate = graph_param(builder, "rate", &scalar);
    if (learning->optimizer != NN_SGD) {
        step->correction1 = graph_param(builder, "correction1", &scalar);
        step->correction2 = graph_param(builder, "correction2", &scalar);
    }
}

enum cr_status nn_training(struct cr_call *call, const struct nn_recipe *recipe,
                           const struct nn_learning *learning, const struct graph **ret_graph)
{
    struct step step = {.learning = learning};
    op_value gradients[NN_WEIGHTS_MAX], next[OP_OUTPUTS_MAX];
    op_value results[NN_WEIGHTS_MAX * (1 + NN_STATES_MAX) + 2];
    CR_TRY(nn_open_graph(call, "training", recipe, &step.graph));
    add_params(&step, learning);

    struct op_builder *to = step.graph.ops;
    int weights = step.graph.weight_count, states = nn_state_count(learning->optimizer);
    op_value logits =
        nn_logits(to, recipe, step.graph.weights, step.graph.images, step.graph.batch);
    op_value losses = op_binary(to, OP_SOFTMAX_CROSS_ENTROPY, logits, step.graph.labels);
    op_value loss = op_reduce(to, OP_REDUCE_MEAN, losses, 1, false);
    CR_TRY(grad_add(step.graph.builder, loss, OP_NO_VALUE, step.graph.weights, weights, gradients));
    op_value norm = norm_of(to, gradients, weights);
    struct op_datum limit = {.kind = OP_DATUM_FLOAT, .number = learning->clip_norm};
    step.scale = learning->clip_norm > 0 ? op_add_one(to, OP_CLIP_SCALE, &norm, 1, &limit)
                                         : op_scalar(to, DTYPE_F32, 1);
    for (int i = 0; i < weights; i++) {
        CR_TRY(update(&step, i, gradients[i], next));
        results[i] = next[0];
        for (int j = 0; j < states; j++)
            results[weights + i * states + j] = next[1 + j];
    }
    int count = weights * (1 + states);
    results[count++] = loss;
    results[count++] = norm;
    return graph_finish(step.graph.builder, results, count, ret_graph);
}
