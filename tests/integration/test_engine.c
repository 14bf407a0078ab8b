/* engine: from a submission to a lease, and what becomes of leases that end. */
#include "tests/integration/region.h"

#include "base/json/json.h"
#include "controlplane/service/engine.h"

#define CORES 12

static struct region region;
static void *engine;
static int64_t ahead_ns; /* of our clock before the true one */

static int64_t shifted_ns(void *context)
{
    (void)context;
    static struct cr_env system;
    if (!system.now_ns)
        system = cr_env_system();
    return system.now_ns(NULL) + ahead_ns;
}
static const struct principal demo = {
    .kind = PRINCIPAL_TENANT, .tenant = REGION_TENANT, .actor = "key_test", .permissions = "*"};

static const char spec_text[] =
    "{\"name\":\"first\",\"kind\":\"train\",\"program\":{\"recipe\":\"mlp\",\"parameters\":"
    "{\"widths\":[16,10],\"activation\":\"relu\"}},\"inputs\":{\"images\":\"sha256:%064d\","
    "\"labels\":\"sha256:%064d\"}}";

static struct protocol_spec spec_of(struct cr_call *call)
{
    struct protocol_spec spec;
    const char *text = cr_format(call, spec_text, 1, 2);
    assert_ok(call, json_read(call, &protocol_spec_shape, text, strlen(text), &spec));
    return spec;
}

static const char *submit(struct cr_call *call, const char *key, struct job *job)
{
    struct protocol_spec spec = spec_of(call);
    struct service_ask ask = region_ask(&demo, key);
    assert_ok(call, jobs_submit(call, &region.service, &ask, &spec, job));
    return job->job;
}

static void turns(int count)
{
    for (int i = 0; i < count; i++) {
        CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
        bool more;
        assert_ok(&call, engine_turn(&call, &region.service, &engine, &more));
    }
}

static void state_is(const char *job, const char *state)
{
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct job now;
    assert_ok(&call, jobs_get(&call, &region.service, &demo, job, &now));
    assert_string_equal(now.state, state);
}

/* After its next loss the job waits for up to 5 minutes, and so through the rest of a test. */
static void waits_long(const char *job)
{
    char sql[160];
    snprintf(sql, sizeof sql, "UPDATE job_live SET platform_losses = 6 WHERE job_id = '%s'", job);
    region_sql(&region, sql);
}

static void a_job_that_was_submitted_is_placed(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct job job;
    const char *id = submit(&call, "k1", &job);
    assert_string_equal(job.state, "queued");
    turns(3);
    state_is(id, "placing");
    assert_int_equal(region_number(&region, "SELECT count(*) FROM lease WHERE state = 'granted'"),
                     1);
    assert_int_equal(
        region_number(&region, "SELECT count(*) FROM device WHERE lease_id IS NOT NULL"), 1);
    assert_int_equal(region_number(&region, "SELECT count(*) FROM event WHERE tenant_seq > 0"), 2);
    assert_int_equal(region_number(&region, "SELECT sum(jobs) FROM job_count WHERE state = "
                                            "'placing'"),
                     1);
}

static void the_same_key_gives_the_same_job(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct job first, second;
    submit(&call, "same", &first);
    submit(&call, "same", &second);
    assert_string_equal(first.job, second.job);
    struct protocol_spec spec = spec_of(&call);
    struct service_ask ask = region_ask(&demo, "same");
    ask.request_sha256[0] = 1;
    assert_int_equal(jobs_submit(&call, &region.service, &ask, &spec, &second), CR_MISMATCH);
}

static void an_artifact_that_is_not_held_is_named(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct protocol_spec spec;
    const char *text = cr_format(&call, spec_text, 1, 9);
    assert_ok(&call, json_read(&call, &protocol_spec_shape, text, strlen(text), &spec));
    struct service_ask ask = region_ask(&demo, "k-missing");
    struct job job;
    assert_int_equal(jobs_submit(&call, &region.service, &ask, &spec, &job), CR_INVALID);
    assert_string_equal(call.faults[0].at, "/inputs/labels");
    assert_string_equal(call.code->word, "invalid_body");
}

