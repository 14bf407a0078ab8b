/* ledger_renew: one renewal of a node: its statement, its readings, and an order for each lease. */
#include "controlplane/service/ledger_internal.h"

#include "controlplane/service/ledger_sql.h"

#include <assert.h>
#include <string.h>

#define CLAIMS_MAX   (PROTOCOL_RENEW_LEASES + PROTOCOL_LEASES_MAX)
#define LEASE_TTL_US (PROTOCOL_LEASE_TTL_NS / 1000)
#define NOT_KNOWN    INT64_C(-1) /* in arrays, which hold no NULL */

/* A lease that the request names, as the tables hold it. */
struct known {
    const char *lease, *tenant, *job;
    int64_t lease_epoch, member;
    const char *state, *boot, *revoke_reason;
    int64_t slices, grace_s;
    int64_t seq; /* of the last reading; CR_NO_INTEGER: there is none */
    const char *meter_state;
    int64_t slices_read, acquire_ns, mono_ns, held_ns, busy_ns, energy_mj, from_us, received_us;
    struct cr_bytes reading;
    int64_t now_us;
};
/* clang-format off */
#define COLUMN(member) CR_MEMBER(struct known, member, 0, 0)
static const struct cr_member known_members[] = {
    COLUMN(lease), COLUMN(tenant), COLUMN(job), COLUMN(lease_epoch), COLUMN(member), COLUMN(state),
    COLUMN(boot), COLUMN(revoke_reason), COLUMN(slices), COLUMN(grace_s), COLUMN(seq),
    COLUMN(meter_state), COLUMN(slices_read), COLUMN(acquire_ns), COLUMN(mono_ns), COLUMN(held_ns),
    COLUMN(busy_ns), COLUMN(energy_mj), COLUMN(from_us), COLUMN(received_us),
    CR_BYTES(struct known, reading, 0, INT32_MAX), COLUMN(now_us),
};
/* clang-format on */
static const struct cr_shape known_shape = CR_SHAPE(struct known, known_members);

/* What the request says of one lease. */
struct claim {
    const char *lease;
    int64_t lease_epoch;
    const struct ledger_reading *reading; /* NULL: it holds no device yet */
};

/* Newer readings, as arrays for the statement that writes them. */
struct meters {
    const char *tenants[CLAIMS_MAX], *leases[CLAIMS_MAX], *states[CLAIMS_MAX];
    int64_t seq[CLAIMS_MAX], slices[CLAIMS_MAX], acquire[CLAIMS_MAX], mono[CLAIMS_MAX],
        held[CLAIMS_MAX], busy[CLAIMS_MAX], energy[CLAIMS_MAX], from[CLAIMS_MAX], index[CLAIMS_MAX],
        size[CLAIMS_MAX];
    struct cr_bytes readings[CLAIMS_MAX], paths[CLAIMS_MAX];
    size_t count;
};

struct renewal {
    const struct protocol_renew *renew;
    const struct service_ask *ask;
    struct ledger_node node;
    struct ledger_statement statement;
    struct protocol_account account;
    struct claim claims[CLAIMS_MAX];
    size_t claim_count;

    /* Of one run of the transaction. */
    int64_t now_us;
    struct meters meters;
    const char *beat_tenants[CLAIMS_MAX], *beat_leases[CLAIMS_MAX], *pins[CLAIMS_MAX];
    size_t beat_count, pin_count;
    struct protocol_order orders[CLAIMS_MAX];
    size_t order_count;
    const char *contradiction; /* the lease that contradicts; NULL: none */
};

/* What the request claims: each reading that stands under the root, and what waits. */
static void read_claims(struct cr_call *call, struct renewal *it)
{
    const struct protocol_metered *metered = it->renew->leases.items;
    size_t count = it->renew->leases.count;
    for (size_t i = 0; i < count && it->claim_count < PROTOCOL_RENEW_LEASES; i++) {
        struct ledger_reading *reading = cr_new(call, struct ledger_reading, 1);
        if (ledger_reading(call, &it->statement, &metered[i], reading))
            it->claims[it->claim_count++] =
                (struct claim){reading->says.lease, reading->says.lease_epoch, reading};
    }
    const struct protocol_ended *waiting = it->account.waiting.items;
    for (size_t i = 0; i < it->account.waiting.count && it->claim_count < CLAIMS_MAX; i++)
        it->claims[it->claim_count++] =
            (struct claim){waiting[i].lease, waiting[i].lease_epoch, NULL};
}

