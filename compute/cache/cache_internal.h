/* cache_internal: what the files of cache share. */
#pragma once

#include "compute/cache/cache.h"

#include <pthread.h>
#include <string.h>
#include <sys/types.h>

#define CACHE_VERIFIED_MAX 4096
#define CACHE_FETCHES_MAX  16 /* at a time; more wait */

/* A file that this process has hashed, as it was then. */
struct cache_verified {
    char tenant[32], digest[PROTOCOL_DIGEST_LENGTH + 1];
    ino_t inode;
    int64_t size, changed_s, changed_ns;
};

struct cache {
    char *dir;
    int64_t limit;
    pthread_mutex_t lock; /* over all below */
    pthread_cond_t changed;
    struct cache_verified verified[CACHE_VERIFIED_MAX];
    size_t verified_count, verified_next;
    char fetching[CACHE_FETCHES_MAX][32 + PROTOCOL_DIGEST_LENGTH + 2]; /* "" or TENANT/DIGEST */
    struct cache_counts counts;
};

const char *cache_path(struct cr_call *call, const struct cache *cache, const char *tenant,
                       const char *digest);
int cache_find(struct cr_call *call, struct cache *cache, const char *tenant, const char *digest,
               int64_t size);
void cache_remember(struct cache *cache, const char *tenant, const char *digest, int descriptor);
void cache_add(struct cache *cache, int64_t *count, int64_t more);
enum cr_status cache_make_room(struct cr_call *call, struct cache *cache, int64_t more) CR_CHECK;
