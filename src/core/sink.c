/* What the core says to callers, turned into outcomes, states, callbacks and events. Owner thread.
 */
#include "core/client.h"

#include "base/assert.h"
#include "base/buf.h"
#include "core/hold.h"
#include "core/pending.h"
#include "core/query.h"

static struct pawl__ticket *find_ticket(pawl_client *client, uint64_t id)
{
    return id != 0 ? pawl__table_get(&client->tickets, id) : NULL;
}

/* The id is over: the reference of the table goes. */
static void forget(pawl_client *client, struct pawl__ticket *ticket)
{
    void *removed = pawl__table_remove(&client->tickets, ticket->id);

    PAWL_INVARIANT(removed == ticket);
    pawl__mailbox_retire(&client->mailbox, ticket);
    pawl__ticket_unref(ticket);
}

/* ---- Events for people ------------------------------------------------------------------------
 */

/* The hold behind a ticket, granted or not; NULL for a query. */
static const struct pawl_hold *hold_behind(struct pawl__ticket *ticket)
{
    if (ticket == NULL || ticket->kind == PAWL__TICKET_QUERY) {
        return NULL;
    }
    return ticket->kind == PAWL__TICKET_HOLD ? pawl__hold_of(ticket)
                                             : pawl__pending_of(ticket)->promised;
}

static const char *lock_of(struct pawl__ticket *ticket)
{
    const struct pawl_hold *hold = hold_behind(ticket);

    if (hold != NULL) {
        return hold->held[0].name;
    }
    const char *name = ticket != NULL ? pawl__query_of(ticket)->name : NULL;
    return name != NULL ? name : "";
}

/* `text` follows "<lock>: " if there is a lock. */
static void tell(pawl_client *client, pawl_event_kind kind, const char *lock, uint64_t token,
                 const char *text)
{
    struct pawl__buf buf;

    pawl__buf_init(&buf);
    if (lock[0] != '\0') {
        pawl__buf_appendf(&buf, "%s%s: ", kind == PAWL_EVENT_WAITING ? "waiting for " : "", lock);
    }
    pawl__buf_append_str(&buf, text);
    pawl__dispatch_event(&client->dispatch, kind, lock, token, pawl__buf_str(&buf));
    pawl__buf_release(&buf);
}

static bool wants_events(pawl_client *client)
{
    return pawl__dispatch_wants_events(&client->dispatch);
}

static void take_event(pawl_client *client, const struct pawl__core_action *action)
{
    struct pawl__ticket *ticket = find_ticket(client, action->id);
    const struct pawl_hold *hold = hold_behind(ticket);

    if (!wants_events(client)) {
        return;
    }
    const char *lock = lock_of(ticket);
    if (ticket == NULL && action->count > 0) {
        lock = action->wants[0].name; /* a debt: its caller has had the answer and is gone */
    }
    tell(client, action->event_kind, lock, hold != NULL ? hold->number : 0, action->text);
}

/* ---- Session ----------------------------------------------------------------------------------
 */

static void end_view(pawl_client *client)
{
    if (client->view != NULL) {
        pawl__lease_view_end(client->view);
        pawl__lease_view_unref(client->view);
        client->view = NULL;
    }
}

static void begin_view(pawl_client *client, const struct pawl__core_action *action)
{
    PAWL_INVARIANT(client->view == NULL);
    struct pawl__lease_view *view =
        client->spare_view != NULL ? client->spare_view : pawl__lease_view_new();
    client->spare_view = NULL;
    if (view == NULL) {
        /* Nobody could be told until when it lasts: no session then. */
        client->dead_session = action->session;
        return;
    }
    pawl__lease_view_start(view, action->session, action->deadline);
    client->view = view;
}

static void take_lease(pawl_client *client, const struct pawl__core_action *action)
{
    if (pawl__boot_is_none(action->deadline)) {
        end_view(client);
    } else if (client->view == NULL || client->view->session != action->session) {
        end_view(client);
        begin_view(client, action);
    } else if (!pawl__lease_view_extend(client->view, action->deadline)) {
        client->dead_session = action->session;
    }
    if (client->spare_view == NULL) {
        client->spare_view = pawl__lease_view_new(); /* tried again with the next renewal */
    }
}

/* ---- Acquire and hold -------------------------------------------------------------------------
 */

static void take_granted(pawl_client *client, const struct pawl__core_action *action)
{
    struct pawl__ticket *ticket = find_ticket(client, action->id);

    PAWL_INVARIANT(ticket != NULL && ticket->kind == PAWL__TICKET_PENDING);
    struct pawl_pending *pending = pawl__pending_of(ticket);
    struct pawl_hold *hold = pending->promised;
    struct pawl__lease_view *view = client->view;
    if (view != NULL && view->session != action->session) {
        view = NULL; /* over since the core decided: LOST follows */
    }
    bool is_whole = pawl__hold_grant(hold, action->number, action->session_name, view);
    pawl__ticket_ref(&hold->ticket); /* the table's */
    pawl__mailbox_succeed(&client->mailbox, ticket, &hold->ticket);
    bool is_put = pawl__table_put(&client->tickets, action->id, &hold->ticket);
    PAWL_INVARIANT(is_put); /* replacing needs no memory */
    if (wants_events(client)) {
        tell(client, PAWL_EVENT_GRANTED, hold->held[0].name, hold->number, "granted");
    }
    pawl__ticket_ref(&hold->ticket); /* the caller's */
    bool is_wanted = is_whole ? pawl__pending_decide(pending, PAWL_OK, NULL, hold) : false;
    if (!is_wanted) {
        /* The caller gave up in this moment, or the hold could not be finished. */
        (void)pawl__pending_decide(pending, PAWL_E_NOMEM, NULL, NULL);
        pawl__hold_drop(hold);
        pawl__ticket_unref(&hold->ticket);
    }
    pawl__ticket_unref(ticket); /* the table's, which has the hold now */
}

