/* control: frames to and from the agent. */
#include "compute/runner/runner.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EXIT_ALONE = 10 };

static struct {
    const struct cr_env *env;
    pthread_mutex_t sending; /* over seq and the socket */
    uint64_t sent;
    pthread_mutex_t lock; /* over all below */
    pthread_cond_t changed;
    bool go;
    struct runner_stop stop;
    bool busy[PROTOCOL_CHECKPOINT_SLOTS];
} control = {.sending = PTHREAD_MUTEX_INITIALIZER,
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .changed = PTHREAD_COND_INITIALIZER};

void control_send(const struct protocol_frame *frame)
{
    static unsigned char bytes[PROTOCOL_FRAME_SIZE_MAX];
    pthread_mutex_lock(&control.sending);
    struct protocol_frame numbered = *frame;
    numbered.seq = control.sent++;
    size_t size = protocol_frame_write(&numbered, bytes);
    ssize_t sent;
    do
        sent = send(PROTOCOL_FD_CONTROL, bytes, size, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    pthread_mutex_unlock(&control.sending);
    if (sent != (ssize_t)size)
        _exit(EXIT_ALONE);
}

static void take(const struct protocol_frame *frame)
{
    pthread_mutex_lock(&control.lock);
    if (frame->type == PROTOCOL_FRAME_GO) {
        control.go = true;
    } else if (frame->type == PROTOCOL_FRAME_SLOT) {
        control.busy[frame->slot] = false;
    } else if (frame->type == PROTOCOL_FRAME_STOP && !control.stop.asked) {
        int64_t now = control.env->now_ns(control.env->context);
        control.stop = (struct runner_stop){.asked = true,
                                            .until_ns = now + frame->grace_ms * INT64_C(1000000),
                                            .cause = protocol_causes[frame->cause]};
    }
    pthread_cond_broadcast(&control.changed);
    pthread_mutex_unlock(&control.lock);
}

static void *listen_main(void *context)
{
    static unsigned char bytes[PROTOCOL_FRAME_SIZE_MAX];
    (void)context;
    for (uint64_t seq = 0;; seq++) {
        struct protocol_frame frame;
        ssize_t size;
        do
            size = recv(PROTOCOL_FD_CONTROL, bytes, sizeof bytes, 0);
        while (size < 0 && errno == EINTR);
        if (size <= 0 || protocol_frame_read(bytes, (size_t)size, 'a', seq, &frame))
            _exit(EXIT_ALONE); /* the agent is gone, or not itself */
        if (frame.type == PROTOCOL_FRAME_PING)
            control_send(&(struct protocol_frame){.type = PROTOCOL_FRAME_PONG});
        else
            take(&frame);
    }
    return NULL;
}

void control_start(const struct cr_env *env)
{
    pthread_t thread;
    control.env = env;
    if (pthread_create(&thread, NULL, listen_main, NULL) != 0)
        abort();
    pthread_detach(thread);
}

void control_wait_go(void)
{
    pthread_mutex_lock(&control.lock);
    while (!control.go)
        pthread_cond_wait(&control.changed, &control.lock);
    pthread_mutex_unlock(&control.lock);
}

struct runner_stop control_stop(void)
{
    pthread_mutex_lock(&control.lock);
    struct runner_stop stop = control.stop;
    pthread_mutex_unlock(&control.lock);
    return stop;
}

bool control_take_slot(int *ret_slot)
{
    bool found = false;
    pthread_mutex_lock(&control.lock);
    for (int i = 0; i < PROTOCOL_CHECKPOINT_SLOTS && !found; i++)
        if (!control.busy[i]) {
            control.busy[i] = found = true;
            *ret_slot = i;
        }
    pthread_mutex_unlock(&control.lock);
    return found;
}
