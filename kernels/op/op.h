/*
 * op: one table of operations; everything else about an operation is read out of its row.
 *
 * A row says what an operation is called, what it takes and gives (a signature), what it means (a
 * formula for what works element by element, a graph of simpler operations for the rest), its shape
 * rule and its gradient. Kernels of a device register by id from their own folders; a kernel that
 * disagrees with the meaning is the bug.
 *
 *     signature   "(" inputs [";" attributes] ")" "->" "(" outputs ")" {";" variable ":" class}
 *     input       name ["?"] ":" type           "?": may be left out
 *     type        a dtype, or a variable, and after it in brackets the shape, for people
 *     attribute   name ":" int|ints|float|bool|dtype|word|word... ["=" default]
 *     class       float, integer, number (both), any
 *     output      name ":" type; a type that is the name of a dtype attribute is what that says
 *
 * A POINTWISE row with one output has its expression as formula; one with more has "name = expr;"
 * for each output, and later ones may use earlier ones. Attributes of numbers are names in it.
 * Inputs broadcast as in ONNX. A REDUCE row maps each element (formula of x), combines the mapped
 * ones by sum, max or min, and finishes (formula of a, what was combined, and n, how many).
 *
 * A derivable POINTWISE row (no .vjp, not OP_NO_GRADIENT) has a second row beside it, made by
 * kernels/expr: "<name>_gradient" under id OP_GRADIENT + id, which takes the inputs and the
 * outputs' gradients dy, and gives the gradient of each float input before broadcasting is undone.
 *
 * Ids are stable for ever and never reused. 0 is none; from OP_REGISTERED on they belong to rows
 * that are registered at run time (none yet).
 *
 * Extents   a dimension is a count, or a name of the graph: OP_NAMED + index. Names are equal to
 *           themselves and to nothing else; a row whose rule would calculate with one fails with
 *           CR_NOT_FOUND
 * Threads   the table is made at first use, under a lock, and only read from then on
 */
#pragma once

#include "kernels/expr/expr.h"
#include "kernels/tensor/tensor.h"

#define OP_INPUTS_MAX  12
#define OP_OUTPUTS_MAX 8
#define OP_ATTRS_MAX   12
#define OP_LIST_MAX    64 /* items of an attribute's list */
#define OP_FORMULA_MAX 4  /* values of the word that chooses a formula */
#define OP_ONNX_MAX    4
#define OP_GRADIENT    20000
#define OP_REGISTERED  60000

#define OP_NAMED       (INT64_MIN / 2) /* extents from here to OP_NAMED + OP_NAMES_MAX are names */
#define OP_NAMES_MAX   4096

/* Every id. The rows are in the files of this folder, one a family. */
enum op_id {
    OP_NONE = 0,
    /* arithmetic.c: POINTWISE */
    OP_ADD = 1,
    OP_SUB = 2,
    OP_MUL = 3,
    OP_DIV = 4,
    OP_NEG = 5,
    OP_ABS = 6,
    OP_SIGN = 7,
    OP_EXP = 8,
    OP_LOG = 9,
    OP_SQRT = 10,
    OP_RSQRT = 11,
    OP_MAXIMUM = 15,
    OP_MINIMUM = 16,
    OP_EQUAL = 18,
    OP_LESS = 19,
    OP_WHERE = 20,
    OP_CAST = 21,
    /* matmul.c: (a: T[*p, m, k], b: T[*q, k, n]) -> (c: T[*r, m, n]) */
    OP_MATMUL = 17,
    /* view.c: no kernel but for pad, fold, full and iota */
    OP_RESHAPE = 24,
    OP_TRANSPOSE = 25,
    OP_EXPAND = 26,
    OP_SLICE = 27,
    OP_WINDOW = 28,
    OP_PAD = 29,
    OP_FOLD = 30,
    OP_FULL = 31,
    OP_IOTA = 32,
    OP_COPY = 33,
    /* reduce.c */
    OP_REDUCE_SUM = 34,
    OP_REDUCE_MEAN = 35,
    OP_REDUCE_MAX = 36,
    OP_REDUCE_MIN = 37,
    OP_REDUCE_SUM_SQUARE = 38,
    /* activation.c: POINTWISE */
    OP_RELU = 40,
    OP_SIGMOID = 41,
    OP_GELU = 42,
    OP_TANH = 43,
    OP_ERF = 44,
    /* conv.c: images are [n, c, h, w], weights [o, c, kh, kw] */
    OP_CONV = 50,
    OP_CONV_INPUT_GRADIENT = 51,
    OP_CONV_WEIGHT_GRADIENT = 52,
    OP_MAX_POOL = 53,
    OP_MAX_POOL_GRADIENT = 54,
    OP_AVERAGE_POOL = 55,
    /* loss.c */
    OP_SOFTMAX = 60,
    OP_SOFTMAX_GRADIENT = 61,
    OP_SOFTMAX_CROSS_ENTROPY = 62,
    OP_SOFTMAX_CROSS_ENTROPY_GRADIENT = 63,
    /* optimizer.c: POINTWISE, several outputs */
    OP_SGD = 70,
    OP_ADAM = 71,
    OP_ADAMW = 72,
    OP_CLIP_SCALE = 73,
};

