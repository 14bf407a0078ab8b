/* class: jobs that the scheduler cannot tell apart. */
#include "controlplane/admission/admission_internal.h"

#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The models in order, each with a '|' before it. */
static const char *models_text(struct cr_call *call, const struct admission_shape *shape)
{
    const char *sorted[ADMISSION_MODELS_MAX];
    size_t count =
        shape->model_count < ADMISSION_MODELS_MAX ? shape->model_count : ADMISSION_MODELS_MAX;
    for (size_t i = 0; i < count; i++)
        sorted[i] = shape->models[i];
    qsort(sorted, count, sizeof sorted[0], by_text);

    const char *text = "";
    for (size_t i = 0; i < count; i++)
        text = cr_format(call, "%s|%s", text, sorted[i]);
    return text;
}

const char *class_key(struct cr_call *call, const struct admission_job *job)
{
    const struct admission_shape *shape = &job->shape;
    return cr_format(call, "%s %lld %s %lld %lld %lld%s", job->tenant, (long long)job->priority,
                     shape->gpu ? "gpu" : "cpu", (long long)shape->devices,
                     (long long)shape->device_memory_mib, (long long)shape->memory_mib,
                     models_text(call, shape));
}

/* "|a|b" as "a\0b\0\0". */
static char *models_list(const char *text)
{
    size_t length = strlen(text);
    char *list = calloc(1, length + 2);
    if (!list)
        abort();
    for (size_t i = 1; i < length; i++)
        list[i - 1] = text[i] == '|' ? '\0' : text[i];
    return list;
}

/* A class that nobody waits in, to be given to another shape. */
static int32_t unused(const struct admission *books)
{
    for (int32_t i = 0; i < books->class_count; i++)
        if (books->classes[i].waiting == 0 && books->classes[i].line.count == 0)
            return i;
    return NONE;
}

static int32_t class_entry(struct admission *books)
{
    if (books->class_count < ADMISSION_CLASSES_MAX) {
        books->classes = grown(books->classes, (size_t)books->class_count, &books->class_capacity,
                               sizeof *books->classes);
        return books->class_count++;
    }
    int32_t at = unused(books);
    if (at == NONE)
        return NONE;
    struct class *class = &books->classes[at];
    map_drop(&books->class_map, class->key);
    free(class->key);
    free(class->shape.models);
    free(class->line.items);
    return at;
}

enum cr_status class_of(struct cr_call *call, struct admission *books,
                        const struct admission_job *job, int32_t *ret_class)
{
    const char *key = class_key(call, job);
    int32_t at = map_find(&books->class_map, key);
    if (at == NONE) {
        at = class_entry(books);
        if (at == NONE)
            return cr_fail(call, CR_EXHAUSTED, "a region has at most %d classes of jobs",
                           ADMISSION_CLASSES_MAX);
        books->classes[at] = (struct class){
            .key = copied(key),
            .tenant = map_find(&books->tenant_map, job->tenant),
            .priority = job->priority,
            .shape = {.devices = job->shape.devices,
                      .device_memory_mib = job->shape.device_memory_mib,
                      .memory_mib = job->shape.memory_mib,
                      .gpu = job->shape.gpu,
                      .models = models_list(models_text(call, &job->shape))},
        };
        map_put(&books->class_map, books->classes[at].key, at);
    }
    *ret_class = at;
    return CR_OK;
}
