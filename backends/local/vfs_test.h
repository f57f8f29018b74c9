/* Test builds only: an SQLite VFS that knows what has not been synced yet, and can lose it. */
#ifndef PAWL_BACKENDS_LOCAL_VFS_TEST_H
#define PAWL_BACKENDS_LOCAL_VFS_TEST_H

#include <stdbool.h>
#include <stdint.h>

#ifdef PAWL_FAULT_POINTS

/* Stores that are opened from now on use it. Once in a process, before the first open. */
bool pawl__vfs_test_install(void);

/* Puts every file back to its last sync, as a power loss may. With a `seed` other than 0 each write
 * since then is lost or kept by chance: disks do not keep the order. No connection may be open.
 * Removes the shared memory, as a boot does. Returns how many writes were lost. */
unsigned pawl__vfs_test_power_loss(uint64_t seed);

#endif
#endif
