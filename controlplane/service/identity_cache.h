/*
 * identity_cache: principals by the id of the credential that was shown for them.
 *
 * An entry answers only for the credential whose hash it holds, and not longer than it was given.
 * The age of a cache grows with each drop: what was looked up under a lower one is not taken in, so
 * that a look that began before a revocation cannot bring the key back.
 */
#pragma once

#include "controlplane/service/identity.h"

/* Whether the cache knows; ret_who is a copy of the call's memory. */
bool identity_cache_get(struct cr_call *call, struct identity_cache *cache, const char *id,
                        const unsigned char hash[32], const struct principal **ret_who);

uint64_t identity_cache_age(struct identity_cache *cache);

/* Takes in what was looked up, unless a key was dropped since the age was read. Copies who. */
void identity_cache_put(struct identity_cache *cache, uint64_t age, const char *id,
                        const unsigned char hash[32], const struct principal *who,
                        int64_t until_ns);
