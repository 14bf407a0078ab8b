#include "controlplane/service/identity_cache.h"

#include "base/core/text.h"
#include "base/crypto/credential.h"
#include "base/crypto/crypto.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ID_SIZE          40 /* of a tnt_, node_ or key_ id, with its NUL */
#define PERMISSIONS_SIZE 512

/* A principal whose texts lie in it. */
struct entry {
    char credential[BASE_CRYPTO_CREDENTIAL_ID_LENGTH + 1]; /* "": free */
    unsigned char hash[32];
    int64_t until_ns;
    enum principal_kind kind;
    bool suspended;
    char tenant[ID_SIZE], node[ID_SIZE], actor[ID_SIZE], permissions[PERMISSIONS_SIZE];
};

struct identity_cache {
    pthread_mutex_t lock;
    uint64_t age;
    struct entry entries[IDENTITY_CACHE_KEYS]; /* each at its one place: a newer takes it */
};

struct identity_cache *identity_cache_open(void)
{
    struct identity_cache *cache = calloc(1, sizeof *cache);
    if (!cache || pthread_mutex_init(&cache->lock, NULL) != 0)
        abort();
    return cache;
}

void identity_cache_close(struct identity_cache **cache)
{
    if (!*cache)
        return;
    pthread_mutex_destroy(&(*cache)->lock);
    free(*cache);
    *cache = NULL;
}

static struct entry *place_of(struct identity_cache *cache, const char *id)
{
    return &cache->entries[cr_crc32(0, id, strlen(id)) % IDENTITY_CACHE_KEYS];
}

static const char *text_of(struct cr_call *call, const char *text)
{
    return *text ? cr_copy(call, text, strlen(text)) : NULL;
}

bool identity_cache_get(struct cr_call *call, struct identity_cache *cache, const char *id,
                        const unsigned char hash[32], const struct principal **ret_who)
{
    int64_t now_ns = cr_now_ns(call);
    struct entry found;
    pthread_mutex_lock(&cache->lock);
    found = *place_of(cache, id);
    pthread_mutex_unlock(&cache->lock);
    if (strcmp(found.credential, id) != 0 || now_ns >= found.until_ns ||
        !base_crypto_equal(found.hash, hash, sizeof found.hash))
        return false;

    struct principal *who = cr_new(call, struct principal, 1);
    *who = (struct principal){
        .kind = found.kind,
        .tenant = text_of(call, found.tenant),
        .node = text_of(call, found.node),
        .actor = text_of(call, found.actor),
        .permissions = cr_copy(call, found.permissions, strlen(found.permissions)),
        .suspended = found.suspended,
    };
    *ret_who = who;
    return true;
}

uint64_t identity_cache_age(struct identity_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    uint64_t age = cache->age;
    pthread_mutex_unlock(&cache->lock);
    return age;
}

static bool put_text(char *to, size_t size, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    if (length >= size)
        return false;
    memcpy(to, text ? text : "", length + 1);
    return true;
}

void identity_cache_put(struct identity_cache *cache, uint64_t age, const char *id,
                        const unsigned char hash[32], const struct principal *who, int64_t until_ns)
{
    struct entry entry = {.kind = who->kind, .suspended = who->suspended, .until_ns = until_ns};
    memcpy(entry.hash, hash, sizeof entry.hash);
    if (!put_text(entry.credential, sizeof entry.credential, id) ||
        !put_text(entry.tenant, sizeof entry.tenant, who->tenant) ||
        !put_text(entry.node, sizeof entry.node, who->node) ||
        !put_text(entry.actor, sizeof entry.actor, who->actor) ||
        !put_text(entry.permissions, sizeof entry.permissions, who->permissions))
        return; /* too long to be kept: it is looked up each time */

    pthread_mutex_lock(&cache->lock);
    if (cache->age == age)
        *place_of(cache, id) = entry;
    pthread_mutex_unlock(&cache->lock);
}

void identity_cache_drop(struct identity_cache *cache, const char *key)
{
    if (!cache)
        return;
    pthread_mutex_lock(&cache->lock);
    cache->age++;
    for (size_t i = 0; i < IDENTITY_CACHE_KEYS; i++)
        if (strcmp(cache->entries[i].actor, key) == 0)
            cache->entries[i] = (struct entry){.until_ns = 0};
    pthread_mutex_unlock(&cache->lock);
}
