/* Table-driven state machine: a table says which moves exist, an invariant runs at every move, and
 * anything else ends the process. No state field changes but by pawl__sm_move. */
#ifndef PAWL_BASE_SM_H
#define PAWL_BASE_SM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"

/* For `allowed`: PAWL_SM_TO(HOLD_LOST) | PAWL_SM_TO(HOLD_RELEASED). */
#define PAWL_SM_TO(state) (UINT32_C(1) << (state))

/* States are numbers from 0 to 31. */
#define PAWL_SM_STATES_MAX 32

/* One row a state, indexed by its number. The table ends where the enum does. */
struct pawl__sm_state {
    const char *name;
    uint32_t allowed; /* set of states that may follow */
    bool final_;      /* nothing follows: `allowed` must be 0 */
};

struct pawl__sm {
    const struct pawl__sm_state *states; /* borrowed, static in practice */
    int state;
    /* May be NULL. Runs after the move, with the state before it (-1 at init); false aborts. Reach
     * the struct around `sm` by PAWL_LIST_ENTRY-like arithmetic: PAWL_SM_OWNER. */
    bool (*invariant)(const struct pawl__sm *sm, int prev);
};

#define PAWL_SM_OWNER(sm, type, member)                                                            \
    ((const type *)(const void *)((const char *)(sm)-offsetof(type, member)))

/* Fill the struct around `sm` first: the invariant runs here too. */
static inline void pawl__sm_init(struct pawl__sm *sm, const struct pawl__sm_state *states,
                                 int first, bool (*invariant)(const struct pawl__sm *sm, int prev))
{
    PAWL_INVARIANT(first >= 0 && first < PAWL_SM_STATES_MAX);
    sm->states = states;
    sm->state = first;
    sm->invariant = invariant;
    PAWL_INVARIANT(invariant == NULL || invariant(sm, -1));
}

static inline int pawl__sm_state(const struct pawl__sm *sm)
{
    return sm->state;
}

static inline const char *pawl__sm_name(const struct pawl__sm *sm)
{
    return sm->states[sm->state].name;
}

static inline bool pawl__sm_is_final(const struct pawl__sm *sm)
{
    return sm->states[sm->state].final_;
}

/* Whether the table lists the move; for callers that must decide, not to skip the check of _move.
 */
static inline bool pawl__sm_can_move(const struct pawl__sm *sm, int next)
{
    const struct pawl__sm_state *now = &sm->states[sm->state];

    return next >= 0 && next < PAWL_SM_STATES_MAX && !now->final_ &&
           (now->allowed & PAWL_SM_TO(next)) != 0;
}

/* Aborts on a move that the table does not list (a state is not its own successor unless listed)
 * and on a broken invariant. Change the fields that the invariant reads first. */
static inline void pawl__sm_move(struct pawl__sm *sm, int next)
{
    int prev = sm->state;

    PAWL_INVARIANT(pawl__sm_can_move(sm, next));
    sm->state = next;
    PAWL_INVARIANT(sm->invariant == NULL || sm->invariant(sm, prev));
}

#endif
