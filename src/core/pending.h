/* An acquire under way: the public pawl_pending. */
#ifndef PAWL_CORE_PENDING_H
#define PAWL_CORE_PENDING_H

#include <stdbool.h>

#include "core/core.h"
#include "core/holding.h"
#include "core/internal.h"
#include "core/request_form.h"
#include "core/waiting.h"
#include <pawl/lock.h>

/*   OPEN --> DECIDED --> TAKEN     TAKEN: hold and message are handed over
 *     |         |
 *     +---------+------> DROPPED   the caller freed it: nobody will ask */
enum pawl__pending_state {
    PAWL__PENDING_OPEN = 0,
    PAWL__PENDING_DECIDED,
    PAWL__PENDING_TAKEN,
    PAWL__PENDING_DROPPED,
};

struct pawl_pending {
    struct pawl__ticket ticket; /* first */

    /* Immutable after init. */
    pawl_acquired_fn done; /* NULL = the outcome is taken by a call */
    void *user;
    bool is_try; /* it does not stand in the queue */
    pawl_hold
        *promised; /* a reference: what a grant makes a hold of, so that it needs little memory */

    /* Owner thread only, once admitted. */
    struct pawl__core_acquire acquire; /* owned until it is given to the core */
    bool is_started;                   /* it was */

    /* Guarded by ticket.mu. */
    enum pawl__pending_state state;
    pawl_status status;
    char *text;      /* owned; NULL = the status says it all */
    pawl_hold *hold; /* a reference, the caller's to be; only with PAWL_OK, until taken */
    struct pawl__waiting waiting;
    bool is_told_waiting; /* an event told of it once */
};

static inline struct pawl_pending *pawl__pending_of(struct pawl__ticket *ticket)
{
    return (struct pawl_pending *)(void *)ticket;
}

/* A pending that is ready to be admitted; its reference is the caller's. `done` and `user` are set
 * by the caller. E_NOMEM. */
pawl_status pawl__pending_new(pawl_client *client, const pawl_request *request, int64_t wait_ms,
                              pawl_pending **ret_pending);

/* With the last reference: pawl__ticket_unref(). */
void pawl__pending_destroy(struct pawl_pending *pending);

/* The outcome, once: true. Later ones change nothing: false, and `hold` stays the caller's. */
bool pawl__pending_decide(struct pawl_pending *pending, pawl_status status, const char *text,
                          pawl_hold *hold);

/* Hands the outcome over, once; before it is decided or when it is gone: false. The message stays
 * in the pending. */
bool pawl__pending_take(struct pawl_pending *pending, pawl_status *ret_status,
                        pawl_hold **ret_hold);

/* Its message, once decided. Borrowed. */
const char *pawl__pending_text(const struct pawl_pending *pending);

/* Calls `done`. Runner only. False: there is nobody to call. */
bool pawl__pending_run_done(struct pawl_pending *pending, pawl_error *scratch);

#endif
