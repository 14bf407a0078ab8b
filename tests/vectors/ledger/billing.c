/* billing: the suites of billing and of policy/provenance. */
#include "tests/vectors/ledger/vectors.h"

#include "base/core/file.h"
#include "base/core/parse.h"
#include "billing/receipt.h"
#include "policy/provenance/provenance.h"

#include <string.h>

#define ITEMS_MAX 256

/* Amounts that no column holds must be refused: 38 digits, and money in 63 bits. */
static bool is_storable(const struct json_value *one)
{
    const char *amount = text_of(one, "amount_zepto"), *micro = text_of(one, "amount_micro");
    int64_t ignored = 0;
    return strlen(amount) - (*amount == '-') <= 38 &&
           cr_parse_integer(micro, strlen(micro), INT64_MIN + 1, INT64_MAX, &ignored);
}

static bool check_money(struct cr_call *call, const char *folder, const struct json_value *file,
                        const struct json_value *one)
{
    (void)call;
    (void)folder;
    (void)file;
    const char *want = text_of(one, "amount_zepto");
    billing_zepto amount = 0, again = 0;
    int64_t micro = 0;
    char text[BILLING_ZEPTO_SIZE];
    enum billing_meter meter = (enum billing_meter)billing_meter_number(text_of(one, "meter"));
    if (!billing_amount(meter, integer_of(one, "quantity"), integer_of(one, "rate_pico"),
                        &amount) ||
        !billing_micro(amount, &micro))
        return !is_storable(one);
    billing_zepto_print(amount, text);
    return strcmp(text, want) == 0 && billing_zepto_parse(want, strlen(want), &again) &&
           again == amount && micro == integer_of(one, "amount_micro");
}

static bool check_invoice(struct cr_call *call, const char *folder, const struct json_value *file,
                          const struct json_value *one)
{
    (void)call;
    (void)folder;
    (void)file;
    const struct json_value *lines = json_member(one, "lines_micro");
    int64_t micro[ITEMS_MAX], rounding = 0, total = 0;
    if (lines->count > ITEMS_MAX)
        return false;
    for (size_t i = 0; i < lines->count; i++)
        if (!cr_parse_integer(lines->items[i].text, lines->items[i].length, INT64_MIN, INT64_MAX,
                              &micro[i]))
            return false;
    return billing_total((int)integer_of(one, "exponent"), micro, lines->count, &rounding,
                         &total) &&
           rounding == integer_of(one, "rounding_micro") && total == integer_of(one, "total_micro");
}

static bool check_split(struct cr_call *call, const char *folder, const struct json_value *file,
                        const struct json_value *one)
{
    (void)folder;
    (void)file;
    const struct json_value *days = json_member(one, "days");
    struct billing_piece *pieces = cr_new(call, struct billing_piece, 1024);
    size_t count = billing_split(integer_of(one, "from_us"), integer_of(one, "ns"), pieces, 1024);
    if (count != days->count)
        return false;
    for (size_t i = 0; i < count; i++) {
        int64_t day = 0, ns = 0;
        const struct json_value *pair = days->items[i].items;
        if (!cr_parse_integer(pair[0].text, pair[0].length, 0, INT64_MAX, &day) ||
            !cr_parse_integer(pair[1].text, pair[1].length, 0, INT64_MAX, &ns) ||
            day != pieces[i].day || ns != pieces[i].ns)
            return false;
    }
    return true;
}

static enum billing_state state_of(const char *word)
{
    static const char *const words[] = {"free", "leased", "maintenance", "unknown", "gone"};
    for (int i = 0; i < 5; i++)
        if (strcmp(words[i], word) == 0)
            return (enum billing_state)i;
    return BILLING_UNKNOWN;
}

static bool check_attribution(struct cr_call *call, const char *folder,
                              const struct json_value *file, const struct json_value *one)
{
    (void)folder;
    (void)file;
    const struct json_value *states = json_member(one, "intervals"),
                            *records = json_member(one, "records"),
                            *want = json_member(one, "expect");
    struct billing_interval *intervals = cr_new(call, struct billing_interval, states->count + 1);
    struct billing_held *held = cr_new(call, struct billing_held, records->count + 1);
    for (size_t i = 0; i < states->count; i++)
        intervals[i] = (struct billing_interval){
            .from_us = integer_of(&states->items[i], "from_us"),
            .to_us = integer_of(&states->items[i], "to_us"),
            .state = state_of(text_of(&states->items[i], "state")),
            .lease = text_of(&states->items[i], "lease"),
        };
    for (size_t i = 0; i < records->count; i++)
        held[i] = (struct billing_held){
            .lease = text_of(&records->items[i], "lease"),
            .is_final = strcmp(text_of(&records->items[i], "kind"), "final") == 0,
            .from_us = integer_of(&records->items[i], "from_us"),
            .ended_us = integer_of(&records->items[i], "ended_us"),
            .held_ns = integer_of(&records->items[i], "held_ns"),
            .prior_ns = integer_of(&records->items[i], "prior_ns"),
            .billed_ns = integer_of(&records->items[i], "billed_ns"),
        };
    struct billing_attribution day = billing_attribute(integer_of(one, "day_us"), intervals,
                                                       states->count, held, records->count);
    return day.present_ns == integer_of(want, "present_ns") &&
           day.billed_ns == integer_of(want, "billed_ns") &&
           day.idle_free_ns == integer_of(want, "idle_free_ns") &&
           day.idle_reserved_ns == integer_of(want, "idle_reserved_ns") &&
           day.idle_waived_ns == integer_of(want, "idle_waived_ns") &&
           day.maintenance_ns == integer_of(want, "maintenance_ns") &&
           day.unattributed_ns == integer_of(want, "unattributed_ns");
}

