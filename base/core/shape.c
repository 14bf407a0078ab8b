#include "base/core/shape.h"

#include "base/core/id.h"
#include "base/core/text.h"

#include <math.h>
#include <string.h>

bool cr_shape_absent(const struct cr_member *member, const void *value)
{
    const char *at = (const char *)value + member->offset;
    switch (member->kind) {
    case CR_KIND_INTEGER:
    case CR_KIND_TIME:
        return *(const int64_t *)(const void *)at == CR_NO_INTEGER;
    case CR_KIND_TEXT:
    case CR_KIND_WORD:
    case CR_KIND_ID:
    case CR_KIND_OBJECT:
        return *(const void *const *)(const void *)at == NULL;
    case CR_KIND_NUMBER:
        return isnan(*(const double *)(const void *)at);
    case CR_KIND_BYTES:
        return ((const struct cr_bytes *)(const void *)at)->data == NULL;
    case CR_KIND_LIST:
        return ((const struct cr_list *)(const void *)at)->items == NULL;
    case CR_KIND_TEXTS:
        return ((const struct cr_texts *)(const void *)at)->items == NULL;
    case CR_KIND_INTEGERS:
        return ((const struct cr_integers *)(const void *)at)->items == NULL;
    case CR_KIND_LABELS:
        return ((const struct cr_labels *)(const void *)at)->items == NULL;
    case CR_KIND_JSON:
        return ((const struct cr_json *)(const void *)at)->text == NULL;
    case CR_KIND_BOOLEAN:
        return false;
    }
    return false;
}

void cr_shape_set_absent(const struct cr_member *member, void *value)
{
    void *at = (char *)value + member->offset;
    switch (member->kind) {
    case CR_KIND_INTEGER:
    case CR_KIND_TIME:
        *(int64_t *)at = CR_NO_INTEGER;
        break;
    case CR_KIND_TEXT:
    case CR_KIND_WORD:
    case CR_KIND_ID:
    case CR_KIND_OBJECT:
        *(const void **)at = NULL;
        break;
    case CR_KIND_BOOLEAN:
        *(bool *)at = false;
        break;
    case CR_KIND_NUMBER:
        *(double *)at = NAN;
        break;
    case CR_KIND_BYTES:
        *(struct cr_bytes *)at = (struct cr_bytes){NULL, 0};
        break;
    case CR_KIND_LIST:
        *(struct cr_list *)at = (struct cr_list){NULL, 0};
        break;
    case CR_KIND_TEXTS:
        *(struct cr_texts *)at = (struct cr_texts){NULL, 0};
        break;
    case CR_KIND_INTEGERS:
        *(struct cr_integers *)at = (struct cr_integers){NULL, 0};
        break;
    case CR_KIND_LABELS:
        *(struct cr_labels *)at = (struct cr_labels){NULL, 0};
        break;
    case CR_KIND_JSON:
        *(struct cr_json *)at = (struct cr_json){NULL, 0};
        break;
    }
}

/* What is being looked at: the member, where it stands, and the pointer that names it. */
struct place {
    const struct cr_member *member;
    const void *value;
    const char *pointer;
};

static size_t fault(struct cr_call *call, const struct place *place, const char *code,
                    const char *sentence)
{
    cr_fault(call, CR_AT_POINTER, place->pointer, code, "%s %s", place->member->name, sentence);
    return 1;
}

static size_t within(struct cr_call *call, const struct place *place, size_t measure,
                     const char *unit)
{
    const struct cr_member *member = place->member;
    if ((int64_t)measure >= member->min && (int64_t)measure <= member->max)
        return 0;
    if (member->min == member->max)
        return fault(call, place, "out_of_range",
                     cr_format(call, "must be %lld %s long", (long long)member->max, unit));
    return fault(call, place, "out_of_range",
                 cr_format(call, "must be %lld to %lld %s long", (long long)member->min,
                           (long long)member->max, unit));
}

static size_t integer_faults(struct cr_call *call, const struct place *place)
{
    int64_t value = *(const int64_t *)place->value;
    if (value >= place->member->min && value <= place->member->max)
        return 0;
    return fault(call, place, "out_of_range",
                 cr_format(call, "must be %lld to %lld", (long long)place->member->min,
                           (long long)place->member->max));
}

static size_t number_faults(struct cr_call *call, const struct place *place)
{
    double value = *(const double *)place->value;
    if (isfinite(value) && value >= place->member->low && value <= place->member->high)
        return 0;
    return fault(
        call, place, "out_of_range",
        cr_format(call, "must be %.10g to %.10g", place->member->low, place->member->high));
}

static size_t text_faults(struct cr_call *call, const struct place *place)
{
    const char *value = *(const char *const *)place->value;
    if ((place->member->flags & CR_PRINTABLE) && !cr_printable(value))
        return fault(call, place, "not_printable", "holds letters that cannot be shown");
    return within(call, place, strlen(value), "bytes");
}

static size_t word_faults(struct cr_call *call, const struct place *place)
{
    const char *value = *(const char *const *)place->value, *list = "";
    for (const char *const *word = place->member->words; *word; word++) {
        if (strcmp(*word, value) == 0)
            return 0;
        list = cr_format(call, "%s%s%s", list, *list ? ", " : "", *word);
    }
    return fault(call, place, "unknown_word", cr_format(call, "must be one of %s", list));
}

