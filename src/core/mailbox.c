/* See mailbox.h. */
#include "core/mailbox.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/assert.h"

bool pawl__mailbox_init(struct pawl__mailbox *mailbox, size_t live_max)
{
    mailbox->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (mailbox->event_fd < 0) {
        return false;
    }
    int rc = pthread_mutex_init(&mailbox->mu, NULL);
    PAWL_INVARIANT(rc == 0);
    mailbox->live_max = live_max;
    pawl__list_init(&mailbox->queue);
    pawl__list_init(&mailbox->live);
    return true;
}

void pawl__mailbox_release(struct pawl__mailbox *mailbox)
{
    PAWL_INVARIANT(pawl__list_is_empty(&mailbox->queue));
    PAWL_INVARIANT(pawl__list_is_empty(&mailbox->live));
    PAWL_INVARIANT(mailbox->first_event == NULL);
    if (mailbox->event_fd >= 0) {
        (void)close(mailbox->event_fd); /* An eventfd has nothing to flush. */
        mailbox->event_fd = -1;
    }
    (void)pthread_mutex_destroy(&mailbox->mu);
}

/* mu held on entry. Returns the descriptor that must be written after mu is let go, or -1. */
static int begin_wake(struct pawl__mailbox *mailbox)
{
    if (!mailbox->is_asleep) {
        return -1;
    }
    mailbox->is_asleep = false; /* the others need not write as well */
    return mailbox->event_fd;
}

static void finish_wake(int fd)
{
    const uint64_t one = 1;

    if (fd >= 0) {
        ssize_t len = write(fd, &one, sizeof one);
        (void)len; /* EAGAIN would mean that it is readable already. */
    }
}

/* mu held on entry. */
static void enqueue(struct pawl__mailbox *mailbox, struct pawl__ticket *ticket,
                    enum pawl__todo todo)
{
    if (ticket->todo == 0) {
        pawl__ticket_ref(ticket);
        pawl__list_push_back(&mailbox->queue, &ticket->queue_link);
    }
    ticket->todo |= todo;
}

pawl_status pawl__mailbox_admit(struct pawl__mailbox *mailbox, struct pawl__ticket *ticket,
                                bool limited)
{
    pawl_status status = PAWL_OK;
    int fd = -1;

    (void)pthread_mutex_lock(&mailbox->mu);
    if (mailbox->is_closing || mailbox->is_ended) {
        status = PAWL_E_CLOSED;
    } else if (limited &&
               (mailbox->live_len >= mailbox->live_max || mailbox->debt_len >= mailbox->live_max)) {
        status = PAWL_E_BUSY;
    } else {
        mailbox->live_len += limited ? 1 : 0;
        ticket->id = ++mailbox->last_id;
        pawl__list_push_back(&mailbox->live, &ticket->live_link);
        enqueue(mailbox, ticket, PAWL__TODO_START);
        fd = begin_wake(mailbox);
    }
    (void)pthread_mutex_unlock(&mailbox->mu);
    finish_wake(fd);
    return status;
}

void pawl__mailbox_post(struct pawl__mailbox *mailbox, struct pawl__ticket *ticket,
                        enum pawl__todo todo)
{
    int fd = -1;

    (void)pthread_mutex_lock(&mailbox->mu);
    if (!mailbox->is_ended) {
        enqueue(mailbox, ticket, todo);
        fd = begin_wake(mailbox);
    }
    (void)pthread_mutex_unlock(&mailbox->mu);
    finish_wake(fd);
}

void pawl__mailbox_post_event(struct pawl__mailbox *mailbox, struct pawl__backend_event *event)
{
    int fd = -1;

    event->next = NULL;
    (void)pthread_mutex_lock(&mailbox->mu);
    bool is_taken = !mailbox->is_ended;
    if (is_taken) {
        if (mailbox->first_event == NULL) {
            mailbox->first_event = event;
        } else {
            mailbox->last_event->next = event;
        }
        mailbox->last_event = event;
        fd = begin_wake(mailbox);
    }
    (void)pthread_mutex_unlock(&mailbox->mu);
    finish_wake(fd);
    if (!is_taken) {
        pawl__backend_event_free(event);
    }
}

void pawl__mailbox_close(struct pawl__mailbox *mailbox, struct pawl__boot deadline)
{
    (void)pthread_mutex_lock(&mailbox->mu);
    mailbox->is_closing = true;
    mailbox->close_wanted = true;
    mailbox->close_deadline = deadline;
    int fd = begin_wake(mailbox);
    (void)pthread_mutex_unlock(&mailbox->mu);
    finish_wake(fd);
}

bool pawl__mailbox_take(struct pawl__mailbox *mailbox, struct pawl__mail_batch *batch)
{
    struct pawl__list *link = NULL;

    batch->count = 0;
    (void)pthread_mutex_lock(&mailbox->mu);
    batch->events = mailbox->first_event;
    mailbox->first_event = NULL;
    mailbox->last_event = NULL;
    while (batch->count < PAWL__MAIL_MAX &&
           (link = pawl__list_pop_front(&mailbox->queue)) != NULL) {
        struct pawl__ticket *ticket = PAWL_LIST_ENTRY(link, struct pawl__ticket, queue_link);
        batch->mails[batch->count].ticket = ticket; /* with the queue's reference */
        batch->mails[batch->count].todo = ticket->todo;
        ticket->todo = 0;
        batch->count++;
    }
    /* After the tickets: what was admitted before the close is told to the core before it. */
    batch->close = mailbox->close_wanted && pawl__list_is_empty(&mailbox->queue);
    if (batch->close) {
        mailbox->close_wanted = false;
        batch->close_deadline = mailbox->close_deadline;
    }
    (void)pthread_mutex_unlock(&mailbox->mu);
    return batch->events != NULL || batch->count > 0 || batch->close;
}

