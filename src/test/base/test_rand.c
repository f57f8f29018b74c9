/* Tests of base/rand. This program's own getrandom stands before libc's, since the kernel gives
 * less than was asked, or is interrupted, too rarely to test. */
#include "base/rand.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static size_t chunk_max = SIZE_MAX; /* bytes that one call gives; 0 = it fails */
static bool is_interrupted_next;

ssize_t stand_in_random(void *data, size_t len, unsigned flags) __asm__("getrandom");

ssize_t stand_in_random(void *data, size_t len, unsigned flags)
{
    if (is_interrupted_next) {
        is_interrupted_next = false;
        errno = EINTR;
        return -1;
    }
    if (chunk_max == 0) {
        errno = ENOSYS;
        return -1;
    }
    return (ssize_t)syscall(SYS_getrandom, data, len < chunk_max ? len : chunk_max, flags);
}

/* The seeding is splitmix64: its published first outputs for seed 0. */
Test(rand, SeedsBySplitmix)
{
    struct pawl__rand rand;

    pawl__rand_init(&rand, 0);
    cr_assert_eq(rand.words[0], UINT64_C(0xe220a8397b1dcdaf));
    cr_assert_eq(rand.words[1], UINT64_C(0x6e789e6aa1b965f4));
    cr_assert_eq(rand.words[2], UINT64_C(0x06c45d188009454f));
    cr_assert_eq(rand.words[3], UINT64_C(0xf88bb8a8724c81ec));
}

/* The generator is xoshiro256**: its known outputs for the state 1, 2, 3, 4. */
Test(rand, IsXoshiro)
{
    struct pawl__rand rand = {.words = {1, 2, 3, 4}};

    cr_assert_eq(pawl__rand_u64(&rand), 11520);
    cr_assert_eq(pawl__rand_u64(&rand), 0);
    cr_assert_eq(pawl__rand_u64(&rand), 1509978240);
    cr_assert_eq(pawl__rand_u64(&rand), UINT64_C(1215971899390074240));
}

/* Seeds that are neighbours give different streams; the same seed gives the same. */
Test(rand, RepeatsBySeed)
{
    struct pawl__rand a;
    struct pawl__rand b;
    struct pawl__rand c;

    pawl__rand_init(&a, 7);
    pawl__rand_init(&b, 7);
    pawl__rand_init(&c, 8);
    for (int i = 0; i < 100; i++) {
        uint64_t word = pawl__rand_u64(&a);
        cr_assert_eq(word, pawl__rand_u64(&b));
        cr_assert_neq(word, pawl__rand_u64(&c));
    }
}

/* Results are below n, all of them occur, and n of 0 or 1 gives 0. */
Test(rand, StaysBelow)
{
    struct pawl__rand rand;
    int seen[7] = {0};

    pawl__rand_init(&rand, 3);
    for (int i = 0; i < 7000; i++) {
        uint64_t value = pawl__rand_below(&rand, 7);
        cr_assert_lt(value, 7);
        seen[value]++;
    }
    for (int i = 0; i < 7; i++) {
        cr_assert(seen[i] > 800 && seen[i] < 1200, "%d occurs %d times", i, seen[i]);
    }
    cr_assert_eq(pawl__rand_below(&rand, 0), 0);
    cr_assert_eq(pawl__rand_below(&rand, 1), 0);
}

/* For n = 3/4 of 2^64 a plain remainder would make the lowest third twice as likely. */
Test(rand, HasNoBias)
{
    struct pawl__rand rand;
    uint64_t quarter = UINT64_C(1) << 62;
    int low = 0;

    pawl__rand_init(&rand, 5);
    for (int i = 0; i < 9000; i++) {
        low += pawl__rand_below(&rand, 3 * quarter) < quarter;
    }
    cr_assert(low > 2700 && low < 3300, "%d of 9000 in the lowest third", low);
}

static size_t count_zeros(const unsigned char *data, size_t len)
{
    size_t zeros = 0;

    for (size_t i = 0; i < len; i++) {
        zeros += data[i] == 0;
    }
    return zeros;
}

/* The kernel's bytes fill the whole block, in pieces and over an interruption too. */
Test(rand, FillsWithRandomBytes)
{
    unsigned char a[1000] = {0};
    unsigned char b[1000] = {0};

    cr_assert(pawl__random_bytes(a, sizeof(a)));
    chunk_max = 7;
    is_interrupted_next = true;
    cr_assert(pawl__random_bytes(b, sizeof(b)));
    cr_assert_lt(count_zeros(a, sizeof(a)), 50);
    cr_assert_lt(count_zeros(b, sizeof(b)), 50);
    cr_assert(memcmp(a, b, sizeof(a)) != 0);
    cr_assert(pawl__random_bytes(a, 0));
}

/* No bytes from the kernel is an error, never a block of zeros. */
Test(rand, TellsWhenTheKernelGivesNone)
{
    unsigned char id[16];

    chunk_max = 0;
    cr_assert_not(pawl__random_bytes(id, sizeof(id)));
}
