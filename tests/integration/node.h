/*
 * node: a compute node, as it would be, for tests of what nodes report: it signs statements over
 * its account and one reading, renews, and completes, with a key that the test has registered.
 */
#pragma once

#include "tests/integration/region.h"

#include "base/json/json.h"
#include "billing/receipt.h"
#include "controlplane/service/engine.h"
#include "controlplane/service/ledger.h"
#include "policy/provenance/provenance.h"
#include "policy/tlog/tlog.h"

#define BOOT      "d83be716-1f91-4191-b429-aa8e43c212e6"
#define BOOT_NEXT "d83be716-1f91-4191-b429-aa8e43c212e7"
#define LEAVES    16
#define SECOND_NS INT64_C(1000000000)

static struct region region;
static struct base_crypto_signer *signer;
static struct tlog_vkey vkey;
static const struct principal node = {
    .kind = PRINCIPAL_NODE, .node = REGION_NODE, .actor = REGION_NODE, .permissions = ""};

struct held {
    const char *job, *lease;
    int64_t lease_epoch, seq, held_ns;
    const char *state, *boot;
};

struct signed_reading {
    struct cr_bytes account, reading;
    struct tlog_hash path[TLOG_PROOF_MAX];
    size_t path_count;
    struct protocol_envelope statement;
    struct protocol_metered metered;
};

static int64_t statement_seq;

static struct protocol_envelope signed_by_node(struct cr_call *call, const char *type,
                                               struct cr_bytes body)
{
    struct provenance_envelope made =
        provenance_sign(call, type, body, tlog_keyid(call, &vkey), signer);
    struct protocol_signature *signature = cr_new(call, struct protocol_signature, 1);
    *signature = (struct protocol_signature){made.signatures[0].keyid, made.signatures[0].sig};
    return (struct protocol_envelope){
        .payloadType = type, .payload = body, .signatures = {signature, 1}};
}

static struct cr_bytes canonical(struct cr_call *call, const struct cr_shape *shape,
                                 const void *value)
{
    const char *text = json_write(call, shape, value);
    const struct json_value *json = NULL;
    assert_ok(call, json_parse(call, NULL, text, strlen(text), &json));
    text = json_canonical(call, json);
    return (struct cr_bytes){(const unsigned char *)text, strlen(text)};
}

static void report(struct cr_call *call, const struct held *held, struct signed_reading *ret)
{
    int64_t mono_ns = held->held_ns + 7 * SECOND_NS;
    const char *boot = held->boot ? held->boot : BOOT;
    struct protocol_account account = {
        .type = PROTOCOL_ACCOUNT_TYPE,
        .node = REGION_NODE,
        .boot = boot,
        .seq = ++statement_seq,
        .mono_ns = mono_ns,
        .disk_free_mib = 1000,
    };
    account.devices = (struct cr_list){cr_new(call, struct protocol_account_device, 1), 0};
    account.waiting = (struct cr_list){cr_new(call, struct protocol_ended, 1), 0};
    ret->account = canonical(call, &protocol_account_shape, &account);
    struct billing_reading reading = {
        .acquire_ns = 7 * SECOND_NS,
        .boot = boot,
        .busy_ns = held->held_ns / 2,
        .energy_mj = CR_NO_INTEGER,
        .held_ns = held->held_ns,
        .lease = held->lease,
        .lease_epoch = held->lease_epoch,
        .mono_ns = mono_ns,
        .node = REGION_NODE,
        .nonce = "8db4f0aa468aaa2719b539f345325e07",
        .seq = held->seq,
        .slices = 1,
        .state = held->state,
    };
    ret->reading = billing_reading_write(call, &reading);

    struct tlog_hash leaves[LEAVES];
    cr_random(call, leaves, sizeof leaves);
    leaves[0] = tlog_leaf(ret->account.data, ret->account.size);
    leaves[1] = tlog_leaf(ret->reading.data, ret->reading.size);
    struct tlog_hash root = tlog_root(leaves, LEAVES);
    ret->path_count = tlog_path(leaves, LEAVES, 1, ret->path);
    struct billing_statement statement = {
        .boot = boot,
        .mono_ns = mono_ns,
        .node = REGION_NODE,
        .root = cr_hex(call, root.bytes, TLOG_HASH_SIZE),
        .seq = statement_seq,
    };
    ret->statement =
        signed_by_node(call, BILLING_TYPE_STATEMENT, billing_statement_write(call, &statement));
    const char **path = cr_new(call, const char *, ret->path_count);
    for (size_t i = 0; i < ret->path_count; i++)
        path[i] = cr_hex(call, ret->path[i].bytes, TLOG_HASH_SIZE);
    ret->metered = (struct protocol_metered){
        .reading = ret->reading, .index = 1, .size = LEAVES, .path = {path, ret->path_count}};
}

static enum cr_status renew(struct cr_call *call, const struct held *held,
                            struct protocol_renewed *ret_renewed)
{
    struct signed_reading *made = cr_new(call, struct signed_reading, 1);
    report(call, held, made);
    struct protocol_renew request = {
        .statement = &made->statement, .account = made->account, .leases = {&made->metered, 1}};
    return ledger_renew(call, &region.service, &node, &request, ret_renewed);
}

