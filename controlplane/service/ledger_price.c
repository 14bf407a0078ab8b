/* ledger_price: prices as they are published, and quotes. */
#include "controlplane/service/ledger_internal.h"

#include "base/core/id.h"
#include "controlplane/service/jobs_internal.h"
#include "controlplane/service/ledger_sql.h"

#include <string.h>

#define HOUR_US     INT64_C(3600000000)
#define CURRENCY    "USD"
#define QUOTE_S_MAX (INT64_C(30) * 24 * 3600)
#define QUOTE_COUNT INT64_C(2048)
#define NS_A_SECOND INT64_C(1000000000)

_Static_assert(QUOTE_COUNT <= INT64_MAX / NS_A_SECOND / QUOTE_S_MAX, "a quote's time fits");

/* clang-format off */
static const struct cr_member price_members[] = {
    CR_ID(struct ledger_price, price, "prc"),
    CR_MEMBER(struct ledger_price, flavor, 1, 63),
    CR_WORD(struct ledger_price, meter, billing_meter_words),
    CR_MEMBER(struct ledger_price, unit, 1, 63),
    CR_MEMBER(struct ledger_price, currency, 3, 3),
    CR_MEMBER(struct ledger_price, rate_pico, 0, BILLING_RATE_PICO_MAX,
              .about = "10^-12 of the currency, for a second or for one count"),
    CR_MEMBER(struct ledger_price, rate_microusd_h, 0, INT64_MAX, .flags = CR_NULLABLE,
              .about = "the same for an hour, of device time alone"),
    CR_TIME(struct ledger_price, from),
    CR_MEMBER(struct ledger_price, contract, 0, 0, .about = "of this tenant alone"),
};
const struct cr_shape ledger_price_shape =
    CR_SHAPE(struct ledger_price, price_members, .name = "Price");

static const struct cr_member quote_ask_members[] = {
    CR_MEMBER(struct ledger_quote_ask, flavor, 1, 63),
    CR_MEMBER(struct ledger_quote_ask, device_count, 1, QUOTE_COUNT),
    CR_MEMBER(struct ledger_quote_ask, duration_s, 1, QUOTE_S_MAX),
};
const struct cr_shape ledger_quote_ask_shape =
    CR_SHAPE(struct ledger_quote_ask, quote_ask_members, .name = "QuoteAsk");

static const struct cr_member quote_members[] = {
    CR_MEMBER(struct ledger_quote, flavor, 1, 63),
    CR_WORD(struct ledger_quote, meter, billing_meter_words),
    CR_ID(struct ledger_quote, price, "prc"),
    CR_MEMBER(struct ledger_quote, currency, 3, 3),
    CR_MEMBER(struct ledger_quote, rate_pico, 0, BILLING_RATE_PICO_MAX),
    CR_MEMBER(struct ledger_quote, rate_microusd_h, 0, INT64_MAX),
    CR_MEMBER(struct ledger_quote, device_count, 1, QUOTE_COUNT),
    CR_MEMBER(struct ledger_quote, duration_s, 1, QUOTE_S_MAX),
    CR_MEMBER(struct ledger_quote, quantity, 0, INT64_MAX, .about = "nanoseconds of device time"),
    CR_MEMBER(struct ledger_quote, amount_zepto, 1, BILLING_ZEPTO_SIZE,
              .about = "exact, in 10^-21 of the currency"),
    CR_MEMBER(struct ledger_quote, total_microusd, 0, INT64_MAX),
};
const struct cr_shape ledger_quote_shape =
    CR_SHAPE(struct ledger_quote, quote_members, .name = "Quote");
/* clang-format on */

