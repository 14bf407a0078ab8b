/* part: which bytes of an upload a request brings (RFC 9110, section 14.4). */
#include "controlplane/api/api_internal.h"
#include "controlplane/service/artifacts.h"

#include "base/core/parse.h"

#include <string.h>

static enum cr_status wrong(struct cr_call *call)
{
    cr_fault(call, CR_AT_HEADER, "Content-Range", "invalid_header",
             "it is 'bytes FIRST-LAST/SIZE', or 'bytes */SIZE' without a body");
    return cr_fail_as(call, &cr_code_invalid_header, "Content-Range does not say which bytes come");
}

static bool number(const char *text, size_t length, int64_t *ret_value)
{
    return cr_parse_integer(text, length, 0, INT64_MAX - 1, ret_value);
}

/* "FIRST-LAST" */
static bool interval(const char *text, size_t length, int64_t *ret_first, int64_t *ret_last)
{
    const char *dash = memchr(text, '-', length);
    return dash && number(text, (size_t)(dash - text), ret_first) &&
           number(dash + 1, length - (size_t)(dash + 1 - text), ret_last) &&
           *ret_last >= *ret_first;
}

enum cr_status api_part(struct cr_call *call, const struct api *api,
                        struct artifacts_part *ret_part)
{
    static const char unit[] = "bytes ";
    const char *sent = http_field_of(api->http, "Content-Range");
    struct artifacts_part part = {.first = 0,
                                  .size = (int64_t)api->body_size,
                                  .total = CR_NO_INTEGER,
                                  .descriptor = api->body_fd};
    if (!sent) {
        *ret_part = part;
        return CR_OK;
    }
    const char *range = sent + sizeof unit - 1;
    if (strncmp(sent, unit, sizeof unit - 1) != 0)
        return wrong(call);
    const char *slash = strchr(range, '/');
    if (!slash || !number(slash + 1, strlen(slash + 1), &part.total))
        return wrong(call);
    size_t length = (size_t)(slash - range);
    int64_t last;
    if (length == 1 && *range == '*') {
        part.first = CR_NO_INTEGER;
        if (part.size != 0)
            return wrong(call);
    } else if (!interval(range, length, &part.first, &last) || last - part.first + 1 != part.size) {
        return wrong(call);
    }
    *ret_part = part;
    return CR_OK;
}
