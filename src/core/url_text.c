/* The normal form of a store's URL. Parsing is in url.c. */
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "core/url.h"

/* RFC 3986, "unreserved"; not isalnum: it depends on the locale. */
static bool is_unreserved(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-._~", c) != NULL);
}

/* Appends `text` with every byte escaped that is neither unreserved nor in `also`. */
static void append_escaped(struct pawl__buf *buf, const char *text, const char *also)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (is_unreserved(*c) || strchr(also, *c) != NULL) {
            pawl__buf_append_char(buf, *c);
        } else {
            pawl__buf_appendf(buf, "%%%02X", (unsigned)(unsigned char)*c);
        }
    }
}

static void append_host(struct pawl__buf *buf, const struct pawl__url_host *host)
{
    bool is_address6 = strchr(host->name, ':') != NULL;

    pawl__buf_appendf(buf, is_address6 ? "[%s]" : "%s", host->name);
    if (host->port != 0) {
        pawl__buf_appendf(buf, ":%u", (unsigned)host->port);
    }
}

static void append_body(struct pawl__buf *buf, const struct pawl__url *url)
{
    if (url->host_count == 0 && url->path == NULL) {
        return;
    }
    pawl__buf_append_str(buf, "//");
    if (url->user != NULL) {
        append_escaped(buf, url->user, "");
        pawl__buf_append_char(buf, '@');
    }
    for (size_t i = 0; i < url->host_count; i++) {
        if (i > 0) {
            pawl__buf_append_char(buf, ',');
        }
        append_host(buf, &url->hosts[i]);
    }
    if (url->path != NULL) {
        if (strcmp(url->scheme, "local") != 0) {
            pawl__buf_append_char(buf, '/');
        }
        append_escaped(buf, url->path, "/");
    }
}

void pawl__url_text(const struct pawl__url *url, struct pawl__buf *buf)
{
    pawl__buf_append_str(buf, url->scheme);
    pawl__buf_append_str(buf, url->tls ? "s:" : ":");
    append_body(buf, url);
    for (size_t i = 0; i < url->pair_count; i++) {
        pawl__buf_append_char(buf, i == 0 ? '?' : '&');
        pawl__buf_append_str(buf, url->pairs[i].key);
        pawl__buf_append_char(buf, '=');
        append_escaped(buf, url->pairs[i].value, "/:");
    }
}
