/* receipt_read: a receipt out of strict JSON, of which nothing is believed yet. */
#include "billing/receipt_internal.h"

#include "base/json/json.h"

#include <string.h>

#define PRICES_MAX      16
#define PATH_MAX_LENGTH 1024 /* of a path that is refused later; the JSON bounds it too */

static const struct json_limits limits = {.size = BILLING_RECEIPT_SIZE_MAX, .members = 64};

/* No number anywhere, and not too deep. */
static bool is_plain(const struct json_value *value, int depth)
{
    if (depth > BILLING_RECEIPT_DEPTH_MAX || value->kind == JSON_KIND_INTEGER ||
        value->kind == JSON_KIND_NUMBER)
        return false;
    for (size_t i = 0; i < value->count; i++)
        if (!is_plain(&value->items[i], depth + 1))
            return false;
    return true;
}

/* Whether it is an object of just these members; those with a '?' before them may be missing. */
static bool has_members(const struct json_value *value, const char *const *names)
{
    if (!value || value->kind != JSON_KIND_OBJECT)
        return false;
    size_t found = 0;
    for (; *names; names++) {
        bool is_optional = **names == '?';
        bool is_there = json_member(value, *names + is_optional) != NULL;
        if (!is_there && !is_optional)
            return false;
        found += is_there;
    }
    return found == value->count;
}

static bool bytes_of(struct cr_call *call, const struct json_value *value,
                     struct cr_bytes *ret_bytes)
{
    return value && value->kind == JSON_KIND_TEXT &&
           provenance_base64(call, value->text, value->length, ret_bytes);
}

/* The items of a member that is an array of at most max. */
static bool array_of(const struct json_value *value, const char *name, size_t max,
                     const struct json_value **ret_array)
{
    *ret_array = json_member(value, name);
    return *ret_array && (*ret_array)->kind == JSON_KIND_ARRAY && (*ret_array)->count <= max;
}

static bool read_path(struct cr_call *call, const struct json_value *value,
                      struct billing_receipt_evidence *evidence)
{
    const struct json_value *path = NULL;
    if (!array_of(value, "path", PATH_MAX_LENGTH, &path))
        return false;
    evidence->path = cr_new(call, struct cr_bytes, path->count + 1);
    evidence->path_count = path->count;
    for (size_t i = 0; i < path->count; i++)
        if (!bytes_of(call, &path->items[i], &evidence->path[i]))
            return false;
    return true;
}

static bool read_evidence(struct cr_call *call, const struct json_value *value,
                          struct billing_receipt_evidence *ret_evidence)
{
    static const char *const names[] = {"reading",   "index",    "size", "path",
                                        "statement", "node_key", NULL};
    ret_evidence->index = json_member_text(value, "index");
    ret_evidence->size = json_member_text(value, "size");
    return has_members(value, names) && ret_evidence->index && ret_evidence->size &&
           bytes_of(call, json_member(value, "reading"), &ret_evidence->reading) &&
           read_path(call, value, ret_evidence) &&
           provenance_envelope_read(call, json_member(value, "statement"),
                                    &ret_evidence->statement) &&
           provenance_envelope_read(call, json_member(value, "node_key"), &ret_evidence->node_key);
}

static bool read_all_evidence(struct cr_call *call, const struct json_value *value,
                              struct billing_receipt_parts *parts)
{
    const struct json_value *evidence = NULL;
    if (!array_of(value, "evidence", BILLING_LEGS_MAX, &evidence))
        return false;
    parts->evidence = cr_new(call, struct billing_receipt_evidence, evidence->count + 1);
    parts->evidence_count = evidence->count;
    for (size_t i = 0; i < evidence->count; i++)
        if (!read_evidence(call, &evidence->items[i], &parts->evidence[i]))
            return false;
    return true;
}

static bool read_prices(struct cr_call *call, const struct json_value *value,
                        struct billing_receipt_parts *parts)
{
    const struct json_value *prices = NULL;
    if (!json_member(value, "prices"))
        return true;
    if (!array_of(value, "prices", PRICES_MAX, &prices))
        return false;
    parts->prices = cr_new(call, struct provenance_envelope, prices->count + 1);
    parts->price_count = prices->count;
    for (size_t i = 0; i < prices->count; i++)
        if (!provenance_envelope_read(call, &prices->items[i], &parts->prices[i]))
            return false;
    return true;
}

const char *billing_receipt_read(struct cr_call *call, struct cr_bytes receipt,
                                 struct billing_receipt_parts *ret_parts)
{
    static const char *const names[] = {"receipt",  "record",  "salt", "proof",
                                        "evidence", "?prices", NULL};
    const struct json_value *value = NULL;
    if (json_parse(call, &limits, (const char *)receipt.data, receipt.size, &value) != CR_OK) {
        cr_forgive(call);
        return "it is not strict JSON";
    }
    if (!is_plain(value, 1))
        return "it holds a number, or is nested too deep";
    if (!has_members(value, names))
        return "a member is missing, or not known";

    const char *type = json_member_text(value, "receipt");
    if (!type || strcmp(type, BILLING_RECEIPT_TYPE) != 0)
        return "it is not a " BILLING_RECEIPT_TYPE;
    memset(ret_parts, 0, sizeof *ret_parts);
    if (!provenance_envelope_read(call, json_member(value, "record"), &ret_parts->record))
        return "the record is not an envelope";
    if (!bytes_of(call, json_member(value, "salt"), &ret_parts->salt) ||
        ret_parts->salt.size != BILLING_SALT_SIZE)
        return "the salt is not 16 bytes in base64";
    const struct json_value *proof = json_member(value, "proof");
    if (proof->kind != JSON_KIND_TEXT)
        return "the proof is not a text";
    ret_parts->proof = proof->text;
    ret_parts->proof_length = proof->length;
    if (!read_all_evidence(call, value, ret_parts))
        return "the evidence is not of its form";
    if (!read_prices(call, value, ret_parts))
        return "the prices are not envelopes";
    return NULL;
}
