/* db: what is built upon the seam, and the same over every implementation of it. */
#include "base/db/db_internal.h"

#include "base/core/time.h"

#include <assert.h>
#include <string.h>

#define RETRY_FIRST_NS INT64_C(10000000)   /* then doubled */
#define RETRY_MOST_NS  INT64_C(1000000000) /* a database that restarts is back soon, or not */

enum cr_status db_open(struct cr_call *call, const struct db_config *config, struct db **ret_db)
{
    return call->env->db->open(call, config, ret_db);
}

void db_close(const struct cr_env *env, struct db *db)
{
    if (db)
        env->db->close(db);
}

enum cr_status db_prepare(struct cr_call *call, struct db *db,
                          const struct db_statement *const *statements)
{
    for (; *statements; statements++)
        CR_TRY(call->env->db->prepare(call, db, *statements));
    return CR_OK;
}

enum cr_status db_begin(struct cr_call *call, struct db *db, const char *tenant, unsigned flags)
{
    return call->env->db->begin(call, db, tenant, flags);
}

enum cr_status db_commit(struct cr_call *call, struct db *db)
{
    return call->env->db->commit(call, db);
}

void db_rollback(struct cr_call *call, struct db *db)
{
    call->env->db->rollback(call, db);
}

enum cr_status db_script(struct cr_call *call, struct db *db, const char *sql)
{
    return call->env->db->script(call, db, sql);
}

const char *db_sqlstate(const struct cr_call *call, const struct db *db)
{
    return call->env->db->sqlstate(db);
}

const char *db_constraint(const struct cr_call *call, const struct db *db)
{
    return call->env->db->constraint(db);
}

enum cr_status db_rows(struct cr_call *call, struct db *db, const struct db_statement *statement,
                       const struct db_value *values, size_t count, struct db_rows *ret_rows)
{
    assert(count <= DB_VALUES_MAX);
    return call->env->db->run(call, db, statement, values, count, ret_rows);
}

enum cr_status db_exec(struct cr_call *call, struct db *db, const struct db_statement *statement,
                       const struct db_value *values, size_t count, int64_t *ret_affected)
{
    struct db_rows rows;
    CR_TRY(db_rows(call, db, statement, values, count, &rows));
    if (ret_affected)
        *ret_affected = rows.affected;
    return CR_OK;
}

enum cr_status db_exec_fenced(struct cr_call *call, struct db *db,
                              const struct db_statement *statement, const struct db_value *values,
                              size_t count, const char *sentence)
{
    int64_t affected;
    CR_TRY(db_exec(call, db, statement, values, count, &affected));
    if (affected == 1)
        return CR_OK;
    return cr_fail(call, CR_CONFLICT, "%s", sentence);
}

enum cr_status db_one(struct cr_call *call, struct db *db, const struct db_statement *statement,
                      const struct db_value *values, size_t count, const struct cr_shape *shape,
                      void *ret_value, bool *ret_found)
{
    struct db_rows rows;
    CR_TRY(db_rows(call, db, statement, values, count, &rows));
    if (rows.row_count > 1)
        return cr_fail(call, CR_INTERNAL, "%s gave %zu rows, not one", statement->name,
                       rows.row_count);
    if (rows.row_count == 1)
        CR_TRY(db_fill(call, &rows, 0, shape, ret_value));
    *ret_found = rows.row_count == 1;
    return CR_OK;
}

enum cr_status db_list(struct cr_call *call, struct db *db, const struct db_statement *statement,
                       const struct db_value *values, size_t count, const struct cr_shape *shape,
                       struct cr_list *ret_list)
{
    struct db_rows rows;
    CR_TRY(db_rows(call, db, statement, values, count, &rows));
    char *items = cr_alloc(call, rows.row_count, shape->size);
    for (size_t i = 0; i < rows.row_count; i++)
        CR_TRY(db_fill(call, &rows, i, shape, items + i * shape->size));
    *ret_list = (struct cr_list){items, rows.row_count};
    return CR_OK;
}

/* 40001 and 40P01 alone mean that the same transaction may well succeed (db.10). */
static bool lost_a_race(const char *sqlstate)
{
    return strcmp(sqlstate, "40001") == 0 || strcmp(sqlstate, "40P01") == 0;
}

static void pause_before(struct cr_call *call, int try)
{
    int64_t most = RETRY_FIRST_NS << try;
    if (most > RETRY_MOST_NS)
        most = RETRY_MOST_NS;
    uint64_t random;
    cr_random(call, &random, sizeof random);
    call->env->sleep_until(call->env->context,
                           cr_now_ns(call) + (int64_t)(random % (uint64_t)most));
}

enum cr_status db_transaction(
    struct cr_call *call, struct db *db, const char *tenant, unsigned flags,
    enum cr_status (*work)(struct cr_call *call, struct db *db, void *context), void *context)
{
    bool unknown = false;
    for (int try = 1;; try++) {
        enum cr_status status = db_begin(call, db, tenant, flags);
        if (status == CR_OK)
            status = work(call, db, context);
        if (status == CR_OK)
            status = db_commit(call, db);
        if (status == CR_OK)
            return CR_OK;

        bool raced = lost_a_race(db_sqlstate(call, db));
        db_rollback(call, db);
        unknown = unknown || status == CR_UNKNOWN;
        /* Once a commit's end is unknown, only an answer of the database ends the doubt. */
        bool doubt = unknown && (flags & DB_REPEATABLE) &&
                     (status == CR_UNKNOWN || status == CR_UNAVAILABLE);
        if ((raced || doubt) && try < DB_TRIES_MAX && !cr_expired(call)) {
            cr_forgive(call);
            pause_before(call, try);
            continue;
        }
        if (unknown && (status == CR_UNAVAILABLE || status == CR_TIMEOUT)) {
            cr_forgive(call);
            return cr_fail(call, CR_UNKNOWN, "the commit was sent and its end is not known");
        }
        return status;
    }
}
