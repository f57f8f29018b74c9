/* When CMD must be ended: see loss.h. */
#include "cli/loss.h"

#include "base/assert.h"

/* A hold that is healthy again spares CMD, unless it was asked to end already: it may be half way
 * through its own cleaning up. */
struct pawl__loss_step pawl__loss_step(pawl_hold_state_value state, int64_t remaining_ms,
                                       enum pawl__loss_stage done,
                                       const struct pawl__loss_rule *rule)
{
    PAWL_INVARIANT(rule->grace_ms >= 0 && rule->margin_ms >= 0);
    struct pawl__loss_step step = {done, -1};
    if (state == PAWL_HOLD_LOST || state == PAWL_HOLD_RELEASED) {
        step.stage = PAWL__LOSS_KILL;
        return step;
    }
    if (done == PAWL__LOSS_KILL || (done == PAWL__LOSS_NONE && state != PAWL_HOLD_SUSPECT) ||
        remaining_ms == INT64_MAX) {
        return step;
    }
    int64_t kill_in_ms = remaining_ms - rule->margin_ms;
    int64_t term_in_ms = kill_in_ms - rule->grace_ms;
    if (kill_in_ms <= 0) {
        step.stage = PAWL__LOSS_KILL;
    } else if (term_in_ms <= 0 || done == PAWL__LOSS_TERM) {
        step.stage = PAWL__LOSS_TERM;
        step.look_again_ms = kill_in_ms;
    } else {
        step.look_again_ms = term_in_ms;
    }
    return step;
}
