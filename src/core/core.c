/* The pure core: takes events, routes them to the machines, runs the timers. What each machine does
 * is in session.c, request.c, breaker.c and look.c; the way out is actions.c. */
#include "core/core.h"

#include <stdio.h>

#include "base/alloc.h"
#include "core/state.h"

/* An op or watch carries the id of its call above these bits; ops of the session have none. */
#define SEQ_BITS 16

static const char closed_text[] = "the client was closed";

/* ---- Calls in general -------------------------------------------------------------------------
 */

bool pawl__call_add(struct pawl__core *core, struct pawl__call *call, enum pawl__call_kind kind,
                    uint64_t id, struct pawl__boot deadline)
{
    PAWL_INVARIANT(id != 0);
    PAWL_INVARIANT(id < UINT64_C(1) << (64 - SEQ_BITS));
    PAWL_INVARIANT(pawl__table_get(&core->by_id, id) == NULL);
    call->kind = kind;
    call->id = id;
    call->deadline = deadline;
    call->retry_at = PAWL__BOOT_NEVER;
    pawl__list_init(&call->link);
    if (!pawl__notes_reserve(core) || !pawl__timer_register(&core->timers, &call->timer)) {
        return false;
    }
    if (!pawl__table_put(&core->by_id, id, call)) {
        pawl__timer_unregister(&core->timers, &call->timer);
        return false;
    }
    pawl__list_push_back(&core->calls, &call->link);
    return true;
}

/* Freed at the start of the next step: actions of this one may still point at it. */
void pawl__call_finish(struct pawl__core *core, struct pawl__call *call)
{
    PAWL_INVARIANT(!call->over);
    PAWL_INVARIANT(pawl__table_get(&core->by_id, call->id) == call);
    call->over = true;
    call->op = 0;
    pawl__timer_unregister(&core->timers, &call->timer);
    (void)pawl__table_remove(&core->by_id, call->id);
    pawl__list_remove(&call->link);
    pawl__list_push_back(&core->dead, &call->link);
}

uint64_t pawl__call_new_op(struct pawl__call *call)
{
    PAWL_INVARIANT(!call->over);
    call->op_seq++;
    call->op = call->id << SEQ_BITS | call->op_seq;
    return call->op;
}

void pawl__call_retry_later(struct pawl__core *core, struct pawl__call *call)
{
    call->retry_at = pawl__boot_add(
        core->now,
        pawl__retry_next_ms(&call->retry, core->config.retry_base_ms, core->config.retry_cap_ms,
                            core->config.random(core->config.random_ctx)));
}

void pawl__store_answered(struct pawl__core *core, pawl_status status, const char *text)
{
    bool away = status == PAWL_E_UNAVAILABLE || status == PAWL_E_UNKNOWN;

    if (away && !core->store_away) {
        core->store_away = true;
        (void)snprintf(core->away_text, sizeof core->away_text, "the store does not answer: %s",
                       text);
        pawl__note_event(core, PAWL_EVENT_STORE_AWAY, NULL, core->away_text);
    } else if (!away && core->store_away) {
        core->store_away = false;
        pawl__note_event(core, PAWL_EVENT_STORE_BACK, NULL, "the store answers again");
    }
}

static void free_call(struct pawl__call *call)
{
    switch (call->kind) {
    case PAWL__CALL_REQUEST:
        pawl__request_free(pawl__request_of(call));
        break;
    case PAWL__CALL_BREAK:
        pawl__breaker_free((struct pawl__breaker *)call);
        break;
    case PAWL__CALL_INSPECT:
    case PAWL__CALL_SESSION:
        pawl__look_free((struct pawl__look_call *)call);
        break;
    }
}

static void free_all(struct pawl__list *calls)
{
    struct pawl__list *link;

    while ((link = pawl__list_pop_front(calls)) != NULL) {
        free_call(PAWL_LIST_ENTRY(link, struct pawl__call, link));
    }
}

/* ---- Life -------------------------------------------------------------------------------------
 */

struct pawl__core *pawl__core_new(const struct pawl__core_config *config)
{
    struct pawl__core *core = pawl__alloc(sizeof *core);

    if (core == NULL) {
        return NULL;
    }
    PAWL_INVARIANT(config->random != NULL);
    core->config = *config;
    core->principal = pawl__strdup(config->principal);
    pawl__list_init(&core->calls);
    pawl__list_init(&core->dead);
    pawl__session_init(core);
    if (core->principal == NULL || !pawl__notes_reserve(core) ||
        !pawl__timer_register(&core->timers, &core->session.timer) ||
        !pawl__timer_register(&core->timers, &core->close_timer)) {
        pawl__core_free(core);
        return NULL;
    }
    return core;
}

void pawl__core_free(struct pawl__core *core)
{
    if (core == NULL) {
        return;
    }
    free_all(&core->dead);
    free_all(&core->calls);
    pawl__table_release(&core->by_id);
    pawl__timers_release(&core->timers);
    pawl__free(core->notes);
    pawl__free(core->principal);
    pawl__free(core);
}

