/* ledger_usage: records as they are read, and sums of charges. */
#include "controlplane/service/ledger_internal.h"

#include "base/core/time.h"
#include "controlplane/service/jobs_internal.h"
#include "controlplane/service/ledger_sql.h"

#include <string.h>

#define SUMS_MAX  500
#define LABEL_BY  "label:"
#define DAY_FIRST INT64_C(0)
#define DAY_LAST  INT64_C(100000) /* in the year 2243 */

/* clang-format off */
static const struct cr_member record_members[] = {
    CR_ID(struct ledger_record, record, "rec"),
    CR_ID(struct ledger_record, job, "job"),
    CR_WORD(struct ledger_record, kind, billing_kind_words),
    CR_WORD(struct ledger_record, outcome, billing_outcome_words),
    CR_WORD(struct ledger_record, program, billing_program_words),
    CR_MEMBER(struct ledger_record, flavor, 1, 63),
    CR_MEMBER(struct ledger_record, lease_epoch, 0, INT64_MAX),
    CR_MEMBER(struct ledger_record, device_ns, INT64_MIN + 1, INT64_MAX),
    CR_MEMBER(struct ledger_record, amount_microusd, INT64_MIN + 1, INT64_MAX),
    CR_MEMBER(struct ledger_record, region, 1, 253),
    CR_MEMBER(struct ledger_record, home, 1, 253),
    CR_ID(struct ledger_record, corrects, "rec", .flags = CR_NULLABLE),
    CR_TIME(struct ledger_record, at),
    CR_JSON(struct ledger_record, body, INT32_MAX, .flags = CR_OPTIONAL,
            .about = "what is signed, byte for byte"),
    CR_MEMBER(struct ledger_record, sha256, 64, 64, .flags = CR_OPTIONAL, .about = "of the body"),
    CR_BYTES(struct ledger_record, signature, 64, 64, .flags = CR_OPTIONAL),
    CR_MEMBER(struct ledger_record, key, 1, 512, .flags = CR_OPTIONAL,
              .about = "the verifier key that signed"),
    CR_MEMBER(struct ledger_record, leaf, 0, INT64_MAX, .flags = CR_OPTIONAL),
};
const struct cr_shape ledger_record_shape =
    CR_SHAPE(struct ledger_record, record_members, .name = "UsageRecord");

static const struct cr_member ask_members[] = {
    CR_MEMBER(struct ledger_summary_ask, by, 1, 200, .flags = CR_OPTIONAL,
              .about = "day, kind, flavor or label:NAME, separated by commas; else day and flavor"),
    CR_MEMBER(struct ledger_summary_ask, from, 10, 10, .flags = CR_OPTIONAL,
              .about = "the first day, as in 2026-11-30"),
    CR_MEMBER(struct ledger_summary_ask, to, 10, 10, .flags = CR_OPTIONAL,
              .about = "the last day, included"),
};
const struct cr_shape ledger_summary_ask_shape = CR_SHAPE(struct ledger_summary_ask, ask_members);

static const struct cr_member sum_members[] = {
    CR_MEMBER(struct ledger_usage_sum, day, 10, 10, .flags = CR_OPTIONAL),
    CR_MEMBER(struct ledger_usage_sum, kind, 1, 63, .flags = CR_OPTIONAL),
    CR_MEMBER(struct ledger_usage_sum, flavor, 1, 63, .flags = CR_OPTIONAL),
    CR_MEMBER(struct ledger_usage_sum, label, 0, CR_LABEL_VALUE_MAX, .flags = CR_OPTIONAL),
    CR_WORD(struct ledger_usage_sum, meter, billing_meter_words),
    CR_MEMBER(struct ledger_usage_sum, quantity, INT64_MIN + 1, INT64_MAX),
    CR_MEMBER(struct ledger_usage_sum, amount_microusd, INT64_MIN + 1, INT64_MAX),
    CR_MEMBER(struct ledger_usage_sum, record_count, 0, INT64_MAX),
};
static const struct cr_shape sum_shape =
    CR_SHAPE(struct ledger_usage_sum, sum_members, .name = "UsageSum");
static const struct cr_member summary_members[] = {
    CR_LIST(struct ledger_summary, data, &sum_shape, 0, SUMS_MAX),
};
const struct cr_shape ledger_summary_shape = CR_SHAPE(struct ledger_summary, summary_members);
/* clang-format on */

