/* Sessions: files whose lock lives as long as their process, and rows with a deadline. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/local/fault.h"
#include "backends/local/local.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"

/* ---- Who is alive -----------------------------------------------------------------------------
 */

enum pawl__local_file_state pawl__local_file_test(const struct pawl__local_dir *dir,
                                                  uint64_t session)
{
    char path[PAWL__LOCAL_PATH_MAX];
    /* Asks for a read lock: any descriptor may ask, and it conflicts with the owner's write lock.
     */
    struct flock lock = {
        .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0, .l_pid = 0};

    pawl__local_dir_path(path, dir->sessions, session, "");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return errno == ENOENT ? PAWL__LOCAL_FILE_MISSING : PAWL__LOCAL_FILE_LOCKED;
    }
    bool is_free = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
    (void)close(fd); /* Only read. */
    return is_free ? PAWL__LOCAL_FILE_FREE : PAWL__LOCAL_FILE_LOCKED;
}

/* A file that is missing was removed by hand: the owner, who sees it at the next renewal, may still
 * rely on the deadline. Without a deadline there is nothing left that it could rely on. */
bool pawl__local_is_alive(bool same_boot, int64_t deadline_ms, struct pawl__boot now,
                          enum pawl__local_file_state file)
{
    if (!same_boot) {
        return false;
    }
    if (deadline_ms != 0 && deadline_ms <= now.ms) {
        return false;
    }
    switch (file) {
    case PAWL__LOCAL_FILE_LOCKED:
        return true;
    case PAWL__LOCAL_FILE_FREE:
        return false;
    case PAWL__LOCAL_FILE_MISSING:
        break;
    }
    return deadline_ms != 0;
}

struct pawl__local_session *pawl__local_find_session(struct pawl__local *local, uint64_t id)
{
    for (size_t i = 0; i < PAWL__LOCAL_SESSIONS_MAX; i++) {
        if (local->sessions[i].id == id && id != 0) {
            return &local->sessions[i];
        }
    }
    return NULL;
}

/* Whether the file of an own session is still the one that we hold, under its name. */
static bool is_in_place(const struct pawl__local *local, const struct pawl__local_session *session)
{
    char path[PAWL__LOCAL_PATH_MAX];
    struct stat st;

    pawl__local_dir_path(path, local->dir.sessions, session->id, "");
    return session->fd >= 0 && stat(path, &st) == 0 && st.st_dev == session->dev &&
           st.st_ino == session->ino;
}

static int load_fact(struct pawl__local *local, struct pawl__local_fact *fact)
{
    struct pawl__local_session *own = pawl__local_find_session(local, fact->session);
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_SESSION_GET);

    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    pawl__local_bind_u64(stmt, 1, fact->session);
    int rc = sqlite3_step(stmt);
    fact->exists = rc == SQLITE_ROW;
    if (rc == SQLITE_ROW) {
        const char *boot_id = (const char *)sqlite3_column_text(stmt, 0);
        bool same_boot = boot_id != NULL && strcmp(boot_id, local->boot_id) == 0;
        fact->deadline_ms = sqlite3_column_int64(stmt, 1); /* 0 for NULL. */
        fact->ttl_ms = sqlite3_column_int64(stmt, 2);
        /* The lock of an own file is ours as long as the file is; after a bequest it may be
         * others'. */
        enum pawl__local_file_state file = own == NULL || own->fd < 0
                                               ? pawl__local_file_test(&local->dir, fact->session)
                                           : is_in_place(local, own) ? PAWL__LOCAL_FILE_LOCKED
                                                                     : PAWL__LOCAL_FILE_FREE;
        fact->lives = pawl__local_is_alive(same_boot, fact->deadline_ms, local->batch.now, file);
    }
    (void)sqlite3_reset(stmt); /* The code was taken from the step. */
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int pawl__local_fact_of(struct pawl__local *local, uint64_t session,
                        struct pawl__local_fact **ret_fact)
{
    struct pawl__local_batch *batch = &local->batch;

    for (size_t i = batch->fact_count; i-- > 0;) {
        if (batch->facts[i].session == session) {
            *ret_fact = &batch->facts[i];
            return SQLITE_OK;
        }
    }
    if (batch->fact_count == batch->fact_cap) {
        size_t cap = batch->fact_cap == 0 ? 16 : 2 * batch->fact_cap;
        void *facts = pawl__realloc(batch->facts, cap * sizeof(*batch->facts));
        if (facts == NULL) {
            return SQLITE_NOMEM;
        }
        batch->facts = facts;
        batch->fact_cap = cap;
    }
    struct pawl__local_fact *fact = &batch->facts[batch->fact_count];
    memset(fact, 0, sizeof(*fact));
    fact->session = session;
    int rc = load_fact(local, fact);
    if (rc == SQLITE_OK) {
        batch->fact_count++;
        *ret_fact = fact;
    }
    return rc;
}

/* ---- The end of a session ---------------------------------------------------------------------
 */

static int delete_by_session(struct pawl__local *local, enum pawl__local_stmt which,
                             uint64_t session)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, which);

    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    pawl__local_bind_u64(stmt, 1, session);
    return pawl__local_store_run(stmt);
}

