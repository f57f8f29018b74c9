/* The way to the owner thread: many senders, one receiver, woken through an eventfd that is written
 * only when it sleeps. What callers send is bounded by the number of live requests; what the
 * backend sends is bounded by the ops under way. Sending allocates nothing. */
#ifndef PAWL_CORE_MAILBOX_H
#define PAWL_CORE_MAILBOX_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"
#include "base/clock.h"
#include "base/list.h"
#include "core/internal.h"
#include <pawl/status.h>

struct pawl__mailbox {
    pthread_mutex_t mu;
    int event_fd;    /* immutable until _end */
    size_t live_max; /* immutable after init */

    /* Guarded by mu. */
    struct pawl__list queue; /* tickets with something to do; each has a reference */
    struct pawl__backend_event *first_event; /* owned, oldest first */
    struct pawl__backend_event *last_event;
    struct pawl__list live; /* tickets that are not over; borrowed from their references */
    size_t live_len;        /* requests among them: pendings and holds */
    size_t debt_len;        /* requests that nobody waits for, but the store may still have */
    uint64_t last_id;
    struct pawl__boot close_deadline;
    bool close_wanted; /* not taken yet */
    bool is_closing;   /* nothing new is admitted */
    bool is_ended;     /* the owner thread has ended, or is given up */
    bool is_asleep;    /* a sender must wake the owner thread */
};

/* At most so many tickets are handed over at once. */
#define PAWL__MAIL_MAX 64

struct pawl__mail {
    struct pawl__ticket *ticket; /* a reference of the receiver */
    unsigned todo;
};

struct pawl__mail_batch {
    struct pawl__backend_event *events; /* owned by the receiver */
    struct pawl__mail mails[PAWL__MAIL_MAX];
    size_t count;
    bool close; /* the client is to be closed by `close_deadline` */
    struct pawl__boot close_deadline;
};

/* False: no descriptor is left. */
bool pawl__mailbox_init(struct pawl__mailbox *mailbox, size_t live_max);

/* After _end, or when no owner thread was started. */
void pawl__mailbox_release(struct pawl__mailbox *mailbox);

/* Any thread. Gives the ticket an id and sends it with START; it is live until _retire. With
 * `limited` it counts as a request. E_BUSY, E_CLOSED: nothing happened. */
pawl_status pawl__mailbox_admit(struct pawl__mailbox *mailbox, struct pawl__ticket *ticket,
                                bool limited);

/* Any thread. Adds to what is to be done with a ticket. */
void pawl__mailbox_post(struct pawl__mailbox *mailbox, struct pawl__ticket *ticket,
                        enum pawl__todo todo);

/* Any thread, also the backend's. Takes ownership. */
void pawl__mailbox_post_event(struct pawl__mailbox *mailbox, struct pawl__backend_event *event);

/* Any thread. Nothing new is admitted from now on; what is under way gets its end by `deadline`. */
void pawl__mailbox_close(struct pawl__mailbox *mailbox, struct pawl__boot deadline);

/* Owner thread. False: there is nothing. */
bool pawl__mailbox_take(struct pawl__mailbox *mailbox, struct pawl__mail_batch *batch);

/* Owner thread. Sleeps until something is sent or `timer_fd` is readable: then true. */
bool pawl__mailbox_sleep(struct pawl__mailbox *mailbox, int timer_fd);

/* Owner thread. The hold takes the place of the pending that it came from, and its id. */
void pawl__mailbox_succeed(struct pawl__mailbox *mailbox, struct pawl__ticket *pending,
                           struct pawl__ticket *hold);

/* Owner thread. What abandoned requests the store may still have. */
void pawl__mailbox_set_debts(struct pawl__mailbox *mailbox, size_t debt_len);

/* Owner thread. It is over. */
void pawl__mailbox_retire(struct pawl__mailbox *mailbox, struct pawl__ticket *ticket);

/* Any thread: pawl__mailbox_end() was called. */
bool pawl__mailbox_has_ended(struct pawl__mailbox *mailbox);

/* Owner thread at its end, or a closing thread that gives it up: nothing is taken in any more, and
 * every live ticket is stranded. */
void pawl__mailbox_end(struct pawl__mailbox *mailbox);

#endif
