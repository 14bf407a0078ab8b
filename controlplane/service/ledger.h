/*
 * ledger: what nodes report, what jobs used and cost, and the log that proves both.
 *
 * A usage record is written in the transaction of what it counts: a completion, or the end of a
 * lease that the platform lost. Every document is signed here by the region's records key, and has
 * its leaf in the same transaction; the sealer numbers the leaves, the publisher signs the tree.
 *
 * Units        device time in ns, times slices; moments in us of UTC by the region's clock; amounts
 *              in zepto-units as text, money in micro-units (billing/billing.h)
 * Ownership    whatever is filled belongs to the call
 * fails with   cr_code_bad_signature         a message is not signed, or not canonical
 *              service_code_stale_boot       of an agent that has started anew
 *              service_code_stale_lease      a newer lease of the job was granted, or it is settled
 *              service_code_usage_contradiction
 *              cr_code_not_found             no such lease of this node, job or record of this
 * tenant cr_code_unavailable           a receipt or proof that no checkpoint covers yet else what
 * service.h says Source       design: ledger.md; compute.md section 3
 */
#pragma once

#include "billing/billing.h"
#include "compute/protocol/protocol.h"
#include "controlplane/service/service.h"

/* Of nodes: ledger_renew.c, ledger_complete.c ---------------------------------------------------
 */

/*
 * POST /v1/node/renew: prolongs the leases that the statement proves, takes their readings, and
 * answers an order for each. Commits locally (db.9). A lease whose path or form is wrong is just
 * not renewed; a statement that is wrong fails all.
 */
enum cr_status ledger_renew(struct cr_call *call, struct service *service,
                            const struct principal *who, const struct protocol_renew *renew,
                            struct protocol_renewed *ret_renewed) CR_CHECK;

/*
 * POST /v1/node/leases/{lease}/complete: the end of a lease by its node's word. Where the word ends
 * the job (finished, its own failure, a stop whose cause is final), then in one transaction: job
 * terminal, completion, usage record with legs and charges, leaf, outbox, device states. Else the
 * lease alone ends, with a record that bills nothing, and the engine queues the job again.
 */
enum cr_status ledger_complete(struct cr_call *call, struct service *service,
                               const struct principal *who, const char *lease,
                               const struct protocol_completion *completion,
                               struct protocol_accepted *ret_accepted) CR_CHECK;

/*
 * Signs that a key is a node's, from now on, with a public leaf (key.added). In the transaction
 * that registers the node.
 */
enum cr_status ledger_node_key(struct cr_call *call, struct db *db,
                               const struct service_config *config, const struct service_ask *ask,
                               const char *node, const char *vkey) CR_CHECK;

/* For the engine: ledger_final.c, ledger_device.c -----------------------------------------------
 */

/* device_state's smallint. */
enum ledger_device_state {
    LEDGER_FREE = 1,
    LEDGER_LEASED,
    LEDGER_MAINTENANCE,
    LEDGER_UNKNOWN,
    LEDGER_GONE,
};

/* A change of state of some devices, at one stamp. */
struct ledger_change {
    const char *const *devices;
    size_t device_count;
    enum ledger_device_state state;
    const char *job; /* of LEDGER_LEASED; else NULL */
    int64_t lease_epoch, member;
    const char *reason; /* NULL: none */
};

/*
 * Stamps the devices, and writes their state from that moment on. The stamp is one for all of them
 * and grows only: it is what `granted` and `ended` of a lease are to be.
 */
enum cr_status ledger_stamp(struct cr_call *call, struct db *db, const struct ledger_change *change,
                            int64_t *ret_at_us) CR_CHECK;

/* What a job has used in all, for its end (struct jobs_end). */
struct ledger_sum {
    const char *record; /* its last final record; NULL: none */
    int64_t device_ns;
    const char *amount_zepto; /* decimal */
};

/*
 * Writes the final records that ended leases of the job still lack: preempted where it was taken
 * away for others, else platform_error; both bill nothing, and reverse what interim records billed
 * after the last accepted checkpoint. In the transaction of the next grant or of the job's end:
 * from then on a late completion of those epochs is refused.
 */
enum cr_status ledger_settle(struct cr_call *call, struct db *db,
                             const struct service_config *config, const char *tenant,
                             const char *job, struct ledger_sum *ret_sum) CR_CHECK;

/*
 * Interim records of leases that were held across a midnight, at most LEDGER_INTERIMS_MAX a call.
 * To be asked by the engine each minute. ret_count: how many were written.
 */
