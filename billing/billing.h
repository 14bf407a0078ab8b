/*
 * billing: what was used, what it costs, and the documents that say so.
 *
 * Three ideas carry it: a lease holds its devices for one contiguous interval, so time splits
 * exactly; everything is an integer; and rounding goes only downwards, twice, on the invoice.
 *
 * Units
 *     device time  int64_t nanoseconds of the node's CLOCK_BOOTTIME, billed times slices
 *     moments      int64_t microseconds of UTC of the region's clock; days and months are UTC's
 *     price        int64_t pico-units (10^-12) of the currency for a second, or for one count
 *     amount       billing_zepto, zepto-units (10^-21): quantity times price, exact
 *     money        int64_t micro-units, where it is shown or put on a line
 *
 * Documents    are canonical JSON (RFC 8785) in which every number is a decimal text, in a DSSE
 *              envelope whose type is their domain (policy/provenance). What is written here is
 *              canonical; what is read is refused unless writing it again gives the same bytes
 * Ownership    what is made or read lives as long as the call
 * Threads      pure: no state, no clock, no service
 * Source       design: ledger.md sections 1 to 8
 */
#pragma once

#include "base/core/shape.h"
#include "base/core/text.h"

/* Limits ----------------------------------------------------------------------------------------
 */

#define BILLING_LEGS_MAX          1024
#define BILLING_QUANTITIES_MAX    5 /* each meter once */
#define BILLING_DEVICES_MAX       512
#define BILLING_SLICES_MAX        65536
#define BILLING_RATE_PICO_MAX     INT64_C(1000000000000000)
#define BILLING_COUNT_MAX         INT64_C(10000000000000) /* of a meter that counts, a record */
#define BILLING_DAY_US            INT64_C(86400000000)
#define BILLING_DAY_NS            (BILLING_DAY_US * 1000)
#define BILLING_SALT_SIZE         16
#define BILLING_READINGS_SIZE_MIN 16 /* leaves of a statement's tree, a power of two */

/* Words -----------------------------------------------------------------------------------------
 */

/* Each with its number in the database. A number that was given stays. */
/* clang-format off */
#define BILLING_KINDS(row)    row(final, 1) row(interim, 2) row(window, 3) row(correction, 4)
#define BILLING_OUTCOMES(row) row(completed, 1) row(tenant_error, 2) row(limit, 3) row(cancelled, 4) \
                              row(preempted, 5) row(platform_error, 6) row(open, 7)
#define BILLING_PROGRAMS(row) row(train, 1) row(batch, 2) row(serve, 3) row(tune, 4)
#define BILLING_METERS(row)   row(device, 1) row(tokens_in, 2) row(tokens_out, 3) row(requests, 4) \
                              row(requests_cut, 5)
/* clang-format on */

#define BILLING_NUMBER(prefix, word, number) prefix##word = (number),
#define BILLING_KIND(word, number)           BILLING_NUMBER(BILLING_KIND_, word, number)
#define BILLING_OUTCOME(word, number)        BILLING_NUMBER(BILLING_OUTCOME_, word, number)
#define BILLING_PROGRAM(word, number)        BILLING_NUMBER(BILLING_PROGRAM_, word, number)
#define BILLING_METER(word, number)          BILLING_NUMBER(BILLING_METER_, word, number)
enum billing_kind { BILLING_KINDS(BILLING_KIND) };
enum billing_outcome { BILLING_OUTCOMES(BILLING_OUTCOME) };
enum billing_program { BILLING_PROGRAMS(BILLING_PROGRAM) };
enum billing_meter { BILLING_METERS(BILLING_METER) };
#undef BILLING_KIND
#undef BILLING_OUTCOME
#undef BILLING_PROGRAM
#undef BILLING_METER

extern const char *const billing_kind_words[],
    *const billing_outcome_words[], *const billing_program_words[],
                                        *const billing_meter_words[]; /* NULL ends each */

