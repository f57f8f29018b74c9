/* Tests of base/sm.h, on a door that may be open, shut, or gone for good. */
#include "base/sm.h"

#include <criterion/criterion.h>
#include <signal.h>

/*  OPEN <-> SHUT -> GONE  */
enum { OPEN, SHUT, GONE };

static const struct pawl__sm_state door_states[] = {
    [OPEN] = {.name = "open", .allowed = PAWL_SM_TO(SHUT)},
    [SHUT] = {.name = "shut", .allowed = PAWL_SM_TO(OPEN) | PAWL_SM_TO(GONE)},
    [GONE] = {.name = "gone", .final_ = true},
};

struct door {
    int people_inside_frame;
    int calls;
    int last_prev;
    struct pawl__sm sm;
};

/* Nobody stands in the frame of a door that is not open. */
static bool door_is_sane(const struct pawl__sm *sm, int prev)
{
    struct door *door = (struct door *)PAWL_SM_OWNER(sm, struct door, sm);

    door->calls++;
    door->last_prev = prev;
    return pawl__sm_state(sm) == OPEN || door->people_inside_frame == 0;
}

/* A machine starts in its first state, and the invariant sees -1 as the state before. */
Test(sm, StartsWithTheInvariant)
{
    struct door door = {0};

    pawl__sm_init(&door.sm, door_states, SHUT, door_is_sane);
    cr_assert_eq(pawl__sm_state(&door.sm), SHUT);
    cr_assert_str_eq(pawl__sm_name(&door.sm), "shut");
    cr_assert_eq(door.calls, 1);
    cr_assert_eq(door.last_prev, -1);
}

/* A listed move changes the state and runs the invariant with the state before it. */
Test(sm, MovesAsListed)
{
    struct door door = {0};

    pawl__sm_init(&door.sm, door_states, OPEN, door_is_sane);
    pawl__sm_move(&door.sm, SHUT);
    cr_assert_eq(door.last_prev, OPEN);
    pawl__sm_move(&door.sm, GONE);
    cr_assert_eq(door.last_prev, SHUT);
    cr_assert_eq(door.calls, 3);
    cr_assert(pawl__sm_is_final(&door.sm));
}

/* can_move answers by the table: no jump, no move to itself, nothing after a final state. */
Test(sm, KnowsWhatItMay)
{
    struct pawl__sm sm;

    pawl__sm_init(&sm, door_states, OPEN, NULL);
    cr_assert(pawl__sm_can_move(&sm, SHUT));
    cr_assert_not(pawl__sm_can_move(&sm, GONE));
    cr_assert_not(pawl__sm_can_move(&sm, OPEN));
    cr_assert_not(pawl__sm_can_move(&sm, -1));
    cr_assert_not(pawl__sm_can_move(&sm, PAWL_SM_STATES_MAX));
    pawl__sm_move(&sm, SHUT);
    pawl__sm_move(&sm, GONE);
    cr_assert_not(pawl__sm_can_move(&sm, SHUT));
}

/* An unlisted move ends the process. */
Test(sm, AbortsOnAnUnlistedMove, .signal = SIGABRT)
{
    struct pawl__sm sm;

    pawl__sm_init(&sm, door_states, OPEN, NULL);
    pawl__sm_move(&sm, GONE);
}

/* A move out of a final state ends the process even if the table were to list it. */
Test(sm, AbortsOnAMoveOutOfAFinalState, .signal = SIGABRT)
{
    static const struct pawl__sm_state states[] = {
        {.name = "end", .allowed = PAWL_SM_TO(0) | PAWL_SM_TO(1), .final_ = true},
        {.name = "more", .allowed = 0},
    };
    struct pawl__sm sm;

    pawl__sm_init(&sm, states, 0, NULL);
    pawl__sm_move(&sm, 1);
}

/* A listed move that breaks the invariant ends the process. */
Test(sm, AbortsOnABrokenInvariant, .signal = SIGABRT)
{
    struct door door = {0};

    pawl__sm_init(&door.sm, door_states, OPEN, door_is_sane);
    door.people_inside_frame = 1;
    pawl__sm_move(&door.sm, SHUT);
}

/* A machine that is wrong from the start does not start. */
Test(sm, AbortsOnABrokenStart, .signal = SIGABRT)
{
    struct door door = {.people_inside_frame = 1};

    pawl__sm_init(&door.sm, door_states, SHUT, door_is_sane);
}
