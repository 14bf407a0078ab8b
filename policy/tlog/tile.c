/* tile: the tree cut into files of 256 hashes, eight rows high (C2SP tlog-tiles). */
#include "policy/tlog/tlog.h"

#include <assert.h>
#include <string.h>

#define ROWS 8 /* of the tree in a tile */
_Static_assert(1 << ROWS == TLOG_TILE_WIDTH, "a tile is full when its rows are");

void tlog_tile_path(const struct tlog_tile *tile, char ret_path[TLOG_PATH_SIZE])
{
    /* Groups of three digits, the last first. */
    int groups[7], count = 0;
    for (int64_t rest = tile->index; count == 0 || rest > 0; rest /= 1000)
        groups[count++] = (int)(rest % 1000);

    size_t length = 0;
    if (tile->level == TLOG_LEVEL_ENTRIES)
        length = (size_t)snprintf(ret_path, TLOG_PATH_SIZE, "tile/entries");
    else
        length = (size_t)snprintf(ret_path, TLOG_PATH_SIZE, "tile/%d", tile->level);
    while (count-- > 0)
        length += (size_t)snprintf(ret_path + length, TLOG_PATH_SIZE - length, "/%s%03d",
                                   count ? "x" : "", groups[count]);
    if (tile->width < TLOG_TILE_WIDTH)
        snprintf(ret_path + length, TLOG_PATH_SIZE - length, ".p/%d", tile->width);
}

/* Reads a decimal without leading zeros, at most max; NULL where there is none. */
static const char *decimal(const char *at, int max, int *ret_value)
{
    int value = 0;
    const char *from = at;
    for (; *at >= '0' && *at <= '9' && value <= max; at++)
        value = value * 10 + (*at - '0');
    if (at == from || value > max || (*from == '0' && at - from > 1))
        return NULL;
    *ret_value = value;
    return at;
}

static const char *three_digits(const char *at, int *ret_value)
{
    int value = 0;
    for (int i = 0; i < 3; i++) {
        if (at[i] < '0' || at[i] > '9')
            return NULL;
        value = value * 10 + (at[i] - '0');
    }
    *ret_value = value;
    return at + 3;
}

/* "x001/x234/067": groups of three digits, all but the last with an x, the first not x000. */
static const char *index_of(const char *at, int64_t *ret_index)
{
    int64_t index = 0;
    for (bool more = true, first = true; more; first = false) {
        int group = 0;
        more = *at == 'x';
        at = three_digits(at + more, &group);
        if (!at || (more && (*at++ != '/' || (first && group == 0))))
            return NULL;
        if (__builtin_mul_overflow(index, 1000, &index) ||
            __builtin_add_overflow(index, group, &index))
            return NULL;
    }
    *ret_index = index;
    return at;
}

bool tlog_tile_read(const char *path, struct tlog_tile *ret_tile)
{
    static const char prefix[] = "tile/", entries[] = "entries";
    struct tlog_tile tile = {.level = TLOG_LEVEL_ENTRIES, .width = TLOG_TILE_WIDTH};
    if (strncmp(path, prefix, sizeof prefix - 1) != 0)
        return false;
    const char *at = path + sizeof prefix - 1;

    if (strncmp(at, entries, sizeof entries - 1) == 0)
        at += sizeof entries - 1;
    else
        at = decimal(at, TLOG_LEVEL_MAX, &tile.level);
    if (!at || *at++ != '/')
        return false;
    at = index_of(at, &tile.index);
    if (at && strncmp(at, ".p/", 3) == 0) {
        at = decimal(at + 3, TLOG_TILE_WIDTH - 1, &tile.width);
        if (tile.width == 0)
            return false;
    }
    if (!at || *at)
        return false;
    *ret_tile = tile;
    return true;
}

int64_t tlog_level_count(int64_t size, int level)
{
    int rows = level == TLOG_LEVEL_ENTRIES ? 0 : level * ROWS;
    return rows > 62 ? 0 : size >> rows;
}

struct tlog_tile tlog_tile_of(int64_t size, int level, int64_t index)
{
    int64_t count = tlog_level_count(size, level);
    assert(index < count);
    struct tlog_tile tile = {.level = level, .index = index / TLOG_TILE_WIDTH};
    bool is_full = tile.index < count / TLOG_TILE_WIDTH;
    tile.width = is_full ? TLOG_TILE_WIDTH : (int)(count % TLOG_TILE_WIDTH);
    return tile;
}

struct tlog_hash tlog_tile_root(const struct tlog_hash hashes[TLOG_TILE_WIDTH])
{
    return tlog_root(hashes, TLOG_TILE_WIDTH);
}

/* The full subtree of 2^row leaves, number index of its row, in the tree of that size. */
static enum cr_status node_at(struct cr_call *call, const struct tlog_tiles *tiles, int64_t size,
                              int row, int64_t index, struct tlog_hash *ret_hash)
{
    int level = row / ROWS, within = row % ROWS;
    int64_t first = index << within;
    struct tlog_tile tile = tlog_tile_of(size, level, first);
    struct tlog_hash hashes[TLOG_TILE_WIDTH];
    CR_TRY(tiles->read(call, tiles->context, &tile, hashes));

    int64_t at = first % TLOG_TILE_WIDTH;
    assert(at + (1 << within) <= tile.width);
    *ret_hash = tlog_root(hashes + at, (size_t)1 << within);
    return CR_OK;
}

/* The largest power of two below n, n > 1, as its exponent. */
static int split_row(int64_t n)
{
    return 63 - __builtin_clzll((unsigned long long)(n - 1));
}

/* MTH of the leaves from low to high, low being where a subtree of the tree begins. */
static enum cr_status range_of(struct cr_call *call, const struct tlog_tiles *tiles, int64_t size,
                               int64_t low, int64_t high, struct tlog_hash *ret_hash)
{
    /* The full subtrees of the range from the left, then joined from the right. */
    struct tlog_hash parts[TLOG_PROOF_MAX] = {{{0}}};
    size_t count = 0;
    while (low < high) {
        int64_t rest = high - low;
        int row = 63 - __builtin_clzll((unsigned long long)rest);
        assert(count < TLOG_PROOF_MAX);
        CR_TRY(node_at(call, tiles, size, row, low >> row, &parts[count++]));
        low += INT64_C(1) << row;
    }
    struct tlog_hash hash = parts[count - 1];
    for (size_t i = count - 1; i-- > 0;)
        hash = tlog_node(&parts[i], &hash);
    *ret_hash = hash;
    return CR_OK;
}

enum cr_status tlog_tiles_path(struct cr_call *call, const struct tlog_tiles *tiles, int64_t index,
                               int64_t size, struct tlog_hash ret_path[TLOG_PROOF_MAX],
                               size_t *ret_count)
{
    assert(index >= 0 && index < size);
    struct tlog_hash down[TLOG_PROOF_MAX];
    int64_t low = 0, high = size;
    size_t depth = 0;
    while (high - low > 1) {
        int64_t middle = low + (INT64_C(1) << split_row(high - low));
        bool left = index < middle;
        CR_TRY(
            range_of(call, tiles, size, left ? middle : low, left ? high : middle, &down[depth++]));
        low = left ? low : middle;
        high = left ? middle : high;
    }
    for (size_t i = 0; i < depth; i++)
        ret_path[i] = down[depth - 1 - i];
    *ret_count = depth;
    return CR_OK;
}
