/* cache: entries on the disk: found, verified, evicted. */
#include "compute/cache/cache_internal.h"

#include "base/core/text.h"
#include "base/crypto/crypto.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_SIZE  ((size_t)1 << 20)
#define ENTRIES_MAX 65536 /* that an eviction looks at */

enum cr_status cache_open(struct cr_call *call, const char *dir, int64_t limit,
                          struct cache **ret_cache)
{
    CR_TRY(cr_file_make_folder(call, cr_format(call, "%s/cache", dir), 0700));
    CR_TRY(cr_file_make_folder(call, cr_format(call, "%s/partial", dir), 0700));
    struct cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        abort();
    cache->dir = strdup(dir);
    cache->limit = limit;
    pthread_mutex_init(&cache->lock, NULL);
    pthread_cond_init(&cache->changed, NULL);
    *ret_cache = cache;
    return CR_OK;
}

void cache_close(struct cache **cache)
{
    if (!*cache)
        return;
    pthread_mutex_destroy(&(*cache)->lock);
    pthread_cond_destroy(&(*cache)->changed);
    free((*cache)->dir);
    free(*cache);
    *cache = NULL;
}

const char *cache_path(struct cr_call *call, const struct cache *cache, const char *tenant,
                       const char *digest)
{
    return cr_format(call, "%s/cache/%s/%.2s/%s", cache->dir, tenant, digest, digest);
}

enum cr_status cache_digest(struct cr_call *call, int descriptor, int64_t size,
                            char ret_digest[PROTOCOL_DIGEST_LENGTH + 1])
{
    struct base_crypto_sha256 hash;
    unsigned char *piece = cr_new(call, unsigned char, PIECE_SIZE);
    base_crypto_sha256_init(&hash);
    for (int64_t at = 0; at < size;) {
        int64_t left = size - at;
        size_t wanted = left < (int64_t)PIECE_SIZE ? (size_t)left : PIECE_SIZE;
        ssize_t got = pread(descriptor, piece, wanted, at);
        if (got <= 0)
            return cr_fail(call, CR_UNAVAILABLE, "a file ends at byte %lld of %lld", (long long)at,
                           (long long)size);
        base_crypto_sha256_add(&hash, piece, (size_t)got);
        at += got;
    }
    unsigned char bytes[BASE_CRYPTO_SHA256_SIZE];
    base_crypto_sha256_done(&hash, bytes);
    cr_hex_print(bytes, sizeof bytes, ret_digest);
    return CR_OK;
}

/* The entry that was verified by this process; NULL: there is none. Under the lock. */
static struct cache_verified *verified(struct cache *cache, const char *tenant, const char *digest)
{
    for (size_t i = 0; i < cache->verified_count; i++)
        if (strcmp(cache->verified[i].digest, digest) == 0 &&
            strcmp(cache->verified[i].tenant, tenant) == 0)
            return &cache->verified[i];
    return NULL;
}

static bool is_as_verified(struct cache *cache, const char *tenant, const char *digest,
                           const struct stat *about)
{
    pthread_mutex_lock(&cache->lock);
    const struct cache_verified *it = verified(cache, tenant, digest);
    bool same = it && it->inode == about->st_ino && it->size == about->st_size &&
                it->changed_s == about->st_mtim.tv_sec && it->changed_ns == about->st_mtim.tv_nsec;
    pthread_mutex_unlock(&cache->lock);
    return same;
}

void cache_remember(struct cache *cache, const char *tenant, const char *digest, int descriptor)
{
    struct stat about;
    if (fstat(descriptor, &about) != 0)
        return;
    pthread_mutex_lock(&cache->lock);
    struct cache_verified *it = verified(cache, tenant, digest);
    if (!it) {
        size_t place = cache->verified_count < CACHE_VERIFIED_MAX ? cache->verified_count++
                                                                  : cache->verified_next++;
        cache->verified_next %= CACHE_VERIFIED_MAX;
        it = &cache->verified[place];
    }
    snprintf(it->tenant, sizeof it->tenant, "%s", tenant);
    snprintf(it->digest, sizeof it->digest, "%s", digest);
    it->inode = about.st_ino;
    it->size = about.st_size;
    it->changed_s = about.st_mtim.tv_sec;
    it->changed_ns = about.st_mtim.tv_nsec;
    pthread_mutex_unlock(&cache->lock);
}

