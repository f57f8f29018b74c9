/* Queues: enqueue, look, remove. An entry waits for the nearest earlier one of a conflicting mode
 * (design.md 5). Sessions that are dead are removed where they are in the way. */
#include "backends/local/local.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"

/* For one who is not in the queue: behind everybody. */
#define BEHIND_ALL ((uint64_t)INT64_MAX)

/* ---- Looking ----------------------------------------------------------------------------------
 */

static enum pawl__mode mode_of(int value)
{
    /* A mode of a newer pawl conflicts with everything. */
    return value > PAWL__MODE_NONE && value < PAWL__MODE_COUNT ? (enum pawl__mode)value
                                                               : PAWL__MODE_NONE;
}

/* Steps `stmt` (number, session, mode) to the next entry that conflicts with `mode`: SQLITE_ROW, or
 * SQLITE_DONE if there is none, or a failure. */
static int step_to_conflict(sqlite3_stmt *stmt, enum pawl__mode mode)
{
    int rc = SQLITE_DONE;

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        if (pawl__mode_conflicts(mode_of(sqlite3_column_int(stmt, 2)), mode)) {
            break;
        }
    }
    return rc;
}

/* The first live entry that conflicts, in the order of `which`; *ret_number 0 = none. Removes dead
 * sessions on the way, so that the loop ends: each round has one less. */
static int find_conflict(struct pawl__local *local, enum pawl__local_stmt which,
                         const struct pawl__want *want, uint64_t below, uint64_t *ret_number)
{
    for (;;) {
        struct pawl__local_fact *fact = NULL;
        sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, which);
        if (stmt == NULL) {
            return pawl__local_store_code(&local->store);
        }
        pawl__local_bind_text(stmt, 1, want->name);
        pawl__local_bind_u64(stmt, 2, below);
        int rc = step_to_conflict(stmt, want->mode);
        uint64_t number = rc == SQLITE_ROW ? pawl__local_column_u64(stmt, 0) : 0;
        uint64_t session = rc == SQLITE_ROW ? pawl__local_column_u64(stmt, 1) : 0;
        (void)sqlite3_reset(stmt); /* The code was taken from the step. */
        if (rc == SQLITE_DONE) {
            *ret_number = 0;
            return SQLITE_OK;
        }
        if (rc != SQLITE_ROW) {
            return rc;
        }
        rc = pawl__local_fact_of(local, session, &fact);
        if (rc == SQLITE_OK && fact->lives) {
            *ret_number = number;
            return SQLITE_OK;
        }
        if (rc == SQLITE_OK) {
            rc = pawl__local_reap(local, session, PAWL__LOCAL_END_REAPED);
        }
        if (rc != SQLITE_OK) {
            return rc;
        }
    }
}

/* How many conflicting entries are before `below`: the dead ones among them, which nobody has met
 * yet, count as well. */
static int count_conflicts(struct pawl__local *local, const struct pawl__want *want, uint64_t below,
                           int *ret_count)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_ENTRY_FIRST);
    int rc = SQLITE_DONE;

    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    *ret_count = 0;
    pawl__local_bind_text(stmt, 1, want->name);
    pawl__local_bind_u64(stmt, 2, below);
    while ((rc = step_to_conflict(stmt, want->mode)) == SQLITE_ROW) {
        (*ret_count)++;
    }
    (void)sqlite3_reset(stmt); /* The code was taken from the step. */
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* `own`: number of the own entry, or of the one that is about to be made; 0 = there is none. */
static int view_queue(struct pawl__local *local, const struct pawl__want *want, uint64_t own,
                      bool position, struct pawl__queue_view *view)
{
    uint64_t below = own != 0 ? own : BEHIND_ALL;

    view->own_present = own != 0;
    view->own_number = own;
    view->position = -1;
    int rc = find_conflict(local, PAWL__LOCAL_ENTRY_NEAREST, want, below, &view->blocker);
    if (rc == SQLITE_OK && view->blocker != 0) {
        rc = find_conflict(local, PAWL__LOCAL_ENTRY_FIRST, want, below, &view->holder);
        /* The blocker lives, so that there is a first one. */
        pawl__assert(rc != SQLITE_OK || view->holder != 0);
    }
    if (rc == SQLITE_OK && position) {
        view->position = 0;
        if (view->blocker != 0) {
            rc = count_conflicts(local, want, below, &view->position);
        }
    }
    return rc;
}

