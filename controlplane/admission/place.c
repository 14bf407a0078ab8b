/* place: where a job would go, and the devices that it takes there. */
#include "controlplane/admission/admission_internal.h"

#include <assert.h>
#include <string.h>

bool allows(const struct node *node, const struct shape *shape)
{
    bool cpu = strcmp(node->model, "cpu") == 0;
    if (!shape->gpu)
        return cpu;
    if (cpu || node->device_memory_mib < shape->device_memory_mib)
        return false;
    if (!*shape->models)
        return true;
    for (const char *model = shape->models; *model; model += strlen(model) + 1)
        if (strcmp(model, node->model) == 0)
            return true;
    return false;
}

static bool avoided(const struct question *question, int32_t node)
{
    for (int i = 0; i < question->avoid_count; i++)
        if (question->avoid[i] == node)
            return true;
    return false;
}

/* Best fit: least that stays free. Nodes come in the order of their names, so that ties fall to the
 * first; one where the job was lost before is taken only where there is no other. */
int32_t place(const struct admission *books, const struct question *question)
{
    const struct shape *shape = question->shape;
    int32_t best = NONE;
    bool best_avoided = false;
    for (int32_t i = 0; i < books->node_count; i++) {
        int32_t at = books->order[i];
        const struct node *node = &books->nodes[at];
        if (!node->ready || node->free < shape->devices || !allows(node, shape) ||
            node->memory_mib - node->memory_used < shape->memory_mib)
            continue;
        bool bad = avoided(question, at);
        if (best == NONE || (best_avoided && !bad) ||
            (best_avoided == bad && node->free < books->nodes[best].free)) {
            best = at;
            best_avoided = bad;
        }
    }
    return best;
}

void take(struct admission *books, int32_t at, int32_t where, int64_t devices, int64_t memory_mib)
{
    struct job *job = &books->jobs[at];
    struct node *node = &books->nodes[where];
    for (int64_t i = 0; i < node->slot_count && job->held < devices; i++) {
        if (!node->slots[i].ok || node->slots[i].job != NONE)
            continue;
        node->slots[i].job = at;
        job->held++;
    }
    assert(job->held == devices);
    job->node = where;
    job->memory_mib = memory_mib;
    node->free -= devices;
    node->memory_used += memory_mib;
    books->tenants[job->tenant].held += devices;
}

void give_back(struct admission *books, int32_t at)
{
    struct job *job = &books->jobs[at];
    if (job->held == 0)
        return;
    struct node *node = &books->nodes[job->node];
    for (int64_t i = 0; i < node->slot_count; i++) {
        if (node->slots[i].job != at)
            continue;
        node->slots[i].job = NONE;
        node->free += node->slots[i].ok;
    }
    node->memory_used -= job->memory_mib;
    books->tenants[job->tenant].held -= job->held;
    job->held = 0;
    job->node = NONE;
    books->changed = true;
}
