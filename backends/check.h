/* What the wrappers of backend.c remember of an op, and the checks of its answer. */
#ifndef PAWL_BACKENDS_CHECK_H
#define PAWL_BACKENDS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"

/* An op under way. */
struct pawl__op_check {
    enum pawl__backend_event_kind kind; /* of the event that answers it */
    uint64_t session;                   /* 0 where the event names none */
    size_t count;   /* names (ENQUEUED, LOOKED) or numbers (RENEWED) asked for */
    int64_t ttl_ms; /* SESSION_OPENED: asked for */
    bool only_if_free;
    bool position;
};

/* Preconditions; only false for a bug of the caller. */
bool pawl__wants_are_valid(const struct pawl__want *wants, size_t count);
bool pawl__name_is_sane(const char *name);

/* Postconditions, NULL = all hold; else which one is broken, in words. A backend that lies could
 * make us grant twice, so the caller ends the process. `now`: the host's clock at the post. */
const char *pawl__check_answer(const struct pawl__op_check *check,
                               const struct pawl__backend_event *event, struct pawl__boot now);
const char *pawl__check_hint(const struct pawl__backend_event *event);

#endif
