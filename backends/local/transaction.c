/* One transaction for a batch: the gate, the numbers, the commit and what its failure means. */
#include <errno.h>
#include <string.h>

#include "backends/local/fault.h"
#include "backends/local/gate.h"
#include "backends/local/local.h"

/* ---- Numbers -----------------------------------------------------------------------------------
 */

void pawl__local_rollback(struct pawl__local *local)
{
    if (sqlite3_get_autocommit(local->store.db) == 0) {
        /* Ends the transaction whatever it returns. */
        (void)pawl__local_store_do(&local->store, PAWL__LOCAL_ROLLBACK);
    }
}

static int read_meta(struct pawl__local *local, bool *ret_same_boot, uint64_t *ret_next,
                     uint64_t *ret_reserved)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_META_GET);

    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        const char *boot_id = (const char *)sqlite3_column_text(stmt, 0);
        *ret_same_boot = boot_id != NULL && strcmp(boot_id, local->boot_id) == 0;
        *ret_next = pawl__local_column_u64(stmt, 1);
        *ret_reserved = pawl__local_column_u64(stmt, 2);
    }
    (void)sqlite3_reset(stmt); /* The code was taken from the step. */
    return rc == SQLITE_ROW ? SQLITE_OK : rc == SQLITE_DONE ? SQLITE_CORRUPT : rc;
}

/* Sessions of another boot are all dead, and with them every entry. */
static int forget_other_boot(struct pawl__local *local)
{
    int rc = pawl__local_store_do(&local->store, PAWL__LOCAL_FORGET_ENTRIES);

    if (rc == SQLITE_OK) {
        rc = pawl__local_store_do(&local->store, PAWL__LOCAL_FORGET_MARKS);
    }
    if (rc == SQLITE_OK) {
        rc = pawl__local_store_do(&local->store, PAWL__LOCAL_FORGET_SESSIONS);
    }
    return rc;
}

static int write_reserve(struct pawl__local *local, bool same_boot, uint64_t next)
{
    int rc = pawl__local_store_do(&local->store, PAWL__LOCAL_BEGIN_WRITE);

    if (rc == SQLITE_OK && !same_boot) {
        rc = forget_other_boot(local);
    }
    if (rc != SQLITE_OK) {
        return rc;
    }
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_META_RESERVE);
    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    pawl__local_bind_text(stmt, 1, local->boot_id);
    pawl__local_bind_u64(stmt, 2, next);
    pawl__local_bind_u64(stmt, 3, next + PAWL__LOCAL_BLOCK);
    rc = pawl__local_store_run(stmt);
    return rc == SQLITE_OK ? pawl__local_store_do(&local->store, PAWL__LOCAL_COMMIT) : rc;
}

/* Reserves the next block before a number of it is used, so that what a power loss takes from the
 * WAL never takes numbers back: in another boot they go on behind the block. */
static int reserve(struct pawl__local *local, bool same_boot, uint64_t next, uint64_t reserved)
{
    pawl__local_rollback(local);
    next = same_boot || next > reserved ? next : reserved;
    int rc = pawl__local_store_set_full(&local->store, true);
    if (rc == SQLITE_OK) {
        rc = write_reserve(local, same_boot, next);
    }
    pawl__local_rollback(local);
    int normal = pawl__local_store_set_full(&local->store, false);
    if (rc != SQLITE_OK) {
        return rc;
    }
    if (!same_boot) {
        pawl__local_sweep_files(local);
    }
    return normal;
}

static int begin_write(struct pawl__local *local, size_t numbers)
{
    for (;;) {
        bool same_boot = false;
        uint64_t next = 0, reserved = 0;
        int rc = pawl__local_store_do(&local->store, PAWL__LOCAL_BEGIN_WRITE);
        if (rc == SQLITE_OK) {
            rc = read_meta(local, &same_boot, &next, &reserved);
        }
        if (rc != SQLITE_OK) {
            return rc;
        }
        if (next == 0 || next > reserved || reserved > INT64_MAX - 2 * PAWL__LOCAL_BLOCK) {
            return SQLITE_CORRUPT;
        }
        uint64_t mark = pawl__local_gate_mark(local->gate, local->identity.store_id);
        if (mark > next && mark <= INT64_MAX - 2 * PAWL__LOCAL_BLOCK) {
            next = mark; /* The database went back behind numbers that were given. */
        }
        if (same_boot && next <= reserved && reserved - next >= numbers) {
            local->batch.next = next;
            return SQLITE_OK;
        }
        rc = reserve(local, same_boot, next, reserved);
        if (rc != SQLITE_OK) {
            return rc;
        }
    }
}

/* ---- Running ----------------------------------------------------------------------------------
 */

