/* ledger_document: what the region signs, and the leaves of it. */
#include "controlplane/service/ledger_internal.h"

#include "controlplane/service/ledger_sql.h"
#include "controlplane/service/secrets.h"

#include <assert.h>
#include <string.h>

static struct tlog_vkey vkey_of(struct cr_call *call, const struct service_config *config,
                                const char *what, const struct base_crypto_signer *signer)
{
    struct tlog_vkey vkey;
    bool is_named = tlog_vkey_make(cr_format(call, "%s/%s", config->domain, what), TLOG_ED25519,
                                   base_crypto_signer_public(signer), &vkey);
    assert(is_named); /* the domain was checked when the program started */
    return vkey;
}

struct tlog_vkey ledger_records_vkey(struct cr_call *call, const struct service_config *config)
{
    return vkey_of(call, config, "records", config->secrets->records);
}

struct tlog_vkey ledger_log_vkey(struct cr_call *call, const struct service_config *config)
{
    return vkey_of(call, config, "log", config->secrets->log);
}

const char *ledger_node_key_name(struct cr_call *call, const struct service_config *config,
                                 const char *node)
{
    return cr_format(call, "%s/node/%s", config->domain, node);
}

const char *ledger_trust_policy(struct cr_call *call, const struct service_config *config)
{
    struct tlog_vkey vkey = ledger_log_vkey(call, config);
    return cr_format(call, "log %s\nquorum none\n", tlog_vkey_write(call, &vkey));
}

const char *ledger_trust_keys(struct cr_call *call, const struct service_config *config)
{
    struct tlog_vkey vkey = ledger_records_vkey(call, config);
    return cr_format(call, "# keys that may sign records, prices and node keys\nrecords %s\n",
                     tlog_vkey_write(call, &vkey));
}

enum cr_status ledger_document(struct cr_call *call, struct db *db,
                               const struct service_config *config, const char *payload_type,
                               struct cr_bytes body, const struct ledger_leaf_of *leaf,
                               struct ledger_document *ret_document)
{
    struct tlog_vkey vkey = ledger_records_vkey(call, config);
    struct cr_bytes pae = provenance_pae(call, payload_type, body);
    struct ledger_document document = {.body = body};
    base_crypto_sha256(body.data, body.size, document.sha256);
    base_crypto_sign(config->secrets->records, pae.data, pae.size, document.signature);
    memcpy(document.key_id, vkey.id, sizeof document.key_id);

    struct service_mutation mutation = {
        .tenant = leaf->tenant, .action = leaf->kind, .object = leaf->object};
    CR_TRY(service_leaf(call, db, leaf->ask, &mutation, leaf->is_public ? leaf->kind : NULL,
                        body.data, body.size, &document.leaf));
    *ret_document = document;
    return CR_OK;
}

enum cr_status ledger_node_key(struct cr_call *call, struct db *db,
                               const struct service_config *config, const struct service_ask *ask,
                               const char *node, const char *vkey)
{
    struct tlog_vkey key;
    if (!tlog_vkey_read(call, vkey, strlen(vkey), &key) || key.type != TLOG_ED25519 ||
        strcmp(key.name, ledger_node_key_name(call, config, node)) != 0)
        return cr_fail_as(call, &cr_code_invalid_body, "vkey is not a key of the name %s",
                          ledger_node_key_name(call, config, node));

    int64_t now_us = cr_utc_us(call);
    struct billing_node_key says = {.from_us = now_us,
                                    .node = node,
                                    .region = config->domain,
                                    .until_us = CR_NO_INTEGER,
                                    .vkey = vkey};
    struct ledger_leaf_of leaf = {
        .ask = ask, .kind = "key.added", .object = node, .is_public = true};
    struct ledger_document document;
    CR_TRY(ledger_document(call, db, config, BILLING_TYPE_NODE_KEY,
                           billing_node_key_write(call, &says), &leaf, &document));
    return db_exec(call, db, &ledger_node_key_insert,
                   DB_VALUES(db_bytes(key.id, sizeof key.id), db_int(now_us), db_text(node),
                             db_text(vkey), db_int(now_us), db_int(CR_NO_INTEGER),
                             db_bytes(document.body.data, document.body.size),
                             db_bytes(document.signature, sizeof document.signature),
                             db_int(document.leaf)),
                   NULL);
}
