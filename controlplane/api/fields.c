/* fields: what the head of a request says, by the flags of its route. */
#include "base/core/parse.h"
#include "controlplane/api/api_internal.h"

#include <string.h>

static enum cr_status wrong(struct cr_call *call, const struct cr_code *code, const char *name,
                            const char *why)
{
    cr_fault(call, CR_AT_HEADER, name, code->word, "%s", why);
    return cr_fail_as(call, code, "%s: %s", name, why);
}

/* Quoted as the draft of httpapi has it, or bare as most send it. */
static enum cr_status read_key(struct cr_call *call, struct api_exchange *exchange)
{
    const char *key = http_field_of(exchange->http, "Idempotency-Key");
    if (!key)
        return wrong(call, &cr_code_idempotency_key_missing, "Idempotency-Key",
                     "this operation wants one, so that it can be sent again safely");
    size_t length = strlen(key);
    if (length >= 2 && key[0] == '"' && key[length - 1] == '"') {
        key = cr_copy(call, key + 1, length - 2);
        length -= 2;
    }
    bool clean = length >= 1 && length <= API_KEY_SIZE_MAX;
    for (size_t i = 0; clean && i < length; i++)
        clean = key[i] > 0x20 && key[i] < 0x7F;
    if (!clean)
        return wrong(call, &cr_code_invalid_header, "Idempotency-Key",
                     "it has 1 to 255 printable ASCII letters without blanks");
    exchange->ask.key = key;
    return CR_OK;
}

static enum cr_status read_reason(struct cr_call *call, struct api_exchange *exchange)
{
    const char *coded = http_field_of(exchange->http, "Cresset-Reason");
    if (!coded || !*coded)
        return wrong(call, &cr_code_reason_missing, "Cresset-Reason",
                     "say why, percent-encoded: it stands in the audit log");
    const char *reason = cr_percent_parse(call, coded, strlen(coded));
    size_t letters = 0;
    for (const char *at = reason; at && *at; at++)
        letters += ((unsigned char)*at & 0xC0) != 0x80;
    if (!reason || letters == 0 || letters > API_REASON_SIZE_MAX || !cr_printable(reason))
        return wrong(call, &cr_code_invalid_header, "Cresset-Reason",
                     "it has 1 to 200 printable letters, percent-encoded");
    exchange->ask.reason = reason;
    return CR_OK;
}

/* A strong entity tag of ours: "7". */
static bool parse_tag(const char *text, int64_t *ret_version)
{
    size_t length = strlen(text);
    return length >= 3 && text[0] == '"' && text[length - 1] == '"' &&
           cr_parse_integer(text + 1, length - 2, 0, INT64_MAX, ret_version);
}

static enum cr_status read_versions(struct cr_call *call, struct api_exchange *exchange)
{
    struct api *api = &exchange->api;
    const char *match = http_field_of(exchange->http, "If-Match");
    const char *none = http_field_of(exchange->http, "If-None-Match");
    api->version = api->seen = CR_NO_INTEGER;
    if (none)
        parse_tag(none, &api->seen); /* another's tag is never ours, so it matches nothing */
    if (!(api->route->flags & API_IF_MATCH))
        return CR_OK;
    if (!match)
        return wrong(call, &cr_code_precondition_missing, "If-Match",
                     "send the ETag that was read, so that nothing is overwritten unseen");
    if (!parse_tag(match, &api->version))
        return wrong(call, &cr_code_invalid_header, "If-Match", "it is one strong ETag of ours");
    return CR_OK;
}

static bool media_is(const char *sent, const char *wanted)
{
    size_t length = strlen(wanted);
    return strncmp(sent, wanted, length) == 0 &&
           (sent[length] == '\0' || sent[length] == ';' || sent[length] == ' ');
}

const struct cr_code api_unsupported_media_type = {
    "unsupported_media_type", CR_INVALID, 415, 2, false, "The body is of another media type"};

static enum cr_status check_media(struct cr_call *call, struct api_exchange *exchange)
{
    const struct api_route *route = exchange->api.route;
    const char *sent = http_field_of(exchange->http, "Content-Type");
    if ((route->flags & API_FILE_IN) || (exchange->http->body_size == 0 && !sent))
        return CR_OK;
    bool patch = strcmp(route->method, "PATCH") == 0;
    if (sent && (media_is(sent, "application/json") ||
                 (patch && media_is(sent, "application/merge-patch+json"))))
        return CR_OK;
    return wrong(call, &api_unsupported_media_type, "Content-Type", "it must be application/json");
}

static bool trace_fits(const char *text)
{
    return text && strlen(text) == 55 && strspn(text, "0123456789abcdef-") == 55 &&
           memcmp(text, "00-", 3) == 0 && text[35] == '-' && text[52] == '-' &&
           strspn(text + 3, "0") < 32 && strspn(text + 36, "0") < 16;
}

/* The trace goes on under a span of our own; without one, it begins here. */
static void read_trace(struct cr_call *call, struct api_exchange *exchange)
{
    unsigned char random[24];
    cr_random(call, random, sizeof random);
    const char *sent = http_field_of(exchange->http, "traceparent");
    const char *span = cr_hex(call, random + 16, 8);
    const char *trace = trace_fits(sent) ? cr_copy(call, sent + 3, 32) : cr_hex(call, random, 16);
    const char *sampled = trace_fits(sent) ? sent + 53 : "01";
    call->trace = cr_format(call, "00-%s-%s-%s", trace, span, sampled);
}

enum cr_status api_read_fields(struct cr_call *call, struct api_exchange *exchange)
{
    unsigned flags = exchange->api.route->flags;
    read_trace(call, exchange);
    if (flags & API_KEYED)
        CR_TRY(read_key(call, exchange));
    if (flags & API_REASON)
        CR_TRY(read_reason(call, exchange));
    CR_TRY(read_versions(call, exchange));
    return check_media(call, exchange);
}
