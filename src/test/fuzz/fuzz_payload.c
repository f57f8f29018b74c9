/* Fuzz target: payloads of entries, which anyone may have written. What is shown of them is clean,
 * and can be written again. */
#include "base/assert.h"
#include "base/buf.h"
#include "core/payload.h"
#include "test/fuzz/fuzz.h"

static void check_text(const char *text, size_t max)
{
    PAWL_INVARIANT(pawl__payload_check("text", text, max, NULL) == PAWL_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl__payload_fields fields;
    struct pawl__buf buf = {0};

    pawl__payload_parse((const char *)data, size, &fields);
    check_text(fields.owner, PAWL__OWNER_MAX);
    check_text(fields.host, PAWL__HOST_MAX);
    check_text(fields.mode, PAWL__MODE_MAX);
    check_text(fields.reason, PAWL__REASON_MAX);
    check_text(fields.run, PAWL__RUN_MAX);
    check_text(fields.trace, PAWL__RUN_MAX);
    PAWL_INVARIANT(fields.pid >= 0 && fields.since_ms >= 0);
    const struct pawl__payload payload = {
        .attempt = fields.attempt,
        .owner = fields.owner,
        .host = fields.host,
        .pid = fields.pid,
        .mode = PAWL__MODE_X,
        .reason = fields.reason,
        .run = fields.run,
        .trace = fields.trace,
        .since_ms = fields.since_ms,
    };
    PAWL_INVARIANT(pawl__payload_build(&payload, &buf, NULL) == PAWL_OK);
    PAWL_INVARIANT(buf.len <= PAWL__PAYLOAD_MAX);
    pawl__buf_release(&buf);
    return 0;
}
