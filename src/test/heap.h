/* An allocator for tests: counts, and makes one allocation fail. Thread-safe once installed. */
#ifndef PAWL_TEST_HEAP_H
#define PAWL_TEST_HEAP_H

#include <stdbool.h>
#include <stddef.h>

/* Replaces the allocator of base/alloc.h and sets all counts to 0. Blocks that are older or that
 * live past _uninstall stay valid (libc's heap is beneath) but would make the counts wrong. */
void pawl__heap_install(void);
void pawl__heap_uninstall(void);

/* The n-th allocation from now (1 = the next; a resize counts) fails, then all succeed. 0 = none.
 */
void pawl__heap_fail_after(size_t n);

/* Whether the failure that was asked for has happened. */
bool pawl__heap_has_failed(void);

/* Blocks alive: 0 after a test that leaks nothing. */
size_t pawl__heap_live(void);

/* Allocations and resizes asked for since _install, failed ones too. */
size_t pawl__heap_count(void);

#endif
