/* See holding.h. */
#include "core/holding.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/limits.h"
#include "core/client.h"
#include "core/hold.h"
#include "core/seal.h"

static bool copy_names(struct pawl_hold *hold, const pawl_request *request)
{
    hold->held = pawl__alloc_array(request->count, sizeof *hold->held);
    if (hold->held == NULL) {
        return false;
    }
    for (size_t i = 0; i < request->count; i++) {
        struct pawl__held *held = &hold->held[i];
        held->name = pawl__strdup(request->names[i].name);
        held->mode = request->names[i].mode;
        if (held->name == NULL) {
            return false;
        }
        hold->count++;
    }
    return true;
}

pawl_hold *pawl__hold_new(pawl_client *client, const pawl_request *request)
{
    struct pawl_hold *hold = pawl__alloc(sizeof *hold);

    if (hold == NULL) {
        return NULL;
    }
    pawl__ticket_init(&hold->ticket, PAWL__TICKET_HOLD, client);
    atomic_init(&hold->state, PAWL__HOLD_NONE);
    atomic_init(&hold->lost_text, NULL);
    atomic_init(&hold->has_callback, false);
    if (!copy_names(hold, request)) {
        return pawl__ticket_unref(&hold->ticket);
    }
    return hold;
}

void pawl__hold_destroy(struct pawl_hold *hold)
{
    for (size_t i = 0; i < hold->count; i++) {
        pawl__free(hold->held[i].name);
        pawl__buf_release(&hold->held[i].sealed);
    }
    pawl__free(hold->held);
    pawl__free(hold->lost_owned);
    pawl__lease_view_unref(hold->view);
    pawl__ticket_release(&hold->ticket);
    pawl__free(hold);
}

bool pawl__hold_grant(struct pawl_hold *hold, uint64_t number, const char *session_name,
                      struct pawl__lease_view *view)
{
    const struct pawl__backend_info *info = &hold->ticket.client->info;
    pawl_status status = PAWL_OK;

    PAWL_INVARIANT(number != 0);
    hold->number = number;
    (void)snprintf(hold->session_name, sizeof hold->session_name, "%s", session_name);
    hold->view = view;
    if (view != NULL) {
        pawl__lease_view_ref(view);
    }
    hold->entries = 1;
    hold->told = PAWL_HOLD_HELD;
    for (size_t i = 0; i < hold->count && status == PAWL_OK; i++) {
        status = pawl__seal_append(&hold->held[i].sealed, info->store_id, info->epoch, number,
                                   hold->held[i].mode, hold->held[i].name);
    }
    atomic_store(&hold->state, PAWL_HOLD_HELD);
    return status == PAWL_OK;
}

bool pawl__hold_move(struct pawl_hold *hold, pawl_hold_state_value state)
{
    int from = atomic_load(&hold->state);

    do {
        if ((pawl__hold_states[from].allowed & PAWL_SM_TO(state)) == 0) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&hold->state, &from, (int)state));
    if (pawl__hold_states[state].final_) {
        (void)pthread_mutex_lock(&hold->ticket.mu);
        (void)pthread_cond_broadcast(&hold->ticket.cond);
        (void)pthread_mutex_unlock(&hold->ticket.mu);
    }
    /* After the state: pawl_hold_on_change() sets the one and then reads the other. */
    if (atomic_load(&hold->has_callback)) {
        pawl__ticket_make_due(&hold->ticket);
    }
    return true;
}

bool pawl__hold_lose(struct pawl_hold *hold, const char *why)
{
    const char *nothing = NULL;

    if (pawl__hold_states[atomic_load(&hold->state)].final_) {
        return false;
    }
    char *copy = pawl__strdup(why);
    const char *text = copy != NULL ? copy : pawl_status_text(PAWL_E_LOST);
    /* The reason before the state, and only one: it is borrowed for as long as the hold lives. */
    if (atomic_compare_exchange_strong(&hold->lost_text, &nothing, text)) {
        hold->lost_owned = copy; /* by the one thread that won; read with the last reference */
    } else {
        pawl__free(copy);
    }
    return pawl__hold_move(hold, PAWL_HOLD_LOST);
}

pawl_hold_state_value pawl__hold_look(struct pawl_hold *hold, int64_t *ret_left_ms)
{
    int state = atomic_load(&hold->state);
    int64_t left_ms = 0;

    if (state == PAWL_HOLD_HELD || state == PAWL_HOLD_SUSPECT) {
        left_ms = pawl__lease_view_left_ms(hold->view, pawl__boot_now());
        if (left_ms == 0) {
            (void)pawl__hold_lose(hold, "no renewal was confirmed before the deadline");
            state = atomic_load(&hold->state);
        }
    }
    *ret_left_ms = left_ms;
    return (pawl_hold_state_value)state;
}

void pawl__hold_drop(struct pawl_hold *hold)
{
    if (pawl__hold_move(hold, PAWL_HOLD_RELEASING)) {
        pawl__ticket_post(&hold->ticket, PAWL__TODO_RELEASE);
    }
}

bool pawl__hold_run_changed(struct pawl_hold *hold)
{
    int64_t left_ms = 0;

    pawl_hold_state_value state = pawl__hold_look(hold, &left_ms);
    (void)pthread_mutex_lock(&hold->ticket.mu);
    pawl_hold_fn changed = hold->changed;
    void *user = hold->user;
    bool is_news = changed != NULL && hold->told != (int)state;
    if (is_news) {
        hold->told = (int)state;
    }
    (void)pthread_mutex_unlock(&hold->ticket.mu);
    if (is_news) {
        changed(user, hold, state);
    }
    return is_news;
}
