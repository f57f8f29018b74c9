/* See options_table.h. */
#include "core/options_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/error.h"
#include "core/options.h"
#include "core/root.h"
#include "core/url.h"

#define MARGIN_MAX_MS  (PAWL__TTL_MAX_MS / 2)
#define TICK_MAX_MS    (PAWL__TTL_MAX_MS / 4)
#define TRY_MIN_MS     50
#define TRY_MAX_MS     (PAWL__TTL_MAX_MS / 3)
#define RETRY_MIN_MS   10
#define RETRY_MAX_MS   PAWL__TTL_MAX_MS
#define REQUESTS_LIMIT 1048576

/* Longest text of a value; paths are the longest. */
#define VALUE_MAX 4096

enum kind {
    KIND_URL,
    KIND_DURATION,
    KIND_COUNT,
    KIND_LAYOUT,
    KIND_ROOT,
    KIND_STORE_ID,
    KIND_PATH,
    KIND_SWITCH
};

struct row {
    struct pawl__option_words words;
    int64_t min;
    int64_t max;
    enum kind kind;
    bool may_be_off;
};

static const struct row rows[PAWL__OPTION_COUNT] = {
    [PAWL__OPTION_STORE] =
        {
            .words = {"store", "local:",
                      "local:, local:///dir, etcd[s]://[user@]host[:2379],...[/root], "
                      "zk[s]://host[:2181],...[/root], each with ?key=value&...",
                      "the store that keeps the locks"},
            .kind = KIND_URL,
        },
    [PAWL__OPTION_TTL] =
        {
            .words = {"ttl", "etcd 10s; zk and local 30s", "2s to 300s; local also off",
                      "session life that is asked for; the granted one counts"},
            .kind = KIND_DURATION,
            .min = PAWL__TTL_MIN_MS,
            .max = PAWL__TTL_MAX_MS,
            .may_be_off = true,
        },
    [PAWL__OPTION_MARGIN] =
        {
            .words = {"margin", "the larger of 200ms and ttl/10", "50ms to ttl/2",
                      "taken off every deadline"},
            .kind = KIND_DURATION,
            .min = PAWL__MARGIN_MIN_MS,
            .max = MARGIN_MAX_MS,
        },
    [PAWL__OPTION_TICK] =
        {
            .words = {"tick", "2s", "100ms to ttl/4",
                      "zk only: not below the tickTime of the servers"},
            .kind = KIND_DURATION,
            .min = PAWL__TICK_MIN_MS,
            .max = TICK_MAX_MS,
        },
    [PAWL__OPTION_RENEW] =
        {
            .words = {"renew", "etcd and local ttl/4; zk ttl/12",
                      "50ms to (ttl - margin)/2; zk 50ms to ttl/12", "interval of renewal"},
            .kind = KIND_DURATION,
            .min = TRY_MIN_MS,
            .max = PAWL__TTL_MAX_MS,
        },
    [PAWL__OPTION_REQUEST_TIMEOUT] =
        {
            .words = {"request_timeout", "the smaller of 5s and ttl/3", "50ms to ttl/3",
                      "one try; never more than a third of what is left of the lease"},
            .kind = KIND_DURATION,
            .min = TRY_MIN_MS,
            .max = TRY_MAX_MS,
        },
    [PAWL__OPTION_CONNECT_TIMEOUT] =
        {
            .words = {"connect_timeout", "the smaller of 2s and ttl/4", "50ms to ttl/3",
                      "one try to connect"},
            .kind = KIND_DURATION,
            .min = TRY_MIN_MS,
            .max = TRY_MAX_MS,
        },
    [PAWL__OPTION_RETRY_BASE] =
        {
            .words = {"retry_base", "200ms", "10ms to retry_cap",
                      "first pause between tries; doubles each time, with full jitter"},
            .kind = KIND_DURATION,
            .min = RETRY_MIN_MS,
            .max = RETRY_MAX_MS,
        },
    [PAWL__OPTION_RETRY_CAP] =
        {
            .words = {"retry_cap", "5s", "retry_base to 300s", "longest pause between tries"},
            .kind = KIND_DURATION,
            .min = RETRY_MIN_MS,
            .max = RETRY_MAX_MS,
        },
    [PAWL__OPTION_GRACE] =
        {
            .words = {"grace", "5s, at most ttl - margin - renew", "0s to ttl - margin - renew",
                      "TERM to KILL of a command under a lock"},
            .kind = KIND_DURATION,
            .min = 0,
            .max = PAWL__TTL_MAX_MS,
        },
    [PAWL__OPTION_LAYOUT] =
        {
            .words = {"layout", "pawl", "pawl, raw",
                      "raw: the names of other clients, to share locks with them"},
            .kind = KIND_LAYOUT,
        },
    [PAWL__OPTION_ROOT] =
        {
            .words = {"root", "pawl",
                      "1 to 64 bytes of UTF-8; segments with '/' between, none empty, . or ..",
                      "where in the store everything is kept; also the path of an etcd or zk URL"},
            .kind = KIND_ROOT,
        },
    [PAWL__OPTION_STORE_ID] =
        {
            .words = {"store_id", "none", "16 lower-case hex digits",
                      "the only store that is accepted, as pawl doctor shows it"},
            .kind = KIND_STORE_ID,
        },
    [PAWL__OPTION_PASSWORD_FILE] =
        {
            .words = {"password_file", "none", "path of a file",
                      "file with the password of the URL's user"},
            .kind = KIND_PATH,
        },
    [PAWL__OPTION_CACERT] =
        {
            .words = {"cacert", "none", "path of a PEM file",
                      "certificates that may sign the server's"},
            .kind = KIND_PATH,
        },
    [PAWL__OPTION_CERT] =
        {
            .words = {"cert", "none", "path of a PEM file", "certificate of this client"},
            .kind = KIND_PATH,
        },
    [PAWL__OPTION_KEY] =
        {
            .words = {"key", "none", "path of a PEM file", "private key of cert"},
            .kind = KIND_PATH,
        },
    [PAWL__OPTION_INSECURE] =
        {
            .words = {"insecure", "0", "0, 1",
                      "1 allows a password over a connection that is neither encrypted nor on this "
                      "machine"},
            .kind = KIND_SWITCH,
        },
    [PAWL__OPTION_MAX_REQUESTS] =
        {
            .words = {"max_requests", "65536", "1 to 1048576",
                      "bound of the mailbox and of requests held or waited for"},
            .kind = KIND_COUNT,
            .min = 1,
            .max = REQUESTS_LIMIT,
        },
};

