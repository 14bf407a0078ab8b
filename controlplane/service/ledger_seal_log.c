/* ledger_seal_log: leaves get their numbers, and the tree its root. */
#include "controlplane/service/ledger_internal.h"

#include "controlplane/service/ledger_sql.h"

#include <string.h>

static const struct cr_member tree_members[] = {
    CR_MEMBER(struct ledger_tree, size, 0, 0),
    CR_BYTES(struct ledger_tree, root, 0, 32),
    CR_BYTES(struct ledger_tree, frontier, 0, INT32_MAX),
    CR_BYTES(struct ledger_tree, note, 0, INT32_MAX),
};
const struct cr_shape ledger_tree_shape = CR_SHAPE(struct ledger_tree, tree_members);

struct queued {
    int64_t leaf;
    struct cr_bytes entry;
};
static const struct cr_member queued_members[] = {
    CR_MEMBER(struct queued, leaf, 0, 0),
    CR_BYTES(struct queued, entry, 0, TLOG_ENTRY_MAX),
};
static const struct cr_shape queued_shape = CR_SHAPE(struct queued, queued_members);

struct held {
    int64_t epoch;
};
static const struct cr_member held_members[] = {CR_MEMBER(struct held, epoch, 0, 0)};
static const struct cr_shape held_shape = CR_SHAPE(struct held, held_members);

enum cr_status ledger_hold(struct cr_call *call, struct db *db, const struct service_config *config,
                           int64_t epoch)
{
    struct held held;
    bool found = false;
    CR_TRY(db_one(call, db, &ledger_engine_hold, DB_VALUES(db_text(config->region), db_int(epoch)),
                  &held_shape, &held, &found));
    return found ? CR_OK
                 : cr_fail(call, CR_CONFLICT, "engine epoch %lld of %s is over", (long long)epoch,
                           config->region);
}

enum cr_status ledger_frontier(struct cr_call *call, const struct ledger_tree *tree,
                               struct tlog_frontier *ret_frontier)
{
    if (!tlog_frontier_read(tree->size, tree->frontier.data, tree->frontier.size, ret_frontier))
        return cr_fail(call, CR_INTERNAL, "the frontier of size %lld has %zu bytes",
                       (long long)tree->size, tree->frontier.size);
    return CR_OK;
}

struct sealing {
    const struct service_config *config;
    int64_t epoch, count;
};

static enum cr_status number(struct cr_call *call, struct db *db, struct tlog_frontier *frontier,
                             const struct cr_list *list)
{
    const struct queued *queued = list->items;
    int64_t *leaves = cr_new(call, int64_t, list->count), first = frontier->size;
    struct tlog_hash *hashes = cr_new(call, struct tlog_hash, list->count);
    struct cr_bytes *bytes = cr_new(call, struct cr_bytes, list->count);
    for (size_t i = 0; i < list->count; i++) {
        leaves[i] = queued[i].leaf;
        hashes[i] = tlog_leaf(queued[i].entry.data, queued[i].entry.size);
        bytes[i] = (struct cr_bytes){hashes[i].bytes, TLOG_HASH_SIZE};
        tlog_append(frontier, &hashes[i]);
    }
    CR_TRY(db_exec(
        call, db, &ledger_seal_number,
        DB_VALUES(db_int(first), db_ints(leaves, list->count), db_byteses(bytes, list->count)),
        NULL));
    return db_exec(call, db, &ledger_seal_totals, DB_VALUES(db_ints(leaves, list->count)), NULL);
}

static enum cr_status seal(struct cr_call *call, struct db *db, void *context)
{
    struct sealing *it = context;
    struct ledger_tree tree;
    struct tlog_frontier *frontier = cr_new(call, struct tlog_frontier, 1);
    struct cr_list list;
    bool found = false;
    it->count = 0;
    CR_TRY(ledger_hold(call, db, it->config, it->epoch));
    struct tlog_hash empty = tlog_empty();
    CR_TRY(db_exec(call, db, &ledger_log_begin,
                   DB_VALUES(db_text(it->config->region), db_bytes(empty.bytes, TLOG_HASH_SIZE)),
                   NULL));
    CR_TRY(db_one(call, db, &ledger_log_lock, DB_VALUES(db_text(it->config->region)),
                  &ledger_tree_shape, &tree, &found));
    CR_TRY(ledger_frontier(call, &tree, frontier));
    CR_TRY(db_list(call, db, &ledger_seal_take, DB_VALUES(db_int(LEDGER_SEAL_MAX)), &queued_shape,
                   &list));
    if (list.count == 0)
        return CR_OK;

    CR_TRY(number(call, db, frontier, &list));
    struct tlog_hash root = tlog_frontier_root(frontier);
    it->count = (int64_t)list.count;
    return db_exec_fenced(call, db, &ledger_seal_state,
                          DB_VALUES(db_text(it->config->region), db_int(tree.size),
                                    db_int(frontier->size), db_bytes(root.bytes, TLOG_HASH_SIZE),
                                    db_bytes(frontier->hashes, frontier->count * TLOG_HASH_SIZE),
                                    db_int(it->epoch)),
                          "the log was sealed by another");
}

enum cr_status ledger_seal_log(struct cr_call *call, struct service *service, int64_t epoch,
                               int64_t *ret_count)
{
    struct sealing it = {.config = service->config, .epoch = epoch};
    struct queued waiting;
    bool found = false;
    *ret_count = 0;
    /* An idle region is not written to four times a second. */
    CR_TRY(db_one(call, service->engine_db, &ledger_seal_waiting, DB_NONE, &queued_shape, &waiting,
                  &found));
    if (!found)
        return CR_OK;
    CR_TRY(db_transaction(call, service->engine_db, NULL, 0, seal, &it));
    *ret_count = it.count;
    return CR_OK;
}
