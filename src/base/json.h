/* JSON in: strict parsing over jansson with checked getters. JSON out: a writer of one line that
 * keeps the order of calls and never re-serialises what was read. */
#ifndef PAWL_BASE_JSON_H
#define PAWL_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* `text` of `len` bytes must be one object, at most `max_len` bytes, valid UTF-8, without duplicate
 * keys, without \u0000. NULL for anything else and when there is no memory; json_decref the result.
 * Memory is jansson's: its allocator is the process's and a library must not set it. */
json_t *pawl__json_parse(const char *text, size_t len, size_t max_len);

/* Getters: true = the key is there, with that type and in range; else nothing is set, so that a
 * pre-set default stays. They borrow from `obj`, which may be NULL (then false). */
bool pawl__json_has(const json_t *obj, const char *key);
bool pawl__json_str(const json_t *obj, const char *key, const char **ret_text);
bool pawl__json_int(const json_t *obj, const char *key, int64_t *ret_value);
bool pawl__json_bool(const json_t *obj, const char *key, bool *ret_value);

/* A decimal string, as formats.md writes every number that may pass 2^53. */
bool pawl__json_u64str(const json_t *obj, const char *key, uint64_t *ret_value);

bool pawl__json_object(const json_t *obj, const char *key, const json_t **ret_object);
bool pawl__json_array(const json_t *obj, const char *key, const json_t **ret_array);

/* Deeper output is a bug of the caller. */
#define PAWL__JSONW_DEPTH_MAX 32

/* Appends to a buffer; commas and escapes come by themselves. Misuse (a value without its key, an
 * end that does not match) breaks an invariant. Failure is the buffer's: ask pawl__buf_ok. */
struct pawl__jsonw {
    struct pawl__buf *buf; /* borrowed */
    unsigned depth;
    uint32_t is_object; /* bit d: level d is an object */
    uint32_t has_items; /* bit d: level d needs a comma before its next item */
    bool after_key;
    bool done; /* the one value at the top is written */
};

void pawl__jsonw_init(struct pawl__jsonw *writer, struct pawl__buf *buf);

/* Everything that was begun has ended. */
bool pawl__jsonw_is_done(const struct pawl__jsonw *writer);

void pawl__jsonw_begin_object(struct pawl__jsonw *writer);
void pawl__jsonw_end_object(struct pawl__jsonw *writer);
void pawl__jsonw_begin_array(struct pawl__jsonw *writer);
void pawl__jsonw_end_array(struct pawl__jsonw *writer);
void pawl__jsonw_key(struct pawl__jsonw *writer, const char *key);

/* NULL gives null. Bytes that are no valid UTF-8 become U+FFFD, one each. */
void pawl__jsonw_str(struct pawl__jsonw *writer, const char *text);
void pawl__jsonw_strn(struct pawl__jsonw *writer, const char *text, size_t len);
void pawl__jsonw_int(struct pawl__jsonw *writer, int64_t value);

/* As a decimal string. */
void pawl__jsonw_u64str(struct pawl__jsonw *writer, uint64_t value);
void pawl__jsonw_bool(struct pawl__jsonw *writer, bool value);
void pawl__jsonw_null(struct pawl__jsonw *writer);

#endif
