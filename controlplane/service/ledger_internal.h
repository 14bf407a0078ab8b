/* ledger_internal: what the files of the ledger share. */
#pragma once

#include "controlplane/service/ledger.h"
#include "policy/provenance/provenance.h"
#include "policy/tlog/tlog.h"

/* Documents: ledger_document.c ------------------------------------------------------------------
 */

/* A body that the records key has signed, and its leaf. */
struct ledger_document {
    struct cr_bytes body;
    unsigned char sha256[BASE_CRYPTO_SHA256_SIZE];
    unsigned char signature[BASE_CRYPTO_SIGNATURE_SIZE];
    unsigned char key_id[4];
    int64_t leaf;
};

/* Where a document's leaf stands. */
struct ledger_leaf_of {
    const struct service_ask *ask;
    const char *tenant; /* NULL: the region's */
    const char *kind;   /* "usage.recorded" */
    const char *object;
    bool is_public;
};

/* Signs a body of this payload type, and writes its leaf. */
enum cr_status ledger_document(struct cr_call *call, struct db *db,
                               const struct service_config *config, const char *payload_type,
                               struct cr_bytes body, const struct ledger_leaf_of *leaf,
                               struct ledger_document *ret_document) CR_CHECK;

struct tlog_vkey ledger_records_vkey(struct cr_call *call, const struct service_config *config);
struct tlog_vkey ledger_log_vkey(struct cr_call *call, const struct service_config *config);

/* Messages: ledger_message.c --------------------------------------------------------------------
 */

/* What the region holds of a node. */
struct ledger_node {
    const char *node, *vkey, *boot, *state;
    int64_t statement_seq;
};

enum cr_status ledger_node_read(struct cr_call *call, struct db *db, const char *node,
                                struct ledger_node *ret_node) CR_CHECK;

/* Checks type and signature of a message of the node, in that order. */
enum cr_status ledger_message(struct cr_call *call, const struct ledger_node *node,
                              const struct protocol_envelope *envelope, const char *payload_type,
                              struct cr_bytes *ret_payload) CR_CHECK;

/* Reads a signed body that is canonical JSON of the shape. */
enum cr_status ledger_body(struct cr_call *call, struct cr_bytes body, const struct cr_shape *shape,
                           void *ret_value) CR_CHECK;

/* A statement that the node has signed. */
struct ledger_statement {
    struct billing_statement says;
    struct cr_bytes payload, signature;
    struct tlog_hash root;
};
enum cr_status ledger_statement(struct cr_call *call, const struct ledger_node *node,
                                const struct protocol_envelope *envelope,
                                struct ledger_statement *ret_statement) CR_CHECK;

/* A reading that stands under a statement's root. */
struct ledger_reading {
    struct billing_reading says;
    struct cr_bytes body;
    struct cr_bytes path; /* the hashes one behind the other */
    int64_t leaf_index, tree_size;
    const char *sha256; /* hex */
};

/* false: it is not under the root, not canonical, or another node's or boot's. */
bool ledger_reading(struct cr_call *call, const struct ledger_statement *statement,
                    const struct protocol_metered *metered, struct ledger_reading *ret_reading);

/* Records: ledger_record.c ----------------------------------------------------------------------
 */

/* A lease with its job, price and meter, as the tables hold them. */
struct ledger_held {
    const char *tenant, *job, *lease;
    int64_t lease_epoch, member;
    const char *node, *flavor, *state, *boot, *revoke_reason, *word;
    struct cr_texts devices;
    int64_t slices, granted, ended;
    const char *kind, *price, *currency; /* of the job */
    int64_t rate_pico;
    int64_t seq; /* of the last reading; this and the rest CR_NO_INTEGER or empty without one */
    const char *meter_state;
    int64_t slices_read, acquire_ns, mono_ns, held_ns, busy_ns, energy_mj, from_us, received_us;
    const char *meter_boot;
    struct cr_bytes reading, path, statement, signature;
    int64_t leaf_index, tree_size;
    int64_t prior_ns;    /* what interim records of this lease have billed, less corrections */
    int64_t midnight_us; /* up to where they bill; CR_NO_INTEGER: none */
    int64_t now_us;
};
extern const struct cr_shape ledger_held_shape;

