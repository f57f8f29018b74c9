/* Breaking an entry: mark it for its owner, watch it go, and after one whole ttl take it away.
 *
 *   MARKING --ok--> WATCHING --(hint, poll)--> the mark is set again: refused = gone
 *      |               |
 *      | now           +--(a granted ttl passed)--> FORCING: removed at once
 *
 * Setting the mark is safe to repeat, and its refusal says that the entry is not there: so no other
 * way of looking is needed. The victim had its ttl's time to see the mark or its own deadline: only
 * then is the entry removed, so that it is LOST before the next one is granted. */
#include "core/state.h"

#include <stdio.h>

#include "base/alloc.h"

static void answer(struct pawl__core *core, struct pawl__breaker *breaker, pawl_status status,
                   const char *why)
{
    (void)snprintf(breaker->call.why, sizeof breaker->call.why, "%s", why);
    if (breaker->watch != 0) {
        pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_UNWATCH,
                                                  .call = &breaker->call,
                                                  .op = breaker->watch});
        breaker->watch = 0;
    }
    pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_BROKEN,
                                              .call = &breaker->call,
                                              .status = status,
                                              .text = breaker->call.why});
    pawl__call_finish(core, &breaker->call);
}

static void arm(struct pawl__core *core, struct pawl__breaker *breaker)
{
    struct pawl__boot at = breaker->call.deadline;

    if (breaker->call.op == 0) {
        at = pawl__boot_min(at, breaker->call.retry_at);
        at = pawl__boot_min(at, breaker->force_at);
    }
    pawl__timer_arm(&core->timers, &breaker->call.timer, at);
}

static void send_mark(struct pawl__core *core, struct pawl__breaker *breaker)
{
    bool now = breaker->now || breaker->phase == PAWL__BREAK_FORCING;

    breaker->call.retry_at = PAWL__BOOT_NEVER;
    pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_MARK,
                                              .call = &breaker->call,
                                              .op = pawl__call_new_op(&breaker->call),
                                              .flag = now});
}

void pawl__breaker_start(struct pawl__core *core, const struct pawl__core_event *event)
{
    struct pawl__breaker *breaker = pawl__alloc(sizeof *breaker);

    if (breaker != NULL) {
        breaker->name = pawl__strdup(event->break_.name);
        breaker->reason = pawl__strdup(event->break_.reason);
        breaker->number = event->break_.number;
        breaker->now = event->break_.now;
        breaker->force_at = PAWL__BOOT_NEVER;
        breaker->last = PAWL_E_UNAVAILABLE;
    }
    if (breaker == NULL || breaker->name == NULL || breaker->reason == NULL ||
        !pawl__call_add(core, &breaker->call, PAWL__CALL_BREAK, event->id, event->deadline)) {
        pawl__breaker_free(breaker);
        pawl__note_refusal(core, PAWL__ACT_BROKEN, event->id, PAWL_E_NOMEM, "out of memory");
        return;
    }
    if (core->closing) {
        answer(core, breaker, PAWL_E_CLOSED, "the client is closing");
        return;
    }
    send_mark(core, breaker);
    arm(core, breaker);
}

static void keep_watching(struct pawl__core *core, struct pawl__breaker *breaker, int64_t ttl_ms)
{
    if (!breaker->marked) {
        breaker->marked = true;
        breaker->phase = PAWL__BREAK_WATCHING;
        /* Counted from the answer, which is later than the mark: never too early for the victim. */
        breaker->force_at = ttl_ms > 0 ? pawl__boot_add(core->now, ttl_ms) : PAWL__BOOT_NEVER;
    }
    if (breaker->watch == 0) {
        breaker->call.op_seq++;
        breaker->watch = breaker->call.id << 16 | breaker->call.op_seq;
        pawl__note_push(core, (struct pawl__note){.kind = PAWL__ACT_WATCH,
                                                  .call = &breaker->call,
                                                  .op = breaker->watch});
    }
    breaker->call.retry_at = pawl__boot_add(core->now, PAWL__BREAK_POLL_MS);
}

static void handle_refusal(struct pawl__core *core, struct pawl__breaker *breaker,
                           const struct pawl__backend_event *event)
{
    if (event->status == PAWL_E_FENCED && breaker->marked) {
        answer(core, breaker, PAWL_OK, "");
    } else if (event->status == PAWL_E_FENCED && breaker->last == PAWL_E_UNKNOWN) {
        answer(core, breaker, PAWL_E_UNKNOWN,
               "no entry has this token now; whether this break removed it is not known");
    } else if (pawl__status_is_passing(event->status)) {
        breaker->last = event->status == PAWL_E_UNKNOWN ? PAWL_E_UNKNOWN : breaker->last;
        pawl__call_retry_later(core, &breaker->call);
        arm(core, breaker);
    } else {
        answer(core, breaker, event->status, event->text);
    }
}

void pawl__breaker_handle(struct pawl__core *core, struct pawl__breaker *breaker,
                          struct pawl__backend_event *event)
{
    PAWL_INVARIANT(breaker->call.op == event->op);
    breaker->call.op = 0;
    pawl__store_answered(core, event->status, event->text);
    if (event->status != PAWL_OK) {
        handle_refusal(core, breaker, event);
        return;
    }
    pawl__retry_reset(&breaker->call.retry);
    if (breaker->now || breaker->phase == PAWL__BREAK_FORCING) {
        answer(core, breaker, PAWL_OK, "");
        return;
    }
    keep_watching(core, breaker, event->ttl_ms);
    arm(core, breaker);
}

void pawl__breaker_hint(struct pawl__core *core, struct pawl__breaker *breaker, uint64_t watch)
{
    if (breaker->watch != watch) {
        return;
    }
    breaker->watch = 0;
    if (breaker->call.op == 0) {
        send_mark(core, breaker);
    }
    arm(core, breaker);
}

void pawl__breaker_timer(struct pawl__core *core, struct pawl__breaker *breaker)
{
    if (!pawl__boot_before(core->now, breaker->call.deadline)) {
        if (breaker->marked) {
            answer(core, breaker, PAWL_E_TIMEOUT,
                   "it is marked, but its owner has not let go in the time given");
        } else {
            answer(core, breaker, breaker->last, "the store did not answer in time");
        }
        return;
    }
    if (breaker->call.op == 0) {
        if (!pawl__boot_before(core->now, breaker->force_at)) {
            breaker->force_at = PAWL__BOOT_NEVER;
            breaker->phase = PAWL__BREAK_FORCING;
            send_mark(core, breaker);
        } else if (!pawl__boot_before(core->now, breaker->call.retry_at)) {
            send_mark(core, breaker);
        }
    }
    arm(core, breaker);
}

void pawl__breaker_fail(struct pawl__core *core, struct pawl__breaker *breaker, pawl_status status,
                        const char *why)
{
    answer(core, breaker, status, why);
}

void pawl__breaker_free(struct pawl__breaker *breaker)
{
    if (breaker == NULL) {
        return;
    }
    pawl__free(breaker->name);
    pawl__free(breaker->reason);
    pawl__free(breaker);
}
