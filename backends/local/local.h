/* Internals of the local backend. README.md: states, invariants, lock order.
 *
 * Threads. Members are called by any thread; they copy their arguments into an op and queue it. The
 * writer thread owns the database connection, the sessions and the watches, and runs ops in
 * batches. The reader thread has a connection of its own and answers `list`. Both are started with
 * the first op that needs them. */
#ifndef PAWL_BACKENDS_LOCAL_LOCAL_H
#define PAWL_BACKENDS_LOCAL_LOCAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/backend.h"
#include "backends/local/boot.h"
#include "backends/local/dir.h"
#include "backends/local/store.h"
#include "base/clock.h"
#include "base/table.h"

/* Sessions of one client that are alive at once: one, a second while a lost one is replaced. */
#define PAWL__LOCAL_SESSIONS_MAX 16
/* Ops of one transaction. More make each wait longer and the commits no cheaper. */
#define PAWL__LOCAL_BATCH_MAX 256
/* Poll behind bells and inotify, while something is watched. */
#define PAWL__LOCAL_POLL_MS 1000
/* Descriptors that a forked child has to close. */
#define PAWL__LOCAL_FDS_MAX (2 * PAWL__LOCAL_SESSIONS_MAX + 4)

/* Result of functions that run in a transaction: an SQLite code, or this. */
#define PAWL__LOCAL_NEED_WRITE (-1) /* a read transaction met what has to be written: again */

struct pawl__local;

/* ---- Ops (op.c) ------------------------------------------------------------------------------ */

enum pawl__local_kind {
    PAWL__LOCAL_OP_OPEN = 1,
    PAWL__LOCAL_OP_RENEW,
    PAWL__LOCAL_OP_CLOSE,
    PAWL__LOCAL_OP_ENQUEUE,
    PAWL__LOCAL_OP_LOOK,
    PAWL__LOCAL_OP_REMOVE,
    PAWL__LOCAL_OP_MARK,
    PAWL__LOCAL_OP_LIST,
    PAWL__LOCAL_OP_WATCH,
    PAWL__LOCAL_OP_UNWATCH,
    PAWL__LOCAL_OP_REAP, /* our own: look whether `session` is dead, and remove it */
};

/* What an op needs of the store. */
enum pawl__local_need {
    PAWL__LOCAL_NEEDS_NOTHING,
    PAWL__LOCAL_NEEDS_READ,
    PAWL__LOCAL_NEEDS_WRITE,
};

/* One block of memory with everything in it; what it points to lies behind it. */
struct pawl__local_op {
    struct pawl__local_op *next;
    enum pawl__local_kind kind;
    bool flag;  /* OPEN: -; CLOSE: bequeath; ENQUEUE: only_if_free; LOOK: settle; MARK: now */
    bool flag2; /* LOOK: position */
    uint64_t session;
    uint64_t attempt;
    uint64_t number;
    int64_t ttl_ms;
    const char *name; /* LIST: NULL = all */
    const char *text; /* ENQUEUE: payload; MARK: reason */
    const char *by;
    struct pawl__want *wants;
    size_t count;
    uint64_t *held;
    struct pawl__backend_event *event; /* owned; the answer; NULL where there is none */
    struct pawl__local_watch *watch;   /* owned; WATCH */
    uint64_t watch_id;                 /* UNWATCH */
};

struct pawl__local_queue {
    struct pawl__local_op *first;
    struct pawl__local_op *last;
};