static const char *const switch_words[] = {"0", "1", "false", "true"};

_Static_assert(PAWL__REQUESTS_MAX <= REQUESTS_LIMIT, "the default is in its range");

static const struct row *row_of(enum pawl__option option)
{
    PAWL_INVARIANT(option < PAWL__OPTION_COUNT);
    return &rows[option];
}

const struct pawl__option_words *pawl__option_words(enum pawl__option option)
{
    return &row_of(option)->words;
}

/* The key that was likely meant: a typing mistake, or a longer or shorter name of the same thing
 * ("password", "ttl_ms"). NULL if none. */
static const char *find_nearest(const char *key)
{
    const char *keys[PAWL__OPTION_COUNT];

    for (int i = 0; i < PAWL__OPTION_COUNT; i++) {
        keys[i] = rows[i].words.key;
    }
    const char *nearest = pawl__nearest_word(key, keys, PAWL__OPTION_COUNT);
    for (int i = 0; nearest == NULL && i < PAWL__OPTION_COUNT; i++) {
        bool is_longer = strstr(key, keys[i]) != NULL;
        bool is_shorter = strlen(key) >= 4 && strstr(keys[i], key) != NULL;
        if (is_longer || is_shorter) {
            nearest = keys[i];
        }
    }
    return nearest;
}

enum pawl__option pawl__option_find(const char *key, pawl_error *err)
{
    char quoted[PAWL__QUOTE_MAX];

    for (int i = 0; i < PAWL__OPTION_COUNT; i++) {
        if (strcmp(rows[i].words.key, key) == 0) {
            return (enum pawl__option)i;
        }
    }
    (void)pawl__error_quote(quoted, key, strlen(key));
    const char *nearest = find_nearest(key);
    if (nearest != NULL) {
        (void)pawl__error_set(err, PAWL_E_CONFIG, 0, "there is no option %s; did you mean '%s'?",
                              quoted, nearest);
    } else {
        (void)pawl__error_set(err, PAWL_E_CONFIG, 0,
                              "there is no option %s; `pawl config --reference` lists all", quoted);
    }
    return PAWL__OPTION_COUNT;
}

/* ---- Values -------------------------------------------------------------------------------- */

static pawl_status refuse_value(const struct row *row, const char *text, pawl_error *err)
{
    char quoted[PAWL__QUOTE_MAX];

    return pawl__error_set(err, PAWL_E_CONFIG, 0, "%s: %s is not a value; allowed: %s",
                           row->words.key, pawl__error_quote(quoted, text, strlen(text)),
                           row->words.range);
}

static pawl_status check_duration(const struct row *row, const char *text, pawl_error *err)
{
    char quoted[PAWL__QUOTE_MAX];
    int64_t ms = 0;

    if (row->may_be_off && strcmp(text, "off") == 0) {
        return PAWL_OK;
    }
    (void)pawl__error_quote(quoted, text, strlen(text));
    if (strspn(text, "0123456789") == strlen(text)) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0,
                               "%s: %s has no unit; write %.19ss for seconds or %.19sms for "
                               "milliseconds; allowed: %s",
                               row->words.key, quoted, text, text, row->words.range);
    }
    if (!pawl__parse_duration_ms(text, &ms)) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0,
                               "%s: %s is not a duration; write a number and ms, s, m, h or d, as "
                               "250ms or 10s; allowed: %s",
                               row->words.key, quoted, row->words.range);
    }
    if (ms < row->min || ms > row->max) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0, "%s: %s is out of range; allowed: %s",
                               row->words.key, quoted, row->words.range);
    }
    return PAWL_OK;
}

