/* When CMD must be ended because its lock is about to be lost: a pure function of what the hold
 * says about itself. */
#ifndef PAWL_CLI_LOSS_H
#define PAWL_CLI_LOSS_H

#include <pawl/lock.h>
#include <stdint.h>

/* What has been done to CMD so far; only ever goes up. */
enum pawl__loss_stage {
    PAWL__LOSS_NONE,
    PAWL__LOSS_TERM, /* asked to end */
    PAWL__LOSS_KILL  /* ended */
};

struct pawl__loss_rule {
    int64_t grace_ms;  /* TERM to KILL */
    int64_t margin_ms; /* KILL to the deadline */
};

struct pawl__loss_step {
    enum pawl__loss_stage stage; /* what must be done by now */
    int64_t look_again_ms;       /* when to ask again; -1 = only when the hold changes */
};

/* The deadline already lies `margin` before the moment at which the store may give the lock away; a
 * second margin is left between KILL and the deadline, since a process does not die at once. TERM
 * comes `grace` before KILL, or at once if that is past. LOST is KILL: whatever CMD still does, it
 * does without the lock. */
struct pawl__loss_step pawl__loss_step(pawl_hold_state_value state, int64_t remaining_ms,
                                       enum pawl__loss_stage done,
                                       const struct pawl__loss_rule *rule);

#endif
