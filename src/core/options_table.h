/* The one table of options (formats.md 2): keys, ranges, words, and the check of a single value.
 * What depends on other values is in options_resolve.c. */
#ifndef PAWL_CORE_OPTIONS_TABLE_H
#define PAWL_CORE_OPTIONS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pawl/status.h>

struct pawl__url;

/* In the order of help. */
enum pawl__option {
    PAWL__OPTION_STORE,
    PAWL__OPTION_TTL,
    PAWL__OPTION_MARGIN,
    PAWL__OPTION_TICK,
    PAWL__OPTION_RENEW,
    PAWL__OPTION_REQUEST_TIMEOUT,
    PAWL__OPTION_CONNECT_TIMEOUT,
    PAWL__OPTION_RETRY_BASE,
    PAWL__OPTION_RETRY_CAP,
    PAWL__OPTION_GRACE,
    PAWL__OPTION_LAYOUT,
    PAWL__OPTION_ROOT,
    PAWL__OPTION_STORE_ID,
    PAWL__OPTION_PASSWORD_FILE,
    PAWL__OPTION_CACERT,
    PAWL__OPTION_CERT,
    PAWL__OPTION_KEY,
    PAWL__OPTION_INSECURE,
    PAWL__OPTION_MAX_REQUESTS,
    PAWL__OPTION_COUNT
};

/* Words of a row, as pawl_options_describe() gives them. */
struct pawl__option_words {
    const char *key;
    const char *default_text;
    const char *range;
    const char *meaning;
};

const struct pawl__option_words *pawl__option_words(enum pawl__option option);

/* The option called `key`; PAWL__OPTION_COUNT and a message with the nearest known key if none is.
 */
enum pawl__option pawl__option_find(const char *key, pawl_error *err);

/* Checks `text` as a value of `option` alone. E_CONFIG names key, value and what is allowed. */
pawl_status pawl__option_check(enum pawl__option option, const char *text, pawl_error *err);

/* Checks root and query of a URL as values of options: no unknown key, none twice, each value
 * right. */
pawl_status pawl__option_check_url(const struct pawl__url *url, pawl_error *err);

/* The number of a text that passed the check: milliseconds of a duration ("off" = 0), a count, 0 or
 * 1 of a switch, the enum of a choice. */
int64_t pawl__option_number(enum pawl__option option, const char *text);

#endif
