/* Fuzz target: URLs of stores. What is taken has a normal form that means the same, and settings.
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/buf.h"
#include "core/options.h"
#include "core/url.h"
#include "test/fuzz/fuzz.h"

#include <string.h>

static void check_normal_form(const struct pawl__url *url)
{
    struct pawl__buf first = {0};
    struct pawl__buf second = {0};
    struct pawl__url again;

    pawl__url_text(url, &first);
    /* Escapes make the normal form longer than what was read, so it may pass the bound. */
    if (first.len <= PAWL__URL_MAX) {
        PAWL_INVARIANT(pawl__url_parse(pawl__buf_str(&first), &again, NULL) == PAWL_OK);
        pawl__url_text(&again, &second);
        PAWL_INVARIANT(strcmp(pawl__buf_str(&first), pawl__buf_str(&second)) == 0);
        PAWL_INVARIANT(url->host_count == again.host_count && url->tls == again.tls);
        pawl__url_release(&again);
    }
    pawl__buf_release(&first);
    pawl__buf_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = pawl__strndup((const char *)data, size);
    pawl_error *err = pawl_error_new();
    struct pawl__settings settings;
    struct pawl__url url;

    PAWL_INVARIANT(text != NULL && err != NULL);
    if (pawl__url_parse(text, &url, err) == PAWL_OK) {
        check_normal_form(&url);
        if (pawl__options_resolve(NULL, &url, &settings, err) == PAWL_OK) {
            PAWL_INVARIANT(settings.ttl_ms == 0 || settings.margin_ms <= settings.ttl_ms / 2);
            PAWL_INVARIANT(settings.root[0] != '\0');
        }
        pawl__url_release(&url);
    } else {
        PAWL_INVARIANT(pawl_error_message(err)[0] != '\0');
    }
    pawl_error_free(err);
    pawl__free(text);
    return 0;
}
