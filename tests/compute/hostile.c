/*
 * hostile: a program in a runner's place, with its jail and seal, that does what its spec names.
 * tests/unit/test_compute_launch_launch.c starts it and asks for the word of its end.
 */
#include "base/jail/jail.h"
#include "compute/protocol/table.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t sent;

static void put(struct protocol_frame frame)
{
    static unsigned char bytes[PROTOCOL_FRAME_SIZE_MAX];
    frame.seq = sent++;
    size_t size = protocol_frame_write(&frame, bytes);
    send(PROTOCOL_FD_CONTROL, bytes, size, 0);
}

static void put_text(enum protocol_frame_type type, const char *text)
{
    put((struct protocol_frame){.type = type, .text = text, .text_size = strlen(text)});
}

static void put_raw(const void *bytes, size_t size)
{
    send(PROTOCOL_FD_CONTROL, bytes, size, 0);
}

static enum protocol_frame_type wait_frame(void)
{
    unsigned char bytes[PROTOCOL_FRAME_SIZE_MAX];
    ssize_t size = recv(PROTOCOL_FD_CONTROL, bytes, sizeof bytes, 0);
    if (size < PROTOCOL_FRAME_HEAD_SIZE)
        _exit(3);
    return (enum protocol_frame_type)bytes[3];
}

static void result(enum protocol_word word)
{
    put((struct protocol_frame){
        .type = PROTOCOL_FRAME_RESULT, .word = (uint8_t)word, .text = "{}", .text_size = 2});
}

static void behaves(void)
{
    put_text(PROTOCOL_FRAME_LOG, "hello");
    put((struct protocol_frame){.type = PROTOCOL_FRAME_STEP, .step = 1, .steps = 1});
    result(PROTOCOL_finished);
}
static void exits_silently(void)
{
}
static void fails_after_its_result(void)
{
    result(PROTOCOL_finished);
    _exit(7);
}
static void never_exits(void)
{
    for (;;)
        sleep(1);
}
static void ignores_stop(void)
{
    while (wait_frame() != PROTOCOL_FRAME_STOP)
        continue;
    never_exits();
}
static void stops_when_told(void)
{
    while (wait_frame() != PROTOCOL_FRAME_STOP)
        continue;
    result(PROTOCOL_stopped);
}
static void sends_wrong_magic(void)
{
    unsigned char bytes[16] = {0};
    put_raw(bytes, sizeof bytes);
    never_exits();
}
static void sends_a_wrong_order(void)
{
    sent += 5;
    put_text(PROTOCOL_FRAME_LOG, "late");
    never_exits();
}
static void sends_an_agents_frame(void)
{
    put((struct protocol_frame){.type = PROTOCOL_FRAME_GO});
    never_exits();
}
static void sends_bad_utf8(void)
{
    put_text(PROTOCOL_FRAME_LOG, "\xff\xfe");
    never_exits();
}
static void sends_a_wrong_size(void)
{
    unsigned char bytes[20] = {0x43, 0x52, 1, PROTOCOL_FRAME_PONG, 9};
    put_raw(bytes, sizeof bytes);
    never_exits();
}
static void sends_64_kib(void)
{
    static unsigned char bytes[65536 + 1000];
    put_raw(bytes, sizeof bytes);
    never_exits();
}
static void opens_a_file(void)
{
    syscall(SYS_openat, -100, "/etc/passwd", 0);
}
static void forks(void)
{
    if (fork() == 0)
        _exit(0);
}
static void fills_memory(void)
{
    for (;;) {
        size_t size = (size_t)16 << 20;
        char *more = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (more == MAP_FAILED)
            never_exits();
        memset(more, 1, size);
    }
}
static void crashes(void)
{
    static const char line[] = "tripped over its own feet\nand fell\n";
    ssize_t written = write(2, line, sizeof line - 1);
    if (written > 0)
        __builtin_trap(); /* which no first process of a namespace can ignore */
}
static void floods_logs(void)
{
    for (int i = 0; i < 20000; i++)
        put_text(PROTOCOL_FRAME_LOG, "a line that nobody has asked for, again and again");
    result(PROTOCOL_finished);
}

static const struct {
    const char *name;
    void (*run)(void);
    bool before_ready;
} deeds[] = {
#define DEED(name, ...)          \
    {                            \
#name, name, __VA_ARGS__ \
    }
    DEED(behaves, false),
    DEED(exits_silently, false),
    DEED(fails_after_its_result, false),
    DEED(never_exits, false),
    DEED(ignores_stop, false),
    DEED(stops_when_told, false),
    DEED(sends_wrong_magic, false),
    DEED(sends_a_wrong_order, false),
    DEED(sends_an_agents_frame, false),
    DEED(sends_bad_utf8, false),
    DEED(sends_a_wrong_size, false),
    DEED(sends_64_kib, false),
    DEED(opens_a_file, false),
    DEED(forks, false),
    DEED(fills_memory, false),
    DEED(crashes, false),
    DEED(floods_logs, false),
    {"exits_before_ready", exits_silently, true},
};

int main(void)
{
    char name[64] = "";
    ssize_t length = pread(PROTOCOL_FD_SPEC, name, sizeof name - 1, 0);
    if (length <= 0)
        return 2;
    struct cr_env env = cr_env_system();
    struct cr_call call = cr_call_open(&env, INT64_MAX);
    for (size_t i = 0; i < sizeof deeds / sizeof deeds[0]; i++) {
        if (strcmp(deeds[i].name, name) != 0)
            continue;
        if (!deeds[i].before_ready) {
            unsigned layers = jail_seen();
            if (jail_seal(&call) != CR_OK)
                _exit(4);
            put((struct protocol_frame){.type = PROTOCOL_FRAME_READY,
                                        .layers = layers | JAIL_SEALED,
                                        .text = "test",
                                        .text_size = 4});
            while (wait_frame() != PROTOCOL_FRAME_GO)
                continue;
        }
        deeds[i].run();
        _exit(0);
    }
    return 2;
}
