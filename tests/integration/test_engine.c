/* engine: from a submission to a lease, and what becomes of leases that end. */
#include "tests/integration/region.h"

#include "base/json/json.h"
#include "controlplane/service/engine.h"

static struct region region;
static void *engine;
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
    region_sql(&region, "UPDATE job_live SET not_before = NULL WHERE state = 'queued'");
    turns(1);
    struct service_ask ask = region_ask(&demo, "cancel-k2");
    assert_ok(&call, jobs_cancel(&call, &region.service, &ask, id, &now));
    assert_string_equal(now.state, "cancelled");
}

static void a_cancel_of_a_placed_job_ends_it_with_its_lease(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct job job, now;
    const char *id = submit(&call, "k3", &job);
    turns(3);
    struct service_ask ask = region_ask(&demo, "cancel-k3");
    assert_ok(&call, jobs_cancel(&call, &region.service, &ask, id, &now));
    assert_string_equal(now.state, "stopping");
    region_sql(&region, cr_format(&call,
                                  "UPDATE lease SET state = 'expired', ended = cresset_now_us(), "
                                  "word = 'node_lost' WHERE job_id = '%s'",
                                  id));
    turns(2);
    state_is(id, "cancelled");
    struct service_ask again = region_ask(&demo, "cancel-k3-again");
    assert_int_equal(jobs_cancel(&call, &region.service, &again, id, &now), CR_CONFLICT);
    assert_string_equal(call.code->word, "state_forbids");
}

static void no_more_starts_than_devices_are_free(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    for (int i = 0; i < 8; i++) {
        struct job job;
        submit(&call, cr_format(&call, "many-%d", i), &job);
    }
    turns(4);
    assert_int_equal(
        region_number(&region, "SELECT count(*) FROM device WHERE lease_id IS NOT NULL"), 4);
    assert_int_equal(region_number(&region, "SELECT count(*) FROM (SELECT unnest(devices) d FROM "
                                            "lease WHERE NOT settled) x") -
                         region_number(&region,
                                       "SELECT count(DISTINCT d) FROM (SELECT unnest(devices) d "
                                       "FROM lease WHERE NOT settled) x"),
                     0);
    assert_int_equal(engine_read().rebuilds, 0);
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
    region_node(&region, 4);
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
        cmocka_unit_test(a_cancel_of_a_placed_job_ends_it_with_its_lease),
        cmocka_unit_test(no_more_starts_than_devices_are_free),
        cmocka_unit_test(another_takes_over_only_when_the_epoch_lapsed),
    };
    return cmocka_run_group_tests_name("engine", tests, open_region, close_region);
}
