/* table: every row keeps the rules of rows, and is found by its id and its name. */
#include "tests/unit/engine.h"

static void every_row_has_what_a_row_must_have(void **state)
{
    (void)state;
    int count;
    const struct op *const *ops = op_all(&count);
    assert_true(count >= 50);
    for (int i = 0; i < count; i++) {
        const struct op_row *row = ops[i]->row;
        if (row->id > OP_GRADIENT)
            continue; /* made of another row, whose samples it is tested by */
        bool formula = row->formula[0] != NULL;
        bool built_in = row->kind == OP_VIEW || row->kind == OP_INDEX;
        assert_non_null(row->samples);
        assert_non_null(row->samples[0].inputs);
        if (!formula && !row->meaning && !built_in)
            fail_msg("%s has neither formula nor meaning", row->name);
        if (row->kind != OP_POINTWISE && row->kind != OP_REDUCE && !row->infer)
            fail_msg("%s has no shape rule", row->name);
        if (!row->vjp && !ops[i]->gradient && !(row->flags & OP_NO_GRADIENT))
            fail_msg("%s has no gradient, and does not say so", row->name);
        if (row->kind == OP_REDUCE)
            assert_true(row->combine != OP_COMBINE_NONE && ops[i]->finish != NULL);
    }
}

static void a_row_is_found_by_id_and_by_name(void **state)
{
    (void)state;
    int count;
    const struct op *const *ops = op_all(&count);
    for (int i = 0; i < count; i++) {
        const struct op_row *row = ops[i]->row;
        assert_ptr_equal(op_find(row->id), ops[i]);
        assert_ptr_equal(op_find_name(row->name, strlen(row->name)), ops[i]);
    }
    assert_null(op_find(OP_NONE));
    assert_null(op_find(OP_REGISTERED));
    assert_null(op_find_name("matmu", 5));
    assert_int_equal(op_find_name("matmul", 6)->row->id, 17);
    assert_int_equal(op_find_name("gelu", 4)->row->id, 42);
    assert_string_equal(op_find(OP_GRADIENT + OP_GELU)->row->name, "gelu_gradient");
}

/* Text of types and attributes, given to the row, and what it says of them. */
static enum cr_status infer(struct cr_call *call, const char *name, const char *inputs,
                            const char *attrs, const char **ret_type)
{
    const struct op *op = op_find_name(name, strlen(name));
    const struct op_sample sample = {.inputs = inputs, .attrs = attrs};
    struct op_type types[OP_INPUTS_MAX], outputs[OP_OUTPUTS_MAX];
    struct op_datum values[OP_ATTRS_MAX];
    struct op_text in = {.call = call, .start = attrs, .at = attrs};
    int count = sample_types(call, &sample, false, types);
    CR_TRY(op_text_attrs(&in, op, values));
    struct op_site site = {.op = op, .input_count = count, .inputs = types, .attrs = values};
    CR_TRY(op_infer(call, &site, outputs));
    *ret_type = op_print_type(call, &outputs[0], NULL, NULL);
    return CR_OK;
}

