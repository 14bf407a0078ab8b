/* postgres: the operations of the seam by libpq. */
#include "base/db/db_internal.h"
#include "base/db/wire.h"

#include "base/core/time.h"

#include <stdlib.h>
#include <string.h>

#define BYTEA_OID       17
#define CANCEL_GRACE_NS INT64_C(1000000000) /* for the answer to a cancel */
#define TENANT_SIZE_MAX 64
#define COLUMNS_MAX     128

_Static_assert(WIRE_PREPARED_MAX >= 512, "the statements of cressetd fit in half of the table");

static void result_clear(PGresult **result)
{
    PQclear(*result);
}

static enum cr_status open_(struct cr_call *call, const struct db_config *config,
                            struct db **ret_db)
{
    struct db *db = calloc(1, sizeof *db);
    if (!db)
        abort();
    db->conninfo = strdup(config->conninfo);
    db->application = strdup(config->application);
    if (!db->conninfo || !db->application)
        abort();

    enum cr_status status = wire_connect(call, db);
    if (status != CR_OK) {
        db_postgres.close(db);
        return status;
    }
    *ret_db = db;
    return CR_OK;
}

static void close_(struct db *db)
{
    wire_drop(db);
    free(db->conninfo);
    free(db->application);
    free(db);
}

/*
 * The answer to what was sent, which is no COMMIT. Where it does not come in time it is cancelled;
 * a connection that then still says nothing is closed.
 */
static enum cr_status answer(struct cr_call *call, struct db *db, PGresult **ret_result)
{
    enum wire_end end = wire_wait(call, db, call->deadline_ns, ret_result);
    if (end == WIRE_LATE) {
        wire_cancel(db);
        end = wire_wait(call, db, cr_now_ns(call) + CANCEL_GRACE_NS, ret_result);
        if (end == WIRE_LATE) {
            wire_drop(db);
            return cr_fail(call, CR_TIMEOUT, "the database did not answer in time");
        }
    }
    if (end == WIRE_LOST) {
        enum cr_status status = cr_fail(call, CR_UNAVAILABLE, "the database connection broke: %s",
                                        PQerrorMessage(db->conn));
        wire_drop(db);
        return status;
    }
    ExecStatusType status = PQresultStatus(*ret_result);
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)
        return CR_OK;
    enum cr_status failed = wire_fail(call, db, *ret_result);
    PQclear(*ret_result);
    *ret_result = NULL;
    return failed;
}

static void forget_error(struct db *db)
{
    db->sqlstate[0] = '\0';
    db->constraint[0] = '\0';
}

static enum cr_status script(struct cr_call *call, struct db *db, const char *sql)
{
    forget_error(db);
    if (db->conn && !db->in_transaction && wire_is_dead(db))
        wire_drop(db);
    CR_TRY(wire_connect(call, db));
    CR_SCOPED(result_clear) PGresult *result = NULL;
    if (!PQsendQuery(db->conn, sql))
        return cr_fail(call, CR_UNAVAILABLE, "the database connection broke: %s",
                       PQerrorMessage(db->conn));
    return answer(call, db, &result);
}