enum op_kind { OP_POINTWISE, OP_REDUCE, OP_VIEW, OP_INDEX, OP_RANDOM, OP_CONTROL, OP_OPAQUE };
enum op_combine { OP_COMBINE_NONE, OP_COMBINE_SUM, OP_COMBINE_MAX, OP_COMBINE_MIN };
enum op_amp { OP_AMP_AS_INPUT, OP_AMP_LOW, OP_AMP_FULL, OP_AMP_WIDEST };
enum { OP_NO_GRADIENT = 1, OP_MANY_ZEROS = 2 };
enum { OP_BIAS = 1, OP_RELU_AFTER = 2, OP_GELU_AFTER = 4, OP_RESIDUAL = 8 }; /* epilogues */

/* A type of the IR. */
struct op_type {
    uint8_t dtype, rank;
    int64_t dims[TENSOR_RANK_MAX];
};

/* An attribute's value. Lists are of the graph's (or the caller's) memory. */
enum op_datum_kind {
    OP_DATUM_NONE,  /* left out, and the signature has no default */
    OP_DATUM_INT,   /* integer */
    OP_DATUM_BOOL,  /* integer: 0 or 1 */
    OP_DATUM_WORD,  /* integer: the place of the word in the signature's list */
    OP_DATUM_DTYPE, /* integer: the type's number */
    OP_DATUM_FLOAT, /* number */
    OP_DATUM_INTS,  /* list of integers or extents */
};
struct op_datum {
    enum op_datum_kind kind;
    int32_t count;
    int64_t integer;
    double number;
    const int64_t *list;
};

/* A value under construction: a graph's value, or a tensor of the reference runner. */
typedef int32_t op_value;
#define OP_NO_VALUE (-1)

/*
 * One use of a row. Attributes stand in the order of the signature, all of them, defaults filled
 * in. values and results are there only while something is built (meaning, vjp).
 */
struct op_site {
    const struct op *op;
    int input_count, output_count;
    const struct op_type *inputs; /* dtype DTYPE_NONE: left out */
    const struct op_type *outputs;
    const struct op_datum *attrs;
    const op_value *values;
    const op_value *results;
};

/*
 * Where a meaning or a gradient is built. A failure stays in the call; from then on every function
 * gives OP_NO_VALUE, so that building goes in straight lines and is asked once, at its end.
 */
struct op_builder {
    struct cr_call *call;
    void (*add)(struct op_builder *to, const struct op_site *site, op_value *ret_outputs);
    const struct op_type *(*type_of)(struct op_builder *to, op_value value);
};

/* One way in which inputs of check-ops and check-gradients are made. */
struct op_sample {
    const char *inputs; /* types such as "f32[3, 5] f32[5]"; several rows: "|" between them */
    const char *attrs;  /* "axes = [1], keep = true"; NULL: none */
    double low, high;   /* of the values; both 0: -2 to 2 */
};

struct op_onnx {
    const char *name; /* NULL ends */
    int since;
};

