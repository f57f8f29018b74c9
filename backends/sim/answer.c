/* Executes requests on the simulated store, one by one, and makes the answers. */
#include "backends/sim/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/limits.h"
#include "core/defect.h"

#define SIM_REFUSED 7 /* backend_code of refusals, so that tests see it handed on */

static struct pawl__backend_event *new_answer(const struct pawl__sim_request *request)
{
    struct pawl__backend_event *event = pawl__backend_event_new(request->kind, request->op);

    PAWL_INVARIANT(event != NULL);
    event->session = request->session;
    return event;
}

static void answer_lost(struct pawl__backend_event *event)
{
    pawl__backend_event_fail(event, PAWL_E_LOST, SIM_REFUSED, "the session is not in the store");
}

static char *copy_text(const char *text)
{
    char *copy = pawl__strdup(text);

    PAWL_INVARIANT(copy != NULL);
    return copy;
}

/* The store's own view of who an entry belongs to. */
static bool is_own(const struct pawl__sim_entry *entry, const struct pawl__sim_request *request)
{
    if (PAWL__HAS_DEFECT(OLD_ENTRY_TAKEN)) {
        return entry->session == request->session;
    }
    return entry->session == request->session && entry->attempt == request->attempt;
}

/* ---- Views ------------------------------------------------------------------------------------
 */

static void fill_info(const struct pawl__sim_store *store, const char *name,
                      const struct pawl__sim_entry *entry, int64_t now_ms,
                      struct pawl__entry_info *info)
{
    const struct pawl__sim_session *owner = pawl__sim_store_session(store, entry->session);
    char session[32];

    PAWL_INVARIANT(owner != NULL);
    (void)snprintf(session, sizeof(session), "sim-%llx", (unsigned long long)entry->session);
    info->name = copy_text(name);
    info->payload = copy_text(entry->payload);
    info->session = copy_text(session);
    info->mode = entry->mode;
    info->number = entry->number;
    info->attempt = entry->attempt;
    info->ttl_left_ms = owner->ttl_ms == 0 ? -1 : owner->expires_ms - now_ms;
    if (owner->ttl_ms != 0 && info->ttl_left_ms < 0) {
        info->ttl_left_ms = 0;
    }
    for (size_t i = 0; i < owner->mark_count; i++) {
        info->marked = info->marked || owner->marks[i].number == entry->number;
    }
}

/* The queue with the eyes of the request; the index of the first entry in the way, or -1. */
static long view_queue(const struct pawl__sim_queue *queue, const struct pawl__sim_request *request,
                       enum pawl__mode mode, struct pawl__queue_view *view)
{
    long holder = -1;

    memset(view, 0, sizeof(*view));
    for (size_t i = 0; queue != NULL && i < queue->count; i++) {
        const struct pawl__sim_entry *entry = &queue->entries[i];
        if (is_own(entry, request)) {
            view->own_present = true;
            view->own_number = entry->number;
            break;
        }
        if (pawl__mode_conflicts(entry->mode, mode)) {
            holder = holder < 0 ? (long)i : holder;
            view->holder = view->holder == 0 ? entry->number : view->holder;
            view->blocker = entry->number;
            view->position++;
        }
    }
    return holder;
}

/* Fills the views; true if nothing is in the way. */
static bool view_all(const struct pawl__sim_store *store, const struct pawl__sim_request *request,
                     int64_t now_ms, struct pawl__backend_event *event)
{
    bool is_free = true;

    event->views = pawl__sim_alloc(request->count * sizeof(event->views[0]));
    event->view_count = request->count;
    for (size_t i = 0; i < request->count; i++) {
        const struct pawl__sim_queue *queue = pawl__sim_store_queue(store, request->wants[i].name);
        long holder = view_queue(queue, request, request->wants[i].mode, &event->views[i]);
        if (holder < 0) {
            continue;
        }
        is_free = false;
        if (event->entry_count == 0) {
            event->entries = pawl__sim_alloc(sizeof(event->entries[0]));
            event->entry_count = 1;
            fill_info(store, queue->name, &queue->entries[holder], now_ms, &event->entries[0]);
        }
    }
    for (size_t i = 0; !request->position && i < request->count; i++) {
        event->views[i].position = -1;
    }
    return is_free;
}