/* A record, and a sum, as rows have them: words are numbers, amounts are exact. */
struct row {
    const char *record, *job, *flavor, *region, *home, *corrects, *amount_zepto;
    int64_t kind, outcome, program, lease_epoch, device_ns, at, leaf;
    struct cr_bytes payload, payload_sha256, signature;
};
static const struct cr_member row_members[] = {
    CR_MEMBER(struct row, record, 0, 0),
    CR_MEMBER(struct row, job, 0, 0),
    CR_MEMBER(struct row, flavor, 0, 0),
    CR_MEMBER(struct row, region, 0, 0),
    CR_MEMBER(struct row, home, 0, 0),
    CR_MEMBER(struct row, corrects, 0, 0),
    CR_MEMBER(struct row, amount_zepto, 0, 0),
    CR_MEMBER(struct row, kind, 0, 0),
    CR_MEMBER(struct row, outcome, 0, 0),
    CR_MEMBER(struct row, program, 0, 0),
    CR_MEMBER(struct row, lease_epoch, 0, 0),
    CR_MEMBER(struct row, device_ns, 0, 0),
    CR_MEMBER(struct row, at, 0, 0),
    CR_MEMBER(struct row, leaf, 0, 0),
    CR_BYTES(struct row, payload, 0, INT32_MAX),
    CR_BYTES(struct row, payload_sha256, 0, 32),
    CR_BYTES(struct row, signature, 0, 64),
};
static const struct cr_shape row_shape = CR_SHAPE(struct row, row_members);

struct sum_row {
    const char *day, *kind, *flavor, *label, *amount_zepto;
    int64_t meter, quantity, record_count;
};
static const struct cr_member sum_row_members[] = {
    CR_MEMBER(struct sum_row, day, 0, 0),          CR_MEMBER(struct sum_row, kind, 0, 0),
    CR_MEMBER(struct sum_row, flavor, 0, 0),       CR_MEMBER(struct sum_row, label, 0, 0),
    CR_MEMBER(struct sum_row, amount_zepto, 0, 0), CR_MEMBER(struct sum_row, meter, 0, 0),
    CR_MEMBER(struct sum_row, quantity, 0, 0),     CR_MEMBER(struct sum_row, record_count, 0, 0),
};
static const struct cr_shape sum_row_shape = CR_SHAPE(struct sum_row, sum_row_members);

enum cr_status ledger_micro(struct cr_call *call, const char *amount_zepto, int64_t *ret_micro)
{
    billing_zepto amount = 0;
    if (!billing_zepto_parse(amount_zepto, strlen(amount_zepto), &amount) ||
        !billing_micro(amount, ret_micro))
        return cr_fail(call, CR_INTERNAL, "the amount %s does not fit", amount_zepto);
    return CR_OK;
}

/* Records ---------------------------------------------------------------------------------------
 */

static enum cr_status show(struct cr_call *call, const struct row *row,
                           struct ledger_record *ret_record)
{
    *ret_record = (struct ledger_record){
        .record = row->record,
        .job = row->job,
        .kind = billing_kind_word(row->kind),
        .outcome = billing_outcome_word(row->outcome),
        .program = billing_program_word(row->program),
        .flavor = row->flavor,
        .lease_epoch = row->lease_epoch,
        .device_ns = row->device_ns,
        .region = row->region,
        .home = row->home,
        .corrects = row->corrects,
        .at = row->at,
        .leaf = CR_NO_INTEGER,
    };
    return ledger_micro(call, row->amount_zepto, &ret_record->amount_microusd);
}

struct looking {
    const struct principal *who;
    const char *after, *record;
    int64_t limit;
    struct cr_list rows;
    struct row row;
    bool found;
};

static enum cr_status list(struct cr_call *call, struct db *db, void *context)
{
    struct looking *it = context;
    return db_list(call, db, &ledger_records_page,
                   DB_VALUES(db_text(it->who->tenant), db_text(it->after), db_int(it->limit)),
                   &row_shape, &it->rows);
}

enum cr_status ledger_records(struct cr_call *call, struct service *service,
                              const struct principal *who, const char *after, int64_t limit,
                              struct cr_list *ret_records)
{
    struct looking it = {.who = who, .after = after, .limit = limit};
    CR_TRY(jobs_look(call, service, who, list, &it));
    const struct row *rows = it.rows.items;
    struct ledger_record *records = cr_new(call, struct ledger_record, it.rows.count + 1);
    for (size_t i = 0; i < it.rows.count; i++)
        CR_TRY(show(call, &rows[i], &records[i]));
    *ret_records = (struct cr_list){records, it.rows.count};
    return CR_OK;
}

