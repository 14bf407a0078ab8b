/*
 * cache: the artifacts that a node keeps, and how their bytes come and go.
 *
 *     DIR/cache/TENANT/2 hex/SHA256      whole, 0400
 *     DIR/partial/TENANT/SHA256          on its way; goes on where it stopped
 *
 * By tenant also on the disk: a shared store would tell by its time what another tenant holds. What
 * is here was hashed when it was written, and is hashed again the first time that it is opened
 * after the start of the process; an entry that fails is deleted.
 *
 * Units        bytes
 * Ownership    descriptors that are returned are the caller's
 * Threads      a cache may be used by all; one fetch of a digest runs at a time, and serves all who
 *              wait for it. A fetch client belongs to its thread
 * fails with   CR_NOT_FOUND      the region does not give it (404)
 *              CR_CONFLICT       the lease is over (409)
 *              CR_EXHAUSTED      there is no room
 *              CR_INVALID        its bytes are not those of its digest, twice
 *              CR_UNAVAILABLE, CR_TIMEOUT   as base/fetch has it; what came is kept
 * Source       design: compute.md section 6
 */
#pragma once

#include "base/core/file.h"
#include "base/fetch/fetch.h"
#include "compute/protocol/protocol.h"

#define CACHE_PART_SIZE (INT64_C(64) << 20)  /* of one request of a fetch */
#define CACHE_SEND_SIZE (INT64_C(256) << 20) /* of one request of an upload */
#define CACHE_STALL_NS  INT64_C(60000000000)

struct cache;

/* Opens the cache below dir, made if it is not there. limit: of what is kept. */
enum cr_status cache_open(struct cr_call *call, const char *dir, int64_t limit,
                          struct cache **ret_cache) CR_CHECK;
void cache_close(struct cache **cache);

/* How the region is asked for bytes. */
struct cache_source {
    struct fetch *fetch;
    const char *url;        /* of the region, without a slash at its end */
    const char *credential; /* "Bearer …"; NULL: the connection says who asks */
    const char *lease;
};

/* The bytes of a digest, whole and verified; fetched if they are not here. Read-only. */
enum cr_status cache_get(struct cr_call *call, struct cache *cache,
                         const struct cache_source *source, const char *tenant, const char *digest,
                         int64_t size, int *ret_descriptor) CR_CHECK;

/* What was made: its digest, of the whole file of that size. */
enum cr_status cache_digest(struct cr_call *call, int descriptor, int64_t size,
                            char ret_digest[PROTOCOL_DIGEST_LENGTH + 1]) CR_CHECK;

/* Sends a file that was made; asks first, so that what the tenant holds is not sent again. */
enum cr_status cache_put(struct cr_call *call, const struct cache_source *source,
                         const char *digest, int descriptor, int64_t size,
                         const char *kind) CR_CHECK;

/* Readings for metrics. */
struct cache_counts {
    int64_t hits, misses, evictions, corrupt, bytes_in, bytes_out;
};
struct cache_counts cache_count(struct cache *cache);
