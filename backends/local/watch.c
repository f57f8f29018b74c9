/* Watches on entries. Those of our own sessions fire when this writer removes them; for others
 * there are the bell, inotify on the session file of the owner, its deadline, and a poll behind
 * all. */
#include <errno.h>
#include <limits.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "backends/local/fault.h"
#include "backends/local/local.h"
#include "base/alloc.h"
#include "base/assert.h"

/* The owner closes a descriptor that it has for writing; those who test have none. */
#define INOTIFY_MASK (IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF)
/* After a kill the close is told up to 0.1 ms before the lock is free (formats.md 6). */
#define RETEST_MAX 20
#define RETEST_NS  100000

/* ---- Peers ------------------------------------------------------------------------------------
 */

static void make_inotify(struct pawl__local *local)
{
    struct pawl__local_watches *watches = &local->watches;

    if (watches->inotify >= 0 || watches->no_inotify) {
        return;
    }
    watches->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watches->inotify >= 0) {
        pawl__local_fd_add(local, watches->inotify);
    } else {
        watches->no_inotify = true; /* A limit of the user is reached: the poll must do. */
    }
}

static void listen_to(struct pawl__local *local, struct pawl__local_peer *peer)
{
    char path[PAWL__LOCAL_PATH_MAX];

    make_inotify(local);
    if (local->watches.inotify < 0 || pawl__fault_point("local.inotify.add")) {
        return;
    }
    pawl__local_dir_path(path, local->dir.sessions, peer->session, "");
    peer->wd = inotify_add_watch(local->watches.inotify, path, INOTIFY_MASK);
    if (peer->wd >= 0 && !pawl__table_put(&local->watches.by_wd, (uint64_t)peer->wd + 1, peer)) {
        (void)inotify_rm_watch(local->watches.inotify, peer->wd); /* As if it had not worked. */
        peer->wd = -1;
    }
}

static struct pawl__local_peer *add_peer(struct pawl__local *local, uint64_t session)
{
    struct pawl__local_peer *peer = pawl__alloc(sizeof(*peer));

    if (peer == NULL) {
        return NULL;
    }
    peer->session = session;
    peer->wd = -1;
    if (!pawl__table_put(&local->watches.peers, session, peer)) {
        pawl__free(peer);
        return NULL;
    }
    listen_to(local, peer);
    return peer;
}

static void leave_peer(struct pawl__local *local, struct pawl__local_watch *watch)
{
    struct pawl__local_peer *peer = watch->peer;

    watch->peer = NULL;
    if (peer == NULL || --peer->watches > 0) {
        return;
    }
    (void)pawl__table_remove(&local->watches.peers, peer->session);
    if (peer->wd >= 0) {
        (void)pawl__table_remove(&local->watches.by_wd, (uint64_t)peer->wd + 1);
        (void)inotify_rm_watch(local->watches.inotify, peer->wd); /* Gone with the file, perhaps. */
    }
    pawl__free(peer);
}

/* ---- The table --------------------------------------------------------------------------------
 */

static void free_watch(struct pawl__local_watch *watch)
{
    pawl__backend_event_free(watch->event);
    pawl__free(watch);
}

/* false = no memory; then nothing is changed. */
static bool register_watch(struct pawl__local *local, struct pawl__local_watch *watch)
{
    struct pawl__local_watches *watches = &local->watches;

    if (!pawl__table_put(&watches->by_id, watch->id, watch)) {
        return false;
    }
    watch->next = pawl__table_get(&watches->by_number, watch->number);
    if (!pawl__table_put(&watches->by_number, watch->number, watch)) {
        (void)pawl__table_remove(&watches->by_id, watch->id);
        watch->next = NULL;
        return false;
    }
    return true;
}