static bool has_mail(const struct pawl__mailbox *mailbox)
{
    return mailbox->first_event != NULL || !pawl__list_is_empty(&mailbox->queue) ||
           mailbox->close_wanted;
}

bool pawl__mailbox_sleep(struct pawl__mailbox *mailbox, int timer_fd)
{
    struct pollfd fds[2] = {{.fd = mailbox->event_fd, .events = POLLIN},
                            {.fd = timer_fd, .events = POLLIN}};
    uint64_t count = 0;

    (void)pthread_mutex_lock(&mailbox->mu);
    bool must_sleep = !has_mail(mailbox) && !mailbox->is_ended;
    mailbox->is_asleep = must_sleep;
    (void)pthread_mutex_unlock(&mailbox->mu);
    if (!must_sleep) {
        return false;
    }
    int ready = poll(fds, 2, -1);
    PAWL_INVARIANT(ready >= 0 || errno == EINTR);
    if (ready > 0 && (fds[0].revents & POLLIN) != 0) {
        ssize_t len = read(mailbox->event_fd, &count, sizeof count);
        (void)len; /* It only wakes; nothing is in the number. */
    }
    (void)pthread_mutex_lock(&mailbox->mu);
    mailbox->is_asleep = false;
    (void)pthread_mutex_unlock(&mailbox->mu);
    return ready > 0 && (fds[1].revents & POLLIN) != 0;
}

void pawl__mailbox_succeed(struct pawl__mailbox *mailbox, struct pawl__ticket *pending,
                           struct pawl__ticket *hold)
{
    (void)pthread_mutex_lock(&mailbox->mu);
    hold->id = pending->id;
    if (!pawl__list_is_empty(&pending->live_link)) {
        pawl__list_insert_between(&hold->live_link, &pending->live_link, pending->live_link.next);
        pawl__list_remove(&pending->live_link);
    }
    (void)pthread_mutex_unlock(&mailbox->mu);
}

void pawl__mailbox_retire(struct pawl__mailbox *mailbox, struct pawl__ticket *ticket)
{
    (void)pthread_mutex_lock(&mailbox->mu);
    if (!pawl__list_is_empty(&ticket->live_link)) {
        pawl__list_remove(&ticket->live_link);
        if (ticket->kind != PAWL__TICKET_QUERY) {
            PAWL_INVARIANT(mailbox->live_len > 0);
            mailbox->live_len--;
        }
    }
    (void)pthread_mutex_unlock(&mailbox->mu);
}

void pawl__mailbox_set_debts(struct pawl__mailbox *mailbox, size_t debt_len)
{
    (void)pthread_mutex_lock(&mailbox->mu);
    mailbox->debt_len = debt_len;
    (void)pthread_mutex_unlock(&mailbox->mu);
}

bool pawl__mailbox_has_ended(struct pawl__mailbox *mailbox)
{
    (void)pthread_mutex_lock(&mailbox->mu);
    bool has_ended = mailbox->is_ended;
    (void)pthread_mutex_unlock(&mailbox->mu);
    return has_ended;
}

/* A live ticket with a reference of the caller's, not live any more; NULL when there is none. */
static struct pawl__ticket *take_live(struct pawl__mailbox *mailbox)
{
    struct pawl__ticket *ticket = NULL;

    (void)pthread_mutex_lock(&mailbox->mu);
    struct pawl__list *link = pawl__list_pop_front(&mailbox->live);
    if (link != NULL) {
        ticket = PAWL_LIST_ENTRY(link, struct pawl__ticket, live_link);
        pawl__ticket_ref(ticket);
    }
    (void)pthread_mutex_unlock(&mailbox->mu);
    return ticket;
}

static void drop_mail(struct pawl__mailbox *mailbox)
{
    struct pawl__mail_batch batch;

    while (pawl__mailbox_take(mailbox, &batch)) {
        while (batch.events != NULL) {
            struct pawl__backend_event *event = batch.events;
            batch.events = event->next;
            pawl__backend_event_free(event);
        }
        for (size_t i = 0; i < batch.count; i++) {
            pawl__ticket_unref(batch.mails[i].ticket);
        }
    }
}

void pawl__mailbox_end(struct pawl__mailbox *mailbox)
{
    struct pawl__ticket *ticket = NULL;

    (void)pthread_mutex_lock(&mailbox->mu);
    mailbox->is_closing = true;
    mailbox->is_ended = true;
    int fd = begin_wake(mailbox); /* for a thread that is given up and wakes later */
    (void)pthread_mutex_unlock(&mailbox->mu);
    finish_wake(fd);
    while ((ticket = take_live(mailbox)) != NULL) {
        pawl__ticket_strand(ticket);
        pawl__ticket_unref(ticket);
    }
    drop_mail(mailbox);
}
