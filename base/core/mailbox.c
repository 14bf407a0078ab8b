#include "base/core/mailbox.h"

#include "base/core/time.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct cr_mailbox {
    pthread_mutex_t lock;
    pthread_cond_t filled; /* something was put, or it was shut */
    size_t limit, first, count;
    bool shut;
    void *items[]; /* a ring of limit items, of which count are in use from first on */
};

struct cr_mailbox *cr_mailbox_open(size_t limit)
{
    assert(limit >= 1 && limit <= PTRDIFF_MAX / sizeof(void *) / 2);
    struct cr_mailbox *mailbox = calloc(1, sizeof *mailbox + limit * sizeof(void *));
    if (!mailbox)
        abort();
    mailbox->limit = limit;

    pthread_condattr_t monotonic;
    if (pthread_condattr_init(&monotonic) != 0 ||
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) != 0 ||
        pthread_cond_init(&mailbox->filled, &monotonic) != 0 ||
        pthread_mutex_init(&mailbox->lock, NULL) != 0)
        abort();
    pthread_condattr_destroy(&monotonic);
    return mailbox;
}

void cr_mailbox_close(struct cr_mailbox **mailbox)
{
    if (!*mailbox)
        return;
    assert((*mailbox)->count == 0);
    pthread_cond_destroy(&(*mailbox)->filled);
    pthread_mutex_destroy(&(*mailbox)->lock);
    free(*mailbox);
    *mailbox = NULL;
}

bool cr_mailbox_put(struct cr_mailbox *mailbox, void *item)
{
    assert(item);
    pthread_mutex_lock(&mailbox->lock);
    bool room = !mailbox->shut && mailbox->count < mailbox->limit;
    if (room) {
        mailbox->items[(mailbox->first + mailbox->count) % mailbox->limit] = item;
        mailbox->count++;
        pthread_cond_signal(&mailbox->filled);
    }
    pthread_mutex_unlock(&mailbox->lock);
    return room;
}

static struct timespec after(int64_t wait_ns)
{
    struct timespec at;
    if (clock_gettime(CLOCK_MONOTONIC, &at) != 0)
        abort();
    int64_t ns = at.tv_nsec + wait_ns % CR_NS_A_SECOND;
    at.tv_sec += wait_ns / CR_NS_A_SECOND + ns / CR_NS_A_SECOND;
    at.tv_nsec = ns % CR_NS_A_SECOND;
    return at;
}

/* Waits, under the lock, until there is an item, the mailbox is shut, or the time is over. */
static void wait_filled(struct cr_mailbox *mailbox, int64_t wait_ns)
{
    if (wait_ns == INT64_MAX) {
        while (mailbox->count == 0 && !mailbox->shut)
            pthread_cond_wait(&mailbox->filled, &mailbox->lock);
        return;
    }
    struct timespec until = after(wait_ns);
    while (mailbox->count == 0 && !mailbox->shut)
        if (pthread_cond_timedwait(&mailbox->filled, &mailbox->lock, &until) != 0)
            return;
}

void *cr_mailbox_take(struct cr_mailbox *mailbox, int64_t wait_ns)
{
    void *item = NULL;
    pthread_mutex_lock(&mailbox->lock);
    if (wait_ns > 0)
        wait_filled(mailbox, wait_ns);
    if (mailbox->count > 0) {
        item = mailbox->items[mailbox->first];
        mailbox->first = (mailbox->first + 1) % mailbox->limit;
        mailbox->count--;
    }
    pthread_mutex_unlock(&mailbox->lock);
    return item;
}

void cr_mailbox_shut(struct cr_mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    mailbox->shut = true;
    pthread_cond_broadcast(&mailbox->filled);
    pthread_mutex_unlock(&mailbox->lock);
}

bool cr_mailbox_is_shut(struct cr_mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    bool shut = mailbox->shut;
    pthread_mutex_unlock(&mailbox->lock);
    return shut;
}

size_t cr_mailbox_count(struct cr_mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    size_t count = mailbox->count;
    pthread_mutex_unlock(&mailbox->lock);
    return count;
}
