/* Deadline arithmetic of a session: until when what it holds is held. Pure. */
#ifndef PAWL_CORE_LEASE_H
#define PAWL_CORE_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

/* All times in CLOCK_BOOTTIME milliseconds, counted from the *sending* of the write that proves the
 * session alive: the store counts from its arrival, which is later (design.md 6, rule 1). */
struct pawl__lease {
    int64_t ttl_ms;    /* granted by the store; 0 = none: never ends by time */
    int64_t margin_ms; /* taken off, for clock rate differences and the time to react */
    int64_t renew_ms;  /* interval of renewals */
    struct pawl__boot evidence;
    struct pawl__boot deadline;   /* evidence + ttl - margin */
    struct pawl__boot suspect_at; /* from here on a renewal is overdue */
};

/* Starts at `evidence`. The store may grant less than was asked for: margin and interval are cut to
 * fit what it granted. */
void pawl__lease_start(struct pawl__lease *lease, int64_t granted_ttl_ms, int64_t margin_ms,
                       int64_t renew_ms, struct pawl__boot evidence);

/* Newer evidence moves the deadline; older evidence, or none, changes nothing. True if it moved. */
bool pawl__lease_extend(struct pawl__lease *lease, struct pawl__boot evidence);

/* False at the deadline and after it. */
bool pawl__lease_is_live(const struct pawl__lease *lease, struct pawl__boot now);

/* A renewal is overdue, the deadline not reached. */
bool pawl__lease_is_suspect(const struct pawl__lease *lease, struct pawl__boot now);

#endif
