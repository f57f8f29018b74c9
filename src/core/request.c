/* One request: from being asked for, through the queue, to a hold, to nothing being left of it. The
 * phases are drawn in state.h. The same object is the caller's request and, once nobody wants it
 * any more, the debt that must still be cleared: so no clean-up ever needs memory. */
#include "core/state.h"

#include <stdio.h>

#include "base/alloc.h"
#include "core/defect.h"

static const struct pawl__sm_state request_phases[] = {
    [PAWL__PHASE_NEW] = {.name = "NEW",
                         .allowed =
                             PAWL_SM_TO(PAWL__PHASE_ENQUEUEING) | PAWL_SM_TO(PAWL__PHASE_DONE)},
    [PAWL__PHASE_ENQUEUEING] = {.name = "ENQUEUEING",
                                .allowed = PAWL_SM_TO(PAWL__PHASE_NEW) |
                                           PAWL_SM_TO(PAWL__PHASE_SETTLING) |
                                           PAWL_SM_TO(PAWL__PHASE_WAITING) |
                                           PAWL_SM_TO(PAWL__PHASE_REMOVING) |
                                           PAWL_SM_TO(PAWL__PHASE_DONE)},
    [PAWL__PHASE_SETTLING] = {.name = "SETTLING",
                              .allowed =
                                  PAWL_SM_TO(PAWL__PHASE_NEW) | PAWL_SM_TO(PAWL__PHASE_WAITING) |
                                  PAWL_SM_TO(PAWL__PHASE_REMOVING) | PAWL_SM_TO(PAWL__PHASE_DONE)},
    [PAWL__PHASE_WAITING] = {.name = "WAITING",
                             .allowed = PAWL_SM_TO(PAWL__PHASE_NEW) | PAWL_SM_TO(PAWL__PHASE_HELD) |
                                        PAWL_SM_TO(PAWL__PHASE_REMOVING) |
                                        PAWL_SM_TO(PAWL__PHASE_DONE)},
    [PAWL__PHASE_HELD] = {.name = "HELD",
                          .allowed =
                              PAWL_SM_TO(PAWL__PHASE_REMOVING) | PAWL_SM_TO(PAWL__PHASE_DONE)},
    [PAWL__PHASE_REMOVING] = {.name = "REMOVING", .allowed = PAWL_SM_TO(PAWL__PHASE_DONE)},
    [PAWL__PHASE_DONE] = {.name = "DONE", .final_ = true},
};

static bool request_invariant(const struct pawl__sm *sm, int prev)
{
    const struct pawl__request *request = PAWL_SM_OWNER(sm, struct pawl__request, phase);

    (void)prev;
    switch ((enum pawl__phase)sm->state) {
    case PAWL__PHASE_NEW:
        return request->wanted && request->number == 0 && request->watch == 0;
    case PAWL__PHASE_ENQUEUEING:
    case PAWL__PHASE_SETTLING:
        return request->number == 0 && request->watch == 0;
    case PAWL__PHASE_WAITING:
        return request->wanted && request->number != 0;
    case PAWL__PHASE_HELD:
        return !request->wanted && request->number != 0 && request->watch == 0;
    case PAWL__PHASE_REMOVING:
        return !request->wanted && request->number != 0 && request->watch == 0 &&
               !pawl__request_is_held(request);
    case PAWL__PHASE_DONE:
        return !request->wanted && request->watch == 0 && !pawl__request_is_held(request);
    }
    return false;
}

static void move_to(struct pawl__request *request, enum pawl__phase phase)
{
    pawl__sm_move(&request->phase, (int)phase);
}

static void arm(struct pawl__core *core, struct pawl__request *request)
{
    struct pawl__boot at = request->call.op == 0 ? request->call.retry_at : PAWL__BOOT_NEVER;

    if (request->wanted) {
        at = pawl__boot_min(at, request->call.deadline);
    }
    if (pawl__request_phase(request) == PAWL__PHASE_WAITING && request->call.op == 0) {
        at = pawl__boot_min(at, request->poll_at);
    }
    pawl__timer_arm(&core->timers, &request->call.timer, at);
}

static void drop_watch(struct pawl__core *core, struct pawl__request *request)
{
    if (request->watch != 0) {
        pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_UNWATCH,
                                                  .call = &request->call,
                                                  .op = request->watch});
        request->watch = 0;
        request->blocker = 0;
    }
}

