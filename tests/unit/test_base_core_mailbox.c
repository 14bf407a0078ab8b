/* mailbox: what is put is taken once, in order, within the limit. */
#include "tests/unit/test.h"

#include "base/core/mailbox.h"

#include <pthread.h>
#include <stdatomic.h>

static void items_come_out_in_order_and_the_limit_holds(void **state)
{
    (void)state;
    CR_SCOPED(cr_mailbox_close) struct cr_mailbox *mailbox = cr_mailbox_open(2);
    int items[4];
    for (int round = 0; round < 3; round++) {
        assert_true(cr_mailbox_put(mailbox, &items[0]));
        assert_true(cr_mailbox_put(mailbox, &items[1]));
        assert_false(cr_mailbox_put(mailbox, &items[2]));
        assert_int_equal(cr_mailbox_count(mailbox), 2);
        assert_ptr_equal(cr_mailbox_take(mailbox, 0), &items[0]);
        assert_true(cr_mailbox_put(mailbox, &items[3]));
        assert_ptr_equal(cr_mailbox_take(mailbox, INT64_MAX), &items[1]);
        assert_ptr_equal(cr_mailbox_take(mailbox, 1000000), &items[3]);
        assert_null(cr_mailbox_take(mailbox, 1000000));
    }
}

static void a_shut_mailbox_gives_what_it_has_and_takes_nothing(void **state)
{
    (void)state;
    CR_SCOPED(cr_mailbox_close) struct cr_mailbox *mailbox = cr_mailbox_open(2);
    int item;
    assert_true(cr_mailbox_put(mailbox, &item));
    cr_mailbox_shut(mailbox);
    assert_true(cr_mailbox_is_shut(mailbox));
    assert_false(cr_mailbox_put(mailbox, &item));
    assert_ptr_equal(cr_mailbox_take(mailbox, INT64_MAX), &item);
    assert_null(cr_mailbox_take(mailbox, INT64_MAX));
}

struct race {
    struct cr_mailbox *mailbox;
    _Atomic int64_t sum;
};

static void *take_all(void *argument)
{
    struct race *race = argument;
    for (int *item; (item = cr_mailbox_take(race->mailbox, INT64_MAX));)
        atomic_fetch_add(&race->sum, *item);
    return NULL;
}

static void many_threads_take_each_item_once(void **state)
{
    (void)state;
    enum { ITEMS = 5000, THREADS = 3 };
    static int items[ITEMS];
    struct race race = {.mailbox = cr_mailbox_open(16)};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_all, &race), 0);
    for (int i = 0; i < ITEMS; i++) {
        items[i] = i;
        while (!cr_mailbox_put(race.mailbox, &items[i]))
            continue;
    }
    cr_mailbox_shut(race.mailbox);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&race.sum), ITEMS * (ITEMS - 1) / 2);
    cr_mailbox_close(&race.mailbox);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_out_in_order_and_the_limit_holds),
        cmocka_unit_test(a_shut_mailbox_gives_what_it_has_and_takes_nothing),
        cmocka_unit_test(many_threads_take_each_item_once),
    };
    return cmocka_run_group_tests_name("mailbox", tests, NULL, NULL);
}
