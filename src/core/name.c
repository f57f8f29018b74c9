/* See name.h. */
#include "core/name.h"

#include <stdbool.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/error.h"

/* Bytes that stand for themselves. Not isalnum: it depends on the locale. */
static bool is_plain(unsigned char byte)
{
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '-';
}

static bool is_control(unsigned char byte)
{
    return byte < 0x20 || byte == 0x7F;
}

/* Offset of the first byte that begins no legal character; `len` if all are legal. */
static size_t find_illegal(const char *name, size_t len)
{
    size_t at = 0;

    while (at < len) {
        size_t char_len = pawl__utf8_char_len(name + at, len - at);
        if (char_len == 0 || is_control((unsigned char)name[at])) {
            break;
        }
        at += char_len;
    }
    return at;
}

static bool is_legal(const char *name, size_t len)
{
    return len >= 1 && len <= PAWL__NAME_MAX && find_illegal(name, len) == len;
}

pawl_status pawl__name_check(const char *name, size_t len, pawl_error *err)
{
    char quoted[PAWL__QUOTE_MAX];

    if (is_legal(name, len)) {
        return PAWL_OK;
    }
    if (len == 0) {
        return pawl__error_set(err, PAWL_E_DATA, 0,
                               "the lock name is empty; give 1 to %d bytes of UTF-8",
                               PAWL__NAME_MAX);
    }
    (void)pawl__error_quote(quoted, name, len);
    if (len > PAWL__NAME_MAX) {
        return pawl__error_set(err, PAWL_E_DATA, 0,
                               "the lock name %s has %zu bytes; %d are the most: shorten it or use "
                               "a hash of it",
                               quoted, len, PAWL__NAME_MAX);
    }
    size_t at = find_illegal(name, len);
    unsigned char byte = (unsigned char)name[at];
    if (is_control(byte)) {
        return pawl__error_set(err, PAWL_E_DATA, 0,
                               "the lock name %s has the control character \\x%02X at byte %zu; "
                               "leave it out",
                               quoted, byte, at + 1);
    }
    return pawl__error_set(err, PAWL_E_DATA, 0,
                           "the lock name %s is not UTF-8 at byte %zu (\\x%02X); convert it to "
                           "UTF-8",
                           quoted, at + 1, byte);
}

pawl_status pawl__name_encode(const char *name, size_t len, struct pawl__buf *buf)
{
    static const char digits[] = "0123456789ABCDEF";
    char out[PAWL__NAME_ENCODED_MAX];
    size_t used = 0;

    if (!is_legal(name, len)) {
        return PAWL_E_DATA;
    }
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)name[i];
        if (is_plain(byte)) {
            out[used++] = (char)byte;
        } else {
            out[used++] = '%';
            out[used++] = digits[byte >> 4];
            out[used++] = digits[byte & 0xF];
        }
    }
    pawl__assert(used <= sizeof(out));
    pawl__buf_append(buf, out, used);
    return pawl__buf_ok(buf) ? PAWL_OK : PAWL_E_NOMEM;
}

/* -1 for what is no upper-case digit. */
static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads one byte of the name at text[0]; returns the characters used, 0 for another spelling. */
static size_t decode_byte(const char *text, size_t len, char *ret_byte)
{
    if (is_plain((unsigned char)text[0])) {
        *ret_byte = text[0];
        return 1;
    }
    if (text[0] != '%' || len < 3) {
        return 0;
    }
    int high = hex_value(text[1]);
    int low = hex_value(text[2]);
    if (high < 0 || low < 0) {
        return 0;
    }
    unsigned char byte = (unsigned char)(high << 4 | low);
    *ret_byte = (char)byte;
    return is_plain(byte) ? 0 : 3;
}

pawl_status pawl__name_decode(const char *text, size_t len, struct pawl__buf *buf)
{
    char name[PAWL__NAME_MAX];
    size_t used = 0;
    size_t at = 0;

    while (at < len) {
        char byte = 0;
        size_t step = decode_byte(text + at, len - at, &byte);
        if (step == 0 || used == sizeof(name)) {
            return PAWL_E_DATA;
        }
        name[used++] = byte;
        at += step;
    }
    if (!is_legal(name, used)) {
        return PAWL_E_DATA;
    }
    pawl__buf_append(buf, name, used);
    return pawl__buf_ok(buf) ? PAWL_OK : PAWL_E_NOMEM;
}