static void take_failed(pawl_client *client, const struct pawl__core_action *action)
{
    struct pawl__ticket *ticket = find_ticket(client, action->id);

    PAWL_INVARIANT(ticket != NULL && ticket->kind == PAWL__TICKET_PENDING);
    /* Its place is free before the caller hears of it: it may ask for the next thing at once. */
    pawl__mailbox_retire(&client->mailbox, ticket);
    (void)pawl__pending_decide(pawl__pending_of(ticket), action->status, action->text, NULL);
    client->may_have_debts = true;
    forget(client, ticket);
}

static void tell_hold(pawl_client *client, struct pawl_hold *hold,
                      const struct pawl__core_action *action)
{
    struct pawl__buf buf;

    pawl__buf_init(&buf);
    pawl__buf_append_str(&buf, pawl_hold_state_name(action->hold));
    if (action->hold == PAWL_HOLD_LOST) {
        pawl__buf_appendf(&buf, ": %s", action->text);
    }
    tell(client, PAWL_EVENT_HOLD_CHANGED, hold->held[0].name, hold->number, pawl__buf_str(&buf));
    pawl__buf_release(&buf);
}

static bool can_move(int from, pawl_hold_state_value to)
{
    return (pawl__hold_states[from].allowed & PAWL_SM_TO(to)) != 0;
}

static void take_hold(pawl_client *client, const struct pawl__core_action *action)
{
    struct pawl__ticket *ticket = find_ticket(client, action->id);

    PAWL_INVARIANT(ticket != NULL && ticket->kind == PAWL__TICKET_HOLD);
    struct pawl_hold *hold = pawl__hold_of(ticket);
    /* Event and place first: with the new state a caller comes back that may look for both. A
     * reader may have been faster than the core, and a caller's own release comes back as
     * RELEASING. */
    int state = atomic_load(&hold->state);
    if (wants_events(client) && (state == (int)action->hold || can_move(state, action->hold))) {
        tell_hold(client, hold, action);
    }
    bool is_over = pawl__hold_states[action->hold].final_;
    if (is_over) {
        pawl__mailbox_retire(&client->mailbox, ticket);
    }
    if (action->hold == PAWL_HOLD_LOST) {
        (void)pawl__hold_lose(hold, action->text);
    } else {
        (void)pawl__hold_move(hold, action->hold);
    }
    if (is_over) {
        forget(client, ticket);
    }
}

static void take_waiting(pawl_client *client, const struct pawl__core_action *action)
{
    struct pawl__ticket *ticket = find_ticket(client, action->id);
    struct pawl__buf buf;

    if (ticket == NULL || ticket->kind != PAWL__TICKET_PENDING) {
        return;
    }
    struct pawl_pending *pending = pawl__pending_of(ticket);
    pawl__buf_init(&buf);
    (void)pthread_mutex_lock(&ticket->mu);
    uint64_t token = pending->waiting.token;
    int position = pending->waiting.position;
    pawl__waiting_update(&pending->waiting, action->entry, action->position);
    bool is_news = !pending->is_told_waiting || token != pending->waiting.token ||
                   position != pending->waiting.position;
    pending->is_told_waiting = true;
    token = pending->waiting.token;
    is_news = is_news && wants_events(client);
    if (is_news) {
        pawl__waiting_describe(&pending->waiting, &buf);
    }
    (void)pthread_mutex_unlock(&ticket->mu);
    if (is_news) {
        tell(client, PAWL_EVENT_WAITING, lock_of(ticket), token, pawl__buf_str(&buf));
    }
    pawl__buf_release(&buf);
}

/* ---- Queries ----------------------------------------------------------------------------------
 */

static void take_answer(pawl_client *client, const struct pawl__core_action *action)
{
    struct pawl__ticket *ticket = find_ticket(client, action->id);

    PAWL_INVARIANT(ticket != NULL && ticket->kind == PAWL__TICKET_QUERY);
    struct pawl__query *query = pawl__query_of(ticket);
    if (action->status != PAWL_OK || action->kind == PAWL__ACT_BROKEN) {
        pawl__query_finish(query, action->status, action->text);
    } else if (action->kind == PAWL__ACT_INSPECTED) {
        pawl__query_finish_inspect(query, action->event);
    } else {
        pawl__query_finish_session(query, action->fd);
        client->fd_is_given = client->fd_is_given || action->fd >= 0;
    }
    forget(client, ticket);
}

void pawl__sink_take(void *ctx, const struct pawl__core_action *action)
{
    pawl_client *client = ctx;

    if (action->kind == PAWL__ACT_LEASE) {
        take_lease(client, action);
    } else if (action->kind == PAWL__ACT_GRANTED) {
        take_granted(client, action);
    } else if (action->kind == PAWL__ACT_FAILED) {
        take_failed(client, action);
    } else if (action->kind == PAWL__ACT_HOLD) {
        take_hold(client, action);
    } else if (action->kind == PAWL__ACT_WAITING) {
        take_waiting(client, action);
    } else if (action->kind == PAWL__ACT_INSPECTED || action->kind == PAWL__ACT_BROKEN ||
               action->kind == PAWL__ACT_SESSION_UP) {
        take_answer(client, action);
    } else if (action->kind == PAWL__ACT_EVENT) {
        take_event(client, action);
    } else {
        PAWL_INVARIANT(action->kind == PAWL__ACT_CLOSED);
        client->is_done = true;
        client->done_status = action->status;
    }
}
