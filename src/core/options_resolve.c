/* What options come to: defaults that depend on others, and checks of values against each other.
 * Unsafe sets are refused with the pair that does not fit (design.md 6, rule 9). */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/limits.h"
#include "core/error.h"
#include "core/options_internal.h"

#define DEFAULT_ROOT "pawl"

#define TTL_ETCD_MS  10000
#define TTL_OTHER_MS 30000
#define TICK_MS      2000
#define TRY_MS       5000
#define CONNECT_MS   2000
#define GRACE_MS     5000

/* What a check needs. */
struct view {
    const pawl_options *options; /* borrowed; may be NULL */
    const struct pawl__url *url; /* borrowed */
    const struct pawl__settings *settings;
    pawl_error *err;
};

static bool is_scheme(const struct pawl__url *url, const char *scheme)
{
    return strcmp(url->scheme, scheme) == 0;
}

/* etcd or ZooKeeper: reached over a network. */
static bool is_remote(const struct pawl__url *url)
{
    return is_scheme(url, "etcd") || is_scheme(url, "zk");
}

static int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t pick_number(const pawl_options *options, const struct pawl__url *url,
                           enum pawl__option option, int64_t default_value)
{
    const char *text = pawl__options_pick(options, url, option, NULL);

    return text == NULL ? default_value : pawl__option_number(option, text);
}

/* Longest interval of renewal that leaves time for one more try. */
static int64_t renew_max(const struct pawl__url *url, const struct pawl__settings *settings)
{
    if (is_scheme(url, "zk")) {
        return settings->ttl_ms / 12; /* design.md 6, rule 2: measured. */
    }
    return (settings->ttl_ms - settings->margin_ms) / 2;
}

static void compute_times(const pawl_options *options, const struct pawl__url *url,
                          struct pawl__settings *settings)
{
    int64_t ttl_default = is_scheme(url, "etcd") ? TTL_ETCD_MS : TTL_OTHER_MS;

    settings->ttl_ms = pick_number(options, url, PAWL__OPTION_TTL, ttl_default);
    /* Without a ttl nothing expires; the other times are then those of the default. */
    int64_t ttl = settings->ttl_ms == 0 ? ttl_default : settings->ttl_ms;
    settings->margin_ms =
        pick_number(options, url, PAWL__OPTION_MARGIN, max_of(PAWL__MARGIN_DEFAULT_MS, ttl / 10));
    settings->tick_ms = pick_number(options, url, PAWL__OPTION_TICK, TICK_MS);
    settings->renew_ms =
        pick_number(options, url, PAWL__OPTION_RENEW, is_scheme(url, "zk") ? ttl / 12 : ttl / 4);
    settings->request_timeout_ms =
        pick_number(options, url, PAWL__OPTION_REQUEST_TIMEOUT, min_of(TRY_MS, ttl / 3));
    settings->connect_timeout_ms =
        pick_number(options, url, PAWL__OPTION_CONNECT_TIMEOUT, min_of(CONNECT_MS, ttl / 4));
    settings->retry_base_ms =
        pick_number(options, url, PAWL__OPTION_RETRY_BASE, PAWL__RETRY_BASE_MS);
    settings->retry_cap_ms = pick_number(options, url, PAWL__OPTION_RETRY_CAP, PAWL__RETRY_CAP_MS);
    int64_t left = max_of(0, ttl - settings->margin_ms - settings->renew_ms);
    settings->grace_ms = pick_number(options, url, PAWL__OPTION_GRACE, min_of(GRACE_MS, left));
}

void pawl__options_compute(const pawl_options *options, const struct pawl__url *url,
                           struct pawl__settings *settings)
{
    *settings = (struct pawl__settings){.ttl_ms = 0};
    compute_times(options, url, settings);
    settings->max_requests =
        (unsigned)pick_number(options, url, PAWL__OPTION_MAX_REQUESTS, PAWL__REQUESTS_MAX);
    settings->layout =
        (enum pawl__layout)pick_number(options, url, PAWL__OPTION_LAYOUT, PAWL__LAYOUT_PAWL);
    settings->insecure = pick_number(options, url, PAWL__OPTION_INSECURE, 0) != 0;
    settings->root = pawl__options_pick(options, url, PAWL__OPTION_ROOT, NULL);
    if (settings->root == NULL) {
        settings->root = DEFAULT_ROOT;
    }
    settings->store_id = pawl__options_pick(options, url, PAWL__OPTION_STORE_ID, NULL);
    settings->password_file = pawl__options_pick(options, url, PAWL__OPTION_PASSWORD_FILE, NULL);
    settings->cacert = pawl__options_pick(options, url, PAWL__OPTION_CACERT, NULL);
    settings->cert = pawl__options_pick(options, url, PAWL__OPTION_CERT, NULL);
    settings->key = pawl__options_pick(options, url, PAWL__OPTION_KEY, NULL);
}