/* The account is leaf 0 of the statement's tree: the sibling of leaf 1, where that was sent. */
static bool account_is_under_root(const struct renewal *it)
{
    struct tlog_hash leaf = tlog_leaf(it->renew->account.data, it->renew->account.size);
    for (size_t i = 0; i < it->claim_count; i++) {
        const struct ledger_reading *reading = it->claims[i].reading;
        if (reading && reading->leaf_index == 1)
            return reading->path.size >= TLOG_HASH_SIZE &&
                   memcmp(reading->path.data, leaf.bytes, TLOG_HASH_SIZE) == 0;
    }
    return true;
}

static enum cr_status read_account(struct cr_call *call, struct renewal *it)
{
    CR_TRY(ledger_body(call, it->renew->account, &protocol_account_shape, &it->account));
    CR_TRY(protocol_account_check(call, &it->account));
    if (strcmp(it->account.node, it->node.node) != 0 ||
        strcmp(it->account.boot, it->statement.says.boot) != 0 ||
        it->account.seq != it->statement.says.seq)
        return cr_fail_as(call, &cr_code_bad_signature, "the account is not that of the statement");
    return CR_OK;
}

static void order(struct renewal *it, const char *lease, const char *word, const char *cause,
                  int64_t grace_s)
{
    it->orders[it->order_count++] =
        (struct protocol_order){.lease = lease, .order = word, .cause = cause, .grace_s = grace_s};
}

/* Where held time begins on the region's clock: when the first reading came, less what it held. */
static int64_t start_of(const struct known *known, const struct billing_reading *says)
{
    return known->now_us - (says->mono_ns - says->acquire_ns) / 1000;
}

static int64_t or_not_known(int64_t value)
{
    return value == CR_NO_INTEGER ? NOT_KNOWN : value;
}

static void take(struct renewal *it, const struct known *known,
                 const struct ledger_reading *reading)
{
    struct meters *m = &it->meters;
    const struct billing_reading *says = &reading->says;
    size_t i = m->count++;
    m->tenants[i] = known->tenant;
    m->leases[i] = known->lease;
    m->states[i] = says->state;
    m->seq[i] = says->seq;
    m->slices[i] = says->slices;
    m->acquire[i] = says->acquire_ns;
    m->mono[i] = says->mono_ns;
    m->held[i] = says->held_ns;
    m->busy[i] = or_not_known(says->busy_ns);
    m->energy[i] = or_not_known(says->energy_mj);
    m->from[i] = start_of(known, says);
    m->index[i] = reading->leaf_index;
    m->size[i] = reading->tree_size;
    m->readings[i] = reading->body;
    m->paths[i] = reading->path;
    bool is_first = known->seq == CR_NO_INTEGER ||
                    billing_day(known->received_us) != billing_day(known->now_us);
    if (is_first)
        it->pins[it->pin_count++] = known->lease;
}

static void beat(struct renewal *it, const struct known *known)
{
    it->beat_tenants[it->beat_count] = known->tenant;
    it->beat_leases[it->beat_count++] = known->lease;
}

static enum billing_order order_of(const struct known *known, const struct ledger_reading *reading)
{
    const struct billing_reading last = {
        .acquire_ns = known->acquire_ns,
        .busy_ns = known->busy_ns,
        .energy_mj = known->energy_mj,
        .held_ns = known->held_ns,
        .mono_ns = known->mono_ns,
        .seq = known->seq,
        .slices = known->slices_read,
        .state = known->meter_state,
    };
    bool is_same = known->reading.size == reading->body.size &&
                   memcmp(known->reading.data, reading->body.data, reading->body.size) == 0;
    return billing_reading_order(&last, is_same, &reading->says);
}

