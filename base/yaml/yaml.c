/* Walks libyaml's events and writes JSON as they come; a value's mark is taken where it begins. */
#include "base/yaml/yaml_internal.h"

#include <inttypes.h>
#include <yaml.h>

struct text {
    char *bytes;
    size_t length, capacity;
};

struct reader {
    struct cr_call *call;
    yaml_parser_t parser;
    struct text json;
    struct yaml_mark *marks;
    size_t mark_count, mark_capacity;
    int depth;
};

static void put(struct reader *reader, const char *bytes, size_t length)
{
    struct text *json = &reader->json;
    if (json->length + length + 1 > json->capacity) {
        size_t capacity = 2 * (json->capacity + length) + 256;
        char *grown = cr_new(reader->call, char, capacity);
        if (json->length)
            memcpy(grown, json->bytes, json->length);
        json->bytes = grown;
        json->capacity = capacity;
    }
    memcpy(json->bytes + json->length, bytes, length);
    json->length += length;
    json->bytes[json->length] = 0;
}

static void put_text(struct reader *reader, const char *text, size_t length)
{
    put(reader, "\"", 1);
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte == '"' || byte == '\\') {
            put(reader, (char[]){'\\', (char)byte}, 2);
        } else if (byte < 0x20) {
            char escape[8];
            put(reader, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", byte));
        } else {
            put(reader, text + i, 1);
        }
    }
    put(reader, "\"", 1);
}

static enum cr_status fail_at(struct reader *reader, yaml_mark_t mark, const char *what)
{
    return cr_fail(reader->call, CR_INVALID, "%zu:%zu: %s", mark.line + 1, mark.column + 1, what);
}

static enum cr_status next(struct reader *reader, yaml_event_t *ret_event)
{
    if (yaml_parser_parse(&reader->parser, ret_event))
        return CR_OK;
    const yaml_parser_t *parser = &reader->parser;
    yaml_mark_t mark = parser->problem_mark;
    if (parser->error == YAML_READER_ERROR)
        return cr_fail(reader->call, CR_INVALID, "1:1: %s at byte %zu", parser->problem,
                       parser->problem_offset);
    return fail_at(reader, mark, parser->problem ? parser->problem : "not YAML");
}

static enum cr_status add_mark(struct reader *reader, const char *pointer, yaml_mark_t mark)
{
    if (reader->mark_count == YAML_NODES_MAX)
        return fail_at(reader, mark, "more values than a text may have");
    if (reader->mark_count == reader->mark_capacity) {
        size_t capacity = 2 * reader->mark_capacity + 64;
        struct yaml_mark *grown = cr_new(reader->call, struct yaml_mark, capacity);
        if (reader->mark_count)
            memcpy(grown, reader->marks, reader->mark_count * sizeof *grown);
        reader->marks = grown;
        reader->mark_capacity = capacity;
    }
    reader->marks[reader->mark_count++] =
        (struct yaml_mark){pointer, mark.line + 1, mark.column + 1};
    return CR_OK;
}

/* pointer/key, with '~' and '/' of the key written as ~0 and ~1 (RFC 6901) */
static const char *below(struct reader *reader, const char *pointer, const char *key)
{
    size_t length = strlen(key);
    char *escaped = cr_new(reader->call, char, 2 * length + 1), *end = escaped;
    for (; *key; key++) {
        if (*key == '~' || *key == '/') {
            *end++ = '~';
            *end++ = *key == '~' ? '0' : '1';
        } else {
            *end++ = *key;
        }
    }
    return cr_format(reader->call, "%s/%s", pointer, escaped);
}

static enum cr_status put_plain(struct reader *reader, const yaml_event_t *event, const char *text)
{
    char number[40];
    int64_t integer;
    double real;
    switch (yaml_scalar_kind(text)) {
    case YAML_SCALAR_NULL:
        put(reader, "null", 4);
        return CR_OK;
    case YAML_SCALAR_TRUE:
        put(reader, "true", 4);
        return CR_OK;
    case YAML_SCALAR_FALSE:
        put(reader, "false", 5);
        return CR_OK;
    case YAML_SCALAR_INTEGER:
        if (!yaml_scalar_integer(text, &integer))
            return fail_at(reader, event->start_mark, "the number is beyond 64 bits");
        put(reader, number, (size_t)snprintf(number, sizeof number, "%" PRId64, integer));
        return CR_OK;
    case YAML_SCALAR_REAL:
        if (!yaml_scalar_real(text, &real))
            return fail_at(reader, event->start_mark, "the number is beyond what a double holds");
        put(reader, number, (size_t)snprintf(number, sizeof number, "%.17g", real));
        return CR_OK;
    case YAML_SCALAR_INFINITE:
        return fail_at(reader, event->start_mark, "JSON has no infinite numbers");
    case YAML_SCALAR_TEXT:
        break;
    }
    put_text(reader, text, strlen(text));
    return CR_OK;
}

static enum cr_status put_scalar(struct reader *reader, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(text, 0, length))
        return fail_at(reader, event->start_mark, "a text may not hold a NUL");
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return put_plain(reader, event, text);
    put_text(reader, text, length);
    return CR_OK;
}

