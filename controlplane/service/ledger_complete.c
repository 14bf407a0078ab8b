/* ledger_complete: a lease ends by its node's word, and with it, where the word says so, the job.
 */
#include "controlplane/service/ledger_internal.h"

#include "base/core/id.h"
#include "base/core/parse.h"
#include "controlplane/service/jobs.h"
#include "controlplane/service/ledger_sql.h"

#include <string.h>

/* How a word is taken. */
struct meaning {
    const char *outcome;  /* of the record */
    const char *terminal; /* of the job; NULL: the engine queues it again */
    const char *code;
};

struct live {
    const char *state, *stop_cause;
    int64_t lease_epoch;
};
static const struct cr_member live_members[] = {
    CR_MEMBER(struct live, state, 0, 0),
    CR_MEMBER(struct live, stop_cause, 0, 0),
    CR_MEMBER(struct live, lease_epoch, 0, 0),
};
static const struct cr_shape live_shape = CR_SHAPE(struct live, live_members);

struct completed {
    int64_t lease_epoch;
    struct cr_bytes message;
};
static const struct cr_member completed_members[] = {
    CR_MEMBER(struct completed, lease_epoch, 0, 0),
    CR_BYTES(struct completed, message, 0, 32),
};
static const struct cr_shape completed_shape = CR_SHAPE(struct completed, completed_members);

struct named {
    const char *tenant, *job, *record;
};
static const struct cr_member named_members[] = {
    CR_MEMBER(struct named, tenant, 0, 0),
    CR_MEMBER(struct named, job, 0, 0),
    CR_MEMBER(struct named, record, 0, 0),
};
static const struct cr_shape named_shape = CR_SHAPE(struct named, named_members);

struct output {
    const char *sha256, *artifact;
};
static const struct cr_member output_members[] = {
    CR_MEMBER(struct output, sha256, 0, 0),
    CR_MEMBER(struct output, artifact, 0, 0),
};
static const struct cr_shape output_shape = CR_SHAPE(struct output, output_members);

struct ending {
    const struct service_config *config;
    const struct service_ask *ask;
    struct ledger_node node;
    const char *tenant, *job, *lease;
    struct protocol_complete says;
    unsigned char message[BASE_CRYPTO_SHA256_SIZE];
    struct ledger_statement statement;
    const struct ledger_reading *reading; /* NULL: it was never acquired */
    const char *record;                   /* the id, the same in every run of the transaction */
};

static bool is(const char *a, const char *b)
{
    return a && strcmp(a, b) == 0;
}

/* Of `stopped`: the cause decides. */
static struct meaning stopped(const struct live *live, const struct ledger_held *held)
{
    const char *cause = live->stop_cause ? live->stop_cause : held->revoke_reason;
    if (is(cause, "cancel"))
        return (struct meaning){"cancelled", "cancelled", "CANCELLED"};
    if (is(cause, "deadline"))
        return (struct meaning){"limit", "failed", "DEADLINE"};
    if (is(cause, "budget"))
        return (struct meaning){"limit", "failed", "BUDGET"};
    if (is(cause, "preempt") || is(cause, "residency"))
        return (struct meaning){"preempted", NULL, NULL};
    return (struct meaning){"platform_error", NULL, NULL};
}

static struct meaning meaning_of(const struct ending *it, const struct live *live,
                                 const struct ledger_held *held)
{
    enum protocol_word word = (enum protocol_word)protocol_word_of(it->says.word);
    if (word == PROTOCOL_stopped)
        return stopped(live, held);
    const char *code = protocol_word_code(word), *outcome = protocol_word_outcome(word);
    if (!*code)
        return (struct meaning){outcome, NULL, NULL};
    return (struct meaning){outcome, word == PROTOCOL_finished ? "succeeded" : "failed", code};
}

/* Brings the row up to date with the released reading of the message. */
static enum cr_status take_reading(struct cr_call *call, const struct ending *it,
                                   struct ledger_held *held)
{
    const struct ledger_reading *reading = it->reading;
    if (!reading)
        return CR_OK;
    const struct billing_reading *says = &reading->says;
    struct billing_reading last = {
        .acquire_ns = held->acquire_ns,
        .busy_ns = held->busy_ns,
        .energy_mj = held->energy_mj,
        .held_ns = held->held_ns,
        .mono_ns = held->mono_ns,
        .seq = held->seq,
        .slices = held->slices_read,
        .state = held->meter_state,
    };
    bool is_same = held->reading.size == reading->body.size &&
                   memcmp(held->reading.data, reading->body.data, reading->body.size) == 0;
    enum billing_order order =
        held->seq == CR_NO_INTEGER ? BILLING_NEWER : billing_reading_order(&last, is_same, says);
    if (order == BILLING_CONTRADICTION || order == BILLING_OLDER || says->slices != held->slices)
        return cr_fail_as(call, &service_code_usage_contradiction,
                          "the last reading of lease %s contradicts an earlier one", held->lease);

