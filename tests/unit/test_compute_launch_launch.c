/*
 * compute/launch: a runner that behaves is heard, one that does not gets its word, and none
 * outlives its deadline, its limits or its agent.
 */
#include "tests/unit/test.h"

#include "compute/launch/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NS_A_SECOND INT64_C(1000000000)

static struct cr_env env;

/* The hostile program stands beside this one: …/tests/compute/hostile. */
static int open_hostile(void)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 32);
    assert_true(length > 0);
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    *slash = '\0';
    slash = strrchr(path, '/');
    snprintf(slash, 32, "/compute/hostile");
    int program = open(path, O_RDONLY | O_CLOEXEC);
    if (program < 0)
        fail_msg("there is no %s", path);
    return program;
}

struct story {
    const char *deed;
    int64_t until_s; /* of the warden */
    bool stop;       /* STOP after GO, and a kill 1 s later */
    enum protocol_word word;
    int logs; /* at least so many */
};

struct seen {
    bool ready, garbage;
    int word, logs, own;
    unsigned layers;
    struct launch_end end;
};

static void on_frame(struct launch *launch, const struct story *story,
                     const struct protocol_frame *frame, struct seen *seen)
{
    if (frame->type == PROTOCOL_FRAME_READY) {
        seen->ready = true;
        seen->layers = launch_layers(launch) | frame->layers;
        assert_true(launch_tell(launch, &(struct protocol_frame){.type = PROTOCOL_FRAME_GO}));
        if (story->stop)
            assert_true(launch_tell(
                launch, &(struct protocol_frame){.type = PROTOCOL_FRAME_STOP, .grace_ms = 1000}));
    }
    if (frame->type == PROTOCOL_FRAME_RESULT)
        seen->word = frame->word;
    if (frame->type == PROTOCOL_FRAME_LOG)
        seen->logs++;
}

static void hear_all(struct launch *launch, const struct story *story, struct seen *seen)
{
    struct protocol_frame frame;
    const char *fault;
    enum launch_heard heard;
    while ((heard = launch_hear(launch, &frame, &fault)) == LAUNCH_FRAME)
        on_frame(launch, story, &frame, seen);
    if (heard == LAUNCH_GARBAGE && !seen->garbage) {
        seen->garbage = true;
        launch_kill(launch);
    }
}

static struct seen tell(const struct story *story)
{
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    int program = open_hostile(), output = memfd_create("output", MFD_CLOEXEC);
    int64_t start = cr_now_ns(&call);
    struct launch_file outputs[] = {{"model", output}};
    struct launch_config config = {
        .program = program,
        .task = "run",
        .spec = {(const unsigned char *)story->deed, strlen(story->deed)},
        .outputs = outputs,
        .output_count = 1,
        .memory_size = INT64_C(64) << 20,
        .file_size = 1 << 20,
        .until_ns = start + story->until_s * NS_A_SECOND,
        .insecure = true,
    };
    struct launch *launch;
    struct seen seen = {.word = -1, .own = -1};
    assert_ok(&call, launch_open(&call, &config, &launch));
    while (!launch_ended(launch, &seen.end)) {
        struct pollfd polled[] = {{.fd = launch_control(launch), .events = POLLIN},
                                  {.fd = launch_warden(launch), .events = POLLIN}};
        poll(polled, 2, 50);
        hear_all(launch, story, &seen);
        if (story->stop && seen.own < 0 && cr_now_ns(&call) > start + 2 * NS_A_SECOND) {
            seen.own = PROTOCOL_stopped;
            launch_kill(launch);
        }
        assert_true(cr_now_ns(&call) < start + 30 * NS_A_SECOND);
    }
    hear_all(launch, story, &seen);
    launch_close(&launch);
    close(program);
    close(output);
    return seen;
}