/* ---- The entry in the way, for people ---------------------------------------------------------
 */

static int fill_info(struct pawl__local *local, sqlite3_stmt *stmt, const char *name,
                     uint64_t number, struct pawl__entry_info *info)
{
    char session[17];
    int64_t deadline_ms = sqlite3_column_int64(stmt, 4);
    const char *payload = (const char *)sqlite3_column_text(stmt, 3);

    pawl__hex_u64(session, pawl__local_column_u64(stmt, 0));
    info->name = pawl__strdup(name);
    info->payload = pawl__strdup(payload != NULL ? payload : "");
    info->session = pawl__strdup(session);
    info->number = number;
    info->attempt = pawl__local_column_u64(stmt, 1);
    info->mode = mode_of(sqlite3_column_int(stmt, 2));
    info->ttl_left_ms = -1;
    if (deadline_ms != 0) {
        int64_t left = deadline_ms - local->batch.now.ms;
        info->ttl_left_ms = left > 0 ? left : 0;
    }
    info->marked = sqlite3_column_int(stmt, 6) != 0;
    return info->name != NULL && info->payload != NULL && info->session != NULL ? SQLITE_OK
                                                                                : SQLITE_NOMEM;
}

/* Adds the holder of the first queue in which we wait. */
static int add_holder(struct pawl__local *local, struct pawl__local_op *op)
{
    struct pawl__backend_event *event = op->event;
    size_t i = 0;

    while (i < op->count && event->views[i].holder == 0) {
        i++;
    }
    if (i == op->count) {
        return SQLITE_OK;
    }
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_ENTRY_INFO);
    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    pawl__local_bind_text(stmt, 1, op->wants[i].name);
    pawl__local_bind_u64(stmt, 2, event->views[i].holder);
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        event->entries = pawl__alloc(sizeof(*event->entries));
        event->entry_count = event->entries != NULL ? 1 : 0;
        rc = event->entries == NULL ? SQLITE_NOMEM
                                    : fill_info(local, stmt, op->wants[i].name,
                                                event->views[i].holder, event->entries);
    }
    (void)sqlite3_reset(stmt); /* The code was taken from the step. */
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* ---- enqueue ----------------------------------------------------------------------------------
 */

/* The number of what (session, attempt) has already, by an earlier execution; 0 = nothing. */
static int find_attempt(struct pawl__local *local, const struct pawl__local_op *op,
                        uint64_t *ret_number)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_ENTRY_OF_ATTEMPT);

    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    pawl__local_bind_u64(stmt, 1, op->session);
    pawl__local_bind_u64(stmt, 2, op->attempt);
    int rc = sqlite3_step(stmt);
    *ret_number = rc == SQLITE_ROW ? pawl__local_column_u64(stmt, 0) : 0;
    (void)sqlite3_reset(stmt); /* The code was taken from the step. */
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int put_entries(struct pawl__local *local, const struct pawl__local_op *op, uint64_t number)
{
    int rc = SQLITE_OK;

    for (size_t i = 0; i < op->count && rc == SQLITE_OK; i++) {
        sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_ENTRY_PUT);
        if (stmt == NULL) {
            return pawl__local_store_code(&local->store);
        }
        pawl__local_bind_text(stmt, 1, op->wants[i].name);
        pawl__local_bind_u64(stmt, 2, number);
        pawl__local_bind_u64(stmt, 3, op->session);
        pawl__local_bind_u64(stmt, 4, op->attempt);
        (void)sqlite3_bind_int(stmt, 5, (int)op->wants[i].mode);
        pawl__local_bind_text(stmt, 6, op->text != NULL ? op->text : "");
        rc = pawl__local_store_run(stmt);
    }
    return rc;
}

/* Ends a try that would have to wait: its views keep who is in the way. */
static void refuse_try(struct pawl__local_op *op)
{
    struct pawl__backend_event *event = op->event;

    event->status = PAWL_E_TIMEOUT;
    for (size_t i = 0; i < op->count; i++) {
        event->views[i].own_present = false;
        event->views[i].own_number = 0;
    }
}

