/* Sessions: who is alive, and what goes when one is not. The rows and the files of other processes
 * as well as of our own. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/local/local.h"
#include "base/alloc.h"

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

bool pawl__local_session_is_in_place(const struct pawl__local *local,
                                     const struct pawl__local_session *session)
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
        enum pawl__local_file_state file =
            own == NULL || own->fd < 0 ? pawl__local_file_test(&local->dir, fact->session)
            : pawl__local_session_is_in_place(local, own) ? PAWL__LOCAL_FILE_LOCKED
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

int pawl__local_run_by_session(struct pawl__local *local, enum pawl__local_stmt which,
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
        rc = pawl__local_run_by_session(local, PAWL__LOCAL_ENTRY_DELETE_SESSION, session);
    }
    if (rc == SQLITE_OK) {
        rc = pawl__local_run_by_session(local, PAWL__LOCAL_MARK_DELETE_SESSION, session);
    }
    if (rc == SQLITE_OK) {
        rc = pawl__local_run_by_session(local, PAWL__LOCAL_SESSION_DELETE, session);
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