static const struct story stories[] = {
    {"behaves", 20, false, PROTOCOL_finished, 1},
    {"exits_silently", 20, false, PROTOCOL_garbage, 0},
    {"exits_before_ready", 20, false, PROTOCOL_unsealed, 0},
    {"fails_after_its_result", 20, false, PROTOCOL_garbage, 0},
    {"never_exits", 2, false, PROTOCOL_node_lost, 0},
    {"ignores_stop", 20, true, PROTOCOL_stopped, 0},
    {"stops_when_told", 20, true, PROTOCOL_stopped, 0},
    {"sends_wrong_magic", 20, false, PROTOCOL_garbage, 0},
    {"sends_a_wrong_order", 20, false, PROTOCOL_garbage, 0},
    {"sends_an_agents_frame", 20, false, PROTOCOL_garbage, 0},
    {"sends_bad_utf8", 20, false, PROTOCOL_garbage, 0},
    {"sends_a_wrong_size", 20, false, PROTOCOL_garbage, 0},
    {"sends_64_kib", 20, false, PROTOCOL_garbage, 0},
    {"opens_a_file", 20, false, PROTOCOL_syscall, 0},
    {"forks", 20, false, PROTOCOL_syscall, 0},
    {"fills_memory", 20, false, PROTOCOL_host_memory, 0},
    {"crashes", 20, false, PROTOCOL_crashed, 0},
    {"floods_logs", 20, false, PROTOCOL_finished, 20000},
};

static void each_runner_ends_with_its_word(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof stories / sizeof stories[0]; i++) {
        struct seen seen = tell(&stories[i]);
        struct launch_evidence evidence = {.end = &seen.end,
                                           .ready = seen.ready,
                                           .garbage = seen.garbage,
                                           .own = seen.own,
                                           .word = seen.word,
                                           .outputs_fit = true};
        enum protocol_word word = launch_word(&evidence);
        if (word != stories[i].word)
            fail_msg("%s: %s, wanted %s (exited %d code %d signal %d reason %d; %s)",
                     stories[i].deed, protocol_words[word], protocol_words[stories[i].word],
                     seen.end.exited, seen.end.code, seen.end.signal, seen.end.reason,
                     seen.end.detail);
        assert_true(seen.logs >= stories[i].logs);
    }
}

static void a_crash_tells_its_first_line(void **state)
{
    (void)state;
    struct seen seen = tell(&(struct story){"crashes", 20, false, PROTOCOL_crashed, 0});
    assert_string_equal(seen.end.detail, "tripped over its own feet");
}

static void every_layer_that_this_kernel_has_is_told(void **state)
{
    (void)state;
    CR_SCOPED(cr_call_close) struct cr_call call = cr_call_open(&env, INT64_MAX);
    struct seen seen = tell(&(struct story){"behaves", 20, false, PROTOCOL_finished, 0});
    assert_int_equal(seen.layers, jail_possible(&call));
}

/* Nothing of the runner must be left when its agent is killed: its pid is told by a pipe. */
static void a_runner_dies_with_its_agent(void **state)
{
    (void)state;
    int alive[2];
    assert_int_equal(pipe(alive), 0); /* its write end stays open as long as anyone has it */
    pid_t agent = fork();
    if (agent == 0) {
        struct cr_call call = cr_call_open(&env, INT64_MAX);
        struct launch_file outputs[] = {{"alive", alive[1]}};
        struct launch_config config = {.program = open_hostile(),
                                       .task = "run",
                                       .spec = {(const unsigned char *)"never_exits", 11},
                                       .outputs = outputs,
                                       .output_count = 1,
                                       .memory_size = INT64_C(64) << 20,
                                       .file_size = 1 << 20,
                                       .until_ns = INT64_MAX,
                                       .insecure = true};
        struct launch *launch;
        if (launch_open(&call, &config, &launch) != CR_OK)
            _exit(1);
        for (;;)
            pause();
    }
    close(alive[1]);
    usleep(500000);
    kill(agent, SIGKILL);
    waitpid(agent, NULL, 0);
    struct pollfd polled = {.fd = alive[0], .events = POLLIN};
    assert_int_equal(poll(&polled, 1, 5000), 1);
    assert_true(polled.revents & POLLHUP);
    close(alive[0]);
}

int main(void)
{
    env = cr_env_system();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_runner_ends_with_its_word),
        cmocka_unit_test(a_crash_tells_its_first_line),
        cmocka_unit_test(every_layer_that_this_kernel_has_is_told),
        cmocka_unit_test(a_runner_dies_with_its_agent),
    };
    return cmocka_run_group_tests_name("compute/launch", tests, NULL, NULL);
}
