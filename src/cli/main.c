/* The pawl command: finds the command that is asked for and runs it. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/output.h"

static const struct pawl__cli_command *const commands[] = {
    &pawl__cli_lock,  &pawl__cli_inspect, &pawl__cli_break,   &pawl__cli_doctor,
    &pawl__cli_bench, &pawl__cli_config,  &pawl__cli_version, &pawl__cli_help,
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

const struct pawl__cli_command *pawl__cli_command_at(size_t index)
{
    return index < COMMAND_COUNT ? commands[index] : NULL;
}

const struct pawl__cli_command *pawl__cli_command_find(const char *name, const char **ret_nearest)
{
    const char *names[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i]->name, name) == 0) {
            return commands[i];
        }
        names[i] = commands[i]->name;
    }
    if (ret_nearest != NULL) {
        *ret_nearest = pawl__nearest_word(name, names, COMMAND_COUNT);
    }
    return NULL;
}

static int refuse_command(struct pawl__cli *cli, const char *name, const char *nearest)
{
    if (nearest != NULL) {
        return pawl__cli_fail(cli, PAWL__EXIT_USAGE, "unknown command '%s'; did you mean '%s'?",
                              name, nearest);
    }
    return pawl__cli_fail(cli, PAWL__EXIT_USAGE, "unknown command '%s'; 'pawl help' lists them",
                          name);
}

/* Global options, then the command's name, then all that is the command's own. */
static int run(struct pawl__cli *cli, int argc, char **argv)
{
    struct pawl__args args;
    pawl__args_init(&args, cli, NULL, 0);
    pawl__args_set(&args, argc - 1, argv + 1);
    args.stop_at_operand = true;
    if (pawl__args_next(&args) == PAWL__ARGS_ERROR) {
        return args.code;
    }
    if (cli->version) {
        return pawl__cli_version.run(cli, 0, argv);
    }
    if (args.at >= args.argc || args.rest != NULL) {
        if (cli->help) {
            cli->help = false; /* the commands, not the help of "help" */
            return pawl__cli_help.run(cli, 0, argv);
        }
        return pawl__cli_fail(cli, PAWL__EXIT_USAGE,
                              "no command given; 'pawl help' lists them, 'pawl lock NAME -- CMD' "
                              "runs CMD under a lock");
    }
    const char *name = args.argv[args.at];
    const char *nearest = NULL;
    const struct pawl__cli_command *command = pawl__cli_command_find(name, &nearest);
    if (command == NULL) {
        return refuse_command(cli, name, nearest);
    }
    cli->command = command->name;
    if (cli->help) {
        return pawl__cli_command_usage(cli, command);
    }
    return command->run(cli, args.argc - args.at - 1, args.argv + args.at + 1);
}

/* A standard stream that we were started without would be the next descriptor that anybody opens:
 * the store's, say, with messages written into it. The place is taken by one that can do nothing,
 * and that CMD does not inherit. */
static void occupy_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            int access = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
            int taken = open("/dev/null", access | O_CLOEXEC);
            /* The lowest free number. Without /dev/null things are as they were. */
            PAWL_INVARIANT(taken == fd || taken < 0);
        }
    }
}

int main(int argc, char **argv)
{
    struct pawl__cli cli;
    occupy_streams();
    memset(&cli, 0, sizeof(cli));
    cli.options = pawl_options_new();
    cli.err = pawl_error_new();
    int code = cli.options != NULL ? run(&cli, argc, argv)
                                   : pawl__cli_fail(&cli, PAWL__EXIT_INTERNAL, "out of memory");
    pawl_options_free(cli.options);
    pawl_error_free(cli.err);
    return code;
}
