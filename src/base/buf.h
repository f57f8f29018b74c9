/* Growable byte string, always followed by a NUL. Failure to grow is sticky: append freely, ask
 * pawl__buf_ok once. */
#ifndef PAWL_BASE_BUF_H
#define PAWL_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct pawl__buf {
    char *data; /* owned; NULL until something was appended: print by pawl__buf_str */
    size_t len; /* without the NUL */
    size_t cap; /* with the NUL */
    bool failed;
};

/* Allocates nothing. A zeroed struct is an initialised buffer as well. */
void pawl__buf_init(struct pawl__buf *buf);

/* Reusable after. NULL is fine. */
void pawl__buf_release(struct pawl__buf *buf);

/* Empties the buffer, forgets a failure, keeps the memory. */
void pawl__buf_clear(struct pawl__buf *buf);

/* false = some append since the last _init or _clear found no memory; `data` is then a prefix. */
bool pawl__buf_ok(const struct pawl__buf *buf);

/* The contents, "" when empty. Borrowed until the next change. */
const char *pawl__buf_str(const struct pawl__buf *buf);

/* `data` must not lie inside the buffer. */
void pawl__buf_append(struct pawl__buf *buf, const void *data, size_t len);
void pawl__buf_append_str(struct pawl__buf *buf, const char *text);
void pawl__buf_append_char(struct pawl__buf *buf, char c);
void pawl__buf_appendf(struct pawl__buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void pawl__buf_appendfv(struct pawl__buf *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Makes room for `more` bytes and the NUL; false (and sticky) when there is none. */
bool pawl__buf_reserve(struct pawl__buf *buf, size_t more);

/* Drops the first `len` bytes (at most all of them): for readers of streams. */
void pawl__buf_consume(struct pawl__buf *buf, size_t len);

/* Hands the string over (pawl__free it) and leaves an empty buffer. NULL when an append had failed
 * or there is no memory; the buffer is empty then too. `ret_len` may be NULL. */
char *pawl__buf_detach(struct pawl__buf *buf, size_t *ret_len);

#endif