struct pawl__local_outcome pawl__local_run_read(struct pawl__local *local,
                                                const struct pawl__local_queue *chunk)
{
    struct pawl__local_outcome outcome = {SQLITE_OK, false};

    pawl__local_batch_reset(&local->batch, false);
    if (!pawl__local_now(local, &local->batch.now)) {
        outcome.rc = PAWL__LOCAL_CLOSING;
        return outcome;
    }
    if (local->is_replaced || !pawl__local_store_is_in_place(&local->store)) {
        outcome.rc = PAWL__LOCAL_REPLACED;
        return outcome;
    }
    outcome.rc = pawl__local_store_do(&local->store, PAWL__LOCAL_BEGIN_READ);
    if (outcome.rc == SQLITE_OK) {
        outcome.rc = pawl__local_run_ops(local, chunk);
    }
    pawl__local_rollback(local);
    return outcome;
}

int pawl__local_gate_pass(struct pawl__local *local)
{
    int code = 0;

    /* Another round when the file was replaced in between. */
    for (int i = 0; i < 8; i++) {
        if (local->gate < 0) {
            local->gate = pawl__local_gate_open(&local->dir);
            if (local->gate < 0) {
                return PAWL__LOCAL_NO_GATE;
            }
            pawl__local_fd_add(local, local->gate);
        }
        code = pawl__local_gate_enter(local->gate, &local->dir);
        if (code == 0) {
            return SQLITE_OK;
        }
        pawl__local_fd_close(local, &local->gate);
        if (code != ESTALE) {
            break;
        }
    }
    return PAWL__LOCAL_NO_GATE;
}

static int write_next(struct pawl__local *local)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_META_NEXT);

    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    pawl__local_bind_u64(stmt, 1, local->batch.next);
    int rc = pawl__local_store_run(stmt);
    /* Before the commit: a mark that is too high leaves numbers out, one too low gives them twice.
     */
    if (rc == SQLITE_OK &&
        pawl__local_gate_set_mark(local->gate, local->identity.store_id, local->batch.next) != 0) {
        rc = SQLITE_FULL;
    }
    return rc;
}

static int commit(struct pawl__local *local)
{
    if (pawl__fault_point("local.commit.before")) {
        return SQLITE_IOERR_WRITE;
    }
    int rc = pawl__local_store_do(&local->store, PAWL__LOCAL_COMMIT);
    if (rc == SQLITE_OK && pawl__fault_point("local.commit.after")) {
        return SQLITE_IOERR_WRITE;
    }
    return rc;
}

/* Gate held. */
static struct pawl__local_outcome
run_transaction(struct pawl__local *local, const struct pawl__local_queue *chunk, size_t numbers)
{
    struct pawl__local_outcome outcome = {SQLITE_OK, false};

    pawl__local_batch_reset(&local->batch, true);
    if (!pawl__local_now(local, &local->batch.now) || pawl__local_is_closing(local)) {
        outcome.rc = PAWL__LOCAL_CLOSING;
        return outcome;
    }
    if (local->is_replaced || !pawl__local_store_is_in_place(&local->store)) {
        outcome.rc = PAWL__LOCAL_REPLACED;
        return outcome;
    }
    /* One more for a commit that writes without need, see below. */
    outcome.rc = begin_write(local, numbers + (local->is_unsettled ? 1 : 0));
    if (outcome.rc == SQLITE_OK && pawl__fault_point("local.begin")) {
        outcome.rc = SQLITE_FULL;
    }
    if (outcome.rc == SQLITE_OK) {
        outcome.rc = pawl__local_run_ops(local, chunk);
    }
    /* After a commit that failed half-way also without need: its frames are to be written over. By
     * a new value: SQLite does not write what is the same. */
    if (outcome.rc == SQLITE_OK && local->is_unsettled && !local->batch.used_number) {
        local->batch.next++;
        local->batch.used_number = true;
    }
    if (outcome.rc == SQLITE_OK && local->batch.used_number) {
        outcome.rc = write_next(local);
    }
    if (outcome.rc == SQLITE_OK) {
        outcome.rc = commit(local);
        outcome.at_commit = outcome.rc != SQLITE_OK;
    }
    pawl__local_rollback(local);
    return outcome;
}

struct pawl__local_outcome pawl__local_run_write(struct pawl__local *local,
                                                 const struct pawl__local_queue *chunk,
                                                 size_t numbers, bool make_room)
{
    struct pawl__local_outcome outcome = {SQLITE_OK, false};

    outcome.rc = pawl__local_gate_pass(local);
    if (outcome.rc != SQLITE_OK) {
        return outcome;
    }
    if (make_room) {
        pawl__local_ballast_drop(&local->dir);
        pawl__local_store_checkpoint(&local->store, true);
    }
    outcome = run_transaction(local, chunk, numbers);
    if (outcome.rc == SQLITE_OK) {
        local->is_unsettled = false;
    }
    pawl__local_gate_leave(local->gate);
    /* A full disk or a lock in the way stops a commit before its last frame is out; any other
     * failure may have come after that. */
    int primary = outcome.rc & 0xff;
    if (outcome.at_commit && primary != SQLITE_FULL && primary != SQLITE_BUSY) {
        local->is_unsettled = true;
    } else {
        outcome.at_commit = false;
    }
    return outcome;
}
