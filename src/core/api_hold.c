/* The functions of lock.h on a hold. */
#include "core/holding.h"

#include <limits.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "core/client.h"
#include "core/error.h"
#include "core/hold.h"

static const char forked_text[] = "this process was forked; the lock is its parent's";

const char *pawl_hold_state_name(pawl_hold_state_value state)
{
    switch (state) {
    case PAWL_HOLD_HELD:
    case PAWL_HOLD_SUSPECT:
    case PAWL_HOLD_RELEASING:
    case PAWL_HOLD_RELEASED:
    case PAWL_HOLD_LOST:
        return pawl__hold_states[state].name;
    }
    return "?";
}

pawl_hold_state_value pawl_hold_state(pawl_hold *hold)
{
    int64_t left_ms = 0;

    if (hold == NULL || pawl__is_forked(hold->ticket.generation)) {
        return PAWL_HOLD_LOST;
    }
    return pawl__hold_look(hold, &left_ms);
}

int64_t pawl_hold_remaining_ms(pawl_hold *hold)
{
    int64_t left_ms = 0;

    if (hold != NULL && !pawl__is_forked(hold->ticket.generation)) {
        (void)pawl__hold_look(hold, &left_ms);
    }
    return left_ms;
}

size_t pawl_hold_count(const pawl_hold *hold)
{
    return hold != NULL ? hold->count : 0;
}

const char *pawl_hold_name(const pawl_hold *hold, size_t index)
{
    return hold != NULL && index < hold->count ? hold->held[index].name : NULL;
}

pawl_mode pawl_hold_mode(const pawl_hold *hold, size_t index)
{
    return hold != NULL && index < hold->count ? (pawl_mode)hold->held[index].mode : PAWL_MODE_X;
}

uint64_t pawl_hold_token(const pawl_hold *hold)
{
    return hold != NULL ? hold->number : 0;
}

const char *pawl_hold_sealed_token(const pawl_hold *hold, size_t index)
{
    return hold != NULL && index < hold->count ? pawl__buf_str(&hold->held[index].sealed) : NULL;
}

const char *pawl_hold_session(const pawl_hold *hold)
{
    return hold != NULL ? hold->session_name : "";
}

const char *pawl_hold_lost_reason(pawl_hold *hold)
{
    if (hold != NULL && pawl__is_forked(hold->ticket.generation)) {
        return forked_text;
    }
    return hold != NULL && pawl_hold_state(hold) == PAWL_HOLD_LOST ? atomic_load(&hold->lost_text)
                                                                   : "";
}

/* NULL, forked. */
static pawl_status check_hold(const pawl_hold *hold, pawl_error *err)
{
    if (hold == NULL) {
        return pawl__error_set(err, PAWL_E_INVALID, 0, "the hold is NULL");
    }
    if (pawl__is_forked(hold->ticket.generation)) {
        return pawl__error_set(err, PAWL_E_FORKED, 0, "%s", forked_text);
    }
    return PAWL_OK;
}

static pawl_status refuse_lost(pawl_hold *hold, pawl_error *err)
{
    return pawl__error_set(err, PAWL_E_LOST, 0, "lock '%s': %s", hold->held[0].name,
                           pawl_hold_lost_reason(hold));
}

pawl_status pawl_hold_reenter(pawl_hold *hold, pawl_error *err)
{
    int64_t left_ms = 0;

    pawl_status status = check_hold(hold, err);
    if (status != PAWL_OK) {
        return status;
    }
    pawl_hold_state_value state = pawl__hold_look(hold, &left_ms);
    if (state == PAWL_HOLD_LOST) {
        return refuse_lost(hold, err);
    }
    (void)pthread_mutex_lock(&hold->ticket.mu);
    if (hold->entries == 0 || left_ms == 0) {
        status = PAWL_E_LOST; /* released, or being released */
    } else if (hold->entries == INT_MAX) {
        status = PAWL_E_LIMIT;
    } else {
        hold->entries++;
    }
    (void)pthread_mutex_unlock(&hold->ticket.mu);
    if (status == PAWL_E_LOST) {
        return pawl__error_set(err, status, 0, "lock '%s' was released; acquire it again",
                               hold->held[0].name);
    }
    if (status == PAWL_E_LIMIT) {
        return pawl__error_set(err, status, 0, "lock '%s' was re-entered %d times",
                               hold->held[0].name, INT_MAX);
    }
    return PAWL_OK;
}

/* Takes back one entry. *ret_is_last: it was the last one, and the release is the caller's to do.
 */