/* Told once: somebody watching should know that the store still has something of ours. */
static void tell_debt(struct pawl__core *core, struct pawl__request *request, const char *why)
{
    if (!request->debt_told) {
        request->debt_told = true;
        pawl__note_event(core, PAWL_EVENT_DEBT, &request->call, why);
    }
}

static void finish(struct pawl__core *core, struct pawl__request *request)
{
    if (request->debt_told) {
        pawl__note_event(core, PAWL_EVENT_DEBT_PAID, &request->call, "nothing of it is left");
    }
    move_to(request, PAWL__PHASE_DONE);
    pawl__call_finish(core, &request->call);
}

static void change_hold(struct pawl__core *core, struct pawl__request *request,
                        pawl_hold_state_value state, const char *why)
{
    pawl__sm_move(&request->hold, (int)state);
    pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_HOLD,
                                              .call = &request->call,
                                              .detail = (int)state,
                                              .text = why});
}

/* The caller's answer: nothing is held. What the store may have of it stays this object's duty. */
static void answer_failed(struct pawl__core *core, struct pawl__request *request,
                          pawl_status status, const char *why)
{
    PAWL_INVARIANT(request->wanted);
    PAWL_INVARIANT(status != PAWL_OK);
    request->wanted = false;
    if (why != request->call.why) {
        (void)snprintf(request->call.why, sizeof request->call.why, "%s", why);
    }
    pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_FAILED,
                                              .call = &request->call,
                                              .status = status,
                                              .text = request->call.why});
}

static void send_enqueue(struct pawl__core *core, struct pawl__request *request)
{
    move_to(request, PAWL__PHASE_ENQUEUEING);
    request->call.retry_at = PAWL__BOOT_NEVER;
    request->look_again = false;
    pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_ENQUEUE,
                                              .call = &request->call,
                                              .op = pawl__call_new_op(&request->call),
                                              .flag = request->only_if_free});
}

static void send_look(struct pawl__core *core, struct pawl__request *request)
{
    bool settle = pawl__request_phase(request) == PAWL__PHASE_SETTLING;
    bool position = pawl__request_phase(request) == PAWL__PHASE_WAITING && request->position_known;

    request->call.retry_at = PAWL__BOOT_NEVER;
    request->look_again = false;
    pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_LOOK,
                                              .call = &request->call,
                                              .op = pawl__call_new_op(&request->call),
                                              .flag = settle,
                                              .flag2 = position});
}

static void send_remove(struct pawl__core *core, struct pawl__request *request)
{
    request->call.retry_at = PAWL__BOOT_NEVER;
    pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_REMOVE,
                                              .call = &request->call,
                                              .op = pawl__call_new_op(&request->call),
                                              .number = request->number});
}

/* The entry is known to be there and has to go. A look under way is forgotten: its op number is not
 * outstanding any more. */
static void start_removal(struct pawl__core *core, struct pawl__request *request)
{
    drop_watch(core, request);
    move_to(request, PAWL__PHASE_REMOVING);
    pawl__retry_reset(&request->call.retry);
    send_remove(core, request);
}

static void lose_hold(struct pawl__core *core, struct pawl__request *request, const char *why)
{
    if (why != request->call.why) {
        (void)snprintf(request->call.why, sizeof request->call.why, "%s", why);
    }
    change_hold(core, request, PAWL_HOLD_LOST, request->call.why);
}

/* ---- What the caller does ---------------------------------------------------------------------
 */

static void init_request(struct pawl__request *request, const struct pawl__core_acquire *acquire)
{
    request->wants = acquire->wants;
    request->count = acquire->count;
    request->payload = acquire->payload;
    request->attempt = acquire->attempt;
    request->only_if_free = acquire->only_if_free;
    request->wanted = true;
    request->poll_at = PAWL__BOOT_NEVER;
    pawl__sm_init(&request->phase, request_phases, PAWL__PHASE_NEW, request_invariant);
    pawl__sm_init(&request->hold, pawl__hold_states, PAWL__HOLD_NONE, NULL);
}

static void free_acquire(const struct pawl__core_acquire *acquire)
{
    for (size_t i = 0; i < acquire->count; i++) {
        pawl__free((char *)acquire->wants[i].name);
    }
    pawl__free(acquire->wants);
    pawl__free(acquire->payload);
}

