/* Timers of the core: a binary heap of nodes that sit inside what they wake. Pure; reads no clock.
 */
#ifndef PAWL_CORE_TIMER_H
#define PAWL_CORE_TIMER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/clock.h"

/* Zeroed = not registered. */
struct pawl__timer {
    struct pawl__boot at;
    size_t slot; /* 1 + index in the heap; 0 = not registered */
};

struct pawl__timers {
    struct pawl__timer **heap; /* owned; the nodes are borrowed */
    size_t len;
    size_t cap;
};

void pawl__timers_release(struct pawl__timers *timers);

/* Makes room, so that arming never fails afterwards; a node must be registered before it is armed.
 * New nodes are at PAWL__BOOT_NEVER. False: no memory. */
bool pawl__timer_register(struct pawl__timers *timers, struct pawl__timer *timer);

/* Takes a registered node out; harmless for one that is not. */
void pawl__timer_unregister(struct pawl__timers *timers, struct pawl__timer *timer);

/* Sets when it is due; PAWL__BOOT_NEVER = not. */
void pawl__timer_arm(struct pawl__timers *timers, struct pawl__timer *timer, struct pawl__boot at);

/* The first one to come; PAWL__BOOT_NEVER if none is armed. */
struct pawl__boot pawl__timers_next(const struct pawl__timers *timers);

/* A node that is due, disarmed; NULL if none is. */
struct pawl__timer *pawl__timers_pop(struct pawl__timers *timers, struct pawl__boot now);

#endif
