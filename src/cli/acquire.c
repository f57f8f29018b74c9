/* The waiting part of pawl lock: asks, tells a person what it waits for, and can be interrupted. */
#include <poll.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/lock.h"
#include "cli/term.h"

#define SAY_WITHIN_MS 80 /* something is said within 100 ms of waiting */
#define CANCEL_TIMEOUT_MS                                                                          \
    2000 /* for the outcome of a cancel; closing the client follows anyway                         \
          */

/* An acquire under way. Main thread only, callbacks included, since it alone dispatches. */
struct acquire {
    struct pawl__lock_job *job;
    pawl_pending *pending; /* owned */
    struct pawl__term_line line;
    struct pawl__boot begin;
    struct pawl__boot give_up; /* NEVER until canceled */
    int signal;                /* that canceled; 0 = none */
    bool tells;
    bool done;
    pawl_status status;
    char *message; /* owned */
};

static void take_outcome(void *user, pawl_status status, pawl_hold *hold, const pawl_error *err)
{
    struct acquire *acquire = user;
    acquire->done = true;
    acquire->status = status;
    acquire->job->hold = hold;
    acquire->message = pawl__strdup(pawl_error_message(err));
}

static void take_event(void *user, const pawl_event *event)
{
    struct acquire *acquire = user;
    pawl_event_kind kind = pawl_event_get_kind(event);
    bool concerns_waiting = kind == PAWL_EVENT_WAITING || kind == PAWL_EVENT_STORE_AWAY ||
                            kind == PAWL_EVENT_STORE_BACK;
    if (concerns_waiting && !acquire->done) {
        pawl__term_line_show(&acquire->line, pawl_event_text(event));
    }
}

/* The client's own objects: names, reason. Returns an exit code. */
static int build_request(struct pawl__lock_job *job, pawl_request *request)
{
    pawl_status status = PAWL_OK;
    for (int i = 0; i < job->args->name_count && status == PAWL_OK; i++) {
        status = pawl_request_add(request, job->args->names[i], PAWL_MODE_X, job->cli->err);
    }
    if (status == PAWL_OK && job->args->reason != NULL) {
        status = pawl_request_set_reason(request, job->args->reason, job->cli->err);
    }
    return status == PAWL_OK ? PAWL__EXIT_OK : pawl__cli_fail_status(job->cli, status);
}

static int start(struct acquire *acquire)
{
    struct pawl__lock_job *job = acquire->job;
    pawl_request *request = pawl_request_new();
    if (request == NULL) {
        return pawl__cli_fail(job->cli, PAWL__EXIT_INTERNAL, "out of memory");
    }
    int code = build_request(job, request);
    if (code == PAWL__EXIT_OK) {
        pawl_status status =
            pawl_acquire_start(job->client, request, job->args->wait_ms, take_outcome, acquire,
                               &acquire->pending, job->cli->err);
        code = status == PAWL_OK ? PAWL__EXIT_OK : pawl__cli_fail_status(job->cli, status);
    }
    pawl_request_free(request);
    return code;
}

static void take_signals(struct acquire *acquire)
{
    int number = 0;
    while ((number = pawl__signals_next(&acquire->job->signals)) != 0) {
        if (number == SIGTSTP) {
            pawl__term_line_clear(&acquire->line);
            pawl__signals_stop_self();
        } else if (pawl__signals_is_end(number) && acquire->signal == 0) {
            acquire->signal = number;
            acquire->give_up = pawl__boot_add(pawl__boot_now(), CANCEL_TIMEOUT_MS);
            pawl_pending_cancel(acquire->pending);
        }
    }
}

/* Milliseconds that poll() may sleep; -1 = until something happens. */
static int find_timeout(const struct acquire *acquire)
{
    if (!pawl__boot_is_never(acquire->give_up)) {
        int64_t left = pawl__boot_diff(acquire->give_up, pawl__boot_now());
        return left > 0 ? (int)left : 0;
    }
    if (acquire->tells && !acquire->line.said) {
        struct pawl__boot say = pawl__boot_add(acquire->begin, SAY_WITHIN_MS);
        int64_t left = pawl__boot_diff(say, pawl__boot_now());
        return left > 0 ? (int)left : 0;
    }
    return -1;
}

static bool is_over(const struct acquire *acquire)
{
    return acquire->done || (!pawl__boot_is_never(acquire->give_up) &&
                             !pawl__boot_before(pawl__boot_now(), acquire->give_up));
}

static void wait_outcome(struct acquire *acquire)
{
    struct pawl__lock_job *job = acquire->job;
    struct pollfd fds[2] = {{.fd = pawl_client_fd(job->client), .events = POLLIN},
                            {.fd = job->signals.fd, .events = POLLIN}};
    while (!is_over(acquire)) {
        int count = poll(fds, 2, find_timeout(acquire));
        if (count == 0 && acquire->tells && !acquire->line.said) {
            pawl__term_line_show(&acquire->line, "waiting; the store has not answered yet");
        }
        if (count > 0 && fds[0].revents != 0) {
            /* Its statuses tell of misuse of the client only. */
            (void)pawl_dispatch(job->client, NULL);
        }
        if (count > 0 && fds[1].revents != 0) {
            take_signals(acquire);
        }
    }
}

static int judge(struct acquire *acquire)
{
    struct pawl__lock_job *job = acquire->job;
    if (acquire->signal != 0) {
        /* Granted or not: closing the client, which comes next, leaves nothing behind. */
        return PAWL__EXIT_SIGNAL + acquire->signal;
    }
    if (acquire->status == PAWL_OK) {
        if (job->cli->verbose) {
            int64_t waited = pawl__boot_diff(pawl__boot_now(), acquire->begin);
            pawl__cli_note(job->cli, "granted %s%s, token %llu, after %lld ms",
                           pawl_hold_name(job->hold, 0),
                           job->args->name_count > 1 ? " and others" : "",
                           (unsigned long long)pawl_hold_token(job->hold), (long long)waited);
        }
        return PAWL__EXIT_OK;
    }
    const char *message = acquire->message;
    if (message == NULL || *message == '\0') {
        message = pawl_status_text(acquire->status);
    }
    int code = pawl__exit_from_status(acquire->status);
    code = code == PAWL__EXIT_BUSY ? job->args->busy_code : code;
    return pawl__cli_fail(job->cli, code, "%s", message);
}

int pawl__lock_acquire(struct pawl__lock_job *job)
{
    struct acquire acquire = {.job = job,
                              .begin = pawl__boot_now(),
                              .give_up = PAWL__BOOT_NEVER,
                              .tells =
                                  pawl__term_wants_progress(job->cli) && job->args->wait_ms != 0};
    pawl__term_line_init(&acquire.line, job->cli);
    if (acquire.tells) {
        /* Without events we wait as well, only in silence. */
        (void)pawl_client_on_event(job->client, take_event, &acquire, NULL);
    }
    int code = start(&acquire);
    if (code == PAWL__EXIT_OK) {
        wait_outcome(&acquire);
        pawl__term_line_clear(&acquire.line);
        code = judge(&acquire);
    }
    if (acquire.tells) {
        (void)pawl_client_on_event(job->client, NULL, NULL, NULL);
    }
    pawl_pending_free(acquire.pending);
    pawl__free(acquire.message);
    return code;
}