static void forget_views(struct pawl__backend_event *event)
{
    pawl__free(event->views);
    event->views = NULL;
    event->view_count = 0;
}

static size_t count_own(const struct pawl__backend_event *event)
{
    size_t own = 0;

    for (size_t i = 0; i < event->view_count; i++) {
        own += event->views[i].own_present ? 1 : 0;
    }
    return own;
}

/* ---- Sessions ---------------------------------------------------------------------------------
 */

static void open_session(struct pawl__sim_store *store, const struct pawl__sim_request *request,
                         struct pawl__sim_result *result)
{
    struct pawl__backend_event *event = result->event;
    struct pawl__sim_session *session = pawl__sim_store_session(store, request->session);

    if (pawl__sim_store_session_is_over(store, request->session)) {
        answer_lost(event);
        return;
    }
    if (session == NULL) {
        store->sessions =
            pawl__sim_grow(store->sessions, store->session_count, sizeof(store->sessions[0]));
        session = &store->sessions[store->session_count++];
        *session = (struct pawl__sim_session){.id = request->session,
                                              .client = request->client,
                                              .ttl_ms = request->ttl_ms,
                                              .expires_ms = INT64_MAX};
        store->number++;
    }
    result->touched = true;
    event->ttl_ms = session->ttl_ms;
    (void)snprintf(event->session_name, sizeof(event->session_name), "sim-%llx",
                   (unsigned long long)session->id);
}

static bool number_is_there(const struct pawl__sim_store *store, uint64_t session, uint64_t number)
{
    for (size_t i = 0; i < store->queue_count; i++) {
        for (size_t j = 0; j < store->queues[i].count; j++) {
            const struct pawl__sim_entry *entry = &store->queues[i].entries[j];
            if (entry->number == number && entry->session == session) {
                return true;
            }
        }
    }
    return false;
}

static void copy_marks(const struct pawl__sim_session *session, struct pawl__backend_event *event)
{
    if (session->mark_count == 0) {
        return;
    }
    event->marks = pawl__sim_alloc(session->mark_count * sizeof(event->marks[0]));
    event->mark_count = session->mark_count;
    for (size_t i = 0; i < session->mark_count; i++) {
        event->marks[i].number = session->marks[i].number;
        event->marks[i].by = copy_text(session->marks[i].by);
        event->marks[i].reason = copy_text(session->marks[i].reason);
    }
}

static void renew_session(struct pawl__sim_store *store, const struct pawl__sim_request *request,
                          struct pawl__sim_result *result)
{
    struct pawl__backend_event *event = result->event;
    struct pawl__sim_session *session = pawl__sim_store_session(store, request->session);

    if (session == NULL) {
        answer_lost(event);
        return;
    }
    store->number++;
    result->touched = true;
    event->ttl_ms = session->ttl_ms;
    copy_marks(session, event);
    for (size_t i = 0; i < request->held_count; i++) {
        if (number_is_there(store, request->session, request->held[i])) {
            continue;
        }
        if (event->gone == NULL) {
            event->gone = pawl__sim_alloc(request->held_count * sizeof(event->gone[0]));
        }
        event->gone[event->gone_count++] = request->held[i];
    }
}

static void close_session(struct pawl__sim_store *store, const struct pawl__sim_request *request)
{
    if (pawl__sim_store_session(store, request->session) != NULL) {
        pawl__sim_store_end_session(store, request->session, PAWL__SIM_CLOSED);
    } else {
        pawl__sim_store_forbid_session(store, request->session);
    }
}

/* ---- Entries ----------------------------------------------------------------------------------
 */

/* It was there already, and went: this is a late copy of what made it. */
static bool is_late_copy(const struct pawl__sim_session *session,
                         const struct pawl__sim_request *request)
{
    for (size_t i = 0; i < session->removed_count; i++) {
        if (session->removed[i].attempt == request->attempt &&
            session->removed[i].floor >= request->floor) {
            return true;
        }
    }
    return false;
}

