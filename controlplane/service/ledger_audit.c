/* ledger_audit: leaves, and their proofs. */
#include "controlplane/service/ledger_internal.h"

#include "controlplane/service/jobs_internal.h"
#include "controlplane/service/ledger_sql.h"

/* clang-format off */
static const struct cr_member leaf_members[] = {
    CR_MEMBER(struct ledger_leaf, leaf, 0, CR_SAFE_INTEGER),
    CR_TIME(struct ledger_leaf, at),
    CR_MEMBER(struct ledger_leaf, kind, 1, 63, .about = "what was done"),
    CR_MEMBER(struct ledger_leaf, actor, 1, 255),
    CR_MEMBER(struct ledger_leaf, object, 1, 255, .about = "to what"),
    CR_MEMBER(struct ledger_leaf, tenant, 1, 63, .flags = CR_NULLABLE),
    CR_MEMBER(struct ledger_leaf, index, 0, CR_SAFE_INTEGER, .flags = CR_NULLABLE,
              .about = "in the log; null while it waits to be sealed"),
};
const struct cr_shape ledger_leaf_shape =
    CR_SHAPE(struct ledger_leaf, leaf_members, .name = "AuditLeaf");

static const struct cr_member proof_members[] = {
    CR_MEMBER(struct ledger_proof, leaf, 0, CR_SAFE_INTEGER),
    CR_MEMBER(struct ledger_proof, index, 0, CR_SAFE_INTEGER),
    CR_MEMBER(struct ledger_proof, entry, 1, TLOG_ENTRY_MAX, .about = "what stands in the log"),
    CR_JSON(struct ledger_proof, payload, INT32_MAX,
            .about = "what it says: a sealed entry is the SHA-256 of salt and payload"),
    CR_BYTES(struct ledger_proof, salt, 16, 16, .flags = CR_NULLABLE),
    CR_MEMBER(struct ledger_proof, proof, 1, 65536, .about = TLOG_PROOF_LABEL),
};
const struct cr_shape ledger_proof_shape =
    CR_SHAPE(struct ledger_proof, proof_members, .name = "AuditProof");
/* clang-format on */

struct row {
    int64_t leaf;
    struct cr_bytes payload, salt, entry;
};
static const struct cr_member row_members[] = {
    CR_MEMBER(struct row, leaf, 0, 0),
    CR_BYTES(struct row, payload, 0, INT32_MAX),
    CR_BYTES(struct row, salt, 0, 16),
    CR_BYTES(struct row, entry, 0, TLOG_ENTRY_MAX),
};
static const struct cr_shape row_shape = CR_SHAPE(struct row, row_members);

struct looking {
    const struct service_config *config;
    const struct principal *who;
    int64_t after, limit, leaf;
    struct cr_list *ret_leaves;
    struct ledger_proof *ret_proof;
};

static enum cr_status list(struct cr_call *call, struct db *db, void *context)
{
    const struct looking *it = context;
    return db_list(call, db, &ledger_audit_page,
                   DB_VALUES(db_text(it->who->tenant), db_int(it->after), db_int(it->limit)),
                   &ledger_leaf_shape, it->ret_leaves);
}

enum cr_status ledger_audit(struct cr_call *call, struct service *service,
                            const struct principal *who, int64_t after, int64_t limit,
                            struct cr_list *ret_leaves)
{
    struct looking it = {.who = who, .after = after, .limit = limit, .ret_leaves = ret_leaves};
    return jobs_look(call, service, who, list, &it);
}

static enum cr_status prove(struct cr_call *call, struct db *db, void *context)
{
    const struct looking *it = context;
    struct row row;
    bool found = false;
    CR_TRY(db_one(call, db, &ledger_audit_leaf,
                  DB_VALUES(db_text(it->who->tenant), db_int(it->leaf)), &row_shape, &row, &found));
    if (!found)
        return service_missing(call, "leaf", cr_format(call, "%lld", (long long)it->leaf));
    *it->ret_proof = (struct ledger_proof){
        .leaf = row.leaf,
        .entry = cr_copy(call, row.entry.data, row.entry.size),
        .payload = {cr_copy(call, row.payload.data, row.payload.size), row.payload.size},
        .salt = row.salt,
    };
    return ledger_proof_of(call, db, it->config, row.leaf, &it->ret_proof->index,
                           &it->ret_proof->proof);
}

enum cr_status ledger_proof(struct cr_call *call, struct service *service,
                            const struct principal *who, int64_t leaf,
                            struct ledger_proof *ret_proof)
{
    struct looking it = {
        .config = service->config, .who = who, .leaf = leaf, .ret_proof = ret_proof};
    return jobs_look(call, service, who, prove, &it);
}
