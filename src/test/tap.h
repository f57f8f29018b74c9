/* TAP output for test programs with a plain main(), which is what ThreadSanitizer can run. */
#ifndef PAWL_TEST_TAP_H
#define PAWL_TEST_TAP_H

#include <stdbool.h>

/* Reports one case: "ok" or "not ok" and its name. Returns `passed`. Any thread. */
bool tap_case(bool passed, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reports a case that was not run. A reason that begins with "missing" fails under CI=true. */
void tap_skip(const char *reason, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints a line of explanation below the last case. */
void tap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reports `condition` as a case under its own text and place. */
#define TAP_CHECK(condition) tap_case((condition), "%s:%d %s", __func__, __LINE__, #condition)

/* Prints the plan; returns what main() returns. Called once, last. */
int tap_done(void);

#endif
