/* wire: one connection of libpq, asked without blocking beyond a deadline. Private to base/db. */
#pragma once

#include "base/db/db.h"

#include <postgresql/libpq-fe.h>

#define WIRE_PREPARED_MAX 1024 /* statements of one program */

struct db {
    PGconn *conn; /* NULL: not connected */
    char *conninfo, *application;
    bool in_transaction; /* until rollback or commit, even where its connection broke */
    bool warned;         /* a notice of severity WARNING came since wire_send */
    char sqlstate[6];
    char constraint[64];
    /* What is prepared on this connection: open addressing by the statement's name. */
    const struct db_statement *prepared[WIRE_PREPARED_MAX];
    size_t prepared_count;
};

/* Connects, if it is not connected. fails with CR_UNAVAILABLE or CR_TIMEOUT. */
enum cr_status wire_connect(struct cr_call *call, struct db *db);

/* Closes what is connected; what was prepared is forgotten. */
void wire_drop(struct db *db);

/* How waiting for an answer ended. */
enum wire_end { WIRE_ANSWERED, WIRE_LATE, WIRE_LOST };

/*
 * Waits for the whole answer to what was sent, until deadline_ns. ret_result is the last result of
 * it that is an error, else the last of all; the caller clears it.
 */
enum wire_end wire_wait(struct cr_call *call, struct db *db, int64_t deadline_ns,
                        PGresult **ret_result);

/* Asks the server to give up what it is doing. */
void wire_cancel(struct db *db);

/* Whether an idle connection has been closed by the other side. */
bool wire_is_dead(struct db *db);

/* Records a failed result in the call, and its SQLSTATE and constraint in db. */
enum cr_status wire_fail(struct cr_call *call, struct db *db, const PGresult *result);
