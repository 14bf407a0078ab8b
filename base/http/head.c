/* head: the rules of surface.md section 1, in its order. */
#include "base/http/head.h"
#include "base/http/http.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

static bool token_byte(unsigned char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || (byte && strchr("!#$%&'*+-.^_`|~", byte));
}

static bool token(struct http_span span)
{
    for (size_t i = 0; i < span.size; i++)
        if (!token_byte((unsigned char)span.bytes[i]))
            return false;
    return span.size > 0;
}

/* RFC 9110 section 5.5, less what is obsolete: no control byte but HTAB. */
static bool value(struct http_span span)
{
    for (size_t i = 0; i < span.size; i++) {
        unsigned char byte = (unsigned char)span.bytes[i];
        if ((byte < 0x20 && byte != '\t') || byte == 0x7F)
            return false;
    }
    return true;
}

static bool same(struct http_span span, const char *text)
{
    return span.size == strlen(text) && strncasecmp(span.bytes, text, span.size) == 0;
}

/* How many fields have the name; ret_last is the value of the last of them. */
static size_t count(const struct http_head *head, const char *name, struct http_span *ret_last)
{
    size_t found = 0;
    for (size_t i = 0; i < head->field_count; i++)
        if (same(head->names[i], name)) {
            found++;
            *ret_last = head->values[i];
        }
    return found;
}

static const struct cr_code *refuse(const struct cr_code *code, const char *why,
                                    const char **ret_why)
{
    *ret_why = why;
    return code;
}

static const struct cr_code *check_bytes(const struct http_head *head, const char **ret_why)
{
    if (head->field_count > HTTP_FIELDS_MAX)
        return refuse(&http_head_too_large, "the head has more than 64 fields", ret_why);
    if (head->wire_size > HTTP_HEAD_SIZE_MAX)
        return refuse(&http_head_too_large, "the head is longer than 16384 bytes", ret_why);
    if (!token(head->method))
        return refuse(&http_bad_head, "the method is not a token", ret_why);
    if (head->version.size != 8 || memcmp(head->version.bytes, "HTTP/", 5) != 0)
        return refuse(&http_bad_head, "the first line does not end in a version", ret_why);
    if (memcmp(head->version.bytes, "HTTP/1.1", 8) != 0 &&
        memcmp(head->version.bytes, "HTTP/1.0", 8) != 0)
        return refuse(&http_version_unknown, "only HTTP/1.1 is spoken here", ret_why);
    for (size_t i = 0; i < head->field_count; i++) {
        if (!token(head->names[i]))
            return refuse(&http_bad_head, "the name of a field is not a token", ret_why);
        if (!value(head->values[i]))
            return refuse(&http_bad_head, "the value of a field holds a control byte", ret_why);
    }
    return NULL;
}

static const struct cr_code *check_host(const struct http_head *head, const char *const *hosts,
                                        const char **ret_why)
{
    struct http_span host = {0}, ignored = {0};
    if (count(head, "Host", &host) != 1)
        return refuse(&http_bad_head, "there is not exactly one Host", ret_why);
    if (count(head, "Authorization", &ignored) > 1)
        return refuse(&http_bad_head, "there is more than one Authorization", ret_why);
    for (; *hosts; hosts++)
        if (same(host, *hosts))
            return NULL;
    return refuse(&http_wrong_host, "the Host is not one that is served here", ret_why);
}

/* A list of codings of which one is unknown to us: 501, unless chunked stands where it may not. */
static const struct cr_code *check_codings(struct http_span list, const char **ret_why)
{
    size_t last = list.size;
    while (last > 0 && list.bytes[last - 1] != ',')
        last--;
    struct http_span end = {list.bytes + last, list.size - last};
    while (end.size > 0 && (*end.bytes == ' ' || *end.bytes == '\t')) {
        end.bytes++;
        end.size--;
    }
    if (last > 0 && !same(end, "chunked"))
        return refuse(&http_bad_head, "chunked is not the last transfer coding", ret_why);
    return refuse(&http_coding_unknown, "no transfer coding but chunked is known", ret_why);
}

static bool without_body(struct http_span method)
{
    return same(method, "GET") || same(method, "HEAD") || same(method, "DELETE");
}

