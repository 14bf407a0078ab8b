/* merkle: the hash tree of RFC 9162 section 2.1. */
#include "policy/tlog/tlog.h"

#include "base/crypto/crypto.h"

#include <assert.h>
#include <string.h>

#define PREFIX_LEAF 0x00
#define PREFIX_NODE 0x01

struct tlog_hash tlog_empty(void)
{
    struct tlog_hash hash = {{0}};
    base_crypto_sha256("", 0, hash.bytes);
    return hash;
}

struct tlog_hash tlog_leaf(const void *data, size_t size)
{
    struct base_crypto_sha256 state;
    struct tlog_hash hash = {{0}};
    base_crypto_sha256_init(&state);
    base_crypto_sha256_add(&state, (const unsigned char[]){PREFIX_LEAF}, 1);
    base_crypto_sha256_add(&state, data, size);
    base_crypto_sha256_done(&state, hash.bytes);
    return hash;
}

struct tlog_hash tlog_node(const struct tlog_hash *left, const struct tlog_hash *right)
{
    unsigned char bytes[1 + 2 * TLOG_HASH_SIZE] = {PREFIX_NODE};
    memcpy(bytes + 1, left->bytes, TLOG_HASH_SIZE);
    memcpy(bytes + 1 + TLOG_HASH_SIZE, right->bytes, TLOG_HASH_SIZE);
    struct tlog_hash hash = {{0}};
    base_crypto_sha256(bytes, sizeof bytes, hash.bytes);
    return hash;
}

bool tlog_same(const struct tlog_hash *a, const struct tlog_hash *b)
{
    return memcmp(a->bytes, b->bytes, TLOG_HASH_SIZE) == 0;
}

struct tlog_hash tlog_root(const struct tlog_hash *leaves, size_t count)
{
    struct tlog_frontier frontier = {.size = 0};
    for (size_t i = 0; i < count; i++)
        tlog_append(&frontier, &leaves[i]);
    return tlog_frontier_root(&frontier);
}

/* The largest power of two below n, n > 1: where a tree of n leaves is split. */
static size_t split_of(size_t n)
{
    size_t split = 1;
    while (split * 2 < n)
        split *= 2;
    return split;
}

size_t tlog_path(const struct tlog_hash *leaves, size_t count, size_t index,
                 struct tlog_hash ret_path[TLOG_PROOF_MAX])
{
    assert(index < count);

    /* From the root downwards, so the siblings come in the wrong order and are turned round. */
    struct tlog_hash down[TLOG_PROOF_MAX];
    size_t low = 0, high = count, depth = 0;
    while (high - low > 1) {
        size_t middle = low + split_of(high - low);
        assert(depth < TLOG_PROOF_MAX);
        if (index < middle) {
            down[depth++] = tlog_root(leaves + middle, high - middle);
            high = middle;
        } else {
            down[depth++] = tlog_root(leaves + low, middle - low);
            low = middle;
        }
    }
    for (size_t i = 0; i < depth; i++)
        ret_path[i] = down[depth - 1 - i];
    return depth;
}

/* Where a verifier stands on its way up: the node's number, and that of the last in its row. */
struct climb {
    int64_t node, last;
};

static void step(struct climb *climb)
{
    climb->node >>= 1;
    climb->last >>= 1;
}

/* Whether the next hash is the left one. If so, rows in which the node has no sibling are passed.
 */
static bool from_left(struct climb *climb)
{
    if (!(climb->node & 1) && climb->node != climb->last)
        return false;
    while (!(climb->node & 1) && climb->node != 0)
        step(climb);
    return true;
}

bool tlog_included(int64_t index, int64_t size, const struct tlog_hash *leaf,
                   const struct tlog_hash *root, const struct tlog_hash *path, size_t path_count)
{
    if (index < 0 || index >= size)
        return false;

    struct climb climb = {index, size - 1};
    struct tlog_hash hash = *leaf;
    for (size_t i = 0; i < path_count; i++) {
        if (climb.last == 0)
            return false;
        hash = from_left(&climb) ? tlog_node(&path[i], &hash) : tlog_node(&hash, &path[i]);
        step(&climb);
    }
    return climb.last == 0 && tlog_same(&hash, root);
}

static bool climbs_to_both(struct climb climb, const struct tlog_hash *root1,
                           const struct tlog_hash *root2, const struct tlog_hash *path,
                           size_t path_count)
{
    struct tlog_hash first = path[0], second = path[0];
    for (size_t i = 1; i < path_count; i++) {
        if (climb.last == 0)
            return false;
        if (from_left(&climb)) {
            first = tlog_node(&path[i], &first);
            second = tlog_node(&path[i], &second);
        } else {
            second = tlog_node(&second, &path[i]);
        }
        step(&climb);
    }
    return climb.last == 0 && tlog_same(&first, root1) && tlog_same(&second, root2);
}

bool tlog_consistent(int64_t size1, int64_t size2, const struct tlog_hash *root1,
                     const struct tlog_hash *root2, const struct tlog_hash *path, size_t path_count)
{
    if (size1 <= 0 || size1 > size2)
        return false;
    if (size1 == size2)
        return path_count == 0 && tlog_same(root1, root2);
    if (path_count == 0 || path_count > TLOG_PROOF_MAX)
        return false;

    /* A full first tree is a node of the second one, and the proof leaves it out. */
    struct tlog_hash whole[TLOG_PROOF_MAX + 1];
    bool is_full = (size1 & (size1 - 1)) == 0;
    whole[0] = *root1;
    memcpy(whole + is_full, path, path_count * sizeof *path);

    struct climb climb = {size1 - 1, size2 - 1};
    while (climb.node & 1)
        step(&climb);
    return climbs_to_both(climb, root1, root2, whole, path_count + is_full);
}

void tlog_append(struct tlog_frontier *frontier, const struct tlog_hash *leaf)
{
    struct tlog_hash hash = *leaf;
    for (int64_t rest = frontier->size; rest & 1; rest >>= 1)
        hash = tlog_node(&frontier->hashes[--frontier->count], &hash);
    assert(frontier->count < TLOG_PROOF_MAX);
    frontier->hashes[frontier->count++] = hash;
    frontier->size++;
}

struct tlog_hash tlog_frontier_root(const struct tlog_frontier *frontier)
{
    if (frontier->count == 0)
        return tlog_empty();
    struct tlog_hash hash = frontier->hashes[frontier->count - 1];
    for (size_t i = frontier->count - 1; i-- > 0;)
        hash = tlog_node(&frontier->hashes[i], &hash);
    return hash;
}

bool tlog_frontier_read(int64_t size, const void *hashes, size_t bytes_size,
                        struct tlog_frontier *ret_frontier)
{
    size_t count = (size_t)__builtin_popcountll((unsigned long long)size);
    if (size < 0 || bytes_size != count * TLOG_HASH_SIZE)
        return false;
    *ret_frontier = (struct tlog_frontier){.size = size, .count = count};
    if (count)
        memcpy(ret_frontier->hashes, hashes, bytes_size);
    return true;
}
