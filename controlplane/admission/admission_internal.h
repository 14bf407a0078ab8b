/*
 * The books from within. Everything is an index into an array; a text leads to an index by a map.
 * An entry that goes keeps its place, and what still points to it is told apart by its stamp.
 */
#pragma once

#include "controlplane/admission/admission.h"

#define NONE (-1)

/* text → index, open addressing; the texts belong to the entries. */
struct map {
    struct map_slot {
        const char *key; /* NULL: free; map_gone: was used */
        int32_t index;
    } * slots;
    size_t capacity, used; /* used counts the gone ones too */
};

int32_t map_find(const struct map *map, const char *key); /* NONE: not there */
void map_put(struct map *map, const char *key, int32_t index);
void map_drop(struct map *map, const char *key);
uint64_t text_hash(const char *text);

/*
 * A binary heap of indices into something; `before` says which of two comes first. What it orders
 * by must not change while an item is in it: a job keeps its name for as long (struct job, items),
 * and a time stands in the item.
 */
struct heap_item {
    int64_t time_us;
    int32_t index;
    uint32_t stamp;
};
struct heap {
    struct heap_item *items;
    size_t count, capacity;
};
typedef bool heap_before(const struct admission *books, const struct heap_item *a,
                         const struct heap_item *b);

void heap_push(const struct admission *books, struct heap *heap, heap_before *before,
               struct heap_item item);
void heap_pop(const struct admission *books, struct heap *heap, heap_before *before);

struct tenant {
    char *name;
    int64_t limit, held; /* devices */
    bool active;
};

struct slot { /* a device */
    char *name;
    int32_t job; /* that holds it, NONE: nobody */
    bool ok;
};

struct node {
    char *name, *title, *model;
    int64_t epoch, memory_mib, memory_used, device_memory_mib;
    bool ready, leaving;
    struct slot *slots; /* in the order of their names */
    int64_t slot_count, slot_capacity;
    int64_t ok, free; /* slots that work, and of them those that nobody holds */
};

struct job {
    char *name; /* NULL: the place is free */
    int32_t tenant, class, node;
    int64_t priority, lease_epoch, not_before_us, memory_mib, held;
    int32_t avoid[ADMISSION_AVOID_MAX];
    int avoid_count;
    uint32_t stamp; /* grows with each change: an older item of a heap is void */
    int32_t items;  /* of heaps that lead here, void ones too */
    bool waiting, backoff;
};

struct shape {
    int64_t devices, device_memory_mib, memory_mib;
    bool gpu;
    char *models; /* each with a NUL behind, an empty one ends; sorted */
};

struct class
{
    char *key;
    int32_t tenant;
    int64_t priority;
    struct shape shape;
    struct heap line; /* of jobs, by id */
    int64_t waiting;
};

struct admission {
    struct tenant *tenants;
    struct node *nodes;
    struct job *jobs;
    struct class *classes;
    int32_t tenant_count, node_count, job_count, class_count;
    size_t tenant_capacity, node_capacity, job_capacity, class_capacity;
    int32_t *order; /* nodes, by their names */
    int32_t *vacant;
    size_t vacant_count, vacant_capacity;
    struct map tenant_map, node_map, job_map, class_map;
    struct heap later; /* jobs, by not_before_us */
    int64_t waiting;   /* jobs, those of `later` too */
    bool changed;      /* since the last round that ended for want of anything to start */
};

/* Room for one more item: grows by half; running out of memory ends the process. */
void *grown(void *items, size_t count, size_t *capacity, size_t size);
char *copied(const char *text);

heap_before earlier_job;                                  /* by id */
heap_before earlier_time;                                 /* by time, then id */
int32_t first_of(struct admission *books, int32_t class); /* NONE: nobody waits in it */
void let_in(struct admission *books, int64_t now_us);     /* whose time has come */

/* Takes the first item out of a heap of jobs, and forgets the job where nothing else keeps it. */
void drop_first(struct admission *books, struct heap *heap, heap_before *before);
void vacate(struct admission *books, int32_t job);
void stop_waiting(struct admission *books, int32_t job);

/* What is being asked: a job that waits, or one that is only thought of. */
struct question {
    int32_t tenant;
    const struct shape *shape;
    const int32_t *avoid;
    int avoid_count;
};

/* Whether the node's model is one that the shape allows. */
bool allows(const struct node *node, const struct shape *shape);

/* Where it would be put now; NONE: nowhere. Looks at nodes alone, not at limits. */
int32_t place(const struct admission *books, const struct question *question);

/* Takes devices of the node for the job; gives back what it holds. */
void take(struct admission *books, int32_t job, int32_t node, int64_t devices, int64_t memory_mib);
void give_back(struct admission *books, int32_t job);

/* The class of a job, made where there is none. */
enum cr_status class_of(struct cr_call *call, struct admission *books,
                        const struct admission_job *job, int32_t *ret_class);
const char *class_key(struct cr_call *call, const struct admission_job *job);
