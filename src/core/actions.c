/* The way out of the core: notes are pushed during a step and told as actions after it. Room is
 * made when a call comes in, so that pushing needs memory only in steps that say uncommonly much.
 */
#include "core/state.h"

#include "base/alloc.h"

/* What one step says about each call when it says the same of all: at the end of a session,
 * unwatch, the end of the hold or the failure, an event. The base is for the session and for the
 * one call that a step is about. */
#define NOTES_PER_CALL 3
#define NOTES_BASE     64

static bool make_room(struct pawl__core *core, size_t need)
{
    if (need <= core->note_cap) {
        return true;
    }
    need += need / 2;
    struct pawl__note *notes = pawl__realloc(core->notes, need * sizeof(struct pawl__note));
    if (notes == NULL) {
        return false;
    }
    core->notes = notes;
    core->note_cap = need;
    return true;
}

bool pawl__notes_reserve(struct pawl__core *core)
{
    return make_room(core, NOTES_BASE + NOTES_PER_CALL * (pawl__table_len(&core->by_id) + 1));
}

void pawl__note_push(struct pawl__core *core, struct pawl__note note)
{
    PAWL_INVARIANT(make_room(core, core->note_len + 1));
    core->notes[core->note_len++] = note;
}

void pawl__note_refusal(struct pawl__core *core, enum pawl__core_action_kind kind, uint64_t id,
                        pawl_status status, const char *text)
{
    pawl__note_push(
        core,
        (struct pawl__note){.kind = kind, .id = id, .status = status, .detail = -1, .text = text});
}

void pawl__note_event(struct pawl__core *core, pawl_event_kind kind, struct pawl__call *call,
                      const char *text)
{
    pawl__note_push(core,
                    (struct pawl__note){
                        .kind = PAWL__ACT_EVENT, .call = call, .detail = (int)kind, .text = text});
}

static void fill_from_request(struct pawl__core_action *action, const struct pawl__request *request)
{
    action->attempt = request->attempt;
    action->wants = request->wants;
    action->count = request->count;
    action->payload = request->payload;
}

static void fill_from_breaker(struct pawl__core_action *action, const struct pawl__core *core,
                              const struct pawl__breaker *breaker)
{
    action->number = breaker->number;
    action->name = breaker->name;
    action->by = core->principal;
    if (action->kind == PAWL__ACT_MARK) {
        action->text = breaker->reason;
    }
}

static void fill_from_call(struct pawl__core_action *action, const struct pawl__core *core,
                           const struct pawl__call *call)
{
    action->id = call->id;
    if (call->kind == PAWL__CALL_REQUEST) {
        fill_from_request(action, (const struct pawl__request *)call);
    } else if (call->kind == PAWL__CALL_BREAK) {
        fill_from_breaker(action, core, (const struct pawl__breaker *)call);
    } else {
        action->name = ((const struct pawl__look_call *)call)->name;
    }
}

static void fill_details(struct pawl__core_action *action, const struct pawl__core *core,
                         const struct pawl__note *note)
{
    switch (note->kind) {
    case PAWL__ACT_SESSION_OPEN:
        action->ttl_ms = core->config.ttl_ms;
        break;
    case PAWL__ACT_SESSION_RENEW:
        action->numbers = core->session.sweep;
        action->number_count = (size_t)note->detail;
        break;
    case PAWL__ACT_GRANTED:
        action->session = core->session.id;
        action->session_name = core->session.name;
        break;
    case PAWL__ACT_HOLD:
        action->hold = (pawl_hold_state_value)note->detail;
        break;
    case PAWL__ACT_EVENT:
        action->event_kind = (pawl_event_kind)note->detail;
        break;
    case PAWL__ACT_WAITING:
        action->position = note->detail;
        action->entry =
            note->event != NULL && note->event->entry_count > 0 ? &note->event->entries[0] : NULL;
        break;
    case PAWL__ACT_SESSION_UP:
        action->fd = note->detail;
        break;
    case PAWL__ACT_SESSION_CLOSE:
    case PAWL__ACT_ENQUEUE:
    case PAWL__ACT_LOOK:
    case PAWL__ACT_REMOVE:
    case PAWL__ACT_MARK:
    case PAWL__ACT_LIST:
    case PAWL__ACT_WATCH:
    case PAWL__ACT_UNWATCH:
    case PAWL__ACT_LEASE:
    case PAWL__ACT_FAILED:
    case PAWL__ACT_INSPECTED:
    case PAWL__ACT_BROKEN:
    case PAWL__ACT_CLOSED:
        break;
    }
}

const struct pawl__core_action *pawl__core_next_action(struct pawl__core *core)
{
    if (core->note_next == core->note_len) {
        core->note_next = 0;
        core->note_len = 0;
        return NULL;
    }
    const struct pawl__note *note = &core->notes[core->note_next++];
    struct pawl__core_action *action = &core->action;

    *action = (struct pawl__core_action){.kind = note->kind,
                                         .op = note->op,
                                         .session = core->session.id,
                                         .deadline = note->deadline,
                                         .status = note->status,
                                         .flag = note->flag,
                                         .flag2 = note->flag2,
                                         .position = -1,
                                         .fd = -1,
                                         .event = note->event};
    if (note->call != NULL) {
        fill_from_call(action, core, note->call);
        action->number = note->number != 0 ? note->number : action->number;
    } else {
        action->id = note->id;
        action->session = note->number != 0 ? note->number : action->session;
    }
    action->text = note->text != NULL ? note->text : (action->text != NULL ? action->text : "");
    action->name = note->name != NULL ? note->name : action->name;
    fill_details(action, core, note);
    return action;
}
