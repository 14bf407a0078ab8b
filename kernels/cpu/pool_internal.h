/*
 * pool: threads that work off the chunks of one task together.
 *
 * What a chunk is depends on the task alone, never on the number of threads, or its bits do not
 * depend on chunks at all; so which thread takes which does not matter.
 *
 * Threads: a pool is driven by one thread, which works too, as number 0.
 */
#pragma once

#include "base/core/call.h"

struct cpu_pool;

/* fails with   CR_EXHAUSTED   the machine gives no such thread; none is left running */
enum cr_status cpu_pool_open(struct cr_call *call, int threads,
                             struct cpu_pool **ret_pool) CR_CHECK;
void cpu_pool_close(struct cpu_pool *pool); /* NULL: nothing happens */

/* Calls work for each chunk from 0 to chunks - 1, once, and returns when all have ended. */
void cpu_pool_run(struct cpu_pool *pool, void (*work)(void *context, int chunk, int thread),
                  void *context, int chunks);
