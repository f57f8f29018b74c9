/* The local backend: table, open and close, hand-over to the threads. Everything else happens on
 * the writer and the reader thread. */
#include "backends/local/local.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "backends/local/fs.h"
#include "backends/local/ops.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "core/error.h"
#include "core/url.h"

/* ---- Descriptors of a forked child ------------------------------------------------------------
 */

void pawl__local_fd_add(struct pawl__local *local, int fd)
{
    for (size_t i = 0; i < PAWL__LOCAL_FDS_MAX; i++) {
        int none = -1;
        if (atomic_compare_exchange_strong(&local->fds[i], &none, fd)) {
            return;
        }
    }
    PAWL_INVARIANT(false); /* PAWL__LOCAL_FDS_MAX counts them all. */
}

void pawl__local_fd_close(struct pawl__local *local, int *fd)
{
    if (*fd < 0) {
        return;
    }
    for (size_t i = 0; i < PAWL__LOCAL_FDS_MAX; i++) {
        int same = *fd;
        if (atomic_compare_exchange_strong(&local->fds[i], &same, -1)) {
            break;
        }
    }
    (void)close(*fd); /* Nothing is written through it. */
    *fd = -1;
}

/* A fork without exec keeps the locks of open file descriptions: our locks would outlive us. The
 * descriptors of SQLite hold locks that die with the process, not with the description. */
static void fork_child(void *state)
{
    struct pawl__local *local = state;

    for (size_t i = 0; i < PAWL__LOCAL_FDS_MAX; i++) {
        int fd = atomic_exchange(&local->fds[i], -1);
        if (fd >= 0) {
            (void)close(fd);
        }
    }
}

/* ---- Life of the state ------------------------------------------------------------------------
 */

static struct pawl__local *new_state(const struct pawl__backend_settings *settings,
                                     const struct pawl__backend_host *host)
{
    struct pawl__local *local = pawl__alloc(sizeof(*local));

    if (local == NULL) {
        return NULL;
    }
    (void)pthread_mutex_init(&local->mu, NULL); /* Cannot fail on Linux. */
    (void)pthread_mutex_init(&local->post_mu, NULL);
    pawl__cond_init_monotonic(&local->cond);
    local->refs = 1;
    local->host = *host;
    local->request_timeout_ms = settings->request_timeout_ms;
    local->gate = -1;
    local->watches.inotify = -1;
    local->pid = getpid();
    for (size_t i = 0; i < PAWL__LOCAL_FDS_MAX; i++) {
        atomic_init(&local->fds[i], -1);
    }
    local->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (local->wake >= 0) {
        pawl__local_fd_add(local, local->wake);
    }
    local->principal = pawl__strdup(settings->principal != NULL ? settings->principal : "");
    return local;
}

static void free_state(struct pawl__local *local)
{
    struct pawl__local_op *op = NULL;

    while ((op = pawl__local_queue_pop(&local->writes)) != NULL ||
           (op = pawl__local_queue_pop(&local->reads)) != NULL) {
        pawl__local_op_free(op);
    }
    pawl__local_fd_close(local, &local->wake);
    pawl__free(local->principal);
    (void)pthread_cond_destroy(&local->cond);
    (void)pthread_mutex_destroy(&local->post_mu);
    (void)pthread_mutex_destroy(&local->mu);
    pawl__free(local);
}

void pawl__local_unref(struct pawl__local *local)
{
    pthread_mutex_lock(&local->mu);
    bool is_last = --local->refs == 0;
    pthread_mutex_unlock(&local->mu);
    if (is_last) {
        free_state(local);
    }
}

/* ---- Towards the host -------------------------------------------------------------------------
 */

void pawl__local_post(struct pawl__local *local, struct pawl__backend_event *event)
{
    pthread_mutex_lock(&local->post_mu);
    bool is_closed = local->is_closed;
    if (!is_closed) {
        local->host.post(local->host.ctx, event);
    }
    pthread_mutex_unlock(&local->post_mu);
    if (is_closed) {
        pawl__backend_event_free(event);
    }
}

