/* crc: check sums of 32 bits, a table of 16 steps each. They find accidents, not forgeries. */
#include "base/core/text.h"

#define IEEE       0xEDB88320U /* the polynomials, their lowest bit first */
#define CASTAGNOLI 0x82F63B78U

/* Four bits at a time; a table of 16 is made anew for each text, and stays in the cache. */
static uint32_t sum_on(uint32_t polynomial, uint32_t sum, const unsigned char *at, size_t size)
{
    uint32_t table[16];
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 4; bit++)
            value = value & 1 ? value >> 1 ^ polynomial : value >> 1;
        table[i] = value;
    }
    sum = ~sum;
    for (size_t i = 0; i < size; i++) {
        sum ^= at[i];
        sum = sum >> 4 ^ table[sum & 15];
        sum = sum >> 4 ^ table[sum & 15];
    }
    return ~sum;
}

uint32_t cr_crc32(uint32_t sum, const void *bytes, size_t size)
{
    return sum_on(IEEE, sum, bytes, size);
}

uint32_t cr_crc32c(uint32_t sum, const void *bytes, size_t size)
{
    return sum_on(CASTAGNOLI, sum, bytes, size);
}