    if (held->from_us == CR_NO_INTEGER)
        held->from_us = held->now_us - (says->mono_ns - says->acquire_ns) / 1000;
    held->seq = says->seq;
    held->meter_state = says->state;
    held->slices_read = says->slices;
    held->acquire_ns = says->acquire_ns;
    held->mono_ns = says->mono_ns;
    held->held_ns = says->held_ns;
    held->busy_ns = says->busy_ns;
    held->energy_mj = says->energy_mj;
    held->received_us = held->now_us;
    held->meter_boot = says->boot;
    held->reading = reading->body;
    held->path = reading->path;
    held->leaf_index = reading->leaf_index;
    held->tree_size = reading->tree_size;
    held->statement = it->statement.payload;
    held->signature = it->statement.signature;
    return CR_OK;
}

/* The lease's end on the region's clock: its devices' stamp, or, where it had expired, that. */
static enum cr_status end_lease(struct cr_call *call, struct db *db, const struct ending *it,
                                struct ledger_held *held)
{
    if (held->ended != CR_NO_INTEGER)
        return db_exec(call, db, &ledger_complete_word,
                       DB_VALUES(db_text(it->tenant), db_text(it->lease), db_text(it->says.word),
                                 db_text(it->says.detail)),
                       NULL);
    struct ledger_change change = {
        .devices = held->devices.items,
        .device_count = held->devices.count,
        .state = LEDGER_FREE,
    };
    CR_TRY(ledger_stamp(call, db, &change, &held->ended));
    return db_exec_fenced(call, db, &ledger_complete_lease,
                          DB_VALUES(db_text(it->tenant), db_text(it->lease), db_int(held->ended),
                                    db_text(it->says.word), db_text(it->says.detail),
                                    db_int(held->from_us)),
                          "the lease has ended meanwhile");
}

/* Outputs as name to artifact. Their bytes must be held: a job never succeeds without its result.
 */
static enum cr_status outputs_of(struct cr_call *call, struct db *db, const struct ending *it,
                                 const char **ret_json)
{
    const struct protocol_output *outputs = it->says.outputs.items;
    size_t count = it->says.outputs.count;
    const char **digests = cr_new(call, const char *, count + 1);
    struct cr_list list;
    for (size_t i = 0; i < count; i++)
        digests[i] = outputs[i].digest;
    CR_TRY(db_list(call, db, &ledger_outputs,
                   DB_VALUES(db_text(it->tenant), db_texts(digests, count)), &output_shape, &list));

    struct cr_text text = cr_text_open(call);
    const struct output *held = list.items;
    cr_text_add(&text, "{");
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;
        while (j < list.count && strcmp(held[j].sha256, outputs[i].digest) != 0)
            j++;
        if (j == list.count)
            return cr_fail_as(call, &cr_code_state_forbids, "output %s, sha256:%s, is not held",
                              outputs[i].name, outputs[i].digest);
        cr_text_add(&text, i ? "," : "");
        cr_text_add_quoted(&text, outputs[i].name, strlen(outputs[i].name));
        cr_text_add_format(&text, ":\"%s\"", held[j].artifact);
    }
    cr_text_add(&text, "}");
    *ret_json = count ? text.data : NULL;
    return CR_OK;
}

/* Metrics as name to number: the texts are numbers of JSON, and stay as they were sent. */
static enum cr_status metrics_of(struct cr_call *call, const struct ending *it,
                                 const char **ret_json)
{
    struct cr_text text = cr_text_open(call);
    cr_text_add(&text, "{");
    for (size_t i = 0; i < it->says.metrics.count; i++) {
        const struct cr_label *metric = &it->says.metrics.items[i];
        double number = 0;
        if (!cr_parse_number(metric->value, strlen(metric->value), &number))
            return cr_fail_as(call, &cr_code_invalid_body, "metric %s is not a number",
                              metric->name);
        cr_text_add(&text, i ? "," : "");
        cr_text_add_quoted(&text, metric->name, strlen(metric->name));
        cr_text_add_format(&text, ":%s", metric->value);
    }
    cr_text_add(&text, "}");
    *ret_json = it->says.metrics.count ? text.data : NULL;
    return CR_OK;
}

