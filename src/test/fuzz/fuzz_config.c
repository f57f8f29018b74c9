/* Fuzz target: configuration files. What is refused has a place, what is taken passed its checks.
 */
#include "base/assert.h"
#include "core/config.h"
#include "test/fuzz/fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pawl_error *err = pawl_error_new();
    struct pawl__config config;

    PAWL_INVARIANT(err != NULL);
    if (pawl__config_parse((const char *)data, size, "f.yaml", &config, err) == PAWL_OK) {
        for (int i = 0; i < PAWL__OPTION_COUNT; i++) {
            enum pawl__option option = (enum pawl__option)i;
            PAWL_INVARIANT(config.values[i] == NULL || config.marks[i].line > 0);
            PAWL_INVARIANT(config.values[i] == NULL ||
                           pawl__option_check(option, config.values[i], NULL) == PAWL_OK);
        }
        pawl__config_release(&config);
    } else {
        PAWL_INVARIANT(strncmp(pawl_error_message(err), "f.yaml:", 7) == 0);
    }
    pawl_error_free(err);
    return 0;
}
