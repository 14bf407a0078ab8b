/*
 * ledger_publish: a checkpoint: tiles first, then the signature beside the database, then its row,
 * and only then the file that the world reads.
 */
#include "controlplane/service/ledger_internal.h"

#include "base/core/file.h"
#include "base/core/time.h"
#include "controlplane/service/ledger_sql.h"
#include "controlplane/service/secrets.h"

#include <string.h>

#define FILE_MODE   0644
#define SIGNED_MODE 0600
#define FOLDER_MODE 0755

/* What this log has signed, or shown to the world, as far as a file tells. */
struct shown {
    bool is_there;
    struct tlog_checkpoint checkpoint;
};

/* The signer's memory: the highest note, outside the database and outside what is served. */
static const char *signed_file(struct cr_call *call, const struct service_config *config)
{
    return cr_format(call, "%s.signed", config->log_dir);
}

static const char *checkpoint_file(struct cr_call *call, const struct service_config *config)
{
    return cr_format(call, "%s/checkpoint", config->log_dir);
}

/* Reads a note of ours. One that is damaged is as bad as one that says something else. */
static enum cr_status read_shown(struct cr_call *call, const struct service_config *config,
                                 const char *path, struct shown *ret_shown)
{
    struct cr_bytes bytes;
    struct tlog_vkey vkey = ledger_log_vkey(call, config);
    struct tlog_note *note = cr_new(call, struct tlog_note, 1);
    *ret_shown = (struct shown){.is_there = false};
    if (cr_file_read(call, path, TLOG_NOTE_MAX, &bytes) != CR_OK) {
        if (call->status != CR_NOT_FOUND)
            return call->status;
        cr_forgive(call);
        return CR_OK;
    }
    if (!tlog_note_read(call, (const char *)bytes.data, bytes.size, note) ||
        tlog_note_verify(call, note, &vkey, NULL) != TLOG_GOOD ||
        !tlog_checkpoint_read(call, note->text, note->text_length, &ret_shown->checkpoint))
        return cr_fail(call, CR_CONFLICT, "%s is not a checkpoint of this log", path);
    ret_shown->is_there = true;
    return CR_OK;
}

/* The tree at a size: the last checkpoint's, and the leaves since. */
static enum cr_status grow(struct cr_call *call, struct db *db, const struct ledger_tree *last,
                           int64_t size, struct tlog_frontier *ret_frontier)
{
    struct db_rows rows;
    CR_TRY(ledger_frontier(call, last, ret_frontier));
    CR_TRY(db_rows(call, db, &ledger_publish_hashes, DB_VALUES(db_int(last->size), db_int(size)),
                   &rows));
    for (size_t i = 0; i < rows.row_count; i++) {
        struct tlog_hash hash;
        if (rows.cells[i].length != TLOG_HASH_SIZE)
            return cr_fail(call, CR_INTERNAL, "a leaf's hash is not 32 bytes");
        memcpy(hash.bytes, rows.cells[i].text, TLOG_HASH_SIZE);
        tlog_append(ret_frontier, &hash);
    }
    return ret_frontier->size == size ? CR_OK
                                      : cr_fail(call, CR_INTERNAL, "the log has no leaf %lld",
                                                (long long)ret_frontier->size);
}

/* The root that the tables give a size: of a checkpoint's row, or of the leaves behind the last. */
static enum cr_status root_at(struct cr_call *call, struct db *db, const struct ledger_tree *last,
                              int64_t size, struct tlog_hash *ret_root)
{
    struct ledger_tree row;
    struct tlog_frontier *frontier = cr_new(call, struct tlog_frontier, 1);
    bool found = false;
    if (size > last->size) {
        CR_TRY(grow(call, db, last, size, frontier));
        *ret_root = tlog_frontier_root(frontier);
        return CR_OK;
    }
    CR_TRY(db_one(call, db, &ledger_checkpoint_at, DB_VALUES(db_int(size)), &ledger_tree_shape,
                  &row, &found));
    if (!found)
        return cr_fail(call, CR_CONFLICT, "the log was signed at size %lld, which has no row",
                       (long long)size);
    memcpy(ret_root->bytes, row.root.data, TLOG_HASH_SIZE);
    return CR_OK;
}

/*
 * The guard (db.14): what was signed before must be a tree that the tables still hold. A database
 * that was restored to an earlier point is older, a forked one has another root.
 */