static void a_lease_that_its_node_ended_badly_queues_the_job_again(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct job job;
    const char *id = submit(&call, "k2", &job);
    turns(3);
    state_is(id, "placing");
    waits_long(id);
    region_sql(&region, cr_format(&call,
                                  "UPDATE lease SET state = 'released', ended = cresset_now_us(), "
                                  "word = 'crashed' WHERE job_id = '%s'",
                                  id));
    turns(3);
    struct job now;
    assert_ok(&call, jobs_get(&call, &region.service, &demo, id, &now));
    assert_string_equal(now.state, "queued");
    assert_string_equal(now.code, "BACKOFF");
    assert_int_equal(now.lease_epoch, 1);
    struct service_ask ask = region_ask(&demo, "cancel-k2");
    assert_ok(&call, jobs_cancel(&call, &region.service, &ask, id, &now));
    assert_string_equal(now.state, "cancelled");
}

/* Turns with our clock a little faster each time: less than what is taken for a clock that was set.
 */
static void turns_over(int seconds)
{
    for (int i = 0; i < seconds; i++) {
        ahead_ns += CR_NS_A_SECOND * 9 / 10;
        usleep(120000);
        turns(1);
    }
}

static void a_cancel_before_the_start_ends_the_job_at_once(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct job job, now;
    const char *id = submit(&call, "k3", &job);
    turns(3);
    struct service_ask ask = region_ask(&demo, "cancel-k3");
    assert_ok(&call, jobs_cancel(&call, &region.service, &ask, id, &now));
    assert_string_equal(now.state, "stopping");
    turns_over(2); /* far less than LEASE_TTL: nobody waits for the lease to expire */
    state_is(id, "cancelled");
    struct service_ask again = region_ask(&demo, "cancel-k3-again");
    assert_int_equal(jobs_cancel(&call, &region.service, &again, id, &now), CR_CONFLICT);
    assert_string_equal(call.code->word, "state_forbids");
}

/* The meter of a job's lease runs out by the database's clock; more: what else is set. */
static const char *late(struct cr_call *call, const char *job, const char *more)
{
    return cr_format(call,
                     "UPDATE lease_meter SET until_us = 0%s FROM lease l WHERE l.lease_id = "
                     "lease_meter.lease_id AND l.job_id = '%s'",
                     more, job);
}

static void a_lease_is_over_only_when_both_clocks_say_so(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct job silent, renewed, patient, now;
    submit(&call, "silent", &silent);
    submit(&call, "renewed", &renewed);
    submit(&call, "patient", &patient);
    turns(3);
    waits_long(silent.job);
    region_sql(&region, late(&call, silent.job, ""));
    region_sql(&region, late(&call, renewed.job, ""));
    turns_over(10);
    state_is(silent.job, "placing"); /* the database's clock alone is not enough */
    region_sql(&region, late(&call, renewed.job, ", beat = beat + 1"));
    turns_over(7);
    turns(2);
    state_is(renewed.job, "placing"); /* a renewal was seen within our own LEASE_TTL */
    state_is(patient.job, "placing"); /* nor is our clock alone */
    assert_ok(&call, jobs_get(&call, &region.service, &demo, silent.job, &now));
    assert_string_equal(now.state, "queued");
    assert_string_equal(now.code, "BACKOFF");
    assert_int_equal(region_number(&region,
                                   "SELECT count(*) FROM lease WHERE state = 'expired' "
                                   "AND word = 'node_lost' AND job_id = (SELECT job_id "
                                   "FROM job_live WHERE platform_losses = 7 AND state = 'queued')"),
                     1);
    /* It ended at the stamp from which its device is down. */
    assert_int_equal(region_number(&region, "SELECT count(*) FROM lease l JOIN device_state s ON "
                                            "s.device_id = l.devices[1] AND s.at_us = l.ended AND "
                                            "s.state = 3 WHERE l.state = 'expired'"),
                     1);
    assert_int_equal(region_number(&region, "SELECT count(*) FROM device d JOIN lease l USING "
                                            "(lease_id) WHERE l.ended IS NOT NULL"),
                     0);
}

