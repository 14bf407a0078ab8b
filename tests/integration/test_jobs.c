/* jobs: what a tenant sees of its own, and of others' nothing. */
#include "tests/integration/region.h"

#include "base/json/json.h"
#include "base/core/text.h"
#include "compute/protocol/frame.h"

static struct region region;
static const struct principal demo = {
    .kind = PRINCIPAL_TENANT, .tenant = REGION_TENANT, .actor = "key_test", .permissions = "*"};
static const struct principal other = {
    .kind = PRINCIPAL_TENANT, .tenant = REGION_OTHER, .actor = "key_other", .permissions = "*"};

#define IMAGES "art_00000000000000000000000001"
#define LABELS "art_00000000000000000000000002"

static enum cr_status submit(struct cr_call *call, const char *program, const char *more,
                             struct job *ret_job)
{
    static int count;
    const char *text =
        cr_format(call,
                  "{\"name\":\"job-%d\",\"kind\":\"train\",\"program\":%s,\"inputs\":"
                  "{\"images\":\"" IMAGES "\",\"labels\":\"" LABELS "\"}%s}",
                  count, program, more);
    struct protocol_spec spec;
    CR_TRY(json_read(call, &protocol_spec_shape, text, strlen(text), &spec));
    struct service_ask ask = region_ask(&demo, cr_format(call, "key-%d", count++));
    return jobs_submit(call, &region.service, &ask, &spec, ret_job);
}

#define MLP "{\"recipe\":\"mlp\",\"parameters\":{\"widths\":[16,10],\"activation\":\"relu\"}}"
#define CNN(kernel)                                                              \
    "{\"recipe\":\"cnn\",\"parameters\":{\"channels\":[8,8],\"kernel\":" #kernel \
    ",\"pool\":4,\"classes\":10}}"

static void a_recipe_that_does_not_fit_its_pictures_is_rejected(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    const char *folder = cr_format(&call, "%s/" REGION_TENANT, region.config.artifacts_dir);
    const char *path = cr_format(&call, "%s/" IMAGES, folder);
    static const unsigned char tiny[16] = {0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 3};
    assert_ok(&call, cr_file_make_folder(&call, folder, 0700));
    assert_ok(&call, cr_file_replace(&call, path, tiny, sizeof tiny, 0600));
    struct job job;
    assert_int_equal(submit(&call, CNN(7), "", &job), CR_INVALID);
    assert_string_equal(call.code->word, "program_rejected");
    assert_int_equal(call.code->http, 422);
    cr_forgive(&call);
    assert_ok(&call, submit(&call, MLP, "", &job));
    assert_ok(&call, cr_file_remove(&call, path));
}

