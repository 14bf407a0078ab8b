/* round: takes the classes by priority and age, and starts whatever can start. */
#include "controlplane/admission/admission_internal.h"

#include <stdlib.h>
#include <string.h>

bool earlier_job(const struct admission *books, const struct heap_item *a,
                 const struct heap_item *b)
{
    return strcmp(books->jobs[a->index].name, books->jobs[b->index].name) < 0;
}

bool earlier_time(const struct admission *books, const struct heap_item *a,
                  const struct heap_item *b)
{
    return a->time_us != b->time_us ? a->time_us < b->time_us : earlier_job(books, a, b);
}

void drop_first(struct admission *books, struct heap *heap, heap_before *before)
{
    int32_t job = heap->items[0].index;
    heap_pop(books, heap, before);
    books->jobs[job].items--;
    vacate(books, job);
}

static bool is_void(const struct admission *books, const struct heap_item *item)
{
    const struct job *job = &books->jobs[item->index];
    return !job->waiting || job->stamp != item->stamp;
}

int32_t first_of(struct admission *books, int32_t class)
{
    struct heap *line = &books->classes[class].line;
    while (line->count > 0 && is_void(books, &line->items[0]))
        drop_first(books, line, earlier_job);
    return line->count > 0 ? line->items[0].index : NONE;
}

void let_in(struct admission *books, int64_t now_us)
{
    struct heap *later = &books->later;
    while (later->count > 0 &&
           (is_void(books, &later->items[0]) || later->items[0].time_us <= now_us)) {
        struct heap_item item = later->items[0];
        if (is_void(books, &item)) {
            drop_first(books, later, earlier_time);
            continue;
        }
        heap_pop(books, later, earlier_time);
        struct job *job = &books->jobs[item.index];
        job->not_before_us = 0;
        heap_push(books, &books->classes[job->class].line, earlier_job, item);
        books->changed = true;
    }
}

int64_t admission_next_us(const struct admission *books)
{
    return books->later.count > 0 ? books->later.items[0].time_us : INT64_MAX;
}

/* Of classes, by the priority and then the age of their first jobs. */
static bool earlier_class(const struct admission *books, const struct heap_item *a,
                          const struct heap_item *b)
{
    const struct class *left = &books->classes[a->index], *right = &books->classes[b->index];
    if (left->priority != right->priority)
        return left->priority > right->priority;
    return earlier_job(books, &left->line.items[0], &right->line.items[0]);
}

static int32_t where(const struct admission *books, int32_t at)
{
    const struct job *job = &books->jobs[at];
    const struct class *class = &books->classes[job->class];
    const struct tenant *tenant = &books->tenants[job->tenant];
    if (!tenant->active || tenant->held + class->shape.devices > tenant->limit)
        return NONE;
    return place(books, &(struct question){.tenant = job->tenant,
                                           .shape = &class->shape,
                                           .avoid = job->avoid,
                                           .avoid_count = job->avoid_count});
}

static struct admission_grant grant_of(struct cr_call *call, const struct admission *books,
                                       int32_t at)
{
    const struct job *job = &books->jobs[at];
    const struct node *node = &books->nodes[job->node];
    const char **devices = cr_new(call, const char *, (size_t)job->held);
    size_t count = 0;
    for (int64_t i = 0; i < node->slot_count; i++)
        if (node->slots[i].job == at)
            devices[count++] = cr_format(call, "%s", node->slots[i].name);
    return (struct admission_grant){
        .tenant = cr_format(call, "%s", books->tenants[job->tenant].name),
        .job = cr_format(call, "%s", job->name),
        .lease_epoch = job->lease_epoch + 1,
        .node = cr_format(call, "%s", node->name),
        .node_epoch = node->epoch,
        .memory_mib = job->memory_mib,
        .devices = devices,
        .device_count = count,
    };
}

/* All classes that somebody waits in. */
static struct heap contenders(struct admission *books)
{
    struct heap heap = {0};
    for (int32_t i = 0; i < books->class_count; i++)
        if (first_of(books, i) != NONE)
            heap_push(books, &heap, earlier_class, (struct heap_item){.index = i});
    return heap;
}

enum cr_status admission_round(struct cr_call *call, struct admission *books, int64_t now_us,
                               size_t max, struct admission_grant **ret_grants, size_t *ret_count)
{
    let_in(books, now_us);
    *ret_grants = NULL;
    *ret_count = 0;
    if (!books->changed)
        return CR_OK;
    if (max > ADMISSION_BATCH_MAX)
        max = ADMISSION_BATCH_MAX;

    struct admission_grant *grants = cr_new(call, struct admission_grant, max);
    struct heap heap = contenders(books);
    size_t count = 0;
    while (heap.count > 0 && count < max) {
        int32_t at = heap.items[0].index, job = first_of(books, at), node = where(books, job);
        heap_pop(books, &heap, earlier_class);
        if (node == NONE)
            continue; /* nothing is given back in a round, so it stays so until the next */

        const struct shape *shape = &books->classes[at].shape;
        take(books, job, node, shape->devices, shape->memory_mib);
        grants[count++] = grant_of(call, books, job);
        stop_waiting(books, job);
        if (first_of(books, at) != NONE)
            heap_push(books, &heap, earlier_class, (struct heap_item){.index = at});
    }
    books->changed = heap.count > 0;
    free(heap.items);
    *ret_grants = grants;
    *ret_count = count;
    return CR_OK;
}
