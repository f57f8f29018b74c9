/* See url.h. No message repeats text that may hold a password: what stands before an '@', and what
 * would be a port, is never quoted. */
#include "core/url.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/text.h"
#include "core/error.h"
#include "core/url_internal.h"

#define SCHEME_CHARS "abcdefghijklmnopqrstuvwxyz0123456789"
#define KEY_CHARS    SCHEME_CHARS "_"

struct known_scheme {
    const char *written;
    const char *scheme;
    bool tls;
    uint16_t port;
};

static const struct known_scheme known[] = {
    {"local", "local", false, 0},     {"etcd", "etcd", false, 2379}, {"etcds", "etcd", true, 2379},
    {"zk", "zk", false, 2181},        {"zks", "zk", true, 2181},     {"etcd3", "etcd", false, 2379},
    {"zookeeper", "zk", false, 2181},
};

#define KNOWN_COUNT (sizeof(known) / sizeof(known[0]))

static const struct known_scheme *find_scheme(const char *written)
{
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        if (strcmp(known[i].written, written) == 0) {
            return &known[i];
        }
    }
    return NULL;
}

const char *pawl__url_nearest_scheme(const char *scheme)
{
    const char *words[KNOWN_COUNT];

    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        words[i] = known[i].written;
    }
    if (strncmp(scheme, "http", 4) == 0) {
        return strcmp(scheme, "https") == 0 ? "etcds" : "etcd"; /* etcd's own tools write these. */
    }
    return pawl__nearest_word(scheme, words, KNOWN_COUNT);
}

/* -1 for what is no hex digit. */
static int hex_value(char c)
{
    c = pawl__url_lower(c);
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes %HH into `out`, which has room for all of `span`; false for a broken escape. */
static bool decode_into(char *out, struct pawl__span span)
{
    size_t used = 0;

    for (size_t i = 0; i < span.len; i++) {
        char c = span.at[i];
        if (c == '%') {
            int high = span.len - i > 2 ? hex_value(span.at[i + 1]) : -1;
            int low = high >= 0 ? hex_value(span.at[i + 2]) : -1;
            if (low < 0) {
                return false;
            }
            c = (char)(high << 4 | low);
            i += 2;
        }
        if ((unsigned char)c < 0x20 || c == 0x7F) {
            return false;
        }
        out[used++] = c;
    }
    out[used] = '\0';
    return pawl__utf8_is_valid(out, used);
}

/* Owned copy of `span` with its escapes decoded; `what` is for messages. */
static pawl_status decode(struct pawl__span span, const char *what, char **ret_text,
                          pawl_error *err)
{
    char *text = pawl__alloc(span.len + 1);

    if (text == NULL) {
        return pawl__url_refuse_memory(err);
    }
    if (!decode_into(text, span)) {
        pawl__free(text);
        return pawl__error_set(err, PAWL_E_CONFIG, 0,
                               "%s of the store's URL is not readable: after '%%' come two hex "
                               "digits, and what they mean is UTF-8 without control characters",
                               what);
    }
    *ret_text = text;
    return PAWL_OK;
}

/* ---- Scheme -------------------------------------------------------------------------------- */

static pawl_status refuse_form(const char *written, pawl_error *err)
{
    const char *nearest = pawl__url_nearest_scheme(written);
    const char *hint = nearest == NULL || strcmp(nearest, "local") == 0 ? "etcd" : nearest;

    return pawl__error_set(err, PAWL_E_CONFIG, 0,
                           "the store is no URL: '%s:' is not followed by \"//\"; write local:, "
                           "local:///dir or %s://host:port",
                           written, hint);
}

/* Takes "scheme:" off the front of *rest. */
static pawl_status parse_scheme(struct pawl__span *rest, char written[PAWL__URL_SCHEME_MAX + 1],
                                pawl_error *err)
{
    struct pawl__span scheme = *rest;
    struct pawl__span after = pawl__span_cut(&scheme, ':');
    bool is_fit = after.at != NULL && scheme.len > 0 && scheme.len <= PAWL__URL_SCHEME_MAX;

    for (size_t i = 0; is_fit && i < scheme.len; i++) {
        written[i] = pawl__url_lower(scheme.at[i]);
        is_fit = strchr(SCHEME_CHARS, written[i]) != NULL;
    }
    if (!is_fit) {
        return pawl__error_set(
            err, PAWL_E_CONFIG, 0,
            "the store is no URL: it does not begin with a scheme of letters and "
            "digits; write local:, local:///dir, etcd://host:2379 or "
            "zk://host:2181");
    }
    written[scheme.len] = '\0';
    *rest = after;
    return PAWL_OK;
}

/* ---- What follows the scheme --------------------------------------------------------------- */

static pawl_status parse_user(struct pawl__url *url, struct pawl__span text, pawl_error *err)
{
    if (pawl__span_holds(text, ':')) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0,
                               "a password in the store's URL would be seen by others; write only "
                               "user@ and put the password into a file: password_file=PATH");
    }
    if (text.len == 0 || pawl__span_holds(text, '@')) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0,
                               "the user of the store's URL is empty or holds a bare '@'; write "
                               "user@host, an '@' in the user as %%40");
    }
    return decode(text, "the user", &url->user, err);
}

