/*
 * mailbox: a queue of pointers between threads, with a limit.
 *
 * Ownership    an item belongs to the mailbox from cr_mailbox_put to cr_mailbox_take; what is left
 *              at the end, its owner takes out before closing
 * Threads      any number put, any number take; cr_mailbox_close when none does any more
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cr_mailbox;

/* limit is of items, at least 1. Memory for all of them is taken here. */
struct cr_mailbox *cr_mailbox_open(size_t limit);
void cr_mailbox_close(struct cr_mailbox **mailbox);

/* Puts an item, never NULL, at the end. false: it is full, or has been shut. */
bool cr_mailbox_put(struct cr_mailbox *mailbox, void *item);

/*
 * The oldest item; waits for one as long as wait_ns (0: not at all; INT64_MAX: for ever). NULL:
 * there was none, or the mailbox is shut and empty.
 */
void *cr_mailbox_take(struct cr_mailbox *mailbox, int64_t wait_ns);

/* Takes nothing more in, and wakes all who wait. What is inside can still be taken. */
void cr_mailbox_shut(struct cr_mailbox *mailbox);
bool cr_mailbox_is_shut(struct cr_mailbox *mailbox);

size_t cr_mailbox_count(struct cr_mailbox *mailbox);
