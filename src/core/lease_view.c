/* See lease_view.h. */
#include "core/lease_view.h"

#include "base/alloc.h"
#include "base/assert.h"

struct pawl__lease_view *pawl__lease_view_new(void)
{
    struct pawl__lease_view *view = pawl__alloc(sizeof *view);

    if (view != NULL) {
        atomic_init(&view->deadline_ms, PAWL__LEASE_DEAD);
        atomic_init(&view->refs, 1);
    }
    return view;
}

void pawl__lease_view_ref(struct pawl__lease_view *view)
{
    unsigned before = atomic_fetch_add_explicit(&view->refs, 1, memory_order_relaxed);
    PAWL_INVARIANT(before > 0);
}

void pawl__lease_view_unref(struct pawl__lease_view *view)
{
    if (view == NULL) {
        return;
    }
    unsigned before = atomic_fetch_sub_explicit(&view->refs, 1, memory_order_acq_rel);
    PAWL_INVARIANT(before > 0);
    if (before == 1) {
        pawl__free(view);
    }
}

void pawl__lease_view_start(struct pawl__lease_view *view, uint64_t session,
                            struct pawl__boot deadline)
{
    PAWL_INVARIANT(view->session == 0);
    PAWL_INVARIANT(session != 0);
    view->session = session;
    atomic_store(&view->deadline_ms, deadline.ms);
}

bool pawl__lease_view_extend(struct pawl__lease_view *view, struct pawl__boot deadline)
{
    int64_t seen = atomic_load(&view->deadline_ms);

    /* Only the owner moves it forward, so a failed exchange means that a reader ended it. */
    do {
        if (seen == PAWL__LEASE_DEAD) {
            return false;
        }
        PAWL_INVARIANT(deadline.ms >= seen);
    } while (!atomic_compare_exchange_weak(&view->deadline_ms, &seen, deadline.ms));
    return true;
}

void pawl__lease_view_end(struct pawl__lease_view *view)
{
    atomic_store(&view->deadline_ms, PAWL__LEASE_DEAD);
}

int64_t pawl__lease_view_left_ms(struct pawl__lease_view *view, struct pawl__boot now)
{
    if (view == NULL) {
        return 0;
    }
    int64_t deadline = atomic_load(&view->deadline_ms);
    while (deadline != PAWL__LEASE_DEAD) {
        if (deadline == INT64_MAX) {
            return INT64_MAX;
        }
        if (now.ms < deadline) {
            return deadline - now.ms;
        }
        /* End it before answering; if the owner was faster, its later deadline counts. */
        if (atomic_compare_exchange_weak(&view->deadline_ms, &deadline, PAWL__LEASE_DEAD)) {
            return 0;
        }
    }
    return 0;
}
