#include "tests/unit/test.h"

#include "kernels/random/random.h"

static void philox_gives_the_known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], answer[4];
    } rows[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
        {{0, 0, 1, 0}, {0x2a, 0}, {0x02933769, 0x2051e913, 0x3b68b038, 0xb62c409c}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct random_block block = random_philox(rows[i].counter, rows[i].key);
        assert_memory_equal(block.word, rows[i].answer, sizeof(rows[i].answer));
    }
}

static void a_word_is_the_same_alone_and_among_others(void **state)
{
    (void)state;
    uint32_t words[23];
    random_words(42, 1, 3, 23, words);
    for (size_t i = 0; i < 23; i++)
        assert_int_equal(words[i], random_word(42, 1, 3 + i));
    assert_int_equal(random_word(42, 1, 0), 0x02933769);
    assert_int_equal(random_word(42, 1, 3), 0xb62c409c);
}

static void a_permutation_meets_every_number_once(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 2, 3, 4, 5, 17, 255, 256, 257, 1000, 65537};
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        static uint8_t met[65537];
        memset(met, 0, sizeof(met));
        for (uint64_t i = 0; i < sizes[s]; i++) {
            uint64_t to = random_permutation(7, s, sizes[s], i);
            assert_true(to < sizes[s]);
            assert_int_equal(met[to]++, 0);
        }
    }
}

static void permutations_of_large_sets_stay_inside(void **state)
{
    (void)state;
    uint64_t n = (UINT64_C(1) << 62) - 3;
    for (uint64_t i = 0; i < 100; i++)
        assert_true(random_permutation(1, 2, n, n - 1 - i) < n);
}

static void permutations_of_two_epochs_differ(void **state)
{
    (void)state;
    size_t equal = 0;
    for (uint64_t i = 0; i < 1000; i++)
        equal += random_permutation(1, 0, 1000, i) == random_permutation(1, 1, 1000, i);
    assert_true(equal < 10);
}

static void bernoulli_of_one_and_zero_are_sure(void **state)
{
    (void)state;
    uint8_t x[1000];
    random_bernoulli(1, 2, 0, 1000, 1.0, x);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(x[i], 1);
    random_bernoulli(1, 2, 0, 1000, 0.0, x);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(x[i], 0);
}

static void forks_differ_by_seed_and_label(void **state)
{
    (void)state;
    assert_true(random_fork(1, 1) != random_fork(1, 2));
    assert_true(random_fork(1, 1) != random_fork(2, 1));
    assert_true(random_fork(1, 1) == random_fork(1, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_known_answers),
        cmocka_unit_test(a_word_is_the_same_alone_and_among_others),
        cmocka_unit_test(a_permutation_meets_every_number_once),
        cmocka_unit_test(permutations_of_large_sets_stay_inside),
        cmocka_unit_test(permutations_of_two_epochs_differ),
        cmocka_unit_test(bernoulli_of_one_and_zero_are_sure),
        cmocka_unit_test(forks_differ_by_seed_and_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