static void unregister_watch(struct pawl__local *local, struct pawl__local_watch *watch)
{
    struct pawl__local_watches *watches = &local->watches;
    struct pawl__local_watch *first = pawl__table_get(&watches->by_number, watch->number);

    (void)pawl__table_remove(&watches->by_id, watch->id);
    if (first == watch && watch->next == NULL) {
        (void)pawl__table_remove(&watches->by_number, watch->number);
    } else if (first == watch) {
        bool is_put = pawl__table_put(&watches->by_number, watch->number, watch->next);
        PAWL_INVARIANT(is_put); /* Replacing never fails. */
    } else {
        while (first->next != watch) {
            first = first->next;
        }
        first->next = watch->next;
    }
    leave_peer(local, watch);
}

static void hint(struct pawl__local *local, struct pawl__local_watch *watch)
{
    struct pawl__backend_event *event = watch->event;

    watch->event = NULL;
    pawl__local_post(local, event);
}

void pawl__local_fire(struct pawl__local *local, uint64_t number)
{
    struct pawl__local_watches *watches = &local->watches;
    struct pawl__local_watch *watch = pawl__table_remove(&watches->by_number, number);

    while (watch != NULL) {
        struct pawl__local_watch *next = watch->next;
        (void)pawl__table_remove(&watches->by_id, watch->id);
        leave_peer(local, watch);
        hint(local, watch);
        free_watch(watch);
        watch = next;
    }
}

void pawl__local_fire_all(struct pawl__local *local)
{
    size_t cursor = 0;
    uint64_t number = 0;

    while (pawl__table_next(&local->watches.by_number, &cursor, &number, NULL)) {
        pawl__local_fire(local, number);
    }
}

/* ---- Ops --------------------------------------------------------------------------------------
 */

/* The session of the watched entry; 0 = the entry is gone. */
static int find_session_of(struct pawl__local *local, const struct pawl__local_watch *watch,
                           uint64_t *ret_session)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_ENTRY_AT);

    if (stmt == NULL) {
        return pawl__local_store_code(&local->store);
    }
    pawl__local_bind_text(stmt, 1, watch->name);
    pawl__local_bind_u64(stmt, 2, watch->number);
    int rc = sqlite3_step(stmt);
    *ret_session = rc == SQLITE_ROW ? pawl__local_column_u64(stmt, 0) : 0;
    (void)sqlite3_reset(stmt); /* The code was taken from the step. */
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* The owner is of another process: from now on its end wakes us. */
static int join_peer(struct pawl__local *local, struct pawl__local_watch *watch,
                     struct pawl__local_fact *fact)
{
    struct pawl__local_peer *peer = pawl__table_get(&local->watches.peers, fact->session);

    if (watch->peer != NULL) {
        return SQLITE_OK; /* The second run of a batch. */
    }
    bool is_new = peer == NULL;
    if (is_new) {
        peer = add_peer(local, fact->session);
    }
    if (peer == NULL) {
        return SQLITE_NOMEM;
    }
    watch->peer = peer;
    peer->watches++;
    peer->deadline_ms = fact->deadline_ms;
    /* Tested after inotify listens: an end in between would be seen by neither. */
    if (is_new && fact->lives) {
        enum pawl__local_file_state file = pawl__local_file_test(&local->dir, fact->session);
        fact->lives = pawl__local_is_alive(true, fact->deadline_ms, local->batch.now, file);
    }
    return SQLITE_OK;
}

/* The id under which it is registered; without memory it hints at once instead, and 0. */
static uint64_t take_watch(struct pawl__local *local, struct pawl__local_watch *watch)
{
    if (register_watch(local, watch)) {
        return watch->id;
    }
    hint(local, watch);
    free_watch(watch);
    return 0;
}

int pawl__local_run_watch(struct pawl__local *local, struct pawl__local_op *op)
{
    struct pawl__local_fact *fact = NULL;
    uint64_t session = 0;

    if (op->watch != NULL) {
        op->watch_id = take_watch(local, op->watch);
        op->watch = NULL;
    }
    struct pawl__local_watch *watch = pawl__table_get(&local->watches.by_id, op->watch_id);
    if (watch == NULL) {
        return SQLITE_OK; /* Second run, and it was forgotten in between. */
    }
    int rc = find_session_of(local, watch, &session);
    if (rc != SQLITE_OK) {
        return rc;
    }
    if (session == 0) {
        return pawl__local_note_gone(local, watch->number);
    }
    rc = pawl__local_fact_of(local, session, &fact);
    if (rc == SQLITE_OK && pawl__local_find_session(local, session) == NULL) {
        rc = join_peer(local, watch, fact);
    }
    if (rc == SQLITE_OK && !fact->lives) {
        rc = pawl__local_reap(local, session, PAWL__LOCAL_END_REAPED);
    }
    return rc;
}

