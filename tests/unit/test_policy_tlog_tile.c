/* tile: a proof out of tiles is the proof out of the leaves, at every size. */
#include "tests/unit/test.h"

#include "policy/tlog/tlog.h"

#include <string.h>

#define LEAVES 66000

static struct tlog_hash leaves[LEAVES];

/* A tile as its definition has it; one that a tree of that size does not have is a failure. */
static enum cr_status read_tile(struct cr_call *call, void *context, const struct tlog_tile *tile,
                                struct tlog_hash ret_hashes[TLOG_TILE_WIDTH])
{
    int64_t size = *(const int64_t *)context;
    int64_t first = tile->index * TLOG_TILE_WIDTH, below = (int64_t)1 << (8 * tile->level);
    if (first + tile->width > tlog_level_count(size, tile->level))
        return cr_fail(call, CR_NOT_FOUND, "no such tile");
    for (int i = 0; i < tile->width; i++)
        ret_hashes[i] = tlog_root(leaves + (first + i) * below, (size_t)below);
    return CR_OK;
}

static void proofs_out_of_tiles_are_those_of_the_tree(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 3, 255, 256, 257, 511, 512, 513, 700, 65537};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        int64_t size = sizes[s];
        const struct tlog_tiles tiles = {read_tile, &size};
        const int64_t indices[] = {0, 1, size / 2, size - 1, size * 2 / 3, 254, 256};
        for (size_t i = 0; i < sizeof indices / sizeof indices[0]; i++) {
            if (indices[i] >= size || (size > 1000 && i % 2))
                continue;
            CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
            struct tlog_hash path[TLOG_PROOF_MAX], want[TLOG_PROOF_MAX];
            size_t count = 0, wanted = tlog_path(leaves, (size_t)size, (size_t)indices[i], want);
            assert_ok(&call, tlog_tiles_path(&call, &tiles, indices[i], size, path, &count));
            assert_int_equal(count, wanted);
            assert_memory_equal(path, want, count * sizeof *path);
        }
    }
}

static void paths_are_written_in_groups_of_three(void **state)
{
    (void)state;
    static const struct {
        struct tlog_tile tile;
        const char *path;
    } cases[] = {
        {{0, 0, 256}, "tile/0/000"},
        {{3, 1234067, 256}, "tile/3/x001/x234/067"},
        {{1, 999, 7}, "tile/1/999.p/7"},
        {{TLOG_LEVEL_ENTRIES, 1000, 255}, "tile/entries/x001/000.p/255"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[TLOG_PATH_SIZE];
        struct tlog_tile again;
        tlog_tile_path(&cases[i].tile, path);
        assert_string_equal(path, cases[i].path);
        assert_true(tlog_tile_read(path, &again));
        assert_int_equal(again.index, cases[i].tile.index);
        assert_int_equal(again.width, cases[i].tile.width);
        assert_int_equal(again.level, cases[i].tile.level);
    }
    struct tlog_tile none;
    assert_false(tlog_tile_read("tile/0/x000/001", &none));
    assert_false(tlog_tile_read("tile/0/x999/x999/x999/x999/x999/x999/x999/999", &none));
}

static int make_leaves(void **state)
{
    (void)state;
    for (int i = 0; i < LEAVES; i++)
        leaves[i] = tlog_leaf(&i, sizeof i);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proofs_out_of_tiles_are_those_of_the_tree),
        cmocka_unit_test(paths_are_written_in_groups_of_three),
    };
    return cmocka_run_group_tests_name("tile", tests, make_leaves, NULL);
}
