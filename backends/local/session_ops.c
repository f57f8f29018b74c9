/* The ops of own sessions: a file whose lock lives as long as this process, and a row with a
 * deadline.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/local/fault.h"
#include "backends/local/local.h"
#include "base/alloc.h"
#include "base/text.h"

/* ---- The file ---------------------------------------------------------------------------------
 */

static int make_file(const struct pawl__local *local, const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, local->dir.file_mode);

    if (fd < 0 && errno == ENOENT && pawl__local_dir_make_inner(&local->dir) == 0) {
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, local->dir.file_mode);
    }
    if (fd >= 0 && local->dir.is_shared && fchmod(fd, local->dir.file_mode) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* Temporary name, lock, then the real name: under that name the file is never seen unlocked as long
 * as its owner lives. 0 or an errno. Gate held, so that a sweep does not meet it in between. */
static int lock_file(struct pawl__local *local, struct pawl__local_session *session)
{
    char made[PAWL__LOCAL_PATH_MAX], path[PAWL__LOCAL_PATH_MAX];
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0, .l_pid = 0};
    struct stat st;

    pawl__local_dir_path(made, local->dir.sessions, session->id, ".new");
    pawl__local_dir_path(path, local->dir.sessions, session->id, "");
    (void)unlink(made); /* Of an earlier try. */
    session->fd = make_file(local, made);
    if (session->fd < 0) {
        return errno;
    }
    /* Before the lock: a fork from here on must not keep it. */
    pawl__local_fd_add(local, session->fd);
    if (fcntl(session->fd, F_OFD_SETLK, &lock) == 0) {
        pawl__fault_point("local.session.locked");
        /* NOREPLACE: an id is never used twice. */
        if (renameat2(AT_FDCWD, made, AT_FDCWD, path, RENAME_NOREPLACE) == 0 &&
            fstat(session->fd, &st) == 0) {
            session->dev = st.st_dev;
            session->ino = st.st_ino;
            pawl__fault_point("local.session.renamed");
            return 0;
        }
    }
    int code = errno;
    (void)unlink(made);
    return code;
}

/* Waiting does not mend a limit of the system or a missing right: those end the request. */
static pawl_status status_of(int code)
{
    switch (code) {
    case EMFILE:
    case ENFILE:
    case EACCES:
    case EPERM:
    case EROFS:
        return PAWL_E_PERMISSION;
    default:
        return PAWL_E_UNAVAILABLE;
    }
}

/* The slot of a session that is new to us. NULL: the op is answered. */
static struct pawl__local_session *make_session(struct pawl__local *local,
                                                struct pawl__local_op *op)
{
    struct pawl__local_session *slot = NULL;

    for (size_t i = 0; i < PAWL__LOCAL_SESSIONS_MAX && slot == NULL; i++) {
        slot = local->sessions[i].id == 0 ? &local->sessions[i] : NULL;
    }
    if (slot == NULL) {
        pawl__local_op_fail(op, PAWL_E_LIMIT, 0, "more than %d sessions of one client",
                            PAWL__LOCAL_SESSIONS_MAX);
        return NULL;
    }
    memset(slot, 0, sizeof(*slot));
    slot->id = op->session;
    slot->bell = -1;
    slot->ttl_ms = op->ttl_ms;
    int code = lock_file(local, slot);
    if (code != 0) {
        pawl__local_drop_session(local, slot);
        pawl__local_op_fail(op, status_of(code), code, "cannot make a session in %s: %s",
                            local->dir.sessions, strerror(code));
        return NULL;
    }
    slot->bell = pawl__local_bell_open(&local->dir, slot->id);
    if (slot->bell >= 0) {
        pawl__local_fd_add(local, slot->bell);
    }
    return slot;
}

/* ---- Ops --------------------------------------------------------------------------------------
 */

static int put_row(struct pawl__local *local, const struct pawl__local_session *session)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_SESSION_PUT);

    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    pawl__local_bind_u64(stmt, 1, session->id);
    pawl__local_bind_text(stmt, 2, local->boot_id);
    if (session->ttl_ms > 0) {
        (void)sqlite3_bind_int64(stmt, 3, pawl__boot_add(local->batch.now, session->ttl_ms).ms);
    } else {
        (void)sqlite3_bind_null(stmt, 3);
    }
    (void)sqlite3_bind_int64(stmt, 4, session->ttl_ms);
    (void)sqlite3_bind_int64(stmt, 5, local->pid);
    pawl__local_bind_text(stmt, 6, local->principal);
    return pawl__local_store_run(stmt);
}

