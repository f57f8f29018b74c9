/* Tests of when CMD must be ended: src/cli/loss.c. */
#include <criterion/criterion.h>

#include "cli/loss.h"

static const struct pawl__loss_rule rule = {.grace_ms = 5000, .margin_ms = 3000};

static struct pawl__loss_step ask(pawl_hold_state_value state, int64_t remaining_ms,
                                  enum pawl__loss_stage done)
{
    return pawl__loss_step(state, remaining_ms, done, &rule);
}

/* As long as renewals are confirmed nothing is done, however near the deadline looks. */
Test(loss, LeavesHealthyHoldAlone)
{
    struct pawl__loss_step step = ask(PAWL_HOLD_HELD, 1, PAWL__LOSS_NONE);
    cr_assert_eq(step.stage, PAWL__LOSS_NONE);
    cr_assert_eq(step.look_again_ms, -1);
}

/* An overdue renewal with time left only sets a time to look again: grace and margin before the
 * end. */
Test(loss, WaitsWhileDeadlineIsFar)
{
    struct pawl__loss_step step = ask(PAWL_HOLD_SUSPECT, 20000, PAWL__LOSS_NONE);
    cr_assert_eq(step.stage, PAWL__LOSS_NONE);
    cr_assert_eq(step.look_again_ms, 20000 - 5000 - 3000);
}

/* TERM comes exactly grace + margin before the deadline, and KILL is awaited. */
Test(loss, TermsGraceAndMarginBeforeDeadline)
{
    struct pawl__loss_step step = ask(PAWL_HOLD_SUSPECT, 8000, PAWL__LOSS_NONE);
    cr_assert_eq(step.stage, PAWL__LOSS_TERM);
    cr_assert_eq(step.look_again_ms, 5000);
}

/* When grace no longer fits, CMD gets what is left of it. */
Test(loss, ShortensGraceToWhatIsLeft)
{
    struct pawl__loss_step step = ask(PAWL_HOLD_SUSPECT, 3500, PAWL__LOSS_NONE);
    cr_assert_eq(step.stage, PAWL__LOSS_TERM);
    cr_assert_eq(step.look_again_ms, 500);
}

/* KILL comes a margin before the deadline, also when TERM was never sent. */
Test(loss, KillsMarginBeforeDeadline)
{
    cr_assert_eq(ask(PAWL_HOLD_SUSPECT, 3000, PAWL__LOSS_TERM).stage, PAWL__LOSS_KILL);
    cr_assert_eq(ask(PAWL_HOLD_SUSPECT, 3000, PAWL__LOSS_NONE).stage, PAWL__LOSS_KILL);
}

/* LOST is KILL at once, whatever was done before. */
Test(loss, KillsWhenLost)
{
    cr_assert_eq(ask(PAWL_HOLD_LOST, 0, PAWL__LOSS_NONE).stage, PAWL__LOSS_KILL);
    cr_assert_eq(ask(PAWL_HOLD_LOST, 0, PAWL__LOSS_TERM).stage, PAWL__LOSS_KILL);
}

/* A hold that is renewed before TERM spares CMD; after TERM the end is still enforced. */
Test(loss, HealingSparesOnlyBeforeTerm)
{
    cr_assert_eq(ask(PAWL_HOLD_HELD, 27000, PAWL__LOSS_NONE).stage, PAWL__LOSS_NONE);
    struct pawl__loss_step step = ask(PAWL_HOLD_HELD, 27000, PAWL__LOSS_TERM);
    cr_assert_eq(step.stage, PAWL__LOSS_TERM);
    cr_assert_eq(step.look_again_ms, 24000);
}

/* A session without ttl has no deadline and never ends CMD. */
Test(loss, NeverEndsWithoutTtl)
{
    struct pawl__loss_step step = ask(PAWL_HOLD_SUSPECT, INT64_MAX, PAWL__LOSS_NONE);
    cr_assert_eq(step.stage, PAWL__LOSS_NONE);
    cr_assert_eq(step.look_again_ms, -1);
}

/* After KILL nothing more is asked for. */
Test(loss, StopsAfterKill)
{
    struct pawl__loss_step step = ask(PAWL_HOLD_SUSPECT, 100, PAWL__LOSS_KILL);
    cr_assert_eq(step.stage, PAWL__LOSS_KILL);
    cr_assert_eq(step.look_again_ms, -1);
}
