/* pawl lock NAME... -- CMD: CMD runs only while the lock is held. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "cli/child.h"
#include "cli/lock.h"
#include "cli/loss.h"

#define VARIABLE_COUNT 5

/* CMD under its lock. Main thread only. */
struct run {
    struct pawl__lock_job *job;
    struct pawl__child child;
    struct pawl__loss_rule rule;
    enum pawl__loss_stage stage;
};

/* "NAME=" and, for each name of the hold, what `get` says of it, one a line. */
static void write_lines(struct pawl__buf *out, pawl_hold *hold, const char *name,
                        const char *(*get)(const pawl_hold *, size_t))
{
    pawl__buf_appendf(out, "%s=", name);
    for (size_t i = 0; i < pawl_hold_count(hold); i++) {
        pawl__buf_append_str(out, i > 0 ? "\n" : "");
        if (get != NULL) {
            pawl__buf_append_str(out, get(hold, i));
        } else {
            pawl__buf_appendf(out, "%llu", (unsigned long long)pawl_hold_token(hold));
        }
    }
}

/* CLOCK_BOOTTIME, which /proc/uptime shows, since no other clock counts as our deadlines do. */
static void write_deadline(struct pawl__buf *out, pawl_hold *hold)
{
    int64_t remaining = pawl_hold_remaining_ms(hold);
    pawl__buf_append_str(out, "PAWL_DEADLINE_MS=");
    if (remaining != INT64_MAX) {
        struct pawl__boot deadline = pawl__boot_add(pawl__boot_now(), remaining);
        pawl__buf_appendf(out, "%lld", (long long)deadline.ms);
    }
}

static bool write_variables(const struct pawl__lock_job *job, struct pawl__buf *variables)
{
    pawl__buf_appendf(&variables[0], "PAWL_STORE=%s", pawl_client_url(job->client));
    write_lines(&variables[1], job->hold, "PAWL_LOCK", pawl_hold_name);
    write_lines(&variables[2], job->hold, "PAWL_TOKEN", NULL);
    write_lines(&variables[3], job->hold, "PAWL_SEALED_TOKEN", pawl_hold_sealed_token);
    write_deadline(&variables[4], job->hold);
    bool ok = true;
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        ok = ok && pawl__buf_ok(&variables[i]);
    }
    return ok;
}

/* The descriptor that keeps the session alive in CMD; -1 where sessions are not bound to one. */
static int get_session_fd(struct pawl__lock_job *job, int *ret_fd)
{
    *ret_fd = -1;
    if (job->args->close_fd) {
        return PAWL__EXIT_OK;
    }
    pawl_status status = pawl_client_session_fd(job->client, ret_fd, job->cli->err);
    if (status == PAWL_OK || status == PAWL_E_UNSUPPORTED) {
        return PAWL__EXIT_OK;
    }
    /* What is short here is descriptors of this process, not the user's data. */
    (void)pawl__cli_fail_status(job->cli, status);
    return status == PAWL_E_LIMIT ? PAWL__EXIT_INTERNAL : pawl__exit_from_status(status);
}

static int start(struct run *run)
{
    struct pawl__lock_job *job = run->job;
    struct pawl__buf variables[VARIABLE_COUNT];
    const char *extra[VARIABLE_COUNT];
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        pawl__buf_init(&variables[i]);
    }
    char **environment = NULL;
    int fd = -1;
    int code = get_session_fd(job, &fd);
    if (code != PAWL__EXIT_OK) {
        goto out;
    }
    code = PAWL__EXIT_INTERNAL;
    if (write_variables(job, variables)) {
        for (size_t i = 0; i < VARIABLE_COUNT; i++) {
            extra[i] = pawl__buf_str(&variables[i]);
        }
        environment = pawl__child_environment(extra, VARIABLE_COUNT);
    }
    if (environment == NULL) {
        (void)pawl__cli_fail(job->cli, code, "out of memory");
    } else if (!pawl__child_start(&run->child, job->args->command, environment, fd,
                                  &job->signals)) {
        (void)pawl__cli_fail(job->cli, code, "cannot start a process: %s", strerror(errno));
    } else {
        code = PAWL__EXIT_OK;
    }
