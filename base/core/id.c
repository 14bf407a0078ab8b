#include "base/core/id.h"

#include <string.h>

static const char alphabet[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

static const struct {
    const char *prefix, *noun;
} kinds[] = {
#define ROW(prefix, noun) {#prefix, noun},
    CR_ID_TABLE(ROW)
#undef ROW
};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

const char *cr_id_of(struct cr_call *call, const char *prefix, int64_t utc_ms,
                     const unsigned char random[10])
{
    unsigned char bytes[16];
    for (int i = 0; i < 6; i++)
        bytes[i] = (unsigned char)((uint64_t)utc_ms >> (40 - 8 * i));
    memcpy(bytes + 6, random, 10);

    /* 128 bits as 26 letters of 5: two zero bits stand before the first. */
    char text[CR_ID_ULID_LENGTH + 1] = "";
    for (int i = 0; i < CR_ID_ULID_LENGTH; i++) {
        unsigned value = 0;
        for (int bit = i * 5 - 2; bit < i * 5 + 3; bit++)
            value = value << 1 | (bit < 0 ? 0U : (unsigned)bytes[bit / 8] >> (7 - bit % 8) & 1U);
        text[i] = alphabet[value];
    }
    return cr_format(call, "%s_%s", prefix, text);
}

const char *cr_id(struct cr_call *call, const char *prefix)
{
    unsigned char random[10];
    cr_random(call, random, sizeof random);
    return cr_id_of(call, prefix, cr_utc_us(call) / 1000, random);
}

static bool is_ulid(const char *text)
{
    if (strlen(text) != CR_ID_ULID_LENGTH || text[0] > '7')
        return false;
    for (; *text; text++)
        if (!strchr(alphabet, *text))
            return false;
    return true;
}

bool cr_id_is(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 && text[length] == '_' && is_ulid(text + length + 1);
}

const char *cr_id_kind(const char *text)
{
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (cr_id_is(text, kinds[i].prefix))
            return kinds[i].noun;
    return NULL;
}

const char *cr_id_noun(const char *prefix)
{
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (strcmp(prefix, kinds[i].prefix) == 0)
            return kinds[i].noun;
    return NULL;
}

/* By the sound: "a usage record" and "a user", but "an artifact". */
const char *cr_id_called(struct cr_call *call, const char *noun)
{
    return noun ? cr_format(call, "%s %s", strchr("aeio", *noun) ? "an" : "a", noun) : NULL;
}
