/* States of a hold. LOST and RELEASED are final: a hold is never healed, its lock is asked for
 * anew. */
#include "core/hold.h"

const struct pawl__sm_state pawl__hold_states[] = {
    [PAWL__HOLD_NONE] = {.name = "NONE", .allowed = PAWL_SM_TO(PAWL_HOLD_HELD)},
    [PAWL_HOLD_HELD] = {.name = "HELD",
                        .allowed = PAWL_SM_TO(PAWL_HOLD_SUSPECT) | PAWL_SM_TO(PAWL_HOLD_RELEASING) |
                                   PAWL_SM_TO(PAWL_HOLD_LOST)},
    [PAWL_HOLD_SUSPECT] = {.name = "SUSPECT",
                           .allowed = PAWL_SM_TO(PAWL_HOLD_HELD) | PAWL_SM_TO(PAWL_HOLD_RELEASING) |
                                      PAWL_SM_TO(PAWL_HOLD_LOST)},
    [PAWL_HOLD_RELEASING] = {.name = "RELEASING",
                             .allowed =
                                 PAWL_SM_TO(PAWL_HOLD_RELEASED) | PAWL_SM_TO(PAWL_HOLD_LOST)},
    [PAWL_HOLD_RELEASED] = {.name = "RELEASED", .final_ = true},
    [PAWL_HOLD_LOST] = {.name = "LOST", .final_ = true},
};
