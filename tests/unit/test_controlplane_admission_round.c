/* admission: who starts, where, in which order; and what no sequence of events may break. */
#include "tests/unit/test.h"

#include "controlplane/admission/admission.h"

#include <stdio.h>
#include <string.h>

#define MANY 512

static void close_books(struct admission **books)
{
    admission_close(*books);
}

static void tenant(struct cr_call *call, struct admission *books, const char *name, int64_t limit)
{
    struct admission_tenant entry = {.tenant = name, .device_limit = limit, .active = true};
    assert_ok(call, admission_set_tenant(call, books, &entry));
}

static void node(struct cr_call *call, struct admission *books, const char *name, int slots,
                 bool ready)
{
    struct admission_node entry = {.node = name,
                                   .name = name,
                                   .model = "cpu",
                                   .node_epoch = 7,
                                   .memory_mib = 8192,
                                   .ready = ready};
    assert_ok(call, admission_set_node(call, books, &entry));
    for (int i = 0; i < slots; i++) {
        const char *device = cr_format(call, "%s/cpu%d", name, i);
        struct admission_device one = {.node = name, .device = device, .ok = true};
        assert_ok(call, admission_set_device(call, books, &one));
    }
}

static struct admission_job job_of(const char *owner, const char *name, int64_t priority,
                                   int64_t devices)
{
    return (struct admission_job){.tenant = owner,
                                  .job = name,
                                  .priority = priority,
                                  .shape = {.devices = devices, .memory_mib = 1024}};
}

static void job(struct cr_call *call, struct admission *books, const char *owner, const char *name,
                int64_t priority, int64_t devices)
{
    struct admission_job entry = job_of(owner, name, priority, devices);
    assert_ok(call, admission_set_job(call, books, &entry));
}

/* The names of the jobs that a round starts, one behind the other. */
static const char *round_of(struct cr_call *call, struct admission *books, int64_t now_us)
{
    struct admission_grant *grants;
    size_t count;
    assert_ok(call, admission_round(call, books, now_us, MANY, &grants, &count));
    const char *names = "";
    for (size_t i = 0; i < count; i++)
        names = cr_format(call, "%s%s@%s ", names, grants[i].job, grants[i].node);
    return names;
}

static void priority_comes_before_age_and_age_before_the_rest(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    CR_SCOPED(close_books) struct admission *books = admission_open();
    tenant(&call, books, "a", 64);
    tenant(&call, books, "b", 64);
    node(&call, books, "n1", 3, true);
    job(&call, books, "a", "j2", 0, 1);
    job(&call, books, "b", "j1", 0, 1);
    job(&call, books, "a", "j4", 0, 1);
    job(&call, books, "a", "j3", 500, 1);
    assert_string_equal(round_of(&call, books, 0), "j3@n1 j1@n1 j2@n1 ");
    assert_string_equal(round_of(&call, books, 0), "");
    admission_release(books, "j1");
    assert_string_equal(round_of(&call, books, 0), "j4@n1 ");
}

static void a_job_goes_where_it_leaves_least_and_not_where_it_was_lost(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    CR_SCOPED(close_books) struct admission *books = admission_open();
    tenant(&call, books, "a", 64);
    node(&call, books, "n1", 4, true);
    node(&call, books, "n2", 2, true);
    node(&call, books, "n3", 2, false);
    struct admission_job entry = job_of("a", "j1", 0, 1);
    assert_ok(&call, admission_set_job(&call, books, &entry));
    assert_string_equal(round_of(&call, books, 0), "j1@n2 ");

    static const char *const lost[] = {"n2"};
    entry = job_of("a", "j2", 0, 1);
    entry.avoid = lost;
    entry.avoid_count = 1;
    assert_ok(&call, admission_set_job(&call, books, &entry));
    assert_string_equal(round_of(&call, books, 0), "j2@n1 ");
    job(&call, books, "a", "j3", 0, 3);
    assert_string_equal(round_of(&call, books, 0), "j3@n1 ");
    entry.job = "j4";
    assert_ok(&call, admission_set_job(&call, books, &entry));
    assert_string_equal(round_of(&call, books, 0), "j4@n2 "); /* the only room there is */
}