static void add_entries(struct pawl__sim_store *store, const struct pawl__sim_request *request)
{
    struct pawl__sim_entry entry = {.number = ++store->number,
                                    .session = request->session,
                                    .attempt = request->attempt,
                                    .floor = request->floor};

    for (size_t i = 0; i < request->count; i++) {
        entry.mode = request->wants[i].mode;
        entry.payload = (char *)request->text; /* Copied. */
        pawl__sim_store_add_entry(store, request->wants[i].name, &entry);
    }
}

/* A copy of this request may have been executed if its entry was there; else none was or will be.
 */
static void refuse_enqueue(const struct pawl__sim_session *session,
                           const struct pawl__sim_request *request, struct pawl__sim_result *result)
{
    bool is_copy = is_late_copy(session, request);

    result->below_floor = !is_copy;
    forget_views(result->event);
    pawl__backend_event_fail(result->event, is_copy ? PAWL_E_UNKNOWN : PAWL_E_UNAVAILABLE,
                             SIM_REFUSED, "the request is older than the session's floor");
}

static void enqueue(struct pawl__sim_store *store, const struct pawl__sim_request *request,
                    int64_t now_ms, struct pawl__sim_result *result)
{
    struct pawl__backend_event *event = result->event;
    struct pawl__sim_session *session = pawl__sim_store_session(store, request->session);

    if (session == NULL) {
        answer_lost(event);
        return;
    }
    bool is_free = view_all(store, request, now_ms, event);
    size_t own = count_own(event);
    if (own == request->count) {
        return; /* A repeat: one entry per (session, attempt). */
    }
    if (own > 0 || request->floor < session->floor || is_late_copy(session, request)) {
        refuse_enqueue(session, request, result);
        return;
    }
    if (request->flag && !is_free) {
        /* Final: a copy that lands when the queue is free must not make an entry that nobody knows.
         */
        pawl__sim_store_end_attempt(session, request->attempt, request->floor);
        event->status = PAWL_E_TIMEOUT;
        return;
    }
    add_entries(store, request);
    result->touched = true;
    for (size_t i = 0; i < request->count; i++) {
        event->views[i].own_present = true;
        event->views[i].own_number = store->number;
    }
}

static void look(struct pawl__sim_store *store, const struct pawl__sim_request *request,
                 int64_t now_ms, struct pawl__sim_result *result)
{
    struct pawl__sim_session *session = pawl__sim_store_session(store, request->session);

    if (session == NULL) {
        answer_lost(result->event);
        return;
    }
    if (request->flag && request->floor > session->floor) {
        session->floor = request->floor;
        store->number++;
    }
    (void)view_all(store, request, now_ms, result->event);
}

static bool is_to_be_removed(const struct pawl__sim_entry *entry,
                             const struct pawl__sim_request *request)
{
    if (PAWL__HAS_DEFECT(DELETE_NO_COMPARE)) {
        return entry->session == request->session;
    }
    return entry->number == request->number && entry->session == request->session &&
           entry->attempt == request->attempt;
}

/* No floor: an entry is removed by its number, which is never given twice, so that a late removal
 * finds either what was meant or nothing. */
static void remove_entries(struct pawl__sim_store *store, const struct pawl__sim_request *request,
                           struct pawl__sim_result *result)
{
    if (pawl__sim_store_session(store, request->session) == NULL) {
        answer_lost(result->event);
        return;
    }
    store->number++;
    for (size_t i = 0; i < request->count; i++) {
        struct pawl__sim_queue *queue =
            (struct pawl__sim_queue *)pawl__sim_store_queue(store, request->wants[i].name);
        for (size_t j = queue == NULL ? 0 : queue->count; j-- > 0;) {
            if (is_to_be_removed(&queue->entries[j], request)) {
                pawl__sim_store_remove_entry(store, queue, j, PAWL__SIM_REMOVED);
            }
        }
    }
    result->touched = true;
}

/* ---- Break and list ----------------------------------------------------------------------------
 */

static const struct pawl__sim_entry *find_number(const struct pawl__sim_store *store,
                                                 const char *name, uint64_t number)
{
    const struct pawl__sim_queue *queue = pawl__sim_store_queue(store, name);

    for (size_t i = 0; queue != NULL && i < queue->count; i++) {
        if (queue->entries[i].number == number) {
            return &queue->entries[i];
        }
    }
    return NULL;
}

