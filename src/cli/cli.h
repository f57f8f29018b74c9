/* What all files of the command share: global options, the table of commands, how to fail. The
 * command uses the public headers of libpawl and text helpers of base/, nothing else of ours. */
#ifndef PAWL_CLI_CLI_H
#define PAWL_CLI_CLI_H

#include <pawl/pawl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/exitcode.h"

enum pawl__cli_format { PAWL__CLI_TABLE, PAWL__CLI_JSON, PAWL__CLI_JSONL };

/* Global options and what they apply to. Filled while arguments are parsed, then only read. One
 * thread uses it. */
struct pawl__cli {
    const char *command;   /* for messages; borrowed from the table; NULL before one is known */
    pawl_options *options; /* owned by main() */
    pawl_error *err;       /* owned by main(); NULL when memory is out */
    enum pawl__cli_format format;
    bool quiet;
    bool verbose;
    bool no_color;
    bool help;    /* --help was given */
    bool version; /* --version was given */
    bool loaded;  /* environment and files are read: once is enough */
};

/* One command. `run` gets the arguments after the command's name and returns an exit code. */
struct pawl__cli_command {
    const char *name;
    const char *summary;
    const char *help; /* text of --help, below the line "usage: pawl NAME " */
    int (*run)(struct pawl__cli *cli, int argc, char **argv);
};

extern const struct pawl__cli_command pawl__cli_bench;
extern const struct pawl__cli_command pawl__cli_break;
extern const struct pawl__cli_command pawl__cli_config;
extern const struct pawl__cli_command pawl__cli_doctor;
extern const struct pawl__cli_command pawl__cli_help;
extern const struct pawl__cli_command pawl__cli_inspect;
extern const struct pawl__cli_command pawl__cli_lock;
extern const struct pawl__cli_command pawl__cli_version;

/* Number `index` of the table of commands, in the order of help; NULL past the end. */
const struct pawl__cli_command *pawl__cli_command_at(size_t index);

/* The command called `name`, or NULL; `*ret_nearest` (may be NULL) = what was likely meant. */
const struct pawl__cli_command *pawl__cli_command_find(const char *name, const char **ret_nearest);

/* Prints the help of `command` on stdout; returns an exit code. */
int pawl__cli_command_usage(const struct pawl__cli *cli, const struct pawl__cli_command *command);

/* Prints "pawl: COMMAND: ..." on stderr, whatever -q says, and returns `code`. */
int pawl__cli_fail(const struct pawl__cli *cli, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As pawl__cli_fail() with the message of cli->err, for a call of libpawl that returned `status`.
 */
int pawl__cli_fail_status(const struct pawl__cli *cli, pawl_status status);

/* A line of words on stderr, left out with -q. */
void pawl__cli_note(const struct pawl__cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reads environment and configuration files into cli->options, the first time only. Returns an exit
 * code; what went wrong is printed. */
int pawl__cli_load(struct pawl__cli *cli);

/* Loads, opens the client and names a store that nobody chose. Returns an exit code; what went
 * wrong is printed. *ret_client is owned by the caller. */
int pawl__cli_open(struct pawl__cli *cli, pawl_client **ret_client);

/* The effective duration of option `key`; `fallback_ms` when it has none ("off") or is unknown. */
int64_t pawl__cli_option_ms(struct pawl__cli *cli, const char *key, int64_t fallback_ms);

#endif
