/* pool: one mutex, two conditions, and a counter from which chunks are taken. */
#include "kernels/cpu/pool_internal.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct worker {
    struct cpu_pool *pool;
    pthread_t thread;
    int index;
};

struct cpu_pool {
    pthread_mutex_t lock;
    pthread_cond_t begun, ended;
    uint64_t round; /* counts tasks; a worker takes part in each once */
    int busy;       /* workers that have not ended the round */
    bool closing;
    void (*work)(void *context, int chunk, int thread);
    void *context;
    int chunks;
    _Atomic int next;
    int worker_count;
    struct worker workers[];
};

static void take_chunks(struct cpu_pool *pool, int thread)
{
    for (int chunk; (chunk = atomic_fetch_add(&pool->next, 1)) < pool->chunks;)
        pool->work(pool->context, chunk, thread);
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    struct cpu_pool *pool = worker->pool;
    uint64_t round = 0;

    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->round == round && !pool->closing)
            pthread_cond_wait(&pool->begun, &pool->lock);
        if (pool->closing)
            break;
        round = pool->round;
        pthread_mutex_unlock(&pool->lock);
        take_chunks(pool, worker->index);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->ended);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

enum cr_status cpu_pool_open(struct cr_call *call, int threads, struct cpu_pool **ret_pool)
{
    assert(threads >= 1);
    size_t workers = (size_t)threads - 1;
    struct cpu_pool *pool = calloc(1, sizeof(*pool) + workers * sizeof(pool->workers[0]));
    if (!pool)
        return cr_fail(call, CR_EXHAUSTED, "no memory for %d threads", threads);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->begun, NULL);
    pthread_cond_init(&pool->ended, NULL);

    for (size_t i = 0; i < workers; i++) {
        struct worker *worker = &pool->workers[i];
        *worker = (struct worker){.pool = pool, .index = (int)i + 1};
        if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0) {
            cpu_pool_close(pool);
            return cr_fail(call, CR_EXHAUSTED, "the machine gives %zu threads, not %d", i + 1,
                           threads);
        }
        pool->worker_count++;
    }
    *ret_pool = pool;
    return CR_OK;
}

void cpu_pool_close(struct cpu_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->begun);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->worker_count; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->begun);
    pthread_cond_destroy(&pool->ended);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void cpu_pool_run(struct cpu_pool *pool, void (*work)(void *context, int chunk, int thread),
                  void *context, int chunks)
{
    if (pool->worker_count == 0 || chunks <= 1) {
        for (int chunk = 0; chunk < chunks; chunk++)
            work(context, chunk, 0);
        return;
    }

    pthread_mutex_lock(&pool->lock);
    pool->work = work;
    pool->context = context;
    pool->chunks = chunks;
    atomic_store(&pool->next, 0);
    pool->busy = pool->worker_count;
    pool->round++;
    pthread_cond_broadcast(&pool->begun);
    pthread_mutex_unlock(&pool->lock);

    take_chunks(pool, 0);

    pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0)
        pthread_cond_wait(&pool->ended, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}
