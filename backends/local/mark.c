/* Breaking: a mark on a session, or the removal of an entry at once. Both are recorded. */
#include "backends/local/local.h"
#include "base/clock.h"

static int any_marks(struct pawl__local *local)
{
    struct pawl__local_batch *batch = &local->batch;

    if (batch->any_marks >= 0) {
        return SQLITE_OK;
    }
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_MARK_ANY);
    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    int rc = sqlite3_step(stmt);
    batch->any_marks = rc == SQLITE_ROW && sqlite3_column_int(stmt, 0) != 0 ? 1 : 0;
    (void)sqlite3_reset(stmt); /* The code was taken from the step. */
    return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

static int run_with_number(struct pawl__local *local, enum pawl__local_stmt which, uint64_t number)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, which);

    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    pawl__local_bind_u64(stmt, 1, number);
    return pawl__local_store_run(stmt);
}

int pawl__local_forget_marks(struct pawl__local *local, uint64_t number)
{
    int rc = any_marks(local);

    if (rc != SQLITE_OK || local->batch.any_marks == 0) {
        return rc;
    }
    return run_with_number(local, PAWL__LOCAL_MARK_DELETE_NUMBER, number);
}

/* The session of the entry; 0 if it is not there. */
static int find_owner(struct pawl__local *local, const struct pawl__local_op *op,
                      uint64_t *ret_session)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_ENTRY_AT);

    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    pawl__local_bind_text(stmt, 1, op->name);
    pawl__local_bind_u64(stmt, 2, op->number);
    int rc = sqlite3_step(stmt);
    *ret_session = rc == SQLITE_ROW ? pawl__local_column_u64(stmt, 0) : 0;
    (void)sqlite3_reset(stmt); /* The code was taken from the step. */
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int record(struct pawl__local *local, const struct pawl__local_op *op, uint64_t session)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_BROKEN_PUT);

    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    (void)sqlite3_bind_int64(stmt, 1, pawl__wall_ms()); /* For people. */
    pawl__local_bind_text(stmt, 2, op->name);
    pawl__local_bind_u64(stmt, 3, op->number);
    pawl__local_bind_u64(stmt, 4, session);
    pawl__local_bind_text(stmt, 5, op->by);
    pawl__local_bind_text(stmt, 6, op->text);
    (void)sqlite3_bind_int(stmt, 7, op->flag ? 1 : 0);
    int rc = pawl__local_store_run(stmt);
    return rc == SQLITE_OK ? pawl__local_store_do(&local->store, PAWL__LOCAL_BROKEN_TRIM) : rc;
}

static int put_mark(struct pawl__local *local, const struct pawl__local_op *op, uint64_t session)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_MARK_PUT);

    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    pawl__local_bind_u64(stmt, 1, op->number);
    pawl__local_bind_u64(stmt, 2, session);
    pawl__local_bind_text(stmt, 3, op->by);
    pawl__local_bind_text(stmt, 4, op->text);
    int rc = pawl__local_store_run(stmt);
    if (rc == SQLITE_OK) {
        local->batch.any_marks = 1;
        rc = pawl__local_note_ring(local, session, 0, PAWL__LOCAL_RING_SESSION);
    }
    return rc;
}

/* Removes every entry of the number, in all its queues. */
static int remove_now(struct pawl__local *local, const struct pawl__local_op *op, uint64_t session)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_ENTRY_OF_NUMBER);
    int rc = SQLITE_OK, step = SQLITE_DONE;

    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    pawl__local_bind_u64(stmt, 1, op->number);
    while (rc == SQLITE_OK && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        rc = name == NULL ? SQLITE_NOMEM : pawl__local_wake_later(local, name, op->number, 0);
    }
    (void)sqlite3_reset(stmt); /* The code was taken from the step. */
    rc = rc == SQLITE_OK && step != SQLITE_DONE ? step : rc;
    if (rc == SQLITE_OK) {
        rc = run_with_number(local, PAWL__LOCAL_ENTRY_DELETE_NUMBER, op->number);
    }
    if (rc == SQLITE_OK) {
        rc = pawl__local_forget_marks(local, op->number);
    }
    if (rc == SQLITE_OK) {
        rc = pawl__local_note_ring(local, session, op->number, PAWL__LOCAL_RING_OWN);
    }
    return rc;
}

int pawl__local_run_mark(struct pawl__local *local, struct pawl__local_op *op)
{
    struct pawl__local_fact *fact = NULL;
    uint64_t session = 0;

    int rc = find_owner(local, op, &session);
    if (rc == SQLITE_OK && session != 0) {
        rc = pawl__local_fact_of(local, session, &fact);
    }
    if (rc != SQLITE_OK) {
        return rc;
    }
    if (fact == NULL) {
        pawl__local_op_fail(op, PAWL_E_FENCED, 0, "no entry of '%s' has the token %llu", op->name,
                            (unsigned long long)op->number);
        return SQLITE_OK;
    }
    if (!fact->lives) {
        pawl__local_op_fail(op, PAWL_E_FENCED, 0, "the owner of token %llu has ended already",
                            (unsigned long long)op->number);
        return pawl__local_reap(local, session, PAWL__LOCAL_END_REAPED);
    }
    op->event->ttl_ms = fact->deadline_ms != 0 ? fact->ttl_ms : 0;
    rc = op->flag ? remove_now(local, op, session) : put_mark(local, op, session);
    return rc == SQLITE_OK ? record(local, op, session) : rc;
}
