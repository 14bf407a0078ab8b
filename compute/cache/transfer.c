/* transfer: bytes from the region, and to it. */
#include "compute/cache/cache_internal.h"

#include "base/json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES_MAX  3
#define ROUNDS_MAX (16 + (PROTOCOL_OUTPUT_MAX / CACHE_SEND_SIZE)) /* requests of one upload */
#define WAIT_NS    INT64_C(1000000000) /* between two tries, times their number */

/* What an answer that is no success means to us. */
static enum cr_status refused(struct cr_call *call, const char *digest,
                              const struct fetch_answer *answer)
{
    static const struct {
        int http;
        enum cr_status status;
    } known[] = {{404, CR_NOT_FOUND}, {409, CR_CONFLICT}, {413, CR_TOO_LARGE}, {403, CR_DENIED}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].http == answer->http)
            return cr_fail(call, known[i].status, "the region answers %d for %.12s", answer->http,
                           digest);
    return cr_fail(call, CR_UNAVAILABLE, "the region answers %d for %.12s", answer->http, digest);
}

static void pause_before(struct cr_call *call, int tried)
{
    call->env->sleep_until(call->env->context, cr_now_ns(call) + tried * WAIT_NS);
}

/* One part of the file, from where it ends. */
static enum cr_status fetch_part(struct cr_call *call, const struct cache_source *source,
                                 const char *digest, int64_t size, int partial, int64_t *at)
{
    int64_t last = *at + CACHE_PART_SIZE < size ? *at + CACHE_PART_SIZE : size;
    struct fetch_header headers[] = {
        {"Range", cr_format(call, "bytes=%lld-%lld", (long long)*at, (long long)last - 1)},
        {"If-Range", cr_format(call, "\"sha256:%s\"", digest)},
        {source->credential ? "Authorization" : NULL, source->credential},
        {NULL, NULL},
    };
    struct fetch_request request = {
        .method = "GET",
        .url =
            cr_format(call, "%s/v1/node/artifacts/%s?lease=%s", source->url, digest, source->lease),
        .headers = headers,
        .has_sink_fd = true,
        .sink_fd = partial,
        .sink_offset = *at,
        .sink_max = size,
        .stall_ns = CACHE_STALL_NS,
    };
    struct fetch_answer answer;
    CR_TRY(fetch_run(call, source->fetch, &request, &answer));
    if (answer.http != 206 && !(answer.http == 200 && *at == 0))
        return refused(call, digest, &answer);
    if (answer.body_size == 0)
        return cr_fail(call, CR_UNAVAILABLE, "the region sends nothing of %.12s", digest);
    *at += (int64_t)answer.body_size;
    return CR_OK;
}

static enum cr_status fetch_all(struct cr_call *call, struct cache *cache,
                                const struct cache_source *source, const char *digest, int64_t size,
                                int partial)
{
    struct stat about;
    if (fstat(partial, &about) != 0)
        return cr_fail(call, CR_UNAVAILABLE, "a partial file cannot be read");
    int64_t at = about.st_size <= size ? about.st_size : 0;
    for (int tried = 0; at < size;) {
        int64_t before = at;
        enum cr_status status = fetch_part(call, source, digest, size, partial, &at);
        if (status == CR_OK) {
            cache_add(cache, &cache->counts.bytes_in, at - before);
            continue;
        }
        if ((status != CR_UNAVAILABLE && status != CR_TIMEOUT) || ++tried == TRIES_MAX)
            return status;
        cr_forgive(call);
        pause_before(call, tried);
        if (fstat(partial, &about) == 0 && about.st_size > at && about.st_size <= size)
            at = about.st_size; /* what came before it broke is kept */
    }
    return CR_OK;
}

/* The partial file, whole, becomes the entry; its descriptor, read-only. */
static enum cr_status keep(struct cr_call *call, struct cache *cache, const char *tenant,
                           const char *digest, const struct cr_file *partial, int *ret_descriptor)
{
    const char *path = cache_path(call, cache, tenant, digest);
    fchmod(partial->descriptor, 0400);
    cr_file_sync(call, partial);
    CR_TRY(cr_file_make_folder(
        call, cr_format(call, "%s/cache/%s/%.2s", cache->dir, tenant, digest), 0700));
    CR_TRY(cr_file_rename(call, partial->path, path));
    struct cr_file kept;
    CR_TRY(cr_file_open(call, path, CR_FILE_READ, 0, &kept));
    cache_remember(cache, tenant, digest, kept.descriptor);
    *ret_descriptor = kept.descriptor;
    return CR_OK;
}

static enum cr_status fetch_entry(struct cr_call *call, struct cache *cache,
                                  const struct cache_source *source, const char *tenant,
                                  const char *digest, int64_t size, int *ret_descriptor)
{
    const char *folder = cr_format(call, "%s/partial/%s", cache->dir, tenant);
    const char *path = cr_format(call, "%s/%s", folder, digest);
    CR_TRY(cache_make_room(call, cache, size));
    CR_TRY(cr_file_make_folder(call, folder, 0700));
    for (int tried = 0; tried < 2; tried++) {
        CR_SCOPED(cr_file_close) struct cr_file partial = CR_FILE_CLOSED;
        char found[PROTOCOL_DIGEST_LENGTH + 1];
        CR_TRY(cr_file_open(call, path, CR_FILE_WRITE, 0600, &partial));
        CR_TRY(fetch_all(call, cache, source, digest, size, partial.descriptor));
        CR_TRY(cache_digest(call, partial.descriptor, size, found));
        if (strcmp(found, digest) == 0)
            return keep(call, cache, tenant, digest, &partial, ret_descriptor);
        unlink(path); /* once again, from the first byte */
    }
    return cr_fail(call, CR_INVALID, "the bytes of %.12s are not those of its digest", digest);
}

