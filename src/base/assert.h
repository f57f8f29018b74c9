/* Assertions. They guard our own logic only: input from outside is validated and refused with a
 * status, never asserted. */
#ifndef PAWL_BASE_ASSERT_H
#define PAWL_BASE_ASSERT_H

/* Writes one line with file, line and condition to stderr and aborts. Async-signal-safe. */
_Noreturn void pawl__invariant_failed(const char *file, int line, const char *condition);

/* Stays on in release builds: a lock library in a wrong state can grant twice, which is worse than
 * a crash. An expression, so that it fits anywhere. */
#define PAWL_INVARIANT(cond) ((cond) ? (void)0 : pawl__invariant_failed(__FILE__, __LINE__, #cond))

/* For conditions that are too dear, or too harmless, for PAWL_INVARIANT. Only NDEBUG removes it,
 * and then `cond` is still compiled but not evaluated: it must have no side effects. */
#ifdef NDEBUG
#define pawl__assert(cond) ((void)sizeof((cond) ? 1 : 0))
#else
#define pawl__assert(cond) PAWL_INVARIANT(cond)
#endif

#endif
