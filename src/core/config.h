/* Strict loader of configuration files: one flat YAML mapping of the options table. No anchors,
 * aliases, tags, merge keys, nested values, unknown or repeated keys, second documents. */
#ifndef PAWL_CORE_CONFIG_H
#define PAWL_CORE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "core/options_table.h"
#include <pawl/status.h>

/* A longer file is no configuration of ours. */
#define PAWL__CONFIG_MAX 65536

/* Place of a value, counted from 1, columns in characters. */
struct pawl__config_mark {
    unsigned line;
    unsigned column;
};

/* What a file sets. Zeroed = nothing. */
struct pawl__config {
    char *values[PAWL__OPTION_COUNT]; /* owned; NULL = not in the file */
    struct pawl__config_mark marks[PAWL__OPTION_COUNT];
};

/* Reads `text` of `len` bytes; `file` is for messages ("file:line:column: ..."). Every value is
 * checked by itself. E_CONFIG, E_NOMEM; *ret_config is set on success only. */
pawl_status pawl__config_parse(const char *text, size_t len, const char *file,
                               struct pawl__config *ret_config, pawl_error *err);

/* Reads the file at `path`; *ret_found is false when there is none, and *ret_config is then empty.
 * E_CONFIG also for a file that cannot be read, is no regular file or is too long. */
pawl_status pawl__config_load(const char *path, bool *ret_found, struct pawl__config *ret_config,
                              pawl_error *err);

/* Frees the values; NULL is allowed. */
void pawl__config_release(struct pawl__config *config);

#endif