bool pawl__local_now(struct pawl__local *local, struct pawl__boot *ret_now)
{
    pthread_mutex_lock(&local->post_mu);
    bool is_open = !local->is_closed;
    if (is_open) {
        *ret_now = local->host.now(local->host.ctx);
    }
    pthread_mutex_unlock(&local->post_mu);
    return is_open;
}

bool pawl__local_is_closing(struct pawl__local *local)
{
    pthread_mutex_lock(&local->mu);
    bool is_closing = local->is_closing;
    pthread_mutex_unlock(&local->mu);
    return is_closing;
}

/* ---- Towards the threads ----------------------------------------------------------------------
 */

static void wake_writer(struct pawl__local *local)
{
    uint64_t one = 1;

    /* Full means that it is awake. */
    ssize_t len = write(local->wake, &one, sizeof(one));
    (void)len;
}

/* mu held. Signals of the host must not land in a thread of ours, and SIGPIPE of a bell must not
 * land at all. */
static bool start_thread(struct pawl__local *local, pthread_t *ret_thread, void *(*run)(void *))
{
    sigset_t all, old;

    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &old) != 0) {
        return false;
    }
    local->refs++;
    bool is_started = pthread_create(ret_thread, NULL, run, local) == 0;
    local->refs -= is_started ? 0 : 1;
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL); /* Cannot fail: it was in force before. */
    return is_started;
}

/* mu held. */
static bool ensure_thread(struct pawl__local *local, bool is_read)
{
    if (is_read) {
        local->has_reader =
            local->has_reader || start_thread(local, &local->reader, pawl__local_reader_main);
        return local->has_reader;
    }
    local->has_writer =
        local->has_writer || start_thread(local, &local->writer, pawl__local_writer_main);
    return local->has_writer;
}

pawl_status pawl__local_submit(struct pawl__local *local, struct pawl__local_op *op)
{
    bool is_read = op->kind == PAWL__LOCAL_OP_LIST;
    bool was_empty = false;

    pthread_mutex_lock(&local->mu);
    bool is_started = ensure_thread(local, is_read);
    if (is_started) {
        struct pawl__local_queue *queue = is_read ? &local->reads : &local->writes;
        was_empty = queue->first == NULL;
        pawl__local_queue_push(queue, op);
        if (is_read) {
            (void)pthread_cond_broadcast(&local->cond); /* Cannot fail. */
        }
    }
    pthread_mutex_unlock(&local->mu);
    if (!is_started) {
        pawl__local_op_free(op);
        return PAWL_E_NOMEM;
    }
    if (was_empty && !is_read) {
        wake_writer(local);
    }
    return PAWL_OK;
}

/* ---- open -------------------------------------------------------------------------------------
 */

static pawl_status check_settings(const struct pawl__backend_settings *settings, pawl_error *err)
{
    if (settings->root != NULL && settings->root[0] != '\0' &&
        strcmp(settings->root, "pawl") != 0) {
        return pawl__error_set(err, PAWL_E_CONFIG, 0,
                               "the local store has no roots (root=%s): use a directory for each, "
                               "local:///dir",
                               settings->root);
    }
    return PAWL_OK;
}

static pawl_status open_store(struct pawl__local *local,
                              const struct pawl__backend_settings *settings,
                              struct pawl__backend_info *info, pawl_error *err)
{
    pawl_status status = pawl__local_dir_init(&local->dir, settings->url->path, err);
    if (status == PAWL_OK) {
        status = pawl__fs_check(local->dir.path, local->dir.db, info->warning,
                                sizeof(info->warning), err);
    }
    if (status == PAWL_OK) {
        status = pawl__local_store_open(&local->store, &local->dir, settings->connect_timeout_ms,
                                        &local->identity, err);
    }
    if (status != PAWL_OK) {
        return status;
    }
    if (settings->store_id != NULL && settings->store_id[0] != '\0' &&
        strcmp(settings->store_id, local->identity.store_id) != 0) {
        status = pawl__error_set(err, PAWL_E_STORE, 0,
                                 "the store %s has the id %s, not %s as store_id asks for",
                                 local->dir.db, local->identity.store_id, settings->store_id);
        pawl__local_store_release(&local->store);
    }
    return status;
}

