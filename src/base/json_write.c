/* The JSON writer of json.h: compact, one line, straight into the buffer. */
#include "base/json.h"

#include <inttypes.h>
#include <string.h>

#include "base/assert.h"
#include "base/text.h"

static uint32_t level_bit(const struct pawl__jsonw *writer)
{
    return UINT32_C(1) << (writer->depth - 1);
}

static bool is_in_object(const struct pawl__jsonw *writer)
{
    return writer->depth > 0 && (writer->is_object & level_bit(writer)) != 0;
}

static void put_comma(struct pawl__jsonw *writer)
{
    if ((writer->has_items & level_bit(writer)) != 0) {
        pawl__buf_append_char(writer->buf, ',');
    }
    writer->has_items |= level_bit(writer);
}

/* Before each value: checks that one may come here, and separates it from its elder sibling. */
static void start_value(struct pawl__jsonw *writer)
{
    PAWL_INVARIANT(!writer->done);
    if (writer->depth == 0) {
        writer->done = true; /* A container at the top sets it back until it ends. */
    } else if (is_in_object(writer)) {
        PAWL_INVARIANT(writer->after_key);
        writer->after_key = false;
    } else {
        put_comma(writer);
    }
}

static void begin_level(struct pawl__jsonw *writer, bool is_object)
{
    start_value(writer);
    writer->done = false;
    PAWL_INVARIANT(writer->depth < PAWL__JSONW_DEPTH_MAX);
    writer->depth++;
    writer->has_items &= ~level_bit(writer);
    if (is_object) {
        writer->is_object |= level_bit(writer);
    } else {
        writer->is_object &= ~level_bit(writer);
    }
    pawl__buf_append_char(writer->buf, is_object ? '{' : '[');
}

static void end_level(struct pawl__jsonw *writer, bool is_object)
{
    PAWL_INVARIANT(writer->depth > 0);
    PAWL_INVARIANT(is_in_object(writer) == is_object);
    PAWL_INVARIANT(!writer->after_key);
    pawl__buf_append_char(writer->buf, is_object ? '}' : ']');
    writer->depth--;
    writer->done = writer->depth == 0;
}

/* NULL when the character stands for itself. */
static const char *short_escape(char c)
{
    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        return NULL;
    }
}

static void put_ascii(struct pawl__buf *buf, char c)
{
    const char *escape = short_escape(c);

    if (escape != NULL) {
        pawl__buf_append_str(buf, escape);
    } else if ((unsigned char)c < 0x20 || c == 0x7F) { /* DEL too: the line may meet a terminal. */
        pawl__buf_appendf(buf, "\\u%04x", (unsigned)(unsigned char)c);
    } else {
        pawl__buf_append_char(buf, c);
    }
}

static void put_quoted(struct pawl__buf *buf, const char *text, size_t len)
{
    size_t at = 0;

    pawl__buf_append_char(buf, '"');
    while (at < len) {
        size_t char_len = pawl__utf8_char_len(text + at, len - at);
        if (char_len == 0) {
            pawl__buf_append_str(buf, "\xEF\xBF\xBD"); /* U+FFFD */
            at++;
        } else if (char_len == 1) {
            put_ascii(buf, text[at]);
            at++;
        } else {
            pawl__buf_append(buf, text + at, char_len);
            at += char_len;
        }
    }
    pawl__buf_append_char(buf, '"');
}

void pawl__jsonw_init(struct pawl__jsonw *writer, struct pawl__buf *buf)
{
    *writer = (struct pawl__jsonw){.buf = buf};
}

bool pawl__jsonw_is_done(const struct pawl__jsonw *writer)
{
    return writer->done;
}

void pawl__jsonw_begin_object(struct pawl__jsonw *writer)
{
    begin_level(writer, true);
}

void pawl__jsonw_end_object(struct pawl__jsonw *writer)
{
    end_level(writer, true);
}

void pawl__jsonw_begin_array(struct pawl__jsonw *writer)
{
    begin_level(writer, false);
}

void pawl__jsonw_end_array(struct pawl__jsonw *writer)
{
    end_level(writer, false);
}

void pawl__jsonw_key(struct pawl__jsonw *writer, const char *key)
{
    PAWL_INVARIANT(is_in_object(writer));
    PAWL_INVARIANT(!writer->after_key);
    put_comma(writer);
    put_quoted(writer->buf, key, strlen(key));
    pawl__buf_append_char(writer->buf, ':');
    writer->after_key = true;
}

void pawl__jsonw_str(struct pawl__jsonw *writer, const char *text)
{
    if (text == NULL) {
        pawl__jsonw_null(writer);
        return;
    }
    pawl__jsonw_strn(writer, text, strlen(text));
}

void pawl__jsonw_strn(struct pawl__jsonw *writer, const char *text, size_t len)
{
    start_value(writer);
    put_quoted(writer->buf, text, len);
}

void pawl__jsonw_int(struct pawl__jsonw *writer, int64_t value)
{
    start_value(writer);
    pawl__buf_appendf(writer->buf, "%" PRId64, value);
}

void pawl__jsonw_u64str(struct pawl__jsonw *writer, uint64_t value)
{
    start_value(writer);
    pawl__buf_appendf(writer->buf, "\"%" PRIu64 "\"", value);
}

void pawl__jsonw_bool(struct pawl__jsonw *writer, bool value)
{
    start_value(writer);
    pawl__buf_append_str(writer->buf, value ? "true" : "false");
}

void pawl__jsonw_null(struct pawl__jsonw *writer)
{
    start_value(writer);
    pawl__buf_append_str(writer->buf, "null");
}