static int touch_row(struct pawl__local *local, const struct pawl__local_session *session)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_SESSION_TOUCH);

    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    pawl__local_bind_u64(stmt, 1, session->id);
    (void)sqlite3_bind_int64(stmt, 2, pawl__boot_add(local->batch.now, session->ttl_ms).ms);
    return pawl__local_store_run(stmt);
}

/* Known to the batch: it lives until its new deadline. */
static int note_alive(struct pawl__local *local, const struct pawl__local_session *session)
{
    struct pawl__local_fact *fact = NULL;

    int rc = pawl__local_fact_of(local, session->id, &fact);
    if (rc == SQLITE_OK) {
        fact->exists = true;
        fact->lives = true;
        fact->ttl_ms = session->ttl_ms;
        fact->deadline_ms =
            session->ttl_ms > 0 ? pawl__boot_add(local->batch.now, session->ttl_ms).ms : 0;
    }
    return rc;
}

/* The session after `id` in the store, round and round; 0 = there is none. */
static int find_next_session(struct pawl__local *local, uint64_t id, uint64_t *ret_next)
{
    int rc = SQLITE_DONE;

    *ret_next = 0;
    for (int i = 0; i < 2 && rc == SQLITE_DONE && *ret_next == 0; i++) {
        sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_SESSION_NEXT);
        if (stmt == NULL) {
            return pawl__local_store_code(&local->store);
        }
        pawl__local_bind_u64(stmt, 1, i == 0 ? id : 0);
        rc = sqlite3_step(stmt);
        *ret_next = rc == SQLITE_ROW ? pawl__local_column_u64(stmt, 0) : 0;
        (void)sqlite3_reset(stmt); /* The code was taken from the step. */
    }
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Who opens a session looks at two others and removes those that are dead: so what killed processes
 * leave cannot pile up, although nobody waits for it. Ids are random, and so is the choice. */
static int tidy(struct pawl__local *local, uint64_t own)
{
    struct pawl__local_fact *fact = NULL;
    uint64_t id = own;
    int rc = SQLITE_OK;

    for (int i = 0; i < 2 && rc == SQLITE_OK; i++) {
        rc = find_next_session(local, id, &id);
        if (id == 0 || id == own) {
            break;
        }
        if (rc == SQLITE_OK) {
            rc = pawl__local_fact_of(local, id, &fact);
        }
        if (rc == SQLITE_OK && fact->exists && !fact->lives) {
            rc = pawl__local_reap(local, id, PAWL__LOCAL_END_REAPED);
        }
    }
    return rc;
}

int pawl__local_run_open(struct pawl__local *local, struct pawl__local_op *op)
{
    struct pawl__local_session *session = pawl__local_find_session(local, op->session);
    struct pawl__local_fact *fact = NULL;

    int rc = pawl__local_fact_of(local, op->session, &fact);
    if (rc != SQLITE_OK) {
        return rc;
    }
    bool is_new = !fact->exists && session == NULL;
    if (is_new) {
        session = make_session(local, op);
    } else if (fact->exists || !pawl__local_session_is_in_place(local, session)) {
        /* A repeat: adopted if it is ours and alive, else answered. */
        rc = pawl__local_own_session(local, op, &session);
    }
    if (rc != SQLITE_OK || session == NULL) {
        return rc;
    }
    session->ttl_ms = op->ttl_ms;
    rc = put_row(local, session);
    if (rc == SQLITE_OK) {
        rc = note_alive(local, session);
    }
    if (rc == SQLITE_OK && is_new) {
        rc = tidy(local, session->id);
    }
    op->event->ttl_ms = session->ttl_ms;
    op->event->evidence = local->batch.now;
    op->event->session_fd = session->fd;
    pawl__hex_u64(op->event->session_name, session->id);
    return rc;
}

