/* pawl break: takes one entry, named by its token, out of a lock's queue. */
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/output.h"
#include "cli/term.h"

/* An owner that does not obey is removed after one granted ttl, which is never longer. */
#define WAIT_DEFAULT_MS (PAWL__TTL_MAX_MS + 10000)

enum { OPT_TOKEN, OPT_REASON, OPT_NOW, OPT_WAIT, OPT_COUNT };

static const struct pawl__cli_option options[OPT_COUNT] = {
    [OPT_TOKEN] = {0, "token", "N"},
    [OPT_REASON] = {0, "reason", "TEXT"},
    [OPT_NOW] = {0, "now", NULL},
    [OPT_WAIT] = {'w', "wait", "DURATION"},
};

static const char break_help[] =
    "NAME --token N --reason TEXT [--now] [-w DURATION]\n"
    "\n"
    "  pawl inspect deploy                                   shows the token\n"
    "  pawl break deploy --token 391 --reason \"stuck job\"    asks the owner first\n"
    "\n"
    "  --token N            exactly the entry with this token; 81 if it is not there any more\n"
    "  --reason TEXT        recorded, and told to the owner\n"
    "  --now                do not ask the owner: it may go on as if it held the lock\n"
    "  -w, --wait DURATION  for the owner to let go, 75 after it; default 310s\n";

/* The command line. Pointers are borrowed from argv. */
struct break_args {
    const char *name;
    const char *reason;
    uint64_t token;
    int64_t wait_ms;
    bool has_token;
    bool now;
};

static int apply(const struct pawl__cli *cli, struct break_args *args, int option,
                 const char *value)
{
    switch (option) {
    case OPT_TOKEN:
        args->has_token = pawl__parse_u64(value, &args->token) && args->token > 0;
        return args->has_token
                   ? PAWL__EXIT_OK
                   : pawl__cli_fail(cli, PAWL__EXIT_USAGE,
                                    "--token '%s' is no token; 'pawl inspect' shows it", value);
    case OPT_REASON:
        args->reason = value;
        return PAWL__EXIT_OK;
    case OPT_NOW:
        args->now = true;
        return PAWL__EXIT_OK;
    default:
        return pawl__parse_duration_ms(value, &args->wait_ms)
                   ? PAWL__EXIT_OK
                   : pawl__cli_fail(cli, PAWL__EXIT_USAGE,
                                    "-w '%s' is no duration; write a number and its unit: 500ms, "
                                    "10s, 5m",
                                    value);
    }
}

static int check(const struct pawl__cli *cli, const struct pawl__args *reader,
                 const struct break_args *args)
{
    if (reader->operand_count != 1 || reader->rest != NULL) {
        return pawl__cli_fail(cli, PAWL__EXIT_USAGE, "exactly one lock name is needed, got %d",
                              reader->operand_count);
    }
    if (!args->has_token) {
        return pawl__cli_fail(cli, PAWL__EXIT_USAGE,
                              "--token is needed; 'pawl inspect %s' shows it", reader->operands[0]);
    }
    if (args->reason == NULL) {
        return pawl__cli_fail(cli, PAWL__EXIT_USAGE,
                              "--reason is needed; it is recorded and told to the owner");
    }
    return PAWL__EXIT_OK;
}

static int parse(struct pawl__cli *cli, int argc, char **argv, struct break_args *args,
                 bool *ret_done)
{
    struct pawl__args reader;
    pawl__args_init(&reader, cli, options, OPT_COUNT);
    pawl__args_set(&reader, argc, argv);
    *ret_done = true;
    int option = 0;
    while ((option = pawl__args_next(&reader)) >= 0) {
        int code = apply(cli, args, option, reader.value);
        if (code != PAWL__EXIT_OK) {
            return code;
        }
    }
    if (option == PAWL__ARGS_ERROR) {
        return reader.code;
    }
    if (cli->help) {
        return pawl__cli_command_usage(cli, &pawl__cli_break);
    }
    int code = check(cli, &reader, args);
    args->name = reader.operands[0];
    *ret_done = code != PAWL__EXIT_OK;
    return code;
}

static int print_result(struct pawl__cli *cli, const struct break_args *args)
{
    struct pawl__buf out;
    pawl__buf_init(&out);
    if (cli->format == PAWL__CLI_TABLE) {
        pawl__buf_append_str(&out, "broken: ");
        pawl__output_clean(&out, args->name);
        pawl__buf_appendf(&out, ", token %llu\n", (unsigned long long)args->token);
    } else {
        struct pawl__jsonw json;
        pawl__jsonw_init(&json, &out);
        pawl__jsonw_begin_object(&json);
        pawl__jsonw_key(&json, "lock");
        pawl__jsonw_str(&json, args->name);
        pawl__jsonw_key(&json, "token");
        pawl__jsonw_u64str(&json, args->token);
        pawl__jsonw_key(&json, "broken");
        pawl__jsonw_bool(&json, true);
        pawl__jsonw_key(&json, "now");
        pawl__jsonw_bool(&json, args->now);
        pawl__jsonw_end_object(&json);
        pawl__buf_append_char(&out, '\n');
    }
    int code = pawl__output_write(cli, &out);
    pawl__buf_release(&out);
    return code;
}

static void announce(const struct pawl__cli *cli, const struct break_args *args)
{
    if (args->now) {
        /* Not left out with -q: it is what the user gives up. */
        (void)pawl__cli_fail(cli, PAWL__EXIT_OK,
                             "--now: the owner of token %llu is not asked first; it may go on "
                             "working while another holds '%s'. Only what refuses old tokens is "
                             "protected from it",
                             (unsigned long long)args->token, args->name);
    } else if (pawl__term_wants_progress(cli)) {
        pawl__cli_note(cli, "asking the owner to let go; without an answer its ttl is waited for");
    }
}

static int run_break(struct pawl__cli *cli, int argc, char **argv)
{
    struct break_args args = {.wait_ms = WAIT_DEFAULT_MS};
    bool done = false;
    int code = parse(cli, argc, argv, &args, &done);
    if (done) {
        return code;
    }
    pawl_client *client = NULL;
    code = pawl__cli_open(cli, &client);
    if (code != PAWL__EXIT_OK) {
        return code;
    }
    announce(cli, &args);
    pawl_status status = pawl_break(client, args.name, args.token, args.reason,
                                    args.now ? PAWL_BREAK_NOW : 0U, args.wait_ms, cli->err);
    code = status == PAWL_OK ? print_result(cli, &args) : pawl__cli_fail_status(cli, status);
    /* The outcome is known; what is left of this client ends by itself. */
    (void)pawl_client_close(client, pawl__cli_option_ms(cli, "request_timeout", 5000), NULL);
    return code;
}

const struct pawl__cli_command pawl__cli_break = {
    .name = "break",
    .summary = "take a lock away from an owner that does not let go",
    .help = break_help,
    .run = run_break,
};