void pawl__local_run_unwatch(struct pawl__local *local, struct pawl__local_op *op)
{
    struct pawl__local_watch *watch = pawl__table_get(&local->watches.by_id, op->watch_id);

    if (watch != NULL) {
        unregister_watch(local, watch);
        free_watch(watch);
    }
}

void pawl__local_watch_failed(struct pawl__local *local, struct pawl__local_op *op)
{
    if (op->kind != PAWL__LOCAL_OP_WATCH) {
        return;
    }
    if (op->watch != NULL) {
        hint(local, op->watch);
        free_watch(op->watch);
        op->watch = NULL;
    }
    struct pawl__local_watch *watch = pawl__table_get(&local->watches.by_id, op->watch_id);
    if (watch != NULL) {
        unregister_watch(local, watch);
        hint(local, watch);
        free_watch(watch);
    }
}

/* ---- Waiting ----------------------------------------------------------------------------------
 */

static void queue_reap(struct pawl__local *local, struct pawl__local_peer *peer)
{
    if (peer->asked) {
        return;
    }
    struct pawl__local_op *op = pawl__local_op_new(PAWL__LOCAL_OP_REAP, 0);
    if (op == NULL) {
        return; /* The next poll. */
    }
    op->session = peer->session;
    peer->asked = true;
    pthread_mutex_lock(&local->mu);
    pawl__local_queue_push(&local->writes, op);
    pthread_mutex_unlock(&local->mu);
}

void pawl__local_reap_done(struct pawl__local *local, uint64_t session)
{
    struct pawl__local_peer *peer = pawl__table_get(&local->watches.peers, session);

    if (peer != NULL) {
        peer->asked = false;
    }
}

static void test_after_close(struct pawl__local *local, struct pawl__local_peer *peer)
{
    struct timespec pause = {0, RETEST_NS};

    for (int i = 0; i < RETEST_MAX; i++) {
        bool is_early = pawl__fault_point("local.watch.early");
        if (!is_early &&
            pawl__local_file_test(&local->dir, peer->session) != PAWL__LOCAL_FILE_LOCKED) {
            queue_reap(local, peer);
            return;
        }
        (void)nanosleep(&pause, NULL); /* There is no event for the end of a lock. */
    }
}

void pawl__local_watch_events(struct pawl__local *local)
{
    _Alignas(struct inotify_event) char buf[4096];

    for (;;) {
        ssize_t len = read(local->watches.inotify, buf, sizeof(buf));
        if (len <= 0) {
            return;
        }
        for (char *at = buf; at < buf + len;) {
            const struct inotify_event *event = (const struct inotify_event *)(void *)at;
            at += sizeof(*event) + event->len;
            if ((event->mask & IN_Q_OVERFLOW) != 0) {
                local->watches.next_poll_ms = 0;
                continue;
            }
            struct pawl__local_peer *peer =
                pawl__table_get(&local->watches.by_wd, (uint64_t)event->wd + 1);
            if (peer != NULL && (event->mask & INOTIFY_MASK) != 0) {
                test_after_close(local, peer);
            }
        }
    }
}

/* Reads the deadline again: was it renewed? */
static void check_deadline(struct pawl__local *local, struct pawl__local_peer *peer,
                           struct pawl__boot now)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_SESSION_GET);
    bool is_over = true;

    if (stmt != NULL) {
        pawl__local_bind_u64(stmt, 1, peer->session);
        if (sqlite3_step(stmt) == SQLITE_ROW) {
            peer->deadline_ms = sqlite3_column_int64(stmt, 1);
            is_over = peer->deadline_ms != 0 && peer->deadline_ms <= now.ms;
        }
        (void)sqlite3_reset(stmt); /* A failure is looked after by the reap. */
    }
    if (is_over) {
        queue_reap(local, peer);
    }
}

