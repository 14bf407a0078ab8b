/* philox: the generator itself, and what is drawn from its words by integers alone. */
#include "kernels/random/random.h"

#include <assert.h>

#define MULTIPLIER_0   UINT32_C(0xd2511f53)
#define MULTIPLIER_1   UINT32_C(0xcd9e8d57)
#define KEY_STEP_0     UINT32_C(0x9e3779b9)
#define KEY_STEP_1     UINT32_C(0xbb67ae85)
#define ROUNDS         10

#define FEISTEL_ROUNDS 6
#define PERMUTED_MAX   (UINT64_C(1) << 62)
#define FORK_WORD      UINT32_C(0x464f524b) /* "FORK" */

struct random_block random_philox(const uint32_t counter[4], const uint32_t key[2])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t p0 = (uint64_t)MULTIPLIER_0 * c0, p1 = (uint64_t)MULTIPLIER_1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += KEY_STEP_0;
        k1 += KEY_STEP_1;
    }
    return (struct random_block){{c0, c1, c2, c3}};
}

static struct random_block block_of(uint64_t seed, uint64_t stream, uint64_t block)
{
    uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)stream,
                           (uint32_t)(stream >> 32)};
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    return random_philox(counter, key);
}

uint32_t random_word(uint64_t seed, uint64_t stream, uint64_t index)
{
    return block_of(seed, stream, index / 4).word[index % 4];
}

void random_words(uint64_t seed, uint64_t stream, uint64_t first, size_t count, uint32_t *ret_words)
{
    struct random_block block = {{0}};
    for (size_t i = 0; i < count; i++) {
        uint64_t index = first + i;
        if (i == 0 || index % 4 == 0)
            block = block_of(seed, stream, index / 4);
        ret_words[i] = block.word[index % 4];
    }
}

uint32_t random_below(uint64_t seed, uint64_t stream, uint64_t index, uint32_t n)
{
    assert(n >= 1);
    return (uint32_t)(((uint64_t)random_word(seed, stream, index) * n) >> 32);
}

void random_bernoulli(uint64_t seed, uint64_t stream, uint64_t first, size_t count, double p,
                      uint8_t *ret_x)
{
    assert(p >= 0 && p <= 1);
    uint64_t threshold = (uint64_t)(p * 0x1p32); /* 2^32 for p = 1: every word is below it */
    for (size_t i = 0; i < count; i++)
        ret_x[i] = random_word(seed, stream, first + i) < threshold;
}

uint64_t random_permutation(uint64_t seed, uint64_t stream, uint64_t n, uint64_t index)
{
    assert(n >= 1 && n <= PERMUTED_MAX && index < n);
    unsigned half_bits = 1;
    while (half_bits < 31 && (n - 1) >> (2 * half_bits) != 0)
        half_bits++;
    uint32_t mask = (uint32_t)((UINT64_C(1) << half_bits) - 1);
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};

    do {
        uint32_t left = (uint32_t)(index >> half_bits), right = (uint32_t)index & mask;
        for (uint32_t round = 0; round < FEISTEL_ROUNDS; round++) {
            uint32_t counter[4] = {right, round, (uint32_t)stream, (uint32_t)(stream >> 32)};
            uint32_t next = left ^ (random_philox(counter, key).word[0] & mask);
            left = right;
            right = next;
        }
        index = (uint64_t)left << half_bits | right;
    } while (index >= n);
    return index;
}

uint64_t random_fork(uint64_t seed, uint64_t label)
{
    uint32_t counter[4] = {(uint32_t)label, (uint32_t)(label >> 32), FORK_WORD,
                           (uint32_t)(RANDOM_STREAM_RESERVED >> 32)};
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    struct random_block block = random_philox(counter, key);
    return block.word[0] | (uint64_t)block.word[1] << 32;
}
