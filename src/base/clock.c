/* See clock.h. The only place that reads a clock. */
#include "base/clock.h"

#include <errno.h>
#include <time.h>

#include "base/assert.h"

#define MS_PER_S  1000
#define NS_PER_MS 1000000L
#define NS_PER_S  1000000000L

static int64_t read_clock_ms(clockid_t clock)
{
    struct timespec ts;

    int rc = clock_gettime(clock, &ts);
    PAWL_INVARIANT(rc == 0); /* Fails only for a clock that the kernel lacks. */
    return (int64_t)ts.tv_sec * MS_PER_S + ts.tv_nsec / NS_PER_MS;
}

static int64_t add_saturating(int64_t a, int64_t b)
{
    int64_t sum = 0;

    if (__builtin_add_overflow(a, b, &sum)) {
        return b > 0 ? INT64_MAX : INT64_MIN;
    }
    return sum;
}

struct pawl__boot pawl__boot_now(void)
{
    return (struct pawl__boot){read_clock_ms(CLOCK_BOOTTIME)};
}

struct pawl__boot pawl__boot_add(struct pawl__boot boot, int64_t ms)
{
    if (pawl__boot_is_never(boot)) {
        return boot;
    }
    return (struct pawl__boot){add_saturating(boot.ms, ms)};
}

int64_t pawl__boot_diff(struct pawl__boot a, struct pawl__boot b)
{
    int64_t diff = 0;

    if (__builtin_sub_overflow(a.ms, b.ms, &diff)) {
        return a.ms > b.ms ? INT64_MAX : INT64_MIN;
    }
    return diff;
}

bool pawl__boot_before(struct pawl__boot a, struct pawl__boot b)
{
    return a.ms < b.ms;
}

struct pawl__boot pawl__boot_min(struct pawl__boot a, struct pawl__boot b)
{
    return pawl__boot_before(b, a) ? b : a;
}

bool pawl__boot_is_never(struct pawl__boot boot)
{
    return boot.ms == INT64_MAX;
}

bool pawl__boot_is_none(struct pawl__boot boot)
{
    return boot.ms == 0;
}

int64_t pawl__wall_ms(void)
{
    return read_clock_ms(CLOCK_REALTIME);
}

void pawl__cond_init_monotonic(pthread_cond_t *cond)
{
    pthread_condattr_t attr;

    int rc = pthread_condattr_init(&attr);
    PAWL_INVARIANT(rc == 0);
    rc = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    PAWL_INVARIANT(rc == 0);
    rc = pthread_cond_init(cond, &attr);
    PAWL_INVARIANT(rc == 0); /* glibc allocates nothing here: it cannot run out of memory. */
    (void)pthread_condattr_destroy(&attr); /* Does nothing in glibc. */
}

bool pawl__cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t timeout_ms)
{
    struct timespec until;

    if (timeout_ms == PAWL__WAIT_FOREVER) {
        int rc = pthread_cond_wait(cond, mutex);
        PAWL_INVARIANT(rc == 0);
        return true;
    }
    int rc = clock_gettime(CLOCK_MONOTONIC, &until);
    PAWL_INVARIANT(rc == 0);
    if (timeout_ms > 0) {
        until.tv_sec += (time_t)(timeout_ms / MS_PER_S);
        until.tv_nsec += (long)(timeout_ms % MS_PER_S) * NS_PER_MS;
    }
    if (until.tv_nsec >= NS_PER_S) {
        until.tv_sec++;
        until.tv_nsec -= NS_PER_S;
    }
    rc = pthread_cond_timedwait(cond, mutex, &until);
    PAWL_INVARIANT(rc == 0 || rc == ETIMEDOUT);
    return rc == 0;
}
