/* The session of a client: opened with the first need, renewed, believed only until its deadline,
 * given up for good when that passes. States: state.h. A session that was lost is never taken up
 * again, also when the store still has it: it is closed there, and a new one is opened. */
#include "core/state.h"

#include <stdio.h>
#include <string.h>

#include "core/defect.h"

static const struct pawl__sm_state session_phases[] = {
    [PAWL__SESSION_NONE] = {.name = "NONE", .allowed = PAWL_SM_TO(PAWL__SESSION_OPENING)},
    [PAWL__SESSION_OPENING] = {.name = "OPENING",
                               .allowed =
                                   PAWL_SM_TO(PAWL__SESSION_LIVE) | PAWL_SM_TO(PAWL__SESSION_NONE)},
    [PAWL__SESSION_LIVE] = {.name = "LIVE",
                            .allowed =
                                PAWL_SM_TO(PAWL__SESSION_CLOSING) | PAWL_SM_TO(PAWL__SESSION_NONE)},
    [PAWL__SESSION_CLOSING] = {.name = "CLOSING", .allowed = PAWL_SM_TO(PAWL__SESSION_NONE)},
};

static bool session_invariant(const struct pawl__sm *sm, int prev)
{
    const struct pawl__session *session = PAWL_SM_OWNER(sm, struct pawl__session, phase);

    (void)prev;
    return (sm->state == PAWL__SESSION_NONE) == (session->id == 0) &&
           (sm->state == PAWL__SESSION_LIVE || session->renew_op == 0);
}

static enum pawl__session_phase phase_of(const struct pawl__core *core)
{
    return (enum pawl__session_phase)pawl__sm_state(&core->session.phase);
}

void pawl__session_init(struct pawl__core *core)
{
    core->session.fd = -1;
    core->session.renew_at = PAWL__BOOT_NEVER;
    core->session.retry_at = PAWL__BOOT_NEVER;
    pawl__sm_init(&core->session.phase, session_phases, PAWL__SESSION_NONE, session_invariant);
}

uint64_t pawl__session_new_op(struct pawl__core *core)
{
    /* Ops of the session have no call id in their upper bits; 0 is no op. */
    core->session_op_seq++;
    if (core->session_op_seq == 0) {
        core->session_op_seq = 1;
    }
    return core->session_op_seq;
}

static void publish_lease(struct pawl__core *core, struct pawl__boot deadline)
{
    pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_LEASE,
                                              .number = core->session.id,
                                              .deadline = deadline});
}

static void retry_later(struct pawl__core *core, struct pawl__session *session)
{
    session->retry_at = pawl__boot_add(
        core->now,
        pawl__retry_next_ms(&session->retry, core->config.retry_base_ms, core->config.retry_cap_ms,
                            core->config.random(core->config.random_ctx)));
}

static void send_open(struct pawl__core *core)
{
    struct pawl__session *session = &core->session;

    session->op = pawl__session_new_op(core);
    session->retry_at = PAWL__BOOT_NEVER;
    pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_SESSION_OPEN, .op = session->op});
}

static void start_open(struct pawl__core *core)
{
    struct pawl__session *session = &core->session;

    do {
        session->id = core->config.random(core->config.random_ctx) & INT64_MAX;
    } while (session->id == 0);
    session->suspect = false;
    session->may_exist = false;
    pawl__sm_move(&session->phase, PAWL__SESSION_OPENING);
    send_open(core);
}

/* Collects what the next renewal sweeps, and puts it behind the others, so that all get their turn.
 */
static size_t choose_sweep(struct pawl__core *core)
{
    struct pawl__session *session = &core->session;
    size_t count = 0;
    size_t left = pawl__table_len(&core->by_id);
    struct pawl__list *it = pawl__list_first(&core->calls);

    while (it != NULL && left-- > 0 && count < PAWL__SWEEP_MAX) {
        struct pawl__list *next = it->next;
        struct pawl__call *call = PAWL_LIST_ENTRY(it, struct pawl__call, link);
        if (call->kind == PAWL__CALL_REQUEST && pawl__request_is_held(pawl__request_of(call))) {
            session->sweep[count++] = pawl__request_of(call)->number;
        }
        pawl__list_remove(it);
        pawl__list_push_back(&core->calls, it);
        it = next == &core->calls ? NULL : next;
    }
    return count;
}