void pawl__request_start(struct pawl__core *core, const struct pawl__core_event *event)
{
    struct pawl__request *request = pawl__alloc(sizeof *request);

    if (request == NULL || !pawl__call_add(core, &request->call, PAWL__CALL_REQUEST, event->id,
                                           event->acquire.deadline)) {
        pawl__free(request);
        free_acquire(&event->acquire);
        pawl__note_refusal(core, PAWL__ACT_FAILED, event->id, PAWL_E_NOMEM, "out of memory");
        return;
    }
    init_request(request, &event->acquire);
    if (core->closing) {
        answer_failed(core, request, PAWL_E_CLOSED, "the client is closing");
        finish(core, request);
        return;
    }
    if (pawl__session_is_live(core)) {
        send_enqueue(core, request);
    }
    arm(core, request);
}

/* The caller gave up, or its time is over. */
void pawl__request_cancel(struct pawl__core *core, struct pawl__request *request,
                          pawl_status status, const char *why)
{
    if (!request->wanted) {
        return;
    }
    answer_failed(core, request, status, why);
    switch (pawl__request_phase(request)) {
    case PAWL__PHASE_NEW:
        finish(core, request);
        return;
    case PAWL__PHASE_ENQUEUEING:
    case PAWL__PHASE_SETTLING:
        if (PAWL__HAS_DEFECT(FORGOTTEN_DEBT)) {
            finish(core, request);
            return;
        }
        tell_debt(core, request, "given up while the store's answer was open");
        break;
    case PAWL__PHASE_WAITING:
        start_removal(core, request);
        break;
    case PAWL__PHASE_HELD:
    case PAWL__PHASE_REMOVING:
    case PAWL__PHASE_DONE:
        PAWL_INVARIANT(false);
        break;
    }
    arm(core, request);
}

void pawl__request_release(struct pawl__core *core, struct pawl__request *request)
{
    if (!pawl__request_is_held(request)) {
        return;
    }
    change_hold(core, request, PAWL_HOLD_RELEASING, NULL);
    start_removal(core, request);
    arm(core, request);
}

/* ---- What the store says ----------------------------------------------------------------------
 */

static bool is_blocked(const struct pawl__backend_event *event)
{
    for (size_t i = 0; i < event->view_count; i++) {
        if (event->views[i].blocker != 0) {
            return true;
        }
    }
    return false;
}

/* How many of the names have our entry; tells its number. */
static size_t count_own(const struct pawl__backend_event *event, uint64_t *ret_number)
{
    size_t own = 0;

    for (size_t i = 0; i < event->view_count; i++) {
        if (event->views[i].own_present) {
            own++;
            *ret_number = event->views[i].own_number;
        }
    }
    return own;
}

static void grant(struct pawl__core *core, struct pawl__request *request)
{
    drop_watch(core, request);
    request->wanted = false;
    pawl__sm_move(&request->hold, PAWL_HOLD_HELD);
    move_to(request, PAWL__PHASE_HELD);
    pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_GRANTED,
                                              .call = &request->call,
                                              .number = request->number});
    if (core->session.suspect) {
        change_hold(core, request, PAWL_HOLD_SUSPECT, NULL);
    }
}

static int position_in(const struct pawl__backend_event *event)
{
    int position = -1;

    for (size_t i = 0; i < event->view_count; i++) {
        if (event->views[i].position > position) {
            position = event->views[i].position;
        }
    }
    return position;
}

/* Behind someone: watch the first entry in the way. One watch is enough, whatever the number of
 * names: when it fires all are looked at again. */
static void keep_waiting(struct pawl__core *core, struct pawl__request *request,
                         struct pawl__backend_event *event)
{
    size_t i = 0;

    while (event->views[i].blocker == 0) {
        i++;
        PAWL_INVARIANT(i < event->view_count);
    }
    if (request->watch == 0 || request->blocker != event->views[i].blocker) {
        drop_watch(core, request);
        request->call.op_seq++;
        request->watch = request->call.id << 16 | request->call.op_seq;
        request->blocker = event->views[i].blocker;
        pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_WATCH,
                                                  .call = &request->call,
                                                  .op = request->watch,
                                                  .number = request->blocker,
                                                  .name = request->wants[i].name});
    }
    int64_t poll = core->config.ttl_ms / 2;
    if (!request->position_known) {
        poll = PAWL__FIRST_POLL_MS;
        request->position_known = true; /* from the next look on it is asked for */
    } else if (poll < PAWL__POLL_MIN_MS) {
        poll = PAWL__POLL_MIN_MS;
    }
    request->poll_at = pawl__boot_add(core->now, poll);
    pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_WAITING,
                                              .call = &request->call,
                                              .detail = position_in(event),
                                              .event = event});
}

