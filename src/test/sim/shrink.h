/* Cuts a failing plan down to what is needed for the same failure. */
#ifndef PAWL_TEST_SIM_SHRINK_H
#define PAWL_TEST_SIM_SHRINK_H

#include "plan.h"

/* `plan` fails with `failure`; on return it is as small as was found within `tries_max` runs and
 * still breaks the same promise ("P3", ...). Returns the number of runs. */
unsigned shrink_plan(struct plan *plan, const char *failure, unsigned tries_max);

#endif