static void send_renewal(struct pawl__core *core)
{
    struct pawl__session *session = &core->session;

    session->renew_op = pawl__session_new_op(core);
    session->renew_at = PAWL__BOOT_NEVER;
    pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_SESSION_RENEW,
                                              .op = session->renew_op,
                                              .detail = (int)choose_sweep(core)});
}

static void send_close(struct pawl__core *core)
{
    struct pawl__session *session = &core->session;

    session->op = pawl__session_new_op(core);
    session->retry_at = PAWL__BOOT_NEVER;
    pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_SESSION_CLOSE,
                                              .op = session->op,
                                              .flag = core->bequeath});
}

static void for_each_request(struct pawl__core *core,
                             void (*visit)(struct pawl__core *, struct pawl__request *))
{
    PAWL_LIST_FOREACH_SAFE (it, tmp, &core->calls) {
        struct pawl__call *call = PAWL_LIST_ENTRY(it, struct pawl__call, link);
        if (call->kind == PAWL__CALL_REQUEST) {
            visit(core, pawl__request_of(call));
        }
    }
}

static void show_suspect(struct pawl__core *core, struct pawl__request *request)
{
    pawl__request_set_suspect(core, request, core->session.suspect);
}

static void update_suspect(struct pawl__core *core)
{
    struct pawl__session *session = &core->session;
    bool suspect = pawl__lease_is_suspect(&session->lease, core->now);

    if (suspect != session->suspect) {
        session->suspect = suspect;
        for_each_request(core, show_suspect);
    }
}

/* Only renewals prove life, because only they bring the marks: evidence from another answer would
 * carry the lease past the time at which a breaker may take the entry away. */
static void take_evidence(struct pawl__core *core, struct pawl__boot evidence)
{
    if (PAWL__HAS_DEFECT(DEADLINE_FROM_REPLY) && !pawl__boot_is_none(evidence)) {
        evidence = core->now;
    }
    if (!pawl__boot_is_none(evidence) && pawl__lease_extend(&core->session.lease, evidence)) {
        publish_lease(core, core->session.lease.deadline);
        update_suspect(core);
    }
}

/* Someone waits for a session: a request that has nothing in the store, or a caller of SESSION. */
static bool is_needed(const struct pawl__core *core)
{
    PAWL_LIST_FOREACH (it, &core->calls) {
        const struct pawl__call *call = PAWL_LIST_ENTRY(it, struct pawl__call, link);
        if (call->kind == PAWL__CALL_SESSION) {
            return true;
        }
        if (call->kind == PAWL__CALL_REQUEST && ((const struct pawl__request *)call)->wanted) {
            return true;
        }
    }
    return false;
}

static void remember_old(struct pawl__core *core, uint64_t id)
{
    for (size_t i = 0; i < PAWL__OLD_SESSIONS_MAX; i++) {
        if (core->old[i].id == 0) {
            core->old[i] = (struct pawl__old_session){.id = id, .retry_at = core->now};
            return;
        }
    }
    /* No slot: the store's own ttl ends it. */
}

static void close_old(struct pawl__core *core, struct pawl__old_session *old)
{
    if (old->id == 0 || old->op != 0 || pawl__boot_before(core->now, old->retry_at)) {
        return;
    }
    old->op = pawl__session_new_op(core);
    old->retry_at = PAWL__BOOT_NEVER;
    pawl__note_push(core, (struct pawl__note){
                              .kind = PAWL__ACT_SESSION_CLOSE, .op = old->op, .number = old->id});
}

static struct pawl__boot next_wake(const struct pawl__core *core)
{
    const struct pawl__session *session = &core->session;
    struct pawl__boot next = session->retry_at;