static size_t id_faults(struct cr_call *call, const struct place *place)
{
    const char *value = *(const char *const *)place->value;
    if (cr_id_is(value, place->member->prefix))
        return 0;
    const char *kind = cr_id_called(call, cr_id_kind(value));
    const char *noun = cr_id_called(call, cr_id_noun(place->member->prefix));
    return fault(call, place, "wrong_id_kind",
                 kind ? cr_format(call, "is %s id, this wants %s id", kind, noun)
                      : cr_format(call, "must be %s id", noun));
}

static size_t list_faults(struct cr_call *call, const struct place *place)
{
    const struct cr_list *list = place->value;
    size_t count = within(call, place, list->count, "items");
    const struct cr_shape *shape = place->member->shape;
    for (size_t i = 0; i < list->count && call->fault_count < CR_FAULTS_MAX; i++)
        count += cr_shape_faults(call, shape, (const char *)list->items + i * shape->size,
                                 cr_format(call, "%s/%zu", place->pointer, i));
    return count;
}

static size_t texts_faults(struct cr_call *call, const struct place *place)
{
    const struct cr_texts *texts = place->value;
    size_t count = within(call, place, texts->count, "items");
    for (size_t i = 0; i < texts->count; i++)
        if (strlen(texts->items[i]) > CR_TEXTS_ITEM_MAX) {
            cr_fault(call, CR_AT_POINTER, cr_format(call, "%s/%zu", place->pointer, i),
                     "out_of_range", "a text of %s is at most %d bytes long", place->member->name,
                     CR_TEXTS_ITEM_MAX);
            count++;
        }
    return count;
}

static size_t integers_faults(struct cr_call *call, const struct place *place)
{
    const struct cr_integers *integers = place->value;
    const struct cr_member *member = place->member;
    size_t count = within(call, place, integers->count, "items");
    for (size_t i = 0; i < integers->count; i++) {
        double value = (double)integers->items[i];
        if (value >= member->low && value <= member->high)
            continue;
        cr_fault(call, CR_AT_POINTER, cr_format(call, "%s/%zu", place->pointer, i), "out_of_range",
                 "each of %s must be %.16g to %.16g", member->name, member->low, member->high);
        count++;
    }
    return count;
}

static size_t labels_faults(struct cr_call *call, const struct place *place)
{
    const struct cr_labels *labels = place->value;
    size_t count = within(call, place, labels->count, "items");
    for (size_t i = 0; i < labels->count; i++) {
        size_t name = strlen(labels->items[i].name);
        if (!cr_printable(labels->items[i].name) || !cr_printable(labels->items[i].value)) {
            count += fault(call, place, "not_printable", "holds letters that cannot be shown");
            continue;
        }
        if (name >= 1 && name <= CR_LABEL_NAME_MAX &&
            strlen(labels->items[i].value) <= CR_LABEL_VALUE_MAX)
            continue;
        count += fault(call, place, "out_of_range",
                       cr_format(call, "must have names of 1 to %d and values of at most %d bytes",
                                 CR_LABEL_NAME_MAX, CR_LABEL_VALUE_MAX));
    }
    return count;
}

static size_t member_faults(struct cr_call *call, const struct place *place)
{
    switch (place->member->kind) {
    case CR_KIND_INTEGER:
        return integer_faults(call, place);
    case CR_KIND_TEXT:
        return text_faults(call, place);
    case CR_KIND_NUMBER:
        return number_faults(call, place);
    case CR_KIND_WORD:
        return word_faults(call, place);
    case CR_KIND_ID:
        return id_faults(call, place);
    case CR_KIND_BYTES:
        return within(call, place, ((const struct cr_bytes *)place->value)->size, "bytes");
    case CR_KIND_OBJECT:
        return cr_shape_faults(call, place->member->shape, *(const void *const *)place->value,
                               place->pointer);
    case CR_KIND_LIST:
        return list_faults(call, place);
    case CR_KIND_TEXTS:
        return texts_faults(call, place);
    case CR_KIND_INTEGERS:
        return integers_faults(call, place);
    case CR_KIND_LABELS:
        return labels_faults(call, place);
    case CR_KIND_JSON:
        return within(call, place, ((const struct cr_json *)place->value)->length, "bytes");
    case CR_KIND_BOOLEAN:
    case CR_KIND_TIME:
        return 0;
    }
    return 0;
}

size_t cr_shape_faults(struct cr_call *call, const struct cr_shape *shape, const void *value,
                       const char *at)
{
    size_t count = 0;
    for (size_t i = 0; i < shape->member_count; i++) {
        const struct cr_member *member = &shape->members[i];
        struct place place = {member, (const char *)value + member->offset,
                              cr_format(call, "%s/%s", at, member->name)};
        if (!cr_shape_absent(member, value))
            count += member_faults(call, &place);
        else if (!(member->flags & (CR_OPTIONAL | CR_NULLABLE)))
            count += fault(call, &place, "missing", "is missing");
    }
    return count;
}

enum cr_status cr_shape_check(struct cr_call *call, const struct cr_shape *shape, const void *value)
{
    size_t before = call->fault_count;
    if (cr_shape_faults(call, shape, value, "") == 0)
        return CR_OK;
    return cr_fail(call, CR_INVALID, "%s",
                   before < call->fault_count ? call->faults[before].detail : "too many faults");
}
