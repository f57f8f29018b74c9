/* See rand.h. */
#include "base/rand.h"

#include <errno.h>
#include <sys/random.h>

static uint64_t rotate_left(uint64_t word, unsigned bits)
{
    return (word << bits) | (word >> (64 - bits));
}

static uint64_t next_splitmix(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15U;
    uint64_t word = *state;

    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
    return word ^ (word >> 31);
}

void pawl__rand_init(struct pawl__rand *rand, uint64_t seed)
{
    /* Never all zero, which xoshiro could not leave: splitmix64 has four equal outputs nowhere. */
    for (size_t i = 0; i < 4; i++) {
        rand->words[i] = next_splitmix(&seed);
    }
}

uint64_t pawl__rand_u64(struct pawl__rand *rand)
{
    uint64_t *words = rand->words;
    uint64_t result = rotate_left(words[1] * 5, 7) * 9;
    uint64_t shifted = words[1] << 17;

    words[2] ^= words[0];
    words[3] ^= words[1];
    words[1] ^= words[2];
    words[0] ^= words[3];
    words[2] ^= shifted;
    words[3] = rotate_left(words[3], 45);
    return result;
}

uint64_t pawl__rand_below(struct pawl__rand *rand, uint64_t n)
{
    if (n == 0) {
        return 0;
    }
    /* The first 2^64 mod n values would make small results likelier: draw again. */
    uint64_t skip = (UINT64_MAX - n + 1) % n;
    uint64_t word = 0;
    do {
        word = pawl__rand_u64(rand);
    } while (word < skip);
    return word % n;
}

bool pawl__random_bytes(void *data, size_t len)
{
    char *at = data;

    while (len > 0) {
        ssize_t got = getrandom(at, len, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        at += got;
        len -= (size_t)got;
    }
    return true;
}
