/* The owner thread of a client: the only one that touches its core and calls its backend. It sleeps
 * until there is mail or the core's next deadline, steps the core, and runs what the core says. */
#include "core/client.h"

#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "core/driver.h"
#include "core/pending.h"
#include "core/query.h"
#include "core/thread.h"

#define MS_PER_S  1000
#define NS_PER_MS 1000000

static void step(pawl_client *client, struct pawl__core_event *event)
{
    struct pawl__boot now = pawl__boot_now();

    pawl__core_step(client->core, now, event);
    pawl__driver_run(client->core, now, client->backend, pawl__sink_take, client);
    /* A reader saw the deadline pass although a renewal was confirmed in that moment: what it
     * answered must stay true, so the core hears of it before anything else. */
    while (client->dead_session != 0) {
        struct pawl__core_event dead = {.kind = PAWL__EV_LEASE_DEAD,
                                        .session = client->dead_session};
        client->dead_session = 0;
        now = pawl__boot_now();
        pawl__core_step(client->core, now, &dead);
        pawl__driver_run(client->core, now, client->backend, pawl__sink_take, client);
    }
}

/* ---- Mail -------------------------------------------------------------------------------------
 */

static void take_events(pawl_client *client, struct pawl__backend_event *events)
{
    while (events != NULL) {
        struct pawl__backend_event *event = events;
        events = event->next;
        event->next = NULL;
        step(client, &(struct pawl__core_event){.kind = PAWL__EV_BACKEND, .backend = event});
        pawl__backend_event_free(event);
    }
}

/* The table's reference on it. False: no memory. */
static bool remember(pawl_client *client, struct pawl__ticket *ticket)
{
    if (!pawl__table_put(&client->tickets, ticket->id, ticket)) {
        return false;
    }
    pawl__ticket_ref(ticket);
    return true;
}

/* Over before the core heard of it. */
static void refuse_pending(pawl_client *client, struct pawl_pending *pending, pawl_status status)
{
    (void)pawl__pending_decide(pending, status, NULL, NULL);
    pawl__mailbox_retire(&client->mailbox, &pending->ticket);
}

static void start_pending(pawl_client *client, struct pawl_pending *pending)
{
    struct pawl__core_event event = {
        .kind = PAWL__EV_ACQUIRE, .id = pending->ticket.id, .acquire = pending->acquire};

    if (!remember(client, &pending->ticket)) {
        refuse_pending(client, pending, PAWL_E_NOMEM);
        return;
    }
    pending->is_started = true; /* wants and payload are the core's from now on */
    step(client, &event);
}

static void take_pending(pawl_client *client, struct pawl_pending *pending, unsigned todo)
{
    bool is_new = (todo & PAWL__TODO_START) != 0;
    bool is_canceled = (todo & PAWL__TODO_CANCEL) != 0;

    if (is_new && is_canceled) {
        refuse_pending(client, pending, PAWL_E_CANCELED);
    } else if (is_new) {
        start_pending(client, pending);
    } else if (is_canceled &&
               pawl__table_get(&client->tickets, pending->ticket.id) == &pending->ticket) {
        step(client, &(struct pawl__core_event){.kind = PAWL__EV_CANCEL, .id = pending->ticket.id});
    }
}

static void take_hold(pawl_client *client, struct pawl_hold *hold, unsigned todo)
{
    PAWL_INVARIANT(todo == PAWL__TODO_RELEASE);
    /* Once the close is under way, everything is being released. */
    if (pawl__boot_is_never(client->close_deadline) &&
        pawl__table_get(&client->tickets, hold->ticket.id) == &hold->ticket) {
        step(client, &(struct pawl__core_event){.kind = PAWL__EV_RELEASE, .id = hold->ticket.id});
    }
}

static void take_query(pawl_client *client, struct pawl__query *query)
{
    struct pawl__core_event event = {0};

    if (!remember(client, &query->ticket)) {
        pawl__query_finish(query, PAWL_E_NOMEM, NULL);
        pawl__mailbox_retire(&client->mailbox, &query->ticket);
        return;
    }
    pawl__query_fill_event(query, &event);
    step(client, &event);
}

static void take_mail(pawl_client *client, const struct pawl__mail *mail)
{
    switch (mail->ticket->kind) {
    case PAWL__TICKET_PENDING:
        take_pending(client, pawl__pending_of(mail->ticket), mail->todo);
        break;
    case PAWL__TICKET_HOLD:
        take_hold(client, pawl__hold_of(mail->ticket), mail->todo);
        break;
    case PAWL__TICKET_QUERY:
        take_query(client, pawl__query_of(mail->ticket));
        break;
    }
    pawl__ticket_unref(mail->ticket);
}