static bool type_is_supported(const struct json_value *one, const char *type)
{
    const struct json_value *types = json_member(one, "supportedPayloadTypes");
    for (size_t i = 0; i < types->count; i++)
        if (strcmp(types->items[i].text, type) == 0)
            return true;
    return false;
}

static bool check_dsse(struct cr_call *call, const char *folder, const struct json_value *file,
                       const struct json_value *one)
{
    (void)folder;
    const struct json_value *names = json_member(one, "trustedKeys");
    const unsigned char *keys[ITEMS_MAX];
    for (size_t i = 0; i < names->count; i++)
        keys[i] = hex_of(call, text_of(json_member(json_member(file, "keys"), names->items[i].text),
                                       "public"))
                      .data;

    struct provenance_envelope *envelope = cr_new(call, struct provenance_envelope, 1);
    int64_t threshold = integer_of(one, "threshold");
    bool is = provenance_envelope_read(call, json_member(one, "envelope"), envelope);
    bool is_accepted = strcmp(text_of(one, "expect"), "accept") == 0;
    if (is && is_accepted && json_member(one, "pae")) {
        struct cr_bytes pae = provenance_pae(call, envelope->payload_type, envelope->payload);
        if (strcmp(cr_hex(call, pae.data, pae.size), text_of(one, "pae")) != 0)
            return false;
    }
    is = is && threshold >= 1 &&
         (int64_t)provenance_signers(call, envelope, keys, names->count, NULL) >= threshold &&
         type_is_supported(one, envelope->payload_type);
    return is == is_accepted;
}

static bool check_receipt(struct cr_call *call, const char *folder, const struct json_value *file,
                          const struct json_value *one)
{
    (void)file;
    struct cr_bytes receipt, keys_file, policy_file;
    const char *path = cr_format(call, "%s/receipt/cases/%s", folder, text_of(one, "file"));
    const char *trust = cr_format(call, "%s/receipt/trust", folder);
    struct tlog_keys *keys = cr_new(call, struct tlog_keys, 1);
    struct tlog_policy *policy = cr_new(call, struct tlog_policy, 1);
    if (cr_file_read(call, path, BILLING_RECEIPT_SIZE_MAX, &receipt) != CR_OK ||
        cr_file_read(call, cr_format(call, "%s/keys", trust), 65536, &keys_file) != CR_OK ||
        cr_file_read(call, cr_format(call, "%s/policy", trust), 65536, &policy_file) != CR_OK ||
        !tlog_keys_read(call, (const char *)keys_file.data, keys_file.size, keys) ||
        !tlog_policy_read(call, (const char *)policy_file.data, policy_file.size, policy))
        return false;

    struct billing_verdict verdict = billing_receipt_verify(call, receipt, keys, policy);
    bool is = verdict.step == BILLING_STEP_COUNT;
    if (is != true_of(one, "ok") ||
        strcmp(billing_step_words[verdict.step], text_of(one, "step")) != 0) {
        printf("  %s: %s (%s)\n", text_of(one, "file"), billing_step_words[verdict.step],
               verdict.reason);
        return false;
    }
    return true;
}

/* clang-format off */
const struct suite billing_suites[] = {
    {"dsse/vectors",       "dsse/vectors.json",        "vectors", check_dsse},
    {"dsse/more",          "dsse/more.json",           "vectors", check_dsse},
    {"receipt",            "receipt/expect.jsonl",     NULL,      check_receipt},
    {"ledger/attribution", "ledger/attribution.jsonl", NULL,      check_attribution},
    {"ledger/money",       "ledger/money.jsonl",       NULL,      check_money},
    {"ledger/invoice",     "ledger/invoice.jsonl",     NULL,      check_invoice},
    {"ledger/split",       "ledger/split.jsonl",       NULL,      check_split},
    {0},
};
/* clang-format on */