static enum cr_status find(struct cr_call *call, struct db *db, void *context)
{
    struct looking *it = context;
    return db_one(call, db, &ledger_record_of,
                  DB_VALUES(db_text(it->who->tenant), db_text(it->record)), &row_shape, &it->row,
                  &it->found);
}

enum cr_status ledger_record(struct cr_call *call, struct service *service,
                             const struct principal *who, const char *record,
                             struct ledger_record *ret_record)
{
    struct looking it = {.who = who, .record = record};
    CR_TRY(jobs_look(call, service, who, find, &it));
    if (!it.found)
        return service_missing(call, "record", record);
    struct tlog_vkey vkey = ledger_records_vkey(call, service->config);
    CR_TRY(show(call, &it.row, ret_record));
    ret_record->body = (struct cr_json){cr_copy(call, it.row.payload.data, it.row.payload.size),
                                        it.row.payload.size};
    ret_record->sha256 = cr_hex(call, it.row.payload_sha256.data, it.row.payload_sha256.size);
    ret_record->signature = it.row.signature;
    ret_record->key = tlog_vkey_write(call, &vkey);
    ret_record->leaf = it.row.leaf;
    return CR_OK;
}

/* Sums ------------------------------------------------------------------------------------------
 */

struct summing {
    const struct principal *who;
    int64_t from, to; /* days, the latter not included */
    bool day, kind, flavor;
    const char *label;
    struct cr_list rows;
};

static enum cr_status read_by(struct cr_call *call, const char *by, struct summing *it)
{
    while (*by) {
        size_t length = strcspn(by, ",");
        const char *word = cr_copy(call, by, length);
        if (strcmp(word, "day") == 0)
            it->day = true;
        else if (strcmp(word, "kind") == 0)
            it->kind = true;
        else if (strcmp(word, "flavor") == 0)
            it->flavor = true;
        else if (strncmp(word, LABEL_BY, strlen(LABEL_BY)) == 0 && word[strlen(LABEL_BY)])
            it->label = word + strlen(LABEL_BY);
        else
            return cr_fail_as(call, &cr_code_invalid_parameter,
                              "by is day, kind, flavor or label:NAME, not '%s'", word);
        by += length + (by[length] == ',');
    }
    return CR_OK;
}

static enum cr_status read_day(struct cr_call *call, const char *name, const char *text,
                               int64_t *day)
{
    int64_t begin_us = 0;
    if (!text)
        return CR_OK;
    if (!cr_date_parse(text, strlen(text), &begin_us))
        return cr_fail_as(call, &cr_code_invalid_parameter, "%s is no day as in 2026-11-30", name);
    *day = billing_day(begin_us);
    return CR_OK;
}

static enum cr_status add(struct cr_call *call, struct db *db, void *context)
{
    struct summing *it = context;
    return db_list(call, db, &ledger_usage_sums,
                   DB_VALUES(db_text(it->who->tenant), db_int(it->from), db_int(it->to),
                             db_bool(it->day), db_bool(it->kind), db_bool(it->flavor),
                             db_text(it->label)),
                   &sum_row_shape, &it->rows);
}

enum cr_status ledger_usage_summary(struct cr_call *call, struct service *service,
                                    const struct principal *who,
                                    const struct ledger_summary_ask *ask,
                                    struct ledger_summary *ret_summary)
{
    struct summing it = {.who = who, .from = DAY_FIRST, .to = DAY_LAST};
    CR_TRY(read_by(call, ask->by ? ask->by : "day,flavor", &it));
    CR_TRY(read_day(call, "from", ask->from, &it.from));
    CR_TRY(read_day(call, "to", ask->to, &it.to));
    it.to += ask->to != NULL;
    CR_TRY(jobs_look(call, service, who, add, &it));

    const struct sum_row *rows = it.rows.items;
    struct ledger_usage_sum *sums = cr_new(call, struct ledger_usage_sum, it.rows.count + 1);
    for (size_t i = 0; i < it.rows.count; i++) {
        sums[i] = (struct ledger_usage_sum){
            .day = rows[i].day,
            .kind = rows[i].kind,
            .flavor = rows[i].flavor,
            .label = rows[i].label,
            .meter = billing_meter_word(rows[i].meter),
            .quantity = rows[i].quantity,
            .record_count = rows[i].record_count,
        };
        CR_TRY(ledger_micro(call, rows[i].amount_zepto, &sums[i].amount_microusd));
    }
    ret_summary->data = (struct cr_list){sums, it.rows.count};
    return CR_OK;
}
