/* body: what is taken, and the hash under which an Idempotency-Key stands for it. */
#include "base/crypto/crypto.h"
#include "base/json/json.h"
#include "controlplane/api/api_internal.h"

#include <string.h>

static void add(struct base_crypto_sha256 *hash, const char *text, size_t size)
{
    uint64_t length = size; /* before each part, so that no two requests run together */
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(length >> (56 - 8 * i));
    base_crypto_sha256_add(hash, bytes, sizeof bytes);
    base_crypto_sha256_add(hash, text, size);
}

/*
 * SHA-256 of method, route, path values and the body by RFC 8785 (reliability J2): a body that is
 * written in another order is the same request. Bodies of files are named by their digest in the
 * path.
 */
static enum cr_status hash_request(struct cr_call *call, struct api_exchange *exchange)
{
    const struct api *api = &exchange->api;
    struct base_crypto_sha256 hash;
    base_crypto_sha256_init(&hash);
    add(&hash, api->route->method, strlen(api->route->method));
    add(&hash, api->route->path, strlen(api->route->path));
    for (size_t i = 0; i < API_PATH_VALUES_MAX && api->path[i]; i++)
        add(&hash, api->path[i], strlen(api->path[i]));
    if (api->body_size > 0) {
        const struct json_value *value;
        CR_TRY(json_parse(call, NULL, api->body, api->body_size, &value));
        const char *canonical = json_canonical(call, value);
        add(&hash, canonical, strlen(canonical));
    }
    base_crypto_sha256_done(&hash, exchange->ask.request_sha256);
    return CR_OK;
}

static const struct cr_shape nothing = {.size = 1};

enum cr_status api_read_body(struct cr_call *call, struct api_exchange *exchange, void **ret_taken)
{
    struct api *api = &exchange->api;
    const struct api_route *route = api->route;
    api->body = exchange->http->body;
    api->body_size = exchange->http->body ? exchange->http->body_size : 0;
    api->body_fd = exchange->http->body_fd;
    if (route->flags & API_FILE_IN) {
        api->body_size = exchange->http->body_size;
        return CR_OK;
    }
    bool empty = api->body_size == 0;
    if (route->takes || !empty) {
        const struct cr_shape *shape = route->takes ? route->takes : &nothing;
        void *taken = cr_alloc(call, 1, shape->size);
        /* a merge patch needs what it changes, which only the use case has */
        if (strcmp(route->method, "PATCH") == 0)
            taken = NULL;
        else
            CR_TRY(json_read(call, shape, empty ? API_EMPTY_BODY : api->body,
                             empty ? strlen(API_EMPTY_BODY) : api->body_size, taken));
        *ret_taken = taken;
    }
    return exchange->ask.key ? hash_request(call, exchange) : CR_OK;
}
