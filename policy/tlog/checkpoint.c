/* checkpoint: the text of a note that states a log's size and root (C2SP tlog-checkpoint). */
#include "policy/tlog/tlog.h"

#include "base/core/parse.h"
#include "base/core/text.h"

#include <string.h>

/* The next line of the text without its end; false at the end of the text. */
static bool next_line(const char **at, const char *end, const char **ret_line, size_t *ret_length)
{
    const char *newline = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;
    if (!newline)
        return false;
    *ret_line = *at;
    *ret_length = (size_t)(newline - *at);
    *at = newline + 1;
    return true;
}

bool tlog_checkpoint_read(struct cr_call *call, const char *text, size_t length,
                          struct tlog_checkpoint *ret_checkpoint)
{
    const char *at = text, *end = text + length, *line = NULL;
    size_t line_length = 0;
    struct cr_bytes root;
    struct tlog_checkpoint checkpoint = {.size = 0};
    if (length == 0 || text[length - 1] != '\n')
        return false;

    if (!next_line(&at, end, &checkpoint.origin, &checkpoint.origin_length) ||
        checkpoint.origin_length == 0)
        return false;
    if (!next_line(&at, end, &line, &line_length) ||
        !cr_parse_integer(line, line_length, 0, INT64_MAX, &checkpoint.size))
        return false;
    if (!next_line(&at, end, &line, &line_length) ||
        !cr_base64_parse(call, CR_BASE64_STANDARD, line, line_length, &root) ||
        root.size != TLOG_HASH_SIZE)
        return false;
    memcpy(checkpoint.root.bytes, root.data, TLOG_HASH_SIZE);
    while (at < end)
        if (!next_line(&at, end, &line, &line_length) || line_length == 0)
            return false;
    *ret_checkpoint = checkpoint;
    return true;
}

const char *tlog_checkpoint_write(struct cr_call *call, const char *origin, int64_t size,
                                  const struct tlog_hash *root)
{
    return cr_format(call, "%s\n%lld\n%s\n", origin, (long long)size,
                     cr_base64_print(call, CR_BASE64_STANDARD, root->bytes, TLOG_HASH_SIZE));
}
