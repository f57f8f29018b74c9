/* Names of the planted defects, and the choice of one in the build that has them. */
#ifndef PAWL_TEST_SIM_DEFECTS_H
#define PAWL_TEST_SIM_DEFECTS_H

#include <stdbool.h>

/* NULL past the end. */
const char *defect_name(unsigned index);

/* Turns exactly this one on; "none" turns off. False: no such defect, or the objects of this
 * program were compiled without them. */
bool defect_choose(const char *name);

#endif
