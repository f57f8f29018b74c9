/* pawl help, and --help of every command. */
#include <string.h>

#include "cli/args.h"
#include "cli/output.h"

static const char general[] =
    "usage: pawl [--store URL] [-o table|json|jsonl] [-q] [-v] [--no-color] COMMAND ...\n"
    "\n"
    "  pawl lock deploy -- ./deploy.sh        run a command that must not run twice at once\n"
    "  pawl lock -w 10s job -- make report    wait at most ten seconds for the lock\n"
    "  pawl inspect deploy                    who holds it, who waits\n"
    "\n"
    "Commands:\n";

static const char globals[] =
    "\n"
    "Options of every command:\n"
    "  --store URL      local: (this machine, the default) or local:///dir\n"
    "  -o FORMAT        table, json or jsonl (one object a line)\n"
    "  -q, --quiet      errors only          -v, --verbose   also which store, who holds\n"
    "  --no-color       no colours           -h, --help      help of a command\n"
    "  --KEY VALUE      any key of 'pawl config --reference', as in --ttl 10s\n"
    "\n"
    "Topics: pawl help COMMAND, pawl help exit-codes\n";

static const char help_help[] =
    "[COMMAND | exit-codes]\n"
    "\n"
    "Shows the commands, the help of one, or the table of exit codes.\n";

static int print_general(struct pawl__cli *cli)
{
    struct pawl__buf out;
    pawl__buf_init(&out);
    pawl__buf_append_str(&out, general);
    const struct pawl__cli_command *command = NULL;
    for (size_t i = 0; (command = pawl__cli_command_at(i)) != NULL; i++) {
        pawl__buf_appendf(&out, "  %-10s %s\n", command->name, command->summary);
    }
    pawl__buf_append_str(&out, globals);
    int code = pawl__output_write(cli, &out);
    pawl__buf_release(&out);
    return code;
}

static int print_exit_codes(struct pawl__cli *cli)
{
    struct pawl__buf out;
    struct pawl__grid table;
    struct pawl__items list;
    static const char *const headers[] = {"CODE", "MEANING"};
    pawl__buf_init(&out);
    pawl__grid_init(&table, headers, 2);
    if (cli->format != PAWL__CLI_TABLE) {
        pawl__items_begin(&list, cli, &out);
    }
    const char *text = NULL;
    int number = 0;
    for (size_t i = 0; (number = pawl__exit_describe(i, &text)) >= 0; i++) {
        if (cli->format == PAWL__CLI_TABLE) {
            pawl__grid_cellf(&table, "%d", number);
            pawl__grid_cell(&table, text);
            continue;
        }
        struct pawl__jsonw *json = pawl__items_next(&list);
        pawl__jsonw_key(json, "code");
        pawl__jsonw_int(json, number);
        pawl__jsonw_key(json, "text");
        pawl__jsonw_str(json, text);
        pawl__items_end_one(&list);
    }
    if (cli->format == PAWL__CLI_TABLE) {
        pawl__grid_print(&table, false, &out);
    } else {
        pawl__items_end(&list);
    }
    int code = pawl__output_write(cli, &out);
    pawl__grid_release(&table);
    pawl__buf_release(&out);
    return code;
}

int pawl__cli_command_usage(const struct pawl__cli *cli, const struct pawl__cli_command *command)
{
    struct pawl__buf out;
    pawl__buf_init(&out);
    pawl__buf_appendf(&out, "usage: pawl %s %s", command->name, command->help);
    pawl__buf_appendf(&out, "\nOptions of every command: 'pawl help'. More: man pawl-%s\n",
                      command->name);
    int code = pawl__output_write(cli, &out);
    pawl__buf_release(&out);
    return code;
}

static int run_help(struct pawl__cli *cli, int argc, char **argv)
{
    struct pawl__args args;
    pawl__args_init(&args, cli, NULL, 0);
    pawl__args_set(&args, argc, argv);
    if (pawl__args_next(&args) == PAWL__ARGS_ERROR) {
        return args.code;
    }
    if (cli->help) {
        return pawl__cli_command_usage(cli, &pawl__cli_help);
    }
    if (args.operand_count > 1 || args.rest != NULL) {
        return pawl__cli_fail(cli, PAWL__EXIT_USAGE, "one topic at a time");
    }
    if (args.operand_count == 0) {
        return print_general(cli);
    }
    const char *topic = args.operands[0];
    if (strcmp(topic, "exit-codes") == 0) {
        return print_exit_codes(cli);
    }
    const char *nearest = NULL;
    const struct pawl__cli_command *command = pawl__cli_command_find(topic, &nearest);
    if (command != NULL) {
        return pawl__cli_command_usage(cli, command);
    }
    return pawl__cli_fail(cli, PAWL__EXIT_USAGE, "no topic '%s'; %s%s%s", topic,
                          nearest != NULL ? "did you mean '" : "",
                          nearest != NULL ? nearest : "'pawl help' lists them",
                          nearest != NULL ? "'?" : "");
}

const struct pawl__cli_command pawl__cli_help = {
    .name = "help",
    .summary = "this text, or the help of a command or topic",
    .help = help_help,
    .run = run_help,
};