#define LEDGER_INTERIMS_MAX 256
enum cr_status ledger_interims(struct cr_call *call, struct service *service,
                               int64_t *ret_count) CR_CHECK;

/* The log: ledger_seal_log.c, ledger_publish.c --------------------------------------------------
 */

#define LEDGER_SEAL_MAX     4096 /* leaves that one transaction numbers */
#define LEDGER_SEAL_WAIT_MS 250  /* the sealer runs so often while the queue is not empty */
#define LEDGER_PUBLISH_MAX  8192 /* leaves that one checkpoint adds */
#define LEDGER_PUBLISH_MS   1000 /* at most one checkpoint in so long */

/*
 * Numbers what waits, in one transaction under the engine's epoch. ret_count: how many leaves;
 * LEDGER_SEAL_MAX: there may be more.
 * fails with   CR_CONFLICT   another process is the engine now: stop
 */
enum cr_status ledger_seal_log(struct cr_call *call, struct service *service, int64_t epoch,
                               int64_t *ret_count) CR_CHECK;

/*
 * Writes bundles and tiles, signs, remembers the note beside log_dir (LOG_DIR.signed), commits the
 * checkpoint's row, and then publishes it. ret_size: the size of the newest checkpoint.
 * fails with   CR_CONFLICT   as above; or the tree that the tables hold is older than, or another
 *              than, what was signed before (db.14): nothing is signed
 */
enum cr_status ledger_publish(struct cr_call *call, struct service *service, int64_t epoch,
                              int64_t *ret_size) CR_CHECK;

/*
 * A task of the process: while it holds the engine's epoch, it begins the region
 * (ledger_bootstrap), seals, publishes and writes interim records, each when its time has come. To
 * be run each LEDGER_SEAL_WAIT_MS; *state is NULL at first.
 */
enum cr_status ledger_turn(struct cr_call *call, struct service *service, void **state,
                           bool *ret_more) CR_CHECK;
void ledger_turn_close(void *state);

/* /log/checkpoint, /log/tile/…: the file's bytes. path is below the log's prefix. */
enum cr_status ledger_log_file(struct cr_call *call, const struct service_config *config,
                               const char *path, struct cr_bytes *ret_bytes) CR_CHECK;

/* /.well-known/cresset/trust/{policy,keys} */
const char *ledger_trust_policy(struct cr_call *call, const struct service_config *config);
const char *ledger_trust_keys(struct cr_call *call, const struct service_config *config);

/* The names of the region's keys: DOMAIN/records, DOMAIN/log, DOMAIN/node/NODE. */
const char *ledger_node_key_name(struct cr_call *call, const struct service_config *config,
                                 const char *node);

/* Prices and quotes: ledger_price.c -------------------------------------------------------------
 */

#define LEDGER_BOOTSTRAP_MICROUSD_H INT64_C(360000) /* of a core, where nobody has set a price */

/*
 * What a new region needs before its first job: leaves of its keys, and a list price of a core.
 * May be repeated; what is there stays.
 */
enum cr_status ledger_bootstrap(struct cr_call *call, struct service *service) CR_CHECK;

struct ledger_price {
    const char *price;
    const char *flavor, *meter, *unit, *currency;
    int64_t rate_pico;
    int64_t rate_microusd_h; /* of meter device; NULL otherwise */
    int64_t from;
    bool contract; /* of this tenant alone */
};
extern const struct cr_shape ledger_price_shape; /* "Price" */
enum cr_status ledger_prices(struct cr_call *call, struct service *service,
                             const struct principal *who, const char *after, int64_t limit,
                             struct cr_list *ret_prices) CR_CHECK;

/* POST /v1/quotes: the price of so much device time, if it were used now. */
struct ledger_quote_ask {
    const char *flavor;
    int64_t device_count;
    int64_t duration_s;
};
struct ledger_quote {
    const char *flavor, *meter, *price, *currency;
    int64_t rate_pico, rate_microusd_h;
    int64_t device_count, duration_s;
    int64_t quantity;         /* ns of device time */
    const char *amount_zepto; /* exact */
    int64_t total_microusd;
};
extern const struct cr_shape ledger_quote_ask_shape, ledger_quote_shape;
enum cr_status ledger_quote(struct cr_call *call, struct service *service,
                            const struct principal *who, const struct ledger_quote_ask *ask,
                            struct ledger_quote *ret_quote) CR_CHECK;

/* Usage: ledger_usage.c -------------------------------------------------------------------------
 */

