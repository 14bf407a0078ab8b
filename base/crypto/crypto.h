/*
 * crypto: signatures, hashes, sealing, secrets. The only door to libsodium.
 *
 *     signature    Ed25519 (RFC 8032), verified by libsodium's rule: no small order, no S >= L
 *     hash         SHA-256 (FIPS 180-4)
 *     keyed hash   BLAKE2b with a key of 32 bytes (RFC 7693)
 *     sealing      XChaCha20-Poly1305, a nonce of 24 random bytes before the sealed ones
 *
 * Ownership    secrets live in guarded memory, and are wiped when they are closed
 * Threads      a signer or a secret may be used by all; a hash that is under way, by one
 * Failures     only where said; what takes no call cannot fail
 */
#pragma once

#include "base/core/shape.h"

#define BASE_CRYPTO_SEED_SIZE       32
#define BASE_CRYPTO_PUBLIC_SIZE     32
#define BASE_CRYPTO_SIGNATURE_SIZE  64
#define BASE_CRYPTO_SHA256_SIZE     32
#define BASE_CRYPTO_KEY_SIZE        32
#define BASE_CRYPTO_KEYED_SIZE_MIN  16
#define BASE_CRYPTO_KEYED_SIZE_MAX  64
#define BASE_CRYPTO_SEAL_EXTRA_SIZE (24 + 16) /* sealed bytes are so many more than plain ones */

/* Signatures ---------------------------------------------------------------------------------- */

struct base_crypto_signer; /* a key pair, in guarded memory */

/* The key pair of a seed. The caller closes it; the seed remains the caller's to wipe. */
struct base_crypto_signer *base_crypto_signer_open(const unsigned char seed[BASE_CRYPTO_SEED_SIZE]);
void base_crypto_signer_close(struct base_crypto_signer **signer);

/* The public key, which lives as long as the signer. */
const unsigned char *base_crypto_signer_public(const struct base_crypto_signer *signer);

void base_crypto_sign(const struct base_crypto_signer *signer, const void *message, size_t size,
                      unsigned char ret_signature[BASE_CRYPTO_SIGNATURE_SIZE]);

bool base_crypto_verify(const unsigned char public_key[BASE_CRYPTO_PUBLIC_SIZE],
                        const void *message, size_t size,
                        const unsigned char signature[BASE_CRYPTO_SIGNATURE_SIZE]);

/* Hashes -------------------------------------------------------------------------------------- */

void base_crypto_sha256(const void *bytes, size_t size,
                        unsigned char ret_hash[BASE_CRYPTO_SHA256_SIZE]);

/* The same, piece by piece: init, any number of adds, done once. */
struct base_crypto_sha256 {
    _Alignas(8) unsigned char state[104]; /* libsodium's */
};
void base_crypto_sha256_init(struct base_crypto_sha256 *hash);
void base_crypto_sha256_add(struct base_crypto_sha256 *hash, const void *bytes, size_t size);
void base_crypto_sha256_done(struct base_crypto_sha256 *hash,
                             unsigned char ret_hash[BASE_CRYPTO_SHA256_SIZE]);

/* BLAKE2b of the bytes under the key, ret_size bytes long (16 to 64). */
void base_crypto_keyed(const unsigned char key[BASE_CRYPTO_KEY_SIZE], const void *bytes,
                       size_t size, unsigned char *ret_hash, size_t ret_size);

/* Sealing ------------------------------------------------------------------------------------- */

/*
 * Seals the bytes under the key, together with what is said beside them, which is not kept but must
 * be the same when they are opened. The nonce is random, of the call's env.
 */
struct cr_bytes base_crypto_seal(struct cr_call *call,
                                 const unsigned char key[BASE_CRYPTO_KEY_SIZE],
                                 struct cr_bytes beside, struct cr_bytes plain);

/* Opens what was sealed. CR_INVALID: other key, other bytes beside, or changed. */
enum cr_status base_crypto_unseal(struct cr_call *call,
                                  const unsigned char key[BASE_CRYPTO_KEY_SIZE],
                                  struct cr_bytes beside, struct cr_bytes sealed,
                                  struct cr_bytes *ret_plain) CR_CHECK;

/* Secrets ------------------------------------------------------------------------------------- */

/* Guarded memory of size bytes, zeroed, not swapped where the system allows. Closed, it is wiped.
 */
void *base_crypto_secret_open(size_t size);
void base_crypto_secret_close(void *secret); /* NULL is allowed */

/*
 * A secret out of a file that holds it in hex, on one line; of exactly size bytes. The caller
 * closes it. CR_INVALID where the file is something else, or others than its owner may read it.
 */
enum cr_status base_crypto_secret_read(struct cr_call *call, const char *path, size_t size,
                                       unsigned char **ret_secret) CR_CHECK;

/* Makes such a file, of random bytes, readable by its owner; CR_CONFLICT where one is there. */
enum cr_status base_crypto_secret_make(struct cr_call *call, const char *path,
                                       size_t size) CR_CHECK;

/* Whether they are equal, in a time that tells nothing of where they differ. */
bool base_crypto_equal(const void *a, const void *b, size_t size);

/* Overwrites what is needed no more; not left out by the compiler. */
void base_crypto_wipe(void *bytes, size_t size);