/* A price as its row has it: the meter is a number there. */
struct row {
    const char *price, *flavor;
    int64_t meter;
    const char *unit, *currency;
    int64_t rate_pico, from;
    bool contract;
};
static const struct cr_member row_members[] = {
    CR_MEMBER(struct row, price, 0, 0),    CR_MEMBER(struct row, flavor, 0, 0),
    CR_MEMBER(struct row, meter, 0, 0),    CR_MEMBER(struct row, unit, 0, 0),
    CR_MEMBER(struct row, currency, 0, 0), CR_MEMBER(struct row, rate_pico, 0, 0),
    CR_MEMBER(struct row, from, 0, 0),     CR_MEMBER(struct row, contract, 0, 0),
};
static const struct cr_shape row_shape = CR_SHAPE(struct row, row_members);

struct told {
    int64_t leaf;
};
static const struct cr_member told_members[] = {CR_MEMBER(struct told, leaf, 0, 0)};
static const struct cr_shape told_shape = CR_SHAPE(struct told, told_members);

/* Publishing ------------------------------------------------------------------------------------
 */

static enum cr_status publish(struct cr_call *call, struct db *db,
                              const struct service_config *config, struct billing_price price)
{
    struct ledger_leaf_of leaf = {.ask = &service_by_engine,
                                  .tenant = price.tenant,
                                  .kind = "price.published",
                                  .object = price.price,
                                  .is_public = true};
    struct ledger_document document;
    CR_TRY(ledger_document(call, db, config, BILLING_TYPE_PRICE, billing_price_write(call, &price),
                           &leaf, &document));
    return db_exec(
        call, db, &ledger_price_insert,
        DB_VALUES(db_text(price.price), db_text(config->region), db_text(price.tenant),
                  db_text(price.flavor), db_int(billing_meter_number(price.meter)),
                  db_text(price.unit), db_text(price.currency), db_int(price.rate_pico),
                  db_int(price.from_us), db_bytes(document.body.data, document.body.size),
                  db_bytes(document.signature, sizeof document.signature), db_int(document.leaf)),
        NULL);
}

static enum cr_status publish_first(struct cr_call *call, struct db *db,
                                    const struct service_config *config)
{
    struct row row;
    bool found = false;
    CR_TRY(db_one(call, db, &ledger_price_of,
                  DB_VALUES(db_text(config->region), db_text(NULL), db_text(JOBS_FLAVOR_CPU),
                            db_int(BILLING_METER_device)),
                  &row_shape, &row, &found));
    if (found)
        return CR_OK;
    struct billing_price price = {
        .currency = CURRENCY,
        .flavor = JOBS_FLAVOR_CPU,
        .from_us = cr_utc_us(call) / HOUR_US * HOUR_US,
        .meter = billing_meter_word(BILLING_METER_device),
        .price = cr_id(call, "prc"),
        .region = config->domain,
        .unit = billing_unit(BILLING_METER_device, JOBS_FLAVOR_CPU),
    };
    if (!billing_rate_of_hour(LEDGER_BOOTSTRAP_MICROUSD_H, &price.rate_pico))
        return cr_fail(call, CR_INTERNAL, "the first price does not fit");
    return publish(call, db, config, price);
}

/* The region's own keys have their leaves, so that whoever reads the log knows since when. */
static enum cr_status tell_key(struct cr_call *call, struct db *db, const struct tlog_vkey *vkey)
{
    struct told told;
    bool found = false;
    CR_TRY(db_one(call, db, &ledger_key_is_told, DB_VALUES(db_text(vkey->name)), &told_shape, &told,
                  &found));
    if (found)
        return CR_OK;
    const char *body = cr_format(call, "{\"type\":\"cresset.key/v1\",\"vkey\":\"%s\"}",
                                 tlog_vkey_write(call, vkey));
    struct service_mutation mutation = {.action = "key.added", .object = vkey->name};
    return service_leaf(call, db, &service_by_engine, &mutation, "key.added", body, strlen(body),
                        NULL);
}

static enum cr_status begin(struct cr_call *call, struct db *db, void *context)
{
    const struct service_config *config = context;
    struct tlog_vkey records = ledger_records_vkey(call, config),
                     log = ledger_log_vkey(call, config);
    CR_TRY(tell_key(call, db, &records));
    CR_TRY(tell_key(call, db, &log));
    return publish_first(call, db, config);
}