static void break_now(struct pawl__sim_store *store, uint64_t number)
{
    for (size_t i = 0; i < store->queue_count; i++) {
        struct pawl__sim_queue *queue = &store->queues[i];
        for (size_t j = queue->count; j-- > 0;) {
            if (queue->entries[j].number == number) {
                pawl__sim_store_remove_entry(store, queue, j, PAWL__SIM_BROKEN);
            }
        }
    }
}

static void add_mark(struct pawl__sim_session *session, const struct pawl__sim_request *request)
{
    for (size_t i = 0; i < session->mark_count; i++) {
        if (session->marks[i].number == request->number) {
            return;
        }
    }
    session->marks = pawl__sim_grow(session->marks, session->mark_count, sizeof(session->marks[0]));
    session->marks[session->mark_count++] =
        (struct pawl__sim_mark){request->number, copy_text(request->by), copy_text(request->text)};
}

static void mark(struct pawl__sim_store *store, const struct pawl__sim_request *request,
                 struct pawl__sim_result *result)
{
    const struct pawl__sim_entry *entry = find_number(store, request->name, request->number);

    if (entry == NULL) {
        pawl__backend_event_fail(result->event, PAWL_E_FENCED, SIM_REFUSED, "no such entry");
        return;
    }
    struct pawl__sim_session *victim = pawl__sim_store_session(store, entry->session);
    PAWL_INVARIANT(victim != NULL);
    store->number++;
    result->event->ttl_ms = victim->ttl_ms;
    if (request->flag) {
        break_now(store, request->number);
        return;
    }
    add_mark(victim, request);
    pawl__sim_store_hint_session(store, victim);
}

static int compare_infos(const void *a, const void *b)
{
    const struct pawl__entry_info *x = a;
    const struct pawl__entry_info *y = b;
    int order = strcmp(x->name, y->name);

    if (order != 0) {
        return order;
    }
    return x->number < y->number ? -1 : (x->number > y->number ? 1 : 0);
}

static void list(const struct pawl__sim_store *store, const struct pawl__sim_request *request,
                 int64_t now_ms, struct pawl__backend_event *event)
{
    size_t count = pawl__sim_store_entry_count(store);

    PAWL_INVARIANT(count <= PAWL__QUEUE_ENTRIES_MAX);
    event->entries = pawl__sim_alloc((count + 1) * sizeof(event->entries[0]));
    for (size_t i = 0; i < store->queue_count; i++) {
        const struct pawl__sim_queue *queue = &store->queues[i];
        if (request->name != NULL && strcmp(request->name, queue->name) != 0) {
            continue;
        }
        for (size_t j = 0; j < queue->count; j++) {
            fill_info(store, queue->name, &queue->entries[j], now_ms,
                      &event->entries[event->entry_count++]);
        }
    }
    qsort(event->entries, event->entry_count, sizeof(event->entries[0]), compare_infos);
}

struct pawl__sim_result pawl__sim_store_execute(struct pawl__sim_store *store,
                                                const struct pawl__sim_request *request,
                                                int64_t now_ms)
{
    struct pawl__sim_result result = {.event = new_answer(request)};

    switch (request->kind) {
    case PAWL__BEV_SESSION_OPENED:
        open_session(store, request, &result);
        break;
    case PAWL__BEV_RENEWED:
        renew_session(store, request, &result);
        break;
    case PAWL__BEV_SESSION_CLOSED:
        close_session(store, request);
        break;
    case PAWL__BEV_ENQUEUED:
        enqueue(store, request, now_ms, &result);
        break;
    case PAWL__BEV_LOOKED:
        look(store, request, now_ms, &result);
        break;
    case PAWL__BEV_REMOVED:
        remove_entries(store, request, &result);
        break;
    case PAWL__BEV_MARKED:
        mark(store, request, &result);
        break;
    case PAWL__BEV_LISTED:
        list(store, request, now_ms, result.event);
        break;
    case PAWL__BEV_WATCH:
    case PAWL__BEV_OWN:
    case PAWL__BEV_SESSION:
        PAWL_INVARIANT(request->kind < PAWL__BEV_WATCH); /* Hints are no requests. */
    }
    return result;
}
