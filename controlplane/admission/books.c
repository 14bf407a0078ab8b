/* books: what the engine enters, and what it takes out again. */
#include "controlplane/admission/admission_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct admission *admission_open(void)
{
    struct admission *books = calloc(1, sizeof *books);
    if (!books)
        abort();
    return books;
}

void admission_close(struct admission *books)
{
    if (!books)
        return;
    for (int32_t i = 0; i < books->tenant_count; i++)
        free(books->tenants[i].name);
    for (int32_t i = 0; i < books->node_count; i++) {
        struct node *node = &books->nodes[i];
        for (int64_t k = 0; k < node->slot_count; k++)
            free(node->slots[k].name);
        free(node->slots);
        free(node->name);
        free(node->title);
        free(node->model);
    }
    for (int32_t i = 0; i < books->job_count; i++)
        free(books->jobs[i].name);
    for (int32_t i = 0; i < books->class_count; i++) {
        free(books->classes[i].key);
        free(books->classes[i].shape.models);
        free(books->classes[i].line.items);
    }
    free(books->tenants);
    free(books->nodes);
    free(books->jobs);
    free(books->classes);
    free(books->order);
    free(books->vacant);
    free(books->later.items);
    free(books->tenant_map.slots);
    free(books->node_map.slots);
    free(books->job_map.slots);
    free(books->class_map.slots);
    free(books);
}

enum cr_status admission_set_tenant(struct cr_call *call, struct admission *books,
                                    const struct admission_tenant *entry)
{
    int32_t at = map_find(&books->tenant_map, entry->tenant);
    if (at == NONE) {
        if (books->tenant_count == ADMISSION_TENANTS_MAX)
            return cr_fail(call, CR_EXHAUSTED, "a region has at most %d tenants",
                           ADMISSION_TENANTS_MAX);
        books->tenants = grown(books->tenants, (size_t)books->tenant_count, &books->tenant_capacity,
                               sizeof *books->tenants);
        at = books->tenant_count++;
        books->tenants[at] = (struct tenant){.name = copied(entry->tenant)};
        map_put(&books->tenant_map, books->tenants[at].name, at);
    }
    books->tenants[at].limit = entry->device_limit;
    books->tenants[at].active = entry->active;
    books->changed = true;
    return CR_OK;
}

static void replace(char **text, const char *by)
{
    if (*text && strcmp(*text, by) == 0)
        return;
    free(*text);
    *text = copied(by);
}

/* Puts the last node into its place by name. */
static void sort_in(struct admission *books)
{
    int32_t at = books->node_count - 1;
    const char *name = books->nodes[at].name;
    while (at > 0 && strcmp(books->nodes[books->order[at - 1]].name, name) > 0) {
        books->order[at] = books->order[at - 1];
        at--;
    }
    books->order[at] = books->node_count - 1;
}

enum cr_status admission_set_node(struct cr_call *call, struct admission *books,
                                  const struct admission_node *entry)
{
    int32_t at = map_find(&books->node_map, entry->node);
    if (at == NONE) {
        if (books->node_count == ADMISSION_NODES_MAX)
            return cr_fail(call, CR_EXHAUSTED, "a region has at most %d nodes",
                           ADMISSION_NODES_MAX);
        size_t capacity = books->node_capacity;
        books->nodes = grown(books->nodes, (size_t)books->node_count, &books->node_capacity,
                             sizeof *books->nodes);
        books->order =
            grown(books->order, (size_t)books->node_count, &capacity, sizeof *books->order);
        at = books->node_count++;
        books->nodes[at] = (struct node){.name = copied(entry->node)};
        map_put(&books->node_map, books->nodes[at].name, at);
        sort_in(books);
    }
    struct node *node = &books->nodes[at];
    replace(&node->title, entry->name);
    replace(&node->model, entry->model);
    node->epoch = entry->node_epoch;
    node->memory_mib = entry->memory_mib;
    node->device_memory_mib = entry->device_memory_mib;
    node->ready = entry->ready;
    node->leaving = entry->leaving;
    books->changed = true;
    return CR_OK;
}

