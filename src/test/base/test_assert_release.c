/* Tests of base/assert.h under NDEBUG, which a release build sets. */
#ifndef NDEBUG
#define NDEBUG
#endif
#include "base/assert.h"

#include <criterion/criterion.h>
#include <signal.h>

/* NDEBUG removes the debug assert: its condition is not evaluated. */
Test(invariant_release, DropsDebugAssert)
{
    int count = 0;

    pawl__assert(++count == 7);
    cr_assert_eq(count, 0);
}

/* NDEBUG does not remove the invariant. */
Test(invariant_release, KeepsInvariant, .signal = SIGABRT)
{
    PAWL_INVARIANT(1 + 1 == 3);
}