static const struct cr_code *check_framing(const struct http_head *head, const char **ret_why)
{
    struct http_span coding = {0}, length = {0};
    size_t codings = count(head, "Transfer-Encoding", &coding);
    size_t lengths = count(head, "Content-Length", &length);
    if (codings > 1 || lengths > 1 || codings + lengths > 1)
        return refuse(&http_bad_head, "the length of the body is told twice", ret_why);
    if (codings && !same(head->version, "HTTP/1.1"))
        return refuse(&http_bad_head, "Transfer-Encoding needs HTTP/1.1", ret_why);
    if (codings && !same(coding, "chunked"))
        return check_codings(coding, ret_why);
    for (size_t i = 0; i < length.size; i++)
        if (length.bytes[i] < '0' || length.bytes[i] > '9')
            return refuse(&http_bad_head, "Content-Length is not a number", ret_why);
    if (lengths && length.size == 0)
        return refuse(&http_bad_head, "Content-Length is empty", ret_why);
    bool body = codings || (lengths && !same(length, "0"));
    if (body && without_body(head->method))
        return refuse(&http_bad_head, "this method takes no body", ret_why);
    return NULL;
}

/* What 0.9.75 takes in silence makes the head on the wire another size than its parts add up to. */
static const struct cr_code *check_size(const struct http_head *head, const char **ret_why)
{
    size_t size = head->method.size + 1 + head->target.size + 1 + head->version.size + 2 + 2;
    size_t empty = 0;
    for (size_t i = 0; i < head->field_count; i++) {
        size += head->names[i].size + head->values[i].size + 4;
        empty += head->values[i].size == 0;
    }
    if (head->wire_size > size || head->wire_size + empty < size)
        return refuse(&http_bad_head, "the head holds bytes that belong to no part of it", ret_why);
    return NULL;
}

/* Most targets are short, and the compiler clears what is on the stack: so these have less of it.
 */
#define SHORT_TARGET 256

static bool decodes_short(struct http_span target)
{
    char path[SHORT_TARGET];
    return http_path_decode(target.bytes, target.size, path);
}

static __attribute__((noinline)) bool decodes_long(struct http_span target)
{
    char path[HTTP_TARGET_SIZE_MAX + 1];
    return http_path_decode(target.bytes, target.size, path);
}

static const struct cr_code *check_target(const struct http_head *head, const char **ret_why)
{
    if (head->target.size > HTTP_TARGET_SIZE_MAX)
        return refuse(&http_target_too_long, "the target is longer than 8192 bytes", ret_why);
    if (same(head->method, "CONNECT"))
        return refuse(&http_method_not_allowed, "this is no proxy", ret_why);
    if (!(head->target.size < SHORT_TARGET ? decodes_short(head->target)
                                           : decodes_long(head->target)))
        return refuse(&http_bad_head, "the target is not a path that is served", ret_why);
    return NULL;
}

const struct cr_code *http_head_check(const struct http_head *head, const char *const *hosts,
                                      const char **ret_why)
{
    const struct cr_code *code = check_bytes(head, ret_why);
    if (!code)
        code = check_framing(head, ret_why);
    if (!code)
        code = check_host(head, hosts, ret_why);
    if (!code)
        code = check_size(head, ret_why);
    if (!code)
        code = check_target(head, ret_why);
    return code;
}

static int digit(char letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    letter |= 0x20;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* Whether the path, decoded, has an empty segment before its last, or one of dots. */
static bool dotted(const char *path)
{
    for (const char *segment = path; *segment == '/';) {
        const char *end = segment + 1 + strcspn(segment + 1, "/");
        size_t length = (size_t)(end - segment) - 1;
        if ((length == 0 && *end) || (length == 1 && segment[1] == '.') ||
            (length == 2 && segment[1] == '.' && segment[2] == '.'))
            return true;
        segment = end;
    }
    return false;
}

bool http_path_decode(const char *target, size_t size, char *ret_path)
{
    if (size == 0 || *target != '/')
        return false;
    for (size_t i = 0; i < size; i++)
        if (target[i] < 0x21 || target[i] > 0x7E || target[i] == '#')
            return false;
    const char *mark = memchr(target, '?', size);
    size_t end = mark ? (size_t)(mark - target) : size;
    size_t length = 0;
    for (size_t i = 0; i < end; i++) {
        char byte = target[i];
        if (byte == '%') {
            if (i + 2 >= end || digit(target[i + 1]) < 0 || digit(target[i + 2]) < 0)
                return false;
            byte = (char)(digit(target[i + 1]) * 16 + digit(target[i + 2]));
            if (byte == '/' || byte == '%' || (byte >= 0 && byte < 0x20) || byte == 0x7F)
                return false;
            i += 2;
        }
        ret_path[length++] = byte;
    }
    ret_path[length] = '\0';
    return !dotted(ret_path);
}