static void a_wrong_spec_names_all_of_its_members_at_fault(void **state)
{
    (void)state;
    static const struct {
        const char *more, *pointer, *code;
    } cases[] = {
        {",\"hyperparameters\":{\"batch\":0}", "/hyperparameters/batch", "invalid_body"},
        {",\"hyperparameters\":{\"colour\":1}", "/hyperparameters/colour", "invalid_body"},
        {",\"queue\":\"mine\"", "/queue", "invalid_body"},
        {",\"class\":\"critical\"", "/class", "invalid_body"},
        {",\"max_runtime_s\":1", "/max_runtime_s", "invalid_body"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
        struct job job;
        assert_int_equal(submit(&call, MLP, cases[i].more, &job), CR_INVALID);
        assert_string_equal(call.code->word, cases[i].code);
        assert_string_equal(call.faults[0].at, cases[i].pointer);
    }
}

static void a_list_is_read_page_by_page_and_filtered(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct job job;
    for (int i = 0; i < 5; i++)
        assert_ok(&call, submit(&call, MLP, i % 2 ? ",\"labels\":{\"team\":\"a_b\"}" : "", &job));
    struct cr_list page;
    struct jobs_filter all = {.since = CR_NO_INTEGER, .until = CR_NO_INTEGER};
    const char *after = NULL;
    int64_t seen = 0, total = region_number(&region, "SELECT count(*) FROM job");
    do {
        assert_ok(&call, jobs_list(&call, &region.service, &demo, &all, after, 2, &page));
        const struct job *rows = page.items;
        for (size_t i = 0; i < page.count; i++) {
            assert_true(!after || strcmp(rows[i].job, after) < 0);
            after = rows[i].job;
        }
        seen += (int64_t)page.count;
    } while (page.count == 2);
    assert_int_equal(seen, total);

    struct jobs_filter filters[] = {all, all, all, all, all};
    filters[0].label = "team=a_b";
    filters[1].state = "succeeded";
    filters[2].state = "queued";
    filters[3].name = "job-%";
    filters[4].kind = "batch";
    static const int64_t wanted[] = {2, 0, -1, 0, 0};
    for (size_t i = 0; i < 5; i++) {
        assert_ok(&call, jobs_list(&call, &region.service, &demo, &filters[i], NULL, 100, &page));
        assert_int_equal(page.count, wanted[i] < 0 ? total : wanted[i]);
    }
    assert_ok(&call, jobs_list(&call, &region.service, &other, &all, NULL, 100, &page));
    assert_int_equal(page.count, 0);
}

static void anothers_job_is_told_as_one_that_never_was(void **state)
{
    (void)state;
    struct job job;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    assert_ok(&call, submit(&call, MLP, "", &job));
    const char *ids[] = {job.job, "job_00000000000000000000000000"};
    for (size_t i = 0; i < 2; i++) {
        struct cr_call calls[] = {region_call(&region), region_call(&region), region_call(&region),
                                  region_call(&region), region_call(&region)};
        struct job got;
        struct cr_list list;
        struct jobs_log log;
        struct jobs_why why;
        struct service_ask ask = region_ask(&other, i ? "cancel-1" : "cancel-0");
        (void)!jobs_get(&calls[0], &region.service, &other, ids[i], &got);
        (void)!jobs_attempts(&calls[1], &region.service, &other, ids[i], &list);
        (void)!jobs_log(&calls[2], &region.service, &other, ids[i], 0, &log);
        (void)!jobs_why(&calls[3], &region.service, &other, ids[i], &why);
        (void)!jobs_cancel(&calls[4], &region.service, &ask, ids[i], &got);
        for (size_t c = 0; c < 5; c++) {
            assert_int_equal(calls[c].status, CR_NOT_FOUND);
            assert_string_equal(calls[c].reason, cr_format(&calls[c], "no job %s", ids[i]));
            cr_call_close(&calls[c]);
        }
    }
}

static void why_names_what_stands_in_the_way(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct job job;
    struct jobs_why why;
    assert_ok(&call, submit(&call, MLP, ",\"resources\":{\"cpu_milli\":64000}", &job));
    assert_ok(&call, jobs_why(&call, &region.service, &demo, job.job, &why));
    const struct jobs_blocker *blocker = why.blockers.items;
    assert_true(why.blockers.count >= 1);
    assert_string_equal(blocker->code, "LARGER_THAN_NODE");
    assert_int_equal(blocker->tier, 1);
}

static void logs_and_series_come_as_they_were_written(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = region_call(&region);
    struct job job;
    assert_ok(&call, submit(&call, MLP, "", &job));
    region_sql(&region,
               cr_format(&call,
                         "INSERT INTO job_chunk (tenant_id, job_id, lease_epoch, stream, seq, "
                         "start_at, payload) VALUES ('" REGION_TENANT "', '%s', 1, 'log', 0, 0, "
                         "'hello '), ('" REGION_TENANT "', '%s', 1, 'log', 1, 6, 'world')",
                         job.job, job.job));
    struct jobs_log log;
    assert_ok(&call, jobs_log(&call, &region.service, &demo, job.job, 3, &log));
    assert_int_equal(log.bytes.size, 8);
    assert_memory_equal(log.bytes.data, "lo world", 8);
    assert_int_equal(log.size, 11);
    assert_false(log.ended);

    /* 3,000 points with one peak, of an attempt that was lost at 3,000 and went on from 2,000. */
    unsigned char *points = cr_new(&call, unsigned char, 3000 * PROTOCOL_POINT_SIZE);
    for (int i = 0; i < 3000; i++) {
        struct protocol_point point = {.step = (uint64_t)i, .value = i == 1234 ? 50 : 1};
        protocol_point_write(&point, points + i * PROTOCOL_POINT_SIZE);
    }
    struct protocol_point later = {.step = 2000, .value = 7};
    unsigned char one[PROTOCOL_POINT_SIZE];
    protocol_point_write(&later, one);
    region_sql(&region,
               cr_format(&call,
                         "INSERT INTO job_chunk (tenant_id, job_id, lease_epoch, stream, seq, "
                         "payload) VALUES ('" REGION_TENANT
                         "', '%s', 1, 'series', 7, 'loss'), ('" REGION_TENANT
                         "', '%s', 1, 'points', 7, decode('%s', 'hex')), "
                         "('" REGION_TENANT "', '%s', 2, 'series', 0, 'loss'), ('" REGION_TENANT
                         "', '%s', 2, 'points', 0, decode('%s', 'hex'))",
                         job.job, job.job,
                         cr_hex(&call, points, (size_t)3000 * PROTOCOL_POINT_SIZE), job.job,
                         job.job, cr_hex(&call, one, sizeof one)));
    struct jobs_metrics metrics;
    assert_ok(&call, jobs_metrics(&call, &region.service, &demo, job.job, &metrics));
    assert_int_equal(metrics.series.count, 1);
    const struct jobs_series *series = metrics.series.items;
    const struct jobs_point *kept = series->points.items;
    assert_int_equal(series->point_count, 2001);
    assert_int_equal(series->points.count, JOBS_SERIES_MAX);
    assert_int_equal(kept[0].step, 0);
    assert_int_equal(kept[JOBS_SERIES_MAX - 1].step, 2000);
    assert_true(kept[JOBS_SERIES_MAX - 1].value == 7);
    bool peak = false;
    for (size_t i = 0; i < series->points.count; i++)
        peak = peak || (kept[i].step == 1234 && kept[i].value == 50);
    assert_true(peak);
}

static int open_all(void **state)
{
    (void)state;
    region_open(&region);
    region_node(&region, 2);
    region_sql(&region,
               "INSERT INTO artifact (tenant_id, artifact_id, sha256, size, kind, state, received, "
               "held) SELECT '" REGION_TENANT "', 'art_' || lpad(i::text, 26, '0'), "
               "decode(lpad(i::text, 64, '0'), 'hex'), 10, 'dataset', 'held', 10, 1 "
               "FROM generate_series(1, 2) i");
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    region_close(&region);
    return 0;
}

int main(void)
{
    if (region_skipped())
        return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recipe_that_does_not_fit_its_pictures_is_rejected),
        cmocka_unit_test(a_wrong_spec_names_all_of_its_members_at_fault),
        cmocka_unit_test(a_list_is_read_page_by_page_and_filtered),
        cmocka_unit_test(anothers_job_is_told_as_one_that_never_was),
        cmocka_unit_test(why_names_what_stands_in_the_way),
        cmocka_unit_test(logs_and_series_come_as_they_were_written),
    };
    return cmocka_run_group_tests_name("jobs", tests, open_all, close_all);
}
