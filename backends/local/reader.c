/* The reader thread: answers `list` on a connection of its own, so that it waits neither for the
 * gate nor for a writer that is stopped inside it. */
#include <string.h>

#include "backends/local/local.h"
#include "base/alloc.h"
#include "base/limits.h"
#include "base/text.h"

/* Columns of PAWL__LOCAL_LIST_ALL and _NAME. */
enum column { NAME, NUMBER, SESSION, ATTEMPT, MODE, PAYLOAD, BOOT_ID, DEADLINE, MARKED };

/* The liveness of one session, for the entries of a list: many have the same one in a row. */
struct last_session {
    uint64_t id;
    bool lives;
};

static bool session_lives(struct pawl__local *local, sqlite3_stmt *stmt, struct pawl__boot now,
                          struct last_session *last)
{
    uint64_t session = pawl__local_column_u64(stmt, SESSION);
    const char *boot_id = (const char *)sqlite3_column_text(stmt, BOOT_ID);

    if (last->id != session) {
        last->id = session;
        last->lives =
            boot_id != NULL && pawl__local_is_alive(strcmp(boot_id, local->boot_id) == 0,
                                                    sqlite3_column_int64(stmt, DEADLINE), now,
                                                    pawl__local_file_test(&local->dir, session));
    }
    return last->lives;
}

static int64_t ttl_left(sqlite3_stmt *stmt, struct pawl__boot now, bool lives)
{
    int64_t deadline_ms = sqlite3_column_int64(stmt, DEADLINE);

    if (!lives) {
        return 0;
    }
    return deadline_ms == 0 ? -1 : deadline_ms - now.ms;
}

static char *copy_column(sqlite3_stmt *stmt, enum column column)
{
    const char *text = (const char *)sqlite3_column_text(stmt, (int)column);

    return pawl__strdup(text != NULL ? text : "");
}

/* Appends the row; `*cap` is the room of event->entries. */
static int add_row(struct pawl__backend_event *event, size_t *cap, sqlite3_stmt *stmt,
                   int64_t ttl_left_ms)
{
    char session[17];

    if (event->entry_count == *cap) {
        size_t bigger = *cap == 0 ? 16 : 2 * *cap;
        void *entries = pawl__realloc(event->entries, bigger * sizeof(*event->entries));
        if (entries == NULL) {
            return SQLITE_NOMEM;
        }
        event->entries = entries;
        *cap = bigger;
    }
    struct pawl__entry_info *info = &event->entries[event->entry_count++];
    int mode = sqlite3_column_int(stmt, MODE);
    pawl__hex_u64(session, pawl__local_column_u64(stmt, SESSION));
    info->name = copy_column(stmt, NAME);
    info->payload = copy_column(stmt, PAYLOAD);
    info->session = pawl__strdup(session);
    info->mode =
        mode > PAWL__MODE_NONE && mode < PAWL__MODE_COUNT ? (enum pawl__mode)mode : PAWL__MODE_NONE;
    info->number = pawl__local_column_u64(stmt, NUMBER);
    info->attempt = pawl__local_column_u64(stmt, ATTEMPT);
    info->ttl_left_ms = ttl_left_ms;
    info->marked = sqlite3_column_int(stmt, MARKED) != 0;
    return info->name != NULL && info->payload != NULL && info->session != NULL ? SQLITE_OK
                                                                                : SQLITE_NOMEM;
}

static void list_entries(struct pawl__local *local, struct pawl__local_op *op,
                         struct pawl__boot now)
{
    struct last_session last = {0, false};
    size_t cap = 0;
    sqlite3_stmt *stmt = pawl__local_store_stmt(
        &local->reader_store, op->name != NULL ? PAWL__LOCAL_LIST_NAME : PAWL__LOCAL_LIST_ALL);
    int rc = stmt != NULL ? SQLITE_OK : pawl__local_store_code(&local->reader_store);
    bool is_over = false;

    if (stmt != NULL && op->name != NULL) {
        pawl__local_bind_text(stmt, 1, op->name);
    }
    while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        is_over = op->event->entry_count == PAWL__QUEUE_ENTRIES_MAX;
        if (is_over) {
            break;
        }
        bool lives = session_lives(local, stmt, now, &last);
        rc = add_row(op->event, &cap, stmt, ttl_left(stmt, now, lives));
    }
    (void)sqlite3_reset(stmt); /* Ends the read transaction; the code was taken from the step. */
    if (is_over) {
        pawl__local_op_fail(op, PAWL_E_LIMIT, 0, "more than %d entries: list one name",
                            PAWL__QUEUE_ENTRIES_MAX);
    } else if (rc != SQLITE_DONE) {
        pawl__local_op_fail(op, PAWL_E_UNAVAILABLE, rc, "%s: %s (SQLite code %d)", local->dir.db,
                            sqlite3_errstr(rc), rc);
    }
}

/* Opens the connection at the first list. */
static bool has_connection(struct pawl__local *local, struct pawl__local_op *op)
{
    struct pawl__local_identity identity;

    /* These fields of the writer's connection never change. */
    if (!pawl__local_store_is_in_place(&local->store)) {
        pawl__local_op_fail(op, PAWL_E_STORE, 0, "the database %s was removed or replaced",
                            local->dir.db);
        return false;
    }
    if (!local->has_reader_store) {
        pawl_error *err = pawl_error_new();
        pawl_status status = pawl__local_store_open(&local->reader_store, &local->dir,
                                                    local->request_timeout_ms, &identity, err);
        if (status != PAWL_OK) {
            pawl__local_op_fail(op, status, pawl_error_backend_code(err), "%s",
                                pawl_error_message(err));
        }
        pawl_error_free(err);
        local->has_reader_store = status == PAWL_OK;
        if (status == PAWL_OK && strcmp(identity.store_id, local->identity.store_id) != 0) {
            pawl__local_store_release(&local->reader_store);
            local->has_reader_store = false;
            pawl__local_op_fail(op, PAWL_E_STORE, 0, "the database %s was replaced", local->dir.db);
        }
    }
    return local->has_reader_store;
}

static void run_list(struct pawl__local *local, struct pawl__local_op *op)
{
    struct pawl__boot now = PAWL__BOOT_NONE;

    if (!pawl__local_now(local, &now) || !has_connection(local, op)) {
        return;
    }
    list_entries(local, op, now);
}

/* NULL = closing. */
static struct pawl__local_op *wait_for_op(struct pawl__local *local)
{
    struct pawl__local_op *op = NULL;

    pthread_mutex_lock(&local->mu);
    while (!local->is_closing && local->reads.first == NULL) {
        (void)pawl__cond_wait_ms(&local->cond, &local->mu, PAWL__WAIT_FOREVER);
    }
    if (!local->is_closing) {
        op = pawl__local_queue_pop(&local->reads);
    }
    pthread_mutex_unlock(&local->mu);
    return op;
}

void *pawl__local_reader_main(void *arg)
{
    struct pawl__local *local = arg;
    struct pawl__local_op *op = NULL;

    while ((op = wait_for_op(local)) != NULL) {
        run_list(local, op);
        pawl__local_post(local, op->event);
        op->event = NULL;
        pawl__local_op_free(op);
    }
    if (local->has_reader_store) {
        pawl__local_store_release(&local->reader_store);
    }
    pthread_mutex_lock(&local->mu);
    local->reader_done = true;
    (void)pthread_cond_broadcast(&local->cond); /* Cannot fail. */
    pthread_mutex_unlock(&local->mu);
    pawl__local_unref(local);
    return NULL;
}