/* Takes the claim's reading, if it is new. false: it contradicts what was taken before. */
static bool read_meter(struct renewal *it, const struct known *known, const struct claim *claim)
{
    if (!claim->reading) {
        beat(it, known);
        return true;
    }
    if (claim->reading->says.slices != known->slices)
        return false;
    enum billing_order after =
        known->seq == CR_NO_INTEGER ? BILLING_NEWER : order_of(known, claim->reading);
    if (after == BILLING_CONTRADICTION)
        return false;
    if (after == BILLING_NEWER)
        take(it, known, claim->reading);
    else
        beat(it, known);
    return true;
}

static const struct known *known_of(const struct cr_list *list, const char *lease)
{
    const struct known *known = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(known[i].lease, lease) == 0)
            return &known[i];
    return NULL;
}

static bool is_live(const char *state)
{
    return strcmp(state, "granted") == 0 || strcmp(state, "running") == 0 ||
           strcmp(state, "revoking") == 0;
}

static void answer(struct renewal *it, const struct known *known, const struct claim *claim)
{
    if (!known)
        order(it, claim->lease, "drop", "unknown", 0);
    else if (claim->lease_epoch != known->lease_epoch)
        order(it, claim->lease, "drop", "stale_lease", 0);
    else if (!is_live(known->state))
        order(it, claim->lease, "drop", "expired", 0);
    else if (known->boot && strcmp(known->boot, it->statement.says.boot) != 0)
        order(it, claim->lease, "drop", "stale_boot", 0);
    else if (!read_meter(it, known, claim))
        it->contradiction = claim->lease;
    else if (strcmp(known->state, "revoking") == 0)
        order(it, claim->lease, "stop", known->revoke_reason, known->grace_s);
    else
        order(it, claim->lease, "continue", NULL, 0);
}

static enum cr_status write_meters(struct cr_call *call, struct db *db, struct renewal *it)
{
    const struct meters *m = &it->meters;
    const struct ledger_statement *statement = &it->statement;
    if (m->count > 0)
        CR_TRY(db_exec(call, db, &ledger_renew_meters,
                       DB_VALUES(db_texts(m->tenants, m->count), db_texts(m->leases, m->count),
                                 db_text(statement->says.boot), db_ints(m->seq, m->count),
                                 db_texts(m->states, m->count), db_ints(m->slices, m->count),
                                 db_ints(m->acquire, m->count), db_ints(m->mono, m->count),
                                 db_ints(m->held, m->count), db_ints(m->busy, m->count),
                                 db_ints(m->energy, m->count), db_ints(m->from, m->count),
                                 db_int(it->now_us), db_byteses(m->readings, m->count),
                                 db_ints(m->index, m->count), db_ints(m->size, m->count),
                                 db_byteses(m->paths, m->count),
                                 db_bytes(statement->payload.data, statement->payload.size),
                                 db_bytes(statement->signature.data, statement->signature.size),
                                 db_int(LEASE_TTL_US)),
                       NULL));
    if (it->beat_count > 0)
        CR_TRY(db_exec(call, db, &ledger_renew_beats,
                       DB_VALUES(db_texts(it->beat_tenants, it->beat_count),
                                 db_texts(it->beat_leases, it->beat_count), db_int(LEASE_TTL_US)),
                       NULL));
    if (it->pin_count > 0)
        CR_TRY(db_exec(call, db, &ledger_renew_pins, DB_VALUES(db_texts(it->pins, it->pin_count)),
                       NULL));
    return CR_OK;
}

/* The first reading stays; both stand in a leaf, and the node gets no more work (K4). */
static enum cr_status write_contradiction(struct cr_call *call, struct db *db, struct renewal *it)
{
    const struct claim *claim = it->claims;
    while (strcmp(claim->lease, it->contradiction) != 0)
        claim++;
    struct service_mutation mutation = {
        .action = "usage.contradicted",
        .object = it->contradiction,
        .after = cr_copy(call, claim->reading->body.data, claim->reading->body.size),
    };
    CR_TRY(service_audit(call, db, it->ask, &mutation, NULL));
    return db_exec(
        call, db, &ledger_quarantine,
        DB_VALUES(db_text(it->node.node),
                  db_text(cr_format(call, "its readings of lease %s contradict each other",
                                    it->contradiction))),
        NULL);
}

