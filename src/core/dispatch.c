/* See dispatch.h. */
#include "core/dispatch.h"

#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "core/client.h"
#include "core/thread.h"

bool pawl__dispatch_init(struct pawl__dispatch *dispatch)
{
    dispatch->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (dispatch->event_fd < 0) {
        return false;
    }
    dispatch->scratch = pawl_error_new();
    if (dispatch->scratch == NULL) {
        (void)close(dispatch->event_fd);
        dispatch->event_fd = -1;
        return false;
    }
    int rc = pthread_mutex_init(&dispatch->mu, NULL);
    PAWL_INVARIANT(rc == 0);
    pawl__cond_init_monotonic(&dispatch->cond);
    atomic_init(&dispatch->wants_events, false);
    pawl__list_init(&dispatch->due);
    pawl__list_init(&dispatch->events);
    return true;
}

void pawl__dispatch_release(struct pawl__dispatch *dispatch)
{
    PAWL_INVARIANT(pawl__list_is_empty(&dispatch->due));
    PAWL_INVARIANT(!dispatch->is_running);
    if (dispatch->event_fd >= 0) {
        (void)close(dispatch->event_fd); /* An eventfd has nothing to flush. */
        dispatch->event_fd = -1;
    }
    pawl_error_free(dispatch->scratch);
    (void)pthread_cond_destroy(&dispatch->cond);
    (void)pthread_mutex_destroy(&dispatch->mu);
}

void pawl__dispatch_fork_child(struct pawl__dispatch *dispatch)
{
    if (dispatch->event_fd >= 0) {
        (void)close(dispatch->event_fd); /* Nothing can be done about a failure here. */
        dispatch->event_fd = -1;
    }
}

/* ---- The queue --------------------------------------------------------------------------------
 */

/* mu held on entry, here and in all static functions below unless they say otherwise. */
static bool has_due(const struct pawl__dispatch *dispatch)
{
    return !pawl__list_is_empty(&dispatch->due) || dispatch->dropped > 0;
}

static void update_fd(struct pawl__dispatch *dispatch)
{
    uint64_t count = 1;
    ssize_t len = 0;

    bool set = dispatch->fd_is_wanted && has_due(dispatch);
    if (set == dispatch->fd_is_set || dispatch->event_fd < 0) {
        return;
    }
    dispatch->fd_is_set = set;
    if (set) {
        len = write(dispatch->event_fd, &count, sizeof count);
    } else {
        len = read(dispatch->event_fd, &count, sizeof count);
    }
    PAWL_INVARIANT(len == sizeof count); /* Never full and never empty: fd_is_set says which. */
}

static void add_due(struct pawl__dispatch *dispatch, struct pawl__due *due)
{
    due->seq = ++dispatch->last_seq;
    pawl__list_push_back(&dispatch->due, &due->link);
    update_fd(dispatch);
    if (dispatch->thread_waits) {
        (void)pthread_cond_broadcast(&dispatch->cond);
    }
}

static void drop_event(struct pawl__dispatch *dispatch, struct pawl_event *event)
{
    pawl__list_remove(&event->due.link);
    pawl__list_remove(&event->event_link);
    dispatch->event_count--;
    pawl__free(event);
}

static struct pawl_event *first_event(struct pawl__dispatch *dispatch)
{
    struct pawl__list *link = pawl__list_first(&dispatch->events);

    return link == NULL ? NULL : PAWL_LIST_ENTRY(link, struct pawl_event, event_link);
}

bool pawl__dispatch_push(struct pawl__dispatch *dispatch, struct pawl__due *due)
{
    (void)pthread_mutex_lock(&dispatch->mu);
    bool is_added = !dispatch->is_ended && pawl__list_is_empty(&due->link);
    if (is_added) {
        add_due(dispatch, due);
    }
    (void)pthread_mutex_unlock(&dispatch->mu);
    return is_added;
}

bool pawl__dispatch_withdraw(struct pawl__dispatch *dispatch, struct pawl__due *due)
{
    (void)pthread_mutex_lock(&dispatch->mu);
    bool is_queued = !pawl__list_is_empty(&due->link);
    if (is_queued) {
        pawl__list_remove(&due->link);
        update_fd(dispatch);
    }
    (void)pthread_mutex_unlock(&dispatch->mu);
    return is_queued;
}

bool pawl__dispatch_wants_events(struct pawl__dispatch *dispatch)
{
    return atomic_load_explicit(&dispatch->wants_events, memory_order_relaxed);
}