/* `text` is what stands between "//" and the path. */
static pawl_status parse_authority(struct pawl__url *url, struct pawl__span text,
                                   const struct known_scheme *scheme, pawl_error *err)
{
    pawl_status status = PAWL_OK;
    const char *at = text.len == 0 ? NULL : memrchr(text.at, '@', text.len);

    if (at != NULL) {
        struct pawl__span user = {text.at, (size_t)(at - text.at)};
        text = (struct pawl__span){at + 1, text.len - user.len - 1};
        status = parse_user(url, user, err);
    }
    if (status == PAWL_OK && text.len == 0 && (scheme != NULL || url->user != NULL)) {
        status = pawl__error_set(err, PAWL_E_CONFIG, 0,
                                 "the store's URL names no host; write %s://host:port",
                                 scheme != NULL ? scheme->written : url->scheme);
    }
    if (status == PAWL_OK && text.len > 0) {
        status = pawl__url_parse_hosts(url, text, scheme != NULL ? scheme->port : 0, err);
    }
    return status;
}

/* The part behind the hosts' '/'. */
static pawl_status parse_path(struct pawl__url *url, struct pawl__span text, pawl_error *err)
{
    if (text.len == 0) {
        return PAWL_OK;
    }
    if (pawl__span_holds(text, '@')) {
        return pawl__error_set(
            err, PAWL_E_CONFIG, 0,
            "the root in the store's URL holds a bare '@': write it as %%40, and "
            "if it belongs to a password, put that into a file: "
            "password_file=PATH");
    }
    return decode(text, "the root", &url->path, err);
}

static pawl_status parse_local(struct pawl__url *url, struct pawl__span body, pawl_error *err)
{
    if (body.len == 0) {
        return PAWL_OK;
    }
    if (body.len < 3 || strncmp(body.at, "///", 3) != 0) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0,
                               "the URL of a local store is local: or local:///dir, with three "
                               "slashes before an absolute directory");
    }
    while (body.len > 2 && body.at[body.len - 1] == '/') {
        body.len--;
    }
    if (body.len <= 3) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0,
                               "the URL of the local store names no directory; write local: or "
                               "local:///dir");
    }
    return decode((struct pawl__span){body.at + 2, body.len - 2}, "the directory", &url->path, err);
}

static pawl_status parse_remote(struct pawl__url *url, struct pawl__span body, const char *written,
                                pawl_error *err)
{
    const struct known_scheme *scheme = find_scheme(written);

    if (body.len == 0 && scheme == NULL) {
        return PAWL_OK;
    }
    if (body.len < 2 || strncmp(body.at, "//", 2) != 0) {
        return refuse_form(written, err);
    }
    struct pawl__span authority = {body.at + 2, body.len - 2};
    struct pawl__span path = pawl__span_cut(&authority, '/');
    pawl_status status = parse_authority(url, authority, scheme, err);
    if (status == PAWL_OK) {
        status = parse_path(url, path, err);
    }
    return status;
}

/* ---- Query --------------------------------------------------------------------------------- */

