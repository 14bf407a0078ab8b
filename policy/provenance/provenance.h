/*
 * provenance: who says so: DSSE envelopes.
 *
 * What is signed is never the payload itself, but PAE(type, payload): so a signature for one type
 * cannot be shown as one for another. A verifier tries each of its keys, since keyid is only a
 * hint; asks for the type after the signature; and reads the payload last.
 *
 * Ownership    what is made or read lives as long as the call
 * Threads      no state anywhere
 * Source       github.com/secure-systems-lab/dsse, protocol.md and envelope.md
 */
#pragma once

#include "base/core/shape.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"

#define PROVENANCE_SIGNATURES_MAX 64

struct provenance_signature {
    const char *keyid;   /* NULL: not said */
    struct cr_bytes sig; /* of any length; one that is not 64 bytes verifies under no key */
};

struct provenance_envelope {
    const char *payload_type;
    struct cr_bytes payload;
    struct provenance_signature signatures[PROVENANCE_SIGNATURES_MAX];
    size_t signature_count;
};

/* "DSSEv1" SP LEN(type) SP type SP LEN(payload) SP payload */
struct cr_bytes provenance_pae(struct cr_call *call, const char *payload_type,
                               struct cr_bytes payload);

/*
 * Reads an envelope out of JSON: payload and signatures in base64 of either alphabet, with its
 * padding; at least one signature; members that are not known are passed over. false: it is none.
 */
bool provenance_envelope_read(struct cr_call *call, const struct json_value *value,
                              struct provenance_envelope *ret_envelope);

/* Base64 as an envelope may hold it. */
bool provenance_base64(struct cr_call *call, const char *text, size_t length,
                       struct cr_bytes *ret_bytes);

/*
 * How many of the keys, each of BASE_CRYPTO_PUBLIC_SIZE bytes, have signed; a key counts once. So
 * at least "threshold" keys is one comparison, and 0 is never enough.
 * ret_first    the number of the first key that has; may be NULL
 */
size_t provenance_signers(struct cr_call *call, const struct provenance_envelope *envelope,
                          const unsigned char *const *keys, size_t key_count, size_t *ret_first);

/* Signs a payload, and the whole as JSON (signatures: one, under keyid). */
struct provenance_envelope provenance_sign(struct cr_call *call, const char *payload_type,
                                           struct cr_bytes payload, const char *keyid,
                                           const struct base_crypto_signer *signer);
const char *provenance_envelope_write(struct cr_call *call,
                                      const struct provenance_envelope *envelope);
