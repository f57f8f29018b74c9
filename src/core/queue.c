/* Strict first come, first served: an entry is granted when every earlier live entry of its queue
 * is compatible. So what it waits for is the nearest earlier entry of a conflicting mode, which is
 * not always the nearest entry. */
#include "core/queue.h"

#include "base/assert.h"

void pawl__queue_look(const struct pawl__queue_entry *queue, size_t len, uint64_t session,
                      uint64_t attempt, enum pawl__mode mode, struct pawl__queue_view *ret_view)
{
    struct pawl__queue_view view = {0};
    uint64_t last = 0;

    for (size_t i = 0; i < len; i++) {
        PAWL_INVARIANT(queue[i].number > last);
        last = queue[i].number;
        if (queue[i].session == session && queue[i].attempt == attempt) {
            view.own_present = true;
            view.own_number = queue[i].number;
            break;
        }
        if (pawl__mode_conflicts(queue[i].mode, mode)) {
            view.blocker = queue[i].number;
            view.holder = view.holder == 0 ? queue[i].number : view.holder;
            view.position++;
        }
    }
    *ret_view = view;
}
