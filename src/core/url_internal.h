/* What the files of the URL parser share: url.c, url_host.c. */
#ifndef PAWL_CORE_URL_INTERNAL_H
#define PAWL_CORE_URL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/url.h"

/* A piece of the text that is parsed. */
struct pawl__span {
    const char *at;
    size_t len;
};

/* Cuts `from` at the first `separator`: *from keeps what is before, the result is what is after;
 * its `at` is NULL when there is none. */
struct pawl__span pawl__span_cut(struct pawl__span *from, char separator);

bool pawl__span_holds(struct pawl__span span, char c);

/* True when every byte of `span` is one of `chars`. */
bool pawl__span_is_made_of(struct pawl__span span, const char *chars);

/* ASCII only, whatever the locale. */
char pawl__url_lower(char c);

pawl_status pawl__url_refuse_memory(pawl_error *err);

/* Fills hosts and host_count of `url` from "host[:port],..."; what was allocated stays with `url`
 * on failure too. */
pawl_status pawl__url_parse_hosts(struct pawl__url *url, struct pawl__span text,
                                  uint16_t default_port, pawl_error *err);

#endif