/* The number of a word; -1: there is none. And back; NULL: there is none. */
int64_t billing_kind_number(const char *word);
int64_t billing_outcome_number(const char *word);
int64_t billing_program_number(const char *word);
int64_t billing_meter_number(const char *word);
const char *billing_kind_word(int64_t number);
const char *billing_outcome_word(int64_t number);
const char *billing_program_word(int64_t number);
const char *billing_meter_word(int64_t number);

/* Whether the platform failed, so that nothing is billed. */
bool billing_outcome_is_platform(const char *outcome);

/* Amounts: charge.c -----------------------------------------------------------------------------
 */

typedef __int128 billing_zepto;

/* The text of an amount: at most 38 digits, a sign, a NUL. */
#define BILLING_ZEPTO_SIZE 40
void billing_zepto_print(billing_zepto amount, char ret_text[BILLING_ZEPTO_SIZE]);
bool billing_zepto_parse(const char *text, size_t length, billing_zepto *ret_amount);

/* The same as a decimal of whole units with the zeros at its end cut: "0.000277777". */
const char *billing_zepto_decimal(struct cr_call *call, billing_zepto amount);

/* What a quantity of a meter costs, exactly. false: no record holds so much. */
bool billing_amount(enum billing_meter meter, int64_t quantity, int64_t rate_pico,
                    billing_zepto *ret_amount);

/* The first of the two roundings: whole micro-units, towards minus infinity. */
bool billing_micro(billing_zepto amount, int64_t *ret_micro);

/* Sum of two amounts. false: no invoice holds so much. */
bool billing_add(billing_zepto a, billing_zepto b, billing_zepto *ret_sum);

/* Days ------------------------------------------------------------------------------------------
 */

int64_t billing_day(int64_t utc_us);            /* since 1970 */
int64_t billing_period(int64_t utc_us);         /* yyyymm */
int64_t billing_period_from_us(int64_t period); /* when that month begins */
int64_t billing_period_next(int64_t period);

/* One day's part of an interval. */
struct billing_piece {
    int64_t day, ns;
};

/*
 * Cuts ns nanoseconds from from_us on at midnights, at most piece_max pieces; the result is how
 * many there are.
 */
size_t billing_split(int64_t from_us, int64_t ns, struct billing_piece *ret_pieces,
                     size_t piece_max);

/* What nodes say: reading.c ---------------------------------------------------------------------
 */

#define BILLING_TYPE(what)     "application/vnd.cresset." what ".v1+json"
#define BILLING_TYPE_STATEMENT BILLING_TYPE("node-statement")
#define BILLING_TYPE_NODE_KEY  BILLING_TYPE("node-key")
#define BILLING_TYPE_RECORD    BILLING_TYPE("usage-record")
#define BILLING_TYPE_PRICE     BILLING_TYPE("price")
#define BILLING_READING_TYPE   "cresset.usage-reading/v1"
#define BILLING_STATEMENT_TYPE "cresset.node-statement/v1"
#define BILLING_NODE_KEY_TYPE  "cresset.node-key/v1"
#define BILLING_RECORD_TYPE    "cresset.usage-record/v1"
#define BILLING_PRICE_TYPE     "cresset.price/v1"

/* What one lease has held so far. Cumulative, so the last one says all. */
struct billing_reading {
    int64_t acquire_ns;
    const char *boot;
    int64_t busy_ns;   /* CR_NO_INTEGER: not known */
    int64_t energy_mj; /* CR_NO_INTEGER: not known */
    int64_t held_ns;   /* mono_ns - acquire_ns while held, fixed after the release */
    const char *lease;
    int64_t lease_epoch;
    int64_t mono_ns;
    const char *node;
    const char *nonce; /* 16 random bytes in hex */
    int64_t seq;       /* of the lease */
    int64_t slices;
    const char *state; /* "held" or "released" */
    const char *type;  /* written by itself */
};

