/* ledger_message: what a node has signed, taken apart and checked. */
#include "controlplane/service/ledger_internal.h"

#include "base/json/json.h"
#include "controlplane/service/ledger_sql.h"

#include <string.h>

static const struct cr_member node_members[] = {
    CR_MEMBER(struct ledger_node, node, 0, 0),          CR_MEMBER(struct ledger_node, vkey, 0, 0),
    CR_MEMBER(struct ledger_node, boot, 0, 0),          CR_MEMBER(struct ledger_node, state, 0, 0),
    CR_MEMBER(struct ledger_node, statement_seq, 0, 0),
};
static const struct cr_shape node_shape = CR_SHAPE(struct ledger_node, node_members);

enum cr_status ledger_node_read(struct cr_call *call, struct db *db, const char *node,
                                struct ledger_node *ret_node)
{
    bool found = false;
    CR_TRY(db_one(call, db, &ledger_node, DB_VALUES(db_text(node)), &node_shape, ret_node, &found));
    return found ? CR_OK : service_missing(call, "node", node);
}

/* The one signature of an envelope as it travels. */
static bool is_signed(struct cr_call *call, const struct ledger_node *node,
                      const struct protocol_envelope *envelope, const char *payload_type)
{
    struct tlog_vkey vkey;
    const struct protocol_signature *signature = envelope->signatures.items;
    if (!tlog_vkey_read(call, node->vkey, strlen(node->vkey), &vkey) ||
        envelope->signatures.count != 1 || signature->sig.size != BASE_CRYPTO_SIGNATURE_SIZE)
        return false;
    struct cr_bytes pae = provenance_pae(call, payload_type, envelope->payload);
    return base_crypto_verify(vkey.key, pae.data, pae.size, signature->sig.data);
}

enum cr_status ledger_message(struct cr_call *call, const struct ledger_node *node,
                              const struct protocol_envelope *envelope, const char *payload_type,
                              struct cr_bytes *ret_payload)
{
    if (strcmp(envelope->payloadType, payload_type) != 0)
        return cr_fail_as(call, &cr_code_bad_signature, "payloadType must be %s", payload_type);
    if (!is_signed(call, node, envelope, payload_type))
        return cr_fail_as(call, &cr_code_bad_signature,
                          "the message is not signed by the key of node %s", node->node);
    *ret_payload = envelope->payload;
    return CR_OK;
}

enum cr_status ledger_body(struct cr_call *call, struct cr_bytes body, const struct cr_shape *shape,
                           void *ret_value)
{
    const struct json_value *value = NULL;
    CR_TRY(json_parse(call, NULL, (const char *)body.data, body.size, &value));
    const char *canonical = json_canonical(call, value);
    if (strlen(canonical) != body.size || memcmp(canonical, body.data, body.size) != 0)
        return cr_fail_as(call, &cr_code_bad_signature, "what is signed is not canonical JSON");
    return json_read_value(call, shape, value, "", ret_value);
}

enum cr_status ledger_statement(struct cr_call *call, const struct ledger_node *node,
                                const struct protocol_envelope *envelope,
                                struct ledger_statement *ret_statement)
{
    CR_TRY(ledger_message(call, node, envelope, BILLING_TYPE_STATEMENT, &ret_statement->payload));
    if (!billing_statement_read(call, ret_statement->payload, &ret_statement->says) ||
        strcmp(ret_statement->says.node, node->node) != 0 ||
        !cr_hex_parse(ret_statement->says.root, strlen(ret_statement->says.root),
                      ret_statement->root.bytes, TLOG_HASH_SIZE))
        return cr_fail_as(call, &cr_code_bad_signature,
                          "the statement is not canonical, or of another node");
    const struct protocol_signature *signature = envelope->signatures.items;
    ret_statement->signature = signature->sig;
    return CR_OK;
}

/* The siblings, as hashes and as the bytes that are kept. */
static bool path_of(struct cr_call *call, const struct cr_texts *texts,
                    struct tlog_hash path[TLOG_PROOF_MAX], struct cr_bytes *ret_bytes)
{
    if (texts->count > TLOG_PROOF_MAX)
        return false;
    for (size_t i = 0; i < texts->count; i++)
        if (!cr_hex_parse(texts->items[i], strlen(texts->items[i]), path[i].bytes, TLOG_HASH_SIZE))
            return false;
    unsigned char *bytes = cr_new(call, unsigned char, texts->count *TLOG_HASH_SIZE + 1);
    memcpy(bytes, path, texts->count * TLOG_HASH_SIZE);
    *ret_bytes = (struct cr_bytes){bytes, texts->count * TLOG_HASH_SIZE};
    return true;
}

bool ledger_reading(struct cr_call *call, const struct ledger_statement *statement,
                    const struct protocol_metered *metered, struct ledger_reading *ret_reading)
{
    struct tlog_hash path[TLOG_PROOF_MAX];
    struct tlog_hash leaf = tlog_leaf(metered->reading.data, metered->reading.size);
    if (metered->size < BILLING_READINGS_SIZE_MIN || (metered->size & (metered->size - 1)) != 0 ||
        !path_of(call, &metered->path, path, &ret_reading->path) ||
        !tlog_included(metered->index, metered->size, &leaf, &statement->root, path,
                       metered->path.count) ||
        !billing_reading_read(call, metered->reading, &ret_reading->says))
        return false;

    unsigned char hash[BASE_CRYPTO_SHA256_SIZE];
    base_crypto_sha256(metered->reading.data, metered->reading.size, hash);
    ret_reading->body = metered->reading;
    ret_reading->leaf_index = metered->index;
    ret_reading->tree_size = metered->size;
    ret_reading->sha256 = cr_hex(call, hash, sizeof hash);
    return strcmp(ret_reading->says.node, statement->says.node) == 0 &&
           strcmp(ret_reading->says.boot, statement->says.boot) == 0 &&
           ret_reading->says.mono_ns <= statement->says.mono_ns;
}
