/* Statuses, errors and the version: the public status.h and version.h, and error.h for the inside.
 */
#include <pawl/status.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"
#include "core/error.h"
#include <pawl/version.h>

/* Context of one layer; a name in quotes fits in with room to spare. */
#define PREFIX_MAX 256

#define CUT_MARK "..."

struct pawl_error {
    pawl_status status;
    int backend_code;
    char message[PAWL__ERROR_MESSAGE_MAX];
};

struct status_row {
    pawl_status status;
    pawl_status_class class_;
    const char *name;
    const char *text;
};

static const struct status_row rows[] = {
#define STATUS_ROW(name, value, class_, text) {PAWL_##name, PAWL_CLASS_##class_, #name, text},
    PAWL_STATUS_MAP(STATUS_ROW)
#undef STATUS_ROW
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

/* NULL for a number that is no status. */
static const struct status_row *find_row(pawl_status status)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].status == status) {
            return &rows[i];
        }
    }
    return NULL;
}

const char *pawl_status_name(pawl_status status)
{
    const struct status_row *row = find_row(status);

    return row == NULL ? "?" : row->name;
}

const char *pawl_status_text(pawl_status status)
{
    const struct status_row *row = find_row(status);

    return row == NULL ? "not a status of pawl" : row->text;
}

pawl_status_class pawl_status_classify(pawl_status status)
{
    const struct status_row *row = find_row(status);

    return row == NULL ? PAWL_CLASS_FATAL : row->class_;
}

pawl_error *pawl_error_new(void)
{
    return pawl__alloc(sizeof(pawl_error));
}

void pawl_error_free(pawl_error *err)
{
    pawl__free(err);
}

void pawl_error_clear(pawl_error *err)
{
    if (err == NULL) {
        return;
    }
    err->status = PAWL_OK;
    err->backend_code = 0;
    err->message[0] = '\0';
}

pawl_status pawl_error_status(const pawl_error *err)
{
    return err == NULL ? PAWL_OK : err->status;
}

const char *pawl_error_message(const pawl_error *err)
{
    return err == NULL ? "" : err->message;
}

int pawl_error_backend_code(const pawl_error *err)
{
    return err == NULL ? 0 : err->backend_code;
}

/* Length of the longest prefix of `text` that is at most `max` bytes and splits no character; bytes
 * that are no UTF-8 count one by one. */
static size_t whole_chars(const char *text, size_t max)
{
    size_t at = 0;
    size_t len = strlen(text);

    while (at < len) {
        size_t char_len = pawl__utf8_char_len(text + at, len - at);
        if (char_len == 0) {
            char_len = 1;
        }
        if (at + char_len > max) {
            break;
        }
        at += char_len;
    }
    return at;
}

/* Formats into `out`; what does not fit is cut at a character and marked. */
static void format_cut(char *out, size_t out_size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

static void format_cut(char *out, size_t out_size, const char *format, va_list args)
{
    int len = vsnprintf(out, out_size, format, args);

    if (len < 0) {
        out[0] = '\0';
    } else if ((size_t)len >= out_size) {
        size_t keep = whole_chars(out, out_size - sizeof(CUT_MARK));
        memcpy(out + keep, CUT_MARK, sizeof(CUT_MARK));
    }
}

pawl_status pawl__error_set(pawl_error *err, pawl_status status, int backend_code,
                            const char *format, ...)
{
    /* Apart first: an argument may be the old message of this very object. */
    char message[PAWL__ERROR_MESSAGE_MAX];
    va_list args;

    pawl__assert(find_row(status) != NULL);
    pawl__assert(status != PAWL_OK);
    if (err == NULL) {
        return status;
    }
    va_start(args, format);
    format_cut(message, sizeof(message), format, args);
    va_end(args);
    err->status = status;
    err->backend_code = backend_code;
    memcpy(err->message, message, strlen(message) + 1);
    return status;
}

void pawl__error_prefix(pawl_error *err, const char *format, ...)
{
    char prefix[PREFIX_MAX];
    va_list args;

    if (err == NULL || err->status == PAWL_OK) {
        return;
    }
    size_t cause_len = strlen(err->message);
    size_t room = sizeof(err->message) - 1 - 2; /* ": " */
    if (cause_len > room) {
        return; /* No room for context beside a cause of full length. */
    }
    va_start(args, format);
    format_cut(prefix, sizeof(prefix), format, args);
    va_end(args);
    size_t prefix_len = whole_chars(prefix, room - cause_len);
    memmove(err->message + prefix_len + 2, err->message, cause_len + 1);
    memcpy(err->message, prefix, prefix_len);
    memcpy(err->message + prefix_len, ": ", 2);
}

void pawl__error_copy(pawl_error *dst, const pawl_error *src)
{
    if (dst == NULL || dst == src) {
        return;
    }
    pawl_error_clear(dst);
    if (src != NULL) {
        *dst = *src;
    }
}

/* Appends one character of `text` in readable form to `out`, which has room for 4 bytes more;
 * returns the bytes that were read. */
static size_t quote_char(char *out, size_t *out_len, const char *text, size_t len)
{
    size_t char_len = pawl__utf8_char_len(text, len);
    unsigned byte = (unsigned char)text[0];
    /* C1 controls are two bytes of UTF-8; terminals obey them like escape sequences. */
    bool is_c1 = char_len == 2 && byte == 0xC2 && (unsigned char)text[1] < 0xA0;

    if (char_len == 0 || is_c1 || byte < 0x20 || byte == 0x7F) {
        *out_len += (size_t)snprintf(out + *out_len, 5, "\\x%02X", byte);
        return 1;
    }
    memcpy(out + *out_len, text, char_len);
    *out_len += char_len;
    return char_len;
}

const char *pawl__error_quote(char out[PAWL__QUOTE_MAX], const char *text, size_t len)
{
    const size_t tail_max = 16;
    const size_t head_end = PAWL__QUOTE_MAX - 5 - sizeof(CUT_MARK) - 4 * tail_max;
    size_t at = 0;
    size_t used = 0;

    out[used++] = '\'';
    while (at < len && used < head_end) {
        at += quote_char(out, &used, text + at, len - at);
    }
    if (len - at > tail_max) {
        memcpy(out + used, CUT_MARK, sizeof(CUT_MARK) - 1);
        used += sizeof(CUT_MARK) - 1;
        at = len - tail_max;
        /* Not into the middle of a character. */
        while (at < len && ((unsigned char)text[at] & 0xC0) == 0x80) {
            at++;
        }
    }
    while (at < len) {
        at += quote_char(out, &used, text + at, len - at);
    }
    out[used++] = '\'';
    out[used] = '\0';
    pawl__assert(used < PAWL__QUOTE_MAX);
    return out;
}

const char *pawl_version(void)
{
    return PAWL_VERSION_STRING;
}

int pawl_version_hex(void)
{
    return PAWL_VERSION_HEX;
}
