/*
 * http_head: the head of a request, parsed as leniently as any server might, held against the head
 * check. What passes is framed in one way only: put together again from its parts it gives the
 * bytes that came. Its path is decoded to one that decodes to itself, and finds at most one route.
 */
#include "base/http/head.h"
#include "base/http/http.h"
#include "controlplane/api/api_internal.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct http_span names[HTTP_FIELDS_MAX + 2], values[HTTP_FIELDS_MAX + 2];

static bool blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* Without the blanks before it; those behind belong to it, as libmicrohttpd has it. */
static struct http_span trimmed(const char *from, const char *to)
{
    while (from < to && blank(*from))
        from++;
    return (struct http_span){from, (size_t)(to - from)};
}

/* Up to the next blank, or the end; *at stands behind it then. A second blank is of the next word.
 */
static struct http_span word(const char **at, const char *end)
{
    const char *from = *at;
    while (*at < end && **at != ' ')
        ++*at;
    struct http_span span = {from, (size_t)(*at - from)};
    *at += *at < end;
    return span;
}

/* Lines end with LF, a CR before it is dropped; the first empty one ends the head. */
static bool parse(const char *text, size_t size, struct http_head *ret_head)
{
    const char *end = text + size, *at = text;
    *ret_head = (struct http_head){.names = names, .values = values};
    for (bool first = true;; first = false) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop)
            return false;
        const char *line_end = stop > at && stop[-1] == '\r' ? stop - 1 : stop;
        struct http_span line = {at, (size_t)(line_end - at)};
        at = stop + 1;
        if (line.size == 0 && !first)
            break;
        const char *here = line.bytes, *stop_here = line.bytes + line.size;
        if (first) {
            ret_head->method = word(&here, stop_here);
            ret_head->target = word(&here, stop_here);
            ret_head->version = (struct http_span){here, (size_t)(stop_here - here)};
            continue;
        }
        const char *colon = memchr(line.bytes, ':', line.size);
        if (!colon || ret_head->field_count > HTTP_FIELDS_MAX)
            return false;
        names[ret_head->field_count] = (struct http_span){line.bytes, (size_t)(colon - line.bytes)};
        values[ret_head->field_count++] = trimmed(colon + 1, stop_here);
    }
    ret_head->wire_size = (size_t)(at - text);
    return true;
}

static char *append(char *at, struct http_span span, const char *behind)
{
    memcpy(at, span.bytes, span.size);
    at += span.size;
    memcpy(at, behind, strlen(behind));
    return at + strlen(behind);
}

/*
 * Exactly as we would write it: one blank behind each colon. Where a head has others, they may
 * weigh out what is missing elsewhere: the sizes are a tripwire, not a proof, and nothing is
 * asserted.
 */
static void check_framing(const struct http_head *head, const char *text)
{
    static char again[2 * HTTP_HEAD_SIZE_MAX];
    char *at = append(again, head->method, " ");
    at = append(at, head->target, " ");
    at = append(at, head->version, "\r\n");
    for (size_t i = 0; i < head->field_count; i++) {
        if (!values[i].size || values[i].bytes != names[i].bytes + names[i].size + 2)
            return;
        at = append(at, names[i], ": ");
        at = append(at, values[i], "\r\n");
    }
    at = append(at, (struct http_span){"", 0}, "\r\n");
    assert((size_t)(at - again) == head->wire_size);
    for (size_t i = 0; i < head->wire_size; i++)
        assert(again[i] == text[i] || (again[i] == ' ' && text[i] == '\t'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const hosts[] = {"a", NULL};
    static char path[HTTP_TARGET_SIZE_MAX + 1], second[HTTP_TARGET_SIZE_MAX + 1], method[32];
    const char *text = (const char *)data, *why = NULL;
    struct http_head head;
    if (size > HTTP_HEAD_SIZE_MAX || !parse(text, size, &head) ||
        http_head_check(&head, hosts, &why))
        return 0;
    check_framing(&head, text);
    bool decoded = http_path_decode(head.target.bytes, head.target.size, path);
    assert(decoded && path[0] == '/' && !strchr(path, '%') && !strstr(path, "//") &&
           !strstr(path, "/../") && !strstr(path, "/./"));
    bool stable = !strpbrk(path, "?# ") && http_path_decode(path, strlen(path), second);
    assert(!stable || strcmp(path, second) == 0);
    if (head.method.size < sizeof method) {
        memcpy(method, head.method.bytes, head.method.size);
        method[head.method.size] = '\0';
        struct api_match match;
        api_match(method, path, &match);
        assert(!match.route || *match.allowed);
    }
    return 0;
}