static void check_peers(struct pawl__local *local, struct pawl__boot now, bool is_poll)
{
    size_t cursor = 0;
    void *value = NULL;

    while (pawl__table_next(&local->watches.peers, &cursor, NULL, &value)) {
        struct pawl__local_peer *peer = value;
        if (is_poll &&
            pawl__local_file_test(&local->dir, peer->session) != PAWL__LOCAL_FILE_LOCKED) {
            queue_reap(local, peer);
        } else if (peer->deadline_ms != 0 && peer->deadline_ms <= now.ms) {
            check_deadline(local, peer, now);
        }
    }
}

static bool store_has_changed(struct pawl__local *local)
{
    sqlite3_stmt *stmt = pawl__local_store_stmt(&local->store, PAWL__LOCAL_DATA_VERSION);
    int64_t version = -1;

    if (stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW) {
        version = sqlite3_column_int64(stmt, 0);
    }
    (void)sqlite3_reset(stmt); /* Not read = changed. */
    bool has_changed = version < 0 || version != local->watches.data_version;
    local->watches.data_version = version;
    return has_changed;
}

/* For bells that were lost. */
static void check_entries(struct pawl__local *local)
{
    size_t cursor = 0;
    void *value = NULL;

    while (pawl__table_next(&local->watches.by_id, &cursor, NULL, &value)) {
        const struct pawl__local_watch *watch = value;
        uint64_t session = 0;
        if (watch->peer != NULL && find_session_of(local, watch, &session) == SQLITE_OK &&
            session == 0) {
            pawl__local_fire(local, watch->number);
        }
    }
}

void pawl__local_watch_tick(struct pawl__local *local, struct pawl__boot now)
{
    struct pawl__local_watches *watches = &local->watches;

    if (pawl__table_len(&watches->by_id) == 0) {
        return;
    }
    bool is_poll = now.ms >= watches->next_poll_ms;
    if (is_poll) {
        watches->next_poll_ms = now.ms + PAWL__LOCAL_POLL_MS;
        if (!pawl__local_store_is_in_place(&local->store)) {
            pawl__local_fire_all(local); /* Whoever looks then is told why. */
            return;
        }
        if (store_has_changed(local)) {
            check_entries(local);
        }
    }
    check_peers(local, now, is_poll);
}

int pawl__local_watch_timeout(struct pawl__local *local, struct pawl__boot now)
{
    struct pawl__local_watches *watches = &local->watches;
    int64_t wait = watches->next_poll_ms - now.ms;
    size_t cursor = 0;
    void *value = NULL;

    if (pawl__table_len(&watches->by_id) == 0) {
        return -1;
    }
    while (pawl__table_next(&watches->peers, &cursor, NULL, &value)) {
        const struct pawl__local_peer *peer = value;
        if (peer->deadline_ms != 0 && !peer->asked && peer->deadline_ms - now.ms < wait) {
            wait = peer->deadline_ms - now.ms;
        }
    }
    if (wait < 0) {
        return 0;
    }
    return wait < PAWL__LOCAL_POLL_MS ? (int)wait : PAWL__LOCAL_POLL_MS;
}

void pawl__local_watches_release(struct pawl__local *local)
{
    struct pawl__local_watches *watches = &local->watches;
    size_t cursor = 0;
    void *value = NULL;

    while (pawl__table_next(&watches->by_id, &cursor, NULL, &value)) {
        struct pawl__local_watch *watch = value;
        unregister_watch(local, watch);
        free_watch(watch);
    }
    pawl__table_release(&watches->by_id);
    pawl__table_release(&watches->by_number);
    pawl__table_release(&watches->peers);
    pawl__table_release(&watches->by_wd);
    pawl__local_fd_close(local, &watches->inotify);
}
