#include "tests/unit/test.h"

#include "kernels/data/data.h"

#include <math.h>

struct bytes {
    uint8_t data[64];
    size_t size;
};

static struct cr_call open_call(void)
{
    static struct cr_env env;
    env = cr_env_system();
    return cr_call_open(&env, INT64_MAX);
}

/* Two pictures of 2 x 3, and labels for them. */
static const struct bytes images = {
    {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3, 0, 255, 0, 255, 0, 255, 9, 8, 7, 6, 5, 4}, 28};
static const struct bytes labels = {{0, 0, 8, 1, 0, 0, 0, 2, 3, 9}, 10};

static void files_of_pictures_and_labels_are_read_where_they_lie(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = open_call();
    struct data_images x;
    struct data_labels y;
    assert_ok(&call, data_read_images(&call, "images", images.data, images.size, &x));
    assert_ok(&call, data_read_labels(&call, "labels", labels.data, labels.size, 10, &y));
    assert_ok(&call, data_check_pair(&call, "images", &x, "labels", &y));
    assert_int_equal(x.count, 2);
    assert_int_equal(x.rows, 2);
    assert_int_equal(x.columns, 3);
    assert_ptr_equal(x.pixels, images.data + 16);
    assert_int_equal(y.labels[1], 9);
}

static void a_wrong_file_is_refused_with_the_field_at_fault(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint8_t value;
        size_t size;
        const char *reason;
    } rows[] = {
        {0, 0, 3, "images: 3 bytes are no IDX file"},
        {0, 7, 28, "images: magic begins 0700, not 0000"},
        {2, 0x0d, 28, "images: element type 0x0d, not 0x08 (u8)"},
        {3, 1, 28, "images: rank 1, not 3"},
        {0, 0, 15, "images: ends within its sizes, after 15 bytes"},
        {7, 0, 28, "images: size 0 is 0, not 1 to 2147483647"},
        {4, 0xff, 28, "images: size 0 is 4278190082, not 1 to 2147483647"},
        {7, 3, 28, "images: sizes say 18 elements, the file holds 12"},
        {0, 0, 27, "images: sizes say 12 elements, the file holds 11"},
        {0, 0, 29, "images: sizes say 12 elements, the file holds 13"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CR_SCOPED(cr_call_close) struct cr_call call = open_call();
        struct bytes wrong = images;
        struct data_images x;
        wrong.data[rows[i].at] = rows[i].value;
        assert_int_equal(data_read_images(&call, "images", wrong.data, rows[i].size, &x),
                         CR_INVALID);
        assert_string_equal(call.reason, rows[i].reason);
    }
}

static void sizes_whose_product_overflows_are_refused(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = open_call();
    struct bytes wrong = images;
    struct data_images x;
    memset(wrong.data + 4, 0x7f, 12);
    assert_int_equal(data_read_images(&call, "images", wrong.data, wrong.size, &x), CR_INVALID);
    assert_string_equal(call.reason, "images: the product of its sizes overflows");
}

static void what_gzip_made_is_called_so(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = open_call();
    const uint8_t gzip[] = {0x1f, 0x8b, 8, 0};
    struct data_images x;
    assert_int_equal(data_read_images(&call, "images", gzip, sizeof(gzip), &x), CR_INVALID);
    assert_string_equal(call.reason, "images: is compressed by gzip, unpack it first");
}

static void a_label_that_is_no_class_is_named_by_its_index(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = open_call();
    struct data_labels y;
    assert_int_equal(data_read_labels(&call, "test_labels", labels.data, labels.size, 9, &y),
                     CR_INVALID);
    assert_string_equal(call.reason, "test_labels: label 1 is 9, not below 9 classes");
}

static void pictures_and_labels_must_be_as_many(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = open_call();
    struct data_images x = {NULL, 3, 1, 1};
    struct data_labels y = {NULL, 2};
    assert_int_equal(data_check_pair(&call, "images", &x, "labels", &y), CR_INVALID);
    assert_string_equal(call.reason, "labels: 2 labels for the 3 pictures of images");
}

static void mean_and_deviation_are_those_of_all_pixels(void **state)
{
    (void)state;
    struct data_images x = {images.data + 16, 1, 2, 3};
    struct data_normal normal = data_measure(&x);
    assert_true(normal.mean == 0.5 && normal.deviation == 0.5);

    const uint8_t flat[] = {7, 7, 7, 7};
    x = (struct data_images){flat, 1, 2, 2};
    normal = data_measure(&x);
    assert_true(fabs(normal.mean - 7 / 255.0) < 1e-15 && normal.deviation == 1);
}

static void a_batch_is_normalised_in_the_order_of_its_indices(void **state)
{
    (void)state;
    struct data_images x = {images.data + 16, 2, 2, 3};
    struct data_labels y = {labels.data + 8, 2};
    struct data_normal normal = {0.5, 0.5};
    const int64_t indices[] = {1, 0};
    float batch[12];
    int32_t classes[2];
    data_gather_images(&x, &normal, indices, 2, batch);
    data_gather_labels(&y, indices, 2, classes);
    assert_true(batch[0] == (float)((9 / 255.0 - 0.5) / 0.5));
    assert_true(batch[6] == -1 && batch[7] == 1);
    assert_int_equal(classes[0], 9);
    assert_int_equal(classes[1], 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_pictures_and_labels_are_read_where_they_lie),
        cmocka_unit_test(a_wrong_file_is_refused_with_the_field_at_fault),
        cmocka_unit_test(sizes_whose_product_overflows_are_refused),
        cmocka_unit_test(what_gzip_made_is_called_so),
        cmocka_unit_test(a_label_that_is_no_class_is_named_by_its_index),
        cmocka_unit_test(pictures_and_labels_must_be_as_many),
        cmocka_unit_test(mean_and_deviation_are_those_of_all_pixels),
        cmocka_unit_test(a_batch_is_normalised_in_the_order_of_its_indices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
