/* Two sources of chance: a seeded generator (jitter, simulator: repeatable, not secret) and the
 * kernel's (ids, guids: unique and unguessable). */
#ifndef PAWL_BASE_RAND_H
#define PAWL_BASE_RAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* xoshiro256**, seeded by splitmix64 (Blackman and Vigna). One thread at a time. */
struct pawl__rand {
    uint64_t words[4];
};

/* The same seed gives the same numbers on every machine. */
void pawl__rand_init(struct pawl__rand *rand, uint64_t seed);

uint64_t pawl__rand_u64(struct pawl__rand *rand);

/* Uniform in 0 .. n-1, without bias; 0 when n is 0. */
uint64_t pawl__rand_below(struct pawl__rand *rand, uint64_t n);

/* getrandom; false when the kernel gives none (then `data` is not to be used). */
bool pawl__random_bytes(void *data, size_t len);

#endif
