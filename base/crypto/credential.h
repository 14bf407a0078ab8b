/*
 * credential: the keys that programs show, crs_KIND_ID_SECRETSUM.
 *
 * ID is 12 letters and names the key, SECRET is 30 letters, SUM is the CRC-32 (IEEE) of all that
 * stands before it in 6 letters, big-endian; all in base 62, 0-9A-Za-z. So a scanner finds keys
 * without a network, and a typing error is told from a revoked key.
 *
 * Source: design/surface.md, section 4.
 */
#pragma once

#include "base/core/call.h"

#define BASE_CRYPTO_CREDENTIAL_ID_LENGTH     12
#define BASE_CRYPTO_CREDENTIAL_SECRET_LENGTH 36 /* with the sum */
#define BASE_CRYPTO_CREDENTIAL_LENGTH_MAX    58 /* the kind has 3 or 4 letters */

/* The kinds: of a tenant's program by sort of installation, of a person, an operator, an enrolment.
 */
extern const char *const base_crypto_credential_kinds[]; /* live test dev tok opr enr; NULL */

struct base_crypto_credential {
    const char *kind; /* one of the kinds; static */
    char id[BASE_CRYPTO_CREDENTIAL_ID_LENGTH + 1];
};

/* A fresh one, of the call's randomness. The text is secret: shown once, stored only hashed. */
const char *base_crypto_credential_make(struct cr_call *call, const char *kind,
                                        struct base_crypto_credential *ret_credential);

/* The same with an id and a secret of 30 letters that are given. */
const char *base_crypto_credential_of(struct cr_call *call, const char *kind, const char *id,
                                      const char *secret);

/* Whether the text is one, whole and with the right sum; says which. Looks at no database. */
bool base_crypto_credential_parse(const char *text, size_t length,
                                  struct base_crypto_credential *ret_credential);