static void a_large_job_that_cannot_start_does_not_hold_up_a_small_one(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    CR_SCOPED(close_books) struct admission *books = admission_open();
    tenant(&call, books, "a", 64);
    node(&call, books, "n1", 2, true);
    job(&call, books, "a", "j1", 0, 3);
    job(&call, books, "a", "j2", 0, 2);
    assert_string_equal(round_of(&call, books, 0), "j2@n1 ");
}

static void a_tenant_holds_no_more_than_its_limit(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    CR_SCOPED(close_books) struct admission *books = admission_open();
    tenant(&call, books, "a", 2);
    node(&call, books, "n1", 8, true);
    for (int i = 0; i < 4; i++)
        job(&call, books, "a", cr_format(&call, "j%d", i), 0, 1);
    assert_string_equal(round_of(&call, books, 0), "j0@n1 j1@n1 ");
    tenant(&call, books, "a", 3);
    assert_string_equal(round_of(&call, books, 0), "j2@n1 ");
    struct admission_tenant suspended = {.tenant = "a", .device_limit = 9};
    assert_ok(&call, admission_set_tenant(&call, books, &suspended));
    assert_string_equal(round_of(&call, books, 0), "");
}

static void a_job_waits_for_its_time(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    CR_SCOPED(close_books) struct admission *books = admission_open();
    tenant(&call, books, "a", 9);
    node(&call, books, "n1", 2, true);
    struct admission_job entry = job_of("a", "j1", 0, 1);
    entry.not_before_us = 1000;
    assert_ok(&call, admission_set_job(&call, books, &entry));
    assert_int_equal(admission_next_us(books), 1000);
    assert_string_equal(round_of(&call, books, 999), "");
    assert_string_equal(round_of(&call, books, 1000), "j1@n1 ");
    assert_int_equal(admission_next_us(books), INT64_MAX);
}

static void what_fell_out_of_its_batch_is_given_back(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    CR_SCOPED(close_books) struct admission *books = admission_open();
    tenant(&call, books, "a", 9);
    node(&call, books, "n1", 1, true);
    job(&call, books, "a", "j1", 0, 1);
    struct admission_grant *grants;
    size_t count;
    assert_ok(&call, admission_round(&call, books, 0, MANY, &grants, &count));
    assert_int_equal(count, 1);
    assert_int_equal(grants[0].lease_epoch, 1);
    assert_int_equal(grants[0].node_epoch, 7);
    assert_string_equal(grants[0].devices[0], "n1/cpu0");
    admission_undo(books, &grants[0]);
    assert_int_equal(admission_digest(books), 0);
    job(&call, books, "a", "j2", 0, 1);
    assert_string_equal(round_of(&call, books, 0), "j2@n1 ");
}

static void a_device_that_is_held_cannot_be_held_again(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    CR_SCOPED(close_books) struct admission *books = admission_open();
    tenant(&call, books, "a", 9);
    node(&call, books, "n1", 1, true);
    static const char *const devices[] = {"n1/cpu0"};
    struct admission_lease lease = {"a", "j1", "n1", 1024, devices, 1};
    assert_ok(&call, admission_hold(&call, books, &lease));
    lease.job = "j2";
    assert_int_equal(admission_hold(&call, books, &lease), CR_CONFLICT);
    assert_string_equal(call.reason, "n1/cpu0 is held by j1");
}

/* Random events on two books at once: equal decisions, no limit broken, nothing left that fits. */
#define NODES   5
#define TENANTS 3
#define JOBS    60

struct world {
    struct admission *books[2];
    int64_t limit[TENANTS], held[TENANTS], free[NODES];
    bool ready[NODES];
    struct {
        int owner, node; /* node -1: it does not run */
        int64_t devices;
        bool waits;
    } jobs[JOBS];
    uint64_t random;
};

static uint64_t draw(struct world *world, uint64_t below)
{
    world->random = world->random * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return (world->random >> 33) % below;
}

static void enter_job(struct cr_call *call, struct world *world, int at)
{
    world->jobs[at].owner = (int)draw(world, TENANTS);
    world->jobs[at].devices = 1 + (int64_t)draw(world, 4);
    world->jobs[at].waits = true;
    for (int k = 0; k < 2; k++)
        job(call, world->books[k], cr_format(call, "t%d", world->jobs[at].owner),
            cr_format(call, "j%03d", at), at % 3 * 100, world->jobs[at].devices);
}

