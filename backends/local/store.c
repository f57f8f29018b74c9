/* See store.h. */
#include "backends/local/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backends/local/fault.h"
#include "base/assert.h"
#include "core/error.h"

/* Enough for a checkpoint of what deletions write. */
#define BALLAST_SIZE ((off_t)256 * 1024)

static const char *const sql[PAWL__LOCAL_STMT_COUNT] = {
    [PAWL__LOCAL_BEGIN_READ] = "BEGIN",
    [PAWL__LOCAL_BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [PAWL__LOCAL_COMMIT] = "COMMIT",
    [PAWL__LOCAL_ROLLBACK] = "ROLLBACK",
    [PAWL__LOCAL_DATA_VERSION] = "PRAGMA data_version",
    [PAWL__LOCAL_META_GET] = "SELECT boot_id, next, reserved FROM meta",
    [PAWL__LOCAL_META_NEXT] = "UPDATE meta SET next = ?1",
    [PAWL__LOCAL_META_RESERVE] = "UPDATE meta SET boot_id = ?1, next = ?2, reserved = ?3",
    [PAWL__LOCAL_SESSION_GET] = "SELECT boot_id, deadline, ttl FROM session WHERE id = ?1",
    [PAWL__LOCAL_SESSION_PUT] =
        "INSERT OR REPLACE INTO session(id, boot_id, deadline, ttl, pid, owner, heirs)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0)",
    [PAWL__LOCAL_SESSION_TOUCH] = "UPDATE session SET deadline = ?2 WHERE id = ?1",
    [PAWL__LOCAL_SESSION_HEIRS] = "UPDATE session SET heirs = 1, deadline = NULL WHERE id = ?1",
    [PAWL__LOCAL_SESSION_DELETE] = "DELETE FROM session WHERE id = ?1",
    [PAWL__LOCAL_SESSION_ALL] = "SELECT id, deadline FROM session",
    [PAWL__LOCAL_SESSION_NEXT] = "SELECT id FROM session WHERE id > ?1 ORDER BY id LIMIT 1",
    [PAWL__LOCAL_ENTRY_OF_ATTEMPT] =
        "SELECT number FROM entry WHERE session = ?1 AND attempt = ?2 LIMIT 1",
    [PAWL__LOCAL_ENTRY_OWN] =
        "SELECT number FROM entry WHERE session = ?1 AND attempt = ?2 AND name = ?3",
    [PAWL__LOCAL_ENTRY_PUT] = "INSERT INTO entry(name, number, session, attempt, mode, payload)"
                              " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [PAWL__LOCAL_ENTRY_NEAREST] = "SELECT number, session, mode FROM entry"
                                  " WHERE name = ?1 AND number < ?2 ORDER BY number DESC",
    [PAWL__LOCAL_ENTRY_FIRST] = "SELECT number, session, mode FROM entry"
                                " WHERE name = ?1 AND number < ?2 ORDER BY number",
    [PAWL__LOCAL_ENTRY_LATER] = "SELECT number, session, mode FROM entry"
                                " WHERE name = ?1 AND number > ?2 ORDER BY number",
    [PAWL__LOCAL_ENTRY_AT] = "SELECT session FROM entry WHERE name = ?1 AND number = ?2",
    [PAWL__LOCAL_ENTRY_HELD] = "SELECT 1 FROM entry WHERE number = ?1 AND session = ?2",
    [PAWL__LOCAL_ENTRY_INFO] = "SELECT e.session, e.attempt, e.mode, e.payload, s.deadline, s.ttl,"
                               " EXISTS (SELECT 1 FROM mark m WHERE m.number = e.number)"
                               " FROM entry e LEFT JOIN session s ON s.id = e.session"
                               " WHERE e.name = ?1 AND e.number = ?2",
    [PAWL__LOCAL_ENTRY_OF_NUMBER] = "SELECT name, session FROM entry WHERE number = ?1",
    [PAWL__LOCAL_ENTRY_OF_SESSION] = "SELECT name, number FROM entry WHERE session = ?1",
    [PAWL__LOCAL_ENTRY_DELETE] = "DELETE FROM entry WHERE name = ?1 AND number = ?2"
                                 " AND session = ?3 AND attempt = ?4",
    [PAWL__LOCAL_ENTRY_DELETE_NUMBER] = "DELETE FROM entry WHERE number = ?1",
    [PAWL__LOCAL_ENTRY_DELETE_SESSION] = "DELETE FROM entry WHERE session = ?1",
    [PAWL__LOCAL_MARK_ANY] = "SELECT EXISTS (SELECT 1 FROM mark)",
    [PAWL__LOCAL_MARK_PUT] = "INSERT OR REPLACE INTO mark(number, session, by, reason)"
                             " VALUES (?1, ?2, ?3, ?4)",
    [PAWL__LOCAL_MARK_OF_SESSION] = "SELECT number, by, reason FROM mark WHERE session = ?1",
    [PAWL__LOCAL_MARK_DELETE_NUMBER] = "DELETE FROM mark WHERE number = ?1",
    [PAWL__LOCAL_MARK_DELETE_SESSION] = "DELETE FROM mark WHERE session = ?1",
    [PAWL__LOCAL_BROKEN_PUT] = "INSERT INTO broken(at, name, number, session, by, reason, now)"
                               " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [PAWL__LOCAL_BROKEN_TRIM] =
        "DELETE FROM broken WHERE id <= (SELECT max(id) FROM broken) - 1000",
    [PAWL__LOCAL_LIST_ALL] =
        "SELECT e.name, e.number, e.session, e.attempt, e.mode, e.payload,"
        " s.boot_id, s.deadline, EXISTS (SELECT 1 FROM mark m WHERE m.number = e.number)"
        " FROM entry e LEFT JOIN session s ON s.id = e.session ORDER BY e.name, e.number",
    [PAWL__LOCAL_LIST_NAME] =
        "SELECT e.name, e.number, e.session, e.attempt, e.mode, e.payload,"
        " s.boot_id, s.deadline, EXISTS (SELECT 1 FROM mark m WHERE m.number = e.number)"
        " FROM entry e LEFT JOIN session s ON s.id = e.session WHERE e.name = ?1"
        " ORDER BY e.number",
    [PAWL__LOCAL_FORGET_ENTRIES] = "DELETE FROM entry",
    [PAWL__LOCAL_FORGET_MARKS] = "DELETE FROM mark",
    [PAWL__LOCAL_FORGET_SESSIONS] = "DELETE FROM session",
};

#ifdef PAWL_FAULT_POINTS
const char *pawl__local_test_vfs;
#endif

/* ---- Statements -------------------------------------------------------------------------------
 */

int pawl__local_store_code(const struct pawl__local_store *store)
{
    int code = sqlite3_extended_errcode(store->db);

    return code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_ERROR : code;
}

sqlite3_stmt *pawl__local_store_stmt(struct pawl__local_store *store, enum pawl__local_stmt which)
{
    pawl__assert(which < PAWL__LOCAL_STMT_COUNT);
    sqlite3_stmt **stmt = &store->stmts[which];
    if (*stmt == NULL) {
        (void)sqlite3_prepare_v3(store->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
        return *stmt;
    }
    (void)sqlite3_reset(*stmt); /* Repeats the failure of the last run, which was seen then. */
    return *stmt;
}

int pawl__local_store_run(sqlite3_stmt *stmt)
{
    int rc = sqlite3_step(stmt);

    if (rc == SQLITE_ROW) {
        rc = SQLITE_DONE; /* A pragma that tells the new value. */
    }
    (void)sqlite3_reset(stmt); /* The code was taken from the step. */
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int pawl__local_store_do(struct pawl__local_store *store, enum pawl__local_stmt which)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(store, which);

    return stmt != NULL ? pawl__local_store_run(stmt) : pawl__local_store_code(store);
}

int pawl__local_store_set_full(struct pawl__local_store *store, bool full)
{
    /* Not a kept statement: this pragma works when it is compiled, not when it is run. */
    return sqlite3_exec(store->db, full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL",
                        NULL, NULL, NULL);
}

/* ---- Opening ----------------------------------------------------------------------------------
 */

/* Nobody of ours locks the database outside the gate, but WAL recovery of another process that
 * opens, or a person with the sqlite3 shell, may be in the way for a moment. */
static int wait_while_busy(void *ctx, int count)
{
    struct pawl__local_store *store = ctx;
    struct timespec pause = {0, 1000000};

    store->busy_ms = count == 0 ? 0 : store->busy_ms + 1;
    if (store->busy_ms >= store->busy_max_ms) {
        return 0;
    }
    (void)nanosleep(&pause, NULL); /* Woken early is as good. */
    return 1;
}

static int note_wal_pages(void *ctx, sqlite3 *db, const char *schema, int pages)
{
    struct pawl__local_store *store = ctx;

    (void)db;
    (void)schema;
    if (pages < store->wal_pages) {
        store->checkpoint_at = PAWL__LOCAL_CHECKPOINT_PAGES; /* It began anew. */
    }
    store->wal_pages = pages;
    return SQLITE_OK;
}

static int configure(struct pawl__local_store *store)
{
    (void)sqlite3_extended_result_codes(store->db, 1);
    (void)sqlite3_busy_handler(store->db, wait_while_busy, store);
    (void)sqlite3_wal_hook(store->db, note_wal_pages, store); /* Replaces automatic checkpoints. */
    int rc = sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    }
    return rc;
}

static int read_int(struct pawl__local_store *store, const char *text, int64_t *ret_value)
{
    sqlite3_stmt *stmt = NULL;

    int rc = sqlite3_prepare_v2(store->db, text, -1, &stmt, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_step(stmt);
        *ret_value = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
        rc = rc == SQLITE_ROW ? SQLITE_OK : rc;
    }
    (void)sqlite3_finalize(stmt);
    return rc;
}

static pawl_status fail_open(const struct pawl__local_store *store, int rc, pawl_error *err)
{
    pawl_status status = PAWL_E_UNAVAILABLE;
    int primary = rc & 0xff;

    if (primary == SQLITE_NOTADB || primary == SQLITE_CORRUPT || primary == SQLITE_ERROR) {
        status = PAWL_E_STORE;
    } else if (primary == SQLITE_PERM || primary == SQLITE_READONLY || primary == SQLITE_AUTH) {
        status = PAWL_E_PERMISSION;
    } else if (primary == SQLITE_NOMEM) {
        status = PAWL_E_NOMEM;
    }
    return pawl__error_set(err, status, rc, "cannot open the store %s: %s (SQLite code %d)",
                           store->dir->db, sqlite3_errmsg(store->db), rc);
}

static pawl_status check_version(struct pawl__local_store *store, pawl_error *err)
{
    int64_t application = 0, layout = 0;

    int rc = read_int(store, "PRAGMA application_id", &application);
    if (rc == SQLITE_OK) {
        rc = read_int(store, "PRAGMA user_version", &layout);
    }
    if (rc != SQLITE_OK) {
        return fail_open(store, rc, err);
    }
    if (application != PAWL__LOCAL_APPLICATION_ID) {
        return pawl__error_set(err, PAWL_E_STORE, 0,
                               "%s is not a store of pawl; use another "
                               "directory: local:///dir",
                               store->dir->db);
    }
    if (layout > PAWL__LOCAL_LAYOUT) {
        return pawl__error_set(err, PAWL_E_STORE, 0,
                               "the store %s has layout %lld, this pawl knows up to %d: upgrade "
                               "pawl",
                               store->dir->db, (long long)layout, PAWL__LOCAL_LAYOUT);
    }
    return PAWL_OK;
}

static pawl_status read_identity(struct pawl__local_store *store,
                                 struct pawl__local_identity *ret_identity, pawl_error *err)
{
    sqlite3_stmt *stmt = NULL;

    int rc = sqlite3_prepare_v2(store->db, "SELECT store_id, epoch FROM meta", -1, &stmt, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_step(stmt);
    }
    const char *id = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    bool is_complete = id != NULL && strlen(id) == sizeof(ret_identity->store_id) - 1;
    if (is_complete) {
        memcpy(ret_identity->store_id, id, sizeof(ret_identity->store_id));
        ret_identity->epoch = pawl__local_column_u64(stmt, 1);
    }
    (void)sqlite3_finalize(stmt);
    if (is_complete) {
        return PAWL_OK;
    }
    return fail_open(store, rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_CORRUPT : rc, err);
}

static pawl_status connect_store(struct pawl__local_store *store,
                                 struct pawl__local_identity *ret_identity, pawl_error *err)
{
    int rc = sqlite3_open_v2(store->dir->db, &store->db,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, PAWL__LOCAL_VFS);
    if (rc == SQLITE_OK) {
        rc = configure(store);
    }
    if (rc == SQLITE_OK && pawl__fault_point("local.open")) {
        rc = SQLITE_IOERR;
    }
    if (rc != SQLITE_OK) {
        return fail_open(store, rc, err);
    }
    pawl_status status = check_version(store, err);
    if (status == PAWL_OK) {
        status = read_identity(store, ret_identity, err);
    }
    if (status != PAWL_OK) {
        return status;
    }
    rc = pawl__local_store_set_full(store, false);
    return rc == SQLITE_OK ? PAWL_OK : fail_open(store, rc, err);
}

pawl_status pawl__local_store_open(struct pawl__local_store *store,
                                   const struct pawl__local_dir *dir, int64_t timeout_ms,
                                   struct pawl__local_identity *ret_identity, pawl_error *err)
{
    struct stat st;

    memset(store, 0, sizeof(*store));
    store->dir = dir;
    store->checkpoint_at = PAWL__LOCAL_CHECKPOINT_PAGES;
    store->busy_max_ms = timeout_ms > INT32_MAX ? INT32_MAX : (int)timeout_ms;
    if (stat(dir->db, &st) != 0) {
        pawl_status status = errno == ENOENT
                                 ? pawl__local_store_make(dir, timeout_ms, err)
                                 : pawl__error_set(err, PAWL_E_UNAVAILABLE, errno, "stat %s: %s",
                                                   dir->db, strerror(errno));
        if (status != PAWL_OK) {
            return status;
        }
        if (stat(dir->db, &st) != 0) {
            return pawl__error_set(err, PAWL_E_UNAVAILABLE, errno,
                                   "the store %s was removed while it was opened", dir->db);
        }
    }
    store->dev = st.st_dev;
    store->ino = st.st_ino;
    pawl_status status = connect_store(store, ret_identity, err);
    if (status == PAWL_OK && !pawl__local_store_is_in_place(store)) {
        status = pawl__error_set(err, PAWL_E_UNAVAILABLE, 0,
                                 "the store %s was replaced while it was opened", dir->db);
    }
    if (status != PAWL_OK) {
        pawl__local_store_release(store);
    }
    return status;
}

void pawl__local_store_release(struct pawl__local_store *store)
{
    for (size_t i = 0; i < PAWL__LOCAL_STMT_COUNT; i++) {
        (void)sqlite3_finalize(store->stmts[i]); /* Its failure was seen when it ran. */
        store->stmts[i] = NULL;
    }
    int rc = sqlite3_close(store->db);
    pawl__assert(rc == SQLITE_OK);
    (void)rc; /* Only asserted. */
    store->db = NULL;
}

bool pawl__local_store_is_in_place(const struct pawl__local_store *store)
{
    struct stat st;

    return stat(store->dir->db, &st) == 0 && st.st_dev == store->dev && st.st_ino == store->ino;
}

void pawl__local_store_checkpoint(struct pawl__local_store *store, bool empty)
{
    int pages = 0, patience = store->busy_max_ms;

    /* To empty the file would mean to wait for readers: without patience it does all but that. A
     * failure leaves the WAL longer than we like, and the next checkpoint comes soon. */
    store->busy_max_ms = 0;
    (void)sqlite3_wal_checkpoint_v2(store->db, NULL,
                                    empty ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE,
                                    &pages, NULL);
    store->busy_max_ms = patience;
    store->wal_pages = pages > 0 ? pages : 0;
    store->checkpoint_at = store->wal_pages + PAWL__LOCAL_CHECKPOINT_PAGES;
    pawl__fault_point("local.checkpoint.after");
}

void pawl__local_ballast_make(const struct pawl__local_dir *dir)
{
    int fd = open(dir->ballast, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, dir->file_mode);

    if (fd < 0) {
        return; /* It is there, or cannot be now. */
    }
    if (posix_fallocate(fd, 0, BALLAST_SIZE) != 0) {
        (void)unlink(dir->ballast);
    }
    (void)close(fd); /* Nothing was written. */
}

void pawl__local_ballast_drop(const struct pawl__local_dir *dir)
{
    (void)unlink(dir->ballast); /* Perhaps another process was faster. */
}
