/* URLs of stores (formats.md 2): taken apart, normalised, printed. Which schemes exist is decided
 * by the lookup of backends, which keys by the options table. */
#ifndef PAWL_CORE_URL_H
#define PAWL_CORE_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pawl/status.h>

struct pawl__buf;

/* Bounds; longer URLs are refused. */
#define PAWL__URL_MAX        8192
#define PAWL__URL_SCHEME_MAX 16
#define PAWL__URL_HOSTS_MAX  64
#define PAWL__URL_PAIRS_MAX  64

struct pawl__url_host {
    char *name;    /* owned; lower case; IPv6 without brackets */
    uint16_t port; /* 0 = none given and the scheme has no default */
};

struct pawl__url_pair {
    char *key;   /* owned; not checked against the options */
    char *value; /* owned; decoded; may be "" */
};

/* Immutable after parsing. Zeroed = empty. */
struct pawl__url {
    char scheme[PAWL__URL_SCHEME_MAX + 1]; /* "local", "etcd", "zk", or whatever was written */
    bool tls;                              /* etcds, zks */
    char *user;                            /* owned; decoded; NULL if none */
    struct pawl__url_host *hosts;          /* owned; in the order written, without repeats */
    size_t host_count;
    char *path; /* owned; decoded; NULL if none. local: an absolute directory. Others: the root,
                   without the leading '/' */
    struct pawl__url_pair *pairs; /* owned; in the order written; no key twice */
    size_t pair_count;
};

/* Takes `text` apart: local: and local:///dir; etcd[s]:// and zk[s]:// with one host at least; any
 * other scheme of [a-z0-9]+ as "scheme:" or "scheme://[hosts][/path]". Aliases zookeeper and etcd3
 * become zk and etcd. E_CONFIG names what is wrong and the cure, without repeating a password;
 * E_NOMEM. *ret_url is set on success only: pawl__url_release() it. */
pawl_status pawl__url_parse(const char *text, struct pawl__url *ret_url, pawl_error *err);

/* Frees the parts; the struct is zeroed. NULL is allowed. */
void pawl__url_release(struct pawl__url *url);

/* Appends the normal form: parsing it gives the same URL. Holds no secret, since none gets in. Ask
 * pawl__buf_ok(). */
void pawl__url_text(const struct pawl__url *url, struct pawl__buf *buf);

/* True for a host that stays on this machine: localhost, 127.0.0.0/8, ::1. */
bool pawl__url_host_is_local(const struct pawl__url_host *host);

/* The known scheme that `scheme` was most likely meant to be; NULL if none is near. Static. */
const char *pawl__url_nearest_scheme(const char *scheme);

#endif
