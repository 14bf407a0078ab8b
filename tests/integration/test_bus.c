/* bus: hints come while a server is there, and nothing but the hints is missed while it is not. */
#include "tests/integration/region.h"

#include <signal.h>

static struct cr_env env;

static struct cr_call fresh(void)
{
    return cr_call_open(&env, env.now_ns(NULL) + 30 * CR_NS_A_SECOND);
}

static struct bus *open_bus(const char *url)
{
    CR_SCOPED(cr_call_close) struct cr_call call = fresh();
    struct bus *bus = NULL;
    assert_ok(&call, bus_open(&call, url, &bus));
    return bus;
}

static void wait_until_connected(const struct bus *bus)
{
    CR_SCOPED(cr_call_close) struct cr_call call = fresh();
    for (int i = 0; i < 100 && !bus_connected(&call, bus); i++)
        usleep(50000);
    assert_true(bus_connected(&call, bus));
}

static void a_hint_reaches_who_listens_to_its_subject(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = fresh();
    struct bus *bus = open_bus(getenv("CRESSET_TEST_NATS"));
    wait_until_connected(bus);
    struct bus_subscription *jobs;
    struct bus_hint hint;
    assert_ok(&call, bus_subscribe(&call, bus, "job.>", &jobs));
    usleep(100000);
    bus_publish(&call, bus, "node.x", NULL, 0);
    bus_publish(&call, bus, "job.t.j", "17", 2);
    assert_true(bus_next(&call, jobs, 3 * CR_NS_A_SECOND, &hint));
    assert_string_equal(hint.subject, "job.t.j");
    assert_string_equal(hint.body, "17");
    assert_false(bus_next(&call, jobs, CR_NS_A_SECOND / 10, &hint));
    bus_leave(&env, jobs);
    bus_close(&env, bus);
}

static void a_bus_without_a_server_waits_and_fails_nowhere(void **state)
{
    (void)state;
    static const char *const urls[] = {"", "nats://127.0.0.1:1"};
    for (size_t i = 0; i < 2; i++) {
        CR_SCOPED(cr_call_close) struct cr_call call = fresh();
        struct bus *bus = open_bus(urls[i]);
        struct bus_subscription *all;
        struct bus_hint hint;
        assert_ok(&call, bus_subscribe(&call, bus, ">", &all));
        bus_publish(&call, bus, "job.t.j", NULL, 0);
        int64_t began = env.now_ns(NULL);
        assert_false(bus_next(&call, all, CR_NS_A_SECOND / 5, &hint));
        assert_true(env.now_ns(NULL) - began >= CR_NS_A_SECOND / 5);
        assert_false(bus_connected(&call, bus));
        bus_leave(&env, all);
        bus_close(&env, bus);
    }
    CR_SCOPED(cr_call_close) struct cr_call call = fresh();
    struct bus *bus;
    assert_int_equal(bus_open(&call, "http://127.0.0.1:4222", &bus), CR_INVALID);
}

static void a_server_that_hangs_takes_only_hints_with_it(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = fresh();
    struct bus *bus = open_bus(getenv("CRESSET_TEST_NATS"));
    wait_until_connected(bus);
    struct bus_subscription *all;
    struct bus_hint hint;
    assert_ok(&call, bus_subscribe(&call, bus, ">", &all));
    pid_t pid = (pid_t)strtol(getenv("CRESSET_TEST_NATS_PID"), NULL, 10);
    assert_true(pid > 1 && kill(pid, SIGSTOP) == 0);
    for (int i = 0; i < 100; i++)
        bus_publish(&call, bus, "job.t.j", NULL, 0);
    assert_false(bus_next(&call, all, CR_NS_A_SECOND / 5, &hint));
    assert_int_equal(kill(pid, SIGCONT), 0);
    bus_leave(&env, all);
    bus_close(&env, bus);
}

int main(void)
{
    if (region_skipped())
        return 0;
    env = cr_env_system();
    env.bus = &bus_nats;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hint_reaches_who_listens_to_its_subject),
        cmocka_unit_test(a_bus_without_a_server_waits_and_fails_nowhere),
        cmocka_unit_test(a_server_that_hangs_takes_only_hints_with_it),
    };
    return cmocka_run_group_tests_name("bus", tests, NULL, NULL);
}
