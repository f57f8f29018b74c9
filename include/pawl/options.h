/* Options of a client, by key and text. One table in the library defines every key, its default,
 * its range and its meaning; `pawl config --reference` prints it. */
#ifndef PAWL_OPTIONS_H
#define PAWL_OPTIONS_H

#include <stddef.h>

#include <pawl/export.h>
#include <pawl/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A set of options. Owned by the caller; not shared between threads at one time; copied by
 * pawl_client_open(), so that it may be freed or changed afterwards. */
typedef struct pawl_options pawl_options;

/* A new set that holds the defaults; NULL when memory is out. Free with pawl_options_free(). */
PAWL_API pawl_options *pawl_options_new(void);

/* Frees `options`; NULL is allowed. */
PAWL_API void pawl_options_free(pawl_options *options);

/* Sets `key` to `text` (both copied), as if given as a flag: it wins over environment, files and
 * URL. Durations need a unit: "250ms", "10s", "5m". `store` is a key like the others.
 * PAWL_E_CONFIG: unknown key (the message names the nearest known one) or a value out of its range;
 * PAWL_E_INVALID: NULL argument; PAWL_E_NOMEM. Nothing is changed on failure. Never blocks. */
PAWL_API pawl_status pawl_options_set(pawl_options *options, const char *key, const char *text,
                                      pawl_error *err);

/* Reads environment (PAWL_<KEY>) and the configuration files ./.pawl.yaml,
 * $XDG_CONFIG_HOME/pawl/config.yaml, /etc/pawl/config.yaml into `options`, each below what was set
 * by pawl_options_set(). A file that is not there is passed over; one that cannot be read or is
 * malformed is PAWL_E_CONFIG with file, line and column. Reads files: may block on a slow disk. */
PAWL_API pawl_status pawl_options_load(pawl_options *options, pawl_error *err);

/* The effective text of `key`, after defaults that depend on others were worked out (call after all
 * sets); NULL when the key is unknown or has no value. Borrowed until `options` changes. */
PAWL_API const char *pawl_options_get(pawl_options *options, const char *key);

/* Where the value of `key` came from: "default", "flag", "url", "environment PAWL_TTL",
 * "file ./.pawl.yaml:3:6"; NULL for an unknown key. Borrowed until `options` changes. */
PAWL_API const char *pawl_options_source(pawl_options *options, const char *key);

/* The table, for help and bindings: key number `index` (0, 1, ...) with its default, range and
 * meaning in words; NULL past the end. Any of the last three may be NULL. Static storage. */
PAWL_API const char *pawl_options_describe(size_t index, const char **ret_default,
                                           const char **ret_range, const char **ret_meaning);

/* Checks all values against each other (ttl, margin, renew, request_timeout, grace ...), as
 * pawl_client_open() does. PAWL_E_CONFIG names the pair that does not fit. Never blocks. */
PAWL_API pawl_status pawl_options_check(pawl_options *options, pawl_error *err);

/* Judges the configuration file at `path`, wherever it lies and whatever else is set: syntax, keys,
 * each value, and all of them together over the defaults. PAWL_E_CONFIG with file, line and column,
 * also when it is not there; PAWL_E_INVALID; PAWL_E_NOMEM. Reads one file: may block on a slow
 * disk.
 */
PAWL_API pawl_status pawl_options_check_file(const char *path, pawl_error *err);

#ifdef __cplusplus
}
#endif

#endif