void pawl__dispatch_event(struct pawl__dispatch *dispatch, pawl_event_kind kind, const char *lock,
                          uint64_t token, const char *text)
{
    struct pawl_event *event = pawl__event_new(kind, lock, token, text);

    (void)pthread_mutex_lock(&dispatch->mu);
    if (dispatch->handle == NULL || dispatch->is_ended) {
        pawl__free(event);
    } else if (event == NULL) {
        dispatch->dropped++;
        update_fd(dispatch);
    } else {
        if (dispatch->event_count == PAWL__EVENTS_MAX) {
            drop_event(dispatch, first_event(dispatch));
            dispatch->dropped++;
        }
        pawl__list_push_back(&dispatch->events, &event->event_link);
        dispatch->event_count++;
        add_due(dispatch, &event->due);
    }
    (void)pthread_mutex_unlock(&dispatch->mu);
}

void pawl__dispatch_on_event(struct pawl__dispatch *dispatch, pawl_event_fn handle, void *user)
{
    struct pawl_event *event = NULL;

    (void)pthread_mutex_lock(&dispatch->mu);
    dispatch->handle = handle;
    dispatch->user = user;
    atomic_store_explicit(&dispatch->wants_events, handle != NULL, memory_order_relaxed);
    if (handle == NULL) {
        while ((event = first_event(dispatch)) != NULL) {
            drop_event(dispatch, event);
        }
        dispatch->dropped = 0;
        update_fd(dispatch);
    }
    (void)pthread_mutex_unlock(&dispatch->mu);
}

int pawl__dispatch_fd(struct pawl__dispatch *dispatch)
{
    (void)pthread_mutex_lock(&dispatch->mu);
    dispatch->fd_is_wanted = true;
    update_fd(dispatch);
    int fd = dispatch->event_fd;
    (void)pthread_mutex_unlock(&dispatch->mu);
    return fd;
}

/* ---- Running ----------------------------------------------------------------------------------
 */

/* mu held on entry and return, not during the callback. */
static void tell_event(struct pawl__dispatch *dispatch, const struct pawl_event *event)
{
    pawl_event_fn handle = dispatch->handle;
    void *user = dispatch->user;

    (void)pthread_mutex_unlock(&dispatch->mu);
    if (handle != NULL) {
        handle(user, event);
    }
    (void)pthread_mutex_lock(&dispatch->mu);
}

/* The events that were dropped came before all that are left. */
static void tell_dropped(struct pawl__dispatch *dispatch)
{
    char text[96];
    struct pawl_event event = {.kind = PAWL_EVENT_DROPPED, .lock = "", .text = text};

    (void)snprintf(text, sizeof text, "%llu events were dropped: nobody dispatched them in time",
                   (unsigned long long)dispatch->dropped);
    dispatch->dropped = 0;
    update_fd(dispatch);
    tell_event(dispatch, &event);
}

/* Runs the first callback. False: it was not wanted any more. */
static bool run_first(struct pawl__dispatch *dispatch)
{
    struct pawl__list *link = pawl__list_pop_front(&dispatch->due);
    struct pawl__due *due = PAWL_LIST_ENTRY(link, struct pawl__due, link);

    update_fd(dispatch);
    if (due->is_event) {
        struct pawl_event *event = PAWL_LIST_ENTRY(due, struct pawl_event, due);
        pawl__list_remove(&event->event_link);
        dispatch->event_count--;
        tell_event(dispatch, event);
        pawl__free(event);
        return true;
    }
    struct pawl__ticket *ticket = PAWL_LIST_ENTRY(due, struct pawl__ticket, due);
    (void)pthread_mutex_unlock(&dispatch->mu);
    bool is_run = pawl__ticket_run_due(ticket, dispatch->scratch);
    pawl__ticket_unref(ticket);
    (void)pthread_mutex_lock(&dispatch->mu);
    return is_run;
}

/* What becomes due while we run is left for the next time, or a callback that starts something
 * could keep its thread here for ever. But at the end there is no next time. */
static bool has_due_until(const struct pawl__dispatch *dispatch, uint64_t last_seq)
{
    const struct pawl__list *link = pawl__list_first(&dispatch->due);

    return link != NULL &&
           (dispatch->is_ending || PAWL_LIST_ENTRY(link, struct pawl__due, link)->seq <= last_seq);
}