static enum cr_status guard(struct cr_call *call, struct db *db,
                            const struct service_config *config, const struct ledger_tree *state,
                            const struct ledger_tree *last, const char *path)
{
    struct shown shown;
    struct tlog_hash root;
    CR_TRY(read_shown(call, config, path, &shown));
    if (!shown.is_there)
        return CR_OK;
    if (shown.checkpoint.size > state->size)
        return cr_fail(call, CR_CONFLICT,
                       "the log was signed at size %lld, and the tables hold %lld",
                       (long long)shown.checkpoint.size, (long long)state->size);
    CR_TRY(root_at(call, db, last, shown.checkpoint.size, &root));
    if (!tlog_same(&root, &shown.checkpoint.root))
        return cr_fail(call, CR_CONFLICT, "the log was signed at size %lld with another root",
                       (long long)shown.checkpoint.size);
    return CR_OK;
}

struct publishing {
    const struct service_config *config;
    int64_t epoch;
    const struct tlog_frontier *frontier;
    struct tlog_hash root;
    const char *note;
};

static enum cr_status commit(struct cr_call *call, struct db *db, void *context)
{
    const struct publishing *it = context;
    CR_TRY(ledger_hold(call, db, it->config, it->epoch));
    return db_exec(call, db, &ledger_checkpoint_insert,
                   DB_VALUES(db_int(it->frontier->size), db_bytes(it->root.bytes, TLOG_HASH_SIZE),
                             db_bytes(it->frontier->hashes, it->frontier->count * TLOG_HASH_SIZE),
                             db_bytes(it->note, strlen(it->note))),
                   NULL);
}

static enum cr_status sign(struct cr_call *call, struct service *service, struct publishing *it)
{
    const struct service_config *config = it->config;
    const char *origin = cr_format(call, "%s/log", config->domain);
    it->root = tlog_frontier_root(it->frontier);
    it->note =
        tlog_note_sign(call, tlog_checkpoint_write(call, origin, it->frontier->size, &it->root),
                       origin, config->secrets->log);
    CR_TRY(
        cr_file_replace(call, signed_file(call, config), it->note, strlen(it->note), SIGNED_MODE));
    return db_transaction(call, service->engine_db, NULL, 0, commit, it);
}

/* Shows the newest row to the world; it was committed, now or before a crash. */
static enum cr_status show(struct cr_call *call, const struct service_config *config,
                           struct cr_bytes note)
{
    return cr_file_replace(call, checkpoint_file(call, config), note.data, note.size, FILE_MODE);
}

static enum cr_status show_if_behind(struct cr_call *call, const struct service_config *config,
                                     const struct ledger_tree *last)
{
    struct shown shown;
    CR_TRY(read_shown(call, config, checkpoint_file(call, config), &shown));
    if (!last->note.size || (shown.is_there && shown.checkpoint.size >= last->size))
        return CR_OK;
    return show(call, config, last->note);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

enum cr_status ledger_publish(struct cr_call *call, struct service *service, int64_t epoch,
                              int64_t *ret_size)
{
    const struct service_config *config = service->config;
    struct db *db = service->engine_db;
    struct ledger_tree state, last = {.size = 0};
    bool found = false, has_last = false;
    CR_TRY(db_one(call, db, &ledger_log_state, DB_VALUES(db_text(config->region)),
                  &ledger_tree_shape, &state, &found));
    if (!found || state.size == 0)
        return CR_OK;
    CR_TRY(
        db_one(call, db, &ledger_checkpoint_last, DB_NONE, &ledger_tree_shape, &last, &has_last));
    if (!has_last)
        last = (struct ledger_tree){.size = 0};
    *ret_size = last.size;
    CR_TRY(cr_file_make_folder(call, config->log_dir, FOLDER_MODE));
    CR_TRY(guard(call, db, config, &state, &last, signed_file(call, config)));
    CR_TRY(guard(call, db, config, &state, &last, checkpoint_file(call, config)));
    if (last.size == state.size)
        return show_if_behind(call, config, &last);

    struct tlog_frontier *frontier = cr_new(call, struct tlog_frontier, 1);
    int64_t size = least(state.size, last.size + LEDGER_PUBLISH_MAX);
    CR_TRY(grow(call, db, &last, size, frontier));
    CR_TRY(ledger_tiles_write(call, db, config, last.size, size));
    struct publishing it = {.config = config, .epoch = epoch, .frontier = frontier};
    CR_TRY(sign(call, service, &it));
    *ret_size = size;
    return show(call, config, (struct cr_bytes){(const unsigned char *)it.note, strlen(it.note)});
}
