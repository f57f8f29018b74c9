/* Time. Leases and deadlines use struct pawl__boot alone: CLOCK_BOOTTIME counts suspend, and its
 * own type keeps wall time (an int64_t, for people only) from slipping in. */
#ifndef PAWL_BASE_CLOCK_H
#define PAWL_BASE_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Milliseconds of CLOCK_BOOTTIME: comparable on one machine within one boot. */
struct pawl__boot {
    int64_t ms;
};

/* Later than every time. Stays what it is under pawl__boot_add. */
#define PAWL__BOOT_NEVER ((struct pawl__boot){INT64_MAX})

/* "Not set": before every time. */
#define PAWL__BOOT_NONE ((struct pawl__boot){0})

/* For pawl__cond_wait_ms. */
#define PAWL__WAIT_FOREVER INT64_MAX

struct pawl__boot pawl__boot_now(void);

/* Saturates at both ends; NEVER stays NEVER. `ms` may be negative. */
struct pawl__boot pawl__boot_add(struct pawl__boot boot, int64_t ms);

/* a - b in milliseconds, saturating: positive when a is later. */
int64_t pawl__boot_diff(struct pawl__boot a, struct pawl__boot b);

/* a < b. */
bool pawl__boot_before(struct pawl__boot a, struct pawl__boot b);

/* The earlier of the two. */
struct pawl__boot pawl__boot_min(struct pawl__boot a, struct pawl__boot b);

bool pawl__boot_is_never(struct pawl__boot boot);
bool pawl__boot_is_none(struct pawl__boot boot);

/* CLOCK_REALTIME in milliseconds, for people only (logs, audit, "since"). It jumps. */
int64_t pawl__wall_ms(void);

/* Condition variables refuse CLOCK_BOOTTIME, so they wait on CLOCK_MONOTONIC, which stands still in
 * suspend: after each wake-up compare your deadline with pawl__boot_now(). */
void pawl__cond_init_monotonic(pthread_cond_t *cond);

/* `mutex` held on entry and on return. false = the time is over; true = woken, perhaps for no
 * reason: loop on your predicate with what is left. Zero or less is over at once (the mutex is
 * still let go for a moment); PAWL__WAIT_FOREVER has no end. */
bool pawl__cond_wait_ms(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t timeout_ms);

#endif
