/* pawl lock without CMD: one JSON line, then the lock is held until a signal, the end of a piped
 * stdin, or a loss. */
#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/lock.h"
#include "cli/output.h"

static void write_lock(struct pawl__jsonw *json, pawl_hold *hold, size_t index)
{
    pawl__jsonw_begin_object(json);
    pawl__jsonw_key(json, "lock");
    pawl__jsonw_str(json, pawl_hold_name(hold, index));
    pawl__jsonw_key(json, "token");
    pawl__jsonw_u64str(json, pawl_hold_token(hold));
    pawl__jsonw_key(json, "sealed");
    pawl__jsonw_str(json, pawl_hold_sealed_token(hold, index));
    pawl__jsonw_key(json, "mode");
    pawl__jsonw_str(json, "x");
    pawl__jsonw_key(json, "session");
    pawl__jsonw_str(json, pawl_hold_session(hold));
    pawl__jsonw_end_object(json);
}

static int print_hold(struct pawl__lock_job *job)
{
    struct pawl__buf out;
    struct pawl__jsonw json;
    pawl__buf_init(&out);
    pawl__jsonw_init(&json, &out);
    size_t count = pawl_hold_count(job->hold);
    if (count == 1) {
        write_lock(&json, job->hold, 0);
    } else {
        pawl__jsonw_begin_object(&json);
        pawl__jsonw_key(&json, "locks");
        pawl__jsonw_begin_array(&json);
        for (size_t i = 0; i < count; i++) {
            write_lock(&json, job->hold, i);
        }
        pawl__jsonw_end_array(&json);
        pawl__jsonw_end_object(&json);
    }
    pawl__buf_append_char(&out, '\n');
    int code = pawl__output_write(job->cli, &out);
    pawl__buf_release(&out);
    return code;
}

/* A pipe or socket: whoever started us keeps the other end open as long as the lock is wanted. */
static bool stdin_is_pipe(void)
{
    struct stat st;
    return fstat(STDIN_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

/* Reads and forgets. true = the end, or an error that makes it one. */
static bool stdin_ended(void)
{
    char scrap[4096];
    ssize_t len = read(STDIN_FILENO, scrap, sizeof(scrap));
    return len == 0 || (len < 0 && errno != EINTR && errno != EAGAIN);
}

/* true = a signal asked us to end. */
static bool take_signals(struct pawl__lock_job *job)
{
    bool ends = false;
    int number = 0;
    while ((number = pawl__signals_next(&job->signals)) != 0) {
        if (number == SIGTSTP) {
            pawl__signals_stop_self();
        }
        ends = ends || pawl__signals_is_end(number);
    }
    return ends;
}

static int keep(struct pawl__lock_job *job)
{
    struct pollfd fds[3] = {{.fd = pawl_client_fd(job->client), .events = POLLIN},
                            {.fd = job->signals.fd, .events = POLLIN},
                            {.fd = stdin_is_pipe() ? STDIN_FILENO : -1, .events = POLLIN}};
    for (;;) {
        /* First of all, since we may have been stopped past the deadline. */
        if (pawl_hold_state(job->hold) == PAWL_HOLD_LOST) {
            pawl__lock_report_loss(job);
            return PAWL__EXIT_LOST;
        }
        if (poll(fds, 3, -1) < 0) {
            continue;
        }
        if (fds[0].revents != 0) {
            (void)pawl_dispatch(job->client, NULL); /* fails for misuse only */
        }
        bool ends = fds[1].revents != 0 && take_signals(job);
        ends = ends || (fds[2].revents != 0 && stdin_ended());
        if (ends && pawl_hold_state(job->hold) != PAWL_HOLD_LOST) {
            return PAWL__EXIT_OK;
        }
    }
}

int pawl__lock_keep(struct pawl__lock_job *job)
{
    int code = pawl__lock_watch(job);
    if (code == PAWL__EXIT_OK) {
        code = print_hold(job);
    }
    return code == PAWL__EXIT_OK ? keep(job) : code;
}