    if (phase_of(core) == PAWL__SESSION_LIVE) {
        if (session->renew_op == 0) {
            next = pawl__boot_min(next, session->renew_at);
        }
        next = pawl__boot_min(next, session->lease.deadline);
        if (!session->suspect) {
            next = pawl__boot_min(next, session->lease.suspect_at);
        }
    }
    for (size_t i = 0; i < PAWL__OLD_SESSIONS_MAX; i++) {
        if (core->old[i].id != 0) {
            next = pawl__boot_min(next, core->old[i].retry_at);
        }
    }
    return next;
}

/* What is due by now, whatever the event was. */
void pawl__session_upkeep(struct pawl__core *core)
{
    struct pawl__session *session = &core->session;
    bool retry_due = !pawl__boot_before(core->now, session->retry_at);

    switch (phase_of(core)) {
    case PAWL__SESSION_NONE:
        if (retry_due) {
            session->retry_at = PAWL__BOOT_NEVER;
        }
        if (!core->closing && is_needed(core) && pawl__boot_is_never(session->retry_at)) {
            start_open(core);
        }
        break;
    case PAWL__SESSION_OPENING:
        if (session->op == 0 && retry_due) {
            send_open(core);
        }
        break;
    case PAWL__SESSION_LIVE:
        update_suspect(core);
        if (session->renew_op == 0 && !pawl__boot_before(core->now, session->renew_at)) {
            send_renewal(core);
        }
        break;
    case PAWL__SESSION_CLOSING:
        if (session->op == 0 && retry_due) {
            send_close(core);
        }
        break;
    }
    for (size_t i = 0; i < PAWL__OLD_SESSIONS_MAX; i++) {
        close_old(core, &core->old[i]);
    }
    pawl__timer_arm(&core->timers, &session->timer, next_wake(core));
}

/* Before anything else in a step: past the deadline the answer is LOST, whatever comes in. */
void pawl__session_expire(struct pawl__core *core)
{
    if (phase_of(core) == PAWL__SESSION_LIVE &&
        !pawl__lease_is_live(&core->session.lease, core->now)) {
        pawl__session_end(core, false, "no renewal was confirmed before the deadline");
    }
}

void pawl__session_end(struct pawl__core *core, bool gone_in_store, const char *why)
{
    struct pawl__session *session = &core->session;

    if (phase_of(core) == PAWL__SESSION_LIVE) {
        publish_lease(core, PAWL__BOOT_NONE);
        (void)snprintf(core->text, sizeof core->text, "session %s ended: %s", session->name, why);
        pawl__note_event(core, PAWL_EVENT_SESSION_LOST, NULL, core->text);
    }
    if (!gone_in_store) {
        remember_old(core, session->id);
    }
    PAWL_LIST_FOREACH_SAFE (it, tmp, &core->calls) {
        struct pawl__call *call = PAWL_LIST_ENTRY(it, struct pawl__call, link);
        if (call->kind == PAWL__CALL_REQUEST) {
            pawl__request_session_over(core, pawl__request_of(call), why);
        }
    }
    session->id = 0;
    session->fd = -1;
    session->op = 0;
    session->renew_op = 0;
    session->renew_at = PAWL__BOOT_NEVER;
    session->retry_at = PAWL__BOOT_NEVER;
    session->mark_count = 0;
    pawl__sm_move(&session->phase, PAWL__SESSION_NONE);
}

static void refuse_waiters(struct pawl__core *core, pawl_status status, const char *why)
{
    PAWL_LIST_FOREACH_SAFE (it, tmp, &core->calls) {
        struct pawl__call *call = PAWL_LIST_ENTRY(it, struct pawl__call, link);
        if (call->kind == PAWL__CALL_REQUEST) {
            pawl__request_session_refused(core, pawl__request_of(call), status, why);
        } else if (call->kind == PAWL__CALL_SESSION) {
            pawl__look_fail(core, (struct pawl__look_call *)call, status, why);
        }
    }
}

static void session_is_up(struct pawl__core *core)
{
    PAWL_LIST_FOREACH_SAFE (it, tmp, &core->calls) {
        struct pawl__call *call = PAWL_LIST_ENTRY(it, struct pawl__call, link);
        if (call->kind == PAWL__CALL_REQUEST) {
            pawl__request_session_up(core, pawl__request_of(call));
        } else if (call->kind == PAWL__CALL_SESSION) {
            pawl__wait_session_up(core, (struct pawl__look_call *)call);
        }
    }
}

