/* Text of people and of wires: UTF-8, hex, numbers, durations, the nearest word. Knows nothing of
 * lock names (core/name) or of percent-encoding. */
#ifndef PAWL_BASE_TEXT_H
#define PAWL_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for the output of pawl__format_duration, whatever the value. */
#define PAWL__DURATION_TEXT_MAX 32

/* Length of the well-formed character at the start of `text` (RFC 3629: no overlong form, no
 * surrogate, nothing above U+10FFFF); 0 when there is none or `len` is 0. */
size_t pawl__utf8_char_len(const char *text, size_t len);

/* Strict. Empty text is valid, and so is U+0000. */
bool pawl__utf8_is_valid(const char *text, size_t len);

/* 16 lower-case digits and a NUL. */
void pawl__hex_u64(char out[17], uint64_t value);

/* 1 to 16 lower-case digits and nothing else: one spelling, so that two texts never mean one id
 * (leading zeros apart). `ret_value` is set on success only, here and below. */
bool pawl__parse_hex_u64(const char *text, size_t len, uint64_t *ret_value);

/* Decimal, the whole string; no sign, no space, no overflow. */
bool pawl__parse_u64(const char *text, uint64_t *ret_value);

/* A number and its unit, "250ms", "1.5s", "10m", "2h", "1d": the unit is required, the number is
 * plain decimal, the result must be a whole number of milliseconds that fits. No sign, no space. */
bool pawl__parse_duration_ms(const char *text, int64_t *ret_ms);

/* The largest unit that needs no fraction, "250ms", "10s", "5m", so that _parse_duration_ms gives
 * the same number back. Negative values are for messages only: "-5s". Truncates like snprintf. */
void pawl__format_duration(char *out, size_t out_size, int64_t ms);

/* The word of `words` that `word` was most likely meant to be: the smallest edit distance, the
 * first of several; NULL when it is above max(2, length / 3) or nothing of `word` would be left.
 * Borrowed from `words`. */
const char *pawl__nearest_word(const char *word, const char *const *words, size_t word_count);

#endif
