/* ledger_turn: what the engine's holder does for the ledger, beat by beat. */
#include "controlplane/service/ledger_internal.h"

#include "base/core/time.h"
#include "controlplane/service/engine.h"

#include <stdlib.h>

#define PUBLISH_NS  (LEDGER_PUBLISH_MS * INT64_C(1000000))
#define INTERIMS_NS (INT64_C(20) * CR_NS_A_SECOND)

struct turn {
    int64_t epoch; /* for which the region was begun; 0: for none */
    int64_t published_ns, interims_ns;
};

enum cr_status ledger_turn(struct cr_call *call, struct service *service, void **state,
                           bool *ret_more)
{
    struct turn *turn = *state ? *state : calloc(1, sizeof *turn);
    if (!turn)
        abort();
    *state = turn;
    *ret_more = false;
    int64_t epoch = engine_held(), sealed = 0, size = 0, count = 0;
    if (epoch == 0)
        return CR_OK;
    if (turn->epoch != epoch) {
        CR_TRY(ledger_bootstrap(call, service));
        turn->epoch = epoch;
    }

    CR_TRY(ledger_seal_log(call, service, epoch, &sealed));
    *ret_more = sealed == LEDGER_SEAL_MAX;
    if (cr_now_ns(call) - turn->published_ns >= PUBLISH_NS) {
        turn->published_ns = cr_now_ns(call);
        CR_TRY(ledger_publish(call, service, epoch, &size));
    }
    if (cr_now_ns(call) - turn->interims_ns >= INTERIMS_NS) {
        turn->interims_ns = cr_now_ns(call);
        CR_TRY(ledger_interims(call, service, &count));
    }
    return CR_OK;
}

void ledger_turn_close(void *state)
{
    free(state);
}
