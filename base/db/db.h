/*
 * db: PostgreSQL, by named prepared statements and transactions. The only door to libpq.
 *
 * A statement stands in an .sql file and reaches C as a constant (base/db/statements.awk). It is
 * prepared on a connection the first time that it runs there. Values go in by db_text, db_int and
 * their like, in the order of $1, $2, ...; rows come out as structs of a cr_shape, whose members
 * bear the names of the columns.
 *
 *     static enum cr_status end(struct cr_call *call, struct db *db, void *context)
 *     {
 *         const struct ending *it = context;
 *         return db_exec(call, db, &jobs_end, DB_VALUES(db_text(it->job)), NULL);
 *     }
 *     CR_TRY(db_transaction(call, db, tenant, 0, end, &ending));
 *
 * The commit is the point of truth. A COMMIT that was sent and whose answer was not read, or that
 * came with a WARNING (a cancelled wait for the standby), is CR_UNKNOWN: done or not, and only the
 * same work under the same key tells. Its connection is closed.
 *
 * Units        times are microseconds of UTC in bigint columns; NULL is the absent value of the
 *              member's kind (base/core/shape.h)
 * Ownership    rows and texts belong to the call; a connection to the thread that opened it
 * Threads      a struct db is used by one thread at a time
 * Deadlines    every function that asks the server ends with the call's deadline: it cancels the
 *              statement, and fails with CR_TIMEOUT; a COMMIT has DB_COMMIT_DEADLINE_NS of its own
 * Source       reliability rules db.1 to db.14
 *
 * Fails with
 *
 *     CR_CONFLICT     a unique, check or foreign key said no (db_constraint names it), or the
 *                     transaction must be run again (40001, 40P01: db_transaction does)
 *     CR_DENIED       row-level security or a grant said no (42501)
 *     CR_TIMEOUT      the deadline, statement_timeout, or a cancel
 *     CR_UNAVAILABLE  no connection, or a lock that was not given in time
 *     CR_UNKNOWN      see above
 *     CR_INTERNAL     the statement is wrong, or a column is no member of the shape
 */
#pragma once

#include "base/core/call.h"
#include "base/core/shape.h"

#define DB_COMMIT_DEADLINE_NS   INT64_C(5000000000) /* then a cancel is sent, and the end unknown */
#define DB_STATEMENT_TIMEOUT_MS 10000               /* no transaction lives longer (db.13) */
#define DB_LOCK_TIMEOUT_MS      2000
#define DB_IDLE_TX_MS           5000 /* a paused holder of a lock is cut by the server */
#define DB_CONNECT_TIMEOUT_S    5
#define DB_TRIES_MAX            5 /* runs of one transaction */
#define DB_VALUES_MAX           48
#define DB_ROWS_MAX             100000 /* of one answer; more is a bug of ours */

struct db; /* one connection */

struct db_statement {
    const char *name, *sql; /* name: unique in the program, at most 63 bytes */
};

/* One value for a $n. Arrays may hold no NULL. */
enum db_kind { DB_NULL, DB_INT, DB_BOOL, DB_TEXT, DB_BYTES, DB_INTS, DB_TEXTS, DB_BYTESES };
struct db_value {
    enum db_kind kind;
    int64_t integer;
    const void *data; /* what it points to is read while the statement runs */
    size_t count;
};

/* The values of a statement: DB_VALUES(db_text(tenant), db_int(7)), or DB_NONE. */
#define DB_VALUES(...)                      \
    (const struct db_value[]){__VA_ARGS__}, \
        sizeof((const struct db_value[]){__VA_ARGS__}) / sizeof(struct db_value)
#define DB_NONE NULL, 0

static inline struct db_value db_int(int64_t value) /* CR_NO_INTEGER: NULL */
{
    return (struct db_value){.kind = value == CR_NO_INTEGER ? DB_NULL : DB_INT, .integer = value};
}
static inline struct db_value db_bool(bool value)
{
    return (struct db_value){.kind = DB_BOOL, .integer = value};
}
static inline struct db_value db_text(const char *text) /* NULL: NULL. json, jsonb, numeric too */
{
    return (struct db_value){.kind = text ? DB_TEXT : DB_NULL, .data = text};
}
static inline struct db_value db_bytes(const void *data, size_t size) /* data NULL: NULL */
{
    return (struct db_value){.kind = data ? DB_BYTES : DB_NULL, .data = data, .count = size};
}
static inline struct db_value db_ints(const int64_t *values, size_t count) /* bigint[] */
{
    return (struct db_value){.kind = DB_INTS, .data = values, .count = count};
}
static inline struct db_value db_texts(const char *const *texts, size_t count) /* text[] */
{
    return (struct db_value){.kind = DB_TEXTS, .data = texts, .count = count};
}
static inline struct db_value db_byteses(const struct cr_bytes *values, size_t count) /* bytea[] */
{
    return (struct db_value){.kind = DB_BYTESES, .data = values, .count = count};
}

/* One column of one row: its text, NULL for SQL's NULL; bytea is decoded already. */
struct db_cell {
    const char *text; /* NUL behind */
    size_t length;
};

/* An answer, whole, in the memory of the call. */
struct db_rows {
    size_t row_count, column_count;
    const char *const *names;    /* of the columns */
    const struct db_cell *cells; /* row by row */
    int64_t affected;            /* rows that an INSERT, UPDATE or DELETE wrote */
};

struct db_config {
    const char *conninfo;    /* libpq's, without password: that comes by passfile or peer */
    const char *application; /* application_name, for example "cressetd worker" */
};

