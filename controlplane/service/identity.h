/*
 * identity: who shows what credential. What api asks before anything else of a call.
 *
 * A key is looked up by the id within it, and its text is compared as a BLAKE2b hash under the
 * pepper, which is not in the database; an unknown id is compared with a hash that nothing has. A
 * session is looked up by the keyed hash of its bytes. Whether either has ended, the database's
 * clock says.
 *
 * Ownership    the principal lives as long as the call
 * Caching      a key's answer may be IDENTITY_CACHE_NS old; a revocation in this process drops it
 * at once, in another by its age: REVOKE_MAX holds. Sessions are not cached Threads      the cache
 * is shared by all workers, and locked fails with   cr_code_credential_rejected (unknown and
 * revoked alike), cr_code_credential_expired, cr_code_session_expired Source       surface.md
 * section 4, reliability section 9
 */
#pragma once

#include "controlplane/service/service.h"

#define IDENTITY_CACHE_NS     INT64_C(30000000000)
#define IDENTITY_CACHE_KEYS   4096
#define IDENTITY_LAST_USED_US INT64_C(60000000) /* last_used is written at most so often */

/* What tenants and operators may be allowed, each "noun:verb"; NULL ends them. */
extern const char *const identity_tenant_permissions[];
extern const char *const identity_operator_permissions[];

/* All of a list as one text, separated by commas. Static. */
const char *identity_all_permissions(enum principal_kind kind);

/* Whether a list that is separated by commas holds the permission, or "*". */
bool identity_holds(const char *permissions, const char *permission);

/* What was looked up lately, of this process; service_config.identities. */
struct identity_cache;
struct identity_cache *identity_cache_open(void);
void identity_cache_close(struct identity_cache **cache);

/* Forgets a key, key_…: it was changed or revoked. cache may be NULL. */
void identity_cache_drop(struct identity_cache *cache, const char *key);

/*
 * Of "Authorization: Bearer crs_…". A text that is not well formed is refused without a look at the
 * database. A key of scope NODE gives PRINCIPAL_NODE, one of kind opr PRINCIPAL_OPERATOR.
 */
enum cr_status identity_by_key(struct cr_call *call, struct service *service,
                               const char *credential, const struct principal **ret_who) CR_CHECK;

/* Of the console's cookie: the session's 32 random bytes in hex. Tenant or operator. */
enum cr_status identity_by_session(struct cr_call *call, struct service *service,
                                   const char *session, const struct principal **ret_who) CR_CHECK;

/* What let somebody in, kept by what outlives its call: a stream. */
struct identity_proof {
    const char *tenant; /* "operators" for theirs */
    const char *key;    /* key_…; NULL: it was a session */
    unsigned char session_hash[32];
};

/* Of a call: session is the cookie's value, NULL where who showed a key. Its texts are who's. */
struct identity_proof identity_proof_of(const struct service_config *config,
                                        const struct principal *who, const char *session);

/* Whether it lets in still: the key was not revoked and has not expired, the session goes on. */
enum cr_status identity_still(struct cr_call *call, struct service *service,
                              const struct identity_proof *proof, bool *ret_still) CR_CHECK;

/* The hash under which a credential is stored. */
void identity_hash(const struct service_config *config, const char *credential,
                   unsigned char ret_hash[32]);