void cache_add(struct cache *cache, int64_t *count, int64_t more)
{
    pthread_mutex_lock(&cache->lock);
    *count += more;
    pthread_mutex_unlock(&cache->lock);
}

/* An entry that is here and good; -1: it is not. One that is bad is deleted. */
int cache_find(struct cr_call *call, struct cache *cache, const char *tenant, const char *digest,
               int64_t size)
{
    const char *path = cache_path(call, cache, tenant, digest);
    struct cr_file file;
    if (cr_file_open(call, path, CR_FILE_READ, 0, &file) != CR_OK) {
        cr_forgive(call);
        return -1;
    }
    int descriptor = file.descriptor;
    struct stat about;
    char found[PROTOCOL_DIGEST_LENGTH + 1];
    bool good = fstat(descriptor, &about) == 0 && about.st_size == size;
    if (good && !is_as_verified(cache, tenant, digest, &about)) {
        good = cache_digest(call, descriptor, size, found) == CR_OK && strcmp(found, digest) == 0;
        cr_forgive(call);
        if (good)
            cache_remember(cache, tenant, digest, descriptor);
    }
    if (good) {
        struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
        futimens(descriptor, now); /* the least recently leased goes first */
        return descriptor;
    }
    close(descriptor);
    unlink(path);
    cache_add(cache, &cache->counts.corrupt, 1);
    return -1;
}

struct entry {
    const char *path;
    int64_t used_s, size;
};
struct entries {
    struct cr_call *call;
    struct entry *items;
    size_t count;
    int64_t bytes;
};

static void look_at(struct entries *entries, const char *path)
{
    struct stat about;
    if (entries->count == ENTRIES_MAX || lstat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return;
    entries->items[entries->count++] = (struct entry){path, about.st_atim.tv_sec, about.st_size};
    entries->bytes += about.st_size;
}

/* All files below a folder, so many levels down: tenants, two digits, digests. */
static void walk(struct entries *entries, const char *folder, int levels)
{
    DIR *stream = opendir(folder);
    if (!stream)
        return;
    for (struct dirent *item; (item = readdir(stream));) {
        if (item->d_name[0] == '.')
            continue;
        const char *path = cr_format(entries->call, "%s/%s", folder, item->d_name);
        if (levels == 0)
            look_at(entries, path);
        else
            walk(entries, path, levels - 1);
    }
    closedir(stream);
}

static int by_use(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    return (left->used_s > right->used_s) - (left->used_s < right->used_s);
}

/*
 * Deletes what was leased longest ago until `more` fits. A file that a live lease reads stays
 * readable: its descriptor is open.
 */
enum cr_status cache_make_room(struct cr_call *call, struct cache *cache, int64_t more)
{
    struct entries entries = {.call = call, .items = cr_new(call, struct entry, ENTRIES_MAX)};
    walk(&entries, cr_format(call, "%s/cache", cache->dir), 2);
    if (entries.bytes + more > cache->limit)
        qsort(entries.items, entries.count, sizeof *entries.items, by_use);
    for (size_t i = 0; i < entries.count && entries.bytes + more > cache->limit; i++)
        if (unlink(entries.items[i].path) == 0) {
            entries.bytes -= entries.items[i].size;
            cache_add(cache, &cache->counts.evictions, 1);
        }
    if (entries.bytes + more > cache->limit)
        return cr_fail(call, CR_EXHAUSTED, "the cache has no room for %lld bytes", (long long)more);
    int64_t free_size, total;
    CR_TRY(cr_file_free_space(call, cache->dir, &free_size, &total));
    return free_size > more ? CR_OK
                            : cr_fail(call, CR_EXHAUSTED, "the disk has no room for %lld bytes",
                                      (long long)more);
}

struct cache_counts cache_count(struct cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    struct cache_counts counts = cache->counts;
    pthread_mutex_unlock(&cache->lock);
    return counts;
}
