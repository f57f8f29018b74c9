/* The functions of lock.h that acquire: at once, in the background, and what a pending can be
 * asked. */
#include "core/pending.h"

#include "base/assert.h"
#include "base/clock.h"
#include "core/client.h"
#include "core/error.h"
#include "core/request_form.h"

static pawl_status check_arguments(const pawl_client *client, const pawl_request *request,
                                   int64_t wait_ms, pawl_error *err)
{
    pawl_status status = pawl__client_check(client, err);

    if (status != PAWL_OK) {
        return status;
    }
    if (request == NULL || request->count == 0) {
        return pawl__error_set(err, PAWL_E_INVALID, 0,
                               "the request names no lock; use pawl_request_add()");
    }
    if (wait_ms < 0 && wait_ms != PAWL_WAIT_FOREVER) {
        return pawl__error_set(err, PAWL_E_INVALID, 0,
                               "the time to wait is negative; use 0 to try, PAWL_WAIT_FOREVER");
    }
    return PAWL_OK;
}

static pawl_status explain_refusal(const pawl_client *client, pawl_status status, pawl_error *err)
{
    if (status == PAWL_E_BUSY) {
        return pawl__error_set(
            err, status, 0,
            "%zu requests are held or under way in this client; raise the option "
            "max_requests",
            client->mailbox.live_max);
    }
    if (status == PAWL_E_CLOSED) {
        return pawl__error_set(err, status, 0, "the client is closing");
    }
    return pawl__error_set(err, status, 0, "%s", pawl_status_text(status));
}

/* The arguments were checked. */
static pawl_status start(pawl_client *client, const pawl_request *request, int64_t wait_ms,
                         pawl_acquired_fn done, void *user, pawl_pending **ret_pending)
{
    pawl_pending *pending = NULL;

    pawl_status status = pawl__pending_new(client, request, wait_ms, &pending);
    if (status != PAWL_OK) {
        return status;
    }
    pending->done = done;
    pending->user = user;
    status = pawl__mailbox_admit(&client->mailbox, &pending->ticket, true);
    if (status != PAWL_OK) {
        pawl__ticket_unref(&pending->ticket);
        return status;
    }
    *ret_pending = pending;
    return PAWL_OK;
}

/* NOLINTNEXTLINE(readability-function-size): the public API may have 8 parameters. */
pawl_status pawl_acquire_start(pawl_client *client, const pawl_request *request, int64_t wait_ms,
                               pawl_acquired_fn done, void *user, pawl_pending **ret_pending,
                               pawl_error *err)
{
    pawl_pending *pending = NULL;

    pawl_status status = check_arguments(client, request, wait_ms, err);
    if (status != PAWL_OK) {
        return status;
    }
    if (done == NULL && ret_pending == NULL) {
        return pawl__error_set(err, PAWL_E_INVALID, 0,
                               "nobody would hear of the outcome: give `done` or `ret_pending`");
    }
    status = start(client, request, wait_ms, done, user, &pending);
    if (status != PAWL_OK) {
        return explain_refusal(client, status, err);
    }
    if (ret_pending != NULL) {
        *ret_pending = pending;
    } else {
        pawl__ticket_unref(&pending->ticket); /* the owner thread has its own */
    }
    return PAWL_OK;
}

/* Waits until it is decided. False: `end` has passed. */
static bool wait_for_outcome(pawl_pending *pending, struct pawl__boot end)
{
    (void)pthread_mutex_lock(&pending->ticket.mu);
    while (pending->state == PAWL__PENDING_OPEN) {
        int64_t left_ms = PAWL__WAIT_FOREVER;
        if (!pawl__boot_is_never(end)) {
            left_ms = pawl__boot_diff(end, pawl__boot_now());
            if (left_ms <= 0) {
                break;
            }
        }
        (void)pawl__cond_wait_ms(&pending->ticket.cond, &pending->ticket.mu, left_ms);
    }
    bool is_decided = pending->state != PAWL__PENDING_OPEN;
    (void)pthread_mutex_unlock(&pending->ticket.mu);
    return is_decided;
}

static pawl_status take(pawl_pending *pending, pawl_hold **ret_hold, pawl_error *err)
{
    pawl_status status = PAWL_OK;
    pawl_hold *hold = NULL;

    if (!pawl__pending_take(pending, &status, &hold)) {
        return pawl__error_set(err, PAWL_E_INVALID, 0, "the outcome was taken already");
    }
    if (status != PAWL_OK) {
        return pawl__error_set(err, status, 0, "%s", pawl__pending_text(pending));
    }
    *ret_hold = hold;
    return PAWL_OK;
}

