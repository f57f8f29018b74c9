/* States of a hold: the table of allowed moves. The drawing is in include/pawl/lock.h. */
#ifndef PAWL_CORE_HOLD_H
#define PAWL_CORE_HOLD_H

#include "base/sm.h"
#include <pawl/lock.h>

/* State 0: not granted (yet). The others are the numbers of pawl_hold_state_value. */
#define PAWL__HOLD_NONE 0

extern const struct pawl__sm_state pawl__hold_states[];

#endif
