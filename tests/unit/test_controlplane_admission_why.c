/* why: each code from the smallest state that has it, with the numbers that people ask for. */
#include "tests/unit/test.h"

#include "controlplane/admission/admission.h"

#include <string.h>

struct region {
    int64_t limit;
    bool suspended;
    int nodes, slots, held; /* held: slots of the first node that another job has */
    bool ready;
    int64_t devices, memory_mib, not_before_us;
    bool gpu, backoff, older; /* older: a job that comes before it */
    const char *codes;
};

static void fill(struct cr_call *call, struct admission *books, const struct region *region)
{
    struct admission_tenant tenant = {"t", region->limit, !region->suspended};
    assert_ok(call, admission_set_tenant(call, books, &tenant));
    for (int n = 0; n < region->nodes; n++) {
        const char *name = cr_format(call, "n%d", n);
        struct admission_node node = {
            .node = name, .name = name, .model = "cpu", .memory_mib = 4096, .ready = region->ready};
        assert_ok(call, admission_set_node(call, books, &node));
        for (int i = 0; i < region->slots; i++) {
            struct admission_device one = {name, cr_format(call, "%s/cpu%d", name, i), true};
            assert_ok(call, admission_set_device(call, books, &one));
        }
    }
    for (int i = 0; i < region->held; i++) {
        const char *node = cr_format(call, "n%d", i % region->nodes);
        const char *device = cr_format(call, "%s/cpu%d", node, i / region->nodes);
        struct admission_lease lease = {"t", cr_format(call, "h%d", i), node, 0, &device, 1};
        assert_ok(call, admission_hold(call, books, &lease));
    }
}

static const char *codes_of(struct cr_call *call, const struct admission_why *why)
{
    const char *codes = "";
    for (size_t i = 0; i < why->blocker_count; i++)
        codes = cr_format(call, "%s%s ", codes, why->blockers[i].code);
    return codes;
}

static void each_code_has_its_smallest_state(void **state)
{
    (void)state;
    static const struct region regions[] = {
        {.limit = 9, .devices = 1, .codes = "NO_SUCH_MODEL "},
        {.limit = 9,
         .nodes = 1,
         .slots = 1,
         .ready = true,
         .devices = 1,
         .gpu = true,
         .codes = "NO_SUCH_MODEL "},
        {.limit = 9,
         .nodes = 1,
         .slots = 1,
         .ready = true,
         .devices = 2,
         .codes = "LARGER_THAN_NODE "},
        {.limit = 9,
         .nodes = 1,
         .slots = 1,
         .ready = true,
         .devices = 1,
         .memory_mib = 5000,
         .codes = "LARGER_THAN_NODE "},
        {.limit = 1,
         .nodes = 1,
         .slots = 2,
         .ready = true,
         .devices = 2,
         .codes = "ABOVE_QUOTA_CEILING "},
        {.limit = 9,
         .suspended = true,
         .nodes = 1,
         .slots = 1,
         .ready = true,
         .devices = 1,
         .codes = "TENANT_SUSPENDED "},
        {.limit = 9,
         .nodes = 1,
         .slots = 1,
         .ready = true,
         .devices = 1,
         .not_before_us = 50,
         .codes = "NOT_BEFORE "},
        {.limit = 9,
         .nodes = 1,
         .slots = 1,
         .ready = true,
         .devices = 1,
         .not_before_us = 50,
         .backoff = true,
         .codes = "BACKOFF "},
        {.limit = 1,
         .nodes = 1,
         .slots = 2,
         .held = 1,
         .ready = true,
         .devices = 1,
         .codes = "QUOTA_FULL "},
        {.limit = 9,
         .nodes = 1,
         .slots = 1,
         .held = 1,
         .ready = true,
         .devices = 1,
         .codes = "NO_FREE_DEVICES "},
        {.limit = 1,
         .nodes = 1,
         .slots = 1,
         .held = 1,
         .ready = true,
         .devices = 1,
         .codes = "QUOTA_FULL NO_FREE_DEVICES "},
        {.limit = 9,
         .nodes = 2,
         .slots = 2,
         .held = 2,
         .ready = true,
         .devices = 2,
         .codes = "FRAGMENTED "},
        {.limit = 9,
         .nodes = 1,
         .slots = 1,
         .ready = false,
         .devices = 1,
         .codes = "NODES_UNHEALTHY "},
        {.limit = 9,
         .nodes = 1,
         .slots = 1,
         .ready = true,
         .devices = 1,
         .older = true,
         .codes = "TURN "},
        {.limit = 9, .nodes = 1, .slots = 1, .ready = true, .devices = 1, .codes = "EVALUATING "},
    };
    for (size_t i = 0; i < sizeof regions / sizeof regions[0]; i++) {
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
        struct admission *books = admission_open();
        fill(&call, books, &regions[i]);
        struct admission_job job = {.tenant = "t",
                                    .job = "j2",
                                    .not_before_us = regions[i].not_before_us,
                                    .backoff = regions[i].backoff,
                                    .shape = {.devices = regions[i].devices,
                                              .memory_mib = regions[i].memory_mib,
                                              .gpu = regions[i].gpu}};
        assert_ok(&call, admission_set_job(&call, books, &job));
        if (regions[i].older) {
            struct admission_job older = job;
            older.job = "j1";
            assert_ok(&call, admission_set_job(&call, books, &older));
        }
        struct admission_why why;
        assert_ok(&call, admission_why(&call, books, "j2", 0, &why));
        assert_string_equal(codes_of(&call, &why), regions[i].codes);
        admission_close(books);
    }
}

