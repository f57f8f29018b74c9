/* Latencies in microseconds, in a fixed number of buckets: 1/16 wide, so that a percentile is at
 * most that much too high. No allocation. */
#ifndef PAWL_CLI_HISTOGRAM_H
#define PAWL_CLI_HISTOGRAM_H

#include <stdint.h>

#define PAWL__HISTOGRAM_BUCKETS 592 /* up to 2^40 us, twelve days */

struct pawl__histogram {
    uint64_t buckets[PAWL__HISTOGRAM_BUCKETS]; /* zeroed = empty */
    uint64_t count;
};

void pawl__histogram_add(struct pawl__histogram *histogram, int64_t us);

/* Adds all that `other` counted. */
void pawl__histogram_merge(struct pawl__histogram *histogram, const struct pawl__histogram *other);

/* The value below or at which `per_mille` of all lie; 0 when empty. */
int64_t pawl__histogram_at(const struct pawl__histogram *histogram, unsigned per_mille);

#endif