static pawl_status take_entry(pawl_hold *hold, bool *ret_is_last, pawl_error *err)
{
    (void)pthread_mutex_lock(&hold->ticket.mu);
    int entries = hold->entries;
    if (entries > 0) {
        hold->entries--;
    }
    (void)pthread_mutex_unlock(&hold->ticket.mu);
    if (entries == 0) {
        return pawl__error_set(err, PAWL_E_INVALID, 0, "lock '%s' was released already",
                               hold->held[0].name);
    }
    *ret_is_last = entries == 1;
    return PAWL_OK;
}

/* The release is under way: waits for its end. */
static pawl_status wait_for_release(pawl_hold *hold, int64_t timeout_ms, pawl_error *err)
{
    struct pawl__boot end = pawl__boot_add(pawl__boot_now(), timeout_ms);
    char duration[PAWL__DURATION_TEXT_MAX];

    (void)pthread_mutex_lock(&hold->ticket.mu);
    int state = atomic_load(&hold->state);
    while (!pawl__hold_states[state].final_) {
        int64_t left_ms = pawl__boot_diff(end, pawl__boot_now());
        if (left_ms <= 0) {
            break;
        }
        (void)pawl__cond_wait_ms(&hold->ticket.cond, &hold->ticket.mu, left_ms);
        state = atomic_load(&hold->state);
    }
    (void)pthread_mutex_unlock(&hold->ticket.mu);
    if (state == PAWL_HOLD_RELEASED) {
        return PAWL_OK;
    }
    if (state == PAWL_HOLD_LOST) {
        return refuse_lost(hold, err);
    }
    pawl__format_duration(duration, sizeof duration, timeout_ms);
    return pawl__error_set(err, PAWL_E_UNKNOWN, 0,
                           "lock '%s': the store did not confirm the release within %s; it is "
                           "repeated until it does or the session ends",
                           hold->held[0].name, duration);
}

pawl_status pawl_hold_release(pawl_hold *hold, int64_t timeout_ms, pawl_error *err)
{
    int64_t left_ms = 0;
    bool is_last = false;

    pawl_status status = check_hold(hold, err);
    if (status != PAWL_OK) {
        return status;
    }
    if (timeout_ms < 0) {
        return pawl__error_set(err, PAWL_E_INVALID, 0, "the time to wait is negative");
    }
    if (pawl__hold_look(hold, &left_ms) == PAWL_HOLD_LOST) {
        return refuse_lost(hold, err);
    }
    status = take_entry(hold, &is_last, err);
    if (status != PAWL_OK || !is_last) {
        return status;
    }
    if (!pawl__hold_move(hold, PAWL_HOLD_RELEASING)) {
        if (pawl__hold_look(hold, &left_ms) == PAWL_HOLD_LOST) {
            return refuse_lost(hold, err);
        }
        return pawl__error_set(err, PAWL_E_CLOSED, 0,
                               "lock '%s' was given back by the close of its client",
                               hold->held[0].name);
    }
    pawl__ticket_post(&hold->ticket, PAWL__TODO_RELEASE);
    return wait_for_release(hold, timeout_ms, err);
}

void pawl_hold_free(pawl_hold *hold)
{
    if (hold == NULL) {
        return;
    }
    if (pawl__is_forked(hold->ticket.generation)) {
        /* The parent's threads are not here to give their references back, and its locks may be
         * held for ever: the object is left as it is. */
        return;
    }
    (void)pthread_mutex_lock(&hold->ticket.mu);
    hold->changed = NULL;
    hold->entries = 0;
    (void)pthread_mutex_unlock(&hold->ticket.mu);
    atomic_store(&hold->has_callback, false);
    pawl__ticket_withdraw(&hold->ticket);
    pawl__hold_drop(hold);
    pawl__ticket_unref(&hold->ticket);
}

pawl_status pawl_hold_on_change(pawl_hold *hold, pawl_hold_fn changed, void *user, pawl_error *err)
{
    pawl_status status = check_hold(hold, err);

    if (status != PAWL_OK) {
        return status;
    }
    (void)pthread_mutex_lock(&hold->ticket.mu);
    hold->changed = changed;
    hold->user = user;
    int told = hold->told;
    (void)pthread_mutex_unlock(&hold->ticket.mu);
    /* Before the state is read: pawl__hold_move() changes the one and then reads the other. */
    atomic_store(&hold->has_callback, changed != NULL);
    if (changed == NULL) {
        pawl__ticket_withdraw(&hold->ticket);
    } else if ((int)pawl_hold_state(hold) != told) {
        pawl__ticket_make_due(&hold->ticket);
    }
    return PAWL_OK;
}