static pawl_status add_pair(struct pawl__url *url, struct pawl__span text, pawl_error *err)
{
    struct pawl__span key = text;
    struct pawl__span value = pawl__span_cut(&key, '=');
    struct pawl__url_pair pair = {NULL, NULL};

    if (value.at == NULL || key.len == 0 || !pawl__span_is_made_of(key, KEY_CHARS)) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0,
                               "part number %zu of the query of the store's URL is not key=value "
                               "with a key of a-z, 0-9 and '_'",
                               url->pair_count + 1);
    }
    for (size_t i = 0; i < url->pair_count; i++) {
        if (strlen(url->pairs[i].key) == key.len &&
            memcmp(url->pairs[i].key, key.at, key.len) == 0) {
            return pawl__error_set(err, PAWL_E_CONFIG, 0,
                                   "the store's URL gives '%s' twice; leave one out",
                                   url->pairs[i].key);
        }
    }
    pawl_status status = decode(value, "a value in the query", &pair.value, err);
    if (status != PAWL_OK) {
        return status;
    }
    pair.key = pawl__strndup(key.at, key.len);
    if (pair.key == NULL) {
        pawl__free(pair.value);
        return pawl__url_refuse_memory(err);
    }
    url->pairs[url->pair_count++] = pair;
    return PAWL_OK;
}

static pawl_status parse_query(struct pawl__url *url, struct pawl__span text, pawl_error *err)
{
    pawl_status status = PAWL_OK;
    size_t count = 1;

    for (size_t i = 0; i < text.len; i++) {
        count += text.at[i] == '&' ? 1 : 0;
    }
    if (count > PAWL__URL_PAIRS_MAX) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0,
                               "the query of the store's URL has %zu parts; %d are the most", count,
                               PAWL__URL_PAIRS_MAX);
    }
    url->pairs = pawl__alloc_array(count, sizeof(*url->pairs));
    if (url->pairs == NULL) {
        return pawl__url_refuse_memory(err);
    }
    while (text.at != NULL && status == PAWL_OK) {
        struct pawl__span after = pawl__span_cut(&text, '&');
        status = add_pair(url, text, err);
        text = after;
    }
    return status;
}

/* ---- The whole ----------------------------------------------------------------------------- */

/* Bytes that may stand nowhere in a URL. */
static pawl_status check_bytes(struct pawl__span text, pawl_error *err)
{
    if (text.len > PAWL__URL_MAX) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0, "the store's URL is longer than %d bytes",
                               PAWL__URL_MAX);
    }
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.at[i];
        if (byte <= 0x20 || byte == 0x7F || byte == '#') {
            return pawl__error_set(err, PAWL_E_CONFIG, 0,
                                   "the store's URL has a space, a '#' or a control character at "
                                   "byte %zu; write it as %%%02X or leave it out",
                                   i + 1, byte);
        }
    }
    return PAWL_OK;
}

static pawl_status parse_all(struct pawl__url *url, struct pawl__span rest, pawl_error *err)
{
    char written[PAWL__URL_SCHEME_MAX + 1];

    pawl_status status = check_bytes(rest, err);
    if (status == PAWL_OK) {
        status = parse_scheme(&rest, written, err);
    }
    if (status != PAWL_OK) {
        return status;
    }
    const struct known_scheme *scheme = find_scheme(written);
    (void)snprintf(url->scheme, sizeof(url->scheme), "%s",
                   scheme != NULL ? scheme->scheme : written);
    url->tls = scheme != NULL && scheme->tls;
    struct pawl__span query = pawl__span_cut(&rest, '?');
    if (strcmp(url->scheme, "local") == 0) {
        status = parse_local(url, rest, err);
    } else {
        status = parse_remote(url, rest, written, err);
    }
    if (status == PAWL_OK && query.at != NULL) {
        status = parse_query(url, query, err);
    }
    return status;
}

pawl_status pawl__url_parse(const char *text, struct pawl__url *ret_url, pawl_error *err)
{
    struct pawl__url url = {.host_count = 0};
    struct pawl__span whole = {text, strnlen(text, PAWL__URL_MAX + 1)};

    pawl_status status = parse_all(&url, whole, err);
    if (status == PAWL_OK) {
        *ret_url = url;
    } else {
        pawl__url_release(&url);
    }
    return status;
}

void pawl__url_release(struct pawl__url *url)
{
    if (url == NULL) {
        return;
    }
    for (size_t i = 0; i < url->host_count; i++) {
        pawl__free(url->hosts[i].name);
    }
    for (size_t i = 0; i < url->pair_count; i++) {
        pawl__free(url->pairs[i].key);
        pawl__free(url->pairs[i].value);
    }
    pawl__free(url->user);
    pawl__free(url->hosts);
    pawl__free(url->path);
    pawl__free(url->pairs);
    *url = (struct pawl__url){.host_count = 0};
}
