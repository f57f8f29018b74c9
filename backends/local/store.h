/* The database file: connections, statements, the gate, identity, numbers. One struct is one
 * connection, used by one thread at a time. README.md: schema and gate. */
#ifndef PAWL_BACKENDS_LOCAL_STORE_H
#define PAWL_BACKENDS_LOCAL_STORE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/local/dir.h"
#include <pawl/status.h>

#define PAWL__LOCAL_APPLICATION_ID 0x5041574C /* "PAWL" */
#define PAWL__LOCAL_LAYOUT         1
/* Numbers are reserved ahead, durably, in blocks: after a power loss they go on behind the block.
 */
#define PAWL__LOCAL_BLOCK (UINT64_C(1) << 20)

enum pawl__local_stmt {
    PAWL__LOCAL_BEGIN_READ,
    PAWL__LOCAL_BEGIN_WRITE,
    PAWL__LOCAL_COMMIT,
    PAWL__LOCAL_ROLLBACK,
    PAWL__LOCAL_DATA_VERSION,
    PAWL__LOCAL_META_GET,
    PAWL__LOCAL_META_NEXT,
    PAWL__LOCAL_META_RESERVE,
    PAWL__LOCAL_SESSION_GET,
    PAWL__LOCAL_SESSION_PUT,
    PAWL__LOCAL_SESSION_TOUCH,
    PAWL__LOCAL_SESSION_HEIRS,
    PAWL__LOCAL_SESSION_DELETE,
    PAWL__LOCAL_SESSION_ALL,
    PAWL__LOCAL_SESSION_NEXT,
    PAWL__LOCAL_ENTRY_OF_ATTEMPT,
    PAWL__LOCAL_ENTRY_OWN,
    PAWL__LOCAL_ENTRY_PUT,
    PAWL__LOCAL_ENTRY_NEAREST,
    PAWL__LOCAL_ENTRY_FIRST,
    PAWL__LOCAL_ENTRY_LATER,
    PAWL__LOCAL_ENTRY_AT,
    PAWL__LOCAL_ENTRY_HELD,
    PAWL__LOCAL_ENTRY_INFO,
    PAWL__LOCAL_ENTRY_OF_NUMBER,
    PAWL__LOCAL_ENTRY_OF_SESSION,
    PAWL__LOCAL_ENTRY_DELETE,
    PAWL__LOCAL_ENTRY_DELETE_NUMBER,
    PAWL__LOCAL_ENTRY_DELETE_SESSION,
    PAWL__LOCAL_MARK_ANY,
    PAWL__LOCAL_MARK_PUT,
    PAWL__LOCAL_MARK_OF_SESSION,
    PAWL__LOCAL_MARK_DELETE_NUMBER,
    PAWL__LOCAL_MARK_DELETE_SESSION,
    PAWL__LOCAL_BROKEN_PUT,
    PAWL__LOCAL_BROKEN_TRIM,
    PAWL__LOCAL_LIST_ALL,
    PAWL__LOCAL_LIST_NAME,
    PAWL__LOCAL_FORGET_ENTRIES,
    PAWL__LOCAL_FORGET_MARKS,
    PAWL__LOCAL_FORGET_SESSIONS,
    PAWL__LOCAL_STMT_COUNT
};

struct pawl__local_store {
    const struct pawl__local_dir *dir;           /* borrowed */
    sqlite3 *db;                                 /* owned */
    sqlite3_stmt *stmts[PAWL__LOCAL_STMT_COUNT]; /* owned; prepared at first use */
    dev_t dev;                                   /* of the database file when it was opened */
    ino_t ino;
    int wal_pages;     /* after our last commit */
    int checkpoint_at; /* so many make it worth it */
    int busy_max_ms;   /* patience with foreign programs that lock the database */
    int busy_ms;       /* used up in the present call */
};

struct pawl__local_identity {
    char store_id[17];
    uint64_t epoch;
};

/* Opens the database, making it first if it is not there; `gate` as for pawl__local_store_make().
 * *store is to be released only on success. E_STORE: not ours, damaged, of a newer layout. */
pawl_status pawl__local_store_open(struct pawl__local_store *store,
                                   const struct pawl__local_dir *dir, int64_t timeout_ms,
                                   struct pawl__local_identity *ret_identity, pawl_error *err);

/* Never checkpoints. A zeroed struct is fine. */
void pawl__local_store_release(struct pawl__local_store *store);

/* Makes the database complete beside its place and renames it, under the gate. Returns OK also when
 * another process was faster. Waits at most `timeout_ms` for the gate. */
pawl_status pawl__local_store_make(const struct pawl__local_dir *dir, int64_t timeout_ms,
                                   pawl_error *err);

/* Whether the file at our path is still the one we have open. */
bool pawl__local_store_is_in_place(const struct pawl__local_store *store);

/* The statement, reset and without bindings; NULL if it cannot be prepared (pawl__local_store_code
 * tells why). */
sqlite3_stmt *pawl__local_store_stmt(struct pawl__local_store *store, enum pawl__local_stmt which);

/* Runs a bound statement that gives no row. SQLITE_OK or an extended code. */
int pawl__local_store_run(sqlite3_stmt *stmt);

/* The same for one without parameters. */
int pawl__local_store_do(struct pawl__local_store *store, enum pawl__local_stmt which);

/* How much a commit waits for the disk: NORMAL keeps the order, FULL keeps the commit itself after
 * a power loss. Outside of transactions only. */
int pawl__local_store_set_full(struct pawl__local_store *store, bool full);

/* Extended code of the last failure, never SQLITE_OK. */
int pawl__local_store_code(const struct pawl__local_store *store);

/* Frames in the WAL (4 MB) that make a checkpoint worth its syncs while a process works; and a much
 * smaller number when it ends: if it is the last one, the next must read them all when it opens. */
#define PAWL__LOCAL_CHECKPOINT_PAGES     1000
#define PAWL__LOCAL_CHECKPOINT_END_PAGES 128

/* Moves the frames of the WAL into the database, so that the next write can begin it anew; with
 * `empty` it is emptied too, if nobody is reading just now: a process that opens the store as the
 * only one reads every frame that it finds. Gate held. */
void pawl__local_store_checkpoint(struct pawl__local_store *store, bool empty);

/* A file that is only there to be removed when the disk is full, so that locks can still be
 * released. */
void pawl__local_ballast_make(const struct pawl__local_dir *dir);
void pawl__local_ballast_drop(const struct pawl__local_dir *dir);

/* ---- Values. Ids are 64 random bits: the sign is only SQLite's view of them. ---- */

static inline void pawl__local_bind_u64(sqlite3_stmt *stmt, int at, uint64_t value)
{
    (void)sqlite3_bind_int64(stmt, at, (sqlite3_int64)value); /* Fails only for a wrong index. */
}

static inline uint64_t pawl__local_column_u64(sqlite3_stmt *stmt, int at)
{
    return (uint64_t)sqlite3_column_int64(stmt, at);
}

/* `text` must live until the statement is reset; reports no memory when it runs. */
static inline void pawl__local_bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
    (void)sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC); /* As above. */
}

/* ---- The VFS that loses what was not synced; NULL = SQLite's own. ---- */

#ifdef PAWL_FAULT_POINTS
extern const char *pawl__local_test_vfs; /* set by vfs_test.c before the first open */
#define PAWL__LOCAL_VFS pawl__local_test_vfs
#else
#define PAWL__LOCAL_VFS NULL
#endif

#endif