/* Whom the entries of a session that goes were in the way of. */
static int wake_waiters(struct pawl__local *local, uint64_t session)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_ENTRY_OF_SESSION);
    int rc = SQLITE_OK, step = SQLITE_DONE;

    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    pawl__local_bind_u64(stmt, 1, session);
    while (rc == SQLITE_OK && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        rc = name == NULL
                 ? SQLITE_NOMEM
                 : pawl__local_wake_later(local, name, pawl__local_column_u64(stmt, 1), session);
    }
    (void)sqlite3_reset(stmt); /* The code was taken from the step. */
    return rc == SQLITE_OK && step != SQLITE_DONE ? step : rc;
}

static int remove_session(struct pawl__local *local, uint64_t session, enum pawl__local_end how)
{
    struct pawl__local_fact *fact = NULL;

    int rc = wake_waiters(local, session);
    if (rc == SQLITE_OK) {
        rc = delete_by_session(local, PAWL__LOCAL_ENTRY_DELETE_SESSION, session);
    }
    if (rc == SQLITE_OK) {
        rc = delete_by_session(local, PAWL__LOCAL_MARK_DELETE_SESSION, session);
    }
    if (rc == SQLITE_OK) {
        rc = delete_by_session(local, PAWL__LOCAL_SESSION_DELETE, session);
    }
    if (rc == SQLITE_OK) {
        rc = pawl__local_fact_of(local, session, &fact);
    }
    if (rc == SQLITE_OK) {
        fact->exists = false;
        fact->lives = false;
        rc = pawl__local_note_ended(local, session, how);
    }
    return rc;
}

int pawl__local_reap(struct pawl__local *local, uint64_t session, enum pawl__local_end how)
{
    if (!local->batch.writes) {
        return PAWL__LOCAL_NEED_WRITE;
    }
    int rc = remove_session(local, session, how);
    if (rc == SQLITE_OK && how == PAWL__LOCAL_END_REAPED &&
        pawl__local_find_session(local, session) == NULL) {
        /* A process that was stopped reads it when it goes on. */
        rc = pawl__local_note_ring(local, session, 0, PAWL__LOCAL_RING_SESSION);
    }
    return rc;
}

int pawl__local_own_session(struct pawl__local *local, struct pawl__local_op *op,
                            struct pawl__local_session **ret_session)
{
    struct pawl__local_session *own = pawl__local_find_session(local, op->session);
    struct pawl__local_fact *fact = NULL;

    *ret_session = NULL;
    int rc = pawl__local_fact_of(local, op->session, &fact);
    if (rc != SQLITE_OK) {
        return rc;
    }
    if (own != NULL && fact->exists && fact->lives) {
        *ret_session = own;
        return SQLITE_OK;
    }
    bool was_there = fact->exists;
    if (was_there && !fact->lives) {
        rc = pawl__local_reap(local, op->session, PAWL__LOCAL_END_REAPED);
    } else if (own != NULL) {
        rc = pawl__local_note_ended(local, op->session, PAWL__LOCAL_END_REAPED);
    }
    if (rc == SQLITE_OK) {
        pawl__local_op_fail(op, PAWL_E_LOST, 0, "%s",
                            was_there ? "the session was not renewed in time"
                                      : "the session is not in the store any more");
    }
    return rc;
}

void pawl__local_drop_session(struct pawl__local *local, struct pawl__local_session *session)
{
    pawl__local_fd_close(local, &session->bell);
    pawl__local_fd_close(local, &session->fd);
    memset(session, 0, sizeof(*session));
    session->fd = -1;
    session->bell = -1;
}

void pawl__local_end_session(struct pawl__local *local, const struct pawl__local_ended *ended)
{
    struct pawl__local_session *own = pawl__local_find_session(local, ended->session);
    char path[PAWL__LOCAL_PATH_MAX];

    if (own != NULL) {
        pawl__local_drop_session(local, own);
    }
    /* What cannot be removed is swept later. */
    if (ended->how != PAWL__LOCAL_END_LEFT) {
        pawl__local_dir_path(path, local->dir.sessions, ended->session, "");
        (void)unlink(path);
    }
    pawl__local_dir_path(path, local->dir.bells, ended->session, "");
    (void)unlink(path);
    if (own != NULL && ended->how == PAWL__LOCAL_END_REAPED) {
        struct pawl__backend_event *hint = pawl__backend_event_new(PAWL__BEV_SESSION, 0);
        if (hint != NULL) {
            hint->session = ended->session;
            pawl__local_post(local, hint);
        }
    }
}

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
        pawl__local_op_fail(op, PAWL_E_UNAVAILABLE, code, "cannot make a session in %s: %s",
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

int pawl__local_run_open(struct pawl__local *local, struct pawl__local_op *op)
{
    struct pawl__local_session *session = pawl__local_find_session(local, op->session);
    struct pawl__local_fact *fact = NULL;

    int rc = pawl__local_fact_of(local, op->session, &fact);
    if (rc != SQLITE_OK) {
        return rc;
    }
    if (fact->exists) {
        /* A repeat: adopted if it is ours and alive. */
        rc = pawl__local_own_session(local, op, &session);
    } else if (session == NULL) {
        session = make_session(local, op);
    } else if (!is_in_place(local, session)) {
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
    int rc = delete_by_session(local, PAWL__LOCAL_SESSION_HEIRS, op->session);
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
