/* ledger_tiles: the tree as files below log_dir, written once, and proofs out of them. */
#include "controlplane/service/ledger_internal.h"

#include "base/core/file.h"
#include "controlplane/service/ledger_sql.h"

#include <string.h>

#define FOLDER_MODE 0755
#define FILE_MODE   0644
#define BUNDLE_MAX  ((size_t)TLOG_TILE_WIDTH * (2 + TLOG_ENTRY_MAX))

struct leaf {
    int64_t seq;
    struct cr_bytes leaf_hash, entry;
};
static const struct cr_member leaf_members[] = {
    CR_MEMBER(struct leaf, seq, 0, 0),
    CR_BYTES(struct leaf, leaf_hash, 0, 32),
    CR_BYTES(struct leaf, entry, 0, TLOG_ENTRY_MAX),
};
static const struct cr_shape leaf_shape = CR_SHAPE(struct leaf, leaf_members);

static const char *file_of(struct cr_call *call, const struct service_config *config,
                           const struct tlog_tile *tile)
{
    char path[TLOG_PATH_SIZE];
    tlog_tile_path(tile, path);
    return cr_format(call, "%s/%s", config->log_dir, path);
}

static enum cr_status write_file(struct cr_call *call, const struct service_config *config,
                                 const struct tlog_tile *tile, const void *bytes, size_t size)
{
    const char *path = file_of(call, config, tile);
    const char *folder = cr_copy(call, path, (size_t)(strrchr(path, '/') - path));
    CR_TRY(cr_file_make_folder(call, folder, FOLDER_MODE));
    return cr_file_replace(call, path, bytes, size, FILE_MODE);
}

static enum cr_status read_tile(struct cr_call *call, void *context, const struct tlog_tile *tile,
                                struct tlog_hash ret_hashes[TLOG_TILE_WIDTH])
{
    const struct service_config *config = context;
    struct cr_bytes bytes;
    size_t size = (size_t)tile->width * TLOG_HASH_SIZE;
    CR_TRY(cr_file_read(call, file_of(call, config, tile), size, &bytes));
    if (bytes.size != size)
        return cr_fail(call, CR_INTERNAL, "%s is %zu bytes long, not %zu",
                       file_of(call, config, tile), bytes.size, size);
    memcpy(ret_hashes, bytes.data, size);
    return CR_OK;
}

/* A level's hashes from first, where a tile begins, to the end of the tree. */
struct row {
    int64_t first, count; /* count: up to where, as a number in the level */
    struct tlog_hash *hashes;
};

/* Writes each tile of the level that has changed since before. */
static enum cr_status write_row(struct cr_call *call, const struct service_config *config,
                                int level, const struct row *row)
{
    for (int64_t at = row->first; at < row->count; at += TLOG_TILE_WIDTH) {
        struct tlog_tile tile = {.level = level, .index = at / TLOG_TILE_WIDTH};
        int64_t left = row->count - at;
        tile.width = left < TLOG_TILE_WIDTH ? (int)left : TLOG_TILE_WIDTH;
        CR_TRY(write_file(call, config, &tile, row->hashes + (at - row->first),
                          (size_t)tile.width * TLOG_HASH_SIZE));
    }
    return CR_OK;
}

/* The level above: what it had, out of its last tile, and the roots of tiles that have filled. */
static enum cr_status climb(struct cr_call *call, const struct service_config *config, int level,
                            int64_t before, int64_t size, const struct row *below,
                            struct row *ret_row)
{
    int64_t had = tlog_level_count(before, level), count = tlog_level_count(size, level);
    struct row row = {.first = had / TLOG_TILE_WIDTH * TLOG_TILE_WIDTH, .count = count};
    row.hashes = cr_new(call, struct tlog_hash, (size_t)(count - row.first) + TLOG_TILE_WIDTH);
    if (had > row.first) {
        struct tlog_tile tile = tlog_tile_of(before, level, had - 1);
        CR_TRY(read_tile(call, (void *)(uintptr_t)config, &tile, row.hashes));
    }
    for (int64_t i = had; i < count; i++)
        row.hashes[i - row.first] =
            tlog_tile_root(below->hashes + (i * TLOG_TILE_WIDTH - below->first));
    *ret_row = row;
    return CR_OK;
}