static struct protocol_completion *completion(struct cr_call *call, const struct held *held,
                                              const char *word)
{
    struct signed_reading *made = cr_new(call, struct signed_reading, 1);
    struct protocol_envelope *message = cr_new(call, struct protocol_envelope, 1);
    struct protocol_completion *it = cr_new(call, struct protocol_completion, 1);
    report(call, held, made);
    struct protocol_complete says = {
        .node = REGION_NODE,
        .boot = held->boot ? held->boot : BOOT,
        .lease = held->lease,
        .lease_epoch = held->lease_epoch,
        .seq = held->seq,
        .word = word,
        .detail = "",
        .metrics = {(const struct cr_label[]){{"loss", "0.25"}}, 1},
        .outputs = {cr_new(call, struct protocol_output, 1), 0},
        .steps = 10,
    };
    assert_ok(call, protocol_result_sha256(call, &says, &says.result_sha256));
    *message = signed_by_node(call, PROTOCOL_TYPE_COMPLETE,
                              canonical(call, &protocol_complete_shape, &says));
    *it = (struct protocol_completion){.message = message,
                                       .statement = &made->statement,
                                       .account = made->account,
                                       .reading = &made->metered};
    return it;
}

#define GRANT_TRIES 250

static void *engine;
static const struct principal demo = {
    .kind = PRINCIPAL_TENANT, .tenant = REGION_TENANT, .actor = "key_test", .permissions = "*"};
static const struct principal other = {
    .kind = PRINCIPAL_TENANT, .tenant = REGION_OTHER, .actor = "key_other", .permissions = "*"};

/* The region ------------------------------------------------------------------------------------
 */

static const char spec_text[] =
    "{\"name\":\"first\",\"kind\":\"train\",\"program\":{\"recipe\":\"mlp\",\"parameters\":"
    "{\"widths\":[16,10],\"activation\":\"relu\"}},\"inputs\":{\"images\":\"sha256:%064d\","
    "\"labels\":\"sha256:%064d\"}}";

static void turns(int count)
{
    for (int i = 0; i < count; i++) {
        CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
        bool more;
        assert_ok(&call, engine_turn(&call, &region.service, &engine, &more));
    }
}

/* Turns until the job was granted so often: the engine hears of it by a look at the outbox. */
static void wait_for_epoch(const char *job, int64_t lease_epoch)
{
    for (int i = 0; i < GRANT_TRIES; i++) {
        CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
        struct job now;
        assert_ok(&call, jobs_get(&call, &region.service, &demo, job, &now));
        if (now.lease_epoch == lease_epoch)
            return;
        turns(1);
        usleep(20000);
    }
    fail_msg("job %s is not granted for the %lldth time", job, (long long)lease_epoch);
}

/* A job that runs: submitted, granted, started. */
static struct held start(struct cr_call *call, const char *key)
{
    struct protocol_spec spec;
    struct job job;
    const char *text = cr_format(call, spec_text, 1, 2);
    assert_ok(call, json_read(call, &protocol_spec_shape, text, strlen(text), &spec));
    struct service_ask ask = region_ask(&demo, key);
    assert_ok(call, jobs_submit(call, &region.service, &ask, &spec, &job));
    region_sql(&region, "UPDATE node SET state = 'ready', reason = NULL, lost = NULL, "
                        "seen = cresset_now_us() + 3600000000"); /* it renews all the while */
    wait_for_epoch(job.job, 1);
    region_sql(&region,
               cr_format(call,
                         "UPDATE lease SET state = 'running', started = granted, boot = '" BOOT
                         "', granted = granted - 100000000 WHERE job_id = '%s' AND state = "
                         "'granted';"
                         "UPDATE job_live SET state = 'running' WHERE job_id = '%s'",
                         job.job, job.job));
    CR_SCOPED(cr_call_close) struct cr_call asking = region_call(&region);
    struct cr_list attempts;
    assert_ok(&asking, jobs_attempts(&asking, &region.service, &demo, job.job, &attempts));
    const struct jobs_attempt *attempt = attempts.items;
    return (struct held){.job = job.job,
                         .lease = cr_format(call, "%s", attempt->lease),
                         .lease_epoch = attempt->lease_epoch,
                         .seq = 1,
                         .held_ns = SECOND_NS,
                         .state = "held"};
}

static void publish(void)
{
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    int64_t count = 0, size = 0;
    assert_ok(&call, ledger_seal_log(&call, &region.service, engine_held(), &count));
    assert_ok(&call, ledger_publish(&call, &region.service, engine_held(), &size));
    assert_true(size > 0);
}

static struct billing_verdict verify(struct cr_call *call, const char *receipt, size_t size)
{
    struct tlog_keys *keys = cr_new(call, struct tlog_keys, 1);
    struct tlog_policy *policy = cr_new(call, struct tlog_policy, 1);
    const char *keys_text = ledger_trust_keys(call, &region.config),
               *policy_text = ledger_trust_policy(call, &region.config);
    assert_true(tlog_keys_read(call, keys_text, strlen(keys_text), keys));
    assert_true(tlog_policy_read(call, policy_text, strlen(policy_text), policy));
    return billing_receipt_verify(call, (struct cr_bytes){(const unsigned char *)receipt, size},
                                  keys, policy);
}