int pawl__local_run_enqueue(struct pawl__local *local, struct pawl__local_op *op)
{
    struct pawl__local_session *session = NULL;
    uint64_t number = 0;
    bool is_blocked = false;

    int rc = pawl__local_own_session(local, op, &session);
    if (rc != SQLITE_OK || session == NULL) {
        return rc;
    }
    rc = find_attempt(local, op, &number);
    bool is_repeat = number != 0;
    number = is_repeat ? number : local->batch.next;
    for (size_t i = 0; i < op->count && rc == SQLITE_OK; i++) {
        rc = view_queue(local, &op->wants[i], number, false, &op->event->views[i]);
        is_blocked = is_blocked || op->event->views[i].blocker != 0;
    }
    if (rc == SQLITE_OK && is_blocked) {
        rc = add_holder(local, op);
    }
    if (rc != SQLITE_OK || is_repeat) {
        return rc;
    }
    if (op->flag && is_blocked) {
        refuse_try(op);
        return SQLITE_OK;
    }
    local->batch.next++;
    local->batch.used_number = true;
    return put_entries(local, op, number);
}

/* ---- look -------------------------------------------------------------------------------------
 */

static int find_own(struct pawl__local *local, const struct pawl__local_op *op, const char *name,
                    uint64_t *ret_number)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_ENTRY_OWN);

    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    pawl__local_bind_u64(stmt, 1, op->session);
    pawl__local_bind_u64(stmt, 2, op->attempt);
    pawl__local_bind_text(stmt, 3, name);
    int rc = sqlite3_step(stmt);
    *ret_number = rc == SQLITE_ROW ? pawl__local_column_u64(stmt, 0) : 0;
    (void)sqlite3_reset(stmt); /* The code was taken from the step. */
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* To settle needs nothing here: ops run in the order of their calls, on one thread, and a commit
 * that failed half-way is covered by the write that batch.c makes first. */
int pawl__local_run_look(struct pawl__local *local, struct pawl__local_op *op)
{
    struct pawl__local_session *session = NULL;
    uint64_t own = 0;

    int rc = pawl__local_own_session(local, op, &session);
    if (rc != SQLITE_OK || session == NULL) {
        return rc;
    }
    for (size_t i = 0; i < op->count && rc == SQLITE_OK; i++) {
        rc = find_own(local, op, op->wants[i].name, &own);
        if (rc == SQLITE_OK) {
            rc = view_queue(local, &op->wants[i], own, op->flag2, &op->event->views[i]);
        }
    }
    return rc == SQLITE_OK ? add_holder(local, op) : rc;
}

/* ---- remove -----------------------------------------------------------------------------------
 */

int pawl__local_wake_later(struct pawl__local *local, const char *name, uint64_t number,
                           uint64_t dying)
{
    int rc = pawl__local_note_gone(local, number);
    if (rc != SQLITE_OK) {
        return rc;
    }
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_ENTRY_LATER);
    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    pawl__local_bind_text(stmt, 1, name);
    pawl__local_bind_u64(stmt, 2, number);
    int step = SQLITE_DONE;
    bool is_last = false;
    /* Nobody behind an X waits for what was before it. */
    while (rc == SQLITE_OK && !is_last && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
        uint64_t session = pawl__local_column_u64(stmt, 1);
        if (session == dying) {
            continue;
        }
        is_last = sqlite3_column_int(stmt, 2) == PAWL__MODE_X;
        rc = pawl__local_note_ring(local, session, number, PAWL__LOCAL_RING_GONE);
    }
    (void)sqlite3_reset(stmt); /* The code was taken from the step. */
    if (rc != SQLITE_OK || step == SQLITE_ROW || step == SQLITE_DONE) {
        return rc;
    }
    return step;
}

static int remove_entry(struct pawl__local *local, const struct pawl__local_op *op,
                        const char *name)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_ENTRY_DELETE);

    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    pawl__local_bind_text(stmt, 1, name);
    pawl__local_bind_u64(stmt, 2, op->number);
    pawl__local_bind_u64(stmt, 3, op->session);
    pawl__local_bind_u64(stmt, 4, op->attempt);
    int rc = pawl__local_store_run(stmt);
    if (rc != SQLITE_OK || sqlite3_changes(local->store.db) == 0) {
        return rc;
    }
    return pawl__local_wake_later(local, name, op->number, 0);
}

int pawl__local_run_remove(struct pawl__local *local, struct pawl__local_op *op)
{
    int rc = SQLITE_OK;

    /* No look at the session: what is not there is removed. */
    for (size_t i = 0; i < op->count && rc == SQLITE_OK; i++) {
        rc = remove_entry(local, op, op->wants[i].name);
    }
    return rc == SQLITE_OK ? pawl__local_forget_marks(local, op->number) : rc;
}