struct op_row {
    uint16_t id;
    const char *name;
    enum op_kind kind;
    unsigned flags;
    const char *signature;
    const char *formula[OP_FORMULA_MAX]; /* POINTWISE: one a value of its first word, or one */
    enum op_combine combine;             /* REDUCE */
    const char *finish;                  /* REDUCE */
    enum cr_status (*infer)(struct cr_call *call, const struct op_site *site,
                            struct op_type *ret_outputs);
    void (*meaning)(struct op_builder *to, const struct op_site *site, op_value *ret_outputs);
    void (*vjp)(struct op_builder *to, const struct op_site *site, const op_value *gradients,
                op_value *ret_gradients); /* OP_NO_VALUE: none flows there */
    const char *flops;                    /* for people */
    uint8_t accumulate;
    enum op_amp amp;
    unsigned epilogues;
    struct op_onnx onnx[OP_ONNX_MAX];
    const char *source;              /* where the mathematics is not a textbook's */
    const struct op_sample *samples; /* inputs NULL ends them */
};

/* A signature, read. */
struct op_input {
    const char *name;
    bool optional;
    uint8_t dtype;    /* DTYPE_NONE: a variable's */
    uint8_t variable; /* index into variables */
};
struct op_attr {
    const char *name;
    enum op_datum_kind kind;
    bool required;
    struct op_datum standard;
    const char *words[OP_FORMULA_MAX + 1];
    int word_count;
};
struct op_output {
    const char *name;
    uint8_t dtype;
    uint8_t variable;
    int8_t attr; /* index of the dtype attribute that says the type; -1: none */
};
struct op_variable {
    const char *name;
    unsigned classes; /* bits 1 << enum dtype_class */
};
struct op_signature {
    struct op_input inputs[OP_INPUTS_MAX];
    struct op_attr attrs[OP_ATTRS_MAX];
    struct op_output outputs[OP_OUTPUTS_MAX];
    struct op_variable variables[4];
    int input_count, attr_count, output_count, variable_count;
    int required_inputs;
};

/* A row, read: what the rest of kernels works with. */
struct op {
    const struct op_row *row;
    struct op_signature signature;
    struct expr *formula[OP_FORMULA_MAX]; /* roots in the order of outputs */
    struct expr *finish;
    int formula_count, formula_attr; /* the word that chooses; -1: there is one formula */
    const struct op *gradient;       /* the row beside it; NULL: none */
};

/* All rows, made ones too, in the order of their ids. Never fails: a wrong row is a bug of ours. */
const struct op *const *op_all(int *ret_count);
const struct op *op_find(unsigned id);                          /* NULL: none */
const struct op *op_find_name(const char *name, size_t length); /* NULL: none */

/*
 * The types that the operation gives: dtypes by the signature, dims by the row's rule.
 *
 * fails with   CR_INVALID      a clash of types or shapes, named
 *              CR_NOT_FOUND    it would calculate with a named extent
 */
enum cr_status op_infer(struct cr_call *call, const struct op_site *site,
                        struct op_type *ret_outputs) CR_CHECK;

bool op_same_type(const struct op_type *a, const struct op_type *b);
bool op_is_named(int64_t extent);

/* Whether a type is possible: its extents, alone and together, names counted as 1. */
enum cr_status op_check_type(struct cr_call *call, const struct op_type *type) CR_CHECK;

/* The formula that the site's attributes choose. */
const struct expr *op_formula(const struct op_site *site);

/*
 * Values of the names of a formula: inputs first (left to the caller), then the attributes that are
 * numbers, in the signature's order. count is op->signature.input_count + attr_count.
 */
void op_formula_attrs(const struct op_site *site, double *values);

/* An attribute by its name. The name is one of the signature's. */
const struct op_datum *op_attr(const struct op_site *site, const char *name);
int64_t op_attr_int(const struct op_site *site, const char *name);

/*
 * Helpers of shape rules and kernels: padding is [before of each spatial axis, after of each], as
 * in ONNX. An axis may be negative.
 */
struct op_window {
    int64_t kernel[2], stride[2], before[2], after[2], out[2];
};
enum cr_status op_window_of(struct cr_call *call, const struct op_site *site,
                            const struct op_type *image, const int64_t kernel[2],
                            struct op_window *ret_window) CR_CHECK;

/* Bit i: axis i is reduced. The site is of a REDUCE row and has been inferred. */
unsigned op_reduced_axes(const struct op_site *site);

/*
 * Applies a VIEW row to a tensor; false: the strides forbid it, and the caller copies first. The
 * site has been inferred, without named extents.
 */
bool op_view(const struct op_site *site, const struct tensor *input, struct tensor *ret_view);

