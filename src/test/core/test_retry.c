/* Backoff: doubling, capped, full jitter. */
#include <criterion/criterion.h>

#include "core/retry.h"

/* The ceiling doubles with each failure and stops at the cap; a reset starts over. */
Test(retry, CeilingDoublesUpToTheCap)
{
    static const int64_t ceilings[] = {200, 400, 800, 1600, 3200, 5000, 5000};
    struct pawl__retry retry = {0};

    for (size_t i = 0; i < sizeof ceilings / sizeof *ceilings; i++) {
        /* One less than the ceiling is the largest remainder. */
        cr_assert_eq(pawl__retry_next_ms(&retry, 200, 5000, (uint64_t)ceilings[i] - 1),
                     ceilings[i]);
    }
    pawl__retry_reset(&retry);
    cr_assert_eq(pawl__retry_next_ms(&retry, 200, 5000, 199), 200);
}

/* Any number of failures stays within the cap, and a wait is never zero. */
Test(retry, NeverZeroNeverAboveCap)
{
    struct pawl__retry retry = {0};

    for (uint64_t i = 0; i < 100000; i++) {
        int64_t wait = pawl__retry_next_ms(&retry, 200, 5000, i * UINT64_C(0x9e3779b97f4a7c15));
        cr_assert(wait >= 1 && wait <= 5000);
    }
}