/* What a node signs each renewal: the root over its account and its readings. */
struct billing_statement {
    const char *boot;
    int64_t mono_ns;
    const char *node;
    const char *root; /* hex */
    int64_t seq;      /* of the boot */
    const char *type; /* written by itself */
};

/* What the region signs of a node: that this key is its. */
struct billing_node_key {
    int64_t from_us;
    const char *node;
    const char *region;
    int64_t until_us; /* CR_NO_INTEGER: no end yet */
    const char *vkey;
    const char *type; /* written by itself */
};

struct cr_bytes billing_reading_write(struct cr_call *call, const struct billing_reading *reading);
struct cr_bytes billing_statement_write(struct cr_call *call,
                                        const struct billing_statement *statement);
struct cr_bytes billing_node_key_write(struct cr_call *call, const struct billing_node_key *key);

/* Read canonical bodies; false: members, forms or counters are wrong. The call is not failed. */
bool billing_reading_read(struct cr_call *call, struct cr_bytes body,
                          struct billing_reading *ret_reading);
bool billing_statement_read(struct cr_call *call, struct cr_bytes body,
                            struct billing_statement *ret_statement);
bool billing_node_key_read(struct cr_call *call, struct cr_bytes body,
                           struct billing_node_key *ret_key);

/* How a reading stands to the last one of the same lease that was taken. */
enum billing_order {
    BILLING_NEWER,
    BILLING_SAME,          /* byte for byte */
    BILLING_OLDER,         /* of a lower seq: it says nothing new */
    BILLING_CONTRADICTION, /* the same seq and other bytes, or a counter that fell */
};
enum billing_order billing_reading_order(const struct billing_reading *last, bool same_bytes,
                                         const struct billing_reading *next);

/* Usage records: record.c -----------------------------------------------------------------------
 */

/* One lease's part of a record. */
struct billing_leg {
    int64_t billed_ns;
    struct cr_texts devices; /* "node_…/gpu0" */
    int64_t ended_us, from_us, granted_us;
    int64_t held_ns;
    const char *node;
    int64_t prior_ns;    /* what interim records of the lease have billed */
    const char *reading; /* SHA-256 of the pinned reading, hex; "": none; NULL in a correction */
    int64_t slices;
};

struct billing_quantity {
    const char *meter;
    const char *price; /* prc_…; "": it is not priced */
    int64_t quantity;
};

struct billing_record {
    int64_t at_us;
    const char *corrects; /* rec_…; NULL but in a correction */
    const char *flavor;
    int64_t from_us; /* CR_NO_INTEGER but in a window */
    const char *home, *job, *kind;
    int64_t lease_epoch;
    struct cr_list legs; /* struct billing_leg */
    const char *outcome;
    const char *prev; /* SHA-256 of the body of the job's record before, hex; "": the first */
    const char *program;
    struct cr_list quantities; /* struct billing_quantity */
    const char *reason;        /* NULL but in a correction */
    const char *record, *region, *tenant;
    int64_t to_us;    /* CR_NO_INTEGER but in a window */
    const char *type; /* written by itself */
};

struct cr_bytes billing_record_write(struct cr_call *call, const struct billing_record *record);

/* Reads a canonical body; false: a member or its form is wrong (the step record-form). */
bool billing_record_read(struct cr_call *call, struct cr_bytes body,
                         struct billing_record *ret_record);

/* Sum of the legs, slices times billed_ns. false: it overflows. */
bool billing_device_ns(const struct billing_record *record, int64_t *ret_device_ns);

/*
 * The inequalities of a record, and its sum (the step record-arithmetic). NULL: they hold; else a
 * sentence that says what does not. Static.
 */
const char *billing_record_fault(const struct billing_record *record);

