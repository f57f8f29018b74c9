/* See buf.h. */
#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

#define CAP_MIN 64

void pawl__buf_init(struct pawl__buf *buf)
{
    *buf = (struct pawl__buf){0};
}

void pawl__buf_release(struct pawl__buf *buf)
{
    if (buf == NULL) {
        return;
    }
    pawl__free(buf->data);
    pawl__buf_init(buf);
}

void pawl__buf_clear(struct pawl__buf *buf)
{
    buf->len = 0;
    buf->failed = false;
    if (buf->data != NULL) {
        buf->data[0] = '\0';
    }
}

bool pawl__buf_ok(const struct pawl__buf *buf)
{
    return !buf->failed;
}

const char *pawl__buf_str(const struct pawl__buf *buf)
{
    return buf->data == NULL ? "" : buf->data;
}

bool pawl__buf_reserve(struct pawl__buf *buf, size_t more)
{
    if (buf->failed) {
        return false;
    }
    if (more >= SIZE_MAX / 2 - buf->len) {
        buf->failed = true;
        return false;
    }
    size_t need = buf->len + more + 1;
    if (need <= buf->cap) {
        return true;
    }
    size_t cap = buf->cap < CAP_MIN ? CAP_MIN : buf->cap;
    while (cap < need) {
        cap *= 2; /* Cannot wrap: need is at most half of SIZE_MAX. */
    }
    char *data = pawl__realloc(buf->data, cap);
    if (data == NULL) {
        buf->failed = true;
        return false;
    }
    data[buf->len] = '\0';
    buf->data = data;
    buf->cap = cap;
    return true;
}

void pawl__buf_append(struct pawl__buf *buf, const void *data, size_t len)
{
    PAWL_INVARIANT(data != NULL || len == 0);
    if (!pawl__buf_reserve(buf, len) || len == 0) {
        return;
    }
    memcpy(buf->data + buf->len, data, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void pawl__buf_append_str(struct pawl__buf *buf, const char *text)
{
    pawl__buf_append(buf, text, strlen(text));
}

void pawl__buf_append_char(struct pawl__buf *buf, char c)
{
    pawl__buf_append(buf, &c, 1);
}

void pawl__buf_appendfv(struct pawl__buf *buf, const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    if (len < 0) {
        buf->failed = true; /* Only a broken multibyte argument gets here; better told than lost. */
    } else if (pawl__buf_reserve(buf, (size_t)len)) {
        (void)vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again); /* Same as above. */
        buf->len += (size_t)len;
    }
    va_end(again);
}

void pawl__buf_appendf(struct pawl__buf *buf, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    pawl__buf_appendfv(buf, format, args);
    va_end(args);
}

void pawl__buf_consume(struct pawl__buf *buf, size_t len)
{
    if (len >= buf->len) {
        len = buf->len;
    }
    if (len == 0) {
        return;
    }
    memmove(buf->data, buf->data + len, buf->len - len + 1);
    buf->len -= len;
}

char *pawl__buf_detach(struct pawl__buf *buf, size_t *ret_len)
{
    (void)pawl__buf_reserve(buf, 0); /* An empty buffer has no memory yet; failure is sticky. */
    if (buf->failed) {
        pawl__buf_release(buf);
        return NULL;
    }
    char *data = buf->data;
    if (ret_len != NULL) {
        *ret_len = buf->len;
    }
    pawl__buf_init(buf);
    return data;
}
