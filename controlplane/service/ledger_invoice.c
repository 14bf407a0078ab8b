/* ledger_invoice: drafts, computed from the charges of a month as they are now. */
#include "controlplane/service/ledger_internal.h"

#include "base/core/id.h"
#include "base/core/parse.h"
#include "controlplane/service/jobs_internal.h"
#include "controlplane/service/ledger_sql.h"

#include <string.h>

#define PERIODS_MAX   INT64_C(1200)
#define LINES_MAX     1000
#define PERIOD_LENGTH 7 /* "2026-11" */

static const char *const classes[] = {"usage", "correction", NULL}; /* by charge.class */
static const char *const states[] = {"draft", "issued", NULL};

/* clang-format off */
static const struct cr_member invoice_members[] = {
    CR_ID(struct ledger_invoice, invoice, "inv"),
    CR_MEMBER(struct ledger_invoice, period, PERIOD_LENGTH, PERIOD_LENGTH, .about = "a month of UTC"),
    CR_WORD(struct ledger_invoice, state, states),
    CR_MEMBER(struct ledger_invoice, currency, 3, 3),
    CR_TIME(struct ledger_invoice, from),
    CR_TIME(struct ledger_invoice, to),
    CR_MEMBER(struct ledger_invoice, line_count, 0, LINES_MAX),
    CR_MEMBER(struct ledger_invoice, record_count, 0, INT64_MAX),
    CR_MEMBER(struct ledger_invoice, lines_microusd, INT64_MIN + 1, INT64_MAX,
              .about = "the sum of the lines"),
    CR_MEMBER(struct ledger_invoice, total_microusd, INT64_MIN + 1, INT64_MAX,
              .about = "the same: a draft is not yet rounded to the minor unit"),
};
const struct cr_shape ledger_invoice_shape =
    CR_SHAPE(struct ledger_invoice, invoice_members, .name = "Invoice");

static const struct cr_member line_members[] = {
    CR_MEMBER(struct ledger_invoice_line, line, 1, LINES_MAX),
    CR_MEMBER(struct ledger_invoice_line, flavor, 1, 63),
    CR_WORD(struct ledger_invoice_line, meter, billing_meter_words),
    CR_MEMBER(struct ledger_invoice_line, unit, 1, 63),
    CR_ID(struct ledger_invoice_line, price, "prc"),
    CR_WORD(struct ledger_invoice_line, class, classes),
    CR_MEMBER(struct ledger_invoice_line, rate_pico, 0, BILLING_RATE_PICO_MAX),
    CR_MEMBER(struct ledger_invoice_line, quantity, 1, BILLING_ZEPTO_SIZE,
              .about = "nanoseconds of device time, or a count"),
    CR_MEMBER(struct ledger_invoice_line, amount_zepto, 1, BILLING_ZEPTO_SIZE,
              .about = "exact, in 10^-21 of the currency"),
    CR_MEMBER(struct ledger_invoice_line, amount_microusd, INT64_MIN + 1, INT64_MAX,
              .about = "the same, rounded down"),
    CR_MEMBER(struct ledger_invoice_line, record_count, 1, INT64_MAX),
    CR_MEMBER(struct ledger_invoice_line, records_root, 64, 64,
              .about = "RFC 9162 root over the digests of the records, in the order of their ids"),
};
const struct cr_shape ledger_invoice_line_shape =
    CR_SHAPE(struct ledger_invoice_line, line_members, .name = "InvoiceLine");
/* clang-format on */

struct period_row {
    int64_t period, record_count;
    const char *currency;
};
static const struct cr_member period_members[] = {
    CR_MEMBER(struct period_row, period, 0, 0),
    CR_MEMBER(struct period_row, record_count, 0, 0),
    CR_MEMBER(struct period_row, currency, 0, 0),
};
static const struct cr_shape period_shape = CR_SHAPE(struct period_row, period_members);