enum cr_status ledger_bootstrap(struct cr_call *call, struct service *service)
{
    struct service_config config = *service->config;
    return db_transaction(call, service->engine_db, NULL, 0, begin, &config);
}

/* Reading ---------------------------------------------------------------------------------------
 */

static void show(const struct row *row, struct ledger_price *ret_price)
{
    bool is_device = row->meter == BILLING_METER_device;
    *ret_price = (struct ledger_price){
        .price = row->price,
        .flavor = row->flavor,
        .meter = billing_meter_word(row->meter),
        .unit = row->unit,
        .currency = row->currency,
        .rate_pico = row->rate_pico,
        .rate_microusd_h = is_device ? billing_rate_to_hour(row->rate_pico) : CR_NO_INTEGER,
        .from = row->from,
        .contract = row->contract,
    };
}

struct listing {
    const struct service_config *config;
    const struct principal *who;
    const char *after;
    int64_t limit;
    struct cr_list rows;
};

static enum cr_status list(struct cr_call *call, struct db *db, void *context)
{
    struct listing *it = context;
    return db_list(call, db, &ledger_price_list,
                   DB_VALUES(db_text(it->config->region), db_text(it->who->tenant),
                             db_text(it->after), db_int(it->limit)),
                   &row_shape, &it->rows);
}

enum cr_status ledger_prices(struct cr_call *call, struct service *service,
                             const struct principal *who, const char *after, int64_t limit,
                             struct cr_list *ret_prices)
{
    struct listing it = {.config = service->config, .who = who, .after = after, .limit = limit};
    CR_TRY(jobs_look(call, service, who, list, &it));
    const struct row *rows = it.rows.items;
    struct ledger_price *prices = cr_new(call, struct ledger_price, it.rows.count + 1);
    for (size_t i = 0; i < it.rows.count; i++)
        show(&rows[i], &prices[i]);
    *ret_prices = (struct cr_list){prices, it.rows.count};
    return CR_OK;
}

struct quoting {
    const struct service_config *config;
    const struct principal *who;
    const struct ledger_quote_ask *ask;
    struct row row;
    bool found;
};

static enum cr_status find(struct cr_call *call, struct db *db, void *context)
{
    struct quoting *it = context;
    return db_one(call, db, &ledger_price_of,
                  DB_VALUES(db_text(it->config->region), db_text(it->who->tenant),
                            db_text(it->ask->flavor), db_int(BILLING_METER_device)),
                  &row_shape, &it->row, &it->found);
}

enum cr_status ledger_quote(struct cr_call *call, struct service *service,
                            const struct principal *who, const struct ledger_quote_ask *ask,
                            struct ledger_quote *ret_quote)
{
    struct quoting it = {.config = service->config, .who = who, .ask = ask};
    CR_TRY(jobs_look(call, service, who, find, &it));
    if (!it.found)
        return cr_fail_as(call, &cr_code_not_found, "no price of flavor '%s'", ask->flavor);

    billing_zepto amount = 0;
    char text[BILLING_ZEPTO_SIZE];
    int64_t quantity = ask->device_count * ask->duration_s * NS_A_SECOND, micro = 0;
    if (!billing_amount(BILLING_METER_device, quantity, it.row.rate_pico, &amount) ||
        !billing_micro(amount, &micro))
        return cr_fail_as(call, &cr_code_invalid_body, "so much cannot be billed at once");
    billing_zepto_print(amount, text);
    *ret_quote = (struct ledger_quote){
        .flavor = it.row.flavor,
        .meter = billing_meter_word(BILLING_METER_device),
        .price = it.row.price,
        .currency = it.row.currency,
        .rate_pico = it.row.rate_pico,
        .rate_microusd_h = billing_rate_to_hour(it.row.rate_pico),
        .device_count = ask->device_count,
        .duration_s = ask->duration_s,
        .quantity = quantity,
        .amount_zepto = cr_format(call, "%s", text),
        .total_microusd = micro,
    };
    return CR_OK;
}
