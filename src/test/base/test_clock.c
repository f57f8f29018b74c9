/* Tests of base/clock. This program's own clock_gettime stands before libc's: it tells which clock
 * was asked, and lets time stand where a test wants it. */
#include "base/clock.h"

#include <criterion/criterion.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static clockid_t asked_clock = -1;
static const struct timespec *pinned_time;

/* By its label, since libc's declaration would fix the names of the parameters. */
int stand_in_clock(clockid_t clock, struct timespec *ts) __asm__("clock_gettime");

int stand_in_clock(clockid_t clock, struct timespec *ts)
{
    asked_clock = clock;
    if (pinned_time != NULL) {
        *ts = *pinned_time;
        return 0;
    }
    return (int)syscall(SYS_clock_gettime, clock, ts);
}

static int64_t read_monotonic_ms(void)
{
    struct timespec ts;

    (void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static struct pawl__boot boot_at(int64_t ms)
{
    return (struct pawl__boot){ms};
}

/* Lease time comes from the clock that counts suspend, wall time from the one of people. */
Test(clock, AsksTheRightClocks)
{
    (void)pawl__boot_now();
    cr_assert_eq(asked_clock, CLOCK_BOOTTIME);
    (void)pawl__wall_ms();
    cr_assert_eq(asked_clock, CLOCK_REALTIME);
}

/* Seconds and nanoseconds become whole milliseconds, rounded down. */
Test(clock, CountsMilliseconds)
{
    const struct timespec time = {.tv_sec = 5000000000, .tv_nsec = 123999999};

    pinned_time = &time;
    struct pawl__boot boot = pawl__boot_now();
    int64_t wall_ms = pawl__wall_ms();
    pinned_time = NULL;
    cr_assert_eq(boot.ms, INT64_C(5000000000123));
    cr_assert_eq(wall_ms, INT64_C(5000000000123));
}

/* Adding stops at both ends, so that a deadline never wraps into the past. */
Test(clock, AddsSaturating)
{
    cr_assert_eq(pawl__boot_add(boot_at(100), 50).ms, 150);
    cr_assert_eq(pawl__boot_add(boot_at(100), -150).ms, -50);
    cr_assert_eq(pawl__boot_add(boot_at(INT64_MAX - 5), 50).ms, INT64_MAX);
    cr_assert_eq(pawl__boot_add(boot_at(5), INT64_MAX).ms, INT64_MAX);
    cr_assert_eq(pawl__boot_add(boot_at(-5), INT64_MIN).ms, INT64_MIN);
}

/* NEVER stays NEVER, whatever is added or taken off: a margin must not make it a time. */
Test(clock, KeepsNever)
{
    cr_assert(pawl__boot_is_never(pawl__boot_add(PAWL__BOOT_NEVER, -1000)));
    cr_assert(pawl__boot_is_never(pawl__boot_add(PAWL__BOOT_NEVER, INT64_MIN)));
    cr_assert(pawl__boot_is_never(pawl__boot_add(PAWL__BOOT_NEVER, 1)));
    cr_assert_not(pawl__boot_is_never(pawl__boot_now()));
    cr_assert(pawl__boot_is_none(PAWL__BOOT_NONE));
    cr_assert_not(pawl__boot_is_none(pawl__boot_now()));
}

/* diff is first minus second, saturating. */
Test(clock, SubtractsSaturating)
{
    cr_assert_eq(pawl__boot_diff(boot_at(150), boot_at(100)), 50);
    cr_assert_eq(pawl__boot_diff(boot_at(100), boot_at(150)), -50);
    cr_assert_eq(pawl__boot_diff(PAWL__BOOT_NEVER, boot_at(-1)), INT64_MAX);
    cr_assert_eq(pawl__boot_diff(boot_at(-2), PAWL__BOOT_NEVER), INT64_MIN);
}

/* before is strict: a deadline that is now has come. */
Test(clock, ComparesStrictly)
{
    cr_assert(pawl__boot_before(boot_at(1), boot_at(2)));
    cr_assert_not(pawl__boot_before(boot_at(2), boot_at(2)));
    cr_assert_not(pawl__boot_before(boot_at(3), boot_at(2)));
    cr_assert(pawl__boot_before(pawl__boot_now(), PAWL__BOOT_NEVER));
    cr_assert_eq(pawl__boot_min(boot_at(3), boot_at(2)).ms, 2);
    cr_assert_eq(pawl__boot_min(boot_at(2), PAWL__BOOT_NEVER).ms, 2);
}

/* Waits until time is over or something wakes it; nothing does, but spurious wake-ups may. */
static int64_t measure_wait(int64_t timeout_ms)
{
    pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond;

    pawl__cond_init_monotonic(&cond);
    int64_t start_ms = read_monotonic_ms();
    (void)pthread_mutex_lock(&mu);
    while (pawl__cond_wait_ms(&cond, &mu, timeout_ms - (read_monotonic_ms() - start_ms))) {
    }
    (void)pthread_mutex_unlock(&mu);
    (void)pthread_cond_destroy(&cond);
    return read_monotonic_ms() - start_ms;
}

/* A timed wait lasts its time: an attribute of another clock would end it at once or never. */
Test(clock, WaitsItsTime, .timeout = 10)
{
    int64_t waited_ms = measure_wait(120);

    cr_assert(waited_ms >= 119 && waited_ms < 5000, "waited %d ms", (int)waited_ms);
    cr_assert_eq(asked_clock, CLOCK_MONOTONIC);
}

/* Nothing left, or less than nothing, is over at once and no wait for ever. */
Test(clock, DoesNotWaitWithoutTime, .timeout = 10)
{
    cr_assert_lt(measure_wait(0), 1000);
    cr_assert_lt(measure_wait(-5000), 1000);
    cr_assert_lt(measure_wait(INT64_MIN / 2), 1000);
}

/* At a full second the nanoseconds carry over; the kernel refuses a billion of them. */
Test(clock, CarriesNanoseconds, .timeout = 10)
{
    const struct timespec times[] = {
        {.tv_sec = 1, .tv_nsec = 999999999},
        {.tv_sec = 1, .tv_nsec = 999000000},
    };
    pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond;

    pawl__cond_init_monotonic(&cond);
    (void)pthread_mutex_lock(&mu);
    for (size_t i = 0; i < 2; i++) {
        pinned_time = &times[i]; /* 1 s after boot: long over, so no wait; EINVAL would abort. */
        bool is_woken = pawl__cond_wait_ms(&cond, &mu, 999) || pawl__cond_wait_ms(&cond, &mu, 1);
        pinned_time = NULL;
        cr_expect_not(is_woken);
    }
    (void)pthread_mutex_unlock(&mu);
    (void)pthread_cond_destroy(&cond);
}