/*
 * The reference: operations by their meaning, in f64 and on the call's memory. It is what every
 * kernel, and every gradient, is held against. A builder of it runs what is added to it at once;
 * put gives it a tensor (of the process's memory) as a value of dtype, get reads a value, which is
 * f64 whatever its type and may be a view.
 */
struct op_builder *op_reference_open(struct cr_call *call);
op_value op_reference_put(struct op_builder *to, unsigned dtype, const struct tensor *tensor);
const struct tensor *op_reference_get(struct op_builder *to, op_value value);

/* One site by the reference; the outputs are as op_reference_get gives them. */
enum cr_status op_reference(struct cr_call *call, const struct op_site *site,
                            const struct tensor *inputs, struct tensor *ret_outputs) CR_CHECK;

/* Building (build.c). Each adds one or more operations and gives the value. */
op_value op_add_one(struct op_builder *to, unsigned id, const op_value *inputs, int input_count,
                    const struct op_datum *attrs);
op_value op_add(struct op_builder *to, op_value a, op_value b);
op_value op_sub(struct op_builder *to, op_value a, op_value b);
op_value op_mul(struct op_builder *to, op_value a, op_value b);
op_value op_div(struct op_builder *to, op_value a, op_value b);
op_value op_unary(struct op_builder *to, unsigned id, op_value x);
op_value op_binary(struct op_builder *to, unsigned id, op_value a, op_value b);
op_value op_where(struct op_builder *to, op_value condition, op_value a, op_value b);
op_value op_cast(struct op_builder *to, op_value x, unsigned dtype);
op_value op_matmul(struct op_builder *to, op_value a, op_value b);
op_value op_reshape(struct op_builder *to, op_value x, int rank, const int64_t *dims);
op_value op_unsqueeze(struct op_builder *to, op_value x, int axis); /* of the result; may be < 0 */
op_value op_permute(struct op_builder *to, op_value x, const int *axes);
op_value op_transpose(struct op_builder *to, op_value x); /* the last two dimensions */
op_value op_expand(struct op_builder *to, op_value x, int rank, const int64_t *dims);
op_value op_full(struct op_builder *to, unsigned dtype, int rank, const int64_t *dims,
                 double value);
op_value op_scalar(struct op_builder *to, unsigned dtype, double value); /* rank 0 */
op_value op_iota(struct op_builder *to, unsigned dtype, int64_t count);  /* 0, 1, ... */
op_value op_reduce(struct op_builder *to, unsigned id, op_value x, unsigned axes, bool keep);
op_value op_reduce_sum(struct op_builder *to, op_value x, int axis); /* one axis; may be < 0 */

/* x summed over what had been broadcast, so that it has the shape of like. */
op_value op_sum_like(struct op_builder *to, op_value x, op_value like);

/*
 * Text of types and attributes, as the IR has it: "f32[B, 784]", "axes = [0, 2], keep = true".
 * Floats are written in C99's hexadecimals, inf, -inf or nan:BITS, and also read in decimals.
 * extent_of and extent_name (NULL: there are no names) stand for the names of the graph.
 */
struct op_text {
    struct cr_call *call;
    const char *start, *at;                                               /* ends with a NUL */
    int64_t (*extent_of)(void *context, const char *name, size_t length); /* < 0, not named: none */
    void *context;
};
bool op_text_take(struct op_text *in, const char *sign);        /* after blanks and comments */
size_t op_text_word(struct op_text *in, const char **ret_word); /* its length; 0: no word here */
enum cr_status op_text_wrong(struct op_text *in, const char *what) CR_CHECK; /* with the line */
enum cr_status op_text_type(struct op_text *in, struct op_type *ret_type) CR_CHECK;
enum cr_status op_text_integer(struct op_text *in, int64_t *ret_value) CR_CHECK;

/* All attributes of op, until none follows; those left out are as the signature has them. */
enum cr_status op_text_attrs(struct op_text *in, const struct op *op,
                             struct op_datum *ret_attrs) CR_CHECK;

const char *op_print_type(struct cr_call *call, const struct op_type *type,
                          const char *(*extent_name)(void *context, int64_t extent), void *context);
const char *op_print_attrs(struct cr_call *call, const struct op *op, const struct op_datum *attrs,
                           const char *(*extent_name)(void *context, int64_t extent),
                           void *context); /* "" where all are as the signature has them */