static void follow(struct cr_call *call, struct world *world)
{
    struct admission_grant *grants[2];
    size_t count[2];
    for (int k = 0; k < 2; k++)
        assert_ok(call, admission_round(call, world->books[k], 0, MANY, &grants[k], &count[k]));
    assert_int_equal(count[0], count[1]);
    for (size_t i = 0; i < count[0]; i++) {
        const struct admission_grant *grant = &grants[0][i];
        assert_string_equal(grant->job, grants[1][i].job);
        assert_string_equal(grant->node, grants[1][i].node);
        int at, where;
        assert_int_equal(sscanf(grant->job, "j%d", &at), 1);
        assert_int_equal(sscanf(grant->node, "n%d", &where), 1);
        assert_true(world->jobs[at].waits && world->ready[where]);
        assert_int_equal(grant->device_count, world->jobs[at].devices);
        world->jobs[at].waits = false;
        world->jobs[at].node = where;
        world->free[where] -= world->jobs[at].devices;
        world->held[world->jobs[at].owner] += world->jobs[at].devices;
        assert_true(world->free[where] >= 0);
        assert_true(world->held[world->jobs[at].owner] <= world->limit[world->jobs[at].owner]);
    }
    assert_int_equal(admission_digest(world->books[0]), admission_digest(world->books[1]));
    for (int at = 0; at < JOBS; at++)
        for (int where = 0; where < NODES && world->jobs[at].waits; where++)
            assert_false(world->ready[where] && world->free[where] >= world->jobs[at].devices &&
                         world->held[world->jobs[at].owner] + world->jobs[at].devices <=
                             world->limit[world->jobs[at].owner]);
}

static void step(struct cr_call *call, struct world *world)
{
    int at = (int)draw(world, JOBS), where = (int)draw(world, NODES);
    const char *name = cr_format(call, "j%03d", at);
    if (draw(world, 20) == 0) {
        world->ready[where] = !world->ready[where];
        for (int k = 0; k < 2; k++)
            node(call, world->books[k], cr_format(call, "n%d", where), 0, world->ready[where]);
    } else if (world->jobs[at].node >= 0) {
        world->free[world->jobs[at].node] += world->jobs[at].devices;
        world->held[world->jobs[at].owner] -= world->jobs[at].devices;
        world->jobs[at].node = -1;
        for (int k = 0; k < 2; k++)
            admission_release(world->books[k], name);
    } else if (world->jobs[at].waits) {
        world->jobs[at].waits = false;
        for (int k = 0; k < 2; k++)
            admission_drop(world->books[k], name);
    } else {
        enter_job(call, world, at);
    }
}

static void no_sequence_of_events_breaks_a_limit_or_leaves_room_unused(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
        CR_SCOPED(close_books) struct admission *one = admission_open();
        CR_SCOPED(close_books) struct admission *two = admission_open();
        struct world world = {.books = {one, two}, .random = seed};
        for (int i = 0; i < TENANTS; i++) {
            world.limit[i] = 3 + 2 * i;
            for (int k = 0; k < 2; k++)
                tenant(&call, world.books[k], cr_format(&call, "t%d", i), world.limit[i]);
        }
        for (int i = 0; i < NODES; i++) {
            world.free[i] = 1 + i;
            world.ready[i] = true;
            for (int k = 0; k < 2; k++)
                node(&call, world.books[k], cr_format(&call, "n%d", i), 1 + i, true);
        }
        for (int i = 0; i < JOBS; i++)
            world.jobs[i].node = -1;
        for (int i = 0; i < 400; i++) {
            CR_SCOPED(cr_call_close) struct cr_call turn = cr_call_open(NULL, INT64_MAX);
            step(&turn, &world);
            follow(&turn, &world);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(priority_comes_before_age_and_age_before_the_rest),
        cmocka_unit_test(a_job_goes_where_it_leaves_least_and_not_where_it_was_lost),
        cmocka_unit_test(a_large_job_that_cannot_start_does_not_hold_up_a_small_one),
        cmocka_unit_test(a_tenant_holds_no_more_than_its_limit),
        cmocka_unit_test(a_job_waits_for_its_time),
        cmocka_unit_test(what_fell_out_of_its_batch_is_given_back),
        cmocka_unit_test(a_device_that_is_held_cannot_be_held_again),
        cmocka_unit_test(no_sequence_of_events_breaks_a_limit_or_leaves_room_unused),
    };
    return cmocka_run_group_tests_name("admission_round", tests, NULL, NULL);
}