static enum cr_status check_plain(struct reader *reader, const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    if (event->type == YAML_ALIAS_EVENT || anchor)
        return fail_at(reader, event->start_mark, "anchors and aliases are not read here");
    if (tag)
        return fail_at(reader, event->start_mark, "tags are not read here");
    return CR_OK;
}

static enum cr_status read_value(struct reader *reader, const yaml_event_t *event,
                                 const char *pointer);

static enum cr_status read_list(struct reader *reader, const char *pointer)
{
    put(reader, "[", 1);
    for (size_t index = 0;; index++) {
        CR_SCOPED(yaml_event_delete) yaml_event_t event = {0};
        CR_TRY(next(reader, &event));
        if (event.type == YAML_SEQUENCE_END_EVENT)
            break;
        if (index)
            put(reader, ",", 1);
        CR_TRY(read_value(reader, &event, cr_format(reader->call, "%s/%zu", pointer, index)));
    }
    put(reader, "]", 1);
    return CR_OK;
}

/* Marks of one object stand behind its own, so only those are looked through. */
static bool is_twice(const struct reader *reader, size_t from, const char *pointer)
{
    for (size_t i = from; i < reader->mark_count; i++)
        if (strcmp(reader->marks[i].pointer, pointer) == 0)
            return true;
    return false;
}

static enum cr_status read_object(struct reader *reader, const char *pointer)
{
    size_t from = reader->mark_count;
    put(reader, "{", 1);
    for (size_t index = 0;; index++) {
        CR_SCOPED(yaml_event_delete) yaml_event_t key = {0}, value = {0};
        CR_TRY(next(reader, &key));
        if (key.type == YAML_MAPPING_END_EVENT)
            break;
        if (index == YAML_OBJECT_MAX)
            return fail_at(reader, key.start_mark, "more members than an object may have");
        CR_TRY(check_plain(reader, &key));
        if (key.type != YAML_SCALAR_EVENT)
            return fail_at(reader, key.start_mark, "the name of a member must be a text");
        const char *name = (const char *)key.data.scalar.value;
        if (memchr(name, 0, key.data.scalar.length))
            return fail_at(reader, key.start_mark, "a text may not hold a NUL");
        const char *member = below(reader, pointer, name);
        if (is_twice(reader, from, member))
            return fail_at(reader, key.start_mark, "the member stands twice");
        if (index)
            put(reader, ",", 1);
        put_text(reader, name, key.data.scalar.length);
        put(reader, ":", 1);
        CR_TRY(next(reader, &value));
        CR_TRY(read_value(reader, &value, member));
    }
    put(reader, "}", 1);
    return CR_OK;
}

static enum cr_status read_value(struct reader *reader, const yaml_event_t *event,
                                 const char *pointer)
{
    CR_TRY(check_plain(reader, event));
    CR_TRY(add_mark(reader, pointer, event->start_mark));
    if (event->type == YAML_SCALAR_EVENT)
        return put_scalar(reader, event);
    if (++reader->depth > YAML_DEPTH_MAX)
        return fail_at(reader, event->start_mark, "nested deeper than 32");
    CR_TRY(event->type == YAML_MAPPING_START_EVENT ? read_object(reader, pointer)
                                                   : read_list(reader, pointer));
    reader->depth--;
    return CR_OK;
}

static enum cr_status read_document(struct reader *reader)
{
    bool seen = false;
    for (;;) {
        CR_SCOPED(yaml_event_delete) yaml_event_t event = {0};
        CR_TRY(next(reader, &event));
        switch (event.type) {
        case YAML_STREAM_END_EVENT:
            if (!seen) {
                put(reader, "null", 4);
                return add_mark(reader, "", (yaml_mark_t){0});
            }
            return CR_OK;
        case YAML_STREAM_START_EVENT:
        case YAML_DOCUMENT_END_EVENT:
            break;
        case YAML_DOCUMENT_START_EVENT:
            if (seen)
                return fail_at(reader, event.start_mark, "a second document");
            seen = true;
            break;
        default:
            CR_TRY(read_value(reader, &event, ""));
        }
    }
}

enum cr_status yaml_read(struct cr_call *call, const char *text, size_t length,
                         struct yaml_document *ret_document)
{
    if (length > YAML_SIZE_MAX)
        return cr_fail(call, CR_TOO_LARGE, "%zu bytes of YAML; the limit is %d", length,
                       YAML_SIZE_MAX);
    struct reader reader = {.call = call};
    if (!yaml_parser_initialize(&reader.parser))
        return cr_fail(call, CR_INTERNAL, "no memory for a YAML parser");
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, length);
    enum cr_status status = read_document(&reader);
    yaml_parser_delete(&reader.parser);
    CR_TRY(status);
    *ret_document = (struct yaml_document){.json = reader.json.bytes,
                                           .length = reader.json.length,
                                           .marks = reader.marks,
                                           .mark_count = reader.mark_count};
    return CR_OK;
}

const struct yaml_mark *yaml_mark_of(const struct yaml_document *document, const char *pointer)
{
    size_t length = strlen(pointer);
    for (;;) {
        for (size_t i = 0; i < document->mark_count; i++) {
            const char *known = document->marks[i].pointer;
            if (strlen(known) == length && strncmp(known, pointer, length) == 0)
                return &document->marks[i];
        }
        if (length == 0)
            return &document->marks[0];
        while (pointer[--length] != '/')
            ;
    }
}