static pawl_status open_backend(const struct pawl__backend_settings *settings,
                                const struct pawl__backend_host *host, void **ret_state,
                                struct pawl__backend_info *ret_info, pawl_error *err)
{
    struct pawl__backend_info info = {0};

    pawl_status status = check_settings(settings, err);
    if (status != PAWL_OK) {
        return status;
    }
    struct pawl__local *local = new_state(settings, host);
    if (local == NULL) {
        return pawl__error_set(err, PAWL_E_NOMEM, 0, "no memory to open the local store");
    }
    if (local->principal == NULL || local->wake < 0) {
        status = pawl__error_set(err, PAWL_E_NOMEM, errno,
                                 "no memory or no descriptor left to open the local store");
    } else if (!pawl__local_boot_id(local->boot_id)) {
        status = pawl__error_set(err, PAWL_E_UNAVAILABLE, errno,
                                 "/proc/sys/kernel/random/boot_id cannot be read");
    } else {
        status = open_store(local, settings, &info, err);
    }
    if (status != PAWL_OK) {
        free_state(local);
        return status;
    }
    memcpy(info.store_id, local->identity.store_id, sizeof(info.store_id));
    info.epoch = local->identity.epoch;
    info.capabilities = PAWL_CAP_LINEARIZABLE | PAWL_CAP_HONEST_EXPIRY | PAWL_CAP_ATOMIC_MULTI |
                        PAWL_CAP_SNAPSHOT_LIST | PAWL_CAP_INSTANT_RELEASE;
    *ret_info = info;
    *ret_state = local;
    return PAWL_OK;
}

/* ---- close ------------------------------------------------------------------------------------
 */

/* mu held. Whether both threads are through, at the latest after `timeout_ms`. */
static void wait_for_threads(struct pawl__local *local, int64_t timeout_ms)
{
    struct pawl__boot end = pawl__boot_add(pawl__boot_now(), timeout_ms);

    while ((local->has_writer && !local->writer_done) ||
           (local->has_reader && !local->reader_done)) {
        int64_t left = pawl__boot_diff(end, pawl__boot_now());
        if (!pawl__cond_wait_ms(&local->cond, &local->mu, left)) {
            return;
        }
    }
}

/* A thread that waits in the gate, behind a process that is stopped, cannot be interrupted: it is
 * left behind with its reference, and frees everything when it gets through. */
static void end_thread(pthread_t thread, bool is_done)
{
    int rc = is_done ? pthread_join(thread, NULL) : pthread_detach(thread);

    pawl__assert(rc == 0);
    (void)rc; /* Only asserted. */
}

static void close_backend(void *state, int64_t timeout_ms)
{
    struct pawl__local *local = state;

    pthread_mutex_lock(&local->mu);
    local->is_closing = true;
    (void)pthread_cond_broadcast(&local->cond); /* Cannot fail. */
    wake_writer(local);
    wait_for_threads(local, timeout_ms);
    bool has_writer = local->has_writer, writer_done = local->writer_done;
    bool has_reader = local->has_reader, reader_done = local->reader_done;
    pthread_mutex_unlock(&local->mu);

    pthread_mutex_lock(&local->post_mu);
    local->is_closed = true;
    pthread_mutex_unlock(&local->post_mu);
    if (has_writer) {
        end_thread(local->writer, writer_done);
    } else {
        pawl__local_writer_release(local);
    }
    if (has_reader) {
        end_thread(local->reader, reader_done);
    }
    pawl__local_unref(local);
}

const struct pawl__backend_ops pawl__backend_local = {
    .version = PAWL__BACKEND_VERSION,
    .scheme = "local",
    .open = open_backend,
    .close = close_backend,
    .fork_child = fork_child,
    .session_open = pawl__local_session_open,
    .session_renew = pawl__local_session_renew,
    .session_close = pawl__local_session_close,
    .enqueue = pawl__local_enqueue,
    .look = pawl__local_look,
    .remove = pawl__local_remove,
    .mark = pawl__local_mark,
    .list = pawl__local_list,
    .watch = pawl__local_watch,
    .unwatch = pawl__local_unwatch,
};
