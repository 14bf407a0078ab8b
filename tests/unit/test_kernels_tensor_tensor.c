/* tensor: limits, views, and storage that is given back once; dtype: conversions by their rules. */
#include "tests/unit/test.h"

#include "kernels/tensor/tensor.h"

#include <math.h>

static struct tensor counting(struct cr_call *call, int rank, const int64_t *shape)
{
    struct tensor tensor;
    assert_ok(call, tensor_alloc(call, DTYPE_I32, rank, shape, &tensor));
    int64_t elements = tensor_elements(&tensor);
    for (int64_t i = 0; i < elements; i++)
        ((int32_t *)tensor_bytes(&tensor))[i] = (int32_t)i;
    return tensor;
}

static void every_partial_product_is_within_limits(void **state)
{
    (void)state;
    static const struct {
        int rank;
        int64_t shape[3];
        bool good;
    } cases[] = {
        {0, {0}, true},
        {3, {0, 5, 7}, true},
        {1, {TENSOR_DIM_MAX}, true},
        {1, {TENSOR_DIM_MAX + 1}, false},
        {1, {-1}, false},
        {2, {TENSOR_DIM_MAX, 256}, true},
        {2, {TENSOR_DIM_MAX, 257}, false},
        {3, {0, TENSOR_DIM_MAX, TENSOR_DIM_MAX}, false},
        {3, {TENSOR_DIM_MAX, TENSOR_DIM_MAX, TENSOR_DIM_MAX}, false},
        {9, {1, 1, 1}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cr_env env = cr_env_system();
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
        enum cr_status status =
            tensor_measure(&call, DTYPE_F32, cases[i].rank, cases[i].shape, NULL, NULL);
        assert_int_equal(status == CR_OK, cases[i].good);
    }
}

static void views_show_the_elements_that_they_should(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    const int64_t shape[] = {3, 4}, wide[] = {2, 3, 4}, column[] = {3, 1};
    struct tensor x = counting(&call, 2, shape), y = counting(&call, 2, column), view, wider;
    const int turned[] = {1, 0};
    int32_t gathered[24];
    view = tensor_permute(&x, turned);
    for (int64_t i = 0; i < 12; i++)
        assert_true(tensor_at(&view, i) == (double)(i % 3 * 4 + i / 3));
    assert_false(tensor_contiguous(&view));
    view = tensor_slice(&x, 1, 1, 2, 2);
    tensor_gather(&view, gathered);
    const int32_t sliced[] = {1, 3, 5, 7, 9, 11};
    assert_memory_equal(gathered, sliced, sizeof sliced);
    assert_true(tensor_expand(&y, 3, wide, &wider));
    for (int64_t i = 0; i < 24; i++)
        assert_true(tensor_at(&wider, i) == (double)(i / 4 % 3));
    assert_false(tensor_expand(&x, 2, column, &wider));
    view = tensor_window(&x, 1, 2, 1);
    tensor_gather(&view, gathered);
    const int32_t windows[] = {0, 1, 1, 2, 2, 3, 4, 5, 5, 6, 6, 7, 8, 9, 9, 10, 10, 11};
    assert_memory_equal(gathered, windows, sizeof windows);
    storage_close(x.storage);
    storage_close(y.storage);
}

/* Whatever reshape allows shows the elements in their order. */
static void a_reshape_keeps_the_order_or_is_refused(void **state)
{
    (void)state;
    static const struct {
        int rank;
        int64_t shape[5];
    } shapes[] = {{1, {24}},          {2, {4, 6}},    {2, {2, 12}},         {3, {2, 3, 4}},
                  {4, {1, 2, 1, 12}}, {3, {2, 2, 6}}, {5, {2, 3, 2, 1, 2}}, {4, {4, 1, 3, 2}}};
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {2, 1, 0}, {1, 2, 0}, {2, 0, 1}};
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    const int64_t shape[] = {2, 3, 4}, padded[] = {2, 5, 4};
    struct tensor plain = counting(&call, 3, shape), gaps = counting(&call, 3, padded);
    int allowed = 0;
    for (size_t o = 0; o < 12; o++) {
        struct tensor from = o < 6 ? plain : tensor_slice(&gaps, 1, 1, 3, 1);
        from = tensor_permute(&from, orders[o % 6]);
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
            struct tensor view;
            if (!tensor_reshape(&from, shapes[s].rank, shapes[s].shape, &view))
                continue;
            allowed++;
            assert_int_equal(tensor_elements(&view), 24);
            for (int64_t i = 0; i < 24; i++)
                assert_true(tensor_at(&view, i) == tensor_at(&from, i));
        }
    }
    assert_true(allowed >= 16);
    storage_close(plain.storage);
    storage_close(gaps.storage);
}