/* Bundles: each entry behind its length. */
static enum cr_status write_bundles(struct cr_call *call, const struct service_config *config,
                                    const struct leaf *leaves, size_t count)
{
    for (size_t at = 0; at < count; at += TLOG_TILE_WIDTH) {
        size_t width = count - at < TLOG_TILE_WIDTH ? count - at : TLOG_TILE_WIDTH;
        struct cr_text bundle = cr_text_open(call);
        for (size_t i = at; i < at + width; i++) {
            size_t size = leaves[i].entry.size;
            unsigned char length[2] = {(unsigned char)(size >> 8), (unsigned char)size};
            cr_text_add_bytes(&bundle, length, sizeof length);
            cr_text_add_bytes(&bundle, leaves[i].entry.data, size);
        }
        struct tlog_tile tile = {.level = TLOG_LEVEL_ENTRIES,
                                 .index = leaves[at].seq / TLOG_TILE_WIDTH,
                                 .width = (int)width};
        CR_TRY(write_file(call, config, &tile, bundle.data, bundle.length));
    }
    return CR_OK;
}

enum cr_status ledger_tiles_write(struct cr_call *call, struct db *db,
                                  const struct service_config *config, int64_t before, int64_t size)
{
    struct cr_list list;
    struct row row = {.first = before / TLOG_TILE_WIDTH * TLOG_TILE_WIDTH, .count = size};
    CR_TRY(db_list(call, db, &ledger_publish_leaves, DB_VALUES(db_int(row.first), db_int(size)),
                   &leaf_shape, &list));
    const struct leaf *leaves = list.items;
    if ((int64_t)list.count != size - row.first)
        return cr_fail(call, CR_INTERNAL, "the log has %zu leaves from %lld to %lld", list.count,
                       (long long)row.first, (long long)size);
    row.hashes = cr_new(call, struct tlog_hash, list.count + 1);
    for (size_t i = 0; i < list.count; i++)
        memcpy(row.hashes[i].bytes, leaves[i].leaf_hash.data, TLOG_HASH_SIZE);

    CR_TRY(write_bundles(call, config, leaves, list.count));
    CR_TRY(write_row(call, config, 0, &row));
    for (int level = 1; tlog_level_count(size, level) > tlog_level_count(before, level); level++) {
        struct row above;
        CR_TRY(climb(call, config, level, before, size, &row, &above));
        CR_TRY(write_row(call, config, level, &above));
        row = above;
    }
    return CR_OK;
}

struct numbered {
    int64_t seq;
};
static const struct cr_member numbered_members[] = {CR_MEMBER(struct numbered, seq, 0, 0)};
static const struct cr_shape numbered_shape = CR_SHAPE(struct numbered, numbered_members);

enum cr_status ledger_proof_of(struct cr_call *call, struct db *db,
                               const struct service_config *config, int64_t leaf,
                               int64_t *ret_index, const char **ret_proof)
{
    struct numbered at;
    struct ledger_tree checkpoint;
    bool found = false;
    CR_TRY(
        db_one(call, db, &ledger_leaf_at, DB_VALUES(db_int(leaf)), &numbered_shape, &at, &found));
    if (found)
        CR_TRY(db_one(call, db, &ledger_checkpoint_covering, DB_VALUES(db_int(at.seq)),
                      &ledger_tree_shape, &checkpoint, &found));
    if (!found)
        return cr_fail_as(call, &cr_code_unavailable,
                          "no checkpoint of the log covers it yet: ask again in two seconds");

    const struct tlog_tiles tiles = {read_tile, (void *)(uintptr_t)config};
    struct tlog_hash path[TLOG_PROOF_MAX];
    size_t count = 0;
    CR_TRY(tlog_tiles_path(call, &tiles, at.seq, checkpoint.size, path, &count));
    *ret_index = at.seq;
    *ret_proof = tlog_proof_write(call, at.seq, path, count,
                                  cr_copy(call, checkpoint.note.data, checkpoint.note.size));
    return CR_OK;
}

enum cr_status ledger_log_file(struct cr_call *call, const struct service_config *config,
                               const char *path, struct cr_bytes *ret_bytes)
{
    struct tlog_tile tile;
    bool is_checkpoint = strcmp(path, "checkpoint") == 0;
    if (!is_checkpoint && !tlog_tile_read(path, &tile))
        return cr_fail_as(call, &cr_code_not_found, "there is no such file in the log");
    if (cr_file_read(call, cr_format(call, "%s/%s", config->log_dir, path), BUNDLE_MAX,
                     ret_bytes) == CR_OK)
        return CR_OK;
    if (call->status != CR_NOT_FOUND)
        return call->status;
    cr_forgive(call);
    return cr_fail_as(call, &cr_code_not_found, "there is no such file in the log");
}
