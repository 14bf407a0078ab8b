/*
 * cursor: where the next page begins. base64url(version, last key, 16 bytes of BLAKE2b), keyed,
 * over tenant, route, filters and key: so it serves the list that it was made for, and nobody
 * else's.
 */
#include "base/crypto/crypto.h"
#include "controlplane/api/api_internal.h"

#include <string.h>

#define CURSOR_VERSION  1
#define CURSOR_SUM_SIZE 16

/* The filters as they were sent, but for what walks through the pages; parted by bytes that no text
 * holds. */
static struct cr_text bound(struct cr_call *call, const struct api *api, const void *key,
                            size_t key_size)
{
    struct cr_text text = cr_text_open(call);
    cr_text_add(&text, api->who->tenant ? api->who->tenant : "-");
    cr_text_add_bytes(&text, "", 1);
    cr_text_add(&text, api->route->operation);
    cr_text_add_bytes(&text, "", 1);
    for (size_t i = 0; i < API_PATH_VALUES_MAX && api->path[i]; i++) {
        cr_text_add(&text, api->path[i]);
        cr_text_add_bytes(&text, "", 1);
    }
    for (const char *at = api->http->query; at && *at; at += strspn(at, "&")) {
        size_t length = strcspn(at, "&");
        if (strncmp(at, "after=", 6) != 0 && strncmp(at, "limit=", 6) != 0) {
            cr_text_add_bytes(&text, at, length);
            cr_text_add_bytes(&text, "", 1);
        }
        at += length;
    }
    cr_text_add_bytes(&text, key, key_size);
    return text;
}

static void sum(struct cr_call *call, const struct api *api, const void *key, size_t size,
                unsigned char ret_sum[CURSOR_SUM_SIZE])
{
    struct cr_text text = bound(call, api, key, size);
    base_crypto_keyed(api->settings->cursor_key, text.data, text.length, ret_sum, CURSOR_SUM_SIZE);
}

const char *api_cursor(struct cr_call *call, const struct api *api, const char *last_key)
{
    unsigned char version = CURSOR_VERSION, mark[CURSOR_SUM_SIZE];
    struct cr_text text = cr_text_open(call);
    size_t size = strlen(last_key);
    sum(call, api, last_key, size, mark);
    cr_text_add_bytes(&text, &version, 1);
    cr_text_add_bytes(&text, last_key, size);
    cr_text_add_bytes(&text, mark, sizeof mark);
    return cr_base64_print(call, CR_BASE64_URL, text.data, text.length);
}

enum cr_status api_cursor_read(struct cr_call *call, const struct api *api, const char *cursor,
                               const char **ret_after)
{
    struct cr_bytes bytes;
    unsigned char mark[CURSOR_SUM_SIZE];
    size_t length = strlen(cursor);
    if (length <= API_CURSOR_SIZE_MAX &&
        cr_base64_parse(call, CR_BASE64_URL, cursor, length, &bytes) &&
        bytes.size > 1 + CURSOR_SUM_SIZE && bytes.data[0] == CURSOR_VERSION) {
        size_t size = bytes.size - 1 - CURSOR_SUM_SIZE;
        sum(call, api, bytes.data + 1, size, mark);
        if (base_crypto_equal(mark, bytes.data + 1 + size, CURSOR_SUM_SIZE)) {
            *ret_after = cr_copy(call, bytes.data + 1, size);
            return CR_OK;
        }
    }
    cr_fault(call, CR_AT_PARAMETER, "after", cr_code_cursor_invalid.word,
             "it was not made for this list");
    return cr_fail_as(call, &cr_code_cursor_invalid,
                      "after: the cursor was not made for this list; begin again without it");
}
