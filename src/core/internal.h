/* What the files of the runtime share: tickets, and the order of locks.
 *
 * The runtime is everything around the pure core: the owner thread of each client, the mailbox that
 * leads to it, the queue of callbacks that leads away from it, and the public functions.
 *
 * Locks. There are five, all short and all leaves: none is ever taken while another is held, so
 * that there is no order to get wrong. No system call that can block, no callback and no step of
 * the core is made under any of them.
 *
 *     mailbox.mu    queue to the owner thread, live tickets, the ids        mailbox.h
 *     dispatch.mu   queue of callbacks, who runs them, the event callback   dispatch.h
 *     ticket.mu     outcome of one pending, hold or query                   below
 *     client.mu     end of the owner thread, random numbers of callers      client.h
 *     fork.c's mu   list of clients; taken around every fork()              fork.h
 *
 * "mu held on entry" in a comment names the lock of the same struct. In a forked child no lock is
 * taken: it may be held by a thread that does not exist there. */
#ifndef PAWL_CORE_INTERNAL_H
#define PAWL_CORE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include <pawl/client.h>
#include <pawl/status.h>

/* Something that has a callback to be run: the outcome of a pending, a changed hold, an event.
 * Guarded by dispatch.mu. */
struct pawl__due {
    struct pawl__list link;
    uint64_t seq;
    bool is_event; /* immutable after init */
};

enum pawl__ticket_kind {
    PAWL__TICKET_PENDING = 1, /* pending.h */
    PAWL__TICKET_HOLD,        /* holding.h */
    PAWL__TICKET_QUERY,       /* query.h */
};

/* What the owner thread is to do with a ticket; several may come together. */
enum pawl__todo {
    PAWL__TODO_START = 1 << 0,
    PAWL__TODO_CANCEL = 1 << 1,
    PAWL__TODO_RELEASE = 1 << 2,
};

/* The part that is common to everything a caller has under way: what the owner thread knows it by,
 * how to reach the owner thread without allocating (so that giving up and giving back never fail),
 * and how a caller waits for the outcome. First member of the struct around it. */
struct pawl__ticket {
    /* Immutable after init. */
    enum pawl__ticket_kind kind;
    pawl_client *client; /* a reference of ours */
    unsigned generation; /* of the client, to be asked without touching the client in a child */

    uint64_t id; /* the core's; set when it is admitted or granted, immutable after that */
    _Atomic unsigned refs; /* user, table of the owner thread, mailbox, dispatch queue: one each */

    pthread_mutex_t mu;  /* guards the outcome in the struct around it */
    pthread_cond_t cond; /* monotonic; broadcast at the outcome */

    /* Guarded by mailbox.mu. */
    struct pawl__list queue_link;
    struct pawl__list live_link;
    unsigned todo; /* enum pawl__todo; not 0 = in the queue */

    struct pawl__due due; /* guarded by dispatch.mu */
};

/* One reference, the caller's. */
void pawl__ticket_init(struct pawl__ticket *ticket, enum pawl__ticket_kind kind,
                       pawl_client *client);
void pawl__ticket_ref(struct pawl__ticket *ticket);

/* Frees with the last reference the struct around it. NULL is allowed; returns NULL. */
void *pawl__ticket_unref(struct pawl__ticket *ticket);

/* Undoes _init; called by the kinds' own destructors with the last reference. */
void pawl__ticket_release(struct pawl__ticket *ticket);

/* Tells the owner thread; nothing happens when it has ended. Never fails. */
void pawl__ticket_post(struct pawl__ticket *ticket, enum pawl__todo todo);

/* Queues its callback, once however often it is asked for. */
void pawl__ticket_make_due(struct pawl__ticket *ticket);

/* Takes its callback out of the queue. */
void pawl__ticket_withdraw(struct pawl__ticket *ticket);

/* Runs its callback if it has one: true. `scratch` is overwritten; may be NULL. */
bool pawl__ticket_run_due(struct pawl__ticket *ticket, pawl_error *scratch);

/* Ends it without the core, which is gone or stuck: E_CLOSED, or LOST. */
void pawl__ticket_strand(struct pawl__ticket *ticket);

#endif