static void a_plan_keeps_nothing_and_says_what_submitting_would(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    struct admission *books = admission_open();
    struct region region = {.limit = 9, .nodes = 1, .slots = 2, .held = 1, .ready = true};
    fill(&call, books, &region);
    struct admission_job job = {.tenant = "t", .job = "", .shape = {.devices = 1}};
    struct admission_why why;
    assert_ok(&call, admission_plan(&call, books, &job, 0, &why));
    assert_int_equal(why.blocker_count, 0);
    job.shape.devices = 2;
    assert_ok(&call, admission_plan(&call, books, &job, 0, &why));
    assert_string_equal(codes_of(&call, &why), "NO_FREE_DEVICES ");
    assert_string_equal(why.blockers[0].sentence, "it asks for 2 devices, and 1 are free");
    assert_int_equal(why.holder_count, 1);
    assert_string_equal(why.holders[0], "h0");
    assert_string_equal(why.would_start_if, "devices_freed");
    assert_int_equal(admission_read(books).waiting, 0);
    admission_close(books);
}

static void parked_classes_tell_their_first_reason(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    struct admission *books = admission_open();
    struct region region = {.limit = 9, .nodes = 1, .slots = 1, .held = 1, .ready = true};
    fill(&call, books, &region);
    for (int i = 0; i < 3; i++) {
        struct admission_job job = {
            .tenant = "t", .job = cr_format(&call, "j%d", i), .shape = {.devices = 1}};
        assert_ok(&call, admission_set_job(&call, books, &job));
    }
    struct admission_park *parks;
    size_t count;
    assert_ok(&call, admission_parked(&call, books, 0, &parks, &count));
    assert_int_equal(count, 1);
    assert_int_equal(parks[0].jobs, 3);
    assert_string_equal(parks[0].first_job, "j0");
    assert_string_equal(parks[0].blocker.code, "NO_FREE_DEVICES");
    admission_close(books);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_code_has_its_smallest_state),
        cmocka_unit_test(a_plan_keeps_nothing_and_says_what_submitting_would),
        cmocka_unit_test(parked_classes_tell_their_first_reason),
    };
    return cmocka_run_group_tests_name("admission_why", tests, NULL, NULL);
}