/* ---- Closing ----------------------------------------------------------------------------------
 */

static void fail_call(struct pawl__core *core, struct pawl__call *call)
{
    switch (call->kind) {
    case PAWL__CALL_REQUEST:
        pawl__request_client_closing(core, pawl__request_of(call));
        break;
    case PAWL__CALL_BREAK:
        pawl__breaker_fail(core, (struct pawl__breaker *)call, PAWL_E_CLOSED, closed_text);
        break;
    case PAWL__CALL_INSPECT:
    case PAWL__CALL_SESSION:
        pawl__look_fail(core, (struct pawl__look_call *)call, PAWL_E_CLOSED, closed_text);
        break;
    }
}

static void start_close(struct pawl__core *core, const struct pawl__core_event *event)
{
    if (core->closing) {
        return;
    }
    core->closing = true;
    core->bequeath = event->flag;
    core->close_deadline = event->deadline;
    PAWL_LIST_FOREACH_SAFE (it, tmp, &core->calls) {
        fail_call(core, PAWL_LIST_ENTRY(it, struct pawl__call, link));
    }
    pawl__session_start_close(core);
    pawl__timer_arm(&core->timers, &core->close_timer, event->deadline);
}

static void finish_close(struct pawl__core *core)
{
    bool settled = pawl__session_is_settled(core);

    if (!core->closing || core->closed ||
        (!settled && pawl__boot_before(core->now, core->close_deadline))) {
        return;
    }
    PAWL_LIST_FOREACH_SAFE (it, tmp, &core->calls) {
        struct pawl__call *call = PAWL_LIST_ENTRY(it, struct pawl__call, link);
        pawl__request_client_closed(core, pawl__request_of(call), settled);
    }
    core->closed = true;
    pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_CLOSED,
                                              .status = settled ? PAWL_OK : PAWL_E_UNKNOWN});
}

/* ---- Routing ----------------------------------------------------------------------------------
 */

static void route_hint(struct pawl__core *core, uint64_t watch)
{
    struct pawl__call *call = pawl__table_get(&core->by_id, watch >> SEQ_BITS);

    if (call == NULL) {
        return;
    }
    if (call->kind == PAWL__CALL_REQUEST && pawl__request_of(call)->watch == watch) {
        pawl__request_hint(core, pawl__request_of(call), true);
    } else if (call->kind == PAWL__CALL_BREAK) {
        pawl__breaker_hint(core, (struct pawl__breaker *)call, watch);
    }
}

static void route_answer(struct pawl__core *core, struct pawl__backend_event *event)
{
    struct pawl__call *call = pawl__table_get(&core->by_id, event->op >> SEQ_BITS);

    if (call == NULL || call->op != event->op) {
        return; /* of something that is over, or was asked again */
    }
    switch (call->kind) {
    case PAWL__CALL_REQUEST:
        if (event->status == PAWL_E_LOST) {
            pawl__session_end(core, true, event->text);
        } else {
            pawl__request_handle(core, pawl__request_of(call), event);
        }
        break;
    case PAWL__CALL_BREAK:
        pawl__breaker_handle(core, (struct pawl__breaker *)call, event);
        break;
    case PAWL__CALL_INSPECT:
        pawl__inspect_handle(core, (struct pawl__look_call *)call, event);
        break;
    case PAWL__CALL_SESSION:
        break;
    }
}

static void route(struct pawl__core *core, struct pawl__backend_event *event)
{
    if (event->kind == PAWL__BEV_WATCH) {
        route_hint(core, event->watch);
        return;
    }
    if (event->op >> SEQ_BITS == 0) {
        if (event->op != 0) {
            pawl__store_answered(core, event->status, event->text);
        }
        pawl__session_handle(core, event);
        return;
    }
    route_answer(core, event);
}

static void run_timers(struct pawl__core *core)
{
    struct pawl__timer *timer;

    while ((timer = pawl__timers_pop(&core->timers, core->now)) != NULL) {
        if (timer == &core->session.timer || timer == &core->close_timer) {
            continue; /* upkeep and finish_close() look at the time in every step */
        }
        struct pawl__call *call = PAWL_LIST_ENTRY(timer, struct pawl__call, timer);
        if (call->kind == PAWL__CALL_REQUEST) {
            pawl__request_timer(core, pawl__request_of(call));
        } else if (call->kind == PAWL__CALL_BREAK) {
            pawl__breaker_timer(core, (struct pawl__breaker *)call);
        } else {
            pawl__look_timer(core, (struct pawl__look_call *)call);
        }
    }
}