/* Our entry was taken away by someone else, without a mark. */
static void place_removed(struct pawl__core *core, struct pawl__request *request, size_t own)
{
    static const char why[] = "our entry was removed from the queue by someone else";

    if (pawl__request_is_held(request)) {
        lose_hold(core, request, why);
    } else if (request->wanted) {
        answer_failed(core, request, PAWL_E_LOST, why);
    }
    if (own > 0) {
        start_removal(core, request);
    } else {
        drop_watch(core, request);
        finish(core, request);
    }
}

/* A look that shows our entry in every queue: the only thing that grants (design.md 6, rule 4). */
static void all_present(struct pawl__core *core, struct pawl__request *request,
                        struct pawl__backend_event *event)
{
    if (!request->wanted && !pawl__request_is_held(request)) {
        start_removal(core, request);
        return;
    }
    if (pawl__request_is_held(request)) {
        return;
    }
    if (pawl__request_phase(request) != PAWL__PHASE_WAITING) {
        move_to(request, PAWL__PHASE_WAITING);
    }
    if (pawl__session_has_mark(core, request->number)) {
        answer_failed(core, request, PAWL_E_LOST, "broken by another before it was granted");
        start_removal(core, request);
    } else if (is_blocked(event)) {
        keep_waiting(core, request, event);
    } else {
        grant(core, request);
    }
}

static void take_views(struct pawl__core *core, struct pawl__request *request,
                       struct pawl__backend_event *event)
{
    uint64_t number = 0;
    size_t own = count_own(event, &number);

    PAWL_INVARIANT(event->view_count == request->count);
    if (own == 0 && pawl__request_phase(request) == PAWL__PHASE_SETTLING) {
        /* Settled: it is not there and never will be. */
        if (request->wanted) {
            move_to(request, PAWL__PHASE_NEW);
            send_enqueue(core, request);
        } else {
            finish(core, request);
        }
        return;
    }
    if (own > 0) {
        PAWL_INVARIANT(request->number == 0 || request->number == number);
        request->number = number;
    }
    if (own == request->count) {
        all_present(core, request, event);
    } else if (request->number != 0) {
        place_removed(core, request, own);
    } else {
        /* An enqueue that was confirmed but shows nothing: removed before we saw it. */
        if (request->wanted) {
            answer_failed(core, request, PAWL_E_LOST,
                          "our entry was removed as soon as it was made");
        }
        finish(core, request);
    }
}

static void retry_later(struct pawl__core *core, struct pawl__request *request)
{
    pawl__call_retry_later(core, &request->call);
}

static void handle_enqueued(struct pawl__core *core, struct pawl__request *request,
                            struct pawl__backend_event *event)
{
    if (event->status == PAWL_OK) {
        take_views(core, request, event);
    } else if (event->status == PAWL_E_UNKNOWN) {
        move_to(request, PAWL__PHASE_SETTLING);
        send_look(core, request);
    } else if (!request->wanted) {
        finish(core, request);
    } else if (event->status == PAWL_E_TIMEOUT && request->only_if_free) {
        pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_WAITING,
                                                  .call = &request->call,
                                                  .detail = position_in(event),
                                                  .event = event});
        answer_failed(core, request, PAWL_E_TIMEOUT, "held by another");
        finish(core, request);
    } else if (pawl__status_is_passing(event->status)) {
        move_to(request, PAWL__PHASE_NEW);
        retry_later(core, request);
    } else {
        answer_failed(core, request, event->status, event->text);
        finish(core, request);
    }
}

static void handle_looked(struct pawl__core *core, struct pawl__request *request,
                          struct pawl__backend_event *event)
{
    if (event->status == PAWL_OK) {
        pawl__retry_reset(&request->call.retry);
        bool again = request->look_again;
        take_views(core, request, event);
        /* A hint that came while the look was under way may speak of something newer than it. */
        if (again && !request->call.over && request->call.op == 0 &&
            (pawl__request_phase(request) == PAWL__PHASE_WAITING ||
             pawl__request_phase(request) == PAWL__PHASE_HELD)) {
            send_look(core, request);
        }
        return;
    }
    if (pawl__status_is_passing(event->status) || !request->wanted) {
        retry_later(core, request);
        return;
    }
    answer_failed(core, request, event->status, event->text);
    if (pawl__request_phase(request) == PAWL__PHASE_WAITING) {
        start_removal(core, request);
    } else {
        retry_later(core, request);
    }
}

