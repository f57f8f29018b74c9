/* Exponential backoff with full jitter: all waiters of an outage must not come back in step. */
#include "core/retry.h"

#include "base/assert.h"

/* 2^16 times any base is beyond any cap. */
#define SHIFT_MAX 16u

int64_t pawl__retry_next_ms(struct pawl__retry *retry, int64_t base_ms, int64_t cap_ms,
                            uint64_t random)
{
    PAWL_INVARIANT(base_ms > 0);
    PAWL_INVARIANT(cap_ms >= base_ms);
    unsigned shift = retry->failures < SHIFT_MAX ? retry->failures : SHIFT_MAX;
    int64_t ceiling = base_ms > (cap_ms >> shift) ? cap_ms : base_ms << shift;

    retry->failures++;
    return 1 + (int64_t)(random % (uint64_t)ceiling);
}

void pawl__retry_reset(struct pawl__retry *retry)
{
    retry->failures = 0;
}