/* Events that speak of a granted or waiting acquire; one that is over is not there any more. */
static void route_to_request(struct pawl__core *core, const struct pawl__core_event *event)
{
    struct pawl__call *call = pawl__table_get(&core->by_id, event->id);

    if (call == NULL || call->kind != PAWL__CALL_REQUEST) {
        return;
    }
    if (event->kind == PAWL__EV_CANCEL) {
        pawl__request_cancel(core, pawl__request_of(call), PAWL_E_CANCELED,
                             "canceled by the caller");
    } else {
        pawl__request_release(core, pawl__request_of(call));
    }
}

static void handle(struct pawl__core *core, struct pawl__core_event *event)
{
    switch (event->kind) {
    case PAWL__EV_TICK:
        break;
    case PAWL__EV_ACQUIRE:
        pawl__request_start(core, event);
        break;
    case PAWL__EV_CANCEL:
    case PAWL__EV_RELEASE:
        route_to_request(core, event);
        break;
    case PAWL__EV_BREAK:
        pawl__breaker_start(core, event);
        break;
    case PAWL__EV_INSPECT:
        pawl__inspect_start(core, event);
        break;
    case PAWL__EV_SESSION:
        pawl__wait_session_start(core, event);
        break;
    case PAWL__EV_CLOSE:
        start_close(core, event);
        break;
    case PAWL__EV_BACKEND:
        route(core, event->backend);
        break;
    case PAWL__EV_LEASE_DEAD:
        if (pawl__session_is_live(core) && event->session == core->session.id) {
            pawl__session_end(core, false, "no renewal was confirmed before the deadline");
        }
        break;
    }
}

void pawl__core_step(struct pawl__core *core, struct pawl__boot now, struct pawl__core_event *event)
{
    PAWL_INVARIANT(!pawl__boot_before(now, core->now));
    PAWL_INVARIANT(core->note_len == 0);
    free_all(&core->dead);
    core->now = now;
    pawl__session_expire(core);
    handle(core, event);
    run_timers(core);
    pawl__session_upkeep(core);
    finish_close(core);
}

/* ---- Ops that could not be started ------------------------------------------------------------
 */

static enum pawl__backend_event_kind answer_kind(const struct pawl__core *core,
                                                 struct pawl__call *call, uint64_t op)
{
    if (call == NULL) {
        if (op == core->session.renew_op) {
            return PAWL__BEV_RENEWED;
        }
        return pawl__sm_state(&core->session.phase) == PAWL__SESSION_OPENING
                   ? PAWL__BEV_SESSION_OPENED
                   : PAWL__BEV_SESSION_CLOSED;
    }
    if (call->kind != PAWL__CALL_REQUEST) {
        return call->kind == PAWL__CALL_BREAK ? PAWL__BEV_MARKED : PAWL__BEV_LISTED;
    }
    switch (pawl__request_phase(pawl__request_of(call))) {
    case PAWL__PHASE_ENQUEUEING:
        return PAWL__BEV_ENQUEUED;
    case PAWL__PHASE_REMOVING:
        return PAWL__BEV_REMOVED;
    case PAWL__PHASE_NEW:
    case PAWL__PHASE_SETTLING:
    case PAWL__PHASE_WAITING:
    case PAWL__PHASE_HELD:
    case PAWL__PHASE_DONE:
        break;
    }
    return PAWL__BEV_LOOKED;
}

void pawl__core_refuse(struct pawl__core *core, struct pawl__boot now, uint64_t op,
                       pawl_status status)
{
    struct pawl__call *call =
        op >> SEQ_BITS == 0 ? NULL : pawl__table_get(&core->by_id, op >> SEQ_BITS);

    PAWL_INVARIANT(status != PAWL_OK);
    if (op >> SEQ_BITS != 0 && (call == NULL || call->op != op)) {
        return;
    }
    struct pawl__backend_event event = {.kind = answer_kind(core, call, op),
                                        .op = op,
                                        .session = core->session.id,
                                        .status = PAWL_E_UNAVAILABLE,
                                        .text = "the request could not be started"};
    core->now = now;
    if (call == NULL) {
        pawl__session_handle(core, &event);
    } else {
        route_answer(core, &event);
    }
    pawl__session_upkeep(core);
    finish_close(core);
}

/* ---- Reading ----------------------------------------------------------------------------------
 */

struct pawl__boot pawl__core_next_deadline(const struct pawl__core *core)
{
    return pawl__timers_next(&core->timers);
}

struct pawl__core_counts pawl__core_count(const struct pawl__core *core)
{
    struct pawl__core_counts counts = {0};

    PAWL_LIST_FOREACH (it, &core->calls) {
        struct pawl__call *call = PAWL_LIST_ENTRY(it, struct pawl__call, link);
        if (call->kind != PAWL__CALL_REQUEST) {
            continue;
        }
        const struct pawl__request *request = pawl__request_of(call);
        counts.requests++;
        if (pawl__request_is_held(request)) {
            counts.holds++;
        } else if (!request->wanted) {
            counts.debts++;
        }
    }
    return counts;
}