static void handle_removed(struct pawl__core *core, struct pawl__request *request,
                           struct pawl__backend_event *event)
{
    if (event->status != PAWL_OK) {
        tell_debt(core, request, "the removal is not confirmed yet");
        retry_later(core, request);
        return;
    }
    if (pawl__sm_state(&request->hold) == PAWL_HOLD_RELEASING) {
        change_hold(core, request, PAWL_HOLD_RELEASED, NULL);
    }
    finish(core, request);
}

/* An answer to the op of this request that is under way. */
void pawl__request_handle(struct pawl__core *core, struct pawl__request *request,
                          struct pawl__backend_event *event)
{
    PAWL_INVARIANT(request->call.op == event->op);
    request->call.op = 0;
    pawl__store_answered(core, event->status, event->text);
    switch (event->kind) {
    case PAWL__BEV_ENQUEUED:
        handle_enqueued(core, request, event);
        break;
    case PAWL__BEV_LOOKED:
        handle_looked(core, request, event);
        break;
    case PAWL__BEV_REMOVED:
        handle_removed(core, request, event);
        break;
    case PAWL__BEV_SESSION_OPENED:
    case PAWL__BEV_RENEWED:
    case PAWL__BEV_SESSION_CLOSED:
    case PAWL__BEV_MARKED:
    case PAWL__BEV_LISTED:
    case PAWL__BEV_WATCH:
    case PAWL__BEV_OWN:
    case PAWL__BEV_SESSION:
        PAWL_INVARIANT(false);
        break;
    }
    if (!request->call.over) {
        arm(core, request);
    }
}

/* Something may have changed for it: look, do not conclude (design.md 6, rule 4). */
void pawl__request_hint(struct pawl__core *core, struct pawl__request *request, bool by_watch)
{
    enum pawl__phase phase = pawl__request_phase(request);

    if (core->closing || (phase != PAWL__PHASE_WAITING && phase != PAWL__PHASE_HELD)) {
        return;
    }
    if (by_watch) {
        request->watch = 0; /* it fired: there is no more of it */
        request->blocker = 0;
        if (PAWL__HAS_DEFECT(GRANT_ON_EVENT) && phase == PAWL__PHASE_WAITING) {
            request->call.op = 0;
            grant(core, request);
            arm(core, request);
            return;
        }
    }
    if (request->call.op != 0) {
        request->look_again = true;
    } else {
        send_look(core, request);
    }
    arm(core, request);
}

/* ---- What the session does --------------------------------------------------------------------
 */

void pawl__request_session_up(struct pawl__core *core, struct pawl__request *request)
{
    if (pawl__request_phase(request) == PAWL__PHASE_NEW && request->call.op == 0) {
        pawl__retry_reset(&request->call.retry);
        send_enqueue(core, request);
        arm(core, request);
    }
}

/* The session is over for us: what it held is LOST, what waited asks again under the next one, what
 * had to be removed dies with it. */
void pawl__request_session_over(struct pawl__core *core, struct pawl__request *request,
                                const char *why)
{
    int hold = pawl__sm_state(&request->hold);

    request->call.op = 0;
    request->look_again = false;
    request->call.retry_at = PAWL__BOOT_NEVER;
    drop_watch(core, request);
    if (hold == PAWL_HOLD_HELD || hold == PAWL_HOLD_SUSPECT) {
        lose_hold(core, request, why);
    } else if (hold == PAWL_HOLD_RELEASING) {
        lose_hold(core, request, "the session ended before the release was confirmed");
    }
    request->number = 0;
    if (!request->wanted) {
        finish(core, request);
        return;
    }
    if (pawl__request_phase(request) != PAWL__PHASE_NEW) {
        move_to(request, PAWL__PHASE_NEW);
    }
    request->position_known = false;
    arm(core, request);
}

void pawl__request_session_refused(struct pawl__core *core, struct pawl__request *request,
                                   pawl_status status, const char *why)
{
    if (request->wanted && pawl__request_phase(request) == PAWL__PHASE_NEW) {
        answer_failed(core, request, status, why);
        finish(core, request);
    }
}

