/*
 * optimizer: one step of a parameter p by its gradient g.
 *
 * rate is the learning rate and scale what clipping multiplies the gradient by, both of one
 * element; correction1 and correction2 are 1 - beta1^t and 1 - beta2^t at step t, which begins
 * at 1.
 */
#include "kernels/op/op_internal.h"

static const struct op_sample sgds[] = {
    {.inputs = "f32[3, 17] f32[3, 17] f32[3, 17] f32[] f32[]", .attrs = "momentum = 0.9"},
    {.inputs = "f32[1025] f32[1025] f32[1025] f32[] f32[]",
     .attrs = "momentum = 0.5, weight_decay = 0.01"},
    {0}};
#define STATE(shape) "f32" shape " f32" shape " f32" shape " f32" shape " f32[] f32[] f32[] f32[]"
static const struct op_sample adams[] = {
    {.inputs = STATE("[3, 17]"), .low = 0.1, .high = 0.9},
    {.inputs = STATE("[1025]"), .attrs = "weight_decay = 0.01", .low = 0.1, .high = 0.9},
    {0}};
static const struct op_sample norms[] = {
    {.inputs = "f32[]", .attrs = "limit = 0.5", .low = 0.1, .high = 0.4},
    {.inputs = "f32[]", .attrs = "limit = 0.5", .low = 1, .high = 9},
    {0}};

#define ADAM_SIGNATURE                                                             \
    "(p: T, g: T, m: T, v: T, rate: T, scale: T, correction1: T, correction2: T; " \
    "beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, "            \
    "weight_decay: float = 0) -> (p1: T, m1: T, v1: T); T: float"
#define ADAM_STATE                                                               \
    "m1 = beta1 * m + (1 - beta1) * d; v1 = beta2 * v + (1 - beta2) * (d * d); " \
    "u = rate / correction1 * m1 / (sqrt(v1) / sqrt(correction2) + epsilon); "

const struct op_row op_optimizer_rows[] = {
    {.id = OP_SGD,
     .name = "sgd",
     .kind = OP_POINTWISE,
     .flags = OP_NO_GRADIENT,
     .signature = "(p: T, g: T, m: T, rate: T, scale: T; momentum: float = 0.9, "
                  "weight_decay: float = 0) -> (p1: T, m1: T); T: float",
     .formula = {"m1 = momentum * m + (g * scale + weight_decay * p); p1 = p - rate * m1;"},
     .source = "I. Sutskever et al., ICML 2013, section 2; the rate outside, as in PyTorch's SGD",
     .amp = OP_AMP_FULL,
     .samples = sgds},
    {.id = OP_ADAM,
     .name = "adam",
     .kind = OP_POINTWISE,
     .flags = OP_NO_GRADIENT,
     .signature = ADAM_SIGNATURE,
     .formula = {"d = g * scale + weight_decay * p; " ADAM_STATE "p1 = p - u;"},
     .source = "D. Kingma and J. Ba, arXiv:1412.6980, algorithm 1",
     .amp = OP_AMP_FULL,
     .samples = adams},
    {.id = OP_ADAMW,
     .name = "adamw",
     .kind = OP_POINTWISE,
     .flags = OP_NO_GRADIENT,
     .signature = ADAM_SIGNATURE,
     .formula = {"d = g * scale; " ADAM_STATE "p1 = p - rate * weight_decay * p - u;"},
     .source = "I. Loshchilov and F. Hutter, arXiv:1711.05101, algorithm 2",
     .amp = OP_AMP_FULL,
     .samples = adams},
    {.id = OP_CLIP_SCALE,
     .name = "clip_scale",
     .kind = OP_POINTWISE,
     .flags = OP_NO_GRADIENT,
     .signature = "(norm: T; limit: float) -> (scale: T); T: float",
     .formula = {"norm > limit ? limit / norm : 1"},
     .source = "R. Pascanu et al., arXiv:1211.5063, algorithm 1",
     .samples = norms},
    {0},
};