static void what_takes_too_long_is_ended(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct job slow, stuck, old, now;
    submit(&call, "slow", &slow);
    submit(&call, "stuck", &stuck);
    turns(3);
    waits_long(stuck.job);
    region_sql(&region, cr_format(&call,
                                  "UPDATE job_live SET state = 'running' WHERE job_id = '%s'; "
                                  "UPDATE lease SET state = 'running', started = 1 WHERE job_id = "
                                  "'%s'; UPDATE lease SET granted = 1 WHERE job_id = '%s'",
                                  slow.job, slow.job, stuck.job));
    submit(&call, "old", &old);
    region_sql(&region, cr_format(&call,
                                  "UPDATE job_live SET queue_until = 1, not_before = "
                                  "cresset_now_us() + 3600000000 WHERE job_id = '%s'",
                                  old.job));
    turns_over(3);
    turns(2);
    state_is(slow.job, "stopping");
    state_is(stuck.job, "queued");
    assert_ok(&call, jobs_get(&call, &region.service, &demo, old.job, &now));
    assert_string_equal(now.state, "expired");
    assert_string_equal(now.code, "QUEUE_TTL");
    assert_int_equal(region_number(&region, "SELECT count(*) FROM lease WHERE state = 'revoking' "
                                            "AND revoke_reason = 'deadline'"),
                     1);
    region_sql(&region, cr_format(&call,
                                  "UPDATE lease SET state = 'revoked', ended = cresset_now_us(), "
                                  "word = 'stopped' WHERE job_id = '%s'",
                                  slow.job));
    turns(2);
    assert_ok(&call, jobs_get(&call, &region.service, &demo, slow.job, &now));
    assert_string_equal(now.state, "failed");
    assert_string_equal(now.code, "DEADLINE");
}

static void a_job_that_the_platform_loses_too_often_fails(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct job job, now;
    submit(&call, "unlucky", &job);
    for (int i = 0; i < 9; i++) {
        region_sql(&region, cr_format(&call,
                                      "UPDATE job_live SET not_before = NULL WHERE job_id = "
                                      "'%s'; INSERT INTO outbox (tenant_id, type, subject, "
                                      "body) VALUES ('" REGION_TENANT "', 'job.queued', "
                                      "'%s', '{}')",
                                      job.job, job.job));
        turns(3);
        state_is(job.job, "placing");
        region_sql(&region, cr_format(&call,
                                      "UPDATE lease SET state = 'expired', ended = "
                                      "cresset_now_us(), word = 'node_lost' WHERE job_id = '%s' "
                                      "AND ended IS NULL",
                                      job.job));
        turns(2);
    }
    assert_ok(&call, jobs_get(&call, &region.service, &demo, job.job, &now));
    assert_string_equal(now.state, "failed");
    assert_string_equal(now.code, "PLATFORM_EXHAUSTED");
    assert_int_equal(now.lease_epoch, 9);
    assert_int_equal(now.device_ns, 0);
}

static void events_have_no_gap_and_no_double(void **state)
{
    (void)state;
    turns(2);
    assert_int_equal(region_number(&region, "SELECT count(*) FROM outbox"), 0);
    assert_int_equal(region_number(&region, "SELECT max(seq) - count(*) FROM event"), 0);
    assert_int_equal(region_number(&region, "SELECT max(tenant_seq) - count(*) FROM event WHERE "
                                            "tenant_id = '" REGION_TENANT "'"),
                     0);
    /* What is counted by state is what there is. */
    assert_int_equal(region_number(&region, "SELECT count(*) FROM (SELECT state, sum(jobs) n FROM "
                                            "job_count GROUP BY 1 HAVING sum(jobs) > 0 EXCEPT "
                                            "SELECT state, count(*) FROM job_row GROUP BY 1) x"),
                     0);
}

