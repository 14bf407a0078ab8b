#include "base/db/wire.h"

#include "base/core/time.h"

#include <poll.h>
#include <string.h>

#define LOOKS_MAX 16 /* at what an idle connection says */

/* Waits until the socket is ready for events, or deadline_ns. false: it was not. */
static bool ready(struct cr_call *call, const struct db *db, short events, int64_t deadline_ns)
{
    struct pollfd wanted = {.fd = PQsocket(db->conn), .events = events};
    for (;;) {
        int64_t left_ns = deadline_ns - cr_now_ns(call);
        if (left_ns <= 0)
            return false;
        int64_t left_ms = left_ns / 1000000 + 1;
        int got = poll(&wanted, 1, left_ms > 60000 ? 60000 : (int)left_ms);
        if (got > 0)
            return true;
    }
}

/* db.2: a cancelled wait for the standby is told by severity alone; the text is translated. */
static void notice(void *context, const PGresult *result)
{
    struct db *db = context;
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (severity && strcmp(severity, "WARNING") == 0)
        db->warned = true;
}

static PGconn *start(const struct db *db)
{
    char options[160];
    snprintf(options, sizeof options,
             "-c statement_timeout=%d -c lock_timeout=%d -c "
             "idle_in_transaction_session_timeout=%d -c search_path=public -c timezone=UTC",
             DB_STATEMENT_TIMEOUT_MS, DB_LOCK_TIMEOUT_MS, DB_IDLE_TX_MS);
    /* The conninfo comes first: of one keyword, the last wins. */
    const char *const keywords[] = {"dbname",
                                    "application_name",
                                    "client_encoding",
                                    "options",
                                    "target_session_attrs",
                                    "keepalives",
                                    "keepalives_idle",
                                    "keepalives_interval",
                                    "keepalives_count",
                                    "tcp_user_timeout",
                                    NULL};
    const char *const values[] = {
        db->conninfo, db->application, "UTF8", options, "read-write", "1", "10", "5",
        "3",          "10000",         NULL};
    return PQconnectStartParams(keywords, values, 1);
}

enum cr_status wire_connect(struct cr_call *call, struct db *db)
{
    if (db->conn)
        return CR_OK;
    db->conn = start(db);
    int64_t deadline_ns = cr_now_ns(call) + DB_CONNECT_TIMEOUT_S * CR_NS_A_SECOND;
    if (deadline_ns > call->deadline_ns)
        deadline_ns = call->deadline_ns;

    PostgresPollingStatusType state =
        PQstatus(db->conn) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
    while (state != PGRES_POLLING_OK && state != PGRES_POLLING_FAILED) {
        short events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        if (!ready(call, db, events, deadline_ns)) {
            wire_drop(db);
            return cr_fail(call, CR_UNAVAILABLE, "the database did not answer in time");
        }
        state = PQconnectPoll(db->conn);
    }
    if (state == PGRES_POLLING_FAILED) {
        enum cr_status status = cr_fail(call, CR_UNAVAILABLE, "no connection to the database: %s",
                                        PQerrorMessage(db->conn));
        wire_drop(db);
        return status;
    }
    PQsetnonblocking(db->conn, 1);
    PQsetNoticeReceiver(db->conn, notice, db);
    return CR_OK;
}

void wire_drop(struct db *db)
{
    if (db->conn)
        PQfinish(db->conn);
    db->conn = NULL;
    db->prepared_count = 0;
    memset(db->prepared, 0, sizeof db->prepared);
}

static bool is_error(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE;
}

/* Sends what is in libpq's buffer, reading on the way, so that neither side waits for the other. */
static enum wire_end flush(struct cr_call *call, struct db *db, int64_t deadline_ns)
{
    int left;
    while ((left = PQflush(db->conn)) == 1) {
        if (!ready(call, db, POLLIN | POLLOUT, deadline_ns))
            return WIRE_LATE;
        if (!PQconsumeInput(db->conn))
            return WIRE_LOST;
    }
    return left == 0 ? WIRE_ANSWERED : WIRE_LOST;
}

enum wire_end wire_wait(struct cr_call *call, struct db *db, int64_t deadline_ns,
                        PGresult **ret_result)
{
    PGresult *kept = NULL;
    enum wire_end end = flush(call, db, deadline_ns);
    while (end == WIRE_ANSWERED) {
        if (PQisBusy(db->conn)) {
            if (!ready(call, db, POLLIN, deadline_ns))
                end = WIRE_LATE;
            else if (!PQconsumeInput(db->conn))
                end = WIRE_LOST;
            continue;
        }
        PGresult *result = PQgetResult(db->conn);
        if (!result)
            break;
        if (kept && is_error(kept)) {
            PQclear(result);
            continue;
        }
        PQclear(kept);
        kept = result;
    }
    if (end == WIRE_ANSWERED && (!kept || PQstatus(db->conn) == CONNECTION_BAD))
        end = WIRE_LOST;
    if (end != WIRE_ANSWERED) {
        PQclear(kept);
        kept = NULL;
    }
    *ret_result = kept;
    return end;
}

void wire_cancel(struct db *db)
{
    char reason[256];
    PGcancel *cancel = PQgetCancel(db->conn);
    if (cancel)
        PQcancel(cancel, reason, sizeof reason);
    PQfreeCancel(cancel);
}

bool wire_is_dead(struct db *db)
{
    struct pollfd readable = {.fd = PQsocket(db->conn), .events = POLLIN};
    /* The server's last words come before the end of the stream, so one read does not tell. */
    for (int looks = 0; looks < LOOKS_MAX; looks++) {
        if (PQstatus(db->conn) == CONNECTION_BAD)
            return true;
        if (poll(&readable, 1, 0) <= 0)
            return false;
        if (!PQconsumeInput(db->conn))
            return true;
    }
    return true; /* one that is idle has nothing to say for so long */
}

/* Longest prefix first; a class of SQLSTATE is its first two letters. */
static const struct {
    const char *prefix;
    enum cr_status status;
} classes[] = {
    {"40", CR_CONFLICT},       /* serialization failure, deadlock: run it again */
    {"23", CR_CONFLICT},       /* unique, check, foreign key */
    {"42501", CR_DENIED},      /* a grant, or row-level security */
    {"57014", CR_TIMEOUT},     /* cancelled, or statement_timeout */
    {"55P03", CR_UNAVAILABLE}, /* lock_timeout */
    {"53", CR_UNAVAILABLE},    /* disk full, too many connections */
    {"57P", CR_UNAVAILABLE},   /* shutting down */
    {"08", CR_UNAVAILABLE},    /* connection */
    {"25006", CR_UNAVAILABLE}, /* a standby */
    {"25P03", CR_UNAVAILABLE}, /* idle in transaction for too long */
};

enum cr_status wire_fail(struct cr_call *call, struct db *db, const PGresult *result)
{
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *constraint = PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    snprintf(db->sqlstate, sizeof db->sqlstate, "%s", sqlstate ? sqlstate : "");
    snprintf(db->constraint, sizeof db->constraint, "%s", constraint ? constraint : "");

    enum cr_status status = CR_INTERNAL;
    for (size_t i = 0; sqlstate && i < sizeof classes / sizeof classes[0]; i++)
        if (strncmp(sqlstate, classes[i].prefix, strlen(classes[i].prefix)) == 0) {
            status = classes[i].status;
            break;
        }
    return cr_fail(call, status, "the database says %s: %s", sqlstate ? sqlstate : "nothing",
                   message ? message : PQresultErrorMessage(result));
}