static bool count_is_valid(const struct row *row, const char *text)
{
    uint64_t count = 0;

    return pawl__parse_u64(text, &count) && count >= (uint64_t)row->min &&
           count <= (uint64_t)row->max;
}

static bool store_id_is_valid(const char *text)
{
    uint64_t ignored = 0;

    return strlen(text) == 16 && pawl__parse_hex_u64(text, 16, &ignored);
}

static bool path_is_valid(const char *text)
{
    return strnlen(text, VALUE_MAX + 1) <= VALUE_MAX;
}

static bool switch_is_valid(const char *text)
{
    for (size_t i = 0; i < sizeof(switch_words) / sizeof(switch_words[0]); i++) {
        if (strcmp(switch_words[i], text) == 0) {
            return true;
        }
    }
    return false;
}

static bool path_is_root(const struct pawl__url *url)
{
    return url->path != NULL && strcmp(url->scheme, "local") != 0;
}

static pawl_status check_pair(const struct pawl__url *url, const struct pawl__url_pair *pair,
                              pawl_error *err)
{
    enum pawl__option option = pawl__option_find(pair->key, err);

    if (option == PAWL__OPTION_COUNT) {
        return PAWL_E_CONFIG;
    }
    if (option == PAWL__OPTION_STORE) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0,
                               "a URL cannot name another store; leave store= out of its query");
    }
    if (option == PAWL__OPTION_ROOT && path_is_root(url)) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0,
                               "the root is given twice, as path and as root=; leave one out");
    }
    return pawl__option_check(option, pair->value, err);
}

pawl_status pawl__option_check_url(const struct pawl__url *url, pawl_error *err)
{
    pawl_status status = PAWL_OK;

    if (path_is_root(url)) {
        status = pawl__root_check(url->path, err);
    }
    for (size_t i = 0; i < url->pair_count && status == PAWL_OK; i++) {
        status = check_pair(url, &url->pairs[i], err);
    }
    if (status != PAWL_OK) {
        pawl__error_prefix(err, "the store's URL");
    }
    return status;
}

/* The cause of a refusal is told where the URL is set, not at its first use. */
static pawl_status check_url(const char *text, pawl_error *err)
{
    struct pawl__url url;

    pawl_status status = pawl__url_parse(text, &url, err);
    if (status == PAWL_OK) {
        status = pawl__option_check_url(&url, err);
        pawl__url_release(&url);
    }
    return status;
}

pawl_status pawl__option_check(enum pawl__option option, const char *text, pawl_error *err)
{
    const struct row *row = row_of(option);
    bool is_valid = false;

    if (text[0] == '\0') {
        return pawl__error_set(err, PAWL_E_CONFIG, 0, "%s: the value is empty; allowed: %s",
                               row->words.key, row->words.range);
    }
    switch (row->kind) {
    case KIND_URL:
        return check_url(text, err);
    case KIND_DURATION:
        return check_duration(row, text, err);
    case KIND_ROOT:
        return pawl__root_check(text, err);
    case KIND_COUNT:
        is_valid = count_is_valid(row, text);
        break;
    case KIND_LAYOUT:
        is_valid = strcmp(text, "pawl") == 0 || strcmp(text, "raw") == 0;
        break;
    case KIND_STORE_ID:
        is_valid = store_id_is_valid(text);
        break;
    case KIND_PATH:
        is_valid = path_is_valid(text);
        break;
    case KIND_SWITCH:
        is_valid = switch_is_valid(text);
        break;
    }
    return is_valid ? PAWL_OK : refuse_value(row, text, err);
}

int64_t pawl__option_number(enum pawl__option option, const char *text)
{
    const struct row *row = row_of(option);
    uint64_t count = 0;
    int64_t ms = 0;

    switch (row->kind) {
    case KIND_DURATION:
        if (strcmp(text, "off") != 0) {
            PAWL_INVARIANT(pawl__parse_duration_ms(text, &ms));
        }
        return ms;
    case KIND_COUNT:
        PAWL_INVARIANT(pawl__parse_u64(text, &count));
        return (int64_t)count;
    case KIND_LAYOUT:
        return strcmp(text, "raw") == 0 ? PAWL__LAYOUT_RAW : PAWL__LAYOUT_PAWL;
    case KIND_SWITCH:
        return strcmp(text, "1") == 0 || strcmp(text, "true") == 0;
    case KIND_URL:
    case KIND_ROOT:
    case KIND_STORE_ID:
    case KIND_PATH:
        break;
    }
    return 0;
}
