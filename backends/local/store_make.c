/* Makes the database of a new store. It is complete before it has its name, so that nobody ever
 * opens a half-made one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/local/boot.h"
#include "backends/local/fault.h"
#include "backends/local/gate.h"
#include "backends/local/store.h"
#include "base/clock.h"
#include "base/rand.h"
#include "base/text.h"
#include "core/error.h"

#define NEW_SUFFIX ".new"

/* Small pages: an entry is 100 to 300 bytes, and each commit writes every page that it touched. */
static const char schema[] =
    "PRAGMA page_size=2048;"
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=FULL;"
    "BEGIN IMMEDIATE;"
    "CREATE TABLE meta(one INTEGER PRIMARY KEY CHECK (one = 1), store_id TEXT NOT NULL,"
    " epoch INTEGER NOT NULL, layout INTEGER NOT NULL, created INTEGER NOT NULL,"
    " boot_id TEXT NOT NULL, next INTEGER NOT NULL, reserved INTEGER NOT NULL);"
    "CREATE TABLE session(id INTEGER PRIMARY KEY, boot_id TEXT NOT NULL, deadline INTEGER,"
    " ttl INTEGER NOT NULL, pid INTEGER NOT NULL, owner TEXT NOT NULL, heirs INTEGER NOT NULL);"
    "CREATE TABLE entry(name TEXT NOT NULL, number INTEGER NOT NULL, session INTEGER NOT NULL,"
    " attempt INTEGER NOT NULL, mode INTEGER NOT NULL, payload TEXT NOT NULL,"
    " PRIMARY KEY (name, number)) WITHOUT ROWID;"
    "CREATE UNIQUE INDEX entry_owner ON entry(session, attempt, name);"
    "CREATE INDEX entry_number ON entry(number, session);"
    "CREATE TABLE mark(number INTEGER PRIMARY KEY, session INTEGER NOT NULL, by TEXT NOT NULL,"
    " reason TEXT NOT NULL);"
    "CREATE TABLE broken(id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL,"
    " name TEXT NOT NULL, number INTEGER NOT NULL, session INTEGER NOT NULL, by TEXT NOT NULL,"
    " reason TEXT NOT NULL, now INTEGER NOT NULL);";

/* `path` with `suffix`; false = too long. */
static bool join(char out[PAWL__LOCAL_PATH_MAX], const char *path, const char *suffix)
{
    int len = snprintf(out, PAWL__LOCAL_PATH_MAX, "%s%s", path, suffix);

    return len > 0 && len < PAWL__LOCAL_PATH_MAX;
}

static int fill(sqlite3 *db, const char *boot_id)
{
    char text[sizeof(schema) + 512];
    char store_id[17];
    uint64_t id = 0;

    if (!pawl__random_bytes(&id, sizeof(id))) {
        return SQLITE_IOERR;
    }
    pawl__hex_u64(store_id, id);
    (void)snprintf(text, sizeof(text),
                   "%sINSERT INTO meta VALUES (1, '%s', 1, %d, %lld, '%s', 1, %llu);"
                   "PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT;",
                   schema, store_id, PAWL__LOCAL_LAYOUT, (long long)pawl__wall_ms(), boot_id,
                   (unsigned long long)PAWL__LOCAL_BLOCK, PAWL__LOCAL_APPLICATION_ID,
                   PAWL__LOCAL_LAYOUT);
    return sqlite3_exec(db, text, NULL, NULL, NULL);
}

/* A WAL of an older database of this name would be taken for the new one's. */
static void unlink_all(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char victim[PAWL__LOCAL_PATH_MAX];

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (join(victim, path, suffixes[i])) {
            (void)unlink(victim); /* Mostly not there. */
        }
    }
}

static int sync_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0) {
        return errno;
    }
    int code = fsync(fd) == 0 ? 0 : errno;
    (void)close(fd);
    return code;
}

static pawl_status build(const struct pawl__local_dir *dir, const char *path, const char *boot_id,
                         pawl_error *err)
{
    sqlite3 *db = NULL;

    int rc = sqlite3_open_v2(
        path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK) {
        rc = fill(db, boot_id);
    }
    if (rc != SQLITE_OK) {
        pawl_status status =
            (rc & 0xff) == SQLITE_CANTOPEN ? PAWL_E_PERMISSION : PAWL_E_UNAVAILABLE;
        (void)pawl__error_set(err, status, rc, "cannot make the store in %s: %s (SQLite code %d)",
                              dir->path, sqlite3_errmsg(db), rc);
        (void)sqlite3_close(db);
        return status;
    }
    /* The last connection moves the whole WAL into the file and removes it. */
    rc = sqlite3_close(db);
    if (rc != SQLITE_OK || chmod(path, dir->file_mode) != 0) {
        return pawl__error_set(err, PAWL_E_UNAVAILABLE, errno, "cannot make the store in %s",
                               dir->path);
    }
    return PAWL_OK;
}

/* Gate held. */
static pawl_status make(const struct pawl__local_dir *dir, pawl_error *err)
{
    char path[PAWL__LOCAL_PATH_MAX];
    char boot_id[PAWL__LOCAL_BOOT_ID_SIZE];
    struct stat st;

    if (stat(dir->db, &st) == 0) {
        return PAWL_OK;
    }
    int code = pawl__local_dir_make_inner(dir);
    if (code != 0) {
        return pawl__error_set(err, PAWL_E_UNAVAILABLE, code, "cannot make directories in %s: %s",
                               dir->path, strerror(code));
    }
    if (!pawl__local_boot_id(boot_id) || !join(path, dir->db, NEW_SUFFIX)) {
        return pawl__error_set(err, PAWL_E_UNAVAILABLE, 0, "the kernel tells no boot id");
    }
    unlink_all(path);
    pawl_status status = build(dir, path, boot_id, err);
    if (status != PAWL_OK) {
        unlink_all(path);
        return status;
    }
    pawl__fault_point("local.make.rename");
    unlink_all(dir->db);
    pawl__local_ballast_make(dir);
    if (rename(path, dir->db) != 0 || (code = sync_directory(dir->path)) != 0) {
        code = code != 0 ? code : errno;
        return pawl__error_set(err, PAWL_E_UNAVAILABLE, code, "cannot make the store %s: %s",
                               dir->db, strerror(code));
    }
    return PAWL_OK;
}

pawl_status pawl__local_store_make(const struct pawl__local_dir *dir, int64_t timeout_ms,
                                   pawl_error *err)
{
    int fd = pawl__local_gate_open(dir);
    int code = fd < 0 ? errno : pawl__local_gate_enter_timed(fd, dir, timeout_ms);

    if (code != 0) {
        pawl_status status =
            code == EACCES || code == EPERM ? PAWL_E_PERMISSION : PAWL_E_UNAVAILABLE;
        (void)pawl__error_set(err, status, code, "cannot make the store in %s: gate: %s", dir->path,
                              strerror(code));
    }
    pawl_status status = code == 0 ? make(dir, err) : PAWL_E_UNAVAILABLE;
    if (code == EACCES || code == EPERM) {
        status = PAWL_E_PERMISSION;
    }
    if (code == 0) {
        pawl__local_gate_leave(fd);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return status;
}