static void go_live(struct pawl__core *core, const struct pawl__backend_event *event)
{
    struct pawl__session *session = &core->session;
    struct pawl__boot evidence =
        PAWL__HAS_DEFECT(DEADLINE_FROM_REPLY) ? core->now : event->evidence;

    pawl__retry_reset(&session->retry);
    (void)memcpy(session->name, event->session_name, sizeof session->name);
    session->fd = event->session_fd;
    pawl__lease_start(&session->lease, event->ttl_ms, core->config.margin_ms, core->config.renew_ms,
                      evidence);
    pawl__sm_move(&session->phase, PAWL__SESSION_LIVE);
    if (!pawl__lease_is_live(&session->lease, core->now)) {
        /* The reply took so long that nothing may be built on it. */
        pawl__session_end(core, false, "it was over before the store's answer came");
        return;
    }
    publish_lease(core, session->lease.deadline);
    (void)snprintf(core->text, sizeof core->text, "session %s opened", session->name);
    pawl__note_event(core, PAWL_EVENT_SESSION_OPENED, NULL, core->text);
    session->renew_at = pawl__boot_add(event->evidence, session->lease.renew_ms);
    if (core->closing) {
        pawl__session_start_close(core);
    } else {
        session_is_up(core);
    }
}

static void handle_opened(struct pawl__core *core, const struct pawl__backend_event *event)
{
    struct pawl__session *session = &core->session;

    session->op = 0;
    session->may_exist = session->may_exist || event->status == PAWL_E_UNKNOWN;
    if (event->status == PAWL_OK) {
        go_live(core, event);
    } else if (event->status == PAWL_E_LOST) {
        /* This id is used up in the store: another one, after a pause. */
        pawl__session_end(core, true, "the store ended it before it was opened");
        retry_later(core, session);
    } else if (pawl__status_is_passing(event->status) && (is_needed(core) || core->closing)) {
        retry_later(core, session);
    } else {
        refuse_waiters(core, event->status, event->text);
        pawl__session_end(core, !session->may_exist, "it could not be opened");
    }
}

static struct pawl__request *find_number(struct pawl__core *core, uint64_t number)
{
    PAWL_LIST_FOREACH (it, &core->calls) {
        struct pawl__call *call = PAWL_LIST_ENTRY(it, struct pawl__call, link);
        if (call->kind == PAWL__CALL_REQUEST && pawl__request_of(call)->number == number) {
            return pawl__request_of(call);
        }
    }
    return NULL;
}

/* A mark for an entry that we do not know of yet: its enqueue is still under way or unsettled. It
 * must not be granted when it turns up. False: no room; then this renewal must prove nothing, since
 * the mark was not obeyed. */
static bool keep_mark(struct pawl__session *session, uint64_t number)
{
    if (session->mark_count == PAWL__MARKS_MAX) {
        return false;
    }
    session->marks[session->mark_count++] = number;
    return true;
}

bool pawl__session_has_mark(const struct pawl__core *core, uint64_t number)
{
    for (size_t i = 0; i < core->session.mark_count; i++) {
        if (core->session.marks[i] == number) {
            return true;
        }
    }
    return false;
}

/* Marks come with every renewal until their entries are gone, so the list is made anew each time.
 */
static bool obey_marks(struct pawl__core *core, const struct pawl__backend_event *event)
{
    bool all = true;

    core->session.mark_count = 0;
    for (size_t i = 0; i < event->mark_count; i++) {
        struct pawl__request *request = find_number(core, event->marks[i].number);
        if (request != NULL) {
            pawl__request_broken(core, request, &event->marks[i]);
        } else {
            all = keep_mark(&core->session, event->marks[i].number) && all;
        }
    }
    return all;
}

