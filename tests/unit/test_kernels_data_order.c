#include "tests/unit/test.h"

#include "kernels/data/data.h"

#define COUNT 103
#define BATCH 10

static void an_epoch_meets_every_example_once_and_ends_short(void **state)
{
    (void)state;
    struct data_order order = {.seed = 5, .count = COUNT};
    assert_int_equal(data_order_steps(&order, BATCH), 11);
    for (int epoch = 0; epoch < 3; epoch++) {
        uint8_t met[COUNT] = {0};
        for (int step = 0; step < 11; step++) {
            int64_t indices[BATCH];
            assert_int_equal(order.epoch, epoch);
            int64_t count = data_order_next(&order, BATCH, indices);
            assert_int_equal(count, step < 10 ? 10 : 3);
            for (int64_t i = 0; i < count; i++)
                assert_int_equal(met[indices[i]]++, 0);
        }
        assert_int_equal(order.position, 0);
    }
}

static void a_resumed_order_goes_on_as_the_whole_one_would(void **state)
{
    (void)state;
    struct data_order whole = {.seed = 5, .count = COUNT};
    int64_t expected[BATCH], got[BATCH];
    for (int step = 0; step < 40; step++) {
        struct data_order resumed = {whole.seed, whole.count, whole.epoch, whole.position};
        int64_t count = data_order_next(&whole, BATCH, expected);
        assert_int_equal(data_order_next(&resumed, BATCH, got), count);
        assert_memory_equal(got, expected, (size_t)count * sizeof(got[0]));
    }
}

static void epochs_and_seeds_have_orders_of_their_own(void **state)
{
    (void)state;
    int64_t a[BATCH], b[BATCH], c[BATCH];
    struct data_order first = {.seed = 5, .count = COUNT};
    struct data_order later = {.seed = 5, .count = COUNT, .epoch = 1};
    struct data_order other = {.seed = 6, .count = COUNT};
    data_order_next(&first, BATCH, a);
    data_order_next(&later, BATCH, b);
    data_order_next(&other, BATCH, c);
    assert_memory_not_equal(a, b, sizeof(a));
    assert_memory_not_equal(a, c, sizeof(a));
}

static void one_example_is_an_epoch_too(void **state)
{
    (void)state;
    struct data_order order = {.seed = 1, .count = 1};
    int64_t indices[BATCH];
    assert_int_equal(data_order_next(&order, BATCH, indices), 1);
    assert_int_equal(indices[0], 0);
    assert_int_equal(order.epoch, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_meets_every_example_once_and_ends_short),
        cmocka_unit_test(a_resumed_order_goes_on_as_the_whole_one_would),
        cmocka_unit_test(epochs_and_seeds_have_orders_of_their_own),
        cmocka_unit_test(one_example_is_an_epoch_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