static int read_marks(struct pawl__local *local, struct pawl__local_op *op)
{
    struct pawl__backend_event *event = op->event;
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_MARK_OF_SESSION);
    int rc = SQLITE_DONE;

    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    pawl__local_bind_u64(stmt, 1, op->session);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        size_t size = (event->mark_count + 1) * sizeof(*event->marks);
        struct pawl__mark *marks = pawl__realloc(event->marks, size);
        if (marks == NULL) {
            rc = SQLITE_NOMEM;
            break;
        }
        event->marks = marks;
        struct pawl__mark *mark = &marks[event->mark_count++];
        mark->number = pawl__local_column_u64(stmt, 0);
        mark->by = pawl__strdup((const char *)sqlite3_column_text(stmt, 1));
        mark->reason = pawl__strdup((const char *)sqlite3_column_text(stmt, 2));
        if (mark->by == NULL || mark->reason == NULL) {
            rc = SQLITE_NOMEM;
            break;
        }
    }
    (void)sqlite3_reset(stmt); /* The code was taken from the step. */
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int sweep_held(struct pawl__local *local, struct pawl__local_op *op)
{
    struct pawl__backend_event *event = op->event;

    for (size_t i = 0; i < op->count; i++) {
        sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_ENTRY_HELD);
        if (stmt == NULL) {
            return pawl__local_store_code(&local->store);
        }
        pawl__local_bind_u64(stmt, 1, op->held[i]);
        pawl__local_bind_u64(stmt, 2, op->session);
        int rc = sqlite3_step(stmt);
        (void)sqlite3_reset(stmt); /* The code was taken from the step. */
        if (rc == SQLITE_ROW) {
            continue;
        }
        if (rc != SQLITE_DONE) {
            return rc;
        }
        if (event->gone == NULL) {
            event->gone = pawl__alloc_array(op->count, sizeof(*event->gone));
        }
        if (event->gone == NULL) {
            return SQLITE_NOMEM;
        }
        event->gone[event->gone_count++] = op->held[i];
    }
    return SQLITE_OK;
}

int pawl__local_run_renew(struct pawl__local *local, struct pawl__local_op *op)
{
    struct pawl__local_session *session = NULL;

    int rc = pawl__local_own_session(local, op, &session);
    if (rc != SQLITE_OK || session == NULL) {
        return rc;
    }
    if (session->ttl_ms > 0) {
        rc = touch_row(local, session);
    }
    if (rc == SQLITE_OK) {
        rc = note_alive(local, session);
    }
    if (rc == SQLITE_OK) {
        rc = read_marks(local, op);
    }
    if (rc == SQLITE_OK) {
        rc = sweep_held(local, op);
    }
    op->event->ttl_ms = session->ttl_ms;
    op->event->evidence = local->batch.now;
    return rc;
}

/* Our descriptor is closed first: whether the file is still locked then tells of heirs. From here
 * on the session is not ours, whatever comes of the transaction. */
static int leave_to_heirs(struct pawl__local *local, struct pawl__local_op *op, bool *ret_left)
{
    struct pawl__local_session *own = pawl__local_find_session(local, op->session);

    *ret_left = false;
    if (own != NULL) {
        pawl__local_fd_close(local, &own->fd);
    }
    if (pawl__local_file_test(&local->dir, op->session) != PAWL__LOCAL_FILE_LOCKED) {
        return SQLITE_OK;
    }
    *ret_left = true;
    int rc = pawl__local_run_by_session(local, PAWL__LOCAL_SESSION_HEIRS, op->session);
    if (rc == SQLITE_OK) {
        rc = pawl__local_note_ended(local, op->session, PAWL__LOCAL_END_LEFT);
    }
    return rc;
}

int pawl__local_run_close(struct pawl__local *local, struct pawl__local_op *op)
{
    struct pawl__local_fact *fact = NULL;
    bool is_left = false;

    int rc = pawl__local_fact_of(local, op->session, &fact);
    if (rc != SQLITE_OK) {
        return rc;
    }
    if (!fact->exists) {
        return pawl__local_note_ended(local, op->session, PAWL__LOCAL_END_CLOSED);
    }
    if (op->flag && fact->lives) {
        rc = leave_to_heirs(local, op, &is_left);
    }
    if (rc == SQLITE_OK && !is_left) {
        rc = pawl__local_reap(local, op->session, PAWL__LOCAL_END_CLOSED);
    }
    return rc;
}

int pawl__local_run_reap(struct pawl__local *local, struct pawl__local_op *op)
{
    struct pawl__local_fact *fact = NULL;

    int rc = pawl__local_fact_of(local, op->session, &fact);
    if (rc == SQLITE_OK && fact->exists && !fact->lives) {
        rc = pawl__local_reap(local, op->session, PAWL__LOCAL_END_REAPED);
    }
    return rc;
}
