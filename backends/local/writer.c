/* The writer thread: runs what is queued, else sleeps on the queue, the bells, inotify, and time.
 */
#include <poll.h>
#include <unistd.h>

#include "backends/local/local.h"
#include "base/assert.h"

/* The queue, inotify, one bell for each session. */
#define POLL_MAX (2 + PAWL__LOCAL_SESSIONS_MAX)

/* Takes everything that is queued; false = closing. */
static bool take_queue(struct pawl__local *local, struct pawl__local_queue *queue)
{
    pthread_mutex_lock(&local->mu);
    bool is_closing = local->is_closing;
    if (!is_closing) {
        *queue = local->writes;
        local->writes = (struct pawl__local_queue){NULL, NULL};
    }
    pthread_mutex_unlock(&local->mu);
    return !is_closing;
}

static nfds_t fill_poll(const struct pawl__local *local, struct pollfd fds[POLL_MAX])
{
    nfds_t count = 2;

    /* A negative descriptor is passed over by poll. */
    fds[0] = (struct pollfd){local->wake, POLLIN, 0};
    fds[1] = (struct pollfd){local->watches.inotify, POLLIN, 0};
    for (size_t i = 0; i < PAWL__LOCAL_SESSIONS_MAX; i++) {
        if (local->sessions[i].id != 0 && local->sessions[i].bell >= 0) {
            fds[count++] = (struct pollfd){local->sessions[i].bell, POLLIN, 0};
        }
    }
    return count;
}

static void read_bells(struct pawl__local *local, const struct pollfd *fds, nfds_t count)
{
    for (nfds_t i = 2; i < count; i++) {
        if ((fds[i].revents & POLLIN) == 0) {
            continue;
        }
        for (size_t j = 0; j < PAWL__LOCAL_SESSIONS_MAX; j++) {
            if (local->sessions[j].id != 0 && local->sessions[j].bell == fds[i].fd) {
                pawl__local_bell_read(local, &local->sessions[j]);
            }
        }
    }
}

/* Sleeps at most `timeout_ms` (-1 = no bound), then handles what came. */
static void wait_for_events(struct pawl__local *local, int timeout_ms)
{
    struct pollfd fds[POLL_MAX];
    uint64_t wakes = 0;

    nfds_t count = fill_poll(local, fds);
    if (poll(fds, count, timeout_ms) <= 0) {
        return;
    }
    if ((fds[0].revents & POLLIN) != 0) {
        ssize_t len = read(local->wake, &wakes, sizeof(wakes));
        (void)len; /* Another read would find nothing. */
    }
    if ((fds[1].revents & POLLIN) != 0) {
        pawl__local_watch_events(local);
    }
    read_bells(local, fds, count);
}

static void run(struct pawl__local *local)
{
    struct pawl__local_queue queue = {NULL, NULL};
    struct pawl__boot now = PAWL__BOOT_NONE;

    while (take_queue(local, &queue)) {
        int timeout_ms = 0;
        if (queue.first != NULL) {
            pawl__local_batch_run(local, &queue);
        } else if (pawl__local_now(local, &now)) {
            timeout_ms = pawl__local_watch_timeout(local, now);
        }
        wait_for_events(local, timeout_ms);
        if (pawl__local_now(local, &now)) {
            pawl__local_watch_tick(local, now);
        }
    }
}

void pawl__local_writer_release(struct pawl__local *local)
{
    pawl__local_watches_release(local);
    for (size_t i = 0; i < PAWL__LOCAL_SESSIONS_MAX; i++) {
        if (local->sessions[i].id != 0) {
            pawl__local_drop_session(local, &local->sessions[i]);
        }
    }
    pawl__local_batch_release(&local->batch);
    pawl__local_last_checkpoint(local);
    pawl__local_fd_close(local, &local->gate);
    pawl__local_store_release(&local->store);
}

void *pawl__local_writer_main(void *arg)
{
    struct pawl__local *local = arg;

    run(local);
    pawl__local_writer_release(local);
    pthread_mutex_lock(&local->mu);
    local->writer_done = true;
    (void)pthread_cond_broadcast(&local->cond); /* Cannot fail. */
    pthread_mutex_unlock(&local->mu);
    pawl__local_unref(local);
    return NULL;
}