int64_t pawl__settings_ms(const struct pawl__settings *settings, enum pawl__option option)
{
    int64_t values[PAWL__OPTION_COUNT];

    for (int i = 0; i < PAWL__OPTION_COUNT; i++) {
        values[i] = -1;
    }
    values[PAWL__OPTION_TTL] = settings->ttl_ms;
    values[PAWL__OPTION_MARGIN] = settings->margin_ms;
    values[PAWL__OPTION_TICK] = settings->tick_ms;
    values[PAWL__OPTION_RENEW] = settings->renew_ms;
    values[PAWL__OPTION_REQUEST_TIMEOUT] = settings->request_timeout_ms;
    values[PAWL__OPTION_CONNECT_TIMEOUT] = settings->connect_timeout_ms;
    values[PAWL__OPTION_RETRY_BASE] = settings->retry_base_ms;
    values[PAWL__OPTION_RETRY_CAP] = settings->retry_cap_ms;
    values[PAWL__OPTION_GRACE] = settings->grace_ms;
    return values[option];
}

/* ---- Checks -------------------------------------------------------------------------------- */

/* "ttl 10s (default)" */
static void show(const struct view *view, enum pawl__option option, char *out, size_t out_size)
{
    const char *key = pawl__option_words(option)->key;
    const char *text = pawl__options_pick(view->options, view->url, option, NULL);
    char number[PAWL__DURATION_TEXT_MAX];

    if (text != NULL) {
        (void)snprintf(out, out_size, "%s %.64s", key, text);
    } else {
        pawl__format_duration(number, sizeof(number), pawl__settings_ms(view->settings, option));
        (void)snprintf(out, out_size, "%s %s (default)", key, number);
    }
}

/* Refuses `option` above `max_ms`, which `rule` derives from `other`. */
static pawl_status check_max(const struct view *view, enum pawl__option option,
                             enum pawl__option other, int64_t max_ms, const char *rule)
{
    char first[128];
    char second[128];
    char limit[PAWL__DURATION_TEXT_MAX];

    if (pawl__settings_ms(view->settings, option) <= max_ms) {
        return PAWL_OK;
    }
    show(view, option, first, sizeof(first));
    show(view, other, second, sizeof(second));
    pawl__format_duration(limit, sizeof(limit), max_ms);
    return pawl__error_set(
        view->err, PAWL_E_CONFIG, 0,
        "%s does not fit %s: %s must be at most %s, here %s; lower %s or raise %s", first, second,
        pawl__option_words(option)->key, rule, limit, pawl__option_words(option)->key,
        pawl__option_words(other)->key);
}

/* Pairs that decide whether a hold can be kept alive. */
static pawl_status check_lease(const struct view *view)
{
    const struct pawl__settings *settings = view->settings;
    int64_t ttl = settings->ttl_ms;
    bool is_zk = is_scheme(view->url, "zk");

    pawl_status status = check_max(view, PAWL__OPTION_MARGIN, PAWL__OPTION_TTL, ttl / 2, "ttl/2");
    if (status == PAWL_OK && is_zk) {
        status = check_max(view, PAWL__OPTION_TICK, PAWL__OPTION_TTL, ttl / 4, "ttl/4");
    }
    if (status == PAWL_OK) {
        status =
            check_max(view, PAWL__OPTION_RENEW, PAWL__OPTION_TTL, renew_max(view->url, settings),
                      is_zk ? "ttl/12" : "half of ttl - margin");
    }
    if (status == PAWL_OK) {
        status = check_max(view, PAWL__OPTION_REQUEST_TIMEOUT, PAWL__OPTION_TTL, ttl / 3, "ttl/3");
    }
    if (status == PAWL_OK) {
        status = check_max(view, PAWL__OPTION_CONNECT_TIMEOUT, PAWL__OPTION_TTL, ttl / 3, "ttl/3");
    }
    if (status == PAWL_OK) {
        status = check_max(view, PAWL__OPTION_GRACE, PAWL__OPTION_TTL,
                           ttl - settings->margin_ms - settings->renew_ms,
                           "ttl - margin - renew, what the deadline leaves");
    }
    return status;
}

