/*
 * secrets: the keys of a region, as files of 32 bytes in hex that only their owner may read.
 *
 *     records.key   seed of the Ed25519 key that signs usage records, prices, invoices
 *     log.key       seed of the one that signs checkpoints of the log
 *     pepper        under which credentials and idempotent secrets are hashed
 *     session.key   under which console sessions, their CSRF tokens and login codes are hashed
 *     cursor.key    under which cursors of lists are signed
 *
 * Ownership    guarded memory of the process, until service_secrets_close
 * Threads      read-only once opened
 * Source       ledger.md section 2, surface.md section 4, reliability section 9
 */
#pragma once

#include "base/crypto/crypto.h"

#define SERVICE_PEPPER_ID_SIZE 17

struct service_secrets {
    struct base_crypto_signer *records, *log;
    unsigned char *pepper, *session, *cursor; /* 32 bytes each */
    /* Names the pepper beside what it hashed: 16 hex digits of its keyed hash. */
    char pepper_id[SERVICE_PEPPER_ID_SIZE];
};

/* Opens all of a folder. fails with CR_NOT_FOUND or CR_INVALID, naming the file. */
enum cr_status service_secrets_open(struct cr_call *call, const char *folder,
                                    struct service_secrets *ret_secrets) CR_CHECK;
void service_secrets_close(struct service_secrets *secrets);

/* Makes the folder (0700) and those of the files that are missing; keeps those that are there. */
enum cr_status service_secrets_make(struct cr_call *call, const char *folder) CR_CHECK;