static void take_batch(pawl_client *client, struct pawl__mail_batch *batch)
{
    take_events(client, batch->events); /* first: renewals are among them */
    for (size_t i = 0; i < batch->count; i++) {
        take_mail(client, &batch->mails[i]);
    }
    if (batch->close) {
        client->close_deadline = batch->close_deadline;
        step(client, &(struct pawl__core_event){.kind = PAWL__EV_CLOSE,
                                                .deadline = batch->close_deadline,
                                                .flag = client->fd_is_given});
    }
}

/* ---- Time -------------------------------------------------------------------------------------
 */

/* Sets the timer only to an earlier time than it has: one wake-up too many costs less than a system
 * call for each step. */
static void set_timer(pawl_client *client, struct pawl__boot at)
{
    struct itimerspec spec = {.it_value = {.tv_sec = (time_t)(at.ms / MS_PER_S),
                                           .tv_nsec = (at.ms % MS_PER_S) * NS_PER_MS}};

    if (!pawl__boot_before(at, client->timer_at)) {
        return;
    }
    int rc = timerfd_settime(client->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
    PAWL_INVARIANT(rc == 0);
    client->timer_at = at;
}

static void clear_timer(pawl_client *client)
{
    uint64_t count = 0;

    ssize_t len = read(client->timer_fd, &count, sizeof count);
    (void)len; /* It only wakes; the core looks at the clock. */
    client->timer_at = PAWL__BOOT_NEVER;
}

/* Debts have no ticket. They are counted while there may be any, for the bound on requests. */
static void count_debts(pawl_client *client)
{
    if (client->may_have_debts) {
        size_t debts = pawl__core_count(client->core).debts;
        pawl__mailbox_set_debts(&client->mailbox, debts);
        client->may_have_debts = debts > 0;
    }
}

static void sleep_or_tick(pawl_client *client)
{
    struct pawl__boot due = pawl__core_next_deadline(client->core);

    if (!pawl__boot_before(pawl__boot_now(), due)) {
        step(client, &(struct pawl__core_event){.kind = PAWL__EV_TICK});
        return;
    }
    set_timer(client, due);
    if (pawl__mailbox_sleep(&client->mailbox, client->timer_fd)) {
        clear_timer(client);
    }
}

/* ---- Life -------------------------------------------------------------------------------------
 */

static void forget_tickets(pawl_client *client)
{
    size_t cursor = 0;
    void *ticket = NULL;

    while (pawl__table_next(&client->tickets, &cursor, NULL, &ticket)) {
        pawl__ticket_unref(ticket);
    }
    pawl__table_release(&client->tickets);
}

static void put_away(pawl_client *client)
{
    struct pawl__boot now = pawl__boot_now();

    pawl__mailbox_end(&client->mailbox); /* first: nobody waits for the backend's end */
    if (client->view != NULL) {
        pawl__lease_view_end(client->view);
    }
    /* NEVER: given up before it heard of the close; there is no time left then. */
    int64_t left_ms = pawl__boot_is_never(client->close_deadline)
                          ? 0
                          : pawl__boot_diff(client->close_deadline, now);
    pawl__fork_unregister(&client->fork_node);
    pawl__backend_close(client->backend, left_ms > 0 ? left_ms : 0);
    client->backend = NULL;
    forget_tickets(client);
    pawl__core_free(client->core);
    client->core = NULL;
    (void)close(client->timer_fd); /* A timer has nothing to flush. */
    client->timer_fd = -1;
}

static void *run(void *arg)
{
    pawl_client *client = arg;
    struct pawl__mail_batch batch;

    while (!client->is_done && !pawl__mailbox_has_ended(&client->mailbox)) {
        if (pawl__mailbox_take(&client->mailbox, &batch)) {
            take_batch(client, &batch);
            count_debts(client);
        } else {
            sleep_or_tick(client);
        }
    }
    put_away(client);
    (void)pthread_mutex_lock(&client->mu);
    client->is_finished = true;
    client->finish_status = client->is_done ? client->done_status : PAWL_E_UNKNOWN;
    (void)pthread_cond_broadcast(&client->cond);
    (void)pthread_mutex_unlock(&client->mu);
    pawl__client_unref(client);
    return NULL;
}

bool pawl__owner_start(pawl_client *client)
{
    pawl__client_ref(client);
    if (!pawl__thread_start(&client->owner, "pawl-owner", run, client)) {
        pawl__client_unref(client);
        return false;
    }
    return true;
}