out:
    if (fd >= 0) {
        /* CMD has its own copy; ours would keep the lock beyond the release. */
        (void)close(fd);
    }
    pawl__free(environment);
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        pawl__buf_release(&variables[i]);
    }
    return code;
}

static void enter_stage(struct run *run, enum pawl__loss_stage stage, int64_t remaining_ms)
{
    const struct pawl__lock_job *job = run->job;
    if (pawl_hold_state(job->hold) == PAWL_HOLD_LOST) {
        pawl__lock_report_loss(job);
    } else if (run->stage == PAWL__LOSS_NONE) {
        (void)pawl__cli_fail(job->cli, PAWL__EXIT_LOST,
                             "%s cannot be renewed and ends in %lld ms; ending the command before",
                             pawl_hold_name(job->hold, 0), (long long)remaining_ms);
    }
    run->stage = stage;
    if (stage == PAWL__LOSS_KILL) {
        pawl__child_signal(&run->child, SIGKILL);
    } else {
        pawl__child_signal(&run->child, SIGTERM);
        pawl__child_signal(&run->child, SIGCONT); /* a stopped one would not notice */
    }
}

/* Does what the hold demands by now; returns for how long poll() may sleep. */
static int obey_hold(struct run *run)
{
    pawl_hold *hold = run->job->hold;
    int64_t remaining_ms = pawl_hold_remaining_ms(hold);
    struct pawl__loss_step step =
        pawl__loss_step(pawl_hold_state(hold), remaining_ms, run->stage, &run->rule);
    if (step.stage > run->stage) {
        enter_stage(run, step.stage, remaining_ms);
    }
    if (step.look_again_ms < 0) {
        return -1;
    }
    return step.look_again_ms < INT_MAX ? (int)step.look_again_ms : INT_MAX;
}

/* We and CMD were stopped and continued. CMD goes on only after the hold was asked. */
static void resume(struct run *run)
{
    (void)obey_hold(run);
    if (run->stage < PAWL__LOSS_KILL) {
        pawl__child_continue(&run->child);
    }
}

static void take_signals(struct run *run)
{
    int number = 0;
    while ((number = pawl__signals_next(&run->job->signals)) != 0) {
        if (number == SIGCHLD) {
            if (pawl__child_reap(&run->child)) {
                resume(run);
            }
        } else if (number == SIGTSTP) {
            pawl__child_signal(&run->child, SIGTSTP);
            pawl__signals_stop_self();
            resume(run);
        } else if (pawl__signals_is_end(number)) {
            pawl__child_signal(&run->child, number);
            pawl__child_signal(&run->child, SIGCONT); /* a stopped one would not notice */
        }
    }
}

static void watch(struct run *run)
{
    struct pawl__lock_job *job = run->job;
    struct pollfd fds[2] = {{.fd = pawl_client_fd(job->client), .events = POLLIN},
                            {.fd = job->signals.fd, .events = POLLIN}};
    while (!run->child.ended) {
        /* First of all: we may have been stopped past the deadline. */
        int timeout_ms = obey_hold(run);
        int count = poll(fds, 2, timeout_ms);
        if (count > 0 && fds[0].revents != 0) {
            (void)pawl_dispatch(job->client, NULL); /* fails for misuse only */
        }
        if (count > 0 && fds[1].revents != 0) {
            take_signals(run);
        }
    }
}

int pawl__lock_run(struct pawl__lock_job *job)
{
    struct run run = {.job = job};
    run.rule.grace_ms = pawl__cli_option_ms(job->cli, "grace", 5000);
    run.rule.margin_ms = pawl__cli_option_ms(job->cli, "margin", 200);
    int code = pawl__lock_watch(job);
    if (code == PAWL__EXIT_OK) {
        code = start(&run);
    }
    if (code != PAWL__EXIT_OK) {
        return code;
    }
    watch(&run);
    if (pawl_hold_state(job->hold) == PAWL_HOLD_LOST && run.stage == PAWL__LOSS_NONE) {
        pawl__lock_report_loss(job);
        return PAWL__EXIT_LOST;
    }
    return run.stage != PAWL__LOSS_NONE ? PAWL__EXIT_LOST : pawl__child_code(&run.child);
}