/* A record as it is listed; of one alone also body, signature, key and leaf. */
struct ledger_record {
    const char *record, *job;
    const char *kind, *outcome, *program, *flavor;
    int64_t lease_epoch;
    int64_t device_ns, amount_microusd;
    const char *region, *home, *corrects;
    int64_t at;
    struct cr_json body; /* what is signed; NULL in lists */
    const char *sha256;  /* of the body */
    struct cr_bytes signature;
    const char *key;
    int64_t leaf;
};
extern const struct cr_shape ledger_record_shape; /* "UsageRecord" */
enum cr_status ledger_records(struct cr_call *call, struct service *service,
                              const struct principal *who, const char *after, int64_t limit,
                              struct cr_list *ret_records) CR_CHECK;
enum cr_status ledger_record(struct cr_call *call, struct service *service,
                             const struct principal *who, const char *record,
                             struct ledger_record *ret_record) CR_CHECK;

/* GET /v1/usage/summary?by=day|kind|flavor|label:NAME&from=DAY&to=DAY */
struct ledger_summary_ask {
    const char *by; /* words separated by commas */
    const char *from, *to;
};
struct ledger_usage_sum {
    const char *day, *kind, *flavor, *label; /* NULL: not asked for */
    const char *meter;
    int64_t quantity, amount_microusd, record_count;
};
struct ledger_summary {
    struct cr_list data; /* struct ledger_usage_sum */
};
extern const struct cr_shape ledger_summary_ask_shape, ledger_summary_shape;
enum cr_status ledger_usage_summary(struct cr_call *call, struct service *service,
                                    const struct principal *who,
                                    const struct ledger_summary_ask *ask,
                                    struct ledger_summary *ret_summary) CR_CHECK;

/* GET /v1/jobs/{job}/receipt: the file, checkable offline (billing/receipt.h). */
enum cr_status ledger_receipt(struct cr_call *call, struct service *service,
                              const struct principal *who, const char *job,
                              const char **ret_receipt) CR_CHECK;

/* Invoices: ledger_invoice.c --------------------------------------------------------------------
 */

/* Until months are closed all are drafts: computed from the charges as they are now. */
struct ledger_invoice {
    const char *invoice;
    const char *period; /* "2026-11" */
    const char *state;  /* draft */
    const char *currency;
    int64_t from, to;
    int64_t line_count, record_count;
    int64_t lines_microusd; /* the sum of the lines */
    int64_t total_microusd; /* the same, as long as it is a draft and not rounded */
};
struct ledger_invoice_line {
    int64_t line;
    const char *flavor, *meter, *unit, *price;
    const char *class; /* usage, correction */
    int64_t rate_pico;
    const char *quantity;     /* decimal */
    const char *amount_zepto; /* exact, decimal */
    int64_t amount_microusd;
    int64_t record_count;
    const char *records_root; /* hex: ledger.md section 8 */
};
extern const struct cr_shape ledger_invoice_shape, ledger_invoice_line_shape;
enum cr_status ledger_invoices(struct cr_call *call, struct service *service,
                               const struct principal *who, const char *after, int64_t limit,
                               struct cr_list *ret_invoices) CR_CHECK;
enum cr_status ledger_invoice(struct cr_call *call, struct service *service,
                              const struct principal *who, const char *invoice,
                              struct ledger_invoice *ret_invoice) CR_CHECK;
enum cr_status ledger_invoice_lines(struct cr_call *call, struct service *service,
                                    const struct principal *who, const char *invoice,
                                    struct cr_list *ret_lines) CR_CHECK;

/* Audit: ledger_audit.c -------------------------------------------------------------------------
 */

struct ledger_leaf {
    int64_t leaf;
    int64_t at;
    const char *kind, *actor, *object;
    const char *tenant; /* in the operators' list; NULL: the region's */
    int64_t index;      /* in the log; NULL while it waits */
};
extern const struct cr_shape ledger_leaf_shape; /* "AuditLeaf" */

/* Leaves of the tenant; for operators, of all. Newest first, below `after` (CR_NO_INTEGER: all). */
enum cr_status ledger_audit(struct cr_call *call, struct service *service,
                            const struct principal *who, int64_t after, int64_t limit,
                            struct cr_list *ret_leaves) CR_CHECK;

struct ledger_proof {
    int64_t leaf, index;
    const char *entry;      /* what stands in the log */
    struct cr_json payload; /* what it commits to */
    struct cr_bytes salt;   /* none of a public leaf */
    const char *proof;      /* c2sp.org/tlog-proof@v1 */
};
extern const struct cr_shape ledger_proof_shape;
enum cr_status ledger_proof(struct cr_call *call, struct service *service,
                            const struct principal *who, int64_t leaf,
                            struct ledger_proof *ret_proof) CR_CHECK;
