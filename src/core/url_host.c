/* The hosts of a store's URL, and pieces of text. No message quotes a port: it may be a password.
 */
#include <arpa/inet.h>
#include <string.h>

#include "base/alloc.h"
#include "core/error.h"
#include "core/url.h"
#include "core/url_internal.h"

#define HOST_NAME_LEN_MAX 253 /* RFC 1035 */

#define HOST_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

pawl_status pawl__url_refuse_memory(pawl_error *err)
{
    return pawl__error_set(err, PAWL_E_NOMEM, 0, "out of memory for the URL of the store");
}

struct pawl__span pawl__span_cut(struct pawl__span *from, char separator)
{
    struct pawl__span after = {NULL, 0};
    const char *found = from->len == 0 ? NULL : memchr(from->at, separator, from->len);

    if (found != NULL) {
        after.at = found + 1;
        after.len = from->len - (size_t)(after.at - from->at);
        from->len = (size_t)(found - from->at);
    }
    return after;
}

bool pawl__span_holds(struct pawl__span span, char c)
{
    return span.len > 0 && memchr(span.at, c, span.len) != NULL;
}

bool pawl__span_is_made_of(struct pawl__span span, const char *chars)
{
    for (size_t i = 0; i < span.len; i++) {
        if (span.at[i] == '\0' || strchr(chars, span.at[i]) == NULL) {
            return false;
        }
    }
    return true;
}

char pawl__url_lower(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (char)(c | 0x20);
    }
    return c;
}

/* `text` is what follows a host's ':'. It is not quoted: it may be a password with a '/'. */
static pawl_status parse_port(struct pawl__span text, size_t number, uint16_t *ret_port,
                              pawl_error *err)
{
    unsigned port = 0;

    if (text.len >= 1 && text.len <= 5 && pawl__span_is_made_of(text, "0123456789")) {
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

static bool is_ipv6(struct pawl__span text)
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
static pawl_status split_host(struct pawl__span text, size_t number, struct pawl__span *ret_name,
                              struct pawl__span *ret_port, pawl_error *err)
{
    struct pawl__span name = text;
    struct pawl__span port = {NULL, 0};

    if (text.len > 0 && text.at[0] == '[') {
        name = (struct pawl__span){text.at + 1, text.len - 1};
        struct pawl__span after = pawl__span_cut(&name, ']');
        if (after.at == NULL || !is_ipv6(name) || (after.len > 0 && after.at[0] != ':')) {
            return pawl__error_set(err, PAWL_E_CONFIG, 0,
                                   "host number %zu of the store's URL is not an IPv6 address in "
                                   "brackets, as [::1]:2379",
                                   number);
        }
        if (after.len > 0) {
            port = (struct pawl__span){after.at + 1, after.len - 1};
        }
    } else {
        port = pawl__span_cut(&name, ':');
        if (pawl__span_holds(port, ':')) {
            return pawl__error_set(err, PAWL_E_CONFIG, 0,
                                   "host number %zu of the store's URL has more than one ':'; an "
                                   "IPv6 address stands in brackets, as [::1]:2379",
                                   number);
        }
        if (name.len == 0 || name.len > HOST_NAME_LEN_MAX ||
            !pawl__span_is_made_of(name, HOST_CHARS)) {
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

static pawl_status add_host(struct pawl__url *url, struct pawl__span text, size_t number,
                            uint16_t default_port, pawl_error *err)
{
    struct pawl__url_host host = {.name = NULL, .port = default_port};
    struct pawl__span name = {NULL, 0};
    struct pawl__span port = {NULL, 0};

    pawl_status status = split_host(text, number, &name, &port, err);
    if (status == PAWL_OK && port.at != NULL) {
        status = parse_port(port, number, &host.port, err);
    }
    if (status != PAWL_OK) {
        return status;
    }
    host.name = pawl__strndup(name.at, name.len);
    if (host.name == NULL) {
        return pawl__url_refuse_memory(err);
    }
    for (char *c = host.name; *c != '\0'; c++) {
        *c = pawl__url_lower(*c);
    }
    if (host_is_listed(url, &host)) {
        pawl__free(host.name); /* A repeat would only bend the choice of the next host. */
    } else {
        url->hosts[url->host_count++] = host;
    }
    return PAWL_OK;
}

pawl_status pawl__url_parse_hosts(struct pawl__url *url, struct pawl__span text,
                                  uint16_t default_port, pawl_error *err)
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
        return pawl__url_refuse_memory(err);
    }
    for (size_t i = 1; i <= count && status == PAWL_OK; i++) {
        struct pawl__span after = pawl__span_cut(&text, ',');
        status = add_host(url, text, i, default_port, err);
        text = after;
    }
    return status;
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