/* cpu2 before cpu10: a shorter name is first. */
static int by_device(const char *a, const char *b)
{
    size_t a_length = strlen(a), b_length = strlen(b);
    return a_length != b_length ? (a_length < b_length ? -1 : 1) : strcmp(a, b);
}

static struct slot *slot_of(struct node *node, const char *device)
{
    for (int64_t i = 0; i < node->slot_count; i++)
        if (strcmp(node->slots[i].name, device) == 0)
            return &node->slots[i];
    return NULL;
}

static struct slot *slot_new(struct node *node, const char *device)
{
    size_t capacity = (size_t)node->slot_capacity;
    node->slots = grown(node->slots, (size_t)node->slot_count, &capacity, sizeof *node->slots);
    node->slot_capacity = (int64_t)capacity;

    int64_t at = node->slot_count++;
    for (; at > 0 && by_device(node->slots[at - 1].name, device) > 0; at--)
        node->slots[at] = node->slots[at - 1];
    node->slots[at] = (struct slot){.name = copied(device), .job = NONE};
    return &node->slots[at];
}

enum cr_status admission_set_device(struct cr_call *call, struct admission *books,
                                    const struct admission_device *entry)
{
    int32_t at = map_find(&books->node_map, entry->node);
    if (at == NONE)
        return cr_fail(call, CR_NOT_FOUND, "no node %s", entry->node);
    struct node *node = &books->nodes[at];
    struct slot *slot = slot_of(node, entry->device);
    if (!slot) {
        if (node->slot_count == ADMISSION_DEVICES_MAX)
            return cr_fail(call, CR_EXHAUSTED, "a node has at most %d devices",
                           ADMISSION_DEVICES_MAX);
        slot = slot_new(node, entry->device);
    }
    int64_t change = (int64_t)entry->ok - (int64_t)slot->ok;
    slot->ok = entry->ok;
    node->ok += change;
    node->free += slot->job == NONE ? change : 0;
    books->changed = true;
    return CR_OK;
}

/* The entry of a job, made where there is none. */
static int32_t job_entry(struct admission *books, const char *name)
{
    int32_t at = map_find(&books->job_map, name);
    if (at != NONE)
        return at;
    if (books->vacant_count > 0) {
        at = books->vacant[--books->vacant_count];
    } else {
        books->jobs =
            grown(books->jobs, (size_t)books->job_count, &books->job_capacity, sizeof *books->jobs);
        at = books->job_count++;
        books->jobs[at] = (struct job){0};
    }
    struct job *job = &books->jobs[at];
    *job = (struct job){.name = copied(name), .class = NONE, .node = NONE, .stamp = job->stamp + 1};
    map_put(&books->job_map, job->name, at);
    return at;
}

/* Forgets a job that neither waits nor holds, and that no heap leads to. */
void vacate(struct admission *books, int32_t at)
{
    struct job *job = &books->jobs[at];
    if (!job->name || job->waiting || job->held > 0 || job->items > 0)
        return;
    map_drop(&books->job_map, job->name);
    free(job->name);
    *job = (struct job){.stamp = job->stamp + 1};
    books->vacant =
        grown(books->vacant, books->vacant_count, &books->vacant_capacity, sizeof *books->vacant);
    books->vacant[books->vacant_count++] = at;
}

void stop_waiting(struct admission *books, int32_t at)
{
    struct job *job = &books->jobs[at];
    if (!job->waiting)
        return;
    job->waiting = false;
    job->stamp++;
    books->waiting--;
    books->classes[job->class].waiting--;
    books->changed = true;
}

