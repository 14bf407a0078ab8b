/* arithmetic: what works element by element, and reads as it is written. */
#include "kernels/op/op_internal.h"

static const struct op_sample unary[] = {{.inputs = "f32[3, 17]"}, {.inputs = "f32[]"}, {0}};
static const struct op_sample positive[] = {{.inputs = "f32[3, 17]", .low = 0.25, .high = 4}, {0}};
static const struct op_sample binary[] = {
    {.inputs = "f32[3, 17] f32[3, 17]", .low = 0.5, .high = 3},
    {.inputs = "f32[2, 1, 5] f32[3, 1]", .low = 0.5, .high = 3},
    {.inputs = "f32[4] f32[]", .low = 0.5, .high = 3},
    {0}};
static const struct op_sample conditions[] = {
    {.inputs = "bool[3, 17] f32[3, 17] f32[17]"}, {.inputs = "bool[5] f32[] f32[]"}, {0}};
static const struct op_sample casts[] = {{.inputs = "f32[31]", .attrs = "type = f32"},
                                         {.inputs = "f32[31]", .attrs = "type = i32"},
                                         {0}};

static void add_vjp(struct op_builder *to, const struct op_site *site, const op_value *dc,
                    op_value *ret_da_db)
{
    ret_da_db[0] = op_sum_like(to, dc[0], site->values[0]);
    ret_da_db[1] = op_sum_like(to, dc[0], site->values[1]);
}

static void sub_vjp(struct op_builder *to, const struct op_site *site, const op_value *dc,
                    op_value *ret_da_db)
{
    ret_da_db[0] = op_sum_like(to, dc[0], site->values[0]);
    ret_da_db[1] = op_sum_like(to, op_unary(to, OP_NEG, dc[0]), site->values[1]);
}

static void mul_vjp(struct op_builder *to, const struct op_site *site, const op_value *dc,
                    op_value *ret_da_db)
{
    ret_da_db[0] = op_sum_like(to, op_mul(to, dc[0], site->values[1]), site->values[0]);
    ret_da_db[1] = op_sum_like(to, op_mul(to, dc[0], site->values[0]), site->values[1]);
}

/* c = a / b: da = dc / b, db = -c * dc / b. */
static void div_vjp(struct op_builder *to, const struct op_site *site, const op_value *dc,
                    op_value *ret_da_db)
{
    op_value da = op_div(to, dc[0], site->values[1]);
    ret_da_db[0] = op_sum_like(to, da, site->values[0]);
    ret_da_db[1] =
        op_sum_like(to, op_unary(to, OP_NEG, op_mul(to, site->results[0], da)), site->values[1]);
}

static void neg_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                    op_value *ret_dx)
{
    (void)site;
    ret_dx[0] = op_unary(to, OP_NEG, dy[0]);
}

/* y = exp x: dx = dy * y. */
static void exp_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                    op_value *ret_dx)
{
    ret_dx[0] = op_mul(to, dy[0], site->results[0]);
}

static void log_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                    op_value *ret_dx)
{
    ret_dx[0] = op_div(to, dy[0], site->values[0]);
}

/* y = sqrt x: dx = dy / (2 y). */
static void sqrt_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                     op_value *ret_dx)
{
    op_value y = site->results[0];
    ret_dx[0] = op_div(to, dy[0], op_add(to, y, y));
}

static void where_vjp(struct op_builder *to, const struct op_site *site, const op_value *dc,
                      op_value *ret_gradients)
{
    op_value condition = site->values[0];
    op_value zero = op_scalar(to, site->outputs[0].dtype, 0);
    ret_gradients[0] = OP_NO_VALUE;
    ret_gradients[1] = op_sum_like(to, op_where(to, condition, dc[0], zero), site->values[1]);
    ret_gradients[2] = op_sum_like(to, op_where(to, condition, zero, dc[0]), site->values[2]);
}

static void cast_vjp(struct op_builder *to, const struct op_site *site, const op_value *dy,
                     op_value *ret_dx)
{
    bool flows = dtype_class_of(site->inputs[0].dtype) == DTYPE_FLOAT &&
                 dtype_class_of(site->outputs[0].dtype) == DTYPE_FLOAT;
    ret_dx[0] = flows ? op_cast(to, dy[0], site->inputs[0].dtype) : OP_NO_VALUE;
}

#define BINARY "(a: T, b: T) -> (c: T); T: number"
#define UNARY  "(x: T) -> (y: T); T: float"
#define SIGNED "(x: T) -> (y: T); T: number"