/* What begin may be told. */
enum {
    DB_LOCAL = 1,      /* commit without waiting for a standby: renewals, last-used (db.9) */
    DB_REPEATABLE = 2, /* the work claims a key first: run it again where the commit is unknown */
    DB_SNAPSHOT = 4,   /* REPEATABLE READ, READ ONLY: one look at many tables */
    DB_PLANNED = 8,    /* plan each statement for its values: lists, whose filters may be absent */
};

/*
 * The seam: what a simulation replaces (call->env->db). Everything below goes through it. begin,
 * commit, rollback and run are of the connection; the rest of this header is built upon them.
 */
struct db_ops {
    enum cr_status (*open)(struct cr_call *call, const struct db_config *config,
                           struct db **ret_db);
    void (*close)(struct db *db);
    enum cr_status (*begin)(struct cr_call *call, struct db *db, const char *tenant,
                            unsigned flags);
    enum cr_status (*commit)(struct cr_call *call, struct db *db);
    void (*rollback)(struct cr_call *call, struct db *db);
    enum cr_status (*prepare)(struct cr_call *call, struct db *db,
                              const struct db_statement *statement);
    enum cr_status (*run)(struct cr_call *call, struct db *db, const struct db_statement *statement,
                          const struct db_value *values, size_t count, struct db_rows *ret_rows);
    enum cr_status (*script)(struct cr_call *call, struct db *db, const char *sql);
    const char *(*sqlstate)(const struct db *db);
    const char *(*constraint)(const struct db *db);
};

/* The operations by libpq: env.db = &db_postgres. */
extern const struct db_ops db_postgres;

/*
 * A connection; the first statement opens it again if it was lost. The caller closes it.
 * fails with   CR_UNAVAILABLE, naming what the server said
 */
enum cr_status db_open(struct cr_call *call, const struct db_config *config,
                       struct db **ret_db) CR_CHECK;
void db_close(const struct cr_env *env, struct db *db);

/* Prepares all statements of a table that ends with NULL, so that a wrong one is found at start. */
enum cr_status db_prepare(struct cr_call *call, struct db *db,
                          const struct db_statement *const *statements) CR_CHECK;

/*
 * Begins a transaction, READ COMMITTED. tenant, where not NULL, is what row-level security lets
 * through until its end. flags: all but DB_REPEATABLE, which is db_transaction's.
 */
enum cr_status db_begin(struct cr_call *call, struct db *db, const char *tenant,
                        unsigned flags) CR_CHECK;

/* Commits. Where it fails, nothing was done, but for CR_UNKNOWN. */
enum cr_status db_commit(struct cr_call *call, struct db *db) CR_CHECK;

/* Ends a transaction that is open without doing it; nothing where none is. Never fails. */
void db_rollback(struct cr_call *call, struct db *db);

/*
 * Runs work in a transaction and commits: begin, work, commit; rolls back where work fails. It is
 * run again, at most DB_TRIES_MAX times with full jitter within the deadline, after 40001 and
 * 40P01, and with DB_REPEATABLE also after an unknown commit. work must therefore not keep anything
 * of an earlier run, and do nothing but ask this connection (db.4).
 */
enum cr_status db_transaction(struct cr_call *call, struct db *db, const char *tenant,
                              unsigned flags,
                              enum cr_status (*work)(struct cr_call *call, struct db *db,
                                                     void *context),
                              void *context) CR_CHECK;

/* Runs a statement. ret_affected, which may be NULL: the rows that it wrote, or read. */
enum cr_status db_exec(struct cr_call *call, struct db *db, const struct db_statement *statement,
                       const struct db_value *values, size_t count, int64_t *ret_affected) CR_CHECK;

/*
 * The same for a write that must hit exactly one row under its fence (db.5): 0 rows is CR_CONFLICT
 * with the sentence given, which names what was fenced.
 */
enum cr_status db_exec_fenced(struct cr_call *call, struct db *db,
                              const struct db_statement *statement, const struct db_value *values,
                              size_t count, const char *sentence) CR_CHECK;

/* A statement of at most one row. ret_found says whether there was one; ret_value is written then.
 */
enum cr_status db_one(struct cr_call *call, struct db *db, const struct db_statement *statement,
                      const struct db_value *values, size_t count, const struct cr_shape *shape,
                      void *ret_value, bool *ret_found) CR_CHECK;

/* A statement of any number of rows, as structs of the shape, one behind the other. */
enum cr_status db_list(struct cr_call *call, struct db *db, const struct db_statement *statement,
                       const struct db_value *values, size_t count, const struct cr_shape *shape,
                       struct cr_list *ret_list) CR_CHECK;

/* The same, uninterpreted: for what a shape does not tell. */
enum cr_status db_rows(struct cr_call *call, struct db *db, const struct db_statement *statement,
                       const struct db_value *values, size_t count,
                       struct db_rows *ret_rows) CR_CHECK;

/*
 * Fills value, a struct of the shape, from a row. Members without a column get the absent value of
 * their kind. Kinds: integers, texts, words, ids, times and booleans; CR_BYTES of bytea, CR_TEXTS
 * of text[], CR_LABELS of text[] with names and values in turn (cresset_labels(jsonb) of the schema
 * makes it), CR_JSON of json or jsonb.
 */
enum cr_status db_fill(struct cr_call *call, const struct db_rows *rows, size_t row,
                       const struct cr_shape *shape, void *ret_value) CR_CHECK;

/* Several statements as one text, without values: migrations and tests. Not in a transaction. */
enum cr_status db_script(struct cr_call *call, struct db *db, const char *sql) CR_CHECK;

/* Of the last statement that failed on this connection: SQLSTATE, "" for none of the server's. */
const char *db_sqlstate(const struct cr_call *call, const struct db *db);

/* Of the last statement that failed: the constraint that said no, for example "job_pkey"; or "". */
const char *db_constraint(const struct cr_call *call, const struct db *db);
