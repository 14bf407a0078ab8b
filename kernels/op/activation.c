/* activation: the bends between layers. */
#include "kernels/op/op_internal.h"

static const struct op_sample real[] = {{.inputs = "f32[3, 17]", .low = -4, .high = 4},
                                        {.inputs = "f32[1025]", .low = -9, .high = 9},
                                        {0}};
static const struct op_sample gelus[] = {
    {.inputs = "f32[3, 17]", .low = -4, .high = 4},
    {.inputs = "f32[3, 17]", .attrs = "approximate = tanh", .low = -4, .high = 4},
    {0}};

#define UNARY "(x: T) -> (y: T); T: float"

const struct op_row op_activation_rows[] = {
    /* Written so that NaN stays NaN, and the gradient at 0 is 0. */
    {.id = OP_RELU,
     .name = "relu",
     .kind = OP_POINTWISE,
     .signature = UNARY,
     .formula = {"x <= 0 ? 0 : x"},
     .onnx = {{"Relu", 6}},
     .samples = real},
    {.id = OP_SIGMOID,
     .name = "sigmoid",
     .kind = OP_POINTWISE,
     .signature = UNARY,
     .formula = {"1 / (1 + exp(-x))"},
     .onnx = {{"Sigmoid", 6}},
     .samples = real},
    {.id = OP_GELU,
     .name = "gelu",
     .kind = OP_POINTWISE,
     .signature = "(x: T; approximate: none|tanh = none) -> (y: T); T: float",
     .formula = {"0.5 * x * (1 + erf(x * 0.7071067811865476))",
                 "0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))"},
     .source = "D. Hendrycks and K. Gimpel, arXiv:1606.08415, section 2",
     .onnx = {{"Gelu", 20}},
     .samples = gelus},
    {.id = OP_TANH,
     .name = "tanh",
     .kind = OP_POINTWISE,
     .signature = UNARY,
     .formula = {"tanh(x)"},
     .onnx = {{"Tanh", 6}},
     .samples = real},
    {.id = OP_ERF,
     .name = "erf",
     .kind = OP_POINTWISE,
     .signature = UNARY,
     .formula = {"erf(x)"},
     .onnx = {{"Erf", 9}},
     .samples = real},
    {0},
};
