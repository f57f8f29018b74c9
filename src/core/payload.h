/* What a contender writes into its entry for people to read (formats.md 1), and who it says it is.
 */
#ifndef PAWL_CORE_PAYLOAD_H
#define PAWL_CORE_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "core/mode.h"
#include <pawl/status.h>

struct pawl__buf;

#define PAWL__HOST_MAX 64  /* HOST_NAME_MAX of Linux */
#define PAWL__RUN_MAX  128 /* run and trace ids */

/* All strings are borrowed and were checked; NULL = "". */
struct pawl__payload {
    uint64_t attempt;
    const char *owner; /* principal */
    const char *host;
    int64_t pid;
    enum pawl__mode mode;
    const char *reason;
    const char *run;
    const char *trace;
    int64_t since_ms; /* wall clock, for people only */
};

/* What was found in the payload of any contender; texts are cut to their bound and free of control
 * characters, whoever wrote them. */
struct pawl__payload_fields {
    uint64_t attempt; /* 0 = unknown, as are 0 and "" below */
    char owner[PAWL__OWNER_MAX + 1];
    char host[PAWL__HOST_MAX + 1];
    int64_t pid;
    char mode[PAWL__MODE_MAX + 1];
    char reason[PAWL__REASON_MAX + 1];
    char run[PAWL__RUN_MAX + 1];
    char trace[PAWL__RUN_MAX + 1];
    int64_t since_ms;
};

/* Words of a caller, called `what` in messages ("reason"): at most `max` bytes of UTF-8 without
 * control characters (C1 too: terminals obey them). NULL and "" are fine. E_DATA. */
pawl_status pawl__payload_check(const char *what, const char *text, size_t max, pawl_error *err);

/* Appends the JSON, at most 2 KiB. A text above its bound is E_DATA, which the checks of the caller
 * made impossible but for owner and host: those are cut. E_NOMEM. Nothing is appended on failure.
 */
pawl_status pawl__payload_build(const struct pawl__payload *payload, struct pawl__buf *buf,
                                pawl_error *err);

/* Reads a payload that anyone may have written: what is missing, of another type or too big is left
 * empty. Never fails. */
void pawl__payload_parse(const char *text, size_t len, struct pawl__payload_fields *ret_fields);

/* Name of this host, "localhost" if it has none. */
void pawl__host_name(char out[PAWL__HOST_MAX + 1]);

/* Appends "os:<user>@<host>", with the number of the effective user when it has no name. May ask a
 * name service, so it may block: call it once a client. E_NOMEM. */
pawl_status pawl__principal_os(struct pawl__buf *buf);

#endif
