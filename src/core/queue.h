/* What a contender sees of a queue: who is in its way. Pure; used by backends that list a queue
 * themselves, by the simulator, and by inspect. */
#ifndef PAWL_CORE_QUEUE_H
#define PAWL_CORE_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"
#include "core/mode.h"

/* One live entry; a queue is an array of them by rising number. */
struct pawl__queue_entry {
    uint64_t number;
    uint64_t session;
    uint64_t attempt;
    enum pawl__mode mode;
};

/* Looks at `queue` with the eyes of (session, attempt) asking for `mode`. If its entry is not
 * there, the view is that of one who would come last. Position is always counted. */
void pawl__queue_look(const struct pawl__queue_entry *queue, size_t len, uint64_t session,
                      uint64_t attempt, enum pawl__mode mode, struct pawl__queue_view *ret_view);

#endif
