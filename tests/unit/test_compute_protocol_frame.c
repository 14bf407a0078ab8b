/* compute/protocol: frames say what was written, and every other datagram is refused with a reason.
 */
#include "tests/unit/test.h"

#include "compute/protocol/frame.h"
#include "compute/protocol/protocol.h"

#include <string.h>

static unsigned char bytes[PROTOCOL_FRAME_SIZE_MAX];

static const struct {
    struct protocol_frame frame;
    char from;
} cases[] = {
    {{.type = PROTOCOL_FRAME_READY, .layers = 255, .text = "x86-64-v4", .text_size = 9}, 'r'},
    {{.type = PROTOCOL_FRAME_STEP, .step = 7, .steps = 4690, .epoch = 1}, 'r'},
    {{.type = PROTOCOL_FRAME_METRIC, .step = 7, .value = -0.125, .text = "loss", .text_size = 4},
     'r'},
    {{.type = PROTOCOL_FRAME_LOG, .level = 2, .text = "caf\xc3\xa9", .text_size = 5}, 'r'},
    {{.type = PROTOCOL_FRAME_CHECKPOINT, .step = 9, .slot = 1, .size = 1 << 20}, 'r'},
    {{.type = PROTOCOL_FRAME_USAGE, .busy_ns = UINT64_MAX, .energy_mj = 3}, 'r'},
    {{.type = PROTOCOL_FRAME_RESULT, .word = PROTOCOL_finished, .text = "{}", .text_size = 2}, 'r'},
    {{.type = PROTOCOL_FRAME_PHASE, .phase = 1}, 'r'},
    {{.type = PROTOCOL_FRAME_PONG}, 'r'},
    {{.type = PROTOCOL_FRAME_GO}, 'a'},
    {{.type = PROTOCOL_FRAME_STOP, .grace_ms = 5000, .cause = 2}, 'a'},
    {{.type = PROTOCOL_FRAME_SLOT, .slot = 1}, 'a'},
    {{.type = PROTOCOL_FRAME_PING}, 'a'},
    {{.type = PROTOCOL_FRAME_KEEP, .until_ns = 123456789012345}, 'a'},
};

static void what_was_written_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct protocol_frame frame = cases[i].frame, read = {0};
        frame.seq = i;
        size_t size = protocol_frame_write(&frame, bytes);
        assert_null(protocol_frame_read(bytes, size, cases[i].from, i, &read));
        assert_int_equal(read.text_size, frame.text_size);
        assert_memory_equal(frame.text ? read.text : "", frame.text ? frame.text : "",
                            frame.text_size);
        read.text = frame.text;
        assert_memory_equal(&read, &frame, sizeof frame);
    }
}

static void each_wrong_byte_of_a_head_is_refused(void **state)
{
    (void)state;
    struct protocol_frame read;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t size = protocol_frame_write(&cases[i].frame, bytes);
        for (size_t at = 0; at < PROTOCOL_FRAME_HEAD_SIZE; at++) {
            bytes[at] ^= 0x80;
            assert_non_null(protocol_frame_read(bytes, size, cases[i].from, 0, &read));
            bytes[at] ^= 0x80;
        }
        for (size_t cut = 0; cut < size; cut++)
            assert_non_null(protocol_frame_read(bytes, cut, cases[i].from, 0, &read));
        char other = cases[i].from == 'r' ? 'a' : 'r';
        assert_non_null(protocol_frame_read(bytes, size, other, 0, &read));
        assert_non_null(protocol_frame_read(bytes, size, cases[i].from, 1, &read));
    }
}

static void values_beyond_their_lists_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct protocol_frame frame;
        char from;
        const char *fault;
    } wrong[] = {
        {{.type = PROTOCOL_FRAME_METRIC, .text = "Loss", .text_size = 4},
         'r',
         "a metric's name holds a-z, 0-9 and _"},
        {{.type = PROTOCOL_FRAME_LOG, .level = 4, .text = "x", .text_size = 1},
         'r',
         "there is no such level"},
        {{.type = PROTOCOL_FRAME_LOG, .text = "\xff", .text_size = 1},
         'r',
         "the text is not UTF-8"},
        {{.type = PROTOCOL_FRAME_SLOT, .slot = 2}, 'a', "there is no such slot"},
        {{.type = PROTOCOL_FRAME_RESULT, .word = 200, .text = "{}", .text_size = 2},
         'r',
         "there is no such word"},
        {{.type = PROTOCOL_FRAME_PHASE, .phase = 99}, 'r', "there is no such phase"},
        {{.type = PROTOCOL_FRAME_STOP, .cause = 99}, 'a', "there is no such cause"},
        {{.type = PROTOCOL_FRAME_STEP, .step = UINT64_MAX}, 'r', "a number is too large"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct protocol_frame read;
        size_t size = protocol_frame_write(&wrong[i].frame, bytes);
        assert_string_equal(protocol_frame_read(bytes, size, wrong[i].from, 0, &read),
                            wrong[i].fault);
    }
}

static void a_point_is_25_bytes_and_comes_back(void **state)
{
    (void)state;
    struct protocol_point point = {
        .series = 31, .step = 4690, .mono_ns = 1u << 31, .value = 0.9018};
    protocol_point_write(&point, bytes);
    struct protocol_point read = protocol_point_read(bytes);
    assert_int_equal(read.series, 31);
    assert_int_equal(read.step, 4690);
    assert_int_equal(read.mono_ns, 1u << 31);
    assert_true(read.value == 0.9018);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(each_wrong_byte_of_a_head_is_refused),
        cmocka_unit_test(values_beyond_their_lists_are_refused),
        cmocka_unit_test(a_point_is_25_bytes_and_comes_back),
    };
    return cmocka_run_group_tests_name("compute/protocol frames", tests, NULL, NULL);
}