enum cr_status admission_set_job(struct cr_call *call, struct admission *books,
                                 const struct admission_job *entry)
{
    int32_t tenant = map_find(&books->tenant_map, entry->tenant), class = NONE;
    if (tenant == NONE)
        return cr_fail(call, CR_NOT_FOUND, "no tenant %s", entry->tenant);
    if (books->waiting >= ADMISSION_JOBS_MAX)
        return cr_fail(call, CR_EXHAUSTED, "a region has at most %d jobs that wait",
                       ADMISSION_JOBS_MAX);
    CR_TRY(class_of(call, books, entry, &class));

    int32_t at = job_entry(books, entry->job);
    stop_waiting(books, at);
    struct job *job = &books->jobs[at];
    job->tenant = tenant;
    job->class = class;
    job->priority = entry->priority;
    job->lease_epoch = entry->lease_epoch;
    job->not_before_us = entry->not_before_us;
    job->backoff = entry->backoff;
    job->avoid_count = 0;
    for (size_t i = 0; i < entry->avoid_count && i < ADMISSION_AVOID_MAX; i++)
        job->avoid[job->avoid_count++] = map_find(&books->node_map, entry->avoid[i]);
    job->waiting = true;
    job->stamp++;
    books->waiting++;
    books->classes[class].waiting++;
    books->changed = true;

    struct heap_item item = {job->not_before_us, at, job->stamp};
    job->items++;
    if (job->not_before_us > 0)
        heap_push(books, &books->later, earlier_time, item);
    else
        heap_push(books, &books->classes[class].line, earlier_job, item);
    return CR_OK;
}

void admission_drop(struct admission *books, const char *name)
{
    int32_t at = map_find(&books->job_map, name);
    if (at == NONE)
        return;
    stop_waiting(books, at);
    vacate(books, at);
}

enum cr_status admission_hold(struct cr_call *call, struct admission *books,
                              const struct admission_lease *lease)
{
    int32_t tenant = map_find(&books->tenant_map, lease->tenant);
    int32_t at = map_find(&books->node_map, lease->node);
    if (tenant == NONE)
        return cr_fail(call, CR_NOT_FOUND, "no tenant %s", lease->tenant);
    if (at == NONE)
        return cr_fail(call, CR_NOT_FOUND, "no node %s", lease->node);
    struct node *node = &books->nodes[at];
    for (size_t i = 0; i < lease->device_count; i++) {
        const struct slot *slot = slot_of(node, lease->devices[i]);
        if (!slot)
            return cr_fail(call, CR_NOT_FOUND, "no device %s", lease->devices[i]);
        if (slot->job != NONE)
            return cr_fail(call, CR_CONFLICT, "%s is held by %s", lease->devices[i],
                           books->jobs[slot->job].name);
    }
    int32_t job = job_entry(books, lease->job);
    if (books->jobs[job].held > 0)
        return cr_fail(call, CR_CONFLICT, "%s holds devices already", lease->job);
    books->jobs[job].tenant = tenant;
    books->jobs[job].node = at;
    books->jobs[job].memory_mib = lease->memory_mib;
    for (size_t i = 0; i < lease->device_count; i++) {
        struct slot *slot = slot_of(node, lease->devices[i]);
        slot->job = job;
        node->free -= slot->ok;
        books->jobs[job].held++;
        books->tenants[tenant].held++;
    }
    node->memory_used += lease->memory_mib;
    books->changed = true;
    return CR_OK;
}

void admission_release(struct admission *books, const char *name)
{
    int32_t at = map_find(&books->job_map, name);
    if (at == NONE)
        return;
    give_back(books, at);
    vacate(books, at);
}

void admission_undo(struct admission *books, const struct admission_grant *grant)
{
    admission_release(books, grant->job);
}

struct admission_gauges admission_read(const struct admission *books)
{
    struct admission_gauges gauges = {.waiting = books->waiting};
    for (int32_t i = 0; i < books->node_count; i++)
        gauges.devices += books->nodes[i].slot_count;
    for (int32_t i = 0; i < books->tenant_count; i++)
        gauges.held += books->tenants[i].held;
    for (int32_t i = 0; i < books->class_count; i++)
        gauges.classes += books->classes[i].waiting > 0;
    return gauges;
}

uint64_t admission_digest(const struct admission *books)
{
    uint64_t digest = 0;
    for (int32_t i = 0; i < books->node_count; i++)
        for (int64_t k = 0; k < books->nodes[i].slot_count; k++) {
            const struct slot *slot = &books->nodes[i].slots[k];
            if (slot->job == NONE)
                continue;
            uint64_t one = text_hash(slot->name) * 31 + text_hash(books->jobs[slot->job].name);
            digest += one * UINT64_C(0x9e3779b97f4a7c15);
        }
    return digest;
}