/* What the region knows of a lease, for the leg of its record. */
struct billing_lease {
    const char *node;
    struct cr_texts devices;
    int64_t slices;
    int64_t granted_us;
    int64_t ended_us;    /* or, of a lease that is still held, the midnight that was crossed */
    int64_t start_us;    /* arrival of the first reading less what it held; CR_NO_INTEGER: none */
    int64_t midnight_us; /* up to where interim records bill; CR_NO_INTEGER: there are none */
    int64_t prior_ns;    /* what they bill */
    int64_t held_ns;     /* of the last reading */
    bool is_released;    /* by it */
    const char *reading; /* its SHA-256, hex; "": there is none */
};

/*
 * The leg of a final record. Nothing is billed where the outcome is the platform's, or where no
 * reading says released; billing_final_outcome has made the outcome fit that.
 * ret_capped_ns    what was held and is not billed, since the region's own interval is shorter
 */
struct billing_leg billing_leg_final(const struct billing_lease *lease, const char *outcome,
                                     int64_t *ret_capped_ns);

/* The outcome that stands: the platform's, where a lease left no released reading. */
const char *billing_final_outcome(const char *outcome, bool all_released);

/* The leg of an interim record up to lease->ended_us, a midnight. false: its readings do not yet
 * prove that it was held so long. */
bool billing_leg_interim(const struct billing_lease *lease, struct billing_leg *ret_leg);

/* Prices: price.c -------------------------------------------------------------------------------
 */

struct billing_price {
    const char *currency;
    const char *flavor;
    int64_t from_us;
    const char *meter;
    const char *price; /* prc_… */
    int64_t rate_pico;
    const char *region;
    const char *tenant; /* NULL: of the list */
    const char *type;   /* written by itself */
    const char *unit;   /* "GPU-Seconds", "Core-Seconds", "Tokens", "Requests" */
};

struct cr_bytes billing_price_write(struct cr_call *call, const struct billing_price *price);
bool billing_price_read(struct cr_call *call, struct cr_bytes body,
                        struct billing_price *ret_price);

/* The unit of a meter, on a flavor of that name. Static. */
const char *billing_unit(enum billing_meter meter, const char *flavor);

/* The stored price nearest to one of micro-units for an hour, and back, rounded to the nearest. */
bool billing_rate_of_hour(int64_t rate_microusd_h, int64_t *ret_rate_pico);
int64_t billing_rate_to_hour(int64_t rate_pico);

/* Conservation: attribute.c ---------------------------------------------------------------------
 */

enum billing_state {
    BILLING_FREE,
    BILLING_LEASED,
    BILLING_MAINTENANCE,
    BILLING_UNKNOWN,
    BILLING_GONE,
};

/* What a device was from one moment to the next. */
struct billing_interval {
    int64_t from_us, to_us;
    enum billing_state state;
    const char *lease; /* of BILLING_LEASED: any text that tells leases apart */
};

/* What a record says of a lease on this device. */
struct billing_held {
    const char *lease;
    bool is_final;
    int64_t from_us, ended_us;
    int64_t held_ns, prior_ns, billed_ns;
};

/* A device's day, in ns. Its six parts sum to present. */
struct billing_attribution {
    int64_t present_ns, billed_ns, idle_free_ns, idle_reserved_ns, idle_waived_ns, maintenance_ns,
        unattributed_ns;
};

/* The law of conservation for the day that begins at day_us. The intervals do not overlap. */
struct billing_attribution billing_attribute(int64_t day_us, const struct billing_interval *states,
                                             size_t state_count, const struct billing_held *records,
                                             size_t record_count);

/* Invoices: invoice.c ---------------------------------------------------------------------------
 */

/* Decimals of the minor unit of a currency (ISO 4217), of 3 letters; -1: it is none. */
int billing_exponent(const char *currency);

/*
 * The second of the two roundings: the sum of the lines down to the minor unit.
 * false: the sum does not fit.
 */
bool billing_total(int exponent, const int64_t *lines_micro, size_t line_count,
                   int64_t *ret_rounding_micro, int64_t *ret_total_micro);
