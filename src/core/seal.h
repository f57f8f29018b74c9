/* Sealed tokens: a fencing token with all that a guard needs to refuse the wrong one (formats.md
 * 1): pawl1.<store id: 16 hex>.<epoch>.<number>.<mode>.<encoded name> */
#ifndef PAWL_CORE_SEAL_H
#define PAWL_CORE_SEAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "core/mode.h"
#include <pawl/status.h>

struct pawl__buf;

/* A sealed token, opened. */
struct pawl__seal {
    char store_id[17];
    uint64_t epoch;
    uint64_t number; /* the fencing token, not 0 */
    enum pawl__mode mode;
    char name[PAWL__NAME_MAX + 1];
};

/* Appends a sealed token. `store_id` is 16 lower-case hex digits and `number` not 0, as the store
 * gave them. E_DATA: `name` is not legal; E_NOMEM. Nothing is appended on failure. */
pawl_status pawl__seal_append(struct pawl__buf *buf, const char *store_id, uint64_t epoch,
                              uint64_t number, enum pawl__mode mode, const char *name);

/* Opens the token in exactly `len` bytes: one spelling only, so that equal texts and equal tokens
 * are the same thing. E_DATA for all else; *ret_seal is set on success only. */
pawl_status pawl__seal_parse(const char *text, size_t len, struct pawl__seal *ret_seal,
                             pawl_error *err);

#endif