struct line_row {
    const char *flavor, *price, *quantity, *amount_zepto;
    int64_t meter, class, rate_pico, record_count;
};
static const struct cr_member line_row_members[] = {
    CR_MEMBER(struct line_row, flavor, 0, 0),    CR_MEMBER(struct line_row, price, 0, 0),
    CR_MEMBER(struct line_row, quantity, 0, 0),  CR_MEMBER(struct line_row, amount_zepto, 0, 0),
    CR_MEMBER(struct line_row, meter, 0, 0),     CR_MEMBER(struct line_row, class, 0, 0),
    CR_MEMBER(struct line_row, rate_pico, 0, 0), CR_MEMBER(struct line_row, record_count, 0, 0),
};
static const struct cr_shape line_row_shape = CR_SHAPE(struct line_row, line_row_members);

/* A draft has the same id each time that it is looked at: made of its month and its tenant. */
static const char *draft_id(struct cr_call *call, const char *tenant, int64_t period)
{
    unsigned char hash[BASE_CRYPTO_SHA256_SIZE];
    const char *text = cr_format(call, "cresset.draft/v1 %s %lld", tenant, (long long)period);
    base_crypto_sha256(text, strlen(text), hash);
    return cr_id_of(call, "inv", billing_period_from_us(period) / 1000, hash);
}

static enum cr_status draft(struct cr_call *call, struct db *db, const char *tenant,
                            const struct period_row *row, struct ledger_invoice *ret_invoice)
{
    struct cr_list list;
    CR_TRY(db_list(call, db, &ledger_lines, DB_VALUES(db_text(tenant), db_int(row->period)),
                   &line_row_shape, &list));
    *ret_invoice = (struct ledger_invoice){
        .invoice = draft_id(call, tenant, row->period),
        .period = cr_format(call, "%04d-%02d", (int)(row->period / 100), (int)(row->period % 100)),
        .state = states[0],
        .currency = row->currency,
        .from = billing_period_from_us(row->period),
        .to = billing_period_from_us(billing_period_next(row->period)),
        .line_count = (int64_t)list.count,
        .record_count = row->record_count,
    };
    const struct line_row *lines = list.items;
    for (size_t i = 0; i < list.count; i++) {
        int64_t micro = 0;
        CR_TRY(ledger_micro(call, lines[i].amount_zepto, &micro));
        if (__builtin_add_overflow(ret_invoice->lines_microusd, micro,
                                   &ret_invoice->lines_microusd))
            return cr_fail(call, CR_INTERNAL, "the total of %s does not fit", ret_invoice->period);
    }
    ret_invoice->total_microusd = ret_invoice->lines_microusd;
    return CR_OK;
}

struct looking {
    const struct principal *who;
    const char *invoice;
    int64_t below, limit; /* periods */
    struct ledger_invoice *invoices;
    size_t count;
    struct ledger_invoice_line *lines;
    size_t line_count;
    bool wants_lines;
};

static enum cr_status list(struct cr_call *call, struct db *db, void *context)
{
    struct looking *it = context;
    struct cr_list list;
    CR_TRY(db_list(call, db, &ledger_periods,
                   DB_VALUES(db_text(it->who->tenant), db_int(it->below), db_int(it->limit)),
                   &period_shape, &list));
    const struct period_row *rows = list.items;
    it->invoices = cr_new(call, struct ledger_invoice, list.count + 1);
    it->count = list.count;
    for (size_t i = 0; i < list.count; i++)
        CR_TRY(draft(call, db, it->who->tenant, &rows[i], &it->invoices[i]));
    return CR_OK;
}

/* "2026-11" as 202611. */
static int64_t period_of(const char *text)
{
    int64_t year = 0, month = 0;
    if (!text || strlen(text) != PERIOD_LENGTH || !cr_parse_integer(text, 4, 0, 9999, &year) ||
        !cr_parse_integer(text + 5 + (text[5] == '0'), 2 - (size_t)(text[5] == '0'), 1, 12, &month))
        return CR_NO_INTEGER;
    return year * 100 + month;
}

enum cr_status ledger_invoices(struct cr_call *call, struct service *service,
                               const struct principal *who, const char *after, int64_t limit,
                               struct cr_list *ret_invoices)
{
    struct looking it = {.who = who, .below = period_of(after), .limit = limit};
    CR_TRY(jobs_look(call, service, who, list, &it));
    *ret_invoices = (struct cr_list){it.invoices, it.count};
    return CR_OK;
}

