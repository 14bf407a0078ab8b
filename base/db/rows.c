/* rows: structs out of rows, by the names that a shape and a statement share. */
#include "base/db/db_internal.h"

#include "base/core/parse.h"

#include <math.h>
#include <string.h>

#define ARRAY_ITEMS_MAX 100000

/* Where a cell goes, and what it is called. */
struct place {
    const struct cr_member *member;
    const struct db_cell *cell;
    void *at;
};

static enum cr_status misfit(struct cr_call *call, const struct place *place, const char *what)
{
    return cr_fail(call, CR_INTERNAL, "column %s is not %s", place->member->name, what);
}

static void absent(const struct cr_member *member, void *at)
{
    switch (member->kind) {
    case CR_KIND_INTEGER:
    case CR_KIND_TIME:
        *(int64_t *)at = CR_NO_INTEGER;
        return;
    case CR_KIND_NUMBER:
        *(double *)at = NAN;
        return;
    case CR_KIND_BOOLEAN:
        *(bool *)at = false;
        return;
    case CR_KIND_TEXT:
    case CR_KIND_WORD:
    case CR_KIND_ID:
    case CR_KIND_OBJECT:
        *(const void **)at = NULL;
        return;
    case CR_KIND_BYTES:
        *(struct cr_bytes *)at = (struct cr_bytes){0};
        return;
    case CR_KIND_LIST:
        *(struct cr_list *)at = (struct cr_list){0};
        return;
    case CR_KIND_TEXTS:
        *(struct cr_texts *)at = (struct cr_texts){0};
        return;
    case CR_KIND_INTEGERS:
        *(struct cr_integers *)at = (struct cr_integers){0};
        return;
    case CR_KIND_LABELS:
        *(struct cr_labels *)at = (struct cr_labels){0};
        return;
    case CR_KIND_JSON:
        *(struct cr_json *)at = (struct cr_json){0};
        return;
    }
}

/*
 * The items of a one-dimensional array literal without NULLs, as array_out writes it: "{a,"b c"}".
 * ret_items has room for one more than there are commas.
 */
static bool split(struct cr_call *call, const struct db_cell *cell, const char ***ret_items,
                  size_t *ret_count)
{
    const char *at = cell->text, *end = cell->text + cell->length;
    if (cell->length < 2 || *at != '{' || end[-1] != '}')
        return false;

    size_t most = 1;
    for (const char *comma = at; comma < end; comma++)
        most += *comma == ',';
    if (most > ARRAY_ITEMS_MAX)
        return false;
    const char **items = cr_new(call, const char *, most);
    char *text = cr_new(call, char, cell->length + most);
    size_t count = 0;

    for (at++; at < end - 1; at++) { /* an item at a time; the loop's step passes the comma */
        items[count++] = text;
        bool quoted = *at == '"';
        if (quoted)
            at++;
        while (at < end - 1 && *at != (quoted ? '"' : ',')) {
            if (*at == '\\')
                at++;
            *text++ = *at++;
        }
        *text++ = '\0';
        if (quoted)
            at++;
    }
    *ret_items = items;
    *ret_count = count;
    return true;
}

static enum cr_status fill_texts(struct cr_call *call, const struct place *place)
{
    const char **items;
    size_t count;
    if (!split(call, place->cell, &items, &count))
        return misfit(call, place, "an array of texts");
    *(struct cr_texts *)place->at = (struct cr_texts){items, count};
    return CR_OK;
}

static enum cr_status fill_integers(struct cr_call *call, const struct place *place)
{
    const char **items;
    size_t count;
    if (!split(call, place->cell, &items, &count))
        return misfit(call, place, "an array of integers");
    int64_t *values = cr_new(call, int64_t, count);
    for (size_t i = 0; i < count; i++)
        if (!cr_parse_integer(items[i], strlen(items[i]), INT64_MIN, INT64_MAX, &values[i]))
            return misfit(call, place, "an array of integers");
    *(struct cr_integers *)place->at = (struct cr_integers){values, count};
    return CR_OK;
}

static enum cr_status fill_labels(struct cr_call *call, const struct place *place)
{
    const char **items;
    size_t count;
    if (!split(call, place->cell, &items, &count) || count % 2)
        return misfit(call, place, "names and values in turn");
    struct cr_label *labels = cr_new(call, struct cr_label, count / 2);
    for (size_t i = 0; i < count / 2; i++)
        labels[i] = (struct cr_label){items[2 * i], items[2 * i + 1]};
    *(struct cr_labels *)place->at = (struct cr_labels){labels, count / 2};
    return CR_OK;
}

static enum cr_status fill_member(struct cr_call *call, const struct place *place)
{
    const struct db_cell *cell = place->cell;
    switch (place->member->kind) {
    case CR_KIND_INTEGER:
    case CR_KIND_TIME:
        if (!cr_parse_integer(cell->text, cell->length, INT64_MIN, INT64_MAX, place->at))
            return misfit(call, place, "an integer");
        return CR_OK;
    case CR_KIND_NUMBER:
        if (!cr_parse_number(cell->text, cell->length, place->at))
            return misfit(call, place, "a finite number");
        return CR_OK;
    case CR_KIND_BOOLEAN:
        *(bool *)place->at = cell->text[0] == 't';
        return CR_OK;
    case CR_KIND_TEXT:
    case CR_KIND_WORD:
    case CR_KIND_ID:
        *(const char **)place->at = cell->text;
        return CR_OK;
    case CR_KIND_BYTES:
        *(struct cr_bytes *)place->at =
            (struct cr_bytes){(const unsigned char *)cell->text, cell->length};
        return CR_OK;
    case CR_KIND_JSON:
        *(struct cr_json *)place->at = (struct cr_json){cell->text, cell->length};
        return CR_OK;
    case CR_KIND_TEXTS:
        return fill_texts(call, place);
    case CR_KIND_INTEGERS:
        return fill_integers(call, place);
    case CR_KIND_LABELS:
        return fill_labels(call, place);
    case CR_KIND_OBJECT:
    case CR_KIND_LIST:
        break;
    }
    return misfit(call, place, "what a row can hold");
}

static const struct cr_member *member_of(const struct cr_shape *shape, const char *name)
{
    for (size_t i = 0; i < shape->member_count; i++)
        if (strcmp(shape->members[i].name, name) == 0)
            return &shape->members[i];
    return NULL;
}

enum cr_status db_fill(struct cr_call *call, const struct db_rows *rows, size_t row,
                       const struct cr_shape *shape, void *ret_value)
{
    char *value = cr_alloc(call, 1, shape->size);
    for (size_t i = 0; i < shape->member_count; i++)
        absent(&shape->members[i], value + shape->members[i].offset);

    for (size_t i = 0; i < rows->column_count; i++) {
        const struct cr_member *member = member_of(shape, rows->names[i]);
        if (!member)
            return cr_fail(call, CR_INTERNAL, "column %s is no member of %s", rows->names[i],
                           shape->name ? shape->name : "the shape");
        struct place place = {member, &rows->cells[row * rows->column_count + i],
                              value + member->offset};
        if (place.cell->text)
            CR_TRY(fill_member(call, &place));
    }
    memcpy(ret_value, value, shape->size);
    return CR_OK;
}
