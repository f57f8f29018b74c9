/* Tests of latencies in buckets: src/cli/histogram.c. */
#include <criterion/criterion.h>
#include <string.h>

#include "cli/histogram.h"

static struct pawl__histogram histogram;

static void clear(void)
{
    memset(&histogram, 0, sizeof(histogram));
}

TestSuite(histogram, .init = clear);

/* Nothing counted has no percentile. */
Test(histogram, IsZeroWhenEmpty)
{
    cr_assert_eq(pawl__histogram_at(&histogram, 500), 0);
}

/* Small values are exact. */
Test(histogram, IsExactBelow32)
{
    for (int64_t us = 0; us < 32; us++) {
        clear();
        pawl__histogram_add(&histogram, us);
        cr_assert_eq(pawl__histogram_at(&histogram, 1000), us);
    }
}

/* Any value comes back at most 1/16 too high and never too low. */
Test(histogram, IsAtMostASixteenthTooHigh)
{
    for (int64_t us = 32; us < (1LL << 39); us += us / 7 + 1) {
        clear();
        pawl__histogram_add(&histogram, us);
        int64_t shown = pawl__histogram_at(&histogram, 500);
        cr_assert(shown >= us && shown <= us + us / 16 + 1, "%lld", (long long)us);
    }
}

/* Values out of range are counted at the ends, not beyond the table. */
Test(histogram, BoundsItsInput)
{
    pawl__histogram_add(&histogram, -5);
    pawl__histogram_add(&histogram, INT64_MAX);
    cr_assert_eq(histogram.count, 2);
    cr_assert_eq(pawl__histogram_at(&histogram, 500), 0);
    cr_assert(pawl__histogram_at(&histogram, 1000) > 1LL << 39);
}

/* Percentiles count values, after a merge those of both. */
Test(histogram, CountsPercentilesOverMerged)
{
    static struct pawl__histogram other;
    memset(&other, 0, sizeof(other));
    for (int i = 0; i < 98; i++) {
        pawl__histogram_add(&histogram, 10);
    }
    pawl__histogram_add(&other, 20);
    pawl__histogram_add(&other, 30);
    pawl__histogram_merge(&histogram, &other);
    cr_assert_eq(histogram.count, 100);
    cr_assert_eq(pawl__histogram_at(&histogram, 500), 10);
    cr_assert_eq(pawl__histogram_at(&histogram, 980), 10);
    cr_assert_eq(pawl__histogram_at(&histogram, 990), 20);
    cr_assert_eq(pawl__histogram_at(&histogram, 1000), 30);
}
