/* crypto: what is computed: signatures, hashes, sealing. */
#include "base/crypto/crypto.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(BASE_CRYPTO_SEED_SIZE == crypto_sign_SEEDBYTES, "a seed is libsodium's");
_Static_assert(BASE_CRYPTO_PUBLIC_SIZE == crypto_sign_PUBLICKEYBYTES, "a public key too");
_Static_assert(BASE_CRYPTO_SIGNATURE_SIZE == crypto_sign_BYTES, "a signature too");
_Static_assert(BASE_CRYPTO_SHA256_SIZE == crypto_hash_sha256_BYTES, "a hash too");
_Static_assert(sizeof(struct base_crypto_sha256) == sizeof(crypto_hash_sha256_state),
               "the state of a hash under way is libsodium's");
_Static_assert(_Alignof(struct base_crypto_sha256) >= _Alignof(crypto_hash_sha256_state),
               "and is aligned for it");
_Static_assert(BASE_CRYPTO_SEAL_EXTRA_SIZE == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES +
                                                  crypto_aead_xchacha20poly1305_ietf_ABYTES,
               "a nonce and a tag are all that sealing adds");

#define NONCE_SIZE crypto_aead_xchacha20poly1305_ietf_NPUBBYTES

struct base_crypto_signer {
    unsigned char secret[crypto_sign_SECRETKEYBYTES];
    unsigned char public[crypto_sign_PUBLICKEYBYTES];
};

struct base_crypto_signer *base_crypto_signer_open(const unsigned char seed[BASE_CRYPTO_SEED_SIZE])
{
    struct base_crypto_signer *signer = base_crypto_secret_open(sizeof *signer);
    crypto_sign_seed_keypair(signer->public, signer->secret, seed);
    return signer;
}

void base_crypto_signer_close(struct base_crypto_signer **signer)
{
    base_crypto_secret_close(*signer);
    *signer = NULL;
}

const unsigned char *base_crypto_signer_public(const struct base_crypto_signer *signer)
{
    return signer->public;
}

void base_crypto_sign(const struct base_crypto_signer *signer, const void *message, size_t size,
                      unsigned char ret_signature[BASE_CRYPTO_SIGNATURE_SIZE])
{
    crypto_sign_detached(ret_signature, NULL, message, size, signer->secret);
}

bool base_crypto_verify(const unsigned char public_key[BASE_CRYPTO_PUBLIC_SIZE],
                        const void *message, size_t size,
                        const unsigned char signature[BASE_CRYPTO_SIGNATURE_SIZE])
{
    return crypto_sign_verify_detached(signature, message, size, public_key) == 0;
}

void base_crypto_sha256(const void *bytes, size_t size,
                        unsigned char ret_hash[BASE_CRYPTO_SHA256_SIZE])
{
    crypto_hash_sha256(ret_hash, bytes, size);
}

static crypto_hash_sha256_state *state_of(struct base_crypto_sha256 *hash)
{
    return (crypto_hash_sha256_state *)(void *)hash->state;
}

void base_crypto_sha256_init(struct base_crypto_sha256 *hash)
{
    crypto_hash_sha256_init(state_of(hash));
}

void base_crypto_sha256_add(struct base_crypto_sha256 *hash, const void *bytes, size_t size)
{
    crypto_hash_sha256_update(state_of(hash), bytes, size);
}

void base_crypto_sha256_done(struct base_crypto_sha256 *hash,
                             unsigned char ret_hash[BASE_CRYPTO_SHA256_SIZE])
{
    crypto_hash_sha256_final(state_of(hash), ret_hash);
}

void base_crypto_keyed(const unsigned char key[BASE_CRYPTO_KEY_SIZE], const void *bytes,
                       size_t size, unsigned char *ret_hash, size_t ret_size)
{
    assert(ret_size >= BASE_CRYPTO_KEYED_SIZE_MIN && ret_size <= BASE_CRYPTO_KEYED_SIZE_MAX);
    if (crypto_generichash(ret_hash, ret_size, bytes, size, key, BASE_CRYPTO_KEY_SIZE) != 0)
        abort();
}

struct cr_bytes base_crypto_seal(struct cr_call *call,
                                 const unsigned char key[BASE_CRYPTO_KEY_SIZE],
                                 struct cr_bytes beside, struct cr_bytes plain)
{
    unsigned char *sealed = cr_new(call, unsigned char, plain.size + BASE_CRYPTO_SEAL_EXTRA_SIZE);
    cr_random(call, sealed, NONCE_SIZE);
    crypto_aead_xchacha20poly1305_ietf_encrypt(sealed + NONCE_SIZE, NULL, plain.data, plain.size,
                                               beside.data, beside.size, NULL, sealed, key);
    return (struct cr_bytes){sealed, plain.size + BASE_CRYPTO_SEAL_EXTRA_SIZE};
}

enum cr_status base_crypto_unseal(struct cr_call *call,
                                  const unsigned char key[BASE_CRYPTO_KEY_SIZE],
                                  struct cr_bytes beside, struct cr_bytes sealed,
                                  struct cr_bytes *ret_plain)
{
    if (sealed.size < BASE_CRYPTO_SEAL_EXTRA_SIZE)
        return cr_fail(call, CR_INVALID, "the sealed bytes are cut short");
    size_t size = sealed.size - BASE_CRYPTO_SEAL_EXTRA_SIZE;
    unsigned char *plain = cr_new(call, unsigned char, size + 1);
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(plain, NULL, NULL, sealed.data + NONCE_SIZE,
                                                   sealed.size - NONCE_SIZE, beside.data,
                                                   beside.size, sealed.data, key) != 0)
        return cr_fail(call, CR_INVALID, "the sealed bytes do not open");
    *ret_plain = (struct cr_bytes){plain, size};
    return CR_OK;
}
