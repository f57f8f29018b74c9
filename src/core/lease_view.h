/* Until when a session's holds are held, as every thread may ask without a lock and without the
 * owner thread (which may be late). One object a session, shared by its holds.
 *
 * Whoever sees the deadline pass ends it for good before answering, so that two answers never
 * contradict: a renewal that is confirmed afterwards cannot bring it back. */
#ifndef PAWL_CORE_LEASE_VIEW_H
#define PAWL_CORE_LEASE_VIEW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

#define PAWL__LEASE_DEAD 0 /* equals PAWL__BOOT_NONE.ms */

struct pawl__lease_view {
    _Atomic int64_t deadline_ms; /* CLOCK_BOOTTIME; INT64_MAX = no ttl; PAWL__LEASE_DEAD is final */
    _Atomic unsigned refs;
    uint64_t session; /* immutable after the first publish */
};

/* One reference; dead until published. NULL when memory is out. */
struct pawl__lease_view *pawl__lease_view_new(void);
void pawl__lease_view_ref(struct pawl__lease_view *view);

/* NULL is allowed. */
void pawl__lease_view_unref(struct pawl__lease_view *view);

/* Owner thread. The first deadline of `session`; nobody else knows the view yet. */
void pawl__lease_view_start(struct pawl__lease_view *view, uint64_t session,
                            struct pawl__boot deadline);

/* Owner thread. A later deadline. False: a reader has ended it, and the core must hear of that. */
bool pawl__lease_view_extend(struct pawl__lease_view *view, struct pawl__boot deadline);

/* Owner thread. */
void pawl__lease_view_end(struct pawl__lease_view *view);

/* Any thread. Milliseconds that are left; 0 = it is over, for good; INT64_MAX = no ttl. NULL is
 * over. */
int64_t pawl__lease_view_left_ms(struct pawl__lease_view *view, struct pawl__boot now);

#endif
