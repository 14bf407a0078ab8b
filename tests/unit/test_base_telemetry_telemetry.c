/* telemetry: what is counted is printed as OpenMetrics asks. */
#include "tests/unit/test.h"

#include "base/telemetry/telemetry.h"

#include <pthread.h>

static void close_registry(struct telemetry **telemetry)
{
    telemetry_close(telemetry);
}

static void the_exposition_is_as_openmetrics_asks(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(NULL, INT64_MAX);
    CR_SCOPED(close_registry) struct telemetry *telemetry = telemetry_open();
    static const double bounds[] = {0.1, 1};
    struct telemetry_counter *read =
        telemetry_counter_open(telemetry, "cresset_calls", "class=\"3\"", "Calls that ended.");
    struct telemetry_gauge *streams =
        telemetry_gauge_open(telemetry, "cresset_streams", "", "Streams that are open.");
    struct telemetry_counter *submit =
        telemetry_counter_open(telemetry, "cresset_calls", "class=\"4\"", "Calls that ended.");
    struct telemetry_histogram *seconds = telemetry_histogram_open(
        telemetry, "cresset_call_seconds", "", "How long calls took.", bounds, 2);
    telemetry_add(read, 2);
    telemetry_add(submit, 1);
    telemetry_set(streams, 2);
    telemetry_move(streams, -0.5);
    telemetry_observe(seconds, 0.1);
    telemetry_observe(seconds, 0.2);
    telemetry_observe(seconds, 7);
    assert_string_equal(telemetry_print(&call, telemetry),
                        "# TYPE cresset_calls counter\n"
                        "# HELP cresset_calls Calls that ended.\n"
                        "cresset_calls_total{class=\"3\"} 2\n"
                        "cresset_calls_total{class=\"4\"} 1\n"
                        "# TYPE cresset_streams gauge\n"
                        "# HELP cresset_streams Streams that are open.\n"
                        "cresset_streams 1.5\n"
                        "# TYPE cresset_call_seconds histogram\n"
                        "# HELP cresset_call_seconds How long calls took.\n"
                        "cresset_call_seconds_bucket{le=\"0.1\"} 1\n"
                        "cresset_call_seconds_bucket{le=\"1\"} 2\n"
                        "cresset_call_seconds_bucket{le=\"+Inf\"} 3\n"
                        "cresset_call_seconds_sum 7.3\n"
                        "cresset_call_seconds_count 3\n"
                        "# EOF\n");
}

static void *add_often(void *counter)
{
    for (int i = 0; i < 10000; i++)
        telemetry_add(counter, 1);
    return NULL;
}

static void threads_count_together(void **state)
{
    (void)state;
    CR_SCOPED(close_registry) struct telemetry *telemetry = telemetry_open();
    struct telemetry_counter *counter = telemetry_counter_open(telemetry, "c", "", "Any.");
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_often, counter), 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(telemetry_count(counter), 40000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_exposition_is_as_openmetrics_asks),
        cmocka_unit_test(threads_count_together),
    };
    return cmocka_run_group_tests_name("telemetry", tests, NULL, NULL);
}
