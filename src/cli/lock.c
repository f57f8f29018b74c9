/* pawl lock: hold one or more names while a command runs, or until told to stop. */
#include "cli/lock.h"

#include <malloc.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/args.h"
#include "cli/output.h"

#define CODE_MAX 255

enum {
    OPT_SHARED,
    OPT_MODE,
    OPT_NONBLOCK,
    OPT_WAIT,
    OPT_UNDER,
    OPT_PERMITS,
    OPT_MAX_HOLD,
    OPT_REASON,
    OPT_BUSY_CODE,
    OPT_CLOSE_FD,
    OPT_COUNT
};

static const struct pawl__cli_option options[OPT_COUNT] = {
    [OPT_SHARED] = {'s', "shared", NULL},         [OPT_MODE] = {0, "mode", "MODE"},
    [OPT_NONBLOCK] = {'n', "nonblock", NULL},     [OPT_WAIT] = {'w', "wait", "DURATION"},
    [OPT_UNDER] = {0, "under", "NAME"},           [OPT_PERMITS] = {0, "permits", "K/N"},
    [OPT_MAX_HOLD] = {0, "max-hold", "DURATION"}, [OPT_REASON] = {0, "reason", "TEXT"},
    [OPT_BUSY_CODE] = {'E', "busy-code", "N"},    [OPT_CLOSE_FD] = {0, "close-fd", NULL},
};

static const char lock_help[] =
    "NAME... [-n | -w DURATION] [--reason TEXT] [-E N] [--close-fd] [-- CMD...]\n"
    "\n"
    "  pawl lock deploy -- ./deploy.sh      wait as long as it takes, then run\n"
    "  pawl lock -n nightly -- ./job        do not wait: 75 if someone holds it\n"
    "  pawl lock -w 30s a b -- ./job        both names, or neither\n"
    "  pawl lock deploy                     hold until a signal; prints one JSON line\n"
    "\n"
    "  -n, --nonblock       fail at once when the lock is not free\n"
    "  -w, --wait DURATION  wait at most so long, as in 30s, 5m\n"
    "  --reason TEXT        shown to others by 'pawl inspect'\n"
    "  -E, --busy-code N    exit code in place of 75 when not acquired in time\n"
    "  --close-fd           local: only; CMD does not inherit the session, so that programs which\n"
    "                       it leaves behind do not keep the lock\n"
    "\n"
    "CMD finds PAWL_LOCK, PAWL_TOKEN, PAWL_SEALED_TOKEN, PAWL_STORE and PAWL_DEADLINE_MS in its\n"
    "environment. Its exit code is passed on; 'pawl help exit-codes' lists the others.\n";

static int refuse_later(const struct pawl__cli *cli, const char *what)
{
    return pawl__cli_fail(cli, PAWL__EXIT_USAGE,
                          "%s is not in this version; only exclusive locks are", what);
}

static int set_mode(const struct pawl__cli *cli, const char *text)
{
    static const char *const later[] = {"s", "is", "ix", "six"};
    if (strcmp(text, "x") == 0) {
        return PAWL__EXIT_OK;
    }
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
        if (strcmp(text, later[i]) == 0) {
            return pawl__cli_fail(cli, PAWL__EXIT_USAGE,
                                  "--mode '%s' is not in this version; use x (exclusive)", text);
        }
    }
    return pawl__cli_fail(cli, PAWL__EXIT_USAGE, "--mode '%s' is no mode; use x (exclusive)", text);
}

static int set_wait(const struct pawl__cli *cli, struct pawl__lock_args *args, const char *text)
{
    if (!pawl__parse_duration_ms(text, &args->wait_ms)) {
        return pawl__cli_fail(cli, PAWL__EXIT_USAGE,
                              "-w '%s' is no duration; write a number and its unit: 500ms, 10s, 5m",
                              text);
    }
    return PAWL__EXIT_OK;
}

static int set_busy_code(const struct pawl__cli *cli, struct pawl__lock_args *args,
                         const char *text)
{
    uint64_t code = 0;
    if (!pawl__parse_u64(text, &code) || code > CODE_MAX) {
        return pawl__cli_fail(cli, PAWL__EXIT_USAGE,
                              "-E '%s' is no exit code; use a number from 0 to 255", text);
    }
    args->busy_code = (int)code;
    return PAWL__EXIT_OK;
}

static int apply(const struct pawl__cli *cli, struct pawl__lock_args *args, int option,
                 const char *value)
{
    switch (option) {
    case OPT_SHARED:
        return refuse_later(cli, "-s (shared)");
    case OPT_MODE:
        return set_mode(cli, value);
    case OPT_UNDER:
        return refuse_later(cli, "--under");
    case OPT_PERMITS:
        return refuse_later(cli, "--permits");
    case OPT_MAX_HOLD:
        return refuse_later(cli, "--max-hold");
    case OPT_NONBLOCK:
        args->wait_ms = 0;
        return PAWL__EXIT_OK;
    case OPT_WAIT:
        return set_wait(cli, args, value);
    case OPT_REASON:
        args->reason = value;
        return PAWL__EXIT_OK;
    case OPT_BUSY_CODE:
        return set_busy_code(cli, args, value);
    default:
        args->close_fd = true;
        return PAWL__EXIT_OK;
    }
}

