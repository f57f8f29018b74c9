/* See text.h. */
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Longer words are not typing mistakes of ours; it bounds the row of distances on the stack. */
#define WORD_LEN_MAX 64

/* More digits cannot be whole milliseconds of any unit but as zeros; it keeps 64 bits enough. */
#define FRACTION_DIGITS_MAX 9

struct unit {
    const char *name;
    int64_t ms;
};

/* Ascending. */
static const struct unit units[] = {
    {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000},
};

#define UNIT_COUNT (sizeof(units) / sizeof(units[0]))

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool byte_is_within(const char *text, unsigned low, unsigned high)
{
    unsigned byte = (unsigned char)*text;

    return byte >= low && byte <= high;
}

/* The range of the second byte carries all of RFC 3629's exceptions (its section 4). */
static bool second_byte_is_valid(const char *text)
{
    switch ((unsigned char)text[0]) {
    case 0xE0:
        return byte_is_within(text + 1, 0xA0, 0xBF); /* else overlong */
    case 0xED:
        return byte_is_within(text + 1, 0x80, 0x9F); /* else a surrogate */
    case 0xF0:
        return byte_is_within(text + 1, 0x90, 0xBF); /* else overlong */
    case 0xF4:
        return byte_is_within(text + 1, 0x80, 0x8F); /* else above U+10FFFF */
    default:
        return byte_is_within(text + 1, 0x80, 0xBF);
    }
}

size_t pawl__utf8_char_len(const char *text, size_t len)
{
    size_t want = 0;

    if (len == 0) {
        return 0;
    }
    if (byte_is_within(text, 0x00, 0x7F)) {
        return 1;
    }
    if (byte_is_within(text, 0xC2, 0xDF)) { /* C0 and C1 would be overlong. */
        want = 2;
    } else if (byte_is_within(text, 0xE0, 0xEF)) {
        want = 3;
    } else if (byte_is_within(text, 0xF0, 0xF4)) {
        want = 4;
    }
    if (want == 0 || want > len || !second_byte_is_valid(text)) {
        return 0;
    }
    for (size_t i = 2; i < want; i++) {
        if (!byte_is_within(text + i, 0x80, 0xBF)) {
            return 0;
        }
    }
    return want;
}

bool pawl__utf8_is_valid(const char *text, size_t len)
{
    size_t at = 0;

    while (at < len) {
        size_t char_len = pawl__utf8_char_len(text + at, len - at);
        if (char_len == 0) {
            return false;
        }
        at += char_len;
    }
    return true;
}

void pawl__hex_u64(char out[17], uint64_t value)
{
    for (int i = 15; i >= 0; i--) {
        out[i] = "0123456789abcdef"[value & 0xF];
        value >>= 4;
    }
    out[16] = '\0';
}

bool pawl__parse_hex_u64(const char *text, size_t len, uint64_t *ret_value)
{
    uint64_t value = 0;

    if (len == 0 || len > 16) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        if (is_digit(text[i])) {
            value = value << 4 | (uint64_t)(text[i] - '0');
        } else if (text[i] >= 'a' && text[i] <= 'f') {
            value = value << 4 | (uint64_t)(text[i] - 'a' + 10);
        } else {
            return false;
        }
    }
    *ret_value = value;
    return true;
}

/* Reads the digits at *text and moves it behind them. false = none, or too many. */
static bool take_digits(const char **text, uint64_t *ret_value)
{
    uint64_t value = 0;
    const char *at = *text;

    while (is_digit(*at)) {
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value)) {
            return false;
        }
        at++;
    }
    if (at == *text) {
        return false;
    }
    *text = at;
    *ret_value = value;
    return true;
}

bool pawl__parse_u64(const char *text, uint64_t *ret_value)
{
    uint64_t value = 0;

    if (!take_digits(&text, &value) || *text != '\0') {
        return false;
    }
    *ret_value = value;
    return true;
}

static int64_t find_unit_ms(const char *name)
{
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (strcmp(units[i].name, name) == 0) {
            return units[i].ms;
        }
    }
    return 0;
}

/* "25" and unit h: *ret_ms = 0.25 h. false when it is not a whole number of milliseconds. */
static bool fraction_to_ms(const char *digits, size_t digit_count, int64_t unit_ms, int64_t *ret_ms)
{
    int64_t value = 0;
    int64_t scale = 1;

    if (digit_count > FRACTION_DIGITS_MAX) {
        return false;
    }
    for (size_t i = 0; i < digit_count; i++) {
        value = value * 10 + (digits[i] - '0');
        scale *= 10;
    }
    if (value * unit_ms % scale != 0) {
        return false;
    }
    *ret_ms = value * unit_ms / scale;
    return true;
}

bool pawl__parse_duration_ms(const char *text, int64_t *ret_ms)
{
    uint64_t whole = 0;
    int64_t whole_ms = 0;
    int64_t fraction_ms = 0;
    int64_t total_ms = 0;
    const char *fraction = NULL;
    size_t fraction_len = 0;

    if (!take_digits(&text, &whole) || whole > INT64_MAX) {
        return false;
    }
    if (*text == '.') {
        fraction = text + 1;
        fraction_len = strspn(fraction, "0123456789");
        text = fraction + fraction_len;
        if (fraction_len == 0) {
            return false;
        }
    }
    int64_t unit_ms = find_unit_ms(text);
    if (unit_ms == 0 || __builtin_mul_overflow((int64_t)whole, unit_ms, &whole_ms)) {
        return false;
    }
    if (fraction != NULL && !fraction_to_ms(fraction, fraction_len, unit_ms, &fraction_ms)) {
        return false;
    }
    if (__builtin_add_overflow(whole_ms, fraction_ms, &total_ms)) {
        return false;
    }
    *ret_ms = total_ms;
    return true;
}

void pawl__format_duration(char *out, size_t out_size, int64_t ms)
{
    size_t unit = UNIT_COUNT - 1;

    if (ms == 0) {
        unit = 1; /* "0s" reads better than "0d". */
    }
    while (ms % units[unit].ms != 0) {
        unit--;
    }
    (void)snprintf(out, out_size, "%" PRId64 "%s", ms / units[unit].ms, units[unit].name);
}

static size_t min_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance by one row; both lengths are at most WORD_LEN_MAX. */
static size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t row[WORD_LEN_MAX + 1];

    for (size_t j = 0; j <= b_len; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a_len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = min_of(replaced, min_of(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_len];
}

const char *pawl__nearest_word(const char *word, const char *const *words, size_t word_count)
{
    size_t len = strlen(word);
    const char *nearest = NULL;

    if (len == 0 || len > WORD_LEN_MAX) {
        return NULL;
    }
    size_t allowed = len / 3 > 2 ? len / 3 : 2;
    size_t best = min_of(allowed, len - 1) + 1; /* Exclusive. */
    for (size_t i = 0; i < word_count; i++) {
        size_t other_len = strlen(words[i]);
        if (other_len > WORD_LEN_MAX) {
            continue;
        }
        size_t distance = edit_distance(word, len, words[i], other_len);
        if (distance < best) {
            best = distance;
            nearest = words[i];
        }
    }
    return nearest;
}