/* The place of this fetch among those that run; waits while another fetches the same. */
static size_t claim(struct cache *cache, const char *name)
{
    pthread_mutex_lock(&cache->lock);
    for (;;) {
        size_t place = CACHE_FETCHES_MAX;
        bool runs = false;
        for (size_t i = 0; i < CACHE_FETCHES_MAX; i++) {
            if (!cache->fetching[i][0])
                place = i;
            runs = runs || strcmp(cache->fetching[i], name) == 0;
        }
        if (!runs && place < CACHE_FETCHES_MAX) {
            snprintf(cache->fetching[place], sizeof cache->fetching[place], "%s", name);
            pthread_mutex_unlock(&cache->lock);
            return place;
        }
        pthread_cond_wait(&cache->changed, &cache->lock);
    }
}

static void yield_place(struct cache *cache, size_t place)
{
    pthread_mutex_lock(&cache->lock);
    cache->fetching[place][0] = '\0';
    pthread_cond_broadcast(&cache->changed);
    pthread_mutex_unlock(&cache->lock);
}

enum cr_status cache_get(struct cr_call *call, struct cache *cache,
                         const struct cache_source *source, const char *tenant, const char *digest,
                         int64_t size, int *ret_descriptor)
{
    size_t place = claim(cache, cr_format(call, "%s/%s", tenant, digest));
    int descriptor = cache_find(call, cache, tenant, digest, size);
    enum cr_status status = CR_OK;
    cache_add(cache, descriptor >= 0 ? &cache->counts.hits : &cache->counts.misses, 1);
    if (descriptor < 0)
        status = fetch_entry(call, cache, source, tenant, digest, size, &descriptor);
    yield_place(cache, place);
    if (status == CR_OK)
        *ret_descriptor = descriptor;
    return status;
}

/* One request of an upload: a part of the file, or, with size 0 and not all, the question. */
static enum cr_status send_part(struct cr_call *call, const struct cache_source *source,
                                const char *url, const char *digest, int descriptor, int64_t at,
                                int64_t part, int64_t size, struct protocol_upload *ret_upload)
{
    const char *range = part > 0 || size == 0
                            ? cr_format(call, "bytes %lld-%lld/%lld", (long long)at,
                                        (long long)(at + part - 1), (long long)size)
                            : cr_format(call, "bytes */%lld", (long long)size);
    struct fetch_header headers[] = {
        {"Content-Range", size == 0 ? "bytes */0" : range},
        {"Content-Type", "application/octet-stream"},
        {source->credential ? "Authorization" : NULL, source->credential},
        {NULL, NULL},
    };
    struct fetch_request request = {
        .method = "PUT",
        .url = url,
        .headers = headers,
        .has_body_fd = true,
        .body_fd = descriptor,
        .body_offset = at,
        .body_size = (size_t)part,
        .stall_ns = CACHE_STALL_NS,
    };
    struct fetch_answer answer;
    CR_TRY(fetch_run(call, source->fetch, &request, &answer));
    if (answer.http / 100 != 2)
        return refused(call, digest, &answer);
    return json_read(call, &protocol_upload_shape, answer.body, answer.body_size, ret_upload);
}

enum cr_status cache_put(struct cr_call *call, const struct cache_source *source,
                         const char *digest, int descriptor, int64_t size, const char *kind)
{
    const char *url = cr_format(call, "%s/v1/node/artifacts/%s?lease=%s&kind=%s&size=%lld",
                                source->url, digest, source->lease, kind, (long long)size);
    struct protocol_upload upload = {0};
    bool asked = false;
    int tried = 0;
    for (int round = 0; !upload.held; round++) {
        if (round == ROUNDS_MAX)
            return cr_fail(call, CR_UNAVAILABLE, "%.12s does not end", digest);
        int64_t left = size - upload.offset;
        int64_t part = !asked ? 0 : left < CACHE_SEND_SIZE ? left : CACHE_SEND_SIZE;
        enum cr_status status =
            send_part(call, source, url, digest, descriptor, upload.offset, part, size, &upload);
        if (status == CR_OK && (upload.offset < 0 || upload.offset > size))
            return cr_fail(call, CR_UNAVAILABLE, "the region has more of %.12s than there is",
                           digest);
        asked = status == CR_OK;
        if (status == CR_OK && (part == 0 || upload.held || upload.offset < size))
            continue;
        if ((status != CR_OK && status != CR_UNAVAILABLE && status != CR_TIMEOUT) ||
            ++tried == TRIES_MAX)
            return status == CR_OK ? cr_fail(call, CR_UNAVAILABLE, "%.12s is not taken", digest)
                                   : status;
        cr_forgive(call);
        pause_before(call, tried);
    }
    return CR_OK;
}
