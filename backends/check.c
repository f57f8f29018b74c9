/* The contract of backend.h as conditions: what may be asked, and what an answer must look like. */
#include "backends/check.h"

#include <string.h>

#include "base/limits.h"

bool pawl__name_is_sane(const char *name)
{
    return name != NULL && name[0] != '\0' && strnlen(name, PAWL__NAME_MAX + 1) <= PAWL__NAME_MAX;
}

static bool name_is_among(const char *name, const struct pawl__want *wants, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(wants[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

bool pawl__wants_are_valid(const struct pawl__want *wants, size_t count)
{
    if (wants == NULL || count < 1 || count > PAWL__NAMES_PER_REQUEST_MAX) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!pawl__name_is_sane(wants[i].name) || name_is_among(wants[i].name, wants, i) ||
            wants[i].mode <= PAWL__MODE_NONE || wants[i].mode >= PAWL__MODE_COUNT) {
            return false;
        }
    }
    return true;
}

/* ---- Answers ----------------------------------------------------------------------------------
 */

static const char *check_view(const struct pawl__queue_view *view, bool position)
{
    if (view->own_present != (view->own_number != 0)) {
        return "own_present and own_number do not agree";
    }
    if ((view->blocker == 0) != (view->holder == 0) || view->holder > view->blocker) {
        return "blocker and holder do not agree";
    }
    if (view->own_present && view->blocker >= view->own_number) {
        return "the blocker is not earlier than the own entry";
    }
    if (view->position < (position ? 0 : -1)) {
        return "no position although it was asked for";
    }
    if (view->position >= 0 && (view->position == 0) != (view->blocker == 0)) {
        return "position and blocker do not agree";
    }
    return NULL;
}

/* All entries of a request have one number; those of an enqueue that is done are all there. */
static const char *check_views(const struct pawl__op_check *check,
                               const struct pawl__backend_event *event, bool all_present)
{
    uint64_t number = 0;

    if (event->view_count != check->count || event->views == NULL) {
        return "not one view a name";
    }
    for (size_t i = 0; i < event->view_count; i++) {
        const struct pawl__queue_view *view = &event->views[i];
        const char *broken = check_view(view, check->position);
        if (broken != NULL) {
            return broken;
        }
        if (all_present && !view->own_present) {
            return "enqueued, but the own entry is not there";
        }
        if (view->own_present && number != 0 && view->own_number != number) {
            return "entries of one request have different numbers";
        }
        number = view->own_present ? view->own_number : number;
    }
    return NULL;
}

static const char *check_refused_try(const struct pawl__op_check *check,
                                     const struct pawl__backend_event *event)
{
    bool blocked = false;

    for (size_t i = 0; i < event->view_count; i++) {
        blocked = blocked || event->views[i].blocker != 0;
        if (event->views[i].own_present) {
            return "a try that failed left an entry";
        }
    }
    return blocked ? check_views(check, event, false) : "a try failed though nothing is in the way";
}

static const char *check_opened(const struct pawl__op_check *check,
                                const struct pawl__backend_event *event)
{
    if (event->ttl_ms < 0 || (event->ttl_ms == 0) != (check->ttl_ms == 0)) {
        return "the granted ttl is of another kind than the one asked for";
    }
    if (event->ttl_ms > 0 && pawl__boot_is_none(event->evidence)) {
        return "a session with a ttl was opened without evidence";
    }
    if (memchr(event->session_name, '\0', sizeof(event->session_name)) == NULL) {
        return "the name of the session has no end";
    }
    return NULL;
}

static const char *check_renewed(const struct pawl__op_check *check,
                                 const struct pawl__backend_event *event)
{
    if (event->gone_count > check->count || (event->gone_count > 0) != (event->gone != NULL)) {
        return "more entries are gone than were asked about";
    }
    if ((event->mark_count > 0) != (event->marks != NULL)) {
        return "marks without their count";
    }
    for (size_t i = 0; i < event->mark_count; i++) {
        if (event->marks[i].number == 0 || event->marks[i].by == NULL ||
            event->marks[i].reason == NULL) {
            return "a mark is not complete";
        }
    }
    return NULL;
}

static const char *check_entry(const struct pawl__entry_info *entry)
{
    if (entry->name == NULL || entry->payload == NULL || entry->session == NULL ||
        entry->number == 0) {
        return "an entry is not complete";
    }
    return NULL;
}

static const char *check_listed(const struct pawl__backend_event *event)
{
    if (event->entry_count > PAWL__QUEUE_ENTRIES_MAX) {
        return "too many entries";
    }
    for (size_t i = 0; i < event->entry_count; i++) {
        const char *broken = check_entry(&event->entries[i]);
        if (broken != NULL) {
            return broken;
        }
        if (i == 0) {
            continue;
        }
        const struct pawl__entry_info *a = &event->entries[i - 1];
        int order = strcmp(a->name, event->entries[i].name);
        if (order > 0 || (order == 0 && a->number >= event->entries[i].number)) {
            return "the list is not sorted by name and number";
        }
    }
    return NULL;
}

static const char *check_done(const struct pawl__op_check *check,
                              const struct pawl__backend_event *event)
{
    switch (event->kind) {
    case PAWL__BEV_SESSION_OPENED:
        return check_opened(check, event);
    case PAWL__BEV_RENEWED:
        return check_renewed(check, event);
    case PAWL__BEV_ENQUEUED:
        return check_views(check, event, true);
    case PAWL__BEV_LOOKED:
        return check_views(check, event, false);
    case PAWL__BEV_MARKED:
        return event->ttl_ms < 0 ? "a negative ttl" : NULL;
    case PAWL__BEV_LISTED:
        return check_listed(event);
    case PAWL__BEV_SESSION_CLOSED:
    case PAWL__BEV_REMOVED:
        return NULL;
    case PAWL__BEV_WATCH:
    case PAWL__BEV_OWN:
    case PAWL__BEV_SESSION:
        break;
    }
    return "a hint as an answer";
}

static const char *check_failed(const struct pawl__op_check *check,
                                const struct pawl__backend_event *event)
{
    if (event->status == PAWL_E_TIMEOUT) {
        return check->only_if_free ? check_refused_try(check, event)
                                   : "E_TIMEOUT is only for a try that would have to wait";
    }
    if (event->status > PAWL_OK) {
        return "no status";
    }
    if (event->view_count > 0 || event->mark_count > 0 || event->gone_count > 0) {
        return "data beside a failure";
    }
    return NULL;
}

const char *pawl__check_answer(const struct pawl__op_check *check,
                               const struct pawl__backend_event *event, struct pawl__boot now)
{
    if (event->kind != check->kind) {
        return "an answer of another kind than the op";
    }
    if (event->session != check->session) {
        return "an answer for another session";
    }
    if (pawl__boot_before(now, event->evidence)) {
        return "evidence from the future";
    }
    if (event->entry_count > 1 && event->kind != PAWL__BEV_LISTED) {
        return "more than one entry beside views";
    }
    for (size_t i = 0; i < event->entry_count && event->kind != PAWL__BEV_LISTED; i++) {
        const char *broken = check_entry(&event->entries[i]);
        if (broken != NULL) {
            return broken;
        }
    }
    return event->status == PAWL_OK ? check_done(check, event) : check_failed(check, event);
}

const char *pawl__check_hint(const struct pawl__backend_event *event)
{
    if (event->status != PAWL_OK) {
        return "a hint that failed";
    }
    switch (event->kind) {
    case PAWL__BEV_WATCH:
        return event->watch == 0 ? "a hint for no watch" : NULL;
    case PAWL__BEV_OWN:
        return event->number == 0 || event->session == 0 ? "a hint for no entry" : NULL;
    case PAWL__BEV_SESSION:
        return event->session == 0 ? "a hint for no session" : NULL;
    case PAWL__BEV_SESSION_OPENED:
    case PAWL__BEV_RENEWED:
    case PAWL__BEV_SESSION_CLOSED:
    case PAWL__BEV_ENQUEUED:
    case PAWL__BEV_LOOKED:
    case PAWL__BEV_REMOVED:
    case PAWL__BEV_MARKED:
    case PAWL__BEV_LISTED:
        break;
    }
    return "an answer without an op";
}