pawl_status pawl_acquire(pawl_client *client, const pawl_request *request, int64_t wait_ms,
                         pawl_hold **ret_hold, pawl_error *err)
{
    pawl_pending *pending = NULL;

    pawl_status status = check_arguments(client, request, wait_ms, err);
    if (status != PAWL_OK) {
        return status;
    }
    if (ret_hold == NULL) {
        return pawl__error_set(err, PAWL_E_INVALID, 0, "there is no place for the hold");
    }
    struct pawl__boot end = PAWL__BOOT_NEVER;
    if (wait_ms != PAWL_WAIT_FOREVER) {
        end = pawl__boot_add(pawl__boot_now(), wait_ms > 0 ? wait_ms : client->request_timeout_ms);
        end = pawl__boot_add(end, PAWL__GRACE_MS);
    }
    status = start(client, request, wait_ms, NULL, NULL, &pending);
    if (status != PAWL_OK) {
        return explain_refusal(client, status, err);
    }
    if (!wait_for_outcome(pending, end)) {
        /* The owner thread is late, or stuck in the backend. If it grants in this moment, either we
         * get that below, or it finds that we gave up and gives the hold back. */
        (void)pawl__pending_decide(pending, PAWL_E_TIMEOUT, "not acquired in the time given", NULL);
        pawl_pending_cancel(pending);
    }
    status = take(pending, ret_hold, err);
    pawl_pending_free(pending);
    return status;
}

pawl_status pawl_lock(pawl_client *client, const char *name, int64_t wait_ms, pawl_hold **ret_hold,
                      pawl_error *err)
{
    pawl_status status = pawl__client_check(client, err);

    if (status != PAWL_OK) {
        return status;
    }
    pawl_request *request = pawl_request_new();
    if (request == NULL) {
        return pawl__error_set(err, PAWL_E_NOMEM, 0, "no memory for the request");
    }
    status = pawl_request_add(request, name, PAWL_MODE_X, err);
    if (status == PAWL_OK) {
        status = pawl_acquire(client, request, wait_ms, ret_hold, err);
    }
    pawl_request_free(request);
    return status;
}

static bool is_usable(const pawl_pending *pending)
{
    return pending != NULL && !pawl__is_forked(pending->ticket.generation);
}

static pawl_status check_pending(const pawl_pending *pending, pawl_error *err)
{
    if (pending == NULL) {
        return pawl__error_set(err, PAWL_E_INVALID, 0, "the pending is NULL");
    }
    if (!is_usable(pending)) {
        return pawl__error_set(err, PAWL_E_FORKED, 0,
                               "this process was forked; the request is its parent's");
    }
    return PAWL_OK;
}

void pawl_pending_cancel(pawl_pending *pending)
{
    if (is_usable(pending)) {
        pawl__ticket_post(&pending->ticket, PAWL__TODO_CANCEL);
    }
}

pawl_status pawl_pending_take(pawl_pending *pending, int64_t wait_ms, pawl_hold **ret_hold,
                              pawl_error *err)
{
    pawl_status status = check_pending(pending, err);

    if (status != PAWL_OK) {
        return status;
    }
    if (ret_hold == NULL || (wait_ms < 0 && wait_ms != PAWL_WAIT_FOREVER)) {
        return pawl__error_set(err, PAWL_E_INVALID, 0,
                               "there is no place for the hold, or the time to wait is negative");
    }
    if (pending->done != NULL) {
        return pawl__error_set(err, PAWL_E_INVALID, 0, "the outcome goes to the callback");
    }
    struct pawl__boot end =
        wait_ms == PAWL_WAIT_FOREVER ? PAWL__BOOT_NEVER : pawl__boot_add(pawl__boot_now(), wait_ms);
    if (!wait_for_outcome(pending, end)) {
        return pawl__error_set(err, PAWL_E_BUSY, 0, "the outcome is not decided yet");
    }
    return take(pending, ret_hold, err);
}

pawl_status pawl_pending_position(pawl_pending *pending, int *ret_position)
{
    pawl_status status = check_pending(pending, NULL);

    if (status != PAWL_OK) {
        return status;
    }
    if (ret_position == NULL) {
        return PAWL_E_INVALID;
    }
    (void)pthread_mutex_lock(&pending->ticket.mu);
    *ret_position = pending->waiting.position;
    (void)pthread_mutex_unlock(&pending->ticket.mu);
    return PAWL_OK;
}

void pawl_pending_free(pawl_pending *pending)
{
    /* In a forked child it is left as it is, like a hold. */
    if (!is_usable(pending)) {
        return;
    }
    (void)pthread_mutex_lock(&pending->ticket.mu);
    bool is_open = pending->state == PAWL__PENDING_OPEN;
    pawl_hold *hold = pending->hold;
    pending->hold = NULL;
    pending->state = PAWL__PENDING_DROPPED;
    (void)pthread_mutex_unlock(&pending->ticket.mu);
    pawl__ticket_withdraw(&pending->ticket);
    if (is_open) {
        pawl__ticket_post(&pending->ticket, PAWL__TODO_CANCEL);
    }
    pawl_hold_free(hold);
    pawl__ticket_unref(&pending->ticket);
}
