/* The one retry policy: exponential backoff with full jitter (design.md 6, rule 12). Pure. */
#ifndef PAWL_CORE_RETRY_H
#define PAWL_CORE_RETRY_H

#include <stdint.h>

struct pawl__retry {
    unsigned failures; /* in a row; 0 after a success */
};

/* Milliseconds to wait before the next try: a random value of 1 to min(cap, base * 2^failures);
 * counts one more failure. `random` is a fresh random number. */
int64_t pawl__retry_next_ms(struct pawl__retry *retry, int64_t base_ms, int64_t cap_ms,
                            uint64_t random);

/* After a success. */
void pawl__retry_reset(struct pawl__retry *retry);

#endif