static void no_more_starts_than_devices_are_free(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    for (int i = 0; i < 2 * CORES; i++) {
        struct job job;
        submit(&call, cr_format(&call, "many-%d", i), &job);
    }
    turns(4);
    assert_int_equal(
        region_number(&region, "SELECT count(*) FROM device WHERE lease_id IS NOT NULL"), CORES);
    assert_int_equal(region_number(&region, "SELECT count(*) FROM (SELECT unnest(devices) d FROM "
                                            "lease WHERE NOT settled) x") -
                         region_number(&region,
                                       "SELECT count(DISTINCT d) FROM (SELECT unnest(devices) d "
                                       "FROM lease WHERE NOT settled) x"),
                     0);
    assert_int_equal(engine_read().rebuilds, 0);
    turns_over(3); /* and why the others wait can be read by anybody */
    assert_int_equal(
        region_number(&region, "SELECT sum(jobs) FROM park WHERE why LIKE 'NO_FREE_DEVICES: %'"),
        region_number(&region, "SELECT count(*) FROM job_live WHERE state = 'queued'"));
}

static void another_takes_over_only_when_the_epoch_lapsed(void **state)
{
    (void)state;
    void *other = NULL;
    struct service_config config = region.config;
    config.holder = "other";
    struct service service = region.service;
    service.config = &config;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    bool more;
    int64_t before = region_number(&region, "SELECT epoch FROM engine");
    assert_ok(&call, engine_turn(&call, &service, &other, &more));
    assert_int_equal(region_number(&region, "SELECT epoch FROM engine"), before);
    region_sql(&region, "UPDATE engine SET until_us = 0");
    assert_ok(&call, engine_turn(&call, &service, &other, &more));
    assert_int_equal(region_number(&region, "SELECT epoch FROM engine"), before + 1);

    struct job job;
    submit(&call, "fenced", &job);
    assert_int_equal(engine_turn(&call, &region.service, &engine, &more), CR_CONFLICT);
    engine_close(other);
}

static int open_region(void **state)
{
    (void)state;
    region_open(&region);
    region_node(&region, CORES);
    region.env.now_ns = shifted_ns;
    region_sql(&region,
               "INSERT INTO artifact (tenant_id, artifact_id, sha256, size, kind, state, received, "
               "held) SELECT '" REGION_TENANT "', 'art_0000000000000000000000000' || i, "
               "decode(lpad(i::text, 64, '0'), 'hex'), 10, 'dataset', 'held', 10, 1 "
               "FROM generate_series(1, 2) i");
    return 0;
}

static int close_region(void **state)
{
    (void)state;
    if (engine)
        engine_close(engine);
    region_close(&region);
    return 0;
}

int main(void)
{
    if (region_skipped())
        return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_was_submitted_is_placed),
        cmocka_unit_test(the_same_key_gives_the_same_job),
        cmocka_unit_test(an_artifact_that_is_not_held_is_named),
        cmocka_unit_test(a_lease_that_its_node_ended_badly_queues_the_job_again),
        cmocka_unit_test(a_cancel_before_the_start_ends_the_job_at_once),
        cmocka_unit_test(a_lease_is_over_only_when_both_clocks_say_so),
        cmocka_unit_test(what_takes_too_long_is_ended),
        cmocka_unit_test(a_job_that_the_platform_loses_too_often_fails),
        cmocka_unit_test(no_more_starts_than_devices_are_free),
        cmocka_unit_test(events_have_no_gap_and_no_double),
        cmocka_unit_test(another_takes_over_only_when_the_epoch_lapsed),
    };
    return cmocka_run_group_tests_name("engine", tests, open_region, close_region);
}
