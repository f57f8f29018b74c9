/* See url.h. No message repeats text that may hold a password: what stands before an '@', and what
 * would be a port, is never quoted. */
#include "core/url.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "base/text.h"
#include "core/error.h"

#define HOST_NAME_LEN_MAX 253 /* RFC 1035 */

#define SCHEME_CHARS "abcdefghijklmnopqrstuvwxyz0123456789"
#define KEY_CHARS    SCHEME_CHARS "_"
#define HOST_CHARS   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

/* A piece of the text that is parsed. */
struct span {
    const char *at;
    size_t len;
};

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

static pawl_status refuse_memory(pawl_error *err)
{
    return pawl__error_set(err, PAWL_E_NOMEM, 0, "out of memory for the URL of the store");
}

/* Cuts `from` at the first `separator`: *from keeps what is before, the result is what is after;
 * its `at` is NULL when there is none. */
static struct span cut(struct span *from, char separator)
{
    struct span after = {NULL, 0};
    const char *found = from->len == 0 ? NULL : memchr(from->at, separator, from->len);

    if (found != NULL) {
        after.at = found + 1;
        after.len = from->len - (size_t)(after.at - from->at);
        from->len = (size_t)(found - from->at);
    }
    return after;
}

static bool holds(struct span span, char c)
{
    return span.len > 0 && memchr(span.at, c, span.len) != NULL;
}

