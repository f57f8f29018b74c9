/* Which boot of the machine this is: deadlines of CLOCK_BOOTTIME mean nothing in another one. */
#ifndef PAWL_BACKENDS_LOCAL_BOOT_H
#define PAWL_BACKENDS_LOCAL_BOOT_H

#include <stdbool.h>

#define PAWL__LOCAL_BOOT_ID_SIZE 37

/* The kernel's random id of this boot. Test builds: $PAWL_TEST_BOOT_ID if set. */
bool pawl__local_boot_id(char out[PAWL__LOCAL_BOOT_ID_SIZE]);

#endif