/* NULL without memory; the members are zero, `event` is made for `event_kind` (0 = none). */
struct pawl__local_op *pawl__local_op_new(enum pawl__local_kind kind, size_t extra);
void pawl__local_op_free(struct pawl__local_op *op);
enum pawl__local_need pawl__local_op_need(const struct pawl__local_op *op);
void pawl__local_queue_push(struct pawl__local_queue *queue, struct pawl__local_op *op);
struct pawl__local_op *pawl__local_queue_pop(struct pawl__local_queue *queue);
/* Takes back what a run wrote into the answer, so that the op can run again or fail. */
void pawl__local_op_rewind(struct pawl__local_op *op);
/* Refuses: an answer without data. `status` also E_TIMEOUT? no: that keeps its views. */
void pawl__local_op_fail(struct pawl__local_op *op, pawl_status status, int code,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

pawl_status pawl__local_session_open(void *state, uint64_t op, uint64_t session, int64_t ttl_ms);
pawl_status pawl__local_session_renew(void *state, uint64_t op, uint64_t session,
                                      const uint64_t *held, size_t held_count);
pawl_status pawl__local_session_close(void *state, uint64_t op, uint64_t session, bool bequeath);
pawl_status pawl__local_enqueue(void *state, uint64_t op, const struct pawl__enqueue *enqueue);
pawl_status pawl__local_look(void *state, uint64_t op, const struct pawl__look *look);
pawl_status pawl__local_remove(void *state, uint64_t op, const struct pawl__remove *remove);
pawl_status pawl__local_mark(void *state, uint64_t op, const struct pawl__mark_request *mark);
pawl_status pawl__local_list(void *state, uint64_t op, const char *name);
pawl_status pawl__local_watch(void *state, uint64_t watch, const char *name, uint64_t number);
void pawl__local_unwatch(void *state, uint64_t watch);

/* ---- Sessions (session.c) -------------------------------------------------------------------- */

/* One of our own. */
struct pawl__local_session {
    uint64_t id; /* 0 = free slot */
    int fd;      /* owned; locked for life; -1 once it is closed for heirs */
    int bell;    /* owned; -1 = none */
    dev_t dev;
    ino_t ino;
    int64_t ttl_ms;
};

/* What a batch knows of a session, ours or not. */
struct pawl__local_fact {
    uint64_t session;
    bool exists; /* has a row */
    bool lives;
    int64_t deadline_ms; /* BOOTTIME; 0 = none */
    int64_t ttl_ms;
};

enum pawl__local_file_state {
    PAWL__LOCAL_FILE_LOCKED = 1, /* also if it could not be tested: then it must count as alive */
    PAWL__LOCAL_FILE_FREE,
    PAWL__LOCAL_FILE_MISSING,
};

/* Whether some process holds the session file. Any thread. */
enum pawl__local_file_state pawl__local_file_test(const struct pawl__local_dir *dir,
                                                  uint64_t session);

/* Pure rule of liveness; `deadline_ms` 0 = none. README.md, "Who is alive". */
bool pawl__local_is_alive(bool same_boot, int64_t deadline_ms, struct pawl__boot now,
                          enum pawl__local_file_state file);

/* ---- Watches (watch.c) ----------------------------------------------------------------------- */

/* A session of another process that a watched entry belongs to. */
struct pawl__local_peer {
    uint64_t session;
    int wd; /* of inotify; -1 = none: only the poll sees its death */
    size_t watches;
    int64_t deadline_ms; /* when to look whether it was renewed; 0 = it has no ttl */
    bool asked;          /* a REAP is queued */
};

struct pawl__local_watch {
    uint64_t id;
    uint64_t number;
    struct pawl__local_watch *next;    /* of the same number */
    struct pawl__local_peer *peer;     /* borrowed; NULL = a session of this client */
    struct pawl__backend_event *event; /* owned; the hint, ready to go */
    char name[];
};

struct pawl__local_watches {
    struct pawl__table by_id;
    struct pawl__table by_number; /* first of the chain */
    struct pawl__table peers;     /* by session; values owned */
    struct pawl__table by_wd;     /* wd + 1 -> peer */
    int inotify;                  /* owned; -1 = not made or not to be had */
    bool no_inotify;
    int64_t next_poll_ms; /* of the host's clock */
    int64_t data_version; /* of the last poll */
};

/* ---- A batch (batch.c) ----------------------------------------------------------------------- */

enum pawl__local_ring_reason {
    PAWL__LOCAL_RING_GONE = 1, /* the entry `number` is gone */
    PAWL__LOCAL_RING_OWN,      /* an own entry `number` was removed */
    PAWL__LOCAL_RING_SESSION,  /* renew now */
};

struct pawl__local_ring {
    uint64_t session;
    uint64_t number;
    uint32_t reason;
};

enum pawl__local_end {
    PAWL__LOCAL_END_CLOSED = 1, /* by its owner: files go */
    PAWL__LOCAL_END_REAPED,     /* found dead: files go; if it was ours, the core is told */
    PAWL__LOCAL_END_LEFT,       /* to heirs: the session file stays */
};

struct pawl__local_ended {
    uint64_t session;
    enum pawl__local_end how;
};

/* A transaction under way, and what is to be done once it is committed. Writer thread only. The
 * arrays are kept from batch to batch. */
struct pawl__local_batch {
    bool writes;
    struct pawl__boot now;
    uint64_t next; /* number for the next enqueue */
    bool used_number;
    int any_marks; /* -1 = not yet known */

    struct pawl__local_fact *facts; /* owned */
    size_t fact_count, fact_cap;
    uint64_t *gone; /* owned; numbers whose watches fire */
    size_t gone_count, gone_cap;
    struct pawl__local_ring *rings; /* owned */
    size_t ring_count, ring_cap;
    struct pawl__local_ended *ended; /* owned */
    size_t ended_count, ended_cap;
};

/* ---- The state ------------------------------------------------------------------------------- */

struct pawl__local {
    /* Immutable after open. */
    struct pawl__local_dir dir;
    struct pawl__local_identity identity;
    char boot_id[PAWL__LOCAL_BOOT_ID_SIZE];
    char *principal; /* owned */
    int64_t request_timeout_ms;
    int wake; /* owned; eventfd of the writer */
    pid_t pid;

    pthread_mutex_t mu;
    pthread_cond_t cond;
    /* Guarded by mu. */
    struct pawl__local_queue writes;
    struct pawl__local_queue reads;
    bool has_writer, has_reader; /* a thread was started */
    bool writer_done, reader_done;
    bool is_closing;
    unsigned refs; /* caller, writer, reader */
    pthread_t writer, reader;

    pthread_mutex_t post_mu;
    /* Guarded by post_mu, which may be taken under nothing and held while the host is called. */
    bool is_closed;
    struct pawl__backend_host host;

    /* Writer thread only; before it is started and after it has ended: the caller's. */
    struct pawl__local_store store;
    int gate;          /* owned; -1 = not open yet */
    bool is_unsettled; /* a commit failed half-way: its frames may still count after a crash */
    bool is_replaced;  /* the database file is not ours any more: E_STORE for ever */
    int64_t next_sweep_ms;
    struct pawl__local_session sessions[PAWL__LOCAL_SESSIONS_MAX];
    struct pawl__local_watches watches;
    struct pawl__local_batch batch;

    /* Reader thread only. */
    struct pawl__local_store reader_store;
    bool has_reader_store;

    /* Descriptors that would keep our locks alive in a forked child; -1 = free. Any thread. */
    _Atomic int fds[PAWL__LOCAL_FDS_MAX];
};

/* ---- local.c ---- */

/* Queues for the writer or the reader and starts its thread. Takes `op` in any case. */
pawl_status pawl__local_submit(struct pawl__local *local, struct pawl__local_op *op);
/* Hands an event to the host, or frees it once we are closed. */
void pawl__local_post(struct pawl__local *local, struct pawl__backend_event *event);
/* The host's clock; false once we are closed: then end. */
bool pawl__local_now(struct pawl__local *local, struct pawl__boot *ret_now);
bool pawl__local_is_closing(struct pawl__local *local);
void pawl__local_unref(struct pawl__local *local);
/* Descriptors for fork_child. */
void pawl__local_fd_add(struct pawl__local *local, int fd);
void pawl__local_fd_close(struct pawl__local *local, int *fd);

/* ---- writer.c, reader.c ---- */

void *pawl__local_writer_main(void *arg);
void *pawl__local_reader_main(void *arg);
/* Everything the writer owns. */
void pawl__local_writer_release(struct pawl__local *local);

/* ---- transaction.c ---- */

/* How the run of a batch ended: an SQLite code, NEED_WRITE, or one of these. */
#define PAWL__LOCAL_CLOSING  (-2) /* we were closed while we waited in the gate */
#define PAWL__LOCAL_REPLACED (-3) /* the database file is not ours any more */
#define PAWL__LOCAL_NO_GATE  (-4) /* the gate cannot be locked */

struct pawl__local_outcome {
    int rc;
    bool at_commit; /* failed in the commit itself, and it may count nevertheless */
};

/* Runs the ops in a read transaction, without the gate. */
struct pawl__local_outcome pawl__local_run_read(struct pawl__local *local,
                                                const struct pawl__local_queue *chunk);
/* Waits in the gate, runs the ops, at most `numbers` enqueues among them, and commits. `make_room`:
 * gives up the ballast first. */
struct pawl__local_outcome pawl__local_run_write(struct pawl__local *local,
                                                 const struct pawl__local_queue *chunk,
                                                 size_t numbers, bool make_room);
void pawl__local_rollback(struct pawl__local *local);
int pawl__local_gate_pass(struct pawl__local *local);

/* ---- batch.c ---- */

/* Runs and answers all of `queue`. */
void pawl__local_batch_run(struct pawl__local *local, struct pawl__local_queue *queue);
void pawl__local_batch_release(struct pawl__local_batch *batch);
void pawl__local_batch_reset(struct pawl__local_batch *batch, bool writes);
int pawl__local_run_ops(struct pawl__local *local, const struct pawl__local_queue *chunk);
/* Notes for after the commit. SQLITE_OK or SQLITE_NOMEM. */
int pawl__local_note_gone(struct pawl__local *local, uint64_t number);
int pawl__local_note_ring(struct pawl__local *local, uint64_t session, uint64_t number,
                          enum pawl__local_ring_reason reason);
int pawl__local_note_ended(struct pawl__local *local, uint64_t session, enum pawl__local_end how);

/* ---- session.c: in a transaction ---- */

int pawl__local_fact_of(struct pawl__local *local, uint64_t session,
                        struct pawl__local_fact **ret_fact);
/* Removes a session with all its entries. NEED_WRITE in a read transaction. */
int pawl__local_reap(struct pawl__local *local, uint64_t session, enum pawl__local_end how);
/* The own session of `op` if it is alive; else *ret is NULL and the op is answered E_LOST. */
int pawl__local_own_session(struct pawl__local *local, struct pawl__local_op *op,
                            struct pawl__local_session **ret_session);
struct pawl__local_session *pawl__local_find_session(struct pawl__local *local, uint64_t id);
/* Whether the file of an own session is still the one that we hold, under its name. */
bool pawl__local_session_is_in_place(const struct pawl__local *local,
                                     const struct pawl__local_session *session);
/* Runs a statement whose one parameter is a session. */
int pawl__local_run_by_session(struct pawl__local *local, enum pawl__local_stmt which,
                               uint64_t session);

/* ---- session_ops.c: in a transaction ---- */

int pawl__local_run_open(struct pawl__local *local, struct pawl__local_op *op);
int pawl__local_run_renew(struct pawl__local *local, struct pawl__local_op *op);
int pawl__local_run_close(struct pawl__local *local, struct pawl__local_op *op);
int pawl__local_run_reap(struct pawl__local *local, struct pawl__local_op *op);

/* ---- session.c: after the commit ---- */

void pawl__local_end_session(struct pawl__local *local, const struct pawl__local_ended *ended);
void pawl__local_drop_session(struct pawl__local *local, struct pawl__local_session *session);

/* ---- queue.c, mark.c: in a transaction ---- */

int pawl__local_run_enqueue(struct pawl__local *local, struct pawl__local_op *op);
int pawl__local_run_look(struct pawl__local *local, struct pawl__local_op *op);
int pawl__local_run_remove(struct pawl__local *local, struct pawl__local_op *op);
int pawl__local_run_mark(struct pawl__local *local, struct pawl__local_op *op);
/* After the entry left its queue: notes whom to wake. Entries of `dying` are passed over. */
int pawl__local_wake_later(struct pawl__local *local, const char *name, uint64_t number,
                           uint64_t dying);
/* Forgets marks on `number`; cheap when there are none at all. */
int pawl__local_forget_marks(struct pawl__local *local, uint64_t number);

/* ---- watch.c ---- */

int pawl__local_run_watch(struct pawl__local *local, struct pawl__local_op *op);
void pawl__local_run_unwatch(struct pawl__local *local, struct pawl__local_op *op);
/* Its batch failed: hints at once, so that the core looks for itself. */
void pawl__local_watch_failed(struct pawl__local *local, struct pawl__local_op *op);
/* A REAP of `session` was run, with whatever outcome. */
void pawl__local_reap_done(struct pawl__local *local, uint64_t session);
/* Hints and forgets all watches of `number`. */
void pawl__local_fire(struct pawl__local *local, uint64_t number);
void pawl__local_fire_all(struct pawl__local *local);
/* When the writer has to wake up by itself, in milliseconds; -1 = not at all. */
int pawl__local_watch_timeout(struct pawl__local *local, struct pawl__boot now);
/* Looks after peers and entries if it is time; queues REAPs. */
void pawl__local_watch_tick(struct pawl__local *local, struct pawl__boot now);
/* Reads inotify. */
void pawl__local_watch_events(struct pawl__local *local);
void pawl__local_watches_release(struct pawl__local *local);

/* ---- bell.c ---- */

/* Makes the bell of an own session; -1 = has none, the poll must do. */
int pawl__local_bell_open(const struct pawl__local_dir *dir, uint64_t session);
void pawl__local_bell_ring(const struct pawl__local_dir *dir, const struct pawl__local_ring *ring);
/* Reads all messages of an own bell and acts on them. */
void pawl__local_bell_read(struct pawl__local *local, struct pawl__local_session *session);

/* ---- sweep.c ---- */

/* Checkpoints if it is worth it; now and then also sweeps, and adds a REAP to `queue` for each dead
 * session. Enters the gate. */
void pawl__local_housekeep(struct pawl__local *local, struct pawl__local_queue *queue);
/* Before the writer ends. */
void pawl__local_last_checkpoint(struct pawl__local *local);
/* Removes files whose sessions are not in the store. Gate held, no transaction. */
void pawl__local_sweep_files(struct pawl__local *local);

#endif