/* True when every byte of `span` is one of `chars`. */
static bool is_made_of(struct span span, const char *chars)
{
    for (size_t i = 0; i < span.len; i++) {
        if (span.at[i] == '\0' || strchr(chars, span.at[i]) == NULL) {
            return false;
        }
    }
    return true;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* -1 for what is no hex digit. */
static int hex_value(char c)
{
    c = lower(c);
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes %HH into `out`, which has room for all of `span`; false for a broken escape. */
static bool decode_into(char *out, struct span span)
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
static pawl_status decode(struct span span, const char *what, char **ret_text, pawl_error *err)
{
    char *text = pawl__alloc(span.len + 1);

    if (text == NULL) {
        return refuse_memory(err);
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

/* ---- Scheme -----------------------------------------------------------------------------------
 */

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
static pawl_status parse_scheme(struct span *rest, char written[PAWL__URL_SCHEME_MAX + 1],
                                pawl_error *err)
{
    struct span scheme = *rest;
    struct span after = cut(&scheme, ':');
    bool is_fit = after.at != NULL && scheme.len > 0 && scheme.len <= PAWL__URL_SCHEME_MAX;

    for (size_t i = 0; is_fit && i < scheme.len; i++) {
        written[i] = lower(scheme.at[i]);
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

/* ---- Hosts ------------------------------------------------------------------------------------
 */

/* `text` is what follows a host's ':'. The text is not quoted: it may be a password with a '/'. */
static pawl_status parse_port(struct span text, size_t number, uint16_t *ret_port, pawl_error *err)
{
    unsigned port = 0;

    if (text.len >= 1 && text.len <= 5 && is_made_of(text, "0123456789")) {
        for (size_t i = 0; i < text.len; i++) {
            port = port * 10 + (unsigned)(text.at[i] - '0');
        }
    }
    if (port == 0 || port > UINT16_MAX) {
        return pawl__error_set(
            err, PAWL_E_CONFIG, 0,
            "the port of host number %zu of the store's URL is not a number from "
            "1 to 65535 (a password does not belong there: use password_file)",
            number);
    }
    *ret_port = (uint16_t)port;
    return PAWL_OK;
}

static bool is_ipv6(struct span text)
{
    char address[INET6_ADDRSTRLEN];
    struct in6_addr ignored;

    if (text.len == 0 || text.len >= sizeof(address)) {
        return false;
    }
    memcpy(address, text.at, text.len);
    address[text.len] = '\0';
    return inet_pton(AF_INET6, address, &ignored) == 1;
}

/* Splits "name:port" or "[address]:port"; ret_port->at is NULL if none is given. */
static pawl_status split_host(struct span text, size_t number, struct span *ret_name,
                              struct span *ret_port, pawl_error *err)
{
    struct span name = text;
    struct span port = {NULL, 0};

    if (text.len > 0 && text.at[0] == '[') {
        name = (struct span){text.at + 1, text.len - 1};
        struct span after = cut(&name, ']');
        if (after.at == NULL || !is_ipv6(name) || (after.len > 0 && after.at[0] != ':')) {
            return pawl__error_set(err, PAWL_E_CONFIG, 0,
                                   "host number %zu of the store's URL is not an IPv6 address in "
                                   "brackets, as [::1]:2379",
                                   number);
        }
        if (after.len > 0) {
            port = (struct span){after.at + 1, after.len - 1};
        }
    } else {
        port = cut(&name, ':');
        if (holds(port, ':')) {
            return pawl__error_set(err, PAWL_E_CONFIG, 0,
                                   "host number %zu of the store's URL has more than one ':'; an "
                                   "IPv6 address stands in brackets, as [::1]:2379",
                                   number);
        }
        if (name.len == 0 || name.len > HOST_NAME_LEN_MAX || !is_made_of(name, HOST_CHARS)) {
            return pawl__error_set(
                err, PAWL_E_CONFIG, 0,
                "host number %zu of the store's URL is empty or not a host name; "
                "write host:port, several with commas between",
                number);
        }
    }
    *ret_name = name;
    *ret_port = port;
    return PAWL_OK;
}

static bool host_is_listed(const struct pawl__url *url, const struct pawl__url_host *host)
{
    for (size_t i = 0; i < url->host_count; i++) {
        if (url->hosts[i].port == host->port && strcmp(url->hosts[i].name, host->name) == 0) {
            return true;
        }
    }
    return false;
}

static pawl_status add_host(struct pawl__url *url, struct span text, size_t number,
                            uint16_t default_port, pawl_error *err)
{
    struct pawl__url_host host = {.name = NULL, .port = default_port};
    struct span name;
    struct span port;

    pawl_status status = split_host(text, number, &name, &port, err);
    if (status == PAWL_OK && port.at != NULL) {
        status = parse_port(port, number, &host.port, err);
    }
    if (status != PAWL_OK) {
        return status;
    }
    host.name = pawl__strndup(name.at, name.len);
    if (host.name == NULL) {
        return refuse_memory(err);
    }
    for (char *c = host.name; *c != '\0'; c++) {
        *c = lower(*c);
    }
    if (host_is_listed(url, &host)) {
        pawl__free(host.name); /* A repeat would only bend the choice of the next host. */
    } else {
        url->hosts[url->host_count++] = host;
    }
    return PAWL_OK;
}

static pawl_status parse_hosts(struct pawl__url *url, struct span text, uint16_t default_port,
                               pawl_error *err)
{
    size_t count = 1;
    pawl_status status = PAWL_OK;

    for (size_t i = 0; i < text.len; i++) {
        count += text.at[i] == ',' ? 1 : 0;
    }
    if (count > PAWL__URL_HOSTS_MAX) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0,
                               "the store's URL names %zu hosts; %d are the most", count,
                               PAWL__URL_HOSTS_MAX);
    }
    url->hosts = pawl__alloc_array(count, sizeof(*url->hosts));
    if (url->hosts == NULL) {
        return refuse_memory(err);
    }
    for (size_t i = 1; i <= count && status == PAWL_OK; i++) {
        struct span after = cut(&text, ',');
        status = add_host(url, text, i, default_port, err);
        text = after;
    }
    return status;
}

/* ---- What follows the scheme ------------------------------------------------------------------
 */

static pawl_status parse_user(struct pawl__url *url, struct span text, pawl_error *err)
{
    if (holds(text, ':')) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0,
                               "a password in the store's URL would be seen by others; write only "
                               "user@ and put the password into a file: password_file=PATH");
    }
    if (text.len == 0 || holds(text, '@')) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0,
                               "the user of the store's URL is empty or holds a bare '@'; write "
                               "user@host, an '@' in the user as %%40");
    }
    return decode(text, "the user", &url->user, err);
}

