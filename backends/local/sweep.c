/* Housekeeping under the gate: checkpoints, and what processes that were killed left behind. */
#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "backends/local/gate.h"
#include "backends/local/local.h"
#include "base/text.h"

/* Files looked at in one sweep; what is left waits for the next. */
#define SWEEP_MAX 10000
#define SWEEP_MS  60000

/* Whether the session has a row; true also if that cannot be told. */
static bool has_row(struct pawl__local *local, uint64_t session)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_SESSION_GET);

    if (stmt == NULL) {
        return true;
    }
    pawl__local_bind_u64(stmt, 1, session);
    int rc = sqlite3_step(stmt);
    (void)sqlite3_reset(stmt); /* The code was taken from the step. */
    return rc != SQLITE_DONE;
}

/* A file without a row that nobody holds is of no use. In the gate nobody else is between making
 * and locking one. */
static void sweep_file(struct pawl__local *local, const char *parent, const char *name)
{
    char path[PAWL__LOCAL_PATH_MAX];
    uint64_t session = 0;
    size_t len = strcspn(name, ".");

    bool is_half_made = strcmp(name + len, ".new") == 0;
    if (len != 16 || !pawl__parse_hex_u64(name, len, &session) ||
        (name[len] != '\0' && !is_half_made)) {
        return;
    }
    if (!is_half_made && (has_row(local, session) ||
                          pawl__local_file_test(&local->dir, session) == PAWL__LOCAL_FILE_LOCKED)) {
        return;
    }
    pawl__local_dir_path(path, parent, session, is_half_made ? ".new" : "");
    (void)unlink(path);
}

static void sweep_directory(struct pawl__local *local, const char *parent)
{
    DIR *stream = opendir(parent);
    const struct dirent *found = NULL;

    if (stream == NULL) {
        return;
    }
    for (int i = 0; i < SWEEP_MAX && (found = readdir(stream)) != NULL; i++) {
        sweep_file(local, parent, found->d_name);
    }
    (void)closedir(stream); /* Only read. */
}

void pawl__local_sweep_files(struct pawl__local *local)
{
    sweep_directory(local, local->dir.sessions);
    sweep_directory(local, local->dir.bells);
}

/* Sessions of killed processes that nobody waits for. */
static void collect_dead(struct pawl__local *local, struct pawl__boot now,
                         struct pawl__local_queue *queue)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_SESSION_ALL);

    for (int i = 0; i < SWEEP_MAX && stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW; i++) {
        uint64_t session = pawl__local_column_u64(stmt, 0);
        int64_t deadline_ms = sqlite3_column_int64(stmt, 1);
        bool lives = pawl__local_is_alive(true, deadline_ms, now,
                                          pawl__local_file_test(&local->dir, session));
        struct pawl__local_op *op = lives ? NULL : pawl__local_op_new(PAWL__LOCAL_OP_REAP, 0);
        if (op != NULL) {
            op->session = session;
            pawl__local_queue_push(queue, op);
        }
    }
    (void)sqlite3_reset(stmt); /* What was not found is found the next time. */
}

void pawl__local_housekeep(struct pawl__local *local, struct pawl__local_queue *queue)
{
    struct pawl__boot now = PAWL__BOOT_NONE;

    if (local->store.wal_pages < local->store.checkpoint_at || !pawl__local_now(local, &now) ||
        pawl__local_gate_pass(local) != SQLITE_OK) {
        return;
    }
    bool is_due = now.ms >= local->next_sweep_ms;
    if (pawl__local_store_is_in_place(&local->store)) {
        pawl__local_store_checkpoint(&local->store, false);
        pawl__local_ballast_make(&local->dir);
        if (is_due) {
            pawl__local_sweep_files(local);
        }
    }
    pawl__local_gate_leave(local->gate);
    if (is_due) {
        local->next_sweep_ms = now.ms + SWEEP_MS;
        collect_dead(local, now, queue);
    }
}

void pawl__local_last_checkpoint(struct pawl__local *local)
{
    /* Not behind a process that is stopped in the gate. */
    if (local->store.wal_pages < PAWL__LOCAL_CHECKPOINT_END_PAGES || local->gate < 0 ||
        pawl__local_gate_enter_timed(local->gate, &local->dir, 0) != 0) {
        return;
    }
    if (pawl__local_store_is_in_place(&local->store)) {
        pawl__local_store_checkpoint(&local->store, true);
    }
    pawl__local_gate_leave(local->gate);
}
