/* utf8: whether bytes are text, and whether text can be shown. */
#include "base/core/text.h"

#include <string.h>

/* The code point that the bytes begin with, and its length; 0 where they begin with none. */
static size_t decode(const unsigned char *at, size_t length, uint32_t *ret_point)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least; /* below it the form is too long */
    } forms[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};

    for (size_t extra = 0; extra < 4; extra++) {
        if ((at[0] & forms[extra].mask) != forms[extra].lead)
            continue;
        if (extra >= length)
            return 0;
        uint32_t point = at[0] & (unsigned char)~forms[extra].mask;
        for (size_t i = 1; i <= extra; i++) {
            if ((at[i] & 0xC0) != 0x80)
                return 0;
            point = point << 6 | (at[i] & 0x3FU);
        }
        bool surrogate = point >= 0xD800 && point <= 0xDFFF;
        if (point < forms[extra].least || point > 0x10FFFF || surrogate)
            return 0;
        *ret_point = point;
        return extra + 1;
    }
    return 0;
}

bool cr_utf8(const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    while (length > 0) {
        uint32_t point;
        size_t step = decode(at, length, &point);
        if (step == 0 || point == 0)
            return false;
        at += step;
        length -= step;
    }
    return true;
}

/* What no name may hold: it moves, hides or breaks what stands around it. Unicode 15. */
static const struct {
    uint32_t first, last;
} hidden[] = {
    {0x00, 0x1F},     /* C0 controls */
    {0x7F, 0x9F},     /* DEL and C1 controls */
    {0xAD, 0xAD},     /* soft hyphen */
    {0x34F, 0x34F},   /* combining grapheme joiner */
    {0x61C, 0x61C},   /* Arabic letter mark */
    {0x115F, 0x1160}, /* Hangul fillers */
    {0x17B4, 0x17B5}, /* Khmer inherent vowels */
    {0x180B, 0x180F}, /* Mongolian selectors */
    {0x200B, 0x200F}, /* of no width, and marks of direction */
    {0x2028, 0x202E}, /* separators of lines, and embeddings of direction */
    {0x2060, 0x206F}, /* word joiner, isolates of direction */
    {0x3164, 0x3164}, /* Hangul filler */
    {0xFE00, 0xFE0F}, /* variation selectors */
    {0xFEFF, 0xFEFF}, /* byte order mark */
    {0xFFA0, 0xFFA0}, /* Hangul filler of half width */
    {0xFFF0, 0xFFFB}, /* anchors of annotations */
    {0xFFFE, 0xFFFF}, /* not letters */
    {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}, /* tags */
};

static bool is_hidden(uint32_t point)
{
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (point >= hidden[i].first && point <= hidden[i].last)
            return true;
    return false;
}

bool cr_printable(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    for (size_t length = strlen(text); length > 0;) {
        uint32_t point;
        size_t step = decode(at, length, &point);
        if (step == 0 || is_hidden(point))
            return false;
        at += step;
        length -= step;
    }
    return true;
}
