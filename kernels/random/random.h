/*
 * random: numbers that depend on their place alone.
 *
 * A draw is a function of a seed, a stream and the index of an element, computed in any order and
 * by any number of threads with the same bits: Philox4x32-10. Each random node of a program takes
 * one stream of its generator.
 *
 *     key      {seed low, seed high}
 *     counter  {block low, block high, stream low, stream high}
 *     word j of a stream is output j mod 4 of block j / 4
 *
 * Source: J. Salmon, M. Moraes, R. Dror and D. Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3",
 * SC 2011, section 3.3.
 *
 * Threads      no state; every function only computes
 * Memory       the caller's
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Streams whose high word is this are taken by random_fork. */
#define RANDOM_STREAM_RESERVED UINT64_C(0xffffffff00000000)

struct random_block {
    uint32_t word[4];
};

/* Ten rounds on one counter. */
struct random_block random_philox(const uint32_t counter[4], const uint32_t key[2]);

/* Word index of a stream. */
uint32_t random_word(uint64_t seed, uint64_t stream, uint64_t index);

/* Words first to first + count - 1 of a stream. */
void random_words(uint64_t seed, uint64_t stream, uint64_t first, size_t count,
                  uint32_t *ret_words);

/*
 * Elements first to first + count - 1 of a stream: uniform in [0, 1), steps of 2^-24 (f32) or
 * 2^-53 (f64); standard normal by Box and Muller, two neighbours from two words,
 *
 *     u1 = ((x0 >> 8) + 1) 2^-24, u2 = (x1 >> 8) 2^-24
 *     z0 = sqrt(-2 ln u1) cos(2 pi u2), z1 = sqrt(-2 ln u1) sin(2 pi u2)
 *
 * Source: G. Box and M. Muller, "A Note on the Generation of Random Normal Deviates", Annals of
 * Mathematical Statistics 29, 1958. |z| is below 5.77. The logarithm, sine and cosine are our own,
 * in float64, so that the bits are those of no C library.
 */
void random_uniform_f32(uint64_t seed, uint64_t stream, uint64_t first, size_t count, float *ret_x);
void random_uniform_f64(uint64_t seed, uint64_t stream, uint64_t first, size_t count,
                        double *ret_x);
void random_normal_f32(uint64_t seed, uint64_t stream, uint64_t first, size_t count, float *ret_x);

/* An integer below n, for n >= 1: (word * n) >> 32, of bias below n / 2^32. */
uint32_t random_below(uint64_t seed, uint64_t stream, uint64_t index, uint32_t n);

/* Elements are 1 with probability p in [0, 1], else 0: word < floor(p * 2^32). */
void random_bernoulli(uint64_t seed, uint64_t stream, uint64_t first, size_t count, double p,
                      uint8_t *ret_x);

/*
 * Where the permutation number (seed, stream) of 0 .. n - 1 puts index: a Feistel network of six
 * rounds over the even number of bits that holds n - 1, walked until the result is below n. Any
 * position in constant time on average, and no memory.
 *
 * Requires     1 <= n <= 2^62, index < n
 * Source       J. Black and P. Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002
 */
uint64_t random_permutation(uint64_t seed, uint64_t stream, uint64_t n, uint64_t index);

/* A seed of its own for the part of a program that is called label. */
uint64_t random_fork(uint64_t seed, uint64_t label);
