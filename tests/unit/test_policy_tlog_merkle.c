/* merkle: the tree agrees with its definition, and only true proofs verify. */
#include "tests/unit/test.h"

#include "policy/tlog/tlog.h"

#include <string.h>

#define SIZE_MAX_TRIED 130

static struct tlog_hash leaves[SIZE_MAX_TRIED];

/* MTH as RFC 9162 section 2.1.1 writes it down: the second implementation. */
static struct tlog_hash defined_root(const struct tlog_hash *from, size_t count)
{
    if (count == 0)
        return tlog_empty();
    if (count == 1)
        return *from;
    size_t split = 1;
    while (split * 2 < count)
        split *= 2;
    struct tlog_hash left = defined_root(from, split),
                     right = defined_root(from + split, count - split);
    return tlog_node(&left, &right);
}

static void a_frontier_has_the_root_that_the_definition_gives(void **state)
{
    (void)state;
    struct tlog_frontier frontier = {0}, again;
    for (size_t size = 0; size < SIZE_MAX_TRIED; size++) {
        struct tlog_hash root = tlog_frontier_root(&frontier), defined = defined_root(leaves, size);
        assert_true(tlog_same(&root, &defined));
        assert_true(tlog_frontier_read((int64_t)size, frontier.hashes,
                                       frontier.count * TLOG_HASH_SIZE, &again));
        assert_false(tlog_frontier_read(2 * (int64_t)size + 1, frontier.hashes,
                                        frontier.count * TLOG_HASH_SIZE, &again));
        tlog_append(&frontier, &leaves[size]);
    }
}

static void every_proof_of_every_leaf_verifies_and_no_changed_one_does(void **state)
{
    (void)state;
    struct tlog_hash path[TLOG_PROOF_MAX];
    for (size_t size = 1; size < SIZE_MAX_TRIED; size++) {
        struct tlog_hash root = tlog_root(leaves, size);
        for (size_t index = 0; index < size; index++) {
            size_t count = tlog_path(leaves, size, index, path);
            int64_t i = (int64_t)index, n = (int64_t)size;
            assert_true(tlog_included(i, n, &leaves[index], &root, path, count));
            assert_false(tlog_included(i, n, &leaves[index], &root, path, count + 1));
            if (count == 0)
                continue;
            assert_false(tlog_included(i, n, &leaves[index], &root, path, count - 1));
            path[index % count].bytes[index % TLOG_HASH_SIZE] ^= 1;
            assert_false(tlog_included(i, n, &leaves[index], &root, path, count));
        }
        assert_false(tlog_included((int64_t)size, (int64_t)size, &leaves[0], &root, path, 0));
        assert_false(tlog_included(-1, (int64_t)size, &leaves[0], &root, path, 0));
    }
}

/* PROOF and SUBPROOF of RFC 9162 section 2.1.4.1. */
static size_t defined_consistency(const struct tlog_hash *from, size_t size1, size_t size2,
                                  bool is_whole, struct tlog_hash *path)
{
    if (size1 == size2) {
        if (is_whole)
            return 0;
        path[0] = defined_root(from, size2);
        return 1;
    }
    size_t split = 1;
    while (split * 2 < size2)
        split *= 2;
    size_t count = 0;
    if (size1 <= split) {
        count = defined_consistency(from, size1, split, is_whole, path);
        path[count] = defined_root(from + split, size2 - split);
    } else {
        count = defined_consistency(from + split, size1 - split, size2 - split, false, path);
        path[count] = defined_root(from, split);
    }
    return count + 1;
}

static void a_tree_that_grew_is_consistent_and_another_is_not(void **state)
{
    (void)state;
    struct tlog_hash path[TLOG_PROOF_MAX];
    for (size_t size2 = 1; size2 < 70; size2++)
        for (size_t size1 = 1; size1 <= size2; size1++) {
            struct tlog_hash root1 = tlog_root(leaves, size1), root2 = tlog_root(leaves, size2);
            int64_t m = (int64_t)size1, n = (int64_t)size2;
            size_t count = defined_consistency(leaves, size1, size2, true, path);
            assert_true(tlog_consistent(m, n, &root1, &root2, path, count));
            assert_false(tlog_consistent(m, n, &root1, &root2, path, count + 1));
            assert_false(tlog_consistent(n + 1, n, &root1, &root2, path, count));
            root1.bytes[0] ^= 1;
            assert_false(tlog_consistent(m, n, &root1, &root2, path, count));
        }
    struct tlog_hash empty = tlog_empty();
    assert_false(tlog_consistent(0, 1, &empty, &leaves[0], path, 0));
}

static int make_leaves(void **state)
{
    (void)state;
    for (int i = 0; i < SIZE_MAX_TRIED; i++)
        leaves[i] = tlog_leaf(&i, sizeof i);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frontier_has_the_root_that_the_definition_gives),
        cmocka_unit_test(every_proof_of_every_leaf_verifies_and_no_changed_one_does),
        cmocka_unit_test(a_tree_that_grew_is_consistent_and_another_is_not),
    };
    return cmocka_run_group_tests_name("merkle", tests, make_leaves, NULL);
}