/* One invoice -----------------------------------------------------------------------------------
 */

static enum cr_status root_of(struct cr_call *call, struct db *db, const char *tenant,
                              int64_t period, const struct line_row *row, const char **ret_root)
{
    struct db_rows rows;
    struct tlog_frontier *frontier = cr_new(call, struct tlog_frontier, 1);
    CR_TRY(db_rows(call, db, &ledger_line_records,
                   DB_VALUES(db_text(tenant), db_int(period), db_text(row->flavor),
                             db_int(row->meter), db_text(row->price), db_int(row->class)),
                   &rows));
    for (size_t i = 0; i < rows.row_count; i++) {
        struct tlog_hash leaf = tlog_leaf(rows.cells[i].text, rows.cells[i].length);
        tlog_append(frontier, &leaf);
    }
    struct tlog_hash root = tlog_frontier_root(frontier);
    *ret_root = cr_hex(call, root.bytes, TLOG_HASH_SIZE);
    return CR_OK;
}

static enum cr_status read_lines(struct cr_call *call, struct db *db, struct looking *it,
                                 int64_t period)
{
    struct cr_list list;
    CR_TRY(db_list(call, db, &ledger_lines, DB_VALUES(db_text(it->who->tenant), db_int(period)),
                   &line_row_shape, &list));
    const struct line_row *rows = list.items;
    it->lines = cr_new(call, struct ledger_invoice_line, list.count + 1);
    it->line_count = list.count;
    for (size_t i = 0; i < list.count; i++) {
        struct ledger_invoice_line *line = &it->lines[i];
        *line = (struct ledger_invoice_line){
            .line = (int64_t)i + 1,
            .flavor = rows[i].flavor,
            .meter = billing_meter_word(rows[i].meter),
            .unit = billing_unit((enum billing_meter)rows[i].meter, rows[i].flavor),
            .price = rows[i].price,
            .class = classes[rows[i].class],
            .rate_pico = rows[i].rate_pico,
            .quantity = rows[i].quantity,
            .amount_zepto = rows[i].amount_zepto,
            .record_count = rows[i].record_count,
        };
        CR_TRY(ledger_micro(call, rows[i].amount_zepto, &line->amount_microusd));
        CR_TRY(root_of(call, db, it->who->tenant, period, &rows[i], &line->records_root));
    }
    return CR_OK;
}

static enum cr_status find(struct cr_call *call, struct db *db, void *context)
{
    struct looking *it = context;
    struct cr_list list;
    it->count = 0;
    CR_TRY(db_list(call, db, &ledger_periods,
                   DB_VALUES(db_text(it->who->tenant), db_int(CR_NO_INTEGER), db_int(PERIODS_MAX)),
                   &period_shape, &list));
    const struct period_row *rows = list.items;
    for (size_t i = 0; i < list.count; i++) {
        if (strcmp(draft_id(call, it->who->tenant, rows[i].period), it->invoice) != 0)
            continue;
        it->invoices = cr_new(call, struct ledger_invoice, 1);
        it->count = 1;
        CR_TRY(draft(call, db, it->who->tenant, &rows[i], it->invoices));
        return it->wants_lines ? read_lines(call, db, it, rows[i].period) : CR_OK;
    }
    return service_missing(call, "invoice", it->invoice);
}

enum cr_status ledger_invoice(struct cr_call *call, struct service *service,
                              const struct principal *who, const char *invoice,
                              struct ledger_invoice *ret_invoice)
{
    struct looking it = {.who = who, .invoice = invoice};
    CR_TRY(jobs_look(call, service, who, find, &it));
    *ret_invoice = it.invoices[0];
    return CR_OK;
}

enum cr_status ledger_invoice_lines(struct cr_call *call, struct service *service,
                                    const struct principal *who, const char *invoice,
                                    struct cr_list *ret_lines)
{
    struct looking it = {.who = who, .invoice = invoice, .wants_lines = true};
    CR_TRY(jobs_look(call, service, who, find, &it));
    *ret_lines = (struct cr_list){it.lines, it.line_count};
    return CR_OK;
}