void pawl__request_set_suspect(struct pawl__core *core, struct pawl__request *request, bool suspect)
{
    int wanted = suspect ? PAWL_HOLD_SUSPECT : PAWL_HOLD_HELD;

    if (pawl__request_is_held(request) && pawl__sm_state(&request->hold) != wanted) {
        change_hold(core, request, (pawl_hold_state_value)wanted, NULL);
    }
}

/* Somebody broke it: LOST first, then the entry goes (design.md 5, break). */
void pawl__request_broken(struct pawl__core *core, struct pawl__request *request,
                          const struct pawl__mark *mark)
{
    enum pawl__phase phase = pawl__request_phase(request);

    if (core->closing || (phase != PAWL__PHASE_HELD && phase != PAWL__PHASE_WAITING)) {
        return;
    }
    (void)snprintf(request->call.why, sizeof request->call.why, "broken by %s: %s",
                   mark->by != NULL ? mark->by : "?", mark->reason != NULL ? mark->reason : "");
    if (phase == PAWL__PHASE_HELD) {
        lose_hold(core, request, request->call.why);
    } else {
        answer_failed(core, request, PAWL_E_LOST, request->call.why);
    }
    start_removal(core, request);
    arm(core, request);
}

/* The client closes: every caller gets its answer now; the entries go with the session. */
void pawl__request_client_closing(struct pawl__core *core, struct pawl__request *request)
{
    if (request->wanted) {
        answer_failed(core, request, PAWL_E_CLOSED, "the client was closed");
    }
    if (pawl__request_is_held(request)) {
        change_hold(core, request, PAWL_HOLD_RELEASING, NULL);
    }
    if (pawl__request_phase(request) == PAWL__PHASE_NEW) {
        finish(core, request);
        return;
    }
    request->call.op = 0;
    request->call.retry_at = PAWL__BOOT_NEVER;
    drop_watch(core, request);
    pawl__timer_arm(&core->timers, &request->call.timer, PAWL__BOOT_NEVER);
}

void pawl__request_client_closed(struct pawl__core *core, struct pawl__request *request,
                                 bool confirmed)
{
    if (pawl__sm_state(&request->hold) == PAWL_HOLD_RELEASING) {
        if (confirmed) {
            change_hold(core, request, PAWL_HOLD_RELEASED, NULL);
        } else {
            lose_hold(core, request, "the client was closed before the release was confirmed");
        }
    }
    finish(core, request);
}

/* ---- Time -------------------------------------------------------------------------------------
 */

static void time_is_over(struct pawl__core *core, struct pawl__request *request)
{
    if (request->only_if_free) {
        pawl__request_cancel(core, request, PAWL_E_UNAVAILABLE, "the store did not answer in time");
    } else {
        pawl__request_cancel(core, request, PAWL_E_TIMEOUT, "not acquired in the time given");
    }
}

static void retry_now(struct pawl__core *core, struct pawl__request *request)
{
    request->call.retry_at = PAWL__BOOT_NEVER;
    switch (pawl__request_phase(request)) {
    case PAWL__PHASE_NEW:
        if (pawl__session_is_live(core)) {
            send_enqueue(core, request);
        }
        break;
    case PAWL__PHASE_SETTLING:
    case PAWL__PHASE_WAITING:
    case PAWL__PHASE_HELD:
        send_look(core, request);
        break;
    case PAWL__PHASE_REMOVING:
        send_remove(core, request);
        break;
    case PAWL__PHASE_ENQUEUEING:
    case PAWL__PHASE_DONE:
        PAWL_INVARIANT(false);
        break;
    }
}

void pawl__request_timer(struct pawl__core *core, struct pawl__request *request)
{
    if (request->wanted && !pawl__boot_before(core->now, request->call.deadline)) {
        time_is_over(core, request);
        return;
    }
    if (request->call.op == 0 && !pawl__boot_before(core->now, request->call.retry_at)) {
        retry_now(core, request);
    } else if (pawl__request_phase(request) == PAWL__PHASE_WAITING && request->call.op == 0 &&
               !pawl__boot_before(core->now, request->poll_at)) {
        send_look(core, request);
    }
    arm(core, request);
}

void pawl__request_free(struct pawl__request *request)
{
    for (size_t i = 0; i < request->count; i++) {
        pawl__free((char *)request->wants[i].name);
    }
    pawl__free(request->wants);
    pawl__free(request->payload);
    pawl__free(request);
}