static enum cr_status end_job(struct cr_call *call, struct db *db, const struct ending *it,
                              const struct live *live, const struct ledger_held *held,
                              const struct meaning *meaning)
{
    unsigned char result[BASE_CRYPTO_SHA256_SIZE];
    bool has_result =
        cr_hex_parse(it->says.result_sha256, strlen(it->says.result_sha256), result, sizeof result);
    bool succeeded = is(meaning->terminal, "succeeded");
    struct jobs_end end = {
        .tenant = it->tenant,
        .job = it->job,
        .from = {live->state},
        .lease_epoch = held->lease_epoch,
        .terminal = meaning->terminal,
        .code = meaning->code,
        .reason = succeeded          ? NULL
                  : *it->says.detail ? it->says.detail
                                     : cr_format(call, "it ended as %s", it->says.word),
        .result_sha256 = {has_result ? result : NULL, has_result ? sizeof result : 0},
        .ended = held->ended,
    };
    if (succeeded)
        CR_TRY(outputs_of(call, db, it, &end.outputs));
    CR_TRY(metrics_of(call, it, &end.metrics));
    CR_TRY(jobs_write_end(call, db, it->config, &end));
    return jobs_tell(call, db, it->config, it->tenant, it->job, NULL);
}

/*
 * Whether this message was taken before. The same is answered the same; another one for a lease
 * that is settled is refused, for good.
 */
static enum cr_status look_back(struct cr_call *call, struct db *db, const struct ending *it,
                                const struct ledger_held *held, bool *ret_is_done)
{
    struct completed completed;
    struct named final;
    bool found = false;
    *ret_is_done = false;
    CR_TRY(db_one(call, db, &ledger_completion, DB_VALUES(db_text(it->tenant), db_text(it->job)),
                  &completed_shape, &completed, &found));
    if (found && completed.lease_epoch == held->lease_epoch) {
        *ret_is_done = completed.message.size == sizeof it->message &&
                       memcmp(completed.message.data, it->message, sizeof it->message) == 0;
        if (*ret_is_done)
            return CR_OK;
        return cr_fail_as(call, &service_code_usage_contradiction,
                          "lease %s was completed by another message", it->lease);
    }
    CR_TRY(db_one(call, db, &ledger_has_final,
                  DB_VALUES(db_text(it->tenant), db_text(it->job), db_int(held->lease_epoch)),
                  &named_shape, &final, &found));
    *ret_is_done = found && is(held->word, it->says.word);
    return found && !*ret_is_done ? cr_fail_as(call, &service_code_stale_lease,
                                               "lease %s was settled without it", it->lease)
                                  : CR_OK;
}

/* The boot that the lease was started under, so that a journalled result outlives its agent. */
static enum cr_status check_lease(struct cr_call *call, const struct ending *it,
                                  const struct ledger_held *held)
{
    const char *boot = held->boot ? held->boot : it->node.boot;
    if (!is(boot, it->says.boot) || strcmp(it->statement.says.boot, it->says.boot) != 0)
        return cr_fail_as(call, &service_code_stale_boot, "lease %s was started under another boot",
                          it->lease);
    if (held->lease_epoch != it->says.lease_epoch)
        return cr_fail_as(call, &service_code_stale_lease, "lease %s is of epoch %lld", it->lease,
                          (long long)held->lease_epoch);
    return CR_OK;
}

/* Whether the job ends by its own failure, or asked to be run again: then it is queued now. */
static enum cr_status try_again(struct cr_call *call, struct db *db, const struct ending *it,
                                const struct live *live, const struct ledger_held *held,
                                struct meaning *meaning)
{
    const char *state = NULL;
    if (!is(meaning->outcome, "tenant_error") || is(live->state, "queued"))
        return CR_OK;
    struct jobs_loss loss = {.tenant = it->tenant,
                             .job = it->job,
                             .lease_epoch = held->lease_epoch,
                             .word = it->says.word,
                             .detail = it->says.detail,
                             .own = true};
    CR_TRY(jobs_lose(call, db, it->config, &loss, &state));
    if (state)
        *meaning = (struct meaning){"platform_error", NULL, NULL};
    return CR_OK;
}

/* J3: of all completions of a job one is accepted. */
static enum cr_status claim(struct cr_call *call, struct db *db, const struct ending *it,
                            const struct ledger_held *held, const char *outcome)
{
    int64_t claimed = 0;
    CR_TRY(db_exec(call, db, &ledger_complete_claim,
                   DB_VALUES(db_text(it->tenant), db_text(it->job), db_int(held->lease_epoch),
                             db_int(billing_outcome_number(outcome)), db_text(it->record),
                             db_bytes(it->message, sizeof it->message)),
                   &claimed));
    if (claimed == 0)
        return cr_fail_as(call, &service_code_stale_lease, "job %s was completed before", it->job);
    return CR_OK;
}

