/* tables: maps, heaps, and arrays that grow. */
#include "controlplane/admission/admission_internal.h"

#include <stdlib.h>
#include <string.h>

static const char map_gone[] = "";

/* FNV-1a, 64 bits: G. Fowler, L. C. Noll, K.-P. Vo. */
uint64_t text_hash(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

void *grown(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    size_t wanted = *capacity + *capacity / 2 + 16;
    void *larger = reallocarray(items, wanted, size);
    if (!larger)
        abort();
    *capacity = wanted;
    return larger;
}

char *copied(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        abort();
    return copy;
}

/* Where the key stands, or the first place where it could. */
static struct map_slot *map_slot(const struct map *map, const char *key)
{
    struct map_slot *vacancy = NULL;
    for (size_t at = text_hash(key) & (map->capacity - 1);; at = (at + 1) & (map->capacity - 1)) {
        struct map_slot *slot = &map->slots[at];
        if (!slot->key)
            return vacancy ? vacancy : slot;
        if (slot->key == map_gone)
            vacancy = vacancy ? vacancy : slot;
        else if (strcmp(slot->key, key) == 0)
            return slot;
    }
}

static bool taken(const struct map_slot *slot)
{
    return slot->key && slot->key != map_gone;
}

int32_t map_find(const struct map *map, const char *key)
{
    if (!map->capacity)
        return NONE;
    const struct map_slot *slot = map_slot(map, key);
    return taken(slot) ? slot->index : NONE;
}

static void map_resize(struct map *map)
{
    struct map old = *map;
    size_t live = 0;
    for (size_t i = 0; i < old.capacity; i++)
        live += taken(&old.slots[i]);
    size_t capacity = 64;
    while (capacity < live * 4)
        capacity *= 2;

    *map = (struct map){.slots = calloc(capacity, sizeof *map->slots), .capacity = capacity};
    if (!map->slots)
        abort();
    for (size_t i = 0; i < old.capacity; i++)
        if (taken(&old.slots[i]))
            map_put(map, old.slots[i].key, old.slots[i].index);
    free(old.slots);
}

void map_put(struct map *map, const char *key, int32_t index)
{
    if ((map->used + 1) * 4 > map->capacity * 3)
        map_resize(map);
    struct map_slot *slot = map_slot(map, key);
    map->used += !slot->key;
    *slot = (struct map_slot){key, index};
}

void map_drop(struct map *map, const char *key)
{
    if (!map->capacity)
        return;
    struct map_slot *slot = map_slot(map, key);
    if (taken(slot))
        slot->key = map_gone;
}

void heap_push(const struct admission *books, struct heap *heap, heap_before *before,
               struct heap_item item)
{
    heap->items = grown(heap->items, heap->count, &heap->capacity, sizeof item);
    size_t at = heap->count++;
    while (at > 0 && before(books, &item, &heap->items[(at - 1) / 2])) {
        heap->items[at] = heap->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->items[at] = item;
}

void heap_pop(const struct admission *books, struct heap *heap, heap_before *before)
{
    struct heap_item last = heap->items[--heap->count];
    size_t at = 0;
    for (;;) {
        size_t child = at * 2 + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && before(books, &heap->items[child + 1], &heap->items[child]))
            child++;
        if (!before(books, &heap->items[child], &last))
            break;
        heap->items[at] = heap->items[child];
        at = child;
    }
    if (heap->count > 0)
        heap->items[at] = last;
}
