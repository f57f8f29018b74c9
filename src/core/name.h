/* Lock names: what is legal, and the one safe segment a name is stored as (formats.md 1). */
#ifndef PAWL_CORE_NAME_H
#define PAWL_CORE_NAME_H

#include <stddef.h>

#include <pawl/status.h>

struct pawl__buf;

/* 1 to 512 bytes of UTF-8 without U+0000..U+001F and U+007F; else E_DATA and a message that quotes
 * the name and says what cures it. */
pawl_status pawl__name_check(const char *name, size_t len, pawl_error *err);

/* Appends the stored spelling: every byte outside [A-Za-z0-9_-] as %XX, upper case. E_DATA: not a
 * legal name; E_NOMEM. Nothing is appended on failure. */
pawl_status pawl__name_encode(const char *name, size_t len, struct pawl__buf *buf);

/* Appends the name of a stored spelling. Every name has exactly one: E_DATA for any other
 * (lower-case hex, an escape that was not needed, a raw byte that needs one) and for names that are
 * not legal. E_NOMEM. Nothing is appended on failure. */
pawl_status pawl__name_decode(const char *text, size_t len, struct pawl__buf *buf);

#endif
