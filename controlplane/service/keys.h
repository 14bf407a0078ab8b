/*
 * keys: the credentials of a tenant's programs. A secret is shown once, when it is made; what is
 * kept of it is a hash.
 *
 * Invariants   a key may do no more than who made it; a rotation leaves the old secret alive for
 * the overlap that was asked for and no longer; a revocation is for good Ownership    whatever is
 * filled belongs to the call fails with   cr_code_not_found         no such key of this tenant
 *              cr_code_permission_denied it would be allowed more than its maker
 *              cr_code_version_mismatch  it was changed since it was read
 *              cr_code_state_forbids     it is revoked
 *              cr_code_quota_exceeded    KEYS_MAX keys live already
 * Source       surface.md section 4
 */
#pragma once

#include "controlplane/service/service.h"

#define KEYS_MAX              500 /* that live, of one tenant */
#define KEYS_NAME_MAX         100
#define KEYS_LIFE_US          (90 * 24 * INT64_C(3600000000))
#define KEYS_LIFE_MAX_US      (366 * 24 * INT64_C(3600000000))
#define KEYS_OPERATOR_LIFE_US (24 * INT64_C(3600000000))
#define KEYS_OVERLAP_S        INT64_C(86400) /* unless said */
#define KEYS_OVERLAP_MAX_S    INT64_C(604800)

/* The resource. secret is there in the answers of create and rotate alone. */
struct key {
    const char *key, *name, *kind, *state; /* active, expired, revoked */
    struct cr_texts permissions;
    int64_t created, expires, revoked, last_used;
    const char *created_by;
    int64_t version;
    const char *secret, *durability;
};
extern const struct cr_shape key_shape;      /* "Key" */
extern const struct cr_shape key_made_shape; /* "KeyMade": with secret and durability */

struct key_create {
    const char *name;
    struct cr_texts permissions; /* absent: all of its maker's */
    int64_t expires;             /* absent: in KEYS_LIFE_US */
};
extern const struct cr_shape key_create_shape;

struct key_patch {
    const char *name;            /* absent: as it was */
    struct cr_texts permissions; /* absent: as they were */
};
extern const struct cr_shape key_patch_shape;

struct key_rotate {
    int64_t overlap_s; /* absent: KEYS_OVERLAP_S */
};
extern const struct cr_shape key_rotate_shape;

/* POST /v1/keys */
enum cr_status keys_create(struct cr_call *call, struct service *service,
                           const struct service_ask *ask, const struct key_create *create,
                           struct key *ret_key) CR_CHECK;

/* GET /v1/keys: struct key, newest first, behind `after`. */
enum cr_status keys_list(struct cr_call *call, struct service *service, const struct principal *who,
                         const char *after, int64_t limit, struct cr_list *ret_keys) CR_CHECK;

/* GET /v1/keys/{key} */
enum cr_status keys_get(struct cr_call *call, struct service *service, const struct principal *who,
                        const char *key, struct key *ret_key) CR_CHECK;

/* PATCH /v1/keys/{key}, where it has the version still. */
enum cr_status keys_patch(struct cr_call *call, struct service *service,
                          const struct service_ask *ask, const char *key, int64_t version,
                          const struct key_patch *patch, struct key *ret_key) CR_CHECK;

/* POST /v1/keys/{key}/rotate */
enum cr_status keys_rotate(struct cr_call *call, struct service *service,
                           const struct service_ask *ask, const char *key,
                           const struct key_rotate *rotate, struct key *ret_key) CR_CHECK;

/* DELETE /v1/keys/{key}: revokes it. */
enum cr_status keys_revoke(struct cr_call *call, struct service *service,
                           const struct service_ask *ask, const char *key,
                           int64_t version) CR_CHECK;

/* What a key is made of, for those who make one for others (a new tenant, the operators, a node).
 */
struct key_making {
    const char *tenant;      /* "operators", "nodes" or tnt_… */
    const char *name, *kind; /* live test dev opr */
    const char *scope;       /* tenant operator node */
    const char *node;        /* of scope node; else NULL */
    const char *permissions; /* separated by commas */
    const char *created_by;
    int64_t life_us; /* CR_NO_INTEGER: without end */
};

/* Inserts it in a transaction that is open, and gives its secret. No leaf is written. */
enum cr_status keys_make(struct cr_call *call, struct db *db, const struct service_config *config,
                         const struct key_making *making, const char **ret_key,
                         const char **ret_secret) CR_CHECK;

/*
 * A key of the region's operators, which lives 24 hours, for whoever may run cressetd on this
 * machine. The leaf says that the program made it. Its secret is of the call's memory.
 */
enum cr_status keys_bootstrap(struct cr_call *call, struct service *service, const char **ret_key,
                              const char **ret_secret) CR_CHECK;
