/* pawl_options_check_file(): one configuration file judged by itself, for `pawl config check`. */
#include "core/config.h"
#include "core/error.h"
#include "core/options_table.h"
#include <pawl/options.h>

/* Sets what the file sets, as if by flags, and checks it together. */
static pawl_status check_together(const struct pawl__config *config, pawl_error *err)
{
    pawl_options *options = pawl_options_new();
    if (options == NULL) {
        return pawl__error_set(err, PAWL_E_NOMEM, 0, "out of memory");
    }
    pawl_status status = PAWL_OK;
    for (unsigned i = 0; i < PAWL__OPTION_COUNT && status == PAWL_OK; i++) {
        if (config->values[i] != NULL) {
            status = pawl_options_set(options, pawl__option_words((enum pawl__option)i)->key,
                                      config->values[i], err);
        }
    }
    if (status == PAWL_OK) {
        status = pawl_options_check(options, err);
    }
    pawl_options_free(options);
    return status;
}

pawl_status pawl_options_check_file(const char *path, pawl_error *err)
{
    struct pawl__config config = {0};
    bool found = false;
    if (path == NULL) {
        return pawl__error_set(err, PAWL_E_INVALID, 0, "no path is given");
    }
    pawl_status status = pawl__config_load(path, &found, &config, err);
    if (status == PAWL_OK && !found) {
        status = pawl__error_set(err, PAWL_E_CONFIG, 0, "%s: there is no such file", path);
    }
    if (status == PAWL_OK) {
        status = check_together(&config, err);
        if (status != PAWL_OK) {
            pawl__error_prefix(err, "%s", path);
        }
    }
    pawl__config_release(&config);
    return status;
}
