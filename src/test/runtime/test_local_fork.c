/* Forks and descriptors with the embedded store beneath, where a session is an open file: what a
 * child keeps open would keep the parent's locks. Not under ThreadSanitizer. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "test/runtime/support.h"

static pawl_error *err;
static const char *url;

/* A child that lives on, with every descriptor it has; ends when it is killed. */
static pid_t fork_sleeper(void)
{
    pid_t child = fork();

    if (child == 0) {
        for (;;) {
            pause();
        }
    }
    return child;
}

static void end_child(pid_t child)
{
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
}

/* A process that holds the lock, has forked a child that lives on, and tells the child's number. */
static void hold_and_fork(int fd)
{
    pawl_client *client = open_url(url, NULL);
    pawl_hold *hold = lock_now(client, "job");

    pid_t child = hold != NULL ? fork_sleeper() : -1;
    (void)!write(fd, &child, sizeof child);
    for (;;) {
        pause();
    }
}

/* The lock of a killed process is free at once although a child of it, forked without exec, lives
 * on: the child has closed what would keep it. */
static void child_does_not_keep_the_locks(void)
{
    pawl_hold *next = NULL;
    pid_t child = -1;
    int fds[2];

    TAP_CHECK(pipe(fds) == 0);
    pid_t holder = fork();
    if (holder == 0) {
        hold_and_fork(fds[1]);
    }
    TAP_CHECK(read(fds[0], &child, sizeof child) == (ssize_t)sizeof child);
    TAP_CHECK(child > 0);
    pawl_client *other = open_url(url, NULL);
    TAP_CHECK(pawl_lock(other, "job", 0, &next, err) == PAWL_E_TIMEOUT);
    end_child(holder);
    TAP_CHECK(pawl_lock(other, "job", 5000, &next, err) == PAWL_OK);
    (void)kill(child, SIGKILL);
    pawl_hold_free(next);
    TAP_CHECK(close_client(other));
    close(fds[0]);
    close(fds[1]);
}

/* The parent's lock outlives a child that is refused and ends. */
static void lock_outlives_the_child(void)
{
    pawl_client *client = open_url(url, NULL);
    pawl_client *other = open_url(url, NULL);
    pawl_hold *hold = lock_now(client, "job");
    pawl_hold *next = NULL;
    int status = -1;

    pid_t child = fork();
    if (child == 0) {
        int64_t begin = now_ms();
        bool is_refused =
            pawl_lock(client, "job2", PAWL_WAIT_FOREVER, &next, NULL) == PAWL_E_FORKED;
        bool is_closed = pawl_client_close(client, 1000, NULL) == PAWL_OK;
        _exit(is_refused && is_closed && now_ms() - begin < 100 ? 0 : 1);
    }
    (void)waitpid(child, &status, 0);
    TAP_CHECK(status == 0);
    TAP_CHECK(pawl_hold_state(hold) == PAWL_HOLD_HELD);
    TAP_CHECK(pawl_lock(other, "job", 100, &next, err) == PAWL_E_TIMEOUT);
    TAP_CHECK(pawl_hold_release(hold, 1000, err) == PAWL_OK);
    TAP_CHECK(pawl_lock(other, "job", 1000, &next, err) == PAWL_OK);
    pawl_hold_free(next);
    pawl_hold_free(hold);
    TAP_CHECK(close_client(client));
    TAP_CHECK(close_client(other));
}

/* A child that was given the session's descriptor keeps the lock beyond the close of the client. */
static void session_fd_keeps_the_lock(void)
{
    pawl_client *client = open_url(url, NULL);
    pawl_client *other = open_url(url, NULL);
    pawl_hold *hold = lock_now(client, "job");
    pawl_hold *next = NULL;
    int fd = -1;

    TAP_CHECK(hold != NULL);
    TAP_CHECK(pawl_client_session_fd(client, &fd, err) == PAWL_OK);
    TAP_CHECK(fd >= 0);
    pid_t child = fork_sleeper();
    close(fd);
    TAP_CHECK(close_client(client));
    TAP_CHECK(pawl_lock(other, "job", 300, &next, err) == PAWL_E_TIMEOUT);
    end_child(child);
    TAP_CHECK(pawl_lock(other, "job", 3000, &next, err) == PAWL_OK);
    pawl_hold_free(next);
    pawl_hold_free(hold);
    TAP_CHECK(close_client(other));
}

int main(void)
{
    err = pawl_error_new();
    url = enter_local();
    child_does_not_keep_the_locks();
    lock_outlives_the_child();
    session_fd_keeps_the_lock();
    leave_local();
    pawl_error_free(err);
    return tap_done();
}