/* A tenant goes into the text of BEGIN, so it is held to the letters of ids. */
static bool is_tenant(const char *tenant)
{
    size_t length =
        strspn(tenant, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    return length >= 1 && length <= TENANT_SIZE_MAX && tenant[length] == '\0';
}

static void rollback(struct cr_call *call, struct db *db)
{
    db->in_transaction = false;
    if (!db->conn)
        return;
    PGTransactionStatusType state = PQtransactionStatus(db->conn);
    if (state == PQTRANS_IDLE)
        return;

    PGresult *result = NULL;
    bool sent =
        (state == PQTRANS_INTRANS || state == PQTRANS_INERROR) && PQsendQuery(db->conn, "ROLLBACK");
    if (!sent || wire_wait(call, db, cr_now_ns(call) + CANCEL_GRACE_NS, &result) != WIRE_ANSWERED ||
        PQtransactionStatus(db->conn) != PQTRANS_IDLE)
        wire_drop(db);
    PQclear(result);
}

static enum cr_status begin(struct cr_call *call, struct db *db, const char *tenant, unsigned flags)
{
    if (tenant && !is_tenant(tenant))
        return cr_fail(call, CR_INTERNAL, "'%s' is no tenant id", tenant);
    rollback(call, db);

    const char *sql =
        cr_format(call, "BEGIN ISOLATION LEVEL %s;%s%s%s%s%s",
                  flags & DB_SNAPSHOT ? "REPEATABLE READ READ ONLY" : "READ COMMITTED",
                  flags & DB_LOCAL ? "SET LOCAL synchronous_commit = local;" : "",
                  flags & DB_PLANNED ? "SET LOCAL plan_cache_mode = force_custom_plan;" : "",
                  tenant ? "SELECT set_config('cresset.tenant','" : "", tenant ? tenant : "",
                  tenant ? "',true)" : "");
    enum cr_status status = script(call, db, sql);
    if (status == CR_UNAVAILABLE && !cr_expired(call)) { /* nothing was done: once more, afresh */
        cr_forgive(call);
        wire_drop(db);
        status = script(call, db, sql);
    }
    if (status == CR_OK)
        db->in_transaction = true;
    return status;
}

static enum cr_status unknown(struct cr_call *call, struct db *db, const char *why)
{
    wire_drop(db);
    db->in_transaction = false;
    return cr_fail(call, CR_UNKNOWN, "the commit was sent and its end is not known: %s", why);
}

/* SQLSTATEs of a COMMIT that may have been done all the same (db.1). */
static bool end_is_open(const char *sqlstate)
{
    static const char *const states[] = {"40003", "08007", "08006", "08003",
                                         "57P01", "57P02", "57P03"};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        if (strcmp(sqlstate, states[i]) == 0)
            return true;
    return false;
}

static enum cr_status commit(struct cr_call *call, struct db *db)
{
    forget_error(db);
    if (!db->conn || !db->in_transaction)
        return cr_fail(call, CR_UNAVAILABLE, "the database connection broke in the transaction");
    if (PQtransactionStatus(db->conn) == PQTRANS_INERROR) {
        rollback(call, db);
        return cr_fail(call, CR_INTERNAL, "the transaction had failed before its commit");
    }
    db->warned = false;
    if (!PQsendQuery(db->conn, "COMMIT"))
        return unknown(call, db, "the connection broke");

    CR_SCOPED(result_clear) PGresult *result = NULL;
    enum wire_end end = wire_wait(call, db, cr_now_ns(call) + DB_COMMIT_DEADLINE_NS, &result);
    if (end == WIRE_LATE) {
        wire_cancel(db);
        end = wire_wait(call, db, cr_now_ns(call) + CANCEL_GRACE_NS, &result);
    }
    if (end != WIRE_ANSWERED)
        return unknown(call, db, end == WIRE_LATE ? "no answer in time" : "the connection broke");

    db->in_transaction = false;
    if (PQresultStatus(result) != PGRES_COMMAND_OK) {
        enum cr_status status = wire_fail(call, db, result);
        if (!end_is_open(db->sqlstate))
            return status;
        cr_forgive(call);
        return unknown(call, db, "the server went away");
    }
    if (db->warned)
        return unknown(call, db, "the wait for the standby was cut");
    return CR_OK;
}

/* Statements ------------------------------------------------------------------------------------
 */

/* The header of an .sql file is a table of its own in each file that includes it: the name counts.
 */
static size_t place_of(const struct db *db, const struct db_statement *statement)
{
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
    for (const char *at = statement->name; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 0x100000001b3;
    size_t place = hash % WIRE_PREPARED_MAX;
    while (db->prepared[place] && db->prepared[place] != statement &&
           strcmp(db->prepared[place]->name, statement->name) != 0)
        place = (place + 1) % WIRE_PREPARED_MAX;
    return place;
}

static enum cr_status prepare(struct cr_call *call, struct db *db,
                              const struct db_statement *statement)
{
    size_t place = place_of(db, statement);
    if (db->prepared[place])
        return CR_OK;
    if (db->prepared_count >= WIRE_PREPARED_MAX / 2)
        return cr_fail(call, CR_INTERNAL, "more than %d statements", WIRE_PREPARED_MAX / 2);

    CR_SCOPED(result_clear) PGresult *result = NULL;
    if (!PQsendPrepare(db->conn, statement->name, statement->sql, 0, NULL))
        return cr_fail(call, CR_UNAVAILABLE, "the database connection broke: %s",
                       PQerrorMessage(db->conn));
    CR_TRY(answer(call, db, &result));
    db->prepared[place] = statement;
    db->prepared_count++;
    return CR_OK;
}

static int hex(char letter)
{
    return letter <= '9' ? letter - '0' : letter - 'a' + 10;
}

static struct db_cell cell_of(struct cr_call *call, const PGresult *result, int row, int column)
{
    if (PQgetisnull(result, row, column))
        return (struct db_cell){0};
    const char *text = PQgetvalue(result, row, column);
    size_t length = (size_t)PQgetlength(result, row, column);
    if (PQftype(result, column) != BYTEA_OID)
        return (struct db_cell){cr_copy(call, text, length), length};

    size_t size = (length - 2) / 2; /* "\x", then two letters a byte */
    char *bytes = cr_new(call, char, size + 1);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(hex(text[2 + 2 * i]) << 4 | hex(text[3 + 2 * i]));
    return (struct db_cell){bytes, size};
}

static enum cr_status rows_of(struct cr_call *call, PGresult *result, struct db_rows *ret_rows)
{
    int rows = PQntuples(result), columns = PQnfields(result);
    if (rows > DB_ROWS_MAX || columns > COLUMNS_MAX)
        return cr_fail(call, CR_INTERNAL, "%d rows of %d columns are too many", rows, columns);

    const char **names = cr_new(call, const char *, (size_t)columns);
    for (int i = 0; i < columns; i++)
        names[i] = cr_format(call, "%s", PQfname(result, i));
    struct db_cell *cells = cr_new(call, struct db_cell, (size_t)rows * (size_t)columns);
    for (int row = 0; row < rows; row++)
        for (int i = 0; i < columns; i++)
            cells[(size_t)row * (size_t)columns + (size_t)i] = cell_of(call, result, row, i);

    const char *affected = PQcmdTuples(result);
    *ret_rows = (struct db_rows){
        .row_count = (size_t)rows,
        .column_count = (size_t)columns,
        .names = names,
        .cells = cells,
        .affected = *affected ? strtoll(affected, NULL, 10) : 0,
    };
    return CR_OK;
}

/* The values as libpq takes them: text, but for bytes, which go as they are. */
struct sent {
    const char *values[DB_VALUES_MAX];
    int lengths[DB_VALUES_MAX], formats[DB_VALUES_MAX];
};

static void sent_of(struct cr_call *call, const struct db_value *values, size_t count,
                    struct sent *ret_sent)
{
    for (size_t i = 0; i < count; i++) {
        bool bytes = values[i].kind == DB_BYTES;
        ret_sent->values[i] = bytes ? values[i].data : db_value_text(call, &values[i]);
        ret_sent->lengths[i] = bytes ? (int)values[i].count : 0;
        ret_sent->formats[i] = bytes;
    }
}

static enum cr_status run(struct cr_call *call, struct db *db, const struct db_statement *statement,
                          const struct db_value *values, size_t count, struct db_rows *ret_rows)
{
    forget_error(db);
    if (db->in_transaction && !db->conn)
        return cr_fail(call, CR_UNAVAILABLE, "the database connection broke in the transaction");
    if (db->conn && !db->in_transaction && wire_is_dead(db))
        wire_drop(db);
    CR_TRY(wire_connect(call, db));
    CR_TRY(prepare(call, db, statement));

    struct sent sent;
    sent_of(call, values, count, &sent);
    CR_SCOPED(result_clear) PGresult *result = NULL;
    if (!PQsendQueryPrepared(db->conn, statement->name, (int)count, sent.values, sent.lengths,
                             sent.formats, 0))
        return cr_fail(call, CR_UNAVAILABLE, "%s was not sent: %s", statement->name,
                       PQerrorMessage(db->conn));
    CR_TRY(answer(call, db, &result));
    return rows_of(call, result, ret_rows);
}

static const char *sqlstate(const struct db *db)
{
    return db->sqlstate;
}

static const char *constraint(const struct db *db)
{
    return db->constraint;
}

static enum cr_status prepare_one(struct cr_call *call, struct db *db,
                                  const struct db_statement *statement)
{
    forget_error(db);
    CR_TRY(wire_connect(call, db));
    return prepare(call, db, statement);
}

const struct db_ops db_postgres = {
    .open = open_,
    .close = close_,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .prepare = prepare_one,
    .run = run,
    .script = script,
    .sqlstate = sqlstate,
    .constraint = constraint,
};
