/* dsse: envelopes, read, verified and made. */
#include "policy/provenance/provenance.h"

#include <string.h>

struct cr_bytes provenance_pae(struct cr_call *call, const char *payload_type,
                               struct cr_bytes payload)
{
    struct cr_text text = cr_text_open(call);
    cr_text_add_format(&text, "DSSEv1 %zu %s %zu ", strlen(payload_type), payload_type,
                       payload.size);
    cr_text_add_bytes(&text, payload.data, payload.size);
    return (struct cr_bytes){(const unsigned char *)text.data, text.length};
}

bool provenance_base64(struct cr_call *call, const char *text, size_t length,
                       struct cr_bytes *ret_bytes)
{
    bool is_url = memchr(text, '-', length) || memchr(text, '_', length);
    if (!is_url)
        return cr_base64_parse(call, CR_BASE64_STANDARD, text, length, ret_bytes);

    /* The alphabet of URLs, but padded: one string has one alphabet. */
    if (memchr(text, '+', length) || memchr(text, '/', length))
        return false;
    char *standard = cr_new(call, char, length + 1);
    for (size_t i = 0; i < length; i++)
        standard[i] = (char)(text[i] == '-' ? '+' : text[i] == '_' ? '/' : text[i]);
    return cr_base64_parse(call, CR_BASE64_STANDARD, standard, length, ret_bytes);
}

/* The bytes of a member in base64. */
static bool bytes_of(struct cr_call *call, const struct json_value *value, const char *name,
                     struct cr_bytes *ret_bytes)
{
    const struct json_value *member = json_member(value, name);
    return member && member->kind == JSON_KIND_TEXT &&
           provenance_base64(call, member->text, member->length, ret_bytes);
}

static bool signature_read(struct cr_call *call, const struct json_value *value,
                           struct provenance_signature *ret_signature)
{
    const struct json_value *keyid = json_member(value, "keyid");
    if (value->kind != JSON_KIND_OBJECT || (keyid && keyid->kind != JSON_KIND_TEXT))
        return false;
    ret_signature->keyid = keyid ? keyid->text : NULL;
    return bytes_of(call, value, "sig", &ret_signature->sig);
}

bool provenance_envelope_read(struct cr_call *call, const struct json_value *value,
                              struct provenance_envelope *ret_envelope)
{
    const struct json_value *signatures = json_member(value, "signatures");
    *ret_envelope = (struct provenance_envelope){
        .payload_type = json_member_text(value, "payloadType"),
    };
    if (!ret_envelope->payload_type || !bytes_of(call, value, "payload", &ret_envelope->payload) ||
        !signatures || signatures->kind != JSON_KIND_ARRAY || signatures->count == 0 ||
        signatures->count > PROVENANCE_SIGNATURES_MAX)
        return false;
    for (size_t i = 0; i < signatures->count; i++)
        if (!signature_read(call, &signatures->items[i], &ret_envelope->signatures[i]))
            return false;
    ret_envelope->signature_count = signatures->count;
    return true;
}

static bool has_signed(const struct provenance_envelope *envelope, struct cr_bytes pae,
                       const unsigned char *key)
{
    for (size_t i = 0; i < envelope->signature_count; i++) {
        struct cr_bytes sig = envelope->signatures[i].sig;
        if (sig.size == BASE_CRYPTO_SIGNATURE_SIZE &&
            base_crypto_verify(key, pae.data, pae.size, sig.data))
            return true;
    }
    return false;
}

/* Whether one of the keys before it is the same. */
static bool is_repeated(const unsigned char *const *keys, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (memcmp(keys[i], keys[index], BASE_CRYPTO_PUBLIC_SIZE) == 0)
            return true;
    return false;
}

size_t provenance_signers(struct cr_call *call, const struct provenance_envelope *envelope,
                          const unsigned char *const *keys, size_t key_count, size_t *ret_first)
{
    struct cr_bytes pae = provenance_pae(call, envelope->payload_type, envelope->payload);
    size_t count = 0;
    for (size_t i = 0; i < key_count; i++) {
        if (is_repeated(keys, i) || !has_signed(envelope, pae, keys[i]))
            continue;
        if (count++ == 0 && ret_first)
            *ret_first = i;
    }
    return count;
}

struct provenance_envelope provenance_sign(struct cr_call *call, const char *payload_type,
                                           struct cr_bytes payload, const char *keyid,
                                           const struct base_crypto_signer *signer)
{
    struct cr_bytes pae = provenance_pae(call, payload_type, payload);
    unsigned char *sig = cr_new(call, unsigned char, BASE_CRYPTO_SIGNATURE_SIZE);
    base_crypto_sign(signer, pae.data, pae.size, sig);
    return (struct provenance_envelope){
        .payload_type = payload_type,
        .payload = payload,
        .signatures = {{.keyid = keyid, .sig = {sig, BASE_CRYPTO_SIGNATURE_SIZE}}},
        .signature_count = 1,
    };
}

const char *provenance_envelope_write(struct cr_call *call,
                                      const struct provenance_envelope *envelope)
{
    struct cr_text text = cr_text_open(call);
    cr_text_add_format(
        &text, "{\"payload\":\"%s\",\"payloadType\":",
        cr_base64_print(call, CR_BASE64_STANDARD, envelope->payload.data, envelope->payload.size));
    cr_text_add_quoted(&text, envelope->payload_type, strlen(envelope->payload_type));
    cr_text_add(&text, ",\"signatures\":[");
    for (size_t i = 0; i < envelope->signature_count; i++) {
        const struct provenance_signature *signature = &envelope->signatures[i];
        cr_text_add(&text, i ? ",{" : "{");
        if (signature->keyid) {
            cr_text_add(&text, "\"keyid\":");
            cr_text_add_quoted(&text, signature->keyid, strlen(signature->keyid));
            cr_text_add(&text, ",");
        }
        cr_text_add_format(
            &text, "\"sig\":\"%s\"}",
            cr_base64_print(call, CR_BASE64_STANDARD, signature->sig.data, signature->sig.size));
    }
    cr_text_add(&text, "]}");
    return text.data;
}
