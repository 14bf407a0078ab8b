/*
 * engine_park: why classes of jobs wait, for any process to read. What is written is what the
 * engine itself would answer; only what has changed is written, so a still queue costs a look a
 * turn.
 */
#include "controlplane/service/engine_internal.h"

#include "base/core/text.h"
#include "base/core/time.h"
#include "controlplane/service/engine_sql.h"

#include <stdlib.h>
#include <string.h>

#define PARK_NS       (2 * CR_NS_A_SECOND)
#define PARK_NS_LARGE (30 * CR_NS_A_SECOND) /* where the look itself is long */
#define LARGE         1000                  /* classes */
#define PARKS_MAX     256                   /* classes that are written: the first ones */
#define WHY_MAX       1000                  /* bytes of a reason */

/* The parked classes by column. */
struct columns {
    size_t count;
    const char **key, **why, **wake;
    int64_t *jobs;
    const char *text; /* of all: equal texts, equal parks */
};

static enum cr_status columns_of(struct cr_call *call, struct engine *engine,
                                 struct columns *ret_columns)
{
    struct admission_park *parks;
    size_t count;
    int64_t now_us = engine->clock_us + (cr_now_ns(call) - engine->clock_ns) / 1000;
    CR_TRY(admission_parked(call, engine->books, now_us, &parks, &count));
    struct columns it = {
        .key = cr_new(call, const char *, count),
        .why = cr_new(call, const char *, count),
        .wake = cr_new(call, const char *, count),
        .jobs = cr_new(call, int64_t, count),
    };
    struct cr_text text = cr_text_open(call);
    for (size_t i = 0; i < count && it.count < PARKS_MAX; i++) {
        const struct admission_blocker *blocker = &parks[i].blocker;
        if (!blocker->code)
            continue; /* it is about to start */
        it.key[it.count] = parks[i].class_key;
        it.why[it.count] =
            cr_format(call, "%s: %.*s", blocker->code, WHY_MAX - 64, blocker->sentence);
        it.wake[it.count] = cr_format(call, "tier %lld", (long long)blocker->tier);
        it.jobs[it.count] = parks[i].jobs;
        cr_text_add_format(&text, "%s %s %lld\n", it.key[it.count], it.why[it.count],
                           (long long)it.jobs[it.count]);
        it.count++;
    }
    it.text = text.data;
    *ret_columns = it;
    return CR_OK;
}

static enum cr_status park_work(struct cr_call *call, struct db *db, struct engine_work *work)
{
    const struct columns *it = work->of;
    CR_TRY(db_exec(call, db, &engine_park_drop, DB_VALUES(db_texts(it->key, it->count)), NULL));
    return db_exec(call, db, &engine_park_write,
                   DB_VALUES(db_texts(it->key, it->count), db_texts(it->why, it->count),
                             db_ints(it->jobs, it->count), db_texts(it->wake, it->count)),
                   NULL);
}

enum cr_status engine_park(struct cr_call *call, struct engine *engine)
{
    int64_t wait_ns = admission_read(engine->books).classes > LARGE ? PARK_NS_LARGE : PARK_NS;
    if (cr_now_ns(call) - engine->parked_ns < wait_ns)
        return CR_OK;
    engine->parked_ns = cr_now_ns(call);
    struct columns columns;
    CR_TRY(columns_of(call, engine, &columns));
    if (engine->parked && strcmp(engine->parked, columns.text) == 0)
        return CR_OK;

    struct engine_work work = {.engine = engine, .run = park_work, .of = &columns};
    CR_TRY(engine_transaction(call, DB_LOCAL, &work));
    free(engine->parked);
    engine->parked = strdup(columns.text);
    if (!engine->parked)
        abort();
    return CR_OK;
}
