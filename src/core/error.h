/* How the inside fills a caller's pawl_error. Messages live in the object itself, so that telling
 * of a failure never fails for lack of memory. */
#ifndef PAWL_CORE_ERROR_H
#define PAWL_CORE_ERROR_H

#include <stddef.h>

#include <pawl/status.h>

/* Longest message with its NUL; what is longer is cut at a character and ends in "...". */
#define PAWL__ERROR_MESSAGE_MAX 1024

/* Longest output of pawl__error_quote with its NUL. */
#define PAWL__QUOTE_MAX 128

/* Overwrites `err` (may be NULL) and returns `status`, which must be a failure. `backend_code` is
 * the number of the library below, 0 if none; the message names which library. The message names
 * the wrong value and its cure, is no sentence with a full stop, and never holds a secret. */
pawl_status pawl__error_set(pawl_error *err, pawl_status status, int backend_code,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Puts context and ": " before the message; status, code and the first cause stay. NULL or empty:
 * nothing happens. When both do not fit, the cause is what is cut last. */
void pawl__error_prefix(pawl_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes `dst` (may be NULL) equal to `src` (NULL = empty). */
void pawl__error_copy(pawl_error *dst, const pawl_error *src);

/* Bytes of a user or of a store for a message: in single quotes, control characters and bytes that
 * are no UTF-8 as \xHH, shortened in the middle with "..." when they are long. Returns `out`. */
const char *pawl__error_quote(char out[PAWL__QUOTE_MAX], const char *text, size_t len);

#endif
