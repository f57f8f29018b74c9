/* A granted request: the public pawl_hold. (core/hold.h is the core's own table of states.) */
#ifndef PAWL_CORE_HOLDING_H
#define PAWL_CORE_HOLDING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "core/internal.h"
#include "core/lease_view.h"
#include "core/mode.h"
#include "core/request_form.h"
#include <pawl/lock.h>

/* One name of a hold. */
struct pawl__held {
    char *name;              /* owned */
    struct pawl__buf sealed; /* filled at the grant */
    enum pawl__mode mode;
};

struct pawl_hold {
    struct pawl__ticket ticket; /* first */

    /* Immutable after the grant. */
    struct pawl__held *held; /* owned; in the order of the request */
    size_t count;
    uint64_t number;
    char session_name[64];
    struct pawl__lease_view *view; /* a reference; NULL = the session was over at the grant */

    /* Any thread, without a lock: see pawl__hold_move(). */
    _Atomic int state;               /* pawl_hold_state_value; PAWL__HOLD_NONE before the grant */
    _Atomic(const char *) lost_text; /* set once, before LOST; static, or lost_owned */
    _Atomic bool has_callback;       /* `changed` is set */
    char *lost_owned;                /* owned; of the thread that set lost_text */

    /* Guarded by ticket.mu. */
    int entries; /* re-entries that are not given back yet, the first one included */
    pawl_hold_fn changed;
    void *user;
    int told; /* state that the callback heard of last */
};

static inline struct pawl_hold *pawl__hold_of(struct pawl__ticket *ticket)
{
    return (struct pawl_hold *)(void *)ticket;
}

/* A hold of nothing yet. NULL when memory is out. */
pawl_hold *pawl__hold_new(pawl_client *client, const pawl_request *request);

/* With the last reference: pawl__ticket_unref(). */
void pawl__hold_destroy(struct pawl_hold *hold);

/* Owner thread, before anybody else knows the hold: it is HELD under `number` in the session of
 * `view`. False: no memory for the sealed tokens; it is HELD all the same, and must be given back.
 */
bool pawl__hold_grant(struct pawl_hold *hold, uint64_t number, const char *session_name,
                      struct pawl__lease_view *view);

/* Any thread. Moves the state if the table of core/hold.h allows it, and tells whom it concerns.
 * False: it was there already, or past it. */
bool pawl__hold_move(struct pawl_hold *hold, pawl_hold_state_value state);

/* Any thread. LOST, and why (copied); the first reason stays. False: it was over already. */
bool pawl__hold_lose(struct pawl_hold *hold, const char *why);

/* Any thread. The state by our own clock, and the time that is left (0 when it is not held;
 * INT64_MAX = no ttl). Past the deadline it makes the hold LOST before it answers. */
pawl_hold_state_value pawl__hold_look(struct pawl_hold *hold, int64_t *ret_left_ms);

/* Any thread. Gives back whatever of it is still held, without waiting. */
void pawl__hold_drop(struct pawl_hold *hold);

/* Runs the callback for changes. Runner only. False: there is nothing new to tell. */
bool pawl__hold_run_changed(struct pawl_hold *hold);

#endif