static enum cr_status settle(struct cr_call *call, struct db *db, const struct ending *it,
                             const struct live *live, struct ledger_held *held)
{
    struct meaning meaning = meaning_of(it, live, held);
    bool is_released = held->seq != CR_NO_INTEGER && is(held->meter_state, "released");
    if (is(meaning.terminal, "succeeded") && !is_released)
        return cr_fail_as(call, &cr_code_invalid_body,
                          "a job that finished has a reading of its release");
    CR_TRY(end_lease(call, db, it, held));
    bool is_lost = !meaning.terminal;
    CR_TRY(try_again(call, db, it, live, held, &meaning));
    const char *outcome = billing_final_outcome(meaning.outcome, is_released);
    if (meaning.terminal && !billing_outcome_is_platform(outcome))
        CR_TRY(claim(call, db, it, held, outcome));
    CR_TRY(ledger_record_final(call, db, it->config, it->ask, held, outcome, it->record));
    if (meaning.terminal)
        return end_job(call, db, it, live, held, &meaning);
    if (!is_lost)
        return CR_OK;

    const char *state = NULL;
    struct jobs_loss loss = {.tenant = it->tenant,
                             .job = it->job,
                             .lease_epoch = held->lease_epoch,
                             .word = it->says.word,
                             .detail = it->says.detail};
    return is(live->state, "queued") ? CR_OK : jobs_lose(call, db, it->config, &loss, &state);
}

static enum cr_status work(struct cr_call *call, struct db *db, void *context)
{
    const struct ending *it = context;
    struct live live;
    struct ledger_held held;
    bool is_live = false, found = false, is_done = false;
    CR_TRY(db_one(call, db, &ledger_live, DB_VALUES(db_text(it->tenant), db_text(it->job)),
                  &live_shape, &live, &is_live));
    CR_TRY(db_one(call, db, &ledger_held, DB_VALUES(db_text(it->tenant), db_text(it->lease)),
                  &ledger_held_shape, &held, &found));
    if (!found)
        return service_missing(call, "lease", it->lease);
    CR_TRY(check_lease(call, it, &held));
    CR_TRY(look_back(call, db, it, &held, &is_done));
    if (is_done)
        return CR_OK;
    if (!is_live || live.lease_epoch != held.lease_epoch)
        return cr_fail_as(call, &service_code_stale_lease,
                          "job %s has ended, or was granted anew, since lease %s", it->job,
                          it->lease);
    CR_TRY(take_reading(call, it, &held));
    return settle(call, db, it, &live, &held);
}

/* The message, the statement and the reading, each signed and of its form. */
static enum cr_status read_message(struct cr_call *call, struct ending *it, const char *lease,
                                   const struct protocol_completion *completion)
{
    struct cr_bytes payload;
    CR_TRY(ledger_message(call, &it->node, completion->message, PROTOCOL_TYPE_COMPLETE, &payload));
    CR_TRY(ledger_body(call, payload, &protocol_complete_shape, &it->says));
    CR_TRY(protocol_complete_check(call, &it->says));
    if (strcmp(it->says.node, it->node.node) != 0 || strcmp(it->says.lease, lease) != 0)
        return cr_fail_as(call, &cr_code_bad_signature,
                          "the message is of another node, or of another lease");
    base_crypto_sha256(payload.data, payload.size, it->message);

    CR_TRY(ledger_statement(call, &it->node, completion->statement, &it->statement));
    if (!completion->reading)
        return CR_OK;
    struct ledger_reading *reading = cr_new(call, struct ledger_reading, 1);
    if (!ledger_reading(call, &it->statement, completion->reading, reading) ||
        strcmp(reading->says.lease, lease) != 0 ||
        reading->says.lease_epoch != it->says.lease_epoch ||
        strcmp(reading->says.state, "released") != 0)
        return cr_fail_as(call, &cr_code_bad_signature,
                          "the reading is not that of the release, under the statement's root");
    it->reading = reading;
    return CR_OK;
}

enum cr_status ledger_complete(struct cr_call *call, struct service *service,
                               const struct principal *who, const char *lease,
                               const struct protocol_completion *completion,
                               struct protocol_accepted *ret_accepted)
{
    const struct service_ask ask = {.who = who};
    struct ending it = {.config = service->config, .ask = &ask, .lease = lease};
    struct named of;
    bool found = false;
    CR_TRY(ledger_node_read(call, service->engine_db, who->node, &it.node));
    CR_TRY(read_message(call, &it, lease, completion));
    CR_TRY(db_one(call, service->engine_db, &ledger_lease_tenant,
                  DB_VALUES(db_text(lease), db_text(who->node)), &named_shape, &of, &found));
    if (!found)
        return service_missing(call, "lease", lease);
    it.tenant = of.tenant;
    it.job = of.job;
    it.record = cr_id(call, "rec");

    CR_TRY(db_transaction(call, service->db, it.tenant, DB_REPEATABLE, work, &it));
    service_wake(call, service, it.tenant, it.job);
    ret_accepted->accepted = true;
    return CR_OK;
}
