/* Latencies in buckets: see histogram.h. */
#include "cli/histogram.h"

#include <stddef.h>

#include "base/assert.h"

#define EXACT_MAX 32 /* below this a bucket holds one value */
#define SUB_BITS  4  /* 16 buckets for each doubling above */
#define EXP_MIN   5
#define VALUE_MAX ((1LL << 40) - 1)

_Static_assert(EXACT_MAX == 1 << EXP_MIN, "the buckets join");
_Static_assert(PAWL__HISTOGRAM_BUCKETS == EXACT_MAX + ((40 - EXP_MIN) << SUB_BITS),
               "the largest value has a bucket");

static size_t find_bucket(int64_t us)
{
    if (us < 0) {
        us = 0;
    }
    if (us > VALUE_MAX) {
        us = VALUE_MAX;
    }
    if (us < EXACT_MAX) {
        return (size_t)us;
    }
    unsigned exp = 63U - (unsigned)__builtin_clzll((unsigned long long)us);
    size_t sub = (size_t)(us >> (exp - SUB_BITS)) & ((1U << SUB_BITS) - 1U);
    return EXACT_MAX + ((size_t)(exp - EXP_MIN) << SUB_BITS) + sub;
}

/* The largest value of a bucket. */
static int64_t find_top(size_t bucket)
{
    if (bucket < EXACT_MAX) {
        return (int64_t)bucket;
    }
    unsigned exp = EXP_MIN + (unsigned)((bucket - EXACT_MAX) >> SUB_BITS);
    int64_t sub = (int64_t)((bucket - EXACT_MAX) & ((1U << SUB_BITS) - 1U));
    return (((1LL << SUB_BITS) + sub + 1) << (exp - SUB_BITS)) - 1;
}

void pawl__histogram_add(struct pawl__histogram *histogram, int64_t us)
{
    size_t bucket = find_bucket(us);
    PAWL_INVARIANT(bucket < PAWL__HISTOGRAM_BUCKETS);
    histogram->buckets[bucket]++;
    histogram->count++;
}

void pawl__histogram_merge(struct pawl__histogram *histogram, const struct pawl__histogram *other)
{
    for (size_t i = 0; i < PAWL__HISTOGRAM_BUCKETS; i++) {
        histogram->buckets[i] += other->buckets[i];
    }
    histogram->count += other->count;
}

int64_t pawl__histogram_at(const struct pawl__histogram *histogram, unsigned per_mille)
{
    PAWL_INVARIANT(per_mille <= 1000);
    uint64_t wanted = (histogram->count * per_mille + 999) / 1000;
    uint64_t seen = 0;
    for (size_t i = 0; i < PAWL__HISTOGRAM_BUCKETS; i++) {
        seen += histogram->buckets[i];
        if (seen > 0 && seen >= wanted) {
            return find_top(i);
        }
    }
    return 0;
}