static enum cr_status write_node(struct cr_call *call, struct db *db, struct renewal *it)
{
    const struct protocol_account_device *devices = it->account.devices.items;
    size_t count = it->account.devices.count;
    const char **names = cr_new(call, const char *, count + 1);
    const char **states = cr_new(call, const char *, count + 1);
    for (size_t i = 0; i < count; i++) {
        names[i] = cr_format(call, "%s/%s", it->node.node, devices[i].device);
        states[i] = devices[i].state;
    }
    CR_TRY(db_exec(
        call, db, &ledger_renew_devices,
        DB_VALUES(db_text(it->node.node), db_texts(names, count), db_texts(states, count)), NULL));
    return db_exec_fenced(call, db, &ledger_renew_node,
                          DB_VALUES(db_text(it->node.node), db_int(it->statement.says.seq),
                                    db_int(it->account.disk_free_mib),
                                    db_text(it->statement.says.boot)),
                          "the node has joined anew");
}

static enum cr_status work(struct cr_call *call, struct db *db, void *context)
{
    struct renewal *it = context;
    const char *leases[CLAIMS_MAX];
    struct cr_list known;
    it->meters.count = it->beat_count = it->pin_count = it->order_count = 0;
    it->contradiction = NULL;
    for (size_t i = 0; i < it->claim_count; i++)
        leases[i] = it->claims[i].lease;
    CR_TRY(db_list(call, db, &ledger_renew_leases,
                   DB_VALUES(db_texts(leases, it->claim_count), db_text(it->node.node)),
                   &known_shape, &known));
    it->now_us = known.count ? ((const struct known *)known.items)->now_us : 0;
    for (size_t i = 0; i < it->claim_count && !it->contradiction; i++)
        answer(it, known_of(&known, it->claims[i].lease), &it->claims[i]);
    if (it->contradiction)
        return write_contradiction(call, db, it);
    CR_TRY(write_meters(call, db, it));
    return write_node(call, db, it);
}

/* A lease may be claimed once in a request. */
static enum cr_status check_claims(struct cr_call *call, const struct renewal *it)
{
    for (size_t i = 0; i < it->claim_count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(it->claims[i].lease, it->claims[j].lease) == 0)
                return cr_fail_as(call, &cr_code_invalid_body, "lease %s is renewed twice",
                                  it->claims[i].lease);
    return CR_OK;
}

enum cr_status ledger_renew(struct cr_call *call, struct service *service,
                            const struct principal *who, const struct protocol_renew *renew,
                            struct protocol_renewed *ret_renewed)
{
    const struct service_ask ask = {.who = who};
    struct renewal *it = cr_new(call, struct renewal, 1);
    it->renew = renew;
    it->ask = &ask;
    CR_TRY(ledger_node_read(call, service->engine_db, who->node, &it->node));
    CR_TRY(ledger_statement(call, &it->node, renew->statement, &it->statement));
    if (!it->node.boot || strcmp(it->statement.says.boot, it->node.boot) != 0)
        return cr_fail_as(call, &service_code_stale_boot, "node %s has started anew since",
                          who->node);
    CR_TRY(read_account(call, it));
    read_claims(call, it);
    if (!account_is_under_root(it))
        return cr_fail_as(call, &cr_code_bad_signature,
                          "the account is not under the root of the statement");
    CR_TRY(check_claims(call, it));

    CR_TRY(db_transaction(call, service->engine_db, NULL, DB_LOCAL, work, it));
    if (it->contradiction)
        return cr_fail_as(call, &service_code_usage_contradiction,
                          "the reading of lease %s contradicts an earlier one", it->contradiction);
    struct protocol_node_state *state = cr_new(call, struct protocol_node_state, 1);
    state->state = it->node.state;
    *ret_renewed = (struct protocol_renewed){
        .seq = it->statement.says.seq,
        .node = state,
        .leases = {it->orders, it->order_count},
    };
    return CR_OK;
}