static int run_due(struct pawl__dispatch *dispatch)
{
    uint64_t last_seq = dispatch->last_seq;
    int count = 0;

    PAWL_INVARIANT(!dispatch->is_running);
    dispatch->is_running = true;
    dispatch->runner = pthread_self();
    while (dispatch->dropped > 0 || has_due_until(dispatch, last_seq)) {
        if (dispatch->dropped > 0) {
            tell_dropped(dispatch);
            count++;
        } else if (run_first(dispatch)) {
            count++;
        }
    }
    dispatch->is_running = false;
    /* Nobody runs anything after this, also when _end could not wait for us. */
    dispatch->is_ended = dispatch->is_ending;
    if (dispatch->has_thread || dispatch->is_ending) {
        (void)pthread_cond_broadcast(&dispatch->cond);
    }
    return count;
}

int pawl__dispatch_run(struct pawl__dispatch *dispatch)
{
    int count = 0;

    (void)pthread_mutex_lock(&dispatch->mu);
    if (!dispatch->is_running) {
        count = run_due(dispatch);
    }
    (void)pthread_mutex_unlock(&dispatch->mu);
    return count;
}

bool pawl__dispatch_is_runner(struct pawl__dispatch *dispatch)
{
    (void)pthread_mutex_lock(&dispatch->mu);
    bool is_runner = dispatch->is_running && pthread_equal(dispatch->runner, pthread_self());
    (void)pthread_mutex_unlock(&dispatch->mu);
    return is_runner;
}

/* ---- The thread -------------------------------------------------------------------------------
 */

static void *run_thread(void *arg)
{
    pawl_client *client = arg;
    struct pawl__dispatch *dispatch = &client->dispatch;

    (void)pthread_mutex_lock(&dispatch->mu);
    while (!dispatch->is_ending || has_due(dispatch)) {
        if (has_due(dispatch) && !dispatch->is_running) {
            (void)run_due(dispatch);
            continue;
        }
        dispatch->thread_waits = true;
        (void)pawl__cond_wait_ms(&dispatch->cond, &dispatch->mu, PAWL__WAIT_FOREVER);
        dispatch->thread_waits = false;
    }
    dispatch->is_ended = true;
    dispatch->thread_is_gone = true;
    (void)pthread_cond_broadcast(&dispatch->cond);
    (void)pthread_mutex_unlock(&dispatch->mu);
    pawl__client_unref(client);
    return NULL;
}

pawl_status pawl__dispatch_start_thread(struct pawl__dispatch *dispatch, pawl_client *client)
{
    pawl_status status = PAWL_OK;

    (void)pthread_mutex_lock(&dispatch->mu);
    if (dispatch->is_ending) {
        status = PAWL_E_CLOSED;
    } else if (!dispatch->has_thread) {
        /* Under mu, so that nobody sees has_thread without `thread`. */
        pawl__client_ref(client);
        dispatch->has_thread =
            pawl__thread_start(&dispatch->thread, "pawl-dispatch", run_thread, client);
        status = dispatch->has_thread ? PAWL_OK : PAWL_E_NOMEM;
    }
    (void)pthread_mutex_unlock(&dispatch->mu);
    if (status == PAWL_E_NOMEM) {
        pawl__client_unref(client);
    }
    return status;
}

/* ---- The end ----------------------------------------------------------------------------------
 */

/* Waits until callbacks may be run here, or our thread has run them all. False: the time is over.
 */
static bool wait_for_runner(struct pawl__dispatch *dispatch, int64_t timeout_ms)
{
    struct pawl__boot end = pawl__boot_add(pawl__boot_now(), timeout_ms);

    while (dispatch->has_thread ? !dispatch->thread_is_gone : dispatch->is_running) {
        int64_t left = pawl__boot_diff(end, pawl__boot_now());
        if (left <= 0) {
            return false;
        }
        (void)pawl__cond_wait_ms(&dispatch->cond, &dispatch->mu, left);
    }
    return true;
}

void pawl__dispatch_end(struct pawl__dispatch *dispatch, int64_t timeout_ms)
{
    (void)pthread_mutex_lock(&dispatch->mu);
    dispatch->is_ending = true;
    (void)pthread_cond_broadcast(&dispatch->cond);
    bool is_free = wait_for_runner(dispatch, timeout_ms);
    if (is_free && !dispatch->has_thread) {
        (void)run_due(dispatch);
    }
    /* Without is_free the thread that is in a callback runs what is left when it comes back. */
    bool has_thread = dispatch->has_thread;
    pthread_t thread = dispatch->thread;
    (void)pthread_mutex_unlock(&dispatch->mu);
    if (has_thread && is_free) {
        (void)pthread_join(thread, NULL);
    } else if (has_thread) {
        (void)pthread_detach(thread);
    }
}
