/* The one entry of a fuzz target, as libFuzzer calls it. A target aborts when a property is broken.
 */
#ifndef PAWL_TEST_FUZZ_FUZZ_H
#define PAWL_TEST_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
