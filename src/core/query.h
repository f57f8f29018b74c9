/* A call that a thread waits for and that leaves nothing behind: inspect, break, session
 * descriptor. */
#ifndef PAWL_CORE_QUERY_H
#define PAWL_CORE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "core/core.h"
#include "core/internal.h"

enum pawl__query_kind {
    PAWL__QUERY_INSPECT = 1,
    PAWL__QUERY_BREAK,
    PAWL__QUERY_SESSION,
};

struct pawl__query {
    struct pawl__ticket ticket; /* first */

    /* Immutable once admitted. */
    enum pawl__query_kind kind;
    char *name;      /* owned; NULL = all */
    char *reason;    /* owned; BREAK */
    uint64_t number; /* BREAK */
    bool now;        /* BREAK */
    struct pawl__boot deadline;

    /* Guarded by ticket.mu; immutable once done. */
    bool is_done;
    pawl_status status;
    char text[256];
    struct pawl__entry_info *entries; /* owned, with their strings; INSPECT */
    size_t entry_count;
    int fd; /* owned; -1 = none; SESSION */
};

static inline struct pawl__query *pawl__query_of(struct pawl__ticket *ticket)
{
    return (struct pawl__query *)(void *)ticket;
}

/* Copies of `name` and `reason`, both may be NULL. NULL when memory is out. Free with
 * pawl__ticket_unref(). */
struct pawl__query *pawl__query_new(pawl_client *client, enum pawl__query_kind kind,
                                    const char *name, const char *reason);

/* With the last reference: pawl__ticket_unref(). */
void pawl__query_destroy(struct pawl__query *query);

/* The core's event for it. */
void pawl__query_fill_event(struct pawl__query *query, struct pawl__core_event *event);

/* Sends it and waits for the answer, shortly beyond `timeout_ms` at most; then the outcome is
 * `late`. Returns the outcome, told in `err` as well. */
pawl_status pawl__query_run(struct pawl__query *query, int64_t timeout_ms, pawl_status late,
                            pawl_error *err);

/* The outcome, once; later ones change nothing. */
void pawl__query_finish(struct pawl__query *query, pawl_status status, const char *text);

/* As _finish with OK, and what was found: takes the entries out of `event`. */
void pawl__query_finish_inspect(struct pawl__query *query, struct pawl__backend_event *event);

/* As _finish with OK and a duplicate of `fd`. */
void pawl__query_finish_session(struct pawl__query *query, int fd);

/* Frees entries with their strings. */
void pawl__entries_free(struct pawl__entry_info *entries, size_t count);

#endif