const struct op_row op_arithmetic_rows[] = {
    {.id = OP_ADD,
     .name = "add",
     .kind = OP_POINTWISE,
     .signature = BINARY,
     .formula = {"a + b"},
     .vjp = add_vjp,
     .amp = OP_AMP_WIDEST,
     .onnx = {{"Add", 7}},
     .samples = binary},
    {.id = OP_SUB,
     .name = "sub",
     .kind = OP_POINTWISE,
     .signature = BINARY,
     .formula = {"a - b"},
     .vjp = sub_vjp,
     .amp = OP_AMP_WIDEST,
     .onnx = {{"Sub", 7}},
     .samples = binary},
    {.id = OP_MUL,
     .name = "mul",
     .kind = OP_POINTWISE,
     .signature = BINARY,
     .formula = {"a * b"},
     .vjp = mul_vjp,
     .amp = OP_AMP_WIDEST,
     .onnx = {{"Mul", 7}},
     .samples = binary},
    {.id = OP_DIV,
     .name = "div",
     .kind = OP_POINTWISE,
     .formula = {"a / b"},
     .vjp = div_vjp,
     .signature = "(a: T, b: T) -> (c: T); T: float",
     .amp = OP_AMP_WIDEST,
     .onnx = {{"Div", 7}},
     .samples = binary},
    {.id = OP_NEG,
     .name = "neg",
     .kind = OP_POINTWISE,
     .signature = SIGNED,
     .formula = {"-x"},
     .vjp = neg_vjp,
     .onnx = {{"Neg", 6}},
     .samples = unary},
    {.id = OP_ABS,
     .name = "abs",
     .kind = OP_POINTWISE,
     .signature = SIGNED,
     .formula = {"abs(x)"},
     .onnx = {{"Abs", 6}},
     .samples = unary},
    {.id = OP_SIGN,
     .name = "sign",
     .kind = OP_POINTWISE,
     .flags = OP_NO_GRADIENT,
     .signature = SIGNED,
     .formula = {"sign(x)"},
     .onnx = {{"Sign", 9}},
     .samples = unary},
    {.id = OP_EXP,
     .name = "exp",
     .kind = OP_POINTWISE,
     .signature = UNARY,
     .formula = {"exp(x)"},
     .vjp = exp_vjp,
     .amp = OP_AMP_FULL,
     .onnx = {{"Exp", 6}},
     .samples = unary},
    {.id = OP_LOG,
     .name = "log",
     .kind = OP_POINTWISE,
     .signature = UNARY,
     .formula = {"log(x)"},
     .vjp = log_vjp,
     .amp = OP_AMP_FULL,
     .onnx = {{"Log", 6}},
     .samples = positive},
    {.id = OP_SQRT,
     .name = "sqrt",
     .kind = OP_POINTWISE,
     .signature = UNARY,
     .formula = {"sqrt(x)"},
     .vjp = sqrt_vjp,
     .onnx = {{"Sqrt", 6}},
     .samples = positive},
    {.id = OP_RSQRT,
     .name = "rsqrt",
     .kind = OP_POINTWISE,
     .signature = UNARY,
     .formula = {"rsqrt(x)"},
     .samples = positive},
    {.id = OP_MAXIMUM,
     .name = "maximum",
     .kind = OP_POINTWISE,
     .signature = BINARY,
     .formula = {"max(a, b)"},
     .onnx = {{"Max", 8}},
     .samples = binary},
    {.id = OP_MINIMUM,
     .name = "minimum",
     .kind = OP_POINTWISE,
     .signature = BINARY,
     .formula = {"min(a, b)"},
     .onnx = {{"Min", 8}},
     .samples = binary},
    {.id = OP_EQUAL,
     .name = "equal",
     .kind = OP_POINTWISE,
     .flags = OP_NO_GRADIENT,
     .signature = "(a: T, b: T) -> (c: bool); T: number",
     .formula = {"a == b"},
     .onnx = {{"Equal", 7}},
     .samples = binary},
    {.id = OP_LESS,
     .name = "less",
     .kind = OP_POINTWISE,
     .flags = OP_NO_GRADIENT,
     .signature = "(a: T, b: T) -> (c: bool); T: number",
     .formula = {"a < b"},
     .onnx = {{"Less", 7}},
     .samples = binary},
    {.id = OP_WHERE,
     .name = "where",
     .kind = OP_POINTWISE,
     .formula = {"condition ? a : b"},
     .signature = "(condition: bool, a: T, b: T) -> (c: T); T: number",
     .vjp = where_vjp,
     .onnx = {{"Where", 9}},
     .samples = conditions},
    {.id = OP_CAST,
     .name = "cast",
     .kind = OP_POINTWISE,
     .formula = {"x"},
     .signature = "(x: T; type: dtype) -> (y: type); T: any",
     .vjp = cast_vjp,
     .onnx = {{"Cast", 6}},
     .samples = casts},
    {0},
};
