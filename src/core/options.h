/* What the options come to for one store: the inside of pawl/options.h. */
#ifndef PAWL_CORE_OPTIONS_H
#define PAWL_CORE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <pawl/options.h>
#include <pawl/status.h>

struct pawl__url;

enum pawl__layout { PAWL__LAYOUT_PAWL = 0, PAWL__LAYOUT_RAW = 1 };

/* All values, checked one by one and against each other. Strings are borrowed from the options,
 * from the URL, or static: keep both while they are used. NULL = no value. */
struct pawl__settings {
    int64_t ttl_ms; /* asked for; 0 = off */
    int64_t margin_ms;
    int64_t tick_ms; /* zk only; the default elsewhere */
    int64_t renew_ms;
    int64_t request_timeout_ms;
    int64_t connect_timeout_ms;
    int64_t retry_base_ms;
    int64_t retry_cap_ms;
    int64_t grace_ms;
    unsigned max_requests;
    enum pawl__layout layout;
    bool insecure;
    const char *root; /* never NULL */
    const char *store_id;
    const char *password_file;
    const char *cacert;
    const char *cert;
    const char *key;
};

/* The text of the option `store`, "local:" if nothing set it. NULL options = defaults. Borrowed
 * until `options` changes. Always a URL that parses. */
const char *pawl__options_store(const pawl_options *options);

/* Works out the settings for the store `url`, whose query and root win over environment and files
 * and lose to what pawl_options_set() set. NULL options = defaults only. E_CONFIG names the key or
 * the pair of keys that does not fit; *ret_settings is set on success only. Never blocks. */
pawl_status pawl__options_resolve(const pawl_options *options, const struct pawl__url *url,
                                  struct pawl__settings *ret_settings, pawl_error *err);

/* An owned copy (a new set for NULL); NULL when memory is out. */
pawl_options *pawl__options_copy(const pawl_options *options);

/* For tests: pawl_options_load() reads `path` (borrowed, NULL = the real one) in place of
 * /etc/pawl/config.yaml. Process-wide; not while another thread loads. */
void pawl__options_set_system_file(const char *path);

#endif
