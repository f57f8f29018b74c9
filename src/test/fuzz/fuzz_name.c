/* Fuzz target: lock names and sealed tokens. Each name has one spelling, each token one text. */
#include "base/assert.h"
#include "base/buf.h"
#include "core/name.h"
#include "core/seal.h"
#include "test/fuzz/fuzz.h"

#include <string.h>

static void check_as_name(const char *name, size_t len)
{
    struct pawl__buf encoded = {0};
    struct pawl__buf decoded = {0};

    pawl_status status = pawl__name_encode(name, len, &encoded);
    PAWL_INVARIANT(status == pawl__name_check(name, len, NULL));
    if (status == PAWL_OK) {
        PAWL_INVARIANT(pawl__name_decode(encoded.data, encoded.len, &decoded) == PAWL_OK);
        PAWL_INVARIANT(decoded.len == len && memcmp(decoded.data, name, len) == 0);
    }
    pawl__buf_release(&encoded);
    pawl__buf_release(&decoded);
}

static void check_as_spelling(const char *text, size_t len)
{
    struct pawl__buf name = {0};
    struct pawl__buf again = {0};

    if (pawl__name_decode(text, len, &name) == PAWL_OK) {
        PAWL_INVARIANT(pawl__name_encode(name.data, name.len, &again) == PAWL_OK);
        PAWL_INVARIANT(again.len == len && memcmp(again.data, text, len) == 0);
    }
    pawl__buf_release(&name);
    pawl__buf_release(&again);
}

static void check_as_token(const char *text, size_t len)
{
    struct pawl__buf again = {0};
    struct pawl__seal seal;

    if (pawl__seal_parse(text, len, &seal, NULL) == PAWL_OK) {
        PAWL_INVARIANT(pawl__seal_append(&again, seal.store_id, seal.epoch, seal.number, seal.mode,
                                         seal.name) == PAWL_OK);
        PAWL_INVARIANT(again.len == len && memcmp(again.data, text, len) == 0);
    }
    pawl__buf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;

    check_as_name(text, size);
    check_as_spelling(text, size);
    check_as_token(text, size);
    return 0;
}