static void handle_renewed(struct pawl__core *core, const struct pawl__backend_event *event)
{
    struct pawl__session *session = &core->session;

    session->renew_op = 0;
    if (event->status != PAWL_OK) {
        /* Sooner than the next regular one, never in a tight loop. */
        int64_t wait = pawl__retry_next_ms(&session->retry, core->config.retry_base_ms,
                                           core->config.retry_cap_ms,
                                           core->config.random(core->config.random_ctx));
        wait = wait < session->lease.renew_ms ? wait : session->lease.renew_ms;
        session->renew_at = pawl__boot_add(core->now, wait);
        return;
    }
    pawl__retry_reset(&session->retry);
    session->renew_at = pawl__boot_add(event->evidence, session->lease.renew_ms);
    if (obey_marks(core, event)) {
        take_evidence(core, event->evidence);
    }
    for (size_t i = 0; i < event->gone_count; i++) {
        struct pawl__request *request = find_number(core, event->gone[i]);
        if (request != NULL) {
            pawl__request_hint(core, request, false);
        }
    }
}

/* The close of a client: RELEASING holds get their end from it. */
void pawl__session_start_close(struct pawl__core *core)
{
    if (phase_of(core) == PAWL__SESSION_LIVE) {
        core->session.renew_op = 0;
        core->session.renew_at = PAWL__BOOT_NEVER;
        pawl__sm_move(&core->session.phase, PAWL__SESSION_CLOSING);
        send_close(core);
    }
}

static void handle_closed(struct pawl__core *core, const struct pawl__backend_event *event)
{
    struct pawl__session *session = &core->session;

    session->op = 0;
    if (event->status == PAWL_OK || event->status == PAWL_E_LOST) {
        PAWL_LIST_FOREACH_SAFE (it, tmp, &core->calls) {
            struct pawl__call *call = PAWL_LIST_ENTRY(it, struct pawl__call, link);
            if (call->kind == PAWL__CALL_REQUEST) {
                pawl__request_client_closed(core, pawl__request_of(call), true);
            }
        }
        pawl__session_end(core, true, "closed");
    } else {
        retry_later(core, session);
    }
}

static bool handle_old(struct pawl__core *core, const struct pawl__backend_event *event)
{
    for (size_t i = 0; i < PAWL__OLD_SESSIONS_MAX; i++) {
        struct pawl__old_session *old = &core->old[i];
        if (old->id == 0 || old->op != event->op) {
            continue;
        }
        old->op = 0;
        if (pawl__status_is_passing(event->status)) {
            old->retry_at = pawl__boot_add(
                core->now, pawl__retry_next_ms(&old->retry, core->config.retry_base_ms,
                                               core->config.retry_cap_ms,
                                               core->config.random(core->config.random_ctx)));
        } else {
            old->id = 0;
        }
        return true;
    }
    return false;
}

/* An event of an op of the session, or a hint about it. */
void pawl__session_handle(struct pawl__core *core, struct pawl__backend_event *event)
{
    struct pawl__session *session = &core->session;

    if (event->kind == PAWL__BEV_SESSION) {
        if (event->session == session->id && phase_of(core) == PAWL__SESSION_LIVE) {
            session->renew_at = core->now;
        }
        return;
    }
    if (event->kind == PAWL__BEV_OWN) {
        struct pawl__request *request =
            event->session == session->id ? find_number(core, event->number) : NULL;
        if (request != NULL) {
            pawl__request_hint(core, request, false);
        }
        return;
    }
    if (handle_old(core, event) || event->session != session->id) {
        return;
    }
    if (event->op == session->op && event->kind == PAWL__BEV_SESSION_OPENED) {
        handle_opened(core, event);
    } else if (event->op == session->op && event->kind == PAWL__BEV_SESSION_CLOSED) {
        handle_closed(core, event);
    } else if (event->op == session->renew_op && event->kind == PAWL__BEV_RENEWED) {
        if (event->status == PAWL_E_LOST || event->status == PAWL_E_STORE) {
            pawl__session_end(core, event->status == PAWL_E_LOST, event->text);
        } else {
            handle_renewed(core, event);
        }
    }
}

/* Nothing of ours can be in the store any more. */
bool pawl__session_is_settled(const struct pawl__core *core)
{
    if (phase_of(core) != PAWL__SESSION_NONE) {
        return false;
    }
    for (size_t i = 0; i < PAWL__OLD_SESSIONS_MAX; i++) {
        if (core->old[i].id != 0) {
            return false;
        }
    }
    return true;
}
