/* Tickets: references, and the way to the three kinds. See internal.h. */
#include "core/internal.h"

#include "base/assert.h"
#include "base/clock.h"
#include "core/client.h"
#include "core/holding.h"
#include "core/pending.h"
#include "core/query.h"

void pawl__ticket_init(struct pawl__ticket *ticket, enum pawl__ticket_kind kind,
                       pawl_client *client)
{
    ticket->kind = kind;
    ticket->client = pawl__client_ref(client);
    ticket->generation = client->generation;
    ticket->id = 0;
    ticket->todo = 0;
    atomic_init(&ticket->refs, 1);
    int rc = pthread_mutex_init(&ticket->mu, NULL);
    PAWL_INVARIANT(rc == 0); /* glibc allocates nothing for a plain mutex */
    pawl__cond_init_monotonic(&ticket->cond);
    pawl__list_init(&ticket->queue_link);
    pawl__list_init(&ticket->live_link);
    pawl__list_init(&ticket->due.link);
    ticket->due.is_event = false;
}

void pawl__ticket_release(struct pawl__ticket *ticket)
{
    PAWL_INVARIANT(pawl__list_is_empty(&ticket->queue_link));
    PAWL_INVARIANT(pawl__list_is_empty(&ticket->due.link));
    (void)pthread_cond_destroy(&ticket->cond); /* Nobody waits: waiters have a reference. */
    (void)pthread_mutex_destroy(&ticket->mu);
    pawl__client_unref(ticket->client);
}

void pawl__ticket_ref(struct pawl__ticket *ticket)
{
    unsigned before = atomic_fetch_add_explicit(&ticket->refs, 1, memory_order_relaxed);
    PAWL_INVARIANT(before > 0);
}

void *pawl__ticket_unref(struct pawl__ticket *ticket)
{
    if (ticket == NULL) {
        return NULL;
    }
    unsigned before = atomic_fetch_sub_explicit(&ticket->refs, 1, memory_order_acq_rel);
    PAWL_INVARIANT(before > 0);
    if (before > 1) {
        return NULL;
    }
    switch (ticket->kind) {
    case PAWL__TICKET_PENDING:
        pawl__pending_destroy(pawl__pending_of(ticket));
        break;
    case PAWL__TICKET_HOLD:
        pawl__hold_destroy(pawl__hold_of(ticket));
        break;
    case PAWL__TICKET_QUERY:
        pawl__query_destroy(pawl__query_of(ticket));
        break;
    }
    return NULL;
}

void pawl__ticket_post(struct pawl__ticket *ticket, enum pawl__todo todo)
{
    pawl__mailbox_post(&ticket->client->mailbox, ticket, todo);
}

void pawl__ticket_make_due(struct pawl__ticket *ticket)
{
    pawl__ticket_ref(ticket); /* the queue's; before the push: it may run at once */
    if (!pawl__dispatch_push(&ticket->client->dispatch, &ticket->due)) {
        pawl__ticket_unref(ticket);
    }
}

void pawl__ticket_withdraw(struct pawl__ticket *ticket)
{
    if (pawl__dispatch_withdraw(&ticket->client->dispatch, &ticket->due)) {
        pawl__ticket_unref(ticket);
    }
}

bool pawl__ticket_run_due(struct pawl__ticket *ticket, pawl_error *scratch)
{
    if (ticket->kind == PAWL__TICKET_PENDING) {
        return pawl__pending_run_done(pawl__pending_of(ticket), scratch);
    }
    PAWL_INVARIANT(ticket->kind == PAWL__TICKET_HOLD); /* queries have no callback */
    return pawl__hold_run_changed(pawl__hold_of(ticket));
}

void pawl__ticket_strand(struct pawl__ticket *ticket)
{
    static const char why[] = "the client was closed before the store confirmed";

    switch (ticket->kind) {
    case PAWL__TICKET_PENDING:
        (void)pawl__pending_decide(pawl__pending_of(ticket), PAWL_E_CLOSED, "the client was closed",
                                   NULL);
        break;
    case PAWL__TICKET_HOLD:
        pawl__hold_lose(pawl__hold_of(ticket), why);
        break;
    case PAWL__TICKET_QUERY:
        pawl__query_finish(pawl__query_of(ticket), PAWL_E_CLOSED, "the client was closed");
        break;
    }
}