static void count_release(void *context, void *bytes)
{
    (void)bytes;
    ++*(int *)context;
}

static void borrowed_bytes_are_given_back_once(void **state)
{
    (void)state;
    struct cr_env env = cr_env_system();
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct storage *storage;
    char bytes[4];
    int released = 0;
    assert_ok(&call, storage_borrow(&call, bytes, 4, count_release, &released, &storage));
    storage_keep(storage);
    storage_close(storage);
    assert_int_equal(released, 0);
    storage_close(storage);
    assert_int_equal(released, 1);
}

static void halves_survive_and_floats_narrow_to_the_nearest_even(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        float half = dtype_f32_of_f16((uint16_t)bits), brain = dtype_f32_of_bf16((uint16_t)bits);
        if (!isnan(half))
            assert_int_equal(dtype_f16_of_f32(half), bits);
        if (!isnan(brain))
            assert_int_equal(dtype_bf16_of_f32(brain), bits);
        assert_int_equal(isnan(half), (bits & 0x7fff) > 0x7c00);
    }
    assert_int_equal(dtype_f16_of_f32(1 + 0x1p-11f), 0x3c00);     /* halfway: to even */
    assert_int_equal(dtype_f16_of_f32(1 + 3 * 0x1p-11f), 0x3c02); /* halfway: to even */
    assert_int_equal(dtype_f16_of_f32(65519.0f), 0x7bff);
    assert_int_equal(dtype_f16_of_f32(65520.0f), 0x7c00);
    assert_int_equal(dtype_f16_of_f32(-0x1p-25f), 0x8000);
    assert_int_equal(dtype_bf16_of_f32(1 + 0x1p-8f), 0x3f80);
    assert_int_equal(dtype_bf16_of_f32(1 + 3 * 0x1p-8f), 0x3f82);
}

static void floats_become_integers_by_truncation_within_bounds(void **state)
{
    (void)state;
    static const struct {
        unsigned dtype;
        double from, to;
    } cases[] = {
        {DTYPE_I8, 127.9, 127},
        {DTYPE_I8, 128, 127},
        {DTYPE_I8, -129, -128},
        {DTYPE_U8, -1, 0},
        {DTYPE_U8, 255.5, 255},
        {DTYPE_U8, 300, 255},
        {DTYPE_I32, NAN, 0},
        {DTYPE_I32, -1.9, -1},
        {DTYPE_I32, 1e300, 2147483647},
        {DTYPE_U32, INFINITY, 4294967295},
        {DTYPE_BOOL, 0.5, 1},
        {DTYPE_BOOL, 0, 0},
        {DTYPE_I16, -40000, -32768},
        {DTYPE_U16, 65536, 65535},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t place = -1;
        dtype_write(cases[i].dtype, &place, 0, cases[i].from);
        assert_true(dtype_read(cases[i].dtype, &place, 0) == cases[i].to);
    }
    for (unsigned dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        if (!dtype_known(dtype))
            continue;
        const char *word = dtype_safetensors(dtype);
        assert_int_equal(dtype_of_name(dtype_name(dtype), strlen(dtype_name(dtype))), dtype);
        assert_int_equal(dtype_of_safetensors(word, strlen(word)), dtype);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_partial_product_is_within_limits),
        cmocka_unit_test(views_show_the_elements_that_they_should),
        cmocka_unit_test(a_reshape_keeps_the_order_or_is_refused),
        cmocka_unit_test(borrowed_bytes_are_given_back_once),
        cmocka_unit_test(halves_survive_and_floats_narrow_to_the_nearest_even),
        cmocka_unit_test(floats_become_integers_by_truncation_within_bounds),
    };
    return cmocka_run_group_tests_name("tensor", tests, NULL, NULL);
}
