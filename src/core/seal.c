/* See seal.h. */
#include "core/seal.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/text.h"
#include "core/error.h"
#include "core/name.h"

#define SEAL_MAGIC   "pawl1"
#define STORE_ID_LEN 16

/* Fields before the name, none of which holds a dot. */
enum field { FIELD_MAGIC, FIELD_STORE_ID, FIELD_EPOCH, FIELD_NUMBER, FIELD_MODE, FIELD_COUNT };

/* A field as a string of its own; longer ones are none of ours. */
#define FIELD_MAX PAWL__MODE_MAX

static bool is_store_id(const char *text)
{
    uint64_t ignored = 0;

    return strlen(text) == STORE_ID_LEN && pawl__parse_hex_u64(text, STORE_ID_LEN, &ignored);
}

pawl_status pawl__seal_append(struct pawl__buf *buf, const char *store_id, uint64_t epoch,
                              uint64_t number, enum pawl__mode mode, const char *name)
{
    struct pawl__buf encoded;

    PAWL_INVARIANT(is_store_id(store_id));
    PAWL_INVARIANT(number != 0);
    PAWL_INVARIANT(mode > PAWL__MODE_NONE && mode < PAWL__MODE_COUNT);
    pawl__buf_init(&encoded);
    pawl_status status = pawl__name_encode(name, strlen(name), &encoded);
    if (status == PAWL_OK) {
        /* One append, so that a failure leaves nothing behind. */
        pawl__buf_appendf(buf, SEAL_MAGIC ".%s.%" PRIu64 ".%" PRIu64 ".%s.%s", store_id, epoch,
                          number, pawl__mode_word(mode), pawl__buf_str(&encoded));
        status = pawl__buf_ok(buf) ? PAWL_OK : PAWL_E_NOMEM;
    }
    pawl__buf_release(&encoded);
    return status;
}

/* Copies what comes before the next dot and moves *at behind it. */
static bool take_field(const char *text, size_t len, size_t *at, char out[FIELD_MAX + 1])
{
    const char *dot = memchr(text + *at, '.', len - *at);

    if (dot == NULL) {
        return false;
    }
    size_t field_len = (size_t)(dot - (text + *at));
    if (field_len > FIELD_MAX || memchr(text + *at, '\0', field_len) != NULL) {
        return false;
    }
    memcpy(out, text + *at, field_len);
    out[field_len] = '\0';
    *at += field_len + 1;
    return true;
}

/* Decimal without leading zeros. */
static bool parse_number(const char *text, uint64_t *ret_number)
{
    return (text[0] != '0' || text[1] == '\0') && pawl__parse_u64(text, ret_number);
}

static pawl_status refuse(pawl_error *err, const char *what)
{
    /* The token itself is left out: whoever reads it can use it. */
    return pawl__error_set(err, PAWL_E_DATA, 0,
                           "not a sealed token: %s; pass it on exactly as pawl gave it, "
                           "\"pawl1.<store id>.<epoch>.<number>.<mode>.<name>\"",
                           what);
}

static pawl_status parse_fields(char fields[FIELD_COUNT][FIELD_MAX + 1], struct pawl__seal *seal,
                                pawl_error *err)
{
    if (strcmp(fields[FIELD_MAGIC], SEAL_MAGIC) != 0) {
        return refuse(err, "it does not begin with \"" SEAL_MAGIC ".\"");
    }
    if (!is_store_id(fields[FIELD_STORE_ID])) {
        return refuse(err, "the store id is not 16 lower-case hex digits");
    }
    memcpy(seal->store_id, fields[FIELD_STORE_ID], STORE_ID_LEN + 1);
    if (!parse_number(fields[FIELD_EPOCH], &seal->epoch)) {
        return refuse(err, "the epoch is not a decimal number");
    }
    if (!parse_number(fields[FIELD_NUMBER], &seal->number) || seal->number == 0) {
        return refuse(err, "the number is not a decimal number above 0");
    }
    seal->mode = pawl__mode_parse(fields[FIELD_MODE]);
    if (seal->mode == PAWL__MODE_NONE) {
        return refuse(err, "the mode is not known");
    }
    return PAWL_OK;
}

pawl_status pawl__seal_parse(const char *text, size_t len, struct pawl__seal *ret_seal,
                             pawl_error *err)
{
    char fields[FIELD_COUNT][FIELD_MAX + 1];
    struct pawl__seal seal = {.number = 0};
    struct pawl__buf name;
    size_t at = 0;

    if (len > PAWL__SEALED_MAX) {
        return refuse(err, "it is too long");
    }
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (!take_field(text, len, &at, fields[i])) {
            return refuse(err, "it does not have six parts");
        }
    }
    pawl_status status = parse_fields(fields, &seal, err);
    if (status != PAWL_OK) {
        return status;
    }
    pawl__buf_init(&name);
    status = pawl__name_decode(text + at, len - at, &name);
    if (status == PAWL_OK) {
        pawl__assert(name.len < sizeof(seal.name));
        memcpy(seal.name, name.data, name.len + 1);
        *ret_seal = seal;
    } else if (status == PAWL_E_DATA) {
        (void)refuse(err, "the name is not spelled as pawl spells it");
    } else {
        (void)pawl__error_set(err, status, 0, "out of memory");
    }
    pawl__buf_release(&name);
    return status;
}