static void shapes_follow_the_rules(void **state)
{
    (void)state;
    static const struct {
        const char *name, *inputs, *attrs, *type;
    } cases[] = {
        {"add", "f32[2, 1, 3] f32[4, 1]", "", "f32[2, 4, 3]"},
        {"equal", "i64[3] i64[]", "", "bool[3]"},
        {"cast", "f32[3]", "type = bf16", "bf16[3]"},
        {"matmul", "f32[2, 1, 4, 5] f32[3, 5, 6]", "", "f32[2, 3, 4, 6]"},
        {"reduce_sum", "f32[2, 3, 4]", "axes = [-1, 0]", "f32[3]"},
        {"reduce_sum", "f32[2, 3, 4]", "axes = [-1, 0], keep = true", "f32[1, 3, 1]"},
        {"conv", "f32[2, 3, 28, 28] f32[8, 3, 3, 3] f32[8]", "pad = [1, 1, 1, 1]",
         "f32[2, 8, 28, 28]"},
        {"conv", "f32[2, 3, 28, 28] f32[8, 3, 3, 3]", "stride = [2, 3]", "f32[2, 8, 13, 9]"},
        {"max_pool", "f32[2, 3, 7, 7]", "kernel = [2, 2], stride = [2, 2]", "f32[2, 3, 3, 3]"},
        {"window", "f32[2, 9]", "axis = -1, size = 3, step = 2", "f32[2, 4, 3]"},
        {"full", "", "shape = [], type = f64, value = inf", "f64[]"},
        {"softmax_cross_entropy", "f32[5, 10] i64[5]", "", "f32[5]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cr_env env = cr_env_system();
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
        const char *type;
        assert_ok(&call, infer(&call, cases[i].name, cases[i].inputs, cases[i].attrs, &type));
        assert_string_equal(type, cases[i].type);
    }
}

static void what_does_not_fit_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *name, *inputs, *attrs, *reason;
    } cases[] = {
        {"add", "f32[2] f64[2]", "", "add: b is f64, but another input is f32"},
        {"add", "f32[2]", "", "add: b is missing"},
        {"exp", "i32[2]", "", "exp: x may not be i32"},
        {"where", "f32[2] f32[2] f32[2]", "", "where: condition is f32, not bool"},
        {"matmul", "f32[2, 3] f32[4, 5]", "", "columns of a are 3, but rows of b are 4"},
        {"matmul", "f32[3] f32[3, 5]", "", "matmul: a has 1 dimensions, at least 2 are needed"},
        {"reduce_max", "f32[0, 3]", "axes = [0]",
         "reduce_max: nothing to choose from along axis 0"},
        {"reduce_sum", "f32[2, 3]", "axes = [0, -2]", "reduce_sum: axis 0 twice"},
        {"reduce_sum", "f32[2, 3]", "axes = [2]", "axis 2 of 2 dimensions"},
        {"reduce_sum", "f32[2, 3]", "", "reduce_sum: axes is missing"},
        {"reshape", "f32[2, 3]", "shape = [-1]", "reshape: shape[0] is negative"},
        {"transpose", "f32[2, 3]", "axes = [0, 0]", "transpose: axes must be a permutation"},
        {"slice", "f32[9]", "axis = 0, start = 8, count = 2",
         "slice: start, count and step leave the axis"},
        {"slice", "f32[9]", "axis = 0, start = 1, count = 9223372036854775807, step = 2",
         "slice: start, count and step leave the axis"},
        {"conv", "f32[1, 2, 4, 4] f32[1, 3, 3, 3]", "",
         "channels of x are 2, but channels of w are 3"},
        {"conv", "f32[1, 2, 2, 2] f32[1, 2, 3, 3]", "",
         "conv: the kernel is larger than the picture"},
        {"expand", "f32[3]", "shape = [2, 281474976710657]",
         "x are 3, but shape are 281474976710657"},
        {"full", "", "shape = [281474976710656, 281474976710656], type = f32, value = 0",
         "a tensor of more than 2^56 elements"},
        {"gelu", "f32[3]", "approximate = some", "line 1: an unknown word"},
        {"gelu", "f32[3]", "approximate = tanh, approximate = tanh", "line 1: an attribute twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cr_env env = cr_env_system();
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
        const char *type;
        assert_int_equal(infer(&call, cases[i].name, cases[i].inputs, cases[i].attrs, &type),
                         CR_INVALID);
        assert_string_equal(call.reason, cases[i].reason);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_what_a_row_must_have),
        cmocka_unit_test(a_row_is_found_by_id_and_by_name),
        cmocka_unit_test(shapes_follow_the_rules),
        cmocka_unit_test(what_does_not_fit_is_refused_by_name),
    };
    return cmocka_run_group_tests_name("op_table", tests, NULL, NULL);
}