/* A record to write: of a lease, or a correction of one of its interim records. */
struct ledger_entry {
    const struct ledger_held *held;
    enum billing_kind kind;
    const char *outcome;
    struct billing_leg leg;
    const char *record;   /* its id; NULL: a fresh one */
    const char *corrects; /* of a correction */
    const char *reason;
};

/* Writes record, leg, charge and leaf. ret_record: its id. */
enum cr_status ledger_record_write(struct cr_call *call, struct db *db,
                                   const struct service_config *config,
                                   const struct service_ask *ask, const struct ledger_entry *entry,
                                   const char **ret_record) CR_CHECK;

/* What the leg of this lease is made from. ended_us: the end, or a midnight. */
struct billing_lease ledger_lease_of(struct cr_call *call, const struct ledger_held *held,
                                     int64_t ended_us);

/* Interim records for each midnight that the lease has crossed and its last reading proves; the
 * row is brought up to date. ret_count may be NULL. */
enum cr_status ledger_record_midnights(struct cr_call *call, struct db *db,
                                       const struct service_config *config,
                                       const struct service_ask *ask, struct ledger_held *held,
                                       int64_t ended_us, int64_t *ret_count) CR_CHECK;

/* Pins the last reading of the lease; a pin that is there stays. */
enum { LEDGER_PIN_DAY = 1, LEDGER_PIN_RELEASED, LEDGER_PIN_LAST };
enum cr_status ledger_pin(struct cr_call *call, struct db *db, const struct ledger_held *held,
                          int pin, int64_t at_us) CR_CHECK;

/* The final record of a lease that ended, and of a failure of the platform the corrections. */
enum cr_status ledger_record_final(struct cr_call *call, struct db *db,
                                   const struct service_config *config,
                                   const struct service_ask *ask, struct ledger_held *held,
                                   const char *outcome, const char *record) CR_CHECK;

/* All that a job has used. */
enum cr_status ledger_sum(struct cr_call *call, struct db *db, const char *tenant, const char *job,
                          struct ledger_sum *ret_sum) CR_CHECK;

/* The log: ledger_seal_log.c, ledger_publish.c, ledger_tiles.c ----------------------------------
 */

/* log_state, and the rows of checkpoint. */
struct ledger_tree {
    int64_t size;
    struct cr_bytes root, frontier;
    struct cr_bytes note; /* of a checkpoint */
};
extern const struct cr_shape ledger_tree_shape;

/* db.7: whoever is no longer the engine stops here. */
enum cr_status ledger_hold(struct cr_call *call, struct db *db, const struct service_config *config,
                           int64_t epoch) CR_CHECK;

/* The frontier of a row, which is of its size. */
enum cr_status ledger_frontier(struct cr_call *call, const struct ledger_tree *tree,
                               struct tlog_frontier *ret_frontier) CR_CHECK;

/* Writes the bundles and tiles that a tree of that size has and one of before does not. */
enum cr_status ledger_tiles_write(struct cr_call *call, struct db *db,
                                  const struct service_config *config, int64_t before,
                                  int64_t size) CR_CHECK;

/* The tlog-proof of a leaf under the smallest checkpoint that covers it.
 * fails with cr_code_unavailable: there is none yet */
enum cr_status ledger_proof_of(struct cr_call *call, struct db *db,
                               const struct service_config *config, int64_t leaf,
                               int64_t *ret_index, const char **ret_proof) CR_CHECK;

/* The micro-units of an exact amount, as text of a row. */
enum cr_status ledger_micro(struct cr_call *call, const char *amount_zepto,
                            int64_t *ret_micro) CR_CHECK;