/* `text` is what stands between "//" and the path. */
static pawl_status parse_authority(struct pawl__url *url, struct span text,
                                   const struct known_scheme *scheme, pawl_error *err)
{
    pawl_status status = PAWL_OK;
    const char *at = text.len == 0 ? NULL : memrchr(text.at, '@', text.len);

    if (at != NULL) {
        struct span user = {text.at, (size_t)(at - text.at)};
        text = (struct span){at + 1, text.len - user.len - 1};
        status = parse_user(url, user, err);
    }
    if (status == PAWL_OK && text.len == 0 && (scheme != NULL || url->user != NULL)) {
        status = pawl__error_set(err, PAWL_E_CONFIG, 0,
                                 "the store's URL names no host; write %s://host:port",
                                 scheme != NULL ? scheme->written : url->scheme);
    }
    if (status == PAWL_OK && text.len > 0) {
        status = parse_hosts(url, text, scheme != NULL ? scheme->port : 0, err);
    }
    return status;
}

/* The part behind the hosts' '/'. */
static pawl_status parse_path(struct pawl__url *url, struct span text, pawl_error *err)
{
    if (text.len == 0) {
        return PAWL_OK;
    }
    if (holds(text, '@')) {
        return pawl__error_set(
            err, PAWL_E_CONFIG, 0,
            "the root in the store's URL holds a bare '@': write it as %%40, and "
            "if it belongs to a password, put that into a file: "
            "password_file=PATH");
    }
    return decode(text, "the root", &url->path, err);
}

static pawl_status parse_local(struct pawl__url *url, struct span body, pawl_error *err)
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
    return decode((struct span){body.at + 2, body.len - 2}, "the directory", &url->path, err);
}

static pawl_status parse_remote(struct pawl__url *url, struct span body, const char *written,
                                pawl_error *err)
{
    const struct known_scheme *scheme = find_scheme(written);

    if (body.len == 0 && scheme == NULL) {
        return PAWL_OK;
    }
    if (body.len < 2 || strncmp(body.at, "//", 2) != 0) {
        return refuse_form(written, err);
    }
    struct span authority = {body.at + 2, body.len - 2};
    struct span path = cut(&authority, '/');
    pawl_status status = parse_authority(url, authority, scheme, err);
    if (status == PAWL_OK) {
        status = parse_path(url, path, err);
    }
    return status;
}

/* ---- Query ------------------------------------------------------------------------------------
 */

static pawl_status add_pair(struct pawl__url *url, struct span text, pawl_error *err)
{
    struct span key = text;
    struct span value = cut(&key, '=');
    struct pawl__url_pair pair = {NULL, NULL};

    if (value.at == NULL || key.len == 0 || !is_made_of(key, KEY_CHARS)) {
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
        return refuse_memory(err);
    }
    url->pairs[url->pair_count++] = pair;
    return PAWL_OK;
}

static pawl_status parse_query(struct pawl__url *url, struct span text, pawl_error *err)
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
        return refuse_memory(err);
    }
    while (text.at != NULL && status == PAWL_OK) {
        struct span after = cut(&text, '&');
        status = add_pair(url, text, err);
        text = after;
    }
    return status;
}

/* ---- The whole --------------------------------------------------------------------------------
 */

/* Bytes that may stand nowhere in a URL. */
static pawl_status check_bytes(struct span text, pawl_error *err)
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

static pawl_status parse_all(struct pawl__url *url, struct span rest, pawl_error *err)
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
    struct span query = cut(&rest, '?');
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
    struct span whole = {text, strnlen(text, PAWL__URL_MAX + 1)};

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

bool pawl__url_host_is_local(const struct pawl__url_host *host)
{
    struct in6_addr v6;
    struct in_addr v4;

    if (inet_pton(AF_INET6, host->name, &v6) == 1) {
        return IN6_IS_ADDR_LOOPBACK(&v6) != 0;
    }
    if (inet_pton(AF_INET, host->name, &v4) == 1) {
        return (ntohl(v4.s_addr) >> 24) == 127;
    }
    return strcmp(host->name, "localhost") == 0;
}