/* What only some stores have. */
static pawl_status check_store(const struct view *view)
{
    const struct pawl__settings *settings = view->settings;

    if (settings->ttl_ms == 0 && is_remote(view->url)) {
        return pawl__error_set(view->err, PAWL_E_CONFIG, 0,
                               "ttl off does not fit store %s: only a local store frees locks "
                               "without a ttl; give 2s to 300s",
                               view->url->scheme);
    }
    if (settings->layout == PAWL__LAYOUT_RAW && !is_remote(view->url)) {
        return pawl__error_set(view->err, PAWL_E_CONFIG, 0,
                               "layout raw does not fit store %s: there are no other clients to "
                               "share locks with; leave it out",
                               view->url->scheme);
    }
    return PAWL_OK;
}

/* Files without the connection they are for would be security that is not there. */
static pawl_status check_tls(const struct view *view)
{
    const struct pawl__settings *settings = view->settings;
    const enum pawl__option options[] = {PAWL__OPTION_CACERT, PAWL__OPTION_CERT, PAWL__OPTION_KEY};
    const char *const paths[] = {settings->cacert, settings->cert, settings->key};

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (paths[i] != NULL && !view->url->tls) {
            return pawl__error_set(view->err, PAWL_E_CONFIG, 0,
                                   "%s does not fit store %s://: the connection is not encrypted; "
                                   "write %ss:// or leave %s out",
                                   pawl__option_words(options[i])->key, view->url->scheme,
                                   view->url->scheme, pawl__option_words(options[i])->key);
        }
    }
    if ((settings->cert == NULL) != (settings->key == NULL)) {
        return pawl__error_set(view->err, PAWL_E_CONFIG, 0,
                               "cert and key go together: %s is missing",
                               settings->cert == NULL ? "cert" : "key");
    }
    return PAWL_OK;
}

static pawl_status check_password(const struct view *view)
{
    const struct pawl__url *url = view->url;

    if (view->settings->password_file == NULL) {
        return PAWL_OK;
    }
    if (url->user == NULL) {
        return pawl__error_set(view->err, PAWL_E_CONFIG, 0,
                               "password_file does not fit a store URL without a user; write "
                               "%s%s://USER@host",
                               url->scheme, url->tls ? "s" : "");
    }
    for (size_t i = 0; i < url->host_count && !url->tls && !view->settings->insecure; i++) {
        if (!pawl__url_host_is_local(&url->hosts[i])) {
            return pawl__error_set(view->err, PAWL_E_CONFIG, 0,
                                   "password_file does not fit store %s://: the password would go "
                                   "to %s unencrypted; write %ss://, or insecure=1 to allow it",
                                   url->scheme, url->hosts[i].name, url->scheme);
        }
    }
    return PAWL_OK;
}

pawl_status pawl__options_check_pairs(const pawl_options *options, const struct pawl__url *url,
                                      const struct pawl__settings *settings, pawl_error *err)
{
    const struct view view = {options, url, settings, err};

    pawl_status status = check_store(&view);
    if (status == PAWL_OK && settings->ttl_ms != 0) {
        status = check_lease(&view);
    }
    if (status == PAWL_OK) {
        status = check_max(&view, PAWL__OPTION_RETRY_BASE, PAWL__OPTION_RETRY_CAP,
                           settings->retry_cap_ms, "retry_cap");
    }
    /* A machine's files may name certificates for its clusters; a local store passes them over. */
    if (status == PAWL_OK && is_remote(url)) {
        status = check_tls(&view);
    }
    if (status == PAWL_OK && is_remote(url)) {
        status = check_password(&view);
    }
    return status;
}

pawl_status pawl__options_resolve(const pawl_options *options, const struct pawl__url *url,
                                  struct pawl__settings *ret_settings, pawl_error *err)
{
    struct pawl__settings settings;

    pawl_status status = pawl__option_check_url(url, err);
    if (status != PAWL_OK) {
        return status;
    }
    pawl__options_compute(options, url, &settings);
    status = pawl__options_check_pairs(options, url, &settings, err);
    if (status == PAWL_OK) {
        *ret_settings = settings;
    }
    return status;
}