/* What the options together must satisfy. */
static int check(const struct pawl__cli *cli, const struct pawl__args *reader)
{
    if (reader->operand_count == 0) {
        return pawl__cli_fail(cli, PAWL__EXIT_USAGE,
                              "no lock name given; as in: pawl lock deploy -- ./deploy.sh");
    }
    if (reader->rest != NULL && reader->rest_count == 0) {
        return pawl__cli_fail(cli, PAWL__EXIT_USAGE,
                              "no command behind '--'; leave '--' out to hold without one");
    }
    if (reader->rest == NULL && reader->operand_count > 1 && isatty(STDERR_FILENO)) {
        pawl__cli_note(cli, "%d names and no command; to run one, put '--' before it",
                       reader->operand_count);
    }
    return PAWL__EXIT_OK;
}

/* *ret_done: nothing is left to do but to return the exit code. */
static int parse(struct pawl__cli *cli, int argc, char **argv, struct pawl__lock_args *args,
                 bool *ret_done)
{
    struct pawl__args reader;
    pawl__args_init(&reader, cli, options, OPT_COUNT);
    pawl__args_set(&reader, argc, argv);
    bool waits[2] = {false, false};
    int option = 0;
    *ret_done = true;
    while ((option = pawl__args_next(&reader)) >= 0) {
        int code = apply(cli, args, option, reader.value);
        if (code != PAWL__EXIT_OK) {
            return code;
        }
        waits[0] = waits[0] || option == OPT_NONBLOCK;
        waits[1] = waits[1] || option == OPT_WAIT;
    }
    if (option == PAWL__ARGS_ERROR) {
        return reader.code;
    }
    if (cli->help) {
        return pawl__cli_command_usage(cli, &pawl__cli_lock);
    }
    if (waits[0] && waits[1]) {
        return pawl__cli_fail(cli, PAWL__EXIT_USAGE, "-n and -w exclude each other; give one");
    }
    args->names = reader.operands;
    args->name_count = reader.operand_count;
    args->command = reader.rest;
    int code = check(cli, &reader);
    *ret_done = code != PAWL__EXIT_OK;
    return code;
}

static void note_change(void *user, pawl_hold *hold, pawl_hold_state_value state)
{
    /* The loop asks the hold itself; this is only here for the wake-up. */
    (void)user;
    (void)hold;
    (void)state;
}

int pawl__lock_watch(struct pawl__lock_job *job)
{
    pawl_status status = pawl_hold_on_change(job->hold, note_change, NULL, job->cli->err);
    return status == PAWL_OK ? PAWL__EXIT_OK : pawl__cli_fail_status(job->cli, status);
}

void pawl__lock_report_loss(const struct pawl__lock_job *job)
{
    const char *reason = pawl_hold_lost_reason(job->hold);
    for (size_t i = 0; i < pawl_hold_count(job->hold); i++) {
        (void)pawl__cli_fail(
            job->cli, PAWL__EXIT_LOST, "LOST %s, token %llu%s%s", pawl_hold_name(job->hold, i),
            (unsigned long long)pawl_hold_token(job->hold), *reason != '\0' ? ": " : "", reason);
    }
}

/* Closing the client is the release: one commit for all that it has. */
static void release(struct pawl__lock_job *job)
{
    bool was_held = job->hold != NULL && pawl_hold_state(job->hold) != PAWL_HOLD_LOST;
    int64_t timeout_ms = pawl__cli_option_ms(job->cli, "request_timeout", 5000);
    pawl_status status = pawl_client_close(job->client, timeout_ms, job->cli->err);
    job->client = NULL;
    if (status != PAWL_OK && was_held) {
        pawl__cli_note(job->cli,
                       "the store did not confirm the release in time; the lock ends by itself "
                       "when its ttl is over");
    }
    pawl_hold_free(job->hold);
    job->hold = NULL;
}

static int run_lock(struct pawl__cli *cli, int argc, char **argv)
{
    struct pawl__lock_args args = {.wait_ms = PAWL_WAIT_FOREVER, .busy_code = PAWL__EXIT_BUSY};
    bool done = false;
    int code = parse(cli, argc, argv, &args, &done);
    if (done) {
        return code;
    }
    /* Arenas for threads that allocate next to nothing: making them costs more than sharing one. */
    (void)mallopt(M_ARENA_MAX, 1);
    struct pawl__lock_job job = {.cli = cli, .args = &args};
    if (!pawl__signals_open(&job.signals)) {
        return pawl__cli_fail(cli, PAWL__EXIT_INTERNAL, "cannot take signals: no descriptors left");
    }
    code = pawl__cli_open(cli, &job.client);
    if (code == PAWL__EXIT_OK) {
        code = pawl__lock_acquire(&job);
        if (job.hold != NULL && code == PAWL__EXIT_OK) {
            code = args.command != NULL ? pawl__lock_run(&job) : pawl__lock_keep(&job);
        }
        release(&job);
    }
    pawl__signals_close(&job.signals);
    return code;
}

const struct pawl__cli_command pawl__cli_lock = {
    .name = "lock",
    .summary = "run a command under a lock, or hold one",
    .help = lock_help,
    .run = run_lock,
};
