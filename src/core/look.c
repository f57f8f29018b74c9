/* Calls that only look: inspect lists queues, and one waits for the session to be open. */
#include "core/state.h"

#include <stdio.h>

#include "base/alloc.h"

static void answer(struct pawl__core *core, struct pawl__look_call *look, pawl_status status,
                   const char *why, struct pawl__backend_event *event)
{
    bool inspects = look->call.kind == PAWL__CALL_INSPECT;

    (void)snprintf(look->call.why, sizeof look->call.why, "%s", why);
    pawl__note_push(
        core, (struct pawl__note){.kind = inspects ? PAWL__ACT_INSPECTED : PAWL__ACT_SESSION_UP,
                                  .call = &look->call,
                                  .status = status,
                                  .detail = !inspects && status == PAWL_OK ? core->session.fd : -1,
                                  .text = look->call.why,
                                  .event = event});
    pawl__call_finish(core, &look->call);
}

static void arm(struct pawl__core *core, struct pawl__look_call *look)
{
    struct pawl__boot at = look->call.deadline;

    if (look->call.op == 0) {
        at = pawl__boot_min(at, look->call.retry_at);
    }
    pawl__timer_arm(&core->timers, &look->call.timer, at);
}

static void send_list(struct pawl__core *core, struct pawl__look_call *look)
{
    look->call.retry_at = PAWL__BOOT_NEVER;
    pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_LIST,
                                              .call = &look->call,
                                              .op = pawl__call_new_op(&look->call)});
}

/* NULL: there was no memory, and the caller was told. */
static struct pawl__look_call *start(struct pawl__core *core, enum pawl__call_kind kind,
                                     const struct pawl__core_event *event)
{
    struct pawl__look_call *look = pawl__alloc(sizeof *look);

    if (look != NULL && event->name != NULL) {
        look->name = pawl__strdup(event->name);
    }
    if (look == NULL || (event->name != NULL && look->name == NULL) ||
        !pawl__call_add(core, &look->call, kind, event->id, event->deadline)) {
        pawl__look_free(look);
        pawl__note_refusal(core,
                           kind == PAWL__CALL_INSPECT ? PAWL__ACT_INSPECTED : PAWL__ACT_SESSION_UP,
                           event->id, PAWL_E_NOMEM, "out of memory");
        return NULL;
    }
    if (core->closing) {
        answer(core, look, PAWL_E_CLOSED, "the client is closing", NULL);
        return NULL;
    }
    return look;
}

void pawl__inspect_start(struct pawl__core *core, const struct pawl__core_event *event)
{
    struct pawl__look_call *look = start(core, PAWL__CALL_INSPECT, event);

    if (look != NULL) {
        send_list(core, look);
        arm(core, look);
    }
}

void pawl__inspect_handle(struct pawl__core *core, struct pawl__look_call *look,
                          struct pawl__backend_event *event)
{
    PAWL_INVARIANT(look->call.op == event->op);
    look->call.op = 0;
    pawl__store_answered(core, event->status, event->text);
    if (pawl__status_is_passing(event->status)) {
        pawl__call_retry_later(core, &look->call);
        arm(core, look);
    } else {
        answer(core, look, event->status, event->text, event);
    }
}

/* The session itself is opened by its upkeep, which sees this call. */
void pawl__wait_session_start(struct pawl__core *core, const struct pawl__core_event *event)
{
    struct pawl__look_call *look = start(core, PAWL__CALL_SESSION, event);

    if (look != NULL && pawl__session_is_live(core)) {
        answer(core, look, PAWL_OK, "", NULL);
    } else if (look != NULL) {
        arm(core, look);
    }
}

void pawl__wait_session_up(struct pawl__core *core, struct pawl__look_call *look)
{
    answer(core, look, PAWL_OK, "", NULL);
}

void pawl__look_timer(struct pawl__core *core, struct pawl__look_call *look)
{
    if (!pawl__boot_before(core->now, look->call.deadline)) {
        answer(core, look, PAWL_E_UNAVAILABLE, "the store did not answer in time", NULL);
        return;
    }
    if (look->call.kind == PAWL__CALL_INSPECT && look->call.op == 0 &&
        !pawl__boot_before(core->now, look->call.retry_at)) {
        send_list(core, look);
    }
    arm(core, look);
}

void pawl__look_fail(struct pawl__core *core, struct pawl__look_call *look, pawl_status status,
                     const char *why)
{
    answer(core, look, status, why, NULL);
}

void pawl__look_free(struct pawl__look_call *look)
{
    if (look != NULL) {
        pawl__free(look->name);
        pawl__free(look);
    }
}
