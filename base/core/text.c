/* text: texts that grow. */
#include "base/core/text.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FIRST_SIZE ((size_t)256)

struct cr_text cr_text_open(struct cr_call *call)
{
    return (struct cr_text){
        .call = call, .data = cr_new(call, char, FIRST_SIZE), .size = FIRST_SIZE};
}

/* Makes room for so many bytes and the NUL behind them. What it outgrows stays with the call. */
static char *room(struct cr_text *text, size_t more)
{
    size_t wanted = text->length + more + 1;
    if (wanted > text->size) {
        size_t size = text->size * 2 > wanted ? text->size * 2 : wanted;
        char *data = cr_new(text->call, char, size);
        memcpy(data, text->data, text->length);
        text->data = data;
        text->size = size;
    }
    return text->data + text->length;
}

void cr_text_add_bytes(struct cr_text *text, const void *bytes, size_t length)
{
    char *at = room(text, length);
    if (length)
        memcpy(at, bytes, length);
    at[length] = '\0';
    text->length += length;
}

void cr_text_add(struct cr_text *text, const char *more)
{
    cr_text_add_bytes(text, more, strlen(more));
}

void cr_text_add_format(struct cr_text *text, const char *format, ...)
{
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    int length = vsnprintf(NULL, 0, format, values);
    assert(length >= 0);
    vsnprintf(room(text, (size_t)length), (size_t)length + 1, format, again);
    text->length += (size_t)length;
    va_end(again);
    va_end(values);
}

/* The letter behind the '\' for those that have a short form; else 0. */
static char short_form(char letter)
{
    static const char pairs[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (const char *at = pairs; *at; at += 2)
        if (*at == letter)
            return at[1];
    return 0;
}

void cr_text_add_quoted(struct cr_text *text, const char *bytes, size_t length)
{
    cr_text_add(text, "\"");
    size_t from = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char letter = (unsigned char)bytes[i];
        if (letter >= ' ' && letter != '"' && letter != '\\')
            continue;
        cr_text_add_bytes(text, bytes + from, i - from);
        from = i + 1;
        if (short_form(bytes[i]))
            cr_text_add_format(text, "\\%c", short_form(bytes[i]));
        else
            cr_text_add_format(text, "\\u%04x", (unsigned)letter);
    }
    cr_text_add_bytes(text, bytes + from, length - from);
    cr_text_add(text, "\"");
}
